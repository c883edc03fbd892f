"""Legal uses of each operation, from which form_coverage.py departs.

A tile is "memory shape:dtype", as "sbuf 32x16:float32"; "reg" is a register.
Several uses of an operation are tried in turn. VALUES are values beside those
of an enum, or the only ones where an enum has too many.
"""

_F = "sbuf 32x16:float32"
_P = "psum 32x16:float32"
_I = "sbuf 32x16:int32"
_C = "sbuf 32x1:float32"
_COPY = {"dst": _F, "src": _F}
_DATA = {"dst": _F, "data": _F}

_H = "hbm 4x8:float32"
_LISTS = {"srcs": [_H], "dsts": [_H]}
_GROUP = {"replica_group": [[0, 1]]}
_REDUCED = {**_LISTS, **_GROUP, "op": "add"}
_RING = {"dsts_by_channel": [_H], **_GROUP}
_V = {"srcs": ["hbm 1x8:float32"], "dsts": ["hbm 1x8:float32"],
      "metadata_tensor": "hbm 3x2:uint32", **_GROUP}

FORMS = {
    "nc_matmul": [
        {"dst": "psum 32x16:float32", "stationary": "sbuf 32x32:bfloat16",
         "moving": "sbuf 32x16:bfloat16"},
        {"dst": "psum 32x16:float32", "stationary": "sbuf 32x32:float32",
         "moving": "sbuf 32x16:float32"},
        {"dst": "psum 32x16:float32", "stationary": "sbuf 32x2x32:float8_e4m3",
         "moving": "sbuf 32x2x16:float8_e4m3", "perf_mode": "double_row"},
        {"dst": "psum 32x32:bfloat16", "stationary": "sbuf 32x32:bfloat16",
         "moving": "sbuf 32x32:bfloat16", "is_transpose": True},
        {"dst": "psum 32x16:float32", "stationary": "sbuf 32x32:bfloat16",
         "moving": "sbuf 32x16:bfloat16", "tile_position": (0, 0),
         "tile_size": (32, 32)},
        {"dst": "psum 64x16:float32", "stationary": "sbuf 64x64:bfloat16",
         "moving": "sbuf 64x16:bfloat16", "tile_position": (0, 0),
         "tile_size": (64, 64)},
    ],
    "nc_matmul_mx": [
        {"dst": "psum 32x16:float32", "stationary": "sbuf 32x32:float8_e4m3fn_x4",
         "moving": "sbuf 32x16:float8_e4m3fn_x4",
         "stationary_scale": "sbuf 4x32:uint8", "moving_scale": "sbuf 4x16:uint8"},
    ],
    "quantize_mx": [
        {"dst": "sbuf 32x4:float8_e4m3fn_x4", "src": "sbuf 32x16:bfloat16",
         "dst_scale": "sbuf 4x4:uint8"},
    ],
    "nc_transpose": [
        {"dst": "psum 32x32:float32", "data": "sbuf 32x32:float32"},
        {"dst": "sbuf 32x32:float32", "data": "sbuf 32x32:float32",
         "engine": "vector"},
        {"dst": "psum 32x32:bfloat16", "data": "sbuf 32x32:float8_e4m3"},
    ],
    "activation": [
        {**_DATA, "op": "copy"},
        {**_DATA, "op": "copy", "bias": _C, "scale": _C, "reduce_op": "add",
         "reduce_cmd": "reset_reduce", "reduce_res": _C},
    ],
    "activation_reduce": [
        {**_DATA, "op": "copy", "reduce_op": "add", "reduce_res": _C,
         "bias": _C, "scale": _C},
    ],
    "activate2": [
        {**_DATA, "op": "copy", "imm0": 1.0, "op0": "multiply", "imm1": 0.0,
         "op1": "add"},
        {**_DATA, "op": "copy", "imm0": _C, "op0": "multiply", "imm1": _C,
         "op1": "add", "relu_param": _C, "reduce_op": "add",
         "reduce_cmd": "reset_reduce", "reduce_res": _C},
    ],
    "tensor_reduce": [
        {"dst": _C, "op": "add", "data": _F, "axis": 1},
        {"dst": "sbuf 32x1:int32", "op": "bitwise_or", "data": _I, "axis": 1},
    ],
    "tensor_partition_reduce": [
        {"dst": "sbuf 1x16:float32", "op": "add", "data": _F},
        {"dst": "sbuf 1x16:int32", "op": "bitwise_or", "data": _I},
    ],
    "tensor_tensor": [
        {"dst": _F, "data1": _F, "data2": _F, "op": "add"},
        {"dst": _I, "data1": _I, "data2": _I, "op": "bitwise_or"},
    ],
    "tensor_tensor_scan": [
        {"dst": _F, "data0": _F, "data1": _F, "initial": 0.0,
         "op0": "multiply", "op1": "add"},
        {"dst": _F, "data0": _F, "data1": _F, "initial": _C,
         "op0": "multiply", "op1": "add"},
    ],
    "scalar_tensor_tensor": [
        {"dst": _F, "data": _F, "op0": "add", "operand0": 1.0, "op1": "add",
         "operand1": _F},
        {"dst": _F, "data": _F, "op0": "add", "operand0": _C, "op1": "add",
         "operand1": _F},
        {"dst": _F, "data": _F, "op0": "abs", "operand0": 0.0, "op1": "add",
         "operand1": _F},
    ],
    "tensor_scalar": [
        {**_DATA, "op0": "multiply", "operand0": 1.0},
        {**_DATA, "op0": "multiply", "operand0": _C, "op1": "add",
         "operand1": _C},
        {**_DATA, "op0": "rsqrt"},
        {"dst": _I, "data": _I, "op0": "bitwise_or", "operand0": 1},
        {"dst": _I, "data": _I, "op0": "bitwise_or", "operand0": 1,
         "op1": "bitwise_or", "operand1": 1},
        {"dst": _I, "data": _I, "op0": "bitwise_or", "operand0": 1,
         "op1": "invert"},
        {"dst": _I, "data": _I, "op0": "invert"},
        {**_DATA, "op0": "multiply", "operand0": 1.0, "op1": "abs"},
    ],
    "tensor_scalar_reduce": [
        {**_DATA, "op0": "multiply", "operand0": 1.0, "reduce_op": "add"},
        {**_DATA, "op0": "multiply", "operand0": _C, "reduce_op": "add",
         "reduce_res": _C},
        {**_DATA, "op0": "abs", "operand0": 0.0, "reduce_op": "add"},
        {**_DATA, "op0": "multiply", "operand0": 1.0, "reduce_op": "add",
         "reduce_cmd": "load_reduce", "reduce_init": _C},
    ],
    "tensor_scalar_cumulative": [
        {**_COPY, "op0": "multiply", "op1": "add", "imm0": 1.0},
        {**_COPY, "op0": "multiply", "op1": "add", "imm0": _C},
        {**_COPY, "op0": "abs", "op1": "add", "imm0": 0.0},
        {**_COPY, "op0": "multiply", "op1": "add", "imm0": 1.0, "imm1": 0.0,
         "reduce_cmd": "load_reduce"},
    ],
    "tensor_copy": [_COPY],
    "tensor_copy_predicated": [
        {**_COPY, "predicate": "sbuf 32x16:uint32"},
        {**_COPY, "predicate": "sbuf 32x16:uint8"},
        {**_COPY, "predicate": "sbuf 32x16:uint16"},
    ],
    "exponential": [
        {**_COPY},
        {**_COPY, "max_value": _C, "reduce_cmd": "reset_reduce",
         "reduce_res": _C},
        {**_COPY, "reduce_cmd": "load_reduce", "reduce_init": _C},
    ],
    "reciprocal": [_DATA],
    "iota": [{"dst": _I, "pattern": [[1, 16]]}],
    "affine_select": [
        {"dst": _F, "pattern": [[1, 16]], "channel_multiplier": 1,
         "on_true_tile": _F, "on_false_value": 0.0,
         "cmp_op": "greater_equal"},
    ],
    "range_select": [
        {"dst": _F, "on_true_tile": _F, "comp_op0": "greater_equal",
         "comp_op1": "less", "bound0": _C, "bound1": _C, "reduce_res": _C},
        {"dst": _F, "on_true_tile": _F, "comp_op0": "greater_equal",
         "comp_op1": "less", "bound0": _C, "bound1": _C},
    ],
    "select_reduce": [
        {"dst": _F, "predicate": "sbuf 32x16:uint8", "on_true": _F,
         "on_false": 0.0},
        {"dst": _F, "predicate": "sbuf 32x16:uint8", "on_true": _F,
         "on_false": _C, "reduce_cmd": "reset_reduce", "reduce_res": _C},
    ],
    "sequence_bounds": [
        {"dst": "sbuf 1x2x16:float32", "segment_ids": "sbuf 1x16:float32"}],
    "memset": [{"dst": _F, "value": 0}],
    "bn_stats": [{"dst": "sbuf 32x6:float32", "data": _F}],
    "bn_aggr": [{"dst": "sbuf 32x2:float32", "data": "sbuf 32x6:float32"}],
    "local_gather": [
        {"dst": _F, "src_buffer": _F, "index": "sbuf 32x1:uint16"}],
    "nc_n_gather": [
        {"dst": _F, "data": _F, "indices": "sbuf 32x16:uint32"}],
    "dma_copy": [
        {"dst": "sbuf 32x16:float32", "src": "hbm 32x16:float32"},
        {"dst": "hbm 32x16:float32", "src": "hbm 32x16:float32"},
    ],
    "dma_transpose": [
        {"dst": "sbuf 32x32:float32", "src": "hbm 32x32:float32"},
        {"dst": "sbuf 32x16:bfloat16", "src": "hbm 16x32:bfloat16"},
    ],
    "dma_compute": [
        {"dst": "hbm 32x16:float32", "reduce_op": "add",
         "srcs": ["hbm 32x16:float32", "sbuf 32x16:float32"]},
    ],
    "max8": [{"dst": "sbuf 32x8:float32", "src": _F}],
    "nc_find_index8": [
        {"dst": "sbuf 32x8:uint32", "data": _F, "vals": "sbuf 32x8:float32"}],
    "nc_match_replace8": [
        {**_DATA, "vals": "sbuf 32x8:float32", "imm": 0.0},
        {**_DATA, "vals": "sbuf 32x8:float32", "imm": 0.0,
         "dst_idx": "sbuf 32x8:uint32"},
    ],
    "nc_stream_shuffle": [{**_COPY, "shuffle_mask": list(range(32))}],
    "core_barrier": [
        {"data": "hbm 32x16:float32", "cores": (0, 1)},
        {"data": "hbm 32x16:float32", "cores": (0,)},
    ],
    "sendrecv": [
        {"src": _F, "dst": _F, "send_to_rank": 1, "recv_from_rank": 1,
         "pipe_id": 0},
    ],
    "rng": [{"dst": "sbuf 32x16:uint32"}],
    "rand2": [
        {"dst": _F, "min": 0.0, "max": 1.0},
    ],
    "rand_set_state": [
        {"src_seeds": "sbuf 32x6:uint32"},
        {"src_seeds": "sbuf 32x24:uint32", "engine": "vector"},
    ],
    "rand_get_state": [
        {"dst": "sbuf 32x6:uint32"},
        {"dst": "sbuf 32x24:uint32", "engine": "vector"},
    ],
    "set_rng_seed": [{"src_seeds": "sbuf 1x1:int32"}],
    "dropout": [
        {**_DATA, "prob": 0.5},
        {**_DATA, "prob": _C},
    ],
    "nonzero_with_count": [
        {"dst": "sbuf 32x17:int32", "src": "sbuf 32x16:float32"}],
    "topk": [
        {"val_dst": "sbuf 32x8:bfloat16", "idx_dst": "sbuf 32x8:uint32",
         "src": "sbuf 32x16:bfloat16", "n": 256},
    ],
    "psum_reset": [{"dst": _P}],
    "nop": [{}],
    "register_move": [{"dst": "reg", "src": "reg"}],
    "register_load": [{"dst": "reg", "src": "sbuf 1x1:int32"}],
    "register_store": [{"dst": "sbuf 1x1:int32", "src": "reg"}],
    "register_alu": [{"dst": "reg", "op": "add", "a": "reg", "b": 1}],
    "all_reduce": [_REDUCED],
    "all_gather": [
        {**_LISTS, "dsts": ["hbm 8x8:float32"], **_GROUP, "collective_dim": 0},
        {"srcs": ["sbuf 32x8:float32"], "dsts": ["sbuf 32x16:float32"],
         **_GROUP, "collective_dim": 1},
    ],
    "reduce_scatter": [
        {**_REDUCED, "srcs": ["hbm 8x8:float32"], "collective_dim": 0},
    ],
    "all_to_all": [{**_LISTS, **_GROUP, "collective_dim": 0}],
    "collective_permute": [
        {**_LISTS, "source_target_pairs": [[0, 1], [1, 0]]}],
    "collective_permute_implicit": [{"srcs_by_channel": [_H], **_RING}],
    "collective_permute_implicit_reduce": [
        {"srcs0_by_channel": [_H], "srcs1_by_channel": [_H], **_RING,
         "op": "add"}],
    "all_gather_v": [
        {"srcs": ["hbm 1x8:float32"], "dsts": ["hbm 1x32:float32"],
         "metadata_tensor": "hbm 3x4:uint32",
         "replica_group": [[0, 1, 2, 3]]}],
    "all_to_all_v": [
        _V, {**_V, "metadata_tensor": "hbm 4x2:uint32", "has_rdispls": True}],
    "broadcast": [{**_LISTS, **_GROUP}],
    "send": [{"src": _H, "to_rank": 0}],
    "recv": [{"dst": _H, "from_rank": 0}],
    "collective_barrier": [{"data": _H, **_GROUP}],
    "rank_id": [{"dst": "reg"}],
    "collective_permute_implicit_current_processing_rank_id": [
        {"dst": "reg", "iteration_id": 0, **_GROUP}],
}

VALUES = {
    ("nc_matmul", "tile_size"): [
        (r, c) for r in (16, 32, 64, 128) for c in (16, 32, 64, 128)],
    ("nc_matmul", "accumulate"): [None, False],
    ("nc_matmul_mx", "accumulate"): [None, False],
    ("dma_copy", "priority"): [0, 3],
    ("dma_transpose", "priority"): [0, 3],
    ("dma_transpose", "axes"): [(1, 0)],
    ("core_barrier", "cores"): [(0,), (0, 1)],
    ("local_gather", "num_elem_per_idx"): [1],
    ("tensor_reduce", "axis"): [1, -1],
}

# Not used by people alone: they are seen in the programs of the others.
WITHOUT = {"register_alloc": "it is no instruction",
           "branch": "loops become it"}

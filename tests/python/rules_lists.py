"""What the tests of the rules' texts know: operations, and exceptions with
their reasons."""

from rules_kit import FP, INT

NAMES = (
    "dma_copy", "nc_matmul", "nc_transpose", "activation", "tensor_tensor",
    "tensor_scalar", "scalar_tensor_tensor", "tensor_reduce", "tensor_copy",
    "memset", "reciprocal", "iota", "affine_select",
    "nc_matmul_mx", "quantize_mx",
    "activation_reduce", "activate2", "tensor_scalar_reduce",
    "tensor_scalar_cumulative", "tensor_tensor_scan", "exponential",
    "tensor_copy_predicated", "range_select", "select_reduce",
    "nc_stream_shuffle", "bn_stats", "bn_aggr", "max8", "nc_find_index8",
    "nc_match_replace8",
    "tensor_partition_reduce", "sequence_bounds", "local_gather",
    "nc_n_gather", "nonzero_with_count", "topk", "rng", "rand2",
    "rand_set_state", "rand_get_state", "set_rng_seed", "dropout",
    "core_barrier", "sendrecv",
)

# Rules whose text is prose, not an expression.
PROSE = {"dma_copy.trigger", "tensor_scalar.bitvec_operand"}
# The library adds an upper bound or a second attribute to these texts.
WIDER = {
    # is_int32_const(channel_multiplier), which the library asks of offset too
    "iota.int32",
    # what Python allows below 0: (-64) % 64 == 0
    "nc_matmul.tile_row", "nc_matmul.tile_column",
    "nc_matmul_mx.tile_position",
    # isa.json has a second constraint, that no axis is 0
    "tensor_reduce.axis",
    # and no index below -2^24, where float32 counts no further either
    "range_select.range",
}

# Operations that trn3 alone has.
ONLY_TRN3 = ("nc_matmul_mx", "quantize_mx", "activate2", "exponential")

# Rules of which nothing drawn is reported, since another comes first.
FORESTALLED = {
    # operand.gpsimd_psum comes first
    "tensor_tensor.gpsimd_psum", "tensor_scalar.gpsimd_psum",
    "tensor_copy.gpsimd_psum", "memset.gpsimd_psum",
    # every drawn pattern has one to four pairs: test_rules_affine.py
    "iota.pattern_length", "affine_select.pattern_length",
    # nor one out of int32: test_edges.py
    "iota.pattern_values", "affine_select.pattern_values",
    # the texts of trn3's limits, which need tiles larger than PSUM
    "nc_matmul.moving_free_size_fp32", "nc_matmul.moving_free_size_bf16",
    # every drawn dst starts a bank: test_rules_matmul.py
    "nc_matmul.one_bank",
    # nothing but integers of 32 bits is drawn
    "tensor_scalar.bitvec_operand",
    # operand.dtype comes first
    "activate2.immediates_dtype", "tensor_scalar_cumulative.integers32",
    "tensor_scalar_cumulative.tfloat32",
    # operand.start_partition says the same of each tile
    "nc_stream_shuffle.start_partition_32",
    # operand.gpsimd_psum and rand_get_state.vector_generation come first
    "rand_get_state.sbuf",
    # the builder chooses the trigger: test_rules_cores.py
    "sendrecv.trigger",
    # the view is refused before: test_api_views.py
    "dma_copy.one_offset", "dma_copy.rows_in_hbm", "dma_copy.single_index",
    # one engine runs it, or its own rule of engines comes first
    *(f"{name}.indirect_engine" for name in (
        "nc_matmul", "activation", "activation_reduce", "activate2",
        "tensor_reduce", "tensor_tensor", "tensor_scalar",
        "tensor_scalar_reduce", "tensor_scalar_cumulative",
        "tensor_copy_predicated", "exponential")),
}

# affine_select: of the NKI API, as isa.json says of the same rule of memset.
NOT_OF_THE_DEVICE = {"type_is_float(on_false_value)"}

# Rules that isa.json has no constraint for, with where they come from.
EXTRA = {
    # int32 steps: of isa.json's "int32 math" of iota and affine_select
    "iota.pattern_values", "affine_select.pattern_values",
    # engines: of each instruction's list of engines in isa.json
    "nc_transpose.engine", "tensor_tensor.engine", "tensor_scalar.engine",
    "tensor_copy.engine", "memset.engine",
    # isa.json: nc_matmul, undefined_behaviour
    "nc_matmul.transpose_dst_dtype",
    # isa.json: nc_transpose, notes
    "nc_transpose.tensor_integers",
    # isa.json: operand0 is "None or 0 when op0 is unary"
    "tensor_scalar.operand0_missing", "tensor_scalar.invert_operand",
    # isa.json: bitvec operand dtype unstated (integer assumed)
    "tensor_scalar.bitvec_operand",
    # trainium3_arch.rst:218
    "tensor_scalar.scalar_engine_generation",
    # abs_max and abs_min: nki.api.shared.rst:122, min_gen 4 in isa_vocab.json
    "tensor_scalar.op1_generation", "scalar_tensor_tensor.generation",
    # nki-dma-overview.rst:19, of DMA
    "tensor_copy.packed_cast",
    # isa.json: attributes of dma_copy; the contract of trigger and queues
    "dma_copy.trigger", "dma_copy.queues",
    # isa.json: offset is an int32
    "iota.int32",
    # mxfp-matmul.rst:107 and 223
    "nc_matmul_mx.scale_quadrant", "quantize_mx.scale_quadrant",
    # as isa.json says of nc_matmul
    "nc_matmul_mx.tile_partitions",
    # activation, which activation_reduce becomes: __init__.py:1348, 1400, 1470
    "activation_reduce.reduce_op", "activation_reduce.scale_partitions",
    "activation_reduce.bias_shape", "activation_reduce.reciprocal_bias",
    # isa.json: operands are [P, 1]
    "activate2.relu_param_shape", "tensor_scalar_reduce.operand_shape",
    "tensor_scalar_cumulative.imm1_partitions", "exponential.reduce_init_shape",
    # isa.json: "identity(reduce_op)"
    "activate2.reduce_op_missing", "sendrecv.generation",
    # isa.json: "None or 0 when op0 is unary", and tensor_scalar
    "tensor_scalar_reduce.operand0_missing", "tensor_scalar_reduce.negate",
    "tensor_scalar_cumulative.unary_operand",
    # operations of trn3: release-notes/components/nki.rst:228
    "tensor_scalar_cumulative.op0_generation", "tensor_tensor_scan.generation",
    # lint: arguments that mean nothing here
    "activate2.relu_param_unused", "tensor_scalar_cumulative.imm1_unused",
    # isa.json: "allowed reduce_cmd subset unstated"; there is no value to load
    "range_select.reduce_cmd",
    # isa.json: nc_stream_shuffle, undefined_behaviour
    "nc_stream_shuffle.mask_outside_src",
    # isa.json has it, of level undefined
    "range_select.range",
    # isa.json: partition_reduce's dtypes are unstated; as tensor_reduce's
    "tensor_partition_reduce.bitvec_dtype",
    # isa.json: the shapes of operands
    "local_gather.dst_partitions", "rand2.bounds_shape",
    # isa.json: of level undefined (decisions.md: an error)
    "local_gather.dst_free_size", "rand2.range",
    # isa.json: the lists of engines
    "rng.engine", "rand_set_state.engine", "rand_get_state.engine",
    # isa.json: "on each listed core", and its list of engines
    "core_barrier.own_core", "core_barrier.engine",
    # isa.json: default_engine of sendrecv
    "sendrecv.trigger",
}

# isa.json constraints without a rule of the same text, and what holds instead.
ELSEWHERE = {
    # operand.buffer and operand.dtype, of the table of parameters
    "buf(stationary) == 'sbuf' and buf(moving) == 'sbuf'",
    "buf(dst) == 'psum'",
    "dt(stationary) in PE_IN and dt(moving) in PE_IN",
    "not engine == 'vector' or (buf(data) in ('sbuf', 'psum') and buf(dst) in "
    "('sbuf', 'psum'))",
    "buf(data) in ('sbuf', 'psum') and buf(dst) in ('sbuf', 'psum')",
    "buf(src) in ('sbuf', 'psum') and buf(dst) in ('sbuf', 'psum')",
    "buf(dst) == 'sbuf'",
    "buf(src) == 'sbuf' and buf(dst) == 'sbuf'",
    "buf(data) == 'hbm' and hbm_kind(data) == 'shared'",
    "buf(dst) == 'sbuf' and buf(on_true_tile) == 'sbuf'",
    "buf(dst) == 'sbuf' and buf(data) == 'sbuf'",
    "buf(dst) == 'sbuf' and buf(segment_ids) == 'sbuf'",
    "dt(dst) in ('float32', 'int32') and dt(segment_ids) in ('float32', "
    "'int32')",
    "dt(index) == 'uint16'",
    "buf(dst) == 'sbuf' and buf(data) == 'sbuf' and (buf(indices) == 'sbuf')",
    "dt(indices) == 'uint32'",
    "buf(src) == 'sbuf' and buf(dst) == 'sbuf'",
    "dt(src) in ('float32', 'int32') and dt(dst) == 'int32'",
    "dt(src) == 'bfloat16' and dt(val_dst) == 'bfloat16' and (dt(idx_dst) == "
    "'uint32')",
    "all((buf(x) == 'sbuf' for x in (src, val_dst, idx_dst)))",
    "dt(dst) in INT",
    "not engine == 'gpsimd' or buf(dst) == 'sbuf'",
    "dt(dst) in ('float8_e4m3', 'float8_e5m2', 'float16', 'bfloat16', "
    "'float32', 'tfloat32', 'int8', 'int16', 'int32', 'uint8', 'uint16', "
    "'uint32')",
    "buf(src_seeds) == 'sbuf'",
    "dt(src_seeds) == 'uint32'",
    "dt(dst) == 'uint32'",
    "size(dt(src_seeds)) == 4",
    "buf(src_seeds) in ('sbuf', 'psum')",
    "not (dt(data) in FP and is_tile(prob)) or dt(prob) in FP",
    # the kinds of arguments: operand.value, argument.count
    "op in ('add', 'average', 'maximum', 'bitwise_or', 'bitwise_and')",
    "op in ACT",
    "1 <= len(pattern) <= 4",
    # tile.partitions
    "P(dst) <= 128",
    # tensor_reduce.axis
    "all((a != 0 for a in (axis if type_is_seq(axis) else (axis,))))",
    # operand.buffer and operand.dtype of the MX operations
    "all((buf(x) == 'sbuf' for x in (stationary, moving, stationary_scale, "
    "moving_scale))) and buf(dst) == 'psum'",
    "dt(stationary) in X4 and dt(moving) in X4",
    "dt(stationary_scale) in MXSCALE and dt(moving_scale) in MXSCALE",
    "dt(dst) in ('float32', 'bfloat16')",
    "buf(src) == 'sbuf' and buf(dst) == 'sbuf' and (buf(dst_scale) == 'sbuf')",
    "dt(src) in F16S", "dt(dst) in ('float8_e5m2_x4', 'float8_e4m3fn_x4')",
    "dt(dst_scale) in MXSCALE",
    # perf_mode=double_row is unsupported as a whole
    "not perf_mode == 'double_row' or gen >= 3",
    "not perf_mode == 'double_row' or (dt(stationary) in FP8 and dt(moving) in "
    "FP8)",
    "not perf_mode == 'double_row' or (rank(stationary) >= 3 and rank(moving) "
    ">= 3 and (shape(stationary)[1] == 2) and (shape(moving)[1] == 2))",
    "not perf_mode == 'double_row' or (len(tile_size) == 0 or tile_size[1] == "
    "128)",
    "not perf_mode == 'double_row' or not is_transpose",
    # operand.dtype
    "dt(predicate) in ('uint8', 'uint16', 'uint32')",
    "dt(on_true_tile) in FP and dt(bound0) == 'float32' and (dt(bound1) == "
    "'float32')",
    "dt(predicate) in ('int8', 'uint8', 'int16', 'uint16')",
    "dt(on_true) not in ('tfloat32', 'int32', 'uint32')",
    # of NKI's API
    "buf(src) in ('hbm', 'sbuf') and buf(dst) in ('hbm', 'sbuf')",
}

# Bitwise operations take integer operands, and operand_dtype says the rest.
OTHER_DTYPES = {
    ("tensor_scalar", "operand0"): {*INT, *FP},
    ("tensor_scalar", "operand1"): {*INT, *FP},
}

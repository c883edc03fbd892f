"""Names of NKI 0.6 with their signatures, as its documentation prints them
(nki/api/nki/{language,isa,collectives}/__init__.py): parameters and defaults.

One a line, "name(parameter, parameter=default)"; a line that begins with a
space goes on.
"""

LANGUAGE = """
ndarray(shape, dtype, buffer=sbuf, name='', address=None)
zeros(shape, dtype, buffer=sbuf, name='')
ones(shape, dtype, buffer=sbuf, name='')
full(shape, fill_value, dtype, buffer=sbuf, name='')
zeros_like(x, dtype=None, buffer=None, name='')
empty_like(x, dtype=None, buffer=None, name='')
rand(shape, dtype, buffer=sbuf, name='')
random_seed(seed)
shared_constant(constant)
shared_identity_matrix(n, dtype=uint8, dst=None)
load(src, dtype=None)
store(dst, value)
load_transpose2d(src, dtype=None)
copy(x, dtype=None)
gather_flattened(data, indices, axis=0, dtype=None)
ds(start, size)
affine_range(start, stop=None, step=1)
sequential_range(start, stop=None, step=1)
static_range(start, stop=None, step=1)
dynamic_range(start, stop=None, step=1)
fori_loop(lower, upper, body_fun, step=1)
while_loop(init, body_fun)
no_reorder()
program_id(axis=0)
num_programs(axes=0)
program_ndim()
device_print(print_prefix, tensor)
is_hbm(buffer)
is_on_chip(buffer)
is_psum(buffer)
is_sbuf(buffer)
expand_dims(x, axis)
broadcast_to(x, shape, dtype=None)
sum(x, axis, dtype=None, keepdims=False)
max(x, axis, dtype=None, keepdims=False)
min(x, axis, dtype=None, keepdims=False)
mean(x, axis, dtype=None, keepdims=False)
prod(x, axis, dtype=None, keepdims=False)
var(x, axis, dtype=None, keepdims=False)
all(x, axis, dtype=None)
softmax(x, axis=-1, dtype=None)
rms_norm(x, w, axis, n, epsilon=1e-06, dtype=None, compute_dtype=None)
where(condition, x, y, dtype=None)
dropout(x, rate, dtype=None)
transpose(x, dtype=None)
matmul(x, y, transpose_x=False)
"""

# nl.NAME(x, y, dtype=None) and nl.NAME(x, dtype=None); each is an op= token.
BINARY = (
    "add subtract multiply maximum minimum divide power fmod mod abs_max "
    "abs_min equal not_equal less less_equal greater greater_equal bitwise_and "
    "bitwise_or bitwise_xor left_shift right_shift logical_and logical_or "
    "logical_xor"
).split()
UNARY = (
    "invert logical_not exp log sqrt rsqrt reciprocal square abs negative sign "
    "sin cos tan arctan ceil floor trunc tanh sigmoid relu gelu "
    "gelu_apprx_sigmoid gelu_apprx_tanh gelu_dx gelu_apprx_sigmoid_dx silu "
    "silu_dx softplus mish erf erf_dx"
).split()
# Tokens that cannot be called.
TOKENS = "average prelu bypass".split()

ISA = """
dma_copy(dst, src, priority=None, oob_mode=error, dge_mode=unknown,
 engine=unknown, name=None)
tensor_copy(dst, src, engine=unknown, name=None)
memset(dst, value, engine=unknown, name=None)
tensor_copy_predicated(dst, src, predicate, reverse_pred=False, name=None)
nc_matmul(dst, stationary, moving, is_stationary_onezero=False,
 is_moving_onezero=False, is_transpose=False, accumulate=None,
 tile_position=(), tile_size=(), perf_mode=none, name=None)
nc_matmul_mx(dst, stationary, moving, stationary_scale, moving_scale,
 tile_position=None, tile_size=None, accumulate=None, name=None)
nc_transpose(dst, data, engine=unknown, name=None)
dma_transpose(dst, src, axes=None, priority=None, dge_mode=unknown,
 oob_mode=error, name=None)
tensor_tensor(dst, data1, data2, op, engine=unknown, name=None)
tensor_scalar(dst, data, op0, operand0, reverse0=False, op1=None,
 operand1=None, reverse1=False, engine=unknown, name=None)
tensor_reduce(dst, op, data, axis, negate=False, keepdims=False, name=None)
tensor_partition_reduce(dst, op, data, name=None)
tensor_scalar_cumulative(dst, src, op0, op1, imm0, imm1=None,
 reduce_cmd=reset_reduce, name=None)
activation(dst, op, data, bias=None, scale=1.0, reduce_op=None,
 reduce_res=None, reduce_cmd=idle, name=None)
activation_reduce(dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0,
 name=None)
activate2(dst, op, data, imm0, imm1, op0, op1, relu_param=0.0, reverse0=False,
 reverse1=False, reduce_op=None, reduce_res=None, reduce_cmd=idle, name=None)
iota(dst, pattern, offset=0, channel_multiplier=0, name=None)
affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value,
 cmp_op=equal, offset=0, name=None)
local_gather(dst, src_buffer, index, num_elem_per_idx=1,
 num_valid_indices=None, name=None)
nc_n_gather(dst, data, indices, name=None)
bn_stats(dst, data, name=None)
bn_aggr(dst, data, name=None)
tensor_tensor_scan(dst, data0, data1, initial, op0, op1, reverse0=False,
 reverse1=False, name=None)
nc_stream_shuffle(dst, src, shuffle_mask, name=None)
rng(dst, engine=vector, name=None)
dropout(dst, data, prob, name=None)
set_rng_seed(src_seeds, name=None)
rand_set_state(src_seeds, engine=gpsimd, name=None)
rand_get_state(dst, engine=gpsimd, name=None)
rand2(dst, min, max, name=None)
exponential(dst, src, max_value=0.0, reduce_res=None, reduce_cmd=idle,
 reduce_init=0.0, name=None)
reciprocal(dst, data, name=None)
max8(dst, src, name=None)
sequence_bounds(dst, segment_ids, name=None)
scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0=False,
 reverse1=False, name=None)
tensor_scalar_reduce(dst, data, op0, operand0, reduce_op, reduce_res=None,
 reverse0=False, reduce_cmd=reset_reduce, reduce_init=None,
 reduce_res_negate=False, name=None)
core_barrier(data, cores, engine=gpsimd, name=None)
dma_compute(dst, srcs, reduce_op, scales=None, unique_indices=True,
 oob_mode=error, name=None)
quantize_mx(dst, src, dst_scale, name=None)
range_select(dst, on_true_tile, comp_op0, comp_op1, bound0, bound1,
 reduce_cmd=reset_reduce, reduce_res=None, reduce_op=maximum, range_start=0,
 on_false_value=FP32_MIN, name=None)
select_reduce(dst, predicate, on_true, on_false, reduce_res=None,
 reduce_cmd=idle, reduce_op=maximum, reverse_pred=False, name=None)
sendrecv(src, dst, send_to_rank, recv_from_rank, pipe_id, dma_engine=dma,
 name=None)
register_alloc(x=None)
register_move(dst, src)
register_load(dst, src)
register_store(dst, src)
nc_find_index8(dst, data, vals, name=None)
nc_match_replace8(dst, data, vals, imm, dst_idx=None, name=None)
nonzero_with_count(dst, src, index_offset=0, padding_val=-1, name=None)
topk(val_dst, idx_dst, src, n, name=None)
get_nc_version()
get_nc_sub_version()
"""

COLLECTIVES = """
all_reduce(srcs, dsts, replica_group, op, priority=None, name=None)
all_gather(srcs, dsts, replica_group, collective_dim, priority=None, name=None)
all_gather_v(srcs, dsts, replica_group, metadata_tensor,
 recv_counts_known=False, has_rdispls=False, priority=None, name=None)
reduce_scatter(srcs, dsts, replica_group, collective_dim, op, priority=None,
 name=None)
all_to_all(srcs, dsts, replica_group, collective_dim, priority=None, name=None)
all_to_all_v(srcs, dsts, replica_group, metadata_tensor,
 recv_counts_known=False, has_rdispls=False, priority=None, name=None)
collective_permute(srcs, dsts, source_target_pairs, priority=None, name=None)
collective_permute_implicit(srcs_by_channel, dsts_by_channel, replica_group,
 channel_ids=[0], priority=None, name=None)
collective_permute_implicit_reduce(srcs0_by_channel, srcs1_by_channel,
 dsts_by_channel, replica_group, op, channel_ids=[0], priority=None, name=None)
collective_permute_implicit_current_processing_rank_id(iteration_id,
 replica_group, channel_id=0, name=None)
rank_id(name=None)
"""

DTYPES = (
    "bool_ int8 int16 int32 uint8 uint16 uint32 float16 float32 bfloat16 "
    "tfloat32 float8_e4m3 float8_e4m3fn float8_e5m2 float8_e5m2_x4 "
    "float8_e4m3fn_x4 float8_e8m0fnu float4_e2m1fn_x4"
).split()

# Members of nki.isa's enumerations, with their values.
ENUMS = {
    "engine": {
        "unknown": 0,
        "tensor": 1,
        "scalar": 2,
        "gpsimd": 3,
        "dma": 4,
        "vector": 5,
        "sync": 6,
    },
    "reduce_cmd": {
        "idle": 0,
        "reset": 1,
        "reduce": 2,
        "reset_reduce": 3,
        "load_reduce": 4,
    },
    "dge_mode": {"unknown": 0, "swdge": 1, "hwdge": 2, "none": 3},
    "oob_mode": {"error": 0, "skip": 1},
    "matmul_perf_mode": {"none": "none", "double_row": "double_row"},
    "nc_version": {"gen2": 2, "gen3": 3, "gen4": 4},
    "dma_engine": {"dma": 1, "gpsimd_dma": 2},
}

# NkiTensor: view methods and attributes.
TENSOR = """
ap(pattern, offset=None, scalar_offset=None, vector_offset=None,
 indirect_dim=0, dtype=None)
reshape(shape)
slice(dim, start, end, step=1)
select(dim, index)
vector_select(dim, vector_offset)
permute(dims)
broadcast(dim, size)
expand_dim(dim)
squeeze_dim(dim)
reshape_dim(dim, shape)
flatten_dims(start_dim, end_dim)
rearrange(src_pattern, dst_pattern, fixed_sizes=None)
view(dtype)
indirect(index, num_elem=None)
get_pattern()
is_contiguous()
is_indirect()
"""
TENSOR_ATTRIBUTES = (
    "shape strides offset name dtype buffer ndim size reinterpret_cast"
).split()


def rows(table: str) -> dict[str, str]:
    """name -> "(parameters)" of a table above."""
    found = {}
    for line in table.strip().replace("\n ", " ").splitlines():
        name, parenthesis, rest = line.partition("(")
        found[name] = parenthesis + rest
    return found

"""What bench/nki_library.py runs of nki-library: for each kernel the smallest
shapes that it takes, or nearly, in its test's own parametrization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nki_library_run import Case, Refused

GEN3 = ("trn2", "trn3")
ALL = ("trn1", "trn2", "trn3")
MX = ("trn3",)

# Both cores of kernel[2] run a kernel that does not shard.
SAME = "race.replicated_write"
# Lanes that nothing wrote are moved or computed with, and not used.
LANES = ("memory.read_unwritten", "memory.overwritten")
NOTE_LANES = "reads lanes that nothing wrote, and does not use them"
NOTE_SAME = "does not shard: both cores write the same values"
NOTE_READ_SAME = ("both cores write the same values, and read them without a "
                  "barrier")
DIMENSION = ("trnemu: the kernel names a dimension of size 1 that has the "
             "stride of the one it means, and its index is held against that "
             "dimension's size")


def sized(config: str, **sizes: Any) -> dict[str, Any]:
    """A ranged test's first case, with other sizes."""
    return {"tensors": {config: sizes}}


def refused(id: str, because: str) -> dict[str, Refused]:
    return {"*": Refused(id, because)}




def several(
    kernel: str, test: str, places: list[Any], **more: Any
) -> list[Case]:
    return [Case(kernel, test, at, **more) for at in places]


def _ce(**sizes: Any) -> dict[str, Any]:
    return sized("ce_config", B=1, **sizes)


def _mlp(config: str, **sizes: Any) -> dict[str, Any]:
    return sized(config, **sizes)


_CE_LARGE = _ce(T=130, V=1000, dtype="bfloat16", PB=64, CS=384)
_CE_FLOAT = _ce(T=128, V=512, dtype="float32", PB=64, CS=256)
_CTE: list[Mapping[str, Any]] = [
    {"seqlen_q": 128, "seqlen_kv": 512},
    {"seqlen_q": 512, "seqlen_kv": 512, "causal_mask": True,
     "dtype": "bfloat16"},
    {"seqlen_q": 640, "seqlen_kv": 1024, "causal_mask": True, "d": 128,
     "dtype": "bfloat16", "tp_q": False, "tp_out": True},
]
_VIEWS = "core/utils/test_tensor_view.py::"
_LOSS = "experimental/loss/"
_BWMM = "experimental/moe/"
_OUT = "core/output_projection/"
_QKV = "core/qkv/"
_SUB = "core/subkernels/"
_MLP = "core/mlp/"

UTILITIES: list[Case] = [
    *several("cumsum", "core/cumsum/test_cumsum.py::TestCumsumKernel."
             "test_cumsum_fast", [0, 1], targets=GEN3, allowed=(SAME,),
             note=NOTE_SAME),
    Case("cumsum", "core/cumsum/test_cumsum.py::TestCumsumKernel."
         "test_cumsum_fast", 0, targets=("trn1",), lnc=1),
    *several("RoPE", "core/embeddings/test_rope.py::TestRopeKernel."
             "test_rope_fast", [0], targets=GEN3),
    *several("RoPE", "core/embeddings/test_rope.py::TestRopeKernel."
             "test_rope_manual", [17], targets=GEN3),
    *several("rope_hf", "core/embeddings/test_rope_hf.py::TestRopeHFKernel."
             "test_rope_hf_lnc", [6, 7], targets=GEN3),
    *several("cascaded_max", "core/max/test_cascaded_max.py::"
             "TestCascadedMaxKernel.test_cascaded_max_unit", [8, 10],
             targets=GEN3, allowed=(SAME, "nc_find_index8.too_few"),
             note="seven of the eight values looked for are not used"),
    *[Case("folded_load_store", "core/max/test_cascaded_max_utils.py::"
           f"TestCascadedMaxUtils.{test}", targets=GEN3)
      for test in ("test_folded_load_store_full_batch",
                   "test_folded_load_store_partial_batch",
                   "test_folded_load_store_dst_batch",
                   "test_folded_load_oversized_sb")],
    Case("cross_partition_copy", "core/utils/test_cross_partition_copy.py::"
         "TestCrossPartitionCopy.test_cross_partition_copy", 12, GEN3),
    Case("tp_broadcast", "core/utils/test_tp_broadcast.py::"
         "test_tp_broadcast", targets=ALL),
    *[Case("TensorView", f"{_VIEWS}{test}") for test in (
        "TestTensorView.test_slice", "TestTensorView.test_permute",
        "TestTensorView.test_broadcast", "TestTensorView.test_reshape_dim",
        "TestTensorView.test_flatten_dims", "TestTensorView.test_chain",
        "TestDynamicTensorView.test_dynamic_select",
        "TestTensorViewConstructor.test_chained_ops_on_tensorview_input",
        "TestTensorViewReinterpretCast.test_reinterpret_cast_mxfp8")],
    *several("find_nonzero_indices", f"{_SUB}test_find_nonzero_indices.py::"
             "TestFindNonzeroIndicesKernel.test_find_nonzero_indices_with_"
             "col_start_fast", [0], targets=GEN3, allowed=LANES,
             note=NOTE_LANES),
    Case("find_nonzero_indices_with_count", "experimental/benchmark/"
         "test_find_nonzero_indices_with_count.py::TestFindNonzeroIndices"
         "WithCountKernel.test_find_nonzero_indices_unit", targets=GEN3,
         allowed=(SAME, *LANES), note=NOTE_LANES),
    *several("indexed_flatten", f"{_SUB}test_indexed_flatten.py::"
             "TestIndexedFlattenKernel.test_indexed_flatten_fast", [0, 3],
             targets=GEN3),
    Case("indexed_flatten", f"{_SUB}test_indexed_flatten.py::"
         "TestIndexedFlattenKernel.test_indexed_flatten_row_offsets_start",
         1, GEN3),
    Case("dynamic_elementwise_add", "experimental/dynamic_shapes/"
         "test_dynamic_elementwise_add.py::TestDynamicElementwiseAdd."
         "test_dynamic_elementwise_add_fast", targets=GEN3,
         allowed=(SAME, "race.write_read", "race.read_write",
                  "race.write_write"),
         note="both cores write the result, and then copy it onto itself"),
    Case("dynamic_elementwise_add", "experimental/dynamic_shapes/"
         "test_dynamic_elementwise_add.py::TestDynamicElementwiseAdd."
         "test_dynamic_elementwise_add_fast", 1, GEN3, lnc=1),
]

NORMS: list[Case] = [
    *several("rmsnorm_quant", "core/rmsnorm/test_rmsnorm_quant.py::"
             "TestRmsNormQuantKernel.test_rmsnorm_quant_lnc_unit", [9, 10],
             targets=GEN3),
    Case("rmsnorm_quant", "core/rmsnorm/test_rmsnorm_quant.py::"
         "TestRmsNormQuantKernel.test_rmsnorm_row_quant_sweep", 0, GEN3),
    *several("layernorm_tkg", f"{_SUB}test_layernorm_tkg.py::"
             "TestLayerNormTKGKernel.test_layernorm_tkg_unit", [0, 2, 16],
             targets=GEN3, allowed=(SAME,)),
    *several("rmsnorm_tkg", f"{_SUB}test_rmsnorm_tkg.py::"
             "TestRmsNormTKGKernel.test_rmsnorm_tkg_unit", [0, 5],
             targets=GEN3, allowed=(SAME,)),
    *several("router_topk", "core/router_topk/test_router_topk.py::"
             "TestRouterTopkKernel.test_router_topk", [480],
             targets=GEN3, allowed=(SAME,), note=NOTE_SAME),
    *several("router_topk", "core/router_topk/test_router_topk.py::"
             "TestRouterTopkKernel.test_router_topk_sweep",
             [{"T": 64}, {"T": 384}], targets=GEN3,
             allowed=(SAME, "race.write_write"),
             note="each core writes zeros to all rows, then all values: in "
             "any order the values stay"),
    Case("rotational_topk", "core/topk/test_topk.py::TestTopKKernel."
         "test_topk_unit", 22, GEN3, allowed=(SAME,)),
    Case("rotational_topk", "core/topk/test_topk.py::TestTopKKernel."
         "test_topk_unsorted", 1, GEN3, allowed=(SAME,)),
    Case("topk_reduce", "experimental/subkernels/test_topk_reduce.py::"
         "TestTopkReduceKernel.test_topk_reduce", 0, GEN3,
         allowed=("nc_find_index8.too_few",),
         note="looks for more values than there are, and does not use them"),
    *[Case(f"cross_entropy_{way}", f"{_LOSS}test_cross_entropy_{way}.py::"
           f"TestCrossEntropy{way.title()}Sweep."
           "test_switch_transformers_fast", at, GEN3)
      for way in ("forward", "backward") for at in (_CE_LARGE, _CE_FLOAT)],
    Case("cross_entropy_forward", f"{_LOSS}test_cross_entropy_forward.py::"
         "TestCrossEntropyForwardSweep.test_switch_transformers_fast", 1,
         refused=refused("access.index", "trnemu: core 0 has no position, "
                         "and takes an empty slice that it does not use")),
    *several("conv1d", "experimental/conv/test_conv1d.py::TestConv1DKernel."
             "test_conv1d_basic", [0, 24], targets=GEN3, allowed=(SAME,)),
    Case("conv1d", "experimental/conv/test_conv1d.py::TestConv1DKernel."
         "test_conv1d_whisper", 1, GEN3),
    Case("depthwise_conv1d", "experimental/conv/test_depthwise_conv1d.py::"
         "TestDepthwiseConv1d.test_depthwise_conv1d_fast", 0, GEN3),
]

PROJECTIONS: list[Case] = [
    *several("mlp (CTE)", f"{_MLP}test_mlp_cte.py::TestMlpCteKernel."
             "test_mlp_cte_unit", [
                 _mlp("mlp_cte_config", seqlen=128, hidden=512,
                      intermediate=256, norm_type=2)], targets=GEN3),
    *several("mlp (CTE)", f"{_MLP}test_mlp_cte.py::TestMlpCteKernel."
             "test_mlp_cte_unit", [
                 _mlp("mlp_cte_config", seqlen=256, hidden=1024,
                      intermediate=448, norm_type=1, fused_add=1), 1],
             targets=GEN3, allowed=LANES, note=NOTE_LANES),
    *several("mlp (TKG)", f"{_MLP}test_mlp_tkg.py::TestMlpTkgKernels."
             "test_mlp_tkg_unit", [
                 _mlp("mlp_tkg_config", b=1, s=4, h=1024, i=512, norm_type=2),
                 _mlp("mlp_tkg_config", b=2, s=1, h=1024, i=448, norm_type=1,
                      fa=1, sa=1)], targets=GEN3),
    *several("output_projection_cte", f"{_OUT}test_output_proj_cte.py::"
             "TestOutputProjCteKernel.test_output_proj_cte_bf16_unit",
             [0, 5, 7], targets=GEN3),
    *several("output_projection_tkg", f"{_OUT}test_output_proj_tkg.py::"
             "TestOutputProjTkgKernel.test_output_proj_tkg_unit", [1, 2, 5],
             targets=GEN3),
    *several("qkv (TKG)", f"{_QKV}test_qkv_tkg.py::TestQkvTkgKernel."
             "test_qkv_tkg_accuracy_unit", [7, 2, 9], targets=GEN3),
    *several("qkv (TKG)", f"{_QKV}test_qkv_tkg.py::TestQkvTkgKernel."
             "test_qkv_tkg_sb2sb_accuracy_unit", [2, 7], targets=GEN3),
    *several("qkv (CTE)", f"{_QKV}test_qkv_cte.py::TestQkvCteKernel."
             "test_qkv_cte_accuracy_unit", [0, 1, 2, 5, 7], targets=GEN3),
]

ATTENTION: list[Case] = [
    *several("attention_cte", "core/attention/test_attention_cte.py::Test"
             "RangedAttentionCTEKernels.test_attention_cte_no_cp_unit", _CTE,
             targets=GEN3),
    *several("attention_cte", "core/attention/test_attention_cte.py::Test"
             "RangedAttentionCTEKernels.test_attention_cte_seq_pack_unit", [
                 6, {"seqlen": 512}, {"seqlen": 512, "lnc_degree": 2, "bs": 2,
                                      "bs_kv": 2, "dtype": "bfloat16"}],
             targets=GEN3),
    *several("attention_tkg", "core/attention/test_attention_tkg.py::"
             "TestAttentionTkgKernel.test_attn_tkg_fast", [0, 1],
             targets=GEN3, allowed=LANES, note=NOTE_LANES),
    *several("attention_bwd", "core/attention/test_attention_bwd.py::"
             "TestAttentionBwdKernel.test_attention_bwd_fast", [
                 {"seq_len": 512},
                 {"seq_len": 1024, "causal": False, "num_sinks": 2},
                 {"seq_len": 512, "head_dim": 64, "dtype": "float32"}],
             targets=GEN3),
    *[Case("gen_mask_tkg", "core/attention/test_gen_mask_tkg.py::"
           f"TestGenMaskTkgHbm.test_{test}", targets=GEN3)
      for test in ("flat_kv", "block_kv", "active_mask", "swa", "fa_tiling",
                   "swa_with_active_mask")],
    Case("attention_block_tkg", "experimental/transformer/test_attention_"
         "block_tkg.py::TestRangeAttnBlk.test_attn_blk_megakernel",
         allowed=(SAME, "race.read_write", *LANES),
         note="writes new rows of the caches while the other core may still "
         "read them; it masks these rows"),
]

MOE: list[Case] = [
    Case("moe_tkg", "core/moe/moe_tkg/test_moe_tkg.py::TestMoeTkgKernel."
         "test_moe_tkg_bfloat16", 27, GEN3, allowed=LANES, note=NOTE_LANES),
    Case("moe_tkg", "core/moe/moe_tkg/test_moe_tkg.py::TestMoeTkgKernel."
         "test_moe_tkg_sbuf_io", 1, GEN3),
    Case("moe_block_tkg", "core/moe_block/test_moe_block_tkg.py::"
         "TestMoEBlockTkgKernel.test_moe_block_kernel_unit", 20, GEN3,
         allowed=(SAME,)),
    Case("moe_cte (bwmm_shard_on_I)", "core/moe/moe_cte/test_moe_cte.py::"
         "TestMoeBlockwiseMatMulLnc2.test_moe_blockwise_mm_kernel_lnc2",
         allowed=(SAME, "race.write_read", "race.read_write",
                  "race.write_write", "dma.duplicate_rows"),
         note="both cores set the result to zero, and no barrier keeps a late "
         "zero from the first rows; rows of padding have one index"),
    Case("bwmm_bwd_dropless", f"{_BWMM}test_bwmm_bwd.py::TestMoeBlockwiseMat"
         "MulBwdShardHAffinityHDroplessLnc2.test_moe_blockwise_mm_bwd_shardH_"
         "affinityH_dropless_lnc2", 5,
         allowed=(SAME, "dma.duplicate_rows", "race.write_write")),
    Case("bwmm_shard_on_H", f"{_BWMM}test_bwmm_shard_on_H.py::"
         "TestMoeBlockwiseMatMulShardH.test_moe_blockwise_mm_shard_h_lnc2",
         10, allowed=("dma.duplicate_rows",),
         note="rows of padding have one index"),
]

_UNWRITTEN = refused(
    "memory.read_unwritten", "trnemu: stores all 32 rows of scales, of which "
    "quantize_mx writes 4; the test takes the others to be 0")
MXFP: list[Case] = [
    Case("mxfp_load", "experimental/mxfp_subkernels/test_mxfp_load.py::"
         "TestMxfpLoadPerformance.test_mxfp_load_performance", 0, MX,
         refused=_UNWRITTEN),
    Case("rmsnorm_mx_quantize_tkg", f"{_SUB}test_rmsnorm_mx_quantize_tkg.py::"
         "TestRmsNormQuantizeMxTKGKernel.test_rmsnorm_mx_quantize_tkg", 0, MX,
         allowed=(SAME, *LANES), refused=refused(
             "output.unwritten", "trnemu: leaves rows of its output "
             "unwritten, which the test does not look at")),
    Case("gate_up_projection_mx", f"{_MLP}test_mlp_proj_mxfp4.py::"
         "TestMlpProjMxfp4Kernel.test_mxfp4_gate_up_proj_unit", 0, MX,
         allowed=LANES, note=NOTE_LANES),
    Case("down_projection_mx", f"{_MLP}test_mlp_proj_mxfp4.py::"
         "TestMlpProjMxfp4Kernel.test_mxfp4_down_proj_unit", 0, MX,
         allowed=LANES, note=NOTE_LANES),
    *[Case("output_projection_cte (MX)", f"{_OUT}test_output_proj_cte.py::"
           f"TestOutputProjCteKernel.{test}", at, MX) for test, at in (
               ("test_output_proj_cte_mxfp4_unit", 37),
               ("test_output_proj_cte_mxfp4_prequantized_unit", 37),
               ("test_output_proj_cte_static_mxfp8_unit", 87))],
    *several("qkv (TKG, MX)", f"{_QKV}test_qkv_tkg.py::TestQkvTkgKernel."
             "test_qkv_tkg_mxfp_unit", [0, 9], targets=MX, allowed=(SAME,)),
    *several("qkv (CTE, MX)", f"{_QKV}test_qkv_cte.py::TestQkvCteKernel."
             "test_qkv_cte_mxfp8_unit", [0, 25], targets=MX,
             allowed=LANES, note=NOTE_LANES),
    Case("qkv (CTE, MX)", f"{_QKV}test_qkv_cte.py::TestQkvCteKernel."
         "test_qkv_cte_mxfp8_neutral_mx_scales", 0, MX),
    Case("qkv (CTE, MX)", f"{_QKV}test_qkv_cte.py::TestQkvCteKernel."
         "test_qkv_cte_mxfp8_static_dequant", 0, MX,
         refused=refused("TypeError", "the library calls the module "
                         "stream_shuffle_broadcast, not its function")),
    Case("qkv (CTE, MX)", f"{_QKV}test_qkv_cte.py::TestQkvCteKernel."
         "test_qkv_cte_mx_bf16_static_dequant", 0, MX,
         refused=refused("TypeError", "the test passes is_input_swizzled, "
                         "which qkv does not have")),
    Case("mxfp_load", "experimental/mxfp_subkernels/test_mxfp_load.py::"
         "TestMxfpLoadPerformance.test_mxfp_load_performance", 0, ("trn2",),
         refused=refused("quantize_mx.generation", "needs trn3")),
]

_COLLECTIVE = "experimental/collectives/"
_ON_RANKS = f"{_COLLECTIVE}test_collectives.py::TestCollectives.test_"
_SB2SB = (f"{_COLLECTIVE}test_sb2sb_allgather.py::TestSb2sbAllgather."
          "test_allgather_sb2sb")
_ATTENTION_BLOCK = ("experimental/transformer/test_attention_block_tkg.py::"
                    "TestRangeAttnBlk.test_attn_blk_megakernel")
_RINGS: list[Mapping[str, Any]] = [
    {"m": 256, "K": 256},
    {"m": 256, "K": 256, "force_hbm_cc": True},
    {"m": 256, "K": 256, "lnc": 1},
    {"m": 256, "K": 256, "lnc": 1, "force_hbm_cc": True},
]

# On the ranks of a system (trn2.48xlarge).
COLLECTIVES: list[Case] = [
    *[Case(test, f"{_ON_RANKS}{test}", at, allowed=(SAME,), note=NOTE_SAME)
      for test in ("all_reduce", "all_gather", "reduce_scatter",
                   "all_to_all", "rank_id", "dma_copy_rank_id")
      for at in (0, 1)],
    *[Case("batch_shard_input", f"{_ON_RANKS}batch_shard_input", at,
           allowed=(SAME, "race.write_read"), note=NOTE_READ_SAME)
      for at in range(4)],
    *several("allgather_sb2sb", _SB2SB, [0, 2, 6, 7]),
    *several("allgather_sb2sb_tiled", f"{_SB2SB}_tiled", [0, 2, 3, 5],
             allowed=(SAME,), note=NOTE_SAME),
    *several("fine_grained_allgather", f"{_COLLECTIVE}test_fg_allgather.py::"
             "TestFgAllgather.test_fine_grained_allgather", _RINGS),
    *several("allgather_compute_matmul", f"{_COLLECTIVE}test_fgcc.py::"
             "TestFgcc.test_allgather_compute_matmul",
             [{**ring, "N": 1024} for ring in _RINGS]),
    Case("attention_block_tkg (KVDP)", _ATTENTION_BLOCK, 73,
         allowed=(SAME, "race.write_read"), note=NOTE_READ_SAME),
    Case("attention_block_tkg (KVDP)", _ATTENTION_BLOCK, 71,
         allowed=(SAME, "race.write_read", *LANES),
         refused=refused("access.dynamic_out_of_bounds", DIMENSION)),
    Case("transformer_tkg", "experimental/transformer/test_transformer_tkg.py"
         "::TestTransformerTKG.test_transformer_tkg",
         sized("dims", tp=4, batch=2, S_ctx=512, q_heads=8, H=1024, I=1024),
         allowed=(SAME, "race.read_write", "race.write_read", *LANES),
         note=NOTE_READ_SAME),
]

CASES: list[Case] = [
    *UTILITIES, *NORMS, *PROJECTIONS, *ATTENTION, *MOE, *MXFP, *COLLECTIVES,
]

NOT_RUN: list[tuple[str, str]] = [
    ("gen_mask_tkg in SBUF (TestGenMaskTkg)", "the test looks for an argument "
     "by a name that it does not have (KeyError mask_out_hbm)"),
    ("moe_tkg with MX (test_moe_tkg_mx)", "the kernel asks tensors for "
     "base_tensor, which only its TensorView has (AttributeError)"),
    ("bwmm_shard_on_block_mx, bwmm_shard_on_I_mx", "the arguments of their "
     "tests take minutes to make"),
    ("quantize_mx (test_quantize_to_mx)", "the reference looks up a dtype of "
     "the vendor's package by identity"),
]

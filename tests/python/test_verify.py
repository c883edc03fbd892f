"""Program.verify, and what allow= and strict= make of findings."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import trnemu
from rules_kit import TARGETS

HERE = pathlib.Path(__file__).name


def trn3_program() -> trnemu.Program:
    """Uses, one a line, what only trn3 has; and what trn2 has and trn1 not."""
    b = trnemu.ProgramBuilder(target="trn3", name="modern")
    x = b.input("x", (4, 8), "float32")
    y = b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    b.dma_copy(dst=t, src=x, priority=1)
    b.tensor_tensor(dst=t, data1=t, data2=t, op="abs_max")
    b.tensor_scalar(dst=t, data=t, op0="square")
    b.activation(dst=t, op="copy", data=t, bias=1.0)
    b.dma_copy(dst=y, src=t, dge_mode="hwdge")
    return b.build()


ON_TRN2 = [
    ("dma_copy.priority", 0), ("tensor_tensor.abs_max_generation", 1),
    ("tensor_scalar.op0_generation", 2),
]
ON_TRN1 = [
    *ON_TRN2, ("activation.bias_immediate", 3),
    ("dma_copy.hwdge_generation", 4),
]


def test_a_program_is_right_for_the_target_it_was_built_for():
    assert trn3_program().verify() == []
    assert trn3_program().verify("trn3") == []


@pytest.mark.parametrize(
    ("target", "expected"), [("trn2", ON_TRN2), ("trn1", ON_TRN1)]
)
def test_verify_lists_all_that_another_target_refuses(target, expected):
    findings = trn3_program().verify(target)
    assert sorted((f.id, f.instruction) for f in findings) == sorted(expected)
    for f in findings:
        assert (f.category, f.severity, f.count) == ("illegal", "error", 1)
        assert HERE in f.source
        assert f.operation == f.id.split(".")[0]
        assert target in str(f)
    assert len({f.source for f in findings}) == len(expected)


def test_verify_lists_findings_in_program_order():
    order = [f.instruction for f in trn3_program().verify("trn1")]
    assert order == sorted(order)


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_a_run_raises_the_first_of_the_findings(target):
    p = trn3_program()
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {"x": np.ones((4, 8), np.float32)}, target=target)
    assert info.value.id == p.verify(target)[0].id
    assert info.value.severity == "error"


def test_a_device_refuses_a_program_of_another_target_when_loading():
    with pytest.raises(trnemu.Fault) as info:
        trnemu.Device("trn1").load(trn3_program())
    assert info.value.id == trn3_program().verify("trn1")[0].id


def test_findings_are_json():
    findings = trn3_program().verify("trn1")
    for f in findings:
        data = json.loads(f.to_json())
        assert "\n" not in f.to_json()
        assert data["id"] == f.id and data["severity"] == "error"
        assert data["category"] == "illegal" and data["count"] == 1
        assert data["message"] == f.message and data["operand"] == f.operand
        assert data["instruction"] == f.instruction and data["core"] == 0
        assert data["engine"] == f.engine and data["source"] == f.source
        assert data["operation"] == f.operation
        assert data["reference"] and isinstance(data["details"], dict)
        assert all(k == k.strip() for k in data["details"])
        assert data["details"]["target"] == "trn1"


def test_repeats_of_a_line_are_counted():
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=0.0)
    for _ in range(5):
        b.activation(dst=t, op="copy", data=t, bias=1.0)
    b.activation(dst=t, op="copy", data=t, bias=1.0)
    findings = b.build().verify("trn1")
    assert [(f.id, f.count) for f in findings] == [
        ("activation.bias_immediate", 5), ("activation.bias_immediate", 1),
    ]
    assert "5 times" in str(findings[0])


def test_each_broken_operand_of_an_instruction_is_a_finding():
    p = moved(48)
    starts = [f for f in p.verify() if f.id == "operand.start_partition"]
    assert sorted(f.operand for f in starts) == ["data1", "data2", "dst"]


def test_several_rules_of_one_instruction_are_all_listed():
    b = trnemu.ProgramBuilder(target="trn3")
    st = b.sbuf((4, 4), "float8_e4m3fn")
    mv = b.sbuf((4, 513), "float8_e4m3fn")
    dst = b.psum((4, 513), "bfloat16")
    for t in (st, mv, dst):
        b.memset(dst=t, value=0)
    b.nc_matmul(dst=dst, stationary=st, moving=mv)
    ids = {f.id for f in b.build().verify("trn2")}
    assert ids == {
        "nc_matmul.moving_free_size", "nc_matmul.e4m3fn_generation",
        "nc_matmul.dst_dtype",
    }


def test_an_unknown_target_or_layer_is_a_value_error():
    p = trn3_program()
    with pytest.raises(ValueError, match="trn4"):
        p.verify("trn4")
    with pytest.raises(ValueError, match="devise"):
        p.verify(layers=["devise"])


def psum_dma() -> trnemu.Program:
    b = trnemu.ProgramBuilder()
    y = b.output("y", (4, 8), "float32")
    t = b.psum((4, 8), "float32")
    b.memset(dst=t, value=2.0)
    b.dma_copy(dst=y, src=t)
    return b.build()


def test_rules_of_the_api_are_found_when_asked_for():
    p = psum_dma()
    assert p.verify() == []
    assert p.verify(layers=["device", "backend"]) == []
    for layers in (["api"], ["device", "backend", "api", "lint"]):
        findings = p.verify(layers=layers)
        assert [f.id for f in findings] == ["dma_copy.psum"]
        assert "api" in str(findings[0])
    np.testing.assert_array_equal(trnemu.run(p, {}).outputs["y"], 2.0)


def test_layers_without_device_leave_the_devices_rules_out():
    assert trn3_program().verify("trn1", layers=["api"]) == []


def moved(start: int) -> trnemu.Program:
    """y = 1 + 1 through partitions from `start`, by editing the text form."""
    b = trnemu.ProgramBuilder()
    y = b.output("y", (36, 8), "float32")
    a, c = b.sbuf((128, 8), "float32"), b.sbuf((128, 8), "float32")
    b.memset(dst=a, value=1.0)
    b.tensor_tensor(dst=c[64:100], data1=a[64:100], data2=a[64:100], op="add",
                    engine="vector")
    b.dma_copy(dst=y, src=c[64:100])
    text = b.build().to_text()
    assert "64:100" in text
    return trnemu.Program.from_text(
        text.replace("64:100", f"{start}:{start + 36}")
    )


def test_an_allowable_rule_passes_and_the_result_says_so():
    p = moved(48)
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    assert info.value.id == "operand.start_partition"
    r = trnemu.run(p, {}, allow=["operand.start_partition"])
    np.testing.assert_array_equal(r.outputs["y"], 2.0)
    assert r.allowed == ["operand.start_partition"]
    assert {d.id for d in r.diagnostics} == {"operand.start_partition"}
    assert "operand.start_partition" in r.summary()
    e = trnemu.Device().load(p, allow=["operand.start_partition"])
    assert e.run({}, allow=["operand.start_partition"]).allowed == [
        "operand.start_partition"
    ]


def test_what_is_allowed_but_does_not_occur_is_not_reported():
    r = trnemu.run(moved(64), {}, allow=["operand.start_partition"])
    assert r.allowed == [] and r.diagnostics == []


def test_allowing_one_rule_allows_no_other():
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(moved(48), {}, allow=["operand.count"])
    assert info.value.id == "operand.start_partition"


@pytest.mark.parametrize("id", [id for id, _ in ON_TRN1])
def test_a_structural_rule_cannot_be_allowed(id):
    rule = next(r for o in trnemu.operations() for r in o.rules if r.id == id)
    assert rule.structural
    p = trn3_program()
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {"x": np.ones((4, 8), np.float32)}, target="trn1",
                   allow=[id])
    assert info.value.id == "option.allow"
    assert info.value.message.startswith(f"{id} cannot be allowed")


@pytest.mark.parametrize(
    ("id", "written", "wrong"),
    [
        ("capacity.sbuf", "address=0", "address=400000"),
        ("tile.partitions", "partition=0", "partition=64"),
        ("access.out_of_bounds", "64:100, 0+8x1", "64:100, 1+8x1"),
        ("access.out_of_bounds", "64:100", "96:132"),
    ],
)
def test_what_protects_memory_cannot_be_allowed(id, written, wrong):
    text = moved(64).to_text()
    assert written in text
    try:
        p = trnemu.Program.from_text(text.replace(written, wrong, 1))
    except trnemu.Fault as fault:  # refused sooner still
        assert fault.category == "malformed"
        return
    assert id in [f.id for f in p.verify()]
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    assert info.value.id == id
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {}, allow=[id])
    assert info.value.id == "option.allow"


def out_of_range() -> trnemu.Program:
    """log of 2^65, past the end of its range: a warning."""
    b = trnemu.ProgramBuilder()
    y = b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=2.0**65)
    b.activation(dst=t, op="log", data=t)
    b.dma_copy(dst=y, src=t)
    return b.build()


def test_a_warning_does_not_stop_a_run():
    r = trnemu.run(out_of_range(), {})
    assert [(d.id, d.severity, d.category) for d in r.diagnostics] == [
        ("activation.outside_valid_range", "warning", "unspecified")
    ]
    assert r.allowed == []
    assert any(line.split() == ["warnings", "1"]
               for line in r.summary().splitlines())


def test_strict_makes_an_error_of_a_warning():
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(out_of_range(), {}, strict=True)
    assert info.value.id == "activation.outside_valid_range"
    assert info.value.category == "unspecified"


def test_strict_lets_what_is_allowed_pass():
    r = trnemu.run(out_of_range(), {}, strict=True,
                   allow=["activation.outside_valid_range"])
    assert r.allowed == ["activation.outside_valid_range"]


def test_strict_does_not_change_a_program_without_warnings():
    r = trnemu.run(moved(64), {}, strict=True)
    np.testing.assert_array_equal(r.outputs["y"], 2.0)


@pytest.mark.parametrize("target", TARGETS)
def test_two_cores_need_trn2(target):
    b = trnemu.ProgramBuilder(target="trn2", cores=2)
    for core in (0, 1):
        with b.core(core):
            b.memset(dst=b.sbuf((4, 8), "float32"), value=0)
    findings = b.build().verify(target)
    if target == "trn1":
        assert [f.id for f in findings] == ["program.logical_core"]
        assert "trn1" in findings[0].message
    else:
        assert findings == []


def test_a_sound_program_is_never_called_malformed_by_another_target():
    # A float32 transpose is one pass on trn2 and two on trn1.
    b = trnemu.ProgramBuilder(target="trn2")
    data, dst = b.sbuf((4, 8), "float32"), b.psum((8, 4), "float32")
    b.memset(dst=data, value=1.0)
    b.nc_transpose(dst=dst, data=data)
    for target in TARGETS:
        findings = b.build().verify(target)
        assert [f for f in findings if f.category == "malformed"] == []


def test_one_cause_is_one_finding():
    b = trnemu.ProgramBuilder(target="trn2")
    src, dst = b.sbuf((4, 8), "float32"), b.psum((4, 8), "float32")
    b.memset(dst=src, value=0)
    b.tensor_copy(dst=dst, src=src, engine="scalar")
    text = b.build().to_text().replace("  scalar #", "  gpsimd #")
    findings = trnemu.Program.from_text(text).verify()
    assert [(f.id.split(".")[1], f.operand) for f in findings] == [
        ("gpsimd_psum", "dst")
    ]

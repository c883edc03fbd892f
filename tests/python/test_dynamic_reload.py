"""Programs whose operations repeat a dynamic operand read back as what they were."""

import pytest

import trnemu


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_an_fp32_matmul_with_a_dynamic_stationary_tile_is_the_same_program_after_text_and_file(target, tmp_path):
    b = trnemu.ProgramBuilder(target=target)
    stationary, moving = b.sbuf((64, 200), "float32"), b.sbuf((64, 25), "float32")
    product, out = b.psum((65, 25), "float32"), b.sbuf((65, 25), "float32")
    y = b.output("y", (65, 25), "float32")
    b.memset(dst=stationary, value=1.0)
    b.memset(dst=moving, value=1.0)
    r = b.register_alloc(1)
    # Both of its passes load it, at an address that a register moves.
    tile = stationary.ap([[200, 64], [1, 65]], offset=3, scalar_offset=r, indirect_dim=1)
    b.nc_matmul(dst=product, stationary=tile, moving=moving)
    b.tensor_copy(dst=out, src=product)
    b.dma_copy(dst=y, src=out)
    p = b.build()
    p.save(tmp_path / "p.trn")
    for again in (trnemu.Program.load(tmp_path / "p.trn"), trnemu.Program.from_text(p.to_text())):
        assert again.verify() == []
        assert (trnemu.run(again, {}).outputs["y"] == 64).all()

# Rules of nc_transpose. README.md says how this is read.

#% nc_transpose.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.sbuf((4, 4), "float32"),  # fix: dst=b.sbuf((1, 4), "float32"),
    data=b.sbuf((4, 1), "float32"),
)

#% nc_transpose.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.sbuf((32, 4), "float32"),  # fix: dst=b.sbuf((32, 4), "uint8"),
    data=b.sbuf((4, 32), "uint8"),
)

#% nc_transpose.engine
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.sbuf((4, 4), "float32"),
    data=b.sbuf((4, 4), "float32"),
    engine="scalar",  # fix: leave out
)

#% nc_transpose.tensor_integers
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.psum((4, 4), "int16"),  # fix: dst=b.sbuf((4, 4), "int16"),
    data=b.sbuf((4, 4), "int16"),
)

#% nc_transpose.tensor_memories
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.psum((4, 4), "float32"),
    data=b.sbuf((4, 4), "float32"),
    engine="tensor",
)

#% nc_transpose.vector_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.sbuf((4, 4), "float32"),
    data=b.sbuf((4, 33), "float32"),  # fix: data=b.sbuf((4, 4), "float32"),
)

#% nc_transpose.tensor_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_transpose(
    dst=b.psum((128, 128), "float32"),
    data=b.sbuf((128, 129), "float32"),  # fix: data=b.sbuf((128, 128), "float32"),
)

#% nc_transpose.vector_block
#! nc_transpose.vector_size is reported first, of the call and of a program file.

# Diagnostics of multiply_moving. README.md says how this is read.

#% multiply_moving.mode
#! The builder pairs loads and multiplications, and malformed.expansion is reported first of a program file.

#% multiply_moving.nothing_loaded
#! nc_matmul loads first, and malformed.expansion is reported first of a program file.

#% multiply_moving.shape
#! The builder checks the tiles as nc_matmul.contraction, and malformed.expansion is reported first of a program file.

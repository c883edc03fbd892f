# Diagnostics of load_stationary. README.md says how this is read.

#% load_stationary.double_row
#! The builder checks tiles as nc_matmul.double_row_*, and malformed.expansion is reported first of a program file.

#% load_stationary.pass
#! The builder emits the passes, and malformed.expansion is reported first of a program file.

#% load_stationary.shape
#! The builder checks tiles as nc_matmul.tile_*, and malformed.expansion is reported first of a program file.

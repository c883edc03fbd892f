# Diagnostics of match_values. README.md says how this is read.

#% match_values.nan
b = trnemu.ProgramBuilder(target="trn2")
t, vals = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0)
b.memset(dst=vals, value=float("nan"))  # fix: b.memset(dst=vals, value=1.0)
b.nc_find_index8(dst=b.sbuf((4, 8), "uint32"), data=t, vals=vals)
r = trnemu.run(b.build(), {})

#% match_values.nothing_loaded
#! nc_find_index8 and nc_match_replace8 load first, and malformed.expansion is reported first of a program file.

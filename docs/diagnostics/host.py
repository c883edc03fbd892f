# Diagnostics of host. README.md says how this is read.

#% host.processor
#! Needs a processor without AVX2 and FMA.

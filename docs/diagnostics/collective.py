# Diagnostics of collective. README.md says how this is read.

#% collective.group
#! For callers of the library from C++.

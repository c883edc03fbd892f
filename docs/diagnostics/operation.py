# Diagnostics of operation. README.md says how this is read.

#% operation.name
#! Python raises AttributeError; for callers from C++.

"""The composite kernels of public sources, as programs.

One module per kernel: how it is built, what its source measured, and what the
instruction stream must hold by arithmetic. bench/calibration/composites.py
runs them.
"""

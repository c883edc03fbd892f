"""nki.experimental: the device loops, which 0.6 has in nki.language too."""

from trnemu.nki.language import fori_loop, while_loop

__all__ = ["fori_loop", "while_loop"]

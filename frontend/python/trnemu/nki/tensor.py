"""nki.tensor: where NkiTensor is found besides nki.language."""

from trnemu.nki._tensor import NkiTensor

__all__ = ["NkiTensor"]

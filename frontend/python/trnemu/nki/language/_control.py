"""What steers the recording: order, printing."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from trnemu.nki import _trace


class no_reorder:  # noqa: N801 (its name in nki.language)
    """`with nl.no_reorder():` each instruction inside starts when the one
    before it is complete. Device loops are not allowed inside."""

    def __enter__(self) -> None:
        _trace.current().keep_order(True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        _trace.current().keep_order(False)


def device_print(print_prefix: str, tensor: Any) -> None:
    """Prints the prefix and the tensor's values so far.

    Inside a device loop there are no values yet: that is said instead.
    """
    from trnemu.nki._values import text_of

    print(print_prefix, text_of(tensor))

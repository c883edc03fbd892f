"""Code with NKI names that is not run, and why.

An entry with an empty key is a whole file.
"""

from __future__ import annotations

from nki_kernels_case import Skipped

OLD = "older API: instructions that return tiles, par_dim, mgrid or mask"
ELLIPSIS = "has ... for arguments: no Python, or nothing that can be called"
EMPTY = "the kernel's body is ..."
HOST = "host code around a kernel that stands elsewhere"
SIGNATURE = "shows how calls are written, with names for arguments"
PART = "a piece of the kernel that the page shows whole below"
PSEUDO = "pseudo-code, which calls itself so"
UNDEFINED = "calls functions that the page does not have"
NKILIB = "needs nki-library, and takes tiles in SBUF as arguments"
HELPERS = "helpers, run by the kernels of mx_kernels.py"
TOP = "the host script (torch_xla); its runs are rows of mx_kernels.py"
PYTHON = "imports only"

FRAGMENTS: dict[str, dict[str, str]] = {
    "nki/api/nki/__init__.py": {"b3661ccc": EMPTY},
    "nki/api/nki/isa/__init__.py": {
        "52030063": ELLIPSIS,
        "6f10f0ab": PSEUDO,
    },
    "nki/deep-dives/nki-aps.rst": {
        "91ac7c95": "wrong as printed: an argument by position after keywords",
        "edf47d61": PSEUDO,
        "e163833c": "wrong as printed: ap with the pattern in two arguments",
        "0690b26d": PSEUDO,
    },
    "nki/deep-dives/nki-compiler.rst": {"5440cc22": EMPTY},
    "nki/deep-dives/nki_perf_guide.rst": dict.fromkeys(
        ("add8efa4", "b5ba1eb3", "c53302c7", "673598e7", "3c7fc933"), OLD
    ),
    "nki/get-started/about/index.rst": {
        "e4f92a4e": EMPTY,
        "393f258b": "writes to a name that is not defined",
    },
    "nki/get-started/about/tiling-overview.rst": {
        "529c0548": "wrong as printed: its docstring is indented otherwise",
    },
    "nki/get-started/nki-language-guide.rst": {
        "dead2b88": PYTHON,
        "222cb557": ELLIPSIS,
        "05985ccc": EMPTY,
        "fdb90940": "nki.compiler.kernel_builder, another way of authoring",
        "5a9993da": UNDEFINED,
    },
    "nki/get-started/quickstart-implement-run-kernel.rst": {
        "dead2b88": PYTHON,
        **dict.fromkeys(
            ("d2e76cd9", "d42c3a82", "4d08374a", "068b9a25", "66b16837"), PART
        ),
    },
    "nki/guides/architecture/trainium2_arch.rst": {
        "db5adb9e": ELLIPSIS,
        "ab200433": UNDEFINED,
        "d9d7893d": ELLIPSIS,
    },
    "nki/guides/nki_simulator.rst": {
        "0cfd01e8": HOST,
        "fa275ecd": "stops in a debugger, and is wrong as printed: nl.store "
        "without a destination",
        "cbf2c908": HOST,
    },
    "nki/guides/tutorials/fused_mamba.rst": {
        **dict.fromkeys(
            ("653bb191", "544d76cd", "ca3bcf53", "74a7d040", "e93aa0e8",
             "574a0e0b", "607292a0", "87f3c627"), OLD
        ),
        **dict.fromkeys(
            ("7b725139", "6d4fabea", "d5079666", "75b4c2b5", "2d30895d",
             "03c5e3d7", "07342ba2"), ELLIPSIS
        ),
    },
    "nki/guides/tutorials/matrix_multiplication.rst": {"f23e5b79": ELLIPSIS},
    "nki/library/kernel-utils/allocator.rst": dict.fromkeys(
        ("2db02cdb", "f102594b"), "needs nki-library"
    ),
    "nki/library/kernel-utils/tensor-view.rst": dict.fromkeys(
        ("a12d0066", "f40b1ecb", "cee63ea4", "3ffbf96b", "c01618f8"), NKILIB
    ),
    "nki/migration/index.rst": {
        "c58f5c22": EMPTY,
        "13387a2c": EMPTY,
        "a02e7b38": "the same names stand for tiles of two kinds",
        "c747f93f": ELLIPSIS,
        "112bef44": SIGNATURE,
        "6ebec0be": ELLIPSIS,
        "344bc1bb": SIGNATURE,
        "48f340dc": EMPTY,
        "15fd186a": EMPTY,
        "28a21df5": EMPTY,
        "266b7277": PYTHON,
        "8570229c": OLD,
        "8a5a1cee": SIGNATURE,
        "b4756b97": OLD,
        "25d2d7ab": OLD,
        "05dfd255": "slices of tiles of 129 partitions, which cannot be",
        "cb067dd8": "a line of the fragment above it",
        "4725aba5": "wrong as printed: nl.ndarray without its dtype",
        "993cad5f": OLD,
        "8bdb1d7f": HOST,
        "bde6dd80": OLD,
        "9650b38c": PSEUDO,
        "761ca8fc": OLD,
        "8181d4fa": OLD,
    },
}
FILES: dict[tuple[str, str], str] = {
    ("sdk", "nki/deep-dives/src/mxfp-matmul/mx_kernel_utils.py"): HELPERS,
    ("sdk", "nki/deep-dives/src/mxfp-matmul/mx_toplevel.py"): TOP,
    ("sdk", "nki/examples/layout-dynamic-loop.py"):
        "wrong as printed: a bracket is not closed",
    ("sdk", "nki/examples/layout-loop.py"):
        "needs torch_neuronx's nki_jit, and uses a name it does not define",
    ("samples", "src/nki_samples/tutorials/mxfp-matmul/mx_kernel_utils.py"):
        HELPERS,
    ("samples", "src/nki_samples/tutorials/mxfp-matmul/mx_toplevel.py"): TOP,
}
SKIPPED = [
    *[
        Skipped(path, "", reason, copy)
        for (copy, path), reason in FILES.items()
    ],
    *[
        Skipped(path, key, reason)
        for path, fragments in FRAGMENTS.items()
        for key, reason in fragments.items()
    ],
]

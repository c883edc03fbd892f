"""What `import nki` finds when this directory's parent is in PYTHONPATH: it
puts trnemu.nki in its own place."""

import os
import sys

_trnemu_stands_in = True  # tells install() that this is no vendor's package

try:
    from trnemu.nki import _install
except ModuleNotFoundError as error:
    if error.name != "trnemu":
        raise
    # Not installed: the package is where this file is, four folders up.
    here = os.path.abspath(__file__)
    for _ in range(5):
        here = os.path.dirname(here)
    sys.path.append(here)
    from trnemu.nki import _install

_install.install()
sys.modules[__name__] = sys.modules["trnemu.nki"]

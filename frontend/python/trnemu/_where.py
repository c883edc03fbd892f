"""Tells the extension which frames are the package's own, not the user's."""

import os

from trnemu import _trnemu

_trnemu.set_package(os.path.dirname(__file__) + os.sep)

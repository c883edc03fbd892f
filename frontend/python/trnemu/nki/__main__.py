"""python -m trnemu.nki script.py: runs a script whose `import nki` is ours."""

import sys

from trnemu.nki._command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

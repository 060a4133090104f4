"""`python3 -m zygo ...` is the program zygo (`zygo --help`), where the package finds it. But `python3 -m zygo setup` prints
the setup code for a service whose templates are to run functions without delay:

    python3 -m zygo setup > setup.py
    zygo serve --preload numpy,cloudpickle --setup setup.py --template functions
"""

from __future__ import annotations

import os
import sys

from .binary import find
from .bundle import setup_source
from .errors import NoRuntime


def main() -> int:
    if sys.argv[1:] == ["setup"]:
        sys.stdout.write(setup_source())
        return 0
    try:
        program = find()
    except NoRuntime as error:
        sys.stderr.write(f"zygo: {error}\n")
        return 127
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

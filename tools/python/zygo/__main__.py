"""`python3 -m zygo setup`: the setup code for a service whose templates are to run functions without delay:

    python3 -m zygo setup > setup.py
    zygo serve --preload numpy,cloudpickle --setup setup.py --template functions
"""

from __future__ import annotations

import sys

from .bundle import setup_source


def main() -> int:
    if sys.argv[1:] != ["setup"]:
        sys.stderr.write(__doc__ or "")
        return 2
    sys.stdout.write(setup_source())
    return 0


if __name__ == "__main__":
    sys.exit(main())

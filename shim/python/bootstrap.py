"""Makes this interpreter a template zygote: imports what jobs share, then serves, for ever.

usage: bootstrap.py CONTROL_FD PRELOADS SETUP_FILE
    PRELOADS    module names separated by commas, or ""
    SETUP_FILE  Python source to run once, or ""; programs reach what it defines as `zygo_setup`

What it cannot accept it says in one line on stderr, and exits with status 3. No program of a job
ever runs in this process.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import NoReturn

# Imported in every template: most programs use some of them, and a fork shares them for free.
# asyncio is left out: it alone costs more than all the others.
USUAL_MODULES = (
    "abc argparse array ast base64 bisect calendar cmath codecs collections collections.abc "
    "concurrent.futures concurrent.futures.thread contextlib copy csv dataclasses datetime decimal "
    "difflib enum errno fractions functools gc glob hashlib heapq inspect io itertools json linecache "
    "locale logging math numbers opcode operator os pathlib pickle platform pprint queue random re "
    "secrets select shutil signal socket statistics string struct subprocess sys tempfile textwrap "
    "threading time timeit traceback types typing unicodedata uuid warnings weakref zlib"
).split()


def refuse(reason: str) -> NoReturn:
    """Ends the process; the launcher hands the line on."""
    os.write(2, f"zygo: {' '.join(reason.split())}\n".encode(errors="backslashreplace"))
    os._exit(3)


def describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:1000]


def check_threads(culprit: str, count: int) -> None:
    """A fork copies one thread only: others would leave their locks held for ever."""
    if count != 1:
        refuse(
            f"{culprit} starts {count - 1} more thread(s), and such a process cannot be forked "
            "(libraries have variables against it: NUMEXPR_NUM_THREADS=1, OMP_NUM_THREADS=1)"
        )


def preload(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        refuse(f"preload '{name}' cannot be imported: {describe(error)}")


def run_setup(path: str) -> None:
    module = types.ModuleType("zygo_setup")
    sys.modules["zygo_setup"] = module
    try:
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), "setup.py", "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except BaseException as error:
        refuse(f"setup code fails: {describe(error)}")


def quieten_uuid() -> None:
    """uuid1() and getnode() neither look for network cards nor start programs to find one."""
    import uuid

    uuid._generate_time_safe = None
    uuid._UuidCreate = None
    uuid._node = int.from_bytes(os.urandom(6), "big") | (1 << 40)  # multicast bit: not a real card


def main() -> None:
    control_fd, preloads, setup = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    import _zygo

    del sys.modules["_zygo"]
    sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(os.path.abspath(__file__))]
    sys.argv[:] = ["main.py"]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable, "main.py"]
    for name in USUAL_MODULES:
        importlib.import_module(name)
    quieten_uuid()
    sys.modules["platform"].uname().processor  # kept from now on; asking starts `uname -p`
    check_threads("the standard library", _zygo.thread_count())
    for name in filter(None, preloads.split(",")):
        preload(name)
        check_threads(f"preload '{name}'", _zygo.thread_count())
    if setup:
        run_setup(setup)
        check_threads("setup code", _zygo.thread_count())
    if "ZYGO_FIXED" in os.environ and not _zygo.is_fixed():
        refuse(f"fixed mode: {os.environ.get('LD_PRELOAD')} could not be loaded")
    # What steered this process is none of a program's business.
    heap = os.environ.pop("ZYGO_HEAP", "plain")
    for name in ("PYTHONHASHSEED", "LD_BIND_NOW", "LD_PRELOAD", "ZYGO_FIXED"):
        os.environ.pop(name, None)
    try:
        _zygo.serve(control_fd, heap)
    except BaseException as error:
        refuse(f"the fork server cannot start: {describe(error)}")


if __name__ == "__main__":
    main()

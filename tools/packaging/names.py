"""Writes a C file with strerrorname_np and sigabbrev_np, which say what this machine's functions of these names say: the C
library of Debian 11 has neither."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

FUNCTION = """
const char* {function}(int number);
const char* {function}(int number) {{
  static const char* const names[] = {{
{lines}  }};
  return number >= 0 && number < (int)(sizeof names / sizeof *names) ? names[number] : 0;
}}
"""


def source(function: str, count: int) -> str:
    say = getattr(ctypes.CDLL(None), function)
    say.restype = ctypes.c_char_p
    told = {number: text.decode() for number in range(count) if (text := say(number))}
    return FUNCTION.format(function=function, lines="".join(f'    [{number}] = "{text}",\n' for number, text in told.items()))


def main() -> int:
    Path(sys.argv[1]).write_text(source("strerrorname_np", 1024) + source("sigabbrev_np", 64))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Where the tests' cell writes how each test ended: a line of JSON each, as soon as it is known, in a file that only this
cell has. A label of "" is left to zygo: the program was gone, and how it ended is its verdict's to say.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, List, Optional

from .session import ProgramGone, Session, Testimony

FILE = "feedback/tests.jsonl"
_MOST_DETAIL = 500
_MOST_NAME = 300  # parameters that the program made may be part of it
_MOST_BYTES = 4 << 20
# No exception of a program is labelled with one of zygo's own words.
_TAKEN = frozenset("""OK WrongAnswer NonZeroExit Signalled CompilationError InvalidResult TimeoutException Skipped
    MemoryLimitExceeded OutputLimitExceeded DiskLimitExceeded ProcessLimitExceeded UnsafeCode NonDeterministicCode BadJob
    Cancelled SandboxError ParsingCodeFailed""".split())


def label_of(error: BaseException, failures: Any) -> str:
    """`failures`: the exceptions by which tests say that something is not as they want it."""
    if isinstance(error, ProgramGone):
        return ""
    name = type(error).__name__
    if isinstance(error, Testimony) or isinstance(error, failures) and "_zygo_remote" not in vars(error):
        return "WrongAnswer"
    if name in _TAKEN or not name.isidentifier() or len(name) > 100:
        return "program." + "".join(letter for letter in name if letter.isalnum() or letter == "_")[:100]
    return name


def detail_of(error: BaseException) -> str:
    try:  # an exception of the program brings its text; others may ask the program for theirs
        text = str(vars(error).get("_zygo_text", "") if "_zygo_remote" in vars(error) else error)
    except BaseException:
        text = ""
    name = "TypeError" if isinstance(error, Testimony) else type(error).__name__
    return f"{name}: {text.strip()}".rstrip(": ")[:_MOST_DETAIL]


def _short(name: str) -> str:
    if len(name) <= _MOST_NAME:
        return name
    return f"{name[:_MOST_NAME]}...{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:12]}"


class Objection(Exception):
    """What was given as tests cannot be run as such."""


class Report:
    def __init__(self, session: Session, strict: bool) -> None:
        self._session, self._strict = session, strict
        self._file = open(FILE, "w", encoding="utf-8", errors="backslashreplace")
        self._waiting: Dict[str, None] = {}  # tests that are known and have not ended
        self.failed: List[str] = []
        self.count = self._bytes = 0

    def expect(self, names: List[str]) -> None:
        self._waiting.update(dict.fromkeys(names))

    def begin(self) -> None:
        self._session.testimony.clear()

    def end(self, name: str, label: str = "OK", detail: str = "") -> None:
        """A test that ends while the program is gone has failed with it, whatever it says itself."""
        session, testimony = self._session, dict(self._session.testimony)
        if session.broken is None:
            try:
                session.request("ping")
            except (ProgramGone, RecursionError):
                pass
        if session.broken is not None and label != "Skipped":
            label, detail = session.broken, session.why
        relied = sum(count for word, count in testimony.items() if word != "bool")
        if self._strict and relied and label == "OK":
            label, detail = "WrongAnswer", "the program's own operators decided about a plain value"
        self._write(name, label, detail, testimony)

    def fail_rest(self, label: str, detail: str, otherwise: Optional[str] = None) -> None:
        """`otherwise`: what has failed where no test waits."""
        for name in list(self._waiting) or ([otherwise] if otherwise else []):
            self._write(name, label, detail, {})

    def _write(self, name: str, label: str, detail: str, testimony: Dict[str, int]) -> None:
        self._waiting.pop(name, None)
        self.count += label != "Skipped"
        if label not in ("OK", "Skipped"):
            self.failed.append(f"{_short(name)}: {label or 'the program ended'}")
        line = json.dumps({"name": _short(name), "label": label, "detail": detail, "testimony": testimony}) + "\n"
        self._bytes += len(line)
        if self._bytes > _MOST_BYTES:
            self.failed.append("too many tests for a report")
            return
        self._file.write(line)
        self._file.flush()

    def conclude(self, objection: Optional[str] = None) -> int:
        """The exit code: whether all is well. `objection`: the tests themselves are at fault."""
        if objection is not None:
            self._file.write(json.dumps({"objection": objection}) + "\n")
        words = objection or (self.failed[0] if self.failed else "" if self.count else "no test was run")
        with open("feedback/judgemessage.txt", "w", encoding="utf-8", errors="backslashreplace") as message:
            message.write(words.replace("\n", " "))
        self._file.flush()
        return 43 if words else 42

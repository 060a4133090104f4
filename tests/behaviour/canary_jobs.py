"""The jobs of test_canary: victims, every byte of which carries a canary, and lookers, which hold still while the test
looks at all that they could reach. `Stage` runs one after another in one cell."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import signal
import time
import unittest
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import host
import languages
import reach
import zygo
from serve import Service
from zygo import Job, Result

FILE, READY = "looker", "ready"  # by this file a job says that it is there
LIMITS = {"cpu_ms": 20000, "wall_ms": 60000, "memory_mb": 192, "stdout_kb": 256}
LONG = 9000  # of a looker's source: its request has memory of its own
COMMENTS = {"lua": "-- ", "c": "// ", "cpp": "// ", "java": "// ", "javascript": "// ", "php": "// "}

# Where nothing may be written.
_PURE = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'ready', 0, 0, 0)\ntime.sleep(50)\n"
_C = ('#include <stdio.h>\n#include <unistd.h>\nint main(void) { FILE *f = fopen("looker", "w"); fputs("ready", f); '
      "fclose(f); for (;;) pause(); }\n")
LOOKERS = {
    "python": "import time\nopen('looker', 'w').write('ready')\ntime.sleep(50)\n",
    "ruby": "File.write('looker', 'ready'); sleep 50\n",
    "php": "<?php file_put_contents('looker', 'ready'); sleep(50);\n",
    "perl": "open F, '>', 'looker'; print F 'ready'; close F; sleep 50;\n",
    "javascript": "require('fs').writeFileSync('looker', 'ready'); setTimeout(() => {}, 50000);\n",
    "lua": "local f = io.open('looker', 'w') f:write('ready') f:close() while true do end\n",
    "bash": "printf ready > looker; sleep 50; exit\n",
    "java": 'public class Main { public static void main(String[] a) throws Exception {\n'
            'java.nio.file.Files.writeString(java.nio.file.Path.of("looker"), "ready"); Thread.sleep(50000); } }\n',
    "c": _C, "cpp": _C,
}
# Every victim that lives long enough does this: it gives out what it was given.
_SPEAKS = {
    "python": "import sys\nprint(sys.argv, sys.stdin.read(), file=sys.stderr)\nprint(open(sys.argv[1]).read() * 20)\n"
              "open(sys.argv[2], 'w').write(sys.argv[3] * 2000)\n",
    "ruby": "$stderr.puts ARGV, $stdin.read; puts File.read(ARGV[0]) * 20; File.write(ARGV[1], ARGV[2] * 2000)\n",
    "php": "<?php fwrite(STDERR, stream_get_contents(STDIN)); echo str_repeat(file_get_contents($argv[1]), 20);\n"
           "file_put_contents($argv[2], str_repeat($argv[3], 2000));\n",
    "bash": "cat >&2; cat \"$1\"; for i in {1..2000}; do printf %s \"$3\"; done > \"$2\"\n",
    "java": "import java.nio.file.*;\nclass Main { public static void main(String[] a) throws Exception {\n"
            "System.err.print(new String(System.in.readAllBytes()));\n"
            "System.out.print(Files.readString(Path.of(a[0])).repeat(20));\n"
            "Files.writeString(Path.of(a[1]), a[2].repeat(2000)); } }\n",
    "perl": "print STDERR <STDIN>; open F, '<', $ARGV[0]; print <F>; open G, '>', $ARGV[1]; print G $ARGV[2] x 2000; close G;\n",
}


_CALLS = ("import sys\ndef f(x, **named):\n    print(x)\n    print(named, file=sys.stderr)\n"
          "    return [x, named, x.encode(), x[::-1]] * 40\n")


@dataclass(frozen=True)
class Victim:
    """How it ends, a deed of languages.py or our own, and how long its source is."""

    deed: str
    size: int

    def label(self, language: str) -> str | None:
        """How it has to end to be what it is meant to be; None: as its language ends so."""
        if self.deed == "speaks":
            return "OK" if language in _SPEAKS else "TimeoutException"
        if self.deed in ("sleep", "hog") and language not in languages.PROGRAMS[self.deed]:
            return None  # it speaks instead
        return {"calls": "OK", "cancelled": "Cancelled", "sleep": "TimeoutException", "hog": "MemoryLimitExceeded"}.get(self.deed)

    def source(self, canaries: reach.Canaries, language: str) -> str:
        program = _CALLS if self.deed == "calls" else languages.PROGRAMS.get(self.deed, {}).get(language)
        if program is None:
            program = LOOKERS[language] if self.deed == "cancelled" else _SPEAKS.get(language, LOOKERS[language])
        return padded(program, language, canaries.text("source"), self.size)

    def job(self, canaries: reach.Canaries, language: str) -> Job:
        names = {part: canaries.text(part) for part in ("input", "output", "directory")}
        raw = canaries.text("content").encode() * 200
        limits = {**LIMITS, **languages.LIMITS_OF.get(self.deed, {})}
        if self.deed == "sleep" or (self.deed == "speaks" and language not in _SPEAKS):
            limits["wall_ms"] = 400
        calls = {"mode": "call", "func": "f", "argv": [], "stdin": "",
                 "calls": [{"args": [names["input"] * 900], "kwargs": {canaries.text("keyword"): canaries.text("input")}}]}
        return {"template": language, "source": self.source(canaries, language), "tag": canaries.text("tag"),
                "argv": [names["input"], names["output"], canaries.text("argument")], "limits": limits,
                "env": {"V": canaries.text("variable")}, "stdin": canaries.text("stdin") * 50,
                "files": {names["input"]: {"b64": base64.b64encode(raw).decode()},
                          **{f"{names['directory']}/{number}-{names['input']}": {"text": ""} for number in range(20)}},
                "outputs": [f"*{canaries.text('output')}*"], **(calls if self.deed == "calls" else {})}


def padded(program: str, language: str, text: str, size: int) -> str:
    """With a comment of it behind, up to `size` characters or to where the text ends that is nearest."""
    room = size - len(program) - len(COMMENTS.get(language, "# ")) - 2
    if room < len(text):
        return program
    return f"{program}\n{COMMENTS.get(language, '# ')}{(text * (room // len(text) + 1))[:room]}\n"


def is_pure(fields: dict[str, Any]) -> bool:
    return fields.get("policy") == {"profile": "pure"}


def looker(language: str, size: int, **fields: Any) -> Job:
    program = _PURE if is_pure(fields) else LOOKERS[language]
    return {"template": language, "source": padded(program, language, "x", size), "limits": LIMITS, **fields}


class Stage:
    """A service with one worker. Its jobs of one template and profile so share one cell, as long as that is clean."""

    def __init__(self, case: unittest.TestCase, level: str, *options: str, workers: int = 1) -> None:
        self.service = Service("--level", level, "--workers", str(workers), "--log", "off", *options)
        case.addCleanup(self.service.stop)
        self.level = level
        self.asked = 0
        self.cell = 0  # its first process, when the last look was made
        self.canaries = reach.Canaries()

    @property
    def word(self) -> str:
        """Of the last job: the one before may be dying still."""
        return f"{READY}{self.asked}"

    def ask(self, job: Job) -> http.client.HTTPConnection:
        client = self.service.client(timeout=120)
        self.asked += 1
        job = zygo.patient(job) | {"source": job["source"].replace(READY, self.word)}
        client.request("POST", "/v1/jobs", json.dumps(job), {"Content-Type": "application/json"})
        return client

    def answer(self, client: http.client.HTTPConnection) -> Result:
        response = client.getresponse()
        body = response.read()
        client.close()
        if response.status != 200:
            raise AssertionError(f"{response.status}: {body[:500]!r}")
        return json.loads(body)

    def run(self, job: Job) -> Result:
        return self.answer(self.ask(job))

    def await_ready(self, client: http.client.HTTPConnection, timeout: float = 60, word: str = "") -> tuple[int, int]:
        """The job's process and its cell's first. `word`: of an earlier job."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        while time.monotonic() < deadline:
            if found := reach.job_that_says(self.service.process.pid, FILE, word or self.word):
                return found
            time.sleep(0.005)  # nothing else than its file says that it is there
        raise AssertionError(f"the looker never said that it was ready: {self.answer(client)}")

    def await_none_stays(self, timeout: float = 60) -> None:
        """Until no step's process, which is stopped, waits for the next step."""
        for pid in host.descendants(self.service.process.pid):
            stat = host.stat_of(pid)
            if stat and stat[1] == "T" and not host.await_end(pid, timeout * zygo.PATIENCE):
                raise AssertionError("the process of a step still waits for the next one")

    def cancel(self, job: Job) -> None:
        client = self.ask(job)
        self.await_ready(client)
        client.close()

    def commit(self, victim: Victim, language: str, **fields: Any) -> str:
        """Its label."""
        job = victim.job(self.canaries, language) | fields | ({"files": {}, "outputs": []} if is_pure(fields) else {})
        if victim.deed != "cancelled":
            return self.run(job)["label"]
        self.cancel(job)
        return "Cancelled"

    def look(self, job: Job) -> dict[str, reach.Looked]:
        """What the job could reach."""
        client = self.ask(job)
        pid, self.cell = self.await_ready(client)
        looked = reach.look(self.canaries, pid, self.cell, has_world=self.level == "full")
        with contextlib.suppress(ProcessLookupError):  # a compiler does not end with the one who waits for it
            os.kill(pid, signal.SIGKILL)
        client.close()
        return looked


def victims(deeds: Sequence[str], sizes: Sequence[int]) -> list[Victim]:
    """Long then short; then all ends."""
    return [Victim("speaks", size) for size in sizes] + [Victim(deed, 20000) for deed in deeds]


def brief(looked: dict[str, reach.Looked]) -> dict[str, Any]:
    return {name: sorted(each.found)[:6] for name, each in looked.items() if each.found}

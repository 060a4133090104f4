"""No byte that one job was given or has made is within reach of the next: whatever the language, profile and level.

Every victim carries a canary in each of its parts. The job after it, in the same cell, holds still, and the test reads
all that it could reach (reach.py says where). Each place has a control: a canary that is planted there must be found
there, or the look would prove nothing.
"""

from __future__ import annotations

import base64
import ctypes
import functools
import json
import os
import stat
import tempfile
import unittest
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import reach
import zygo
from canary_jobs import COMMENTS, LIMITS, LOOKERS, LONG, Stage, Victim, brief, looker, victims
from zygo import Job, ZygoTestCase

ALL = bool(os.environ.get("ZYGO_TEST_EVERY_CANARY"))  # every length and end, in every language
MIB = 1 << 20
SIZES = [MIB + 1, MIB, MIB - 1, 8193, 8192, 8191, 4097, 4096, 4095, 1] if ALL else [MIB + 1, 100000, 8191, 4096, 1]
EVERY_END = ["exit_3", "abort", "segv", "sleep", "endless", "hog", "flood", "cancelled"]
ENDS = EVERY_END if ALL else ["abort", "sleep", "cancelled", "hog"]
FORKED = ("python", "ruby", "php")  # a job is a fork of a process that forks them all
# A checker reads what it is shown.
CHECKERS = {"python": "import sys\nsys.exit(len(open(sys.argv[3]).read()) < 9)\n", "ruby": "exit File.read(ARGV[2]).size > 9\n",
            "php": "<?php exit(strlen(file_get_contents($argv[3])) > 9 ? 0 : 1);\n"}
INTERACTORS = {"python": "import sys\nprint(open(sys.argv[1]).read(), flush=True)\nsys.exit(sys.stdin.readline() != 'heard\\n')\n",
               "ruby": "puts File.read(ARGV[0]); $stdout.flush; exit $stdin.gets == \"heard\\n\"\n",
               "php": "<?php echo file_get_contents($argv[1]), \"\\n\"; flush(); exit(fgets(STDIN) === \"heard\\n\" ? 0 : 1);\n"}
# A compiler that reads what it is given, leaves files behind, and holds still if its source says so.
COMPILER = """#!/bin/bash
cat "$@" > copied
cp copied also
word=$(grep -ao 'ready[0-9]*' "$1") || exit 0
printf %s "$word" > looker
sleep 50
"""
SIMPLE = {"bash", "c", "perl"}  # start in no time, and are executed as all others are
COMPILED = {"c", "cpp", "java"}  # by a compiler, which level minimal does not run
# Where no file in memory is mapped, there is none to read.
MAY_BE_EMPTY = {"files behind mappings"}
KEEP_THE_CELL = {"speaks", "calls", "abort", "exit_3"}
FEW = [Victim("speaks", MIB + 1), Victim("speaks", 1)]

CAP_SYS_PTRACE, CAP_SYS_ADMIN = 19, 21
MQ_OPEN, ADD_KEY, USER_KEYRING = 240, 248, -4

# Plants a canary wherever a program can put one. The text comes in two halves, so that it is nowhere else.
PLANTER = """
import ctypes, mmap, os, sys, time
mark = sys.argv[1] + sys.argv[2]
text = lambda part: (mark + '-' + part + '.').encode()
libc = ctypes.CDLL(None)
heap = text('heap')
area = mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area[5000:5000 + len(text('mapping'))] = text('mapping')
def nameless():
    file = os.open('nameless', os.O_RDWR | os.O_CREAT)
    os.unlink('nameless')
    return file
behind = nameless()
os.pwrite(behind, text('behind a mapping'), 5000)
shown = mmap.mmap(behind, 4096)
os.close(behind)
os.pwrite(nameless(), text('descriptor'), 0)
os.write(os.pipe()[1], text('pipe'))
open(text('name'), 'w').write(text('file').decode())
os.symlink(text('link'), 'link')
open('/dev/shm/x', 'wb').write(text('shared memory'))
libc.prctl(15, mark.encode() + b'-comm.', 0, 0, 0)
open('looker', 'w').write('ready')
time.sleep(50)
"""
PLANTED = {"memory": {"heap", "mapping", "variable"}, "files behind mappings": {"behind a mapping"},
           "descriptors": {"descriptor", "pipe"}, "scratch": {"name", "file", "link", "shared memory"}, "words": {"comm"},
           "keys": {"key"}, "host name": {"host"}, "system v": {f"an object: {0x7A79676F}"}, "queues": {"queue"},
           "memory of the first process": {"first"}, "descriptors of the first process": {"pipe of the first"}}


def pipes_of(pid: int) -> Iterator[str]:
    """Of its own, into which it writes."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{number}"
        if int(number) > 2 and stat.S_ISFIFO(os.stat(path).st_mode) and os.lstat(path).st_mode & stat.S_IWUSR:
            yield path


@functools.cache
def offered() -> set[str]:
    return {each["name"] for each in json.loads(zygo.run_cli("runtime", "list", "--json").out) if each["available"]}


@functools.cache
def levels() -> list[str]:
    return [name for name, level in json.loads(zygo.run_cli("doctor", "--json").out)["levels"].items() if level["available"]]


def setUpModule() -> None:
    with open("/proc/self/status", encoding="utf-8") as file:
        held = int(next(line for line in file if line.startswith("CapEff:")).split()[1], 16)
    if any(not held >> capability & 1 for capability in (CAP_SYS_PTRACE, CAP_SYS_ADMIN)):
        raise unittest.SkipTest("to read another's memory takes root's CAP_SYS_PTRACE and CAP_SYS_ADMIN")


class TheLook(ZygoTestCase):
    """That it would find what it is to find."""

    def test_knows_a_canary_in_every_form(self) -> None:
        canaries = reach.Canaries()
        text = canaries.text("x")
        forms = {"raw": text.encode(), "utf-16": text.encode("utf-16-le"), "utf-32": text.encode("utf-32-le"),
                 "json": "".join(f"\\u{ord(each):04x}" for each in text).encode(), "hex": text.encode().hex().encode()}
        forms |= {f"base64 at {shift}": base64.b64encode(b"!" * shift + text.encode()) for shift in range(3)}

        for form, data in forms.items():
            with self.subTest(form=form):
                found = list(canaries.found_in(b"before" + data + b"after"))
                self.assertEqual(len(found), 1)
                self.assertEqual("x" if form == "raw" else form, found[0].split(":")[0])
        self.assertEqual(set(forms), set(canaries.forms))

    def test_sees_what_lies_across_two_chunks(self) -> None:
        canaries = reach.Canaries()
        data = bytes(reach.CHUNK - 5) + canaries.text("x").encode() + bytes(100)
        looked = reach.Looked(canaries)

        looked.take_file(lambda size, at: data[at:at + size], 0)

        self.assertEqual((looked.found, looked.size), ({"x"}, len(data)))

    def test_finds_what_is_planted_in_each_place(self) -> None:
        stage = Stage(self, "full")
        mark = stage.canaries.prefix
        client = stage.ask({"template": "python", "source": PLANTER, "argv": [mark[:5], mark[5:]],
                            "env": {"V": stage.canaries.text("variable")}})
        pid, first = stage.await_ready(client)
        text = stage.canaries.text("first").encode()
        stack = next(region for region in reach.regions(first) if region.name == "[stack]")
        with open(f"/proc/{first}/mem", "r+b", buffering=0) as memory:
            memory.seek(stack.start)
            memory.write(text)
        host = stage.canaries.text("host").encode()
        self.inside("uts", pid, lambda libc: libc.sethostname(host, len(host)))
        with open(next(pipes_of(first)), "wb", buffering=0) as pipe:
            pipe.write(stage.canaries.text("pipe of the first").encode())
        queue = stage.canaries.text("queue").encode()
        self.inside("ipc", pid, lambda libc: libc.syscall(MQ_OPEN, queue, os.O_CREAT | os.O_RDWR, 0o666, None))
        self.inside("ipc", pid, lambda libc: libc.msgget(0x7A79676F, 0o1600))
        self.add_key(pid, stage.canaries.text("key").encode())

        looked = reach.look(stage.canaries, pid, first, has_world=True)

        missing = {place: planted - looked[place].found for place, planted in PLANTED.items() if planted - looked[place].found}
        self.assertEqual(missing, {}, brief(looked))
        self.assertEqual(set(looked), set(PLANTED))
        client.close()

    def inside(self, namespace: str, pid: int, action: Callable[[ctypes.CDLL], int]) -> None:
        libc = ctypes.CDLL(None)
        names = [os.open(f"/proc/{pid}/ns/{each}", os.O_RDONLY) for each in (namespace, "user")]
        child = os.fork()
        if child == 0:
            for name in names:
                libc.setns(name, 0)
            libc.setresgid(0, 0, 0)
            libc.setresuid(0, 0, 0)
            os._exit(action(libc) < 0)
        for name in names:
            os.close(name)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


    def add_key(self, pid: int, name: bytes) -> None:
        child = os.fork()
        if child == 0:
            reach.become(pid)
            os._exit(ctypes.CDLL(None).syscall(ADD_KEY, b"user", name, b"x", 1, USER_KEYRING) < 0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class TheNextJob(ZygoTestCase):
    def follow(self, stage: Stage, language: str, plan: Sequence[Victim], **fields: Any) -> None:
        """After each victim comes a job of a short request or of a long one, whose memory is had in different ways."""
        for turn, victim in enumerate(plan):
            size = LONG if victim.size > LONG and turn % 3 else 0
            with self.subTest(level=stage.level, language=language, **fields, **vars(victim), looker=size):
                self.between(stage, lambda: stage.commit(victim, language, **fields), looker(language, size, **fields),
                             same_cell=victim.deed in KEEP_THE_CELL, wanted=victim.label(language))

    def between(self, stage: Stage, commit: Callable[[], str], job: Job, *, same_cell: bool,
                wanted: str | None) -> None:
        """One that commits between two looks. A cell may be renewed meanwhile: then it is done once more."""
        cell = stage.cell
        for _ in range(3):
            label = commit()
            self.assertNotIn(label, ("SandboxError", "BadJob"))
            self.assertIn(wanted, (label, None))
            before, looked = cell, stage.look(job)
            self.assertEqual(brief(looked), {}, f"after {label}")
            blind = {name for name, each in looked.items() if each.size == 0}
            self.assertEqual(blind - MAY_BE_EMPTY, set(), "nothing was read there")
            cell = stage.cell
            if cell == before or not same_cell:
                return
        self.fail("each look was at another cell, so this proves nothing")

    def test_of_a_warm_interpreter_finds_nothing(self) -> None:
        for level in levels():
            stage = Stage(self, level)
            for language in sorted(offered() & set(FORKED)):
                everything = ALL or level == levels()[0]
                self.follow(stage, language, victims(ENDS, SIZES) if everything else FEW + [Victim("abort", 20000)])

    def test_of_calls_finds_nothing(self) -> None:
        self.follow(Stage(self, levels()[0]), "python", [Victim("calls", size) for size in (MIB + 1, 8191, 1)])

    def test_in_the_cell_of_steps_finds_nothing(self) -> None:
        """Neither of a session's first step, nor of what was put back for a later one; nor does a step of another session."""
        step = {"session": "new", "outputs": []}
        for level in levels():
            stage = Stage(self, level, "--steps-stay", "none")
            self.follow(stage, "python", [*FEW, Victim("abort", 20000), Victim("sleep", 20000)], **step)
            other = stage.run({"template": "python", "source": "y = 2", "session": "new"})["session"]["node"]

            def go_on() -> str:
                first = stage.run(FEW[0].job(stage.canaries, "python") | step)
                self.assertTrue(first["session"]["kept"], first["session"])
                return str(stage.run({"template": "python", "source": "1", "session": first["session"]["node"]})["label"])

            for job in (looker("python", 0), looker("python", LONG, session=other)):
                with self.subTest(level=level, looker=job.get("session", "a job")):
                    stage.look(job)
                    self.between(stage, go_on, job, same_cell=True, wanted="OK")

    def test_in_a_cell_where_a_process_has_stayed_finds_nothing(self) -> None:
        step = {"session": "new", "outputs": []}
        stage = Stage(self, levels()[0], "--steps-stay", "1ms")

        def stay(victim: Victim) -> str:
            first = stage.run(victim.job(stage.canaries, "python") | step)
            self.assertTrue(first["session"]["kept"], first["session"])
            label = str(stage.run({"template": "python", "source": "1", "session": first["session"]["node"]})["label"])
            stage.await_none_stays()
            return label

        for victim in FEW:
            for size in (0, LONG):
                with self.subTest(**vars(victim), looker=size):
                    stage.look(looker("python", size))
                    self.between(stage, lambda: stay(victim), looker("python", size), same_cell=True, wanted="OK")

    def test_does_not_learn_how_long_the_last_one_ran(self) -> None:
        """Its CPU time is a number of nanoseconds that occurs nowhere by chance."""
        stage = Stage(self, levels()[0])
        busy = {"template": "python", "source": "sum(range(9999999))", "limits": LIMITS}
        stage.look(looker("python", 0))

        used = stage.run(busy)["usage"]["cpu_ms"]
        looked_at = stage.ask(looker("python", 0))

        for pid in stage.await_ready(looked_at):
            numbers = reach.numbers_on_stack(pid)
            found = [four for four in zip(numbers, numbers[1:], numbers[2:], numbers[3:])
                     if four[0] == four[2] == 0 < four[1] and 0 <= four[3] and abs((four[1] + four[3]) // 1000 - used) < 2]
            self.assertEqual(found, [], f"user and system time of {used} ms, as a struct rusage has them")
        looked_at.close()

    def test_of_another_profile_finds_nothing(self) -> None:
        stage = Stage(self, levels()[0])
        self.follow(stage, "python", [Victim("calls", MIB + 1), Victim("calls", 1)], policy={"profile": "pure"})
        every = offered() & set(LOOKERS) if ALL else offered() & (set(FORKED) | SIMPLE)
        for language in sorted(every):
            self.follow(stage, language, FEW, policy={"profile": "subprocess"})

    def test_of_an_executed_program_finds_nothing(self) -> None:
        for level in levels():
            stage = Stage(self, level)
            for language in sorted(offered() & set(LOOKERS) - set(FORKED)):
                if (ALL or level == levels()[0] or language in SIMPLE) and (level != "minimal" or language not in COMPILED):
                    self.follow(stage, language, victims(ENDS, SIZES) if ALL else FEW)

    def test_in_the_cell_of_a_checker_finds_nothing_that_it_was_shown(self) -> None:
        stage = Stage(self, levels()[0])
        parts = {part: stage.canaries.text(part) * 3000 for part in ("expected", "input", "checker")}
        for language in sorted(offered() & set(FORKED)):
            comment = COMMENTS.get(language, "# ") + parts["checker"] + "\n"
            job = {"template": "python", "source": "print(input())", "limits": LIMITS,
                   "tests": [{"stdin": parts["input"], "expect": parts["expected"], "compare": "checker"}],
                   "checker": {"template": language, "source": CHECKERS[language] + comment}}
            for size in (0, LONG):
                with self.subTest(language=language, looker=size):
                    self.between(stage, lambda job=job: stage.run(job)["label"], looker(language, size), same_cell=True,
                                 wanted="OK")

    def test_in_the_cells_of_a_conversation_finds_nothing_that_was_said(self) -> None:
        """Two workers: one look at each of the two cells."""
        stage = Stage(self, levels()[0], workers=2)
        parts = {part: stage.canaries.text(part) * 3000 for part in ("expected", "input", "interactor")}
        for language in sorted(offered() & set(FORKED)):
            comment = COMMENTS.get(language, "# ") + parts["interactor"] + "\n"
            job = {"template": "python", "source": "import sys\nfirst = input()\nprint('heard', flush=True)\n", "limits": LIMITS,
                   "tests": [{"stdin": parts["input"], "expect": parts["expected"]}],
                   "interactor": {"template": language, "source": INTERACTORS[language] + comment}}
            with self.subTest(language=language):
                self.assertEqual(stage.run(job)["label"], "OK")
                lookers = [(stage.ask(looker(each, 0)), stage.word) for each in ("python", language)]
                for client, word in lookers:
                    pid, first = stage.await_ready(client, word=word)
                    self.assertEqual(brief(reach.look(stage.canaries, pid, first, has_world=stage.level == "full")), {})
                for client, _ in lookers:
                    client.close()

    def test_in_the_cell_of_a_compiler_finds_nothing(self) -> None:
        place = tempfile.TemporaryDirectory(prefix="behaviour-canary-", dir="/var/tmp")
        self.addCleanup(place.cleanup)
        package = Path(place.name) / "still" / "1.0.0"
        package.mkdir(parents=True)
        Path(place.name).chmod(0o755)
        for name, text in (("compile", COMPILER), ("run", "#!/bin/bash\ncmp copied also\n"), (".env", "PATH=/usr/bin:/bin\n"),
                           ("pkg-info.json", json.dumps({"language": "still", "version": "1.0.0"}))):
            (package / name).write_text(text)
        stage = Stage(self, levels()[0], "--packages", place.name)
        for size in (MIB + 1, 8191, 1):
            source = (stage.canaries.text("source") * (size // 10 + 1))[:max(size, 20)]
            victim = {"template": "still-1.0.0", "source": source, "limits": LIMITS,
                      "files": {stage.canaries.text("input"): {"text": stage.canaries.text("content") * 200}}}
            job = {"template": "still-1.0.0", "source": "ready", "limits": LIMITS}
            with self.subTest(size=size):
                self.between(stage, lambda victim=victim: stage.run(victim)["label"], job, same_cell=True, wanted="OK")


if __name__ == "__main__":
    unittest.main()

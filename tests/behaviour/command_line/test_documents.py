"""Every console session in the documents: its commands print what the document shows.

A session is a block of lines that begin with "$ ", each with what it prints below it. All commands of a session run in one
shell, in an empty folder that has `tests` and `build/release/bin` of this checkout. What differs from run to run stands as a
word for it on both sides (VARIES); "..." in a document stands for anything in a line, or for any lines. The order of lines is
not compared: some come from standard output and some from standard error. A command that is shown without output has to
succeed, whatever it prints. A block of `sh` is one command, and a block without a language right behind it is its output.

The programs of docs/labels.md end as it says. Python on the pages of a reader's tasks is run by tests/python/test_readme.py.
No block of code is left over: what no test runs is listed with the reason (NOT_RUN, SHOWN).
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import zygo
from zygo import ZygoTestCase

# A session is named by its document and its first command.
NOT_RUN = {
    ("docs/deploy.md", "docker run --rm -e ZYGO_ALLOW_ANYONE=yes zygo"): "needs docker and the image of the service",
    ("docs/cli.md", "zygo image import debian debian.tar"): "needs an image of 571 MiB; test_image.py imports small ones",
    ("docs/cli.md", "zygo image pack --venv /shared/envs/ml -o /shared/ml.tar.zst"):
        "needs an environment with packages of the network; test_environment.py packs small ones",
    ("docs/http.md", "npm install openapi-fetch && npx openapi-typescript http://127.0.0.1:8000/v1/openapi.json -o zygo.ts"):
        "installs from the network; test_typescript.py compiles the same program",
    ("docs/foreign-apis.md", "zygo serve --api e2b --log off &"): "installs from the network; test_e2b_sdk.py does the same",
    ("docs/http.md", "wsdump ws://127.0.0.1:8000/v1/attach"): "is a dialogue; test_websocket.py has the same one",
    ("README.md", "tools/try     # 3,200 programs shaped like a language model's answers; ends with \"Labels: all 3200 as expected\""):
        "builds everything and runs every test",
    ("CONTRIBUTING.md", "tools/build dev                     # debug build; the program is build/dev/bin/zygo"):
        "builds everything",
    ("docs/deploy.md", "docker build -f images/service/Dockerfile -t zygo ."): "needs docker; tools/try-container does the same",
    ("docs/deploy.md", "kubectl create namespace zygo"): "needs Kubernetes; test_packaging.py reads the manifests",
    ("docs/deploy.md", "sudo cmake --install build/release --strip --prefix /usr/local   # 6 MB; without --strip 217, with symbols"):
        "changes the host; test_packaging.py installs elsewhere",
    ("docs/install.md", "tools/package wheel      # dist/zygo-0.1.0-py3-none-manylinux_2_31_x86_64.whl"):
        "links everything again; test_wheel.py does",
    ("docs/install.md", "tar -xzf zygo-0.1.0-linux-x86_64.tar.gz"): "needs the tarball; test_wheel.py makes it and runs the same",
    ("docs/install.md", "python3 -m venv env && env/bin/pip install zygo-0.1.0-py3-none-manylinux_2_31_x86_64.whl"):
        "needs the wheel; test_wheel.py makes it and runs the same",
    ("docs/install.md", "tools/package image"): "needs docker; test_packed_image.py makes a small one, tools/package --check image runs it",
    ("docs/jupyter.md", "zygo kernel install                  # for this user; --prefix /usr/local for all"):
        "needs JupyterLab; test_kernel.py installs it and executes a notebook",
    ("docs/jupyter.md", "zygo serve --api jupyter --tokens FILE --listen 0.0.0.0:8000"):
        "needs JupyterLab; test_jupyter_clients.py has its server do the same",
    ("docs/isolate.md", 'ln -s "$(command -v zygo)" /usr/local/bin/isolate'): "changes the host",
}

# Blocks that are no commands, by their first line: what they show, or the test that has the same.
SHOWN = {
    ("docs/architecture.md", "zygo (run, batch or serve): one thread and one event loop per core"): "a drawing",
    ("docs/cli.md", "zygo: BadJob (template custom: zygo: preload 'chatty' starts 1 more thread(s), and such a process cannot be "
     "forked"): "a message; it needs a module that starts threads",
    ("docs/cli.md", "userns, pidns, mntns, netns, ipcns, utsns, cgroupns, scratch"): "what a container shows; test_containers.py",
    ("docs/cli.md", "2500 built-in programs, seed 5, level full, 2 cores"): "takes minutes; test_certify.py has a small one",
    ("docs/cli.md", "# pytest in a process of its own: 19 of 65 exploits forge a pass"): "parts of graders/ here; test_graders.py",
    ("docs/cli.md", 'template = "mine"               # of programs in Python that name none'): "a file; test_project.py",
    ("docs/sessions.md", '{"label": "OK", "value": 42, "display": {"text/plain": "42"},'): "parts of a result; test_steps.py",
    ("docs/values.md", '{"parts":[3,5]}'): "raw bytes; test_batch.py",
    ("languages/README.md", "{"): "the form of a file; test_languages.py reads each",
}
PAGES = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "tools/python/README.md", "languages/README.md")

# The reader of a session has this already.
BEFORE = {
    ("docs/cli.md", "zygo blob put tests.json"): "echo hello > tests.json",
    ("docs/cli.md", "zygo test numbers_test.py numbers_.py"):
        r"""printf 'class Odd(Exception): pass\ndef half(n):\n  if n %% 2: raise Odd(n)\n  return n // 2\n' > numbers_.py
        printf 'import unittest\nfrom numbers_ import *\nclass Half(unittest.TestCase):\n' > numbers_test.py
        printf '  def test_even(self): self.assertEqual(half(4), 2)\n  def test_raises(self): half(1)\n' >> numbers_test.py
        printf '  def test_wrong(self): self.assertEqual(half(4), 3)\n' >> numbers_test.py""",
    ("docs/cli.md", "dir=$(zygo isolate --box-id=1 --init)"):
        "echo 'int main(void) { return 0; }' > a.c; gcc -o a.out a.c; echo 1 > input.txt",
    ("docs/http.md", "zygo serve --log off &"): """echo '{"source": "print(1)"}' > jobs.ndjson""",
}

# A session that shows what is missing needs a host without it.
ABSENT = {("docs/cli.md", "zygo runtime list"): "go"}

VARIES = (
    (re.compile(r"\b\d+(\.\d+)?( ?)(ms|s|us|sec|MiB|KiB|MB|kB)\b"), r"N\2\3"),
    (re.compile(r"\b\d+(\.\d+)?/s"), "N/s"),
    (re.compile(r"\(level \w+, \d+ workers\)"), "(level L, N workers)"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "DIGEST"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"[ \t]+"), " "),
)
LISTENS = re.compile(r"--listen 127\.0\.0\.1:(\d+)")


@dataclass(frozen=True)
class Step:
    command: str
    shown: tuple[str, ...]

    @property
    def stays(self) -> bool:
        """It serves in the background."""
        return self.command.endswith("&")


@dataclass(frozen=True)
class Session:
    document: str
    line: int
    steps: tuple[Step, ...]

    @property
    def name(self) -> tuple[str, str]:
        return self.document, self.steps[0].command.partition("\n")[0]

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and lines of each block of code, fenced or indented, that has a command."""
    fenced: list[str] | None = None
    indented: list[str] = []
    begin = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.startswith("```"):
            if fenced is not None:
                yield begin, fenced
                fenced = None
            else:
                begin, fenced = number + 1, []
        elif fenced is not None:
            fenced.append(line)
        elif line.startswith("    "):
            if not indented:
                begin = number
            indented.append(line[4:])
        elif indented:
            yield begin, indented
            indented = []


@dataclass(frozen=True)
class Fence:
    line: int
    language: str
    lines: tuple[str, ...]
    follows: bool  # nothing but an empty line stands between it and the block before it


def fences(text: str) -> list[Fence]:
    found: list[Fence] = []
    lines = text.split("\n")
    end, begin = -9, 0
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if begin:
            found.append(Fence(begin, lines[begin - 1][3:].strip(), tuple(lines[begin:number - 1]), begin == end + 2))
            begin, end = 0, number
        else:
            begin = number
    return found


def scripts(document: str, text: str) -> Iterator[Session]:
    """Blocks of `sh`, each one command."""
    found = fences(text)
    for fence, after in zip(found, [*found[1:], None]):
        if fence.language == "sh":
            shown = after.lines if after and after.follows and not after.language else ()
            yield Session(document, fence.line, (Step("\n".join(fence.lines), shown),))


def steps_of(lines: list[str]) -> tuple[Step, ...]:
    steps: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps and steps[-1][0].count("'") % 2 == 1:
            steps[-1] = (steps[-1][0] + "\n" + line, [])
        elif steps and line.strip():
            steps[-1][1].append(line)
    return tuple(Step(command, tuple(shown)) for command, shown in steps)


def sessions() -> list[Session]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=zygo.CHECKOUT, capture_output=True,
                            text=True, check=True)
    found = []
    for document in sorted(listed.stdout.split()):
        text = (zygo.CHECKOUT / document).read_text()
        for line, lines in blocks(text):
            if any(each.startswith("$ ") for each in lines):
                found.append(Session(document, line, steps_of(lines)))
        found += scripts(document, text)
    return found


def plain(line: str) -> str:
    for varies, word in VARIES:
        line = varies.sub(word, line)
    return line.strip()


def matches(shown: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in plain(shown).split("..."))
    return re.fullmatch(pattern, plain(printed)) is not None


def is_shown(shown: tuple[str, ...], printed: list[str]) -> bool:
    rest = list(printed)
    for line in shown:
        if line.strip() == "...":
            continue
        same = [each for each in rest if matches(line, each)]
        if not same:
            return False
        rest.remove(same[0])
    return not rest or "..." in (line.strip() for line in shown)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Shell:
    """A bash that runs one command after another; what it prints is read until a mark that follows the command."""

    MARK = "---mark---"

    def __init__(self, folder: Path) -> None:
        (folder / "build/release").mkdir(parents=True)
        (folder / "build/release/bin").symlink_to(zygo.BINARY.parent)
        (folder / "tests").symlink_to(zygo.CHECKOUT / "tests")
        home = folder / "home"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "LANG": "C.UTF-8", "PATH": f"{zygo.BINARY.parent}:{os.environ['PATH']}"}
        for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            environment.pop(name, None)
        self.process = subprocess.Popen(["bash", "--norc"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        self.port = free_port()
        self.rest = ""

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        # Only what was started here: the jobs of this shell.
        self.say("kill $(jobs -p) 2>/dev/null; wait; exit")
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(30 * zygo.PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process.stdout.close()

    def say(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def read_line(self, deadline: float) -> str | None:
        """The next line; None: there is none in time."""
        assert self.process.stdout
        while "\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not chunk:
                return None
            self.rest += chunk.decode(errors="replace")
        line, _, self.rest = self.rest.partition("\n")
        return line

    def here(self, command: str) -> str:
        """Addresses of the documents may be in use."""
        for service in ("zygo serve", "zygo route"):
            if command.startswith(service) and not LISTENS.search(command):
                command = command.replace(service, f"{service} --listen 127.0.0.1:8000", 1)
        return re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{self.port}", command)

    def run(self, step: Step) -> tuple[list[str], int]:
        """What it prints, and the exit code (0 of what stays)."""
        deadline = time.monotonic() + 60 * zygo.PATIENCE
        self.say(self.here(step.command))
        if step.stays:
            line = self.read_line(deadline)  # it is ready
            return ([] if line is None else [line]), 0 if line else -1
        self.say(f"set -- $?; echo; echo {self.MARK} $1")
        printed: list[str] = []
        while (line := self.read_line(deadline)) is not None and not line.startswith(self.MARK):
            printed.append(line)
        if line is None:
            return [*printed, "(nothing more, and the command has not ended)"], -1
        return [each for each in printed if each.strip()], int(line.split()[-1])


def is_run(document: str, fence: Fence, before: str) -> bool:
    """By a test; `before` is the language of the block before it."""
    by_python = document.startswith("docs/guide/") or document == "tools/python/README.md"
    return (fence.language in ("console", "sh") or any(line.startswith("$ ") for line in fence.lines)
            or document == LABELS or (fence.language == "python" and by_python)
            or (fence.follows and (before, fence.language) in (("python", "text"), ("sh", ""))))


LABELS = "docs/labels.md"
EXAMPLE = re.compile(r"^```(\w+)\n((?:(?!```).)*)^```\n(?:\nwith ([^\n]*)\n)?\n(?:`([\w.]+)` )?`(\{[^`]*\})`", re.DOTALL | re.MULTILINE)
TEMPLATES = {"python": "python", "cpp": "cpp"}


@dataclass(frozen=True)
class Example:
    job: dict[str, object]
    label: str
    detail: dict[str, object]


def examples(text: str) -> list[Example]:
    """The programs of docs/labels.md: a block, the other fields of its job, its label if that is not the section's, its detail."""
    found = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        for language, source, fields, label, detail in EXAMPLE.findall(section):
            job = json.loads(source) if language == "json" else {"source": source, "template": TEMPLATES[language]}
            for each in re.findall(r"`([^`]*)`", fields):
                job |= json.loads("{" + each + "}")
            found.append(Example(job, label or heading, json.loads(detail.replace("\n", " "))))
    return found


def plain_end(label: str, detail: dict[str, object]) -> tuple[str, dict[str, object]]:
    """Without what differs from run to run, as `waited_ms` on a busy machine; the line of a BadJob is that of the batch."""
    varies = re.compile(r"measured|peak" + ("|line" if label == "BadJob" else ""))
    return label, {name: "N" if varies.search(name) else value for name, value in detail.items()
                   if name not in ("waited_ms", "contended", "slowed_by")}


class Labels(ZygoTestCase):
    def test_each_program_of_the_page_ends_as_the_page_says(self) -> None:
        shown = examples((zygo.CHECKOUT / LABELS).read_text())
        jobs = zygo.lines_of({"id": str(n), **example.job} for n, example in enumerate(shown))
        results = zygo.by_id(zygo.results_of(zygo.run_cli("batch", "--quiet", stdin=jobs).out))

        self.assertEqual(len(shown), len(fences((zygo.CHECKOUT / LABELS).read_text())))
        for number, example in enumerate(shown):
            with self.subTest(example.label, job=example.job):
                result = results[str(number)]
                self.assertEqual(plain_end(result["label"], result["detail"]), plain_end(example.label, example.detail))


class Documents(ZygoTestCase):
    def test_each_session_that_is_not_run_is_in_a_document(self) -> None:
        names = {session.name for session in sessions()}
        self.assertLessEqual(set(NOT_RUN), names)

    def test_no_block_of_code_is_left_over(self) -> None:
        pages = [*PAGES, *(str(path.relative_to(zygo.CHECKOUT)) for path in (zygo.CHECKOUT / "docs").rglob("*.md"))]
        left, shown = [], set()
        for document in pages:
            before = ""
            for fence in fences((zygo.CHECKOUT / document).read_text()):
                if (document, fence.lines[0]) in SHOWN:
                    shown.add((document, fence.lines[0]))
                elif not is_run(document, fence, before):
                    left.append(f"{document}:{fence.line}: {fence.lines[0]}")
                before = fence.language

        self.assertEqual(left, [])
        self.assertEqual(shown, set(SHOWN))

    def test_commands_print_what_the_documents_show(self) -> None:
        for session in sessions():
            if session.name in NOT_RUN:
                continue
            with self.subTest(str(session)):
                self.check(session)

    def check(self, session: Session) -> None:
        there = ABSENT.get(session.name)
        if there and shutil.which(there):
            self.skipTest(f"{there} is installed here, and {session} shows that it is missing")
        faults = []
        with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:
            shell.run(Step(BEFORE.get(session.name, "true"), ()))
            for step in session.steps:
                printed, code = shell.run(step)
                if not (is_shown(step.shown, printed) if step.shown else code == 0):
                    faults.append("\n".join((f"$ {step.command}", f"{session} shows:", *step.shown,
                                             f"but it prints, and ends with {code}:", *printed)))
        self.assertFalse(faults, "\n\n".join(faults))


if __name__ == "__main__":
    unittest.main()

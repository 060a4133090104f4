"""What a test of a program in another language costs over starting its program by itself: one at a time, in turn."""
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from ..coprocess import Coprocess
from ..report import Section
from ..setting import Setting
from ..system import percentile, progress, tails

STDIN = "3 4\n"
# runtime: its source, and how the bare program is started where it lies.
SUMS = {
    "c": ('#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }\n', ["./main"]),
    "cpp": ('#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << "\\n"; }\n', ["./main"]),
    "bash": ("read a b; echo $((a + b))\n", ["bash", "main"]),
    "perl": ('my ($a, $b) = split / /, <STDIN>; print $a + $b, "\\n";\n', ["perl", "main"]),
    "ruby": ("puts gets.split.map(&:to_i).sum\n", ["ruby", "main"]),
    "lua": ("print(io.read('n') + io.read('n'))\n", ["lua5.4", "main"]),
    "php": ("<?php [$a, $b] = explode(' ', fgets(STDIN)); echo $a + $b, \"\\n\";\n", ["php", "main"]),
    "javascript": ("const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number); console.log(a + b);\n",
                   ["node", "main"]),
    "java": ("public class Main { public static void main(String[] a) { var in = new java.util.Scanner(System.in); "
             "System.out.println(in.nextInt() + in.nextInt()); } }\n", ["java", "-XX:+UseSerialGC", "-cp", ".", "Main"]),
}
BUILD = {"c": ["gcc", "-O2", "-x", "c", "-o", "main", "source"], "cpp": ["g++", "-O2", "-x", "c++", "-o", "main", "source"],
         "java": ["javac", "-d", ".", "Main.java"]}


def languages(setting: Setting) -> list[Section]:
    section = Section("languages", "one small program with stdin on one core, milliseconds: in a cell, and started bare")
    offered = json.loads(subprocess.run([setting.zygo, "runtime", "list", "--json"], capture_output=True, check=True).stdout)
    available = {runtime["name"] for runtime in offered if runtime["available"]}
    for name, (source, command) in SUMS.items():
        if name not in available:
            section.skipped.append(f"{name}: its tools are not installed")
            continue
        progress(f"languages: {name}")
        with tempfile.TemporaryDirectory() as folder, setting.one_core() as zygo:
            _prepare(Path(folder), name, source)
            section.records.append(_measure(setting, zygo, name, source, command, folder))
    return [section]


def _prepare(folder: Path, name: str, source: str) -> None:
    (folder / {"java": "Main.java"}.get(name, "source" if name in BUILD else "main")).write_text(source)
    if name in BUILD:
        subprocess.run(BUILD[name], cwd=folder, check=True)


def _measure(setting: Setting, zygo: Coprocess, name: str, source: str, command: list[str], folder: str) -> dict:
    ours, bare, more, compiled = [], [], [], []
    for number in range(-5, setting.effort.slow * 5):  # the first five warm up
        job = {"id": f"{name}-{number}", "template": name, "source": source, "stdin": STDIN}
        seconds, answer = zygo.ask(json.dumps(job).encode() + b"\n")
        result = json.loads(answer)
        if result["stdout"]["text"] != "7\n":
            raise AssertionError(f"{name}: {answer[:500]!r}")
        compiled.append(not result.get("compile", {"cached": True})["cached"])
        alone = _start_bare(command, folder)
        if number >= 0:
            ours.append(seconds * 1e3)
            bare.append(alone * 1e3)
            more.append(seconds * 1e3 - alone * 1e3)
    return {"runtime": name, "jobs": len(ours), "zygo_ms": tails(ours), "bare_ms": tails(bare),
            "more_ms": percentile(more, 0.5), "compiles": sum(compiled)}


def _start_bare(command: list[str], folder: str) -> float:
    """vfork, exec, write, read, wait: with as little of Python as can be."""
    begin = time.perf_counter()
    inlet, feed = os.pipe()
    drain, outlet = os.pipe()
    os.write(feed, STDIN.encode())
    os.close(feed)
    here = os.getcwd()
    os.chdir(folder)
    pid = os.posix_spawnp(command[0], command, os.environ,
                          file_actions=[(os.POSIX_SPAWN_DUP2, inlet, 0), (os.POSIX_SPAWN_DUP2, outlet, 1)])
    os.chdir(here)
    os.close(inlet)
    os.close(outlet)
    output = b""
    while chunk := os.read(drain, 4096):
        output += chunk
    os.close(drain)
    os.waitpid(pid, 0)
    if output != b"7\n":
        raise AssertionError(f"{command}: {output!r}")
    return time.perf_counter() - begin

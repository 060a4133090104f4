"""`zygo certify`: labels that are known are found again under load and while cells are killed; a wrong one is reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import unittest
from pathlib import Path
from typing import Any

import host
import zygo
from zygo import Finished, Job, ZygoTestCase

QUICK: tuple[Job, ...] = (
    {"id": "fine", "source": "print(1)", "label": "OK"},
    {"id": "index", "source": "[][3]", "label": "IndexError"},
    {"id": "either", "source": "raise KeyError(1)", "label": ["OK", "KeyError"]},
    {"id": "code", "source": "import sys; sys.exit(3)", "label": "NonZeroExit"},
    {"id": "memory", "source": "x = b'x' * (90 << 20)", "label": "MemoryLimitExceeded", "limits": {"memory_mb": 64}},
    {"id": "unsafe", "source": "import socket; socket.socket()", "label": "UnsafeCode"},
    {"id": "sum", "source": "print(int(input()) + 1)", "label": "WrongAnswer", "tests": [{"stdin": "1", "expect": "3"}]},
    {"id": "spin", "source": "while True: pass", "label": "TimeoutException", "limits": {"cpu_ms": 200, "wall_ms": 600000}},
    {"id": "nap", "source": "import time; time.sleep(0.2)", "label": "OK"},
)
FAULTS = os.geteuid() == 0  # Processes of another uid are to be killed.


class CertifyTestCase(ZygoTestCase):
    def corpus(self, jobs: tuple[Job, ...] = QUICK) -> str:
        path = Path(self.folder(), "corpus.jsonl")
        path.write_text("".join(json.dumps(job) + "\n" for job in jobs))
        return str(path)

    def certify(self, *arguments: str) -> Finished:
        return zygo.run_cli("certify", *arguments, timeout=300)

    def certificate(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        ended = self.certify("--json", *arguments)
        if not ended.out:
            raise AssertionError(f"certify {arguments} ended with {ended.code}: {ended.stderr[-2000:]}")
        return ended.code, json.loads(ended.out)


class Certify(CertifyTestCase):
    def test_finds_known_labels_again_under_load_and_faults(self) -> None:
        options = ("--faults",) if FAULTS else ()
        code, report = self.certificate(self.corpus(), "--loads", "1,4", "--jobs", "60", *options)

        self.assertEqual((code, report["ok"], report["flips"]), (0, True, []))
        rounds = [(each["load"], each["faults"]) for each in report["loads"]]
        self.assertEqual(rounds, [(1, False), (1, True), (4, False), (4, True)] if FAULTS else [(1, False), (4, False)])
        for each in report["loads"]:
            self.assertEqual((each["jobs"], each["flips"], each["workers"]), (60, 0, each["load"] * report["cpus"]))
            self.assertEqual(each["kills"] > 0, each["faults"])
            self.assertEqual(each["interval"][0], 0)
        self.assertEqual(report["total"]["jobs"], 60 * len(rounds))

    def test_tells_a_flip_when_it_is_seen(self) -> None:
        wrong: Job = {"id": "wrong", "source": "[][3]", "label": "KeyError"}
        corpus = self.corpus((wrong,))

        told = self.certify(corpus, "--loads", "1", "--jobs", "4").stderr
        quiet = self.certify(corpus, "--loads", "1", "--jobs", "4", "--quiet").stderr

        self.assertEqual(told.count(f"zygo certify: wrong ({corpus}:1), load 1: expected KeyError, got IndexError"), 4, told)
        self.assertEqual(quiet, "")

    def test_leaves_nothing_on_the_host_after_kills(self) -> None:
        if not FAULTS:
            self.skipTest("processes of another uid are to be killed: needs root")
        host.adopt_orphans()
        before = host.Snapshot.take()

        self.certify(self.corpus(), "--loads", "2", "--jobs", "40", "--faults", "--quiet")

        self.assertEqual(before.leftovers(), [])

    def test_finds_labels_again_whose_daemon_was_killed(self) -> None:
        """Each load is under way for longer than a daemon is let live."""
        if not FAULTS:
            self.skipTest("processes of another uid are to be killed: needs root")
        host.adopt_orphans()
        before = host.Snapshot.take()
        naps: tuple[Job, ...] = tuple({"id": f"nap {n}", "source": "import time; time.sleep(0.5); print(1)", "label": "OK",
                                       "tests": [{"expect": "1"}]} for n in range(20))
        workers = len(os.sched_getaffinity(0))

        code, report = self.certificate(self.corpus((*naps, *QUICK)), "--loads", "1", "--jobs", str(40 * workers), "--faults")

        self.assertEqual((code, report["flips"]), (0, []))
        quiet, killed = report["loads"]
        self.assertEqual((quiet["kills"], quiet["daemon_kills"]), (0, 0))
        self.assertGreater(killed["daemon_kills"], 0)
        self.assertGreaterEqual(killed["runs_again"], killed["daemon_kills"])  # each had a job at least
        self.assertEqual(killed["jobs"], 40 * workers)
        self.assertEqual(report["total"]["daemon_kills"], killed["daemon_kills"])
        self.assertEqual(before.leftovers(), [])

    def test_reports_a_wrong_label_as_a_flip(self) -> None:
        wrong: Job = {"id": "liar", "source": "print(1)", "label": ["KeyError", "IndexError"]}
        ended = self.certify(self.corpus((*QUICK[:2], wrong)), "--loads", "1", "--jobs", "6", "--no-color")

        self.assertEqual(ended.code, 1)
        self.assertIn("liar (", ended.stdout)
        self.assertIn("corpus.jsonl:3), load 1: expected KeyError or IndexError, got OK\n", ended.stdout)
        self.assertRegex(ended.stdout.splitlines()[-1], r"^2 of 6 labels flipped: 33\.33 %, 95 % interval 9\.\d+ to 70\.\d+ %$")

    def test_draws_the_same_programs_from_a_seed(self) -> None:
        """Programs that sleep may come late on a busy machine; all others must be as they are labelled."""
        code, report = self.certificate("--loads", "2", "--jobs", "100", "--seed", "5")

        self.assertEqual((report["corpus"], report["seed"]), ("100 built-in programs, seed 5", 5))
        self.assertEqual([each for each in report["flips"] if not each["id"].startswith("wall-below")], [])
        self.assertEqual(code, 1 if report["flips"] else 0)
        total = report["total"]
        self.assertEqual((total["jobs"], total["band"]["jobs"]), (94, 6))

    def test_is_quiet_about_success_if_asked(self) -> None:
        ended = self.certify(self.corpus(QUICK[:2]), "--loads", "1", "--jobs", "4", "--quiet")

        self.assertEqual((ended.code, ended.out, ended.err), (0, b"", b""))

    def test_can_be_interrupted(self) -> None:
        endless: Job = {"source": "import time; time.sleep(600)", "label": "OK", "limits": {"wall_ms": 900_000}}
        process = subprocess.Popen([str(zygo.BINARY), "certify", self.corpus((endless,)), "--loads", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=zygo.environment())
        assert process.stdout
        self.assertIn(b"1 jobs of", process.stdout.readline())  # It is under way.

        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)

        self.assertEqual(process.returncode, 130)
        self.assertIn(b"interrupted", complaint)


# A corpus, options, the exit code, and what the message must name.
REFUSED: tuple[tuple[str, tuple[str, ...], int, tuple[str, ...]], ...] = (
    ('{"source": "1", "label": "OK"}\n{"source": "1"}\n', (), 2, ("corpus.jsonl:2: label: required",)),
    ('{"source": "1", "label": 7}\n', (), 2, ("corpus.jsonl:1: label: expected a string",)),
    ('{"source": "1", "label": "OK", "limits": {"cpu": 1}}\n', (), 2, ("corpus.jsonl:1: ", "limits.cpu", "cpu_ms")),
    ('{"source": "1", "label": "OK", "template": "pyhton"}\n', (), 2, ("corpus.jsonl:1: template: ", "pyhton")),
    ('{"source": "1", "label": "O', (), 2, ("corpus.jsonl:1: ",)),
    ("\n", (), 2, ("corpus.jsonl: there is no job",)),
    ('{"source": "1", "label": "OK"}\n', ("--loads", "1,none"), 2, ("--loads", "none", "1,4,16")),
    ('{"source": "1", "label": "OK"}\n', ("--jobs", "0"), 2, ("--jobs",)),
    ('{"source": "1", "label": "OK"}\n', ("--python", "/nonexistent/python3"), 125, ("/nonexistent/python3",)),
)


class Refusals(CertifyTestCase):
    def test_name_what_is_wrong_before_anything_runs(self) -> None:
        for text, options, code, words in REFUSED:
            with self.subTest(text=text, options=options):
                path = Path(self.folder(), "corpus.jsonl")
                path.write_text(text)
                ended = self.certify(str(path), *options)

                self.assertEqual((ended.code, ended.out), (code, b""), ended.stderr)
                for word in words:
                    self.assertIn(word, ended.stderr)

    def test_a_load_beyond_the_memory_of_the_host_is_refused(self) -> None:
        if (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) >> 30 > 64 * len(os.sched_getaffinity(0)):
            self.skipTest("this host has the memory for 1024 jobs a core")

        ended = self.certify("--loads", "1,1024")

        self.assertEqual((ended.code, ended.out), (125, b""))
        self.assertRegex(ended.stderr, r"load 1024 on \d+ cores is \d+ jobs at once, .* are available")

    def test_programs_of_python_need_a_template_of_python(self) -> None:
        ended = self.certify("--template", "bash")

        self.assertEqual((ended.code, ended.out), (2, b""))
        self.assertIn("--template bash: the built-in programs are of Python", ended.stderr)


if __name__ == "__main__":
    unittest.main()

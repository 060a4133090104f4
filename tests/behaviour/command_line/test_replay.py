"""`zygo replay`: a result's job runs again from its record, and is the same or differs at a place that is shown."""

from __future__ import annotations

import json
import tarfile
import unittest
from pathlib import Path
from typing import Any

import serve
import zygo
from zygo import Finished, Job, Result, ZygoTestCase

ALIKE: tuple[Job, ...] = (
    {"id": "print", "source": "print(sum(range(10)))"},
    {"id": "input", "source": "print(input() + open('f').read())", "stdin": "a\n", "files": {"f": {"text": "b"}}},
    {"id": "bytes", "source": "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", "stdin": {"b64": "/wD+"}},
    {"id": "call", "source": "def f(x): return {1: (x, b'\\xff')}", "mode": "call", "func": "f", "inputs": [1.5, [2]]},
    {"id": "raise", "source": "import sys\nprint(1)\nraise KeyError('k')"},
    {"id": "code", "source": "import sys; print('e', file=sys.stderr); sys.exit(3)"},
    {"id": "unsafe", "source": "import socket; socket.socket()"},
    {"id": "file", "source": "open('o', 'wb').write(b'\\xff')", "outputs": ["*"]},
    {"id": "tests", "source": "print(int(input()) + 1)", "tests": [{"stdin": "1", "expect": "2"}, {"stdin": "2", "expect": "2"}]},
    {"id": "twice", "source": "print({'a', 'b'} == {'b', 'a'})", "determinism": {"runs": 2}},
    {"id": "argv", "source": "import sys, os; print(sys.argv[1:], os.environ['A'])", "argv": ["-v"], "env": {"A": "b"}},
)
DICE: Job = {"id": "dice", "source": "import os\nprint('one')\nprint('two', os.urandom(8).hex())"}


class ReplayTestCase(ZygoTestCase):
    def results(self, *jobs: Job, options: tuple[str, ...] = ()) -> list[Result]:
        ended = zygo.run_cli("batch", "--record", "--quiet", *options, stdin=zygo.lines_of(jobs))
        self.assertEqual(ended.code, 0, ended.stderr)
        return zygo.results_of(ended.out)

    def replay(self, *results: Result, options: tuple[str, ...] = ()) -> Finished:
        path = Path(self.folder(), "results.jsonl")
        path.write_text("".join(json.dumps(result) + "\n" for result in results))
        return zygo.run_cli("replay", str(path), *options)

    def report(self, *results: Result, options: tuple[str, ...] = ()) -> dict[str, Any]:
        ended = self.replay(*results, options=("--json", *options))
        self.assertTrue(ended.out, ended.stderr)
        report = json.loads(ended.out)
        self.assertEqual(ended.code, 0 if report["ok"] else 1)
        return report


class Replay(ReplayTestCase):
    def test_finds_the_same_in_everything_that_a_result_says(self) -> None:
        report = self.report(*self.results(*ALIKE))

        self.assertEqual([job for job in report["jobs"] if not job["same"]], [])
        self.assertEqual((report["same"], report["changes"]), (len(ALIKE), []))

    def test_repeats_runs_as_often_as_asked(self) -> None:
        report = self.report(*self.results(*ALIKE[:2]), options=("--runs", "5", "--workers", "3"))

        self.assertEqual([(job["runs"], job["differ"]) for job in report["jobs"]], [(5, 0), (5, 0)])

    def test_shows_the_first_difference_and_that_chance_explains_it(self) -> None:
        result, = self.results(DICE)
        report = self.report(result)

        job, = report["jobs"]
        difference = job["difference"]
        self.assertEqual((job["same"], job["chance"], report["by_chance"]), (False, True, 1))
        self.assertEqual((difference["axis"], difference["line"]), ("stdout", 2))
        at = difference["byte"]
        self.assertEqual(difference["column"], 1 + at - len("one\n"))
        self.assertGreaterEqual(at, len("one\ntwo "))
        self.assertIn(result["stdout"]["text"][at:].strip(), difference["recorded"])

    def test_tells_a_changed_result_from_chance(self) -> None:
        result, = self.results(ALIKE[0])
        result["stdout"]["text"] = "46\n"
        ended = self.replay(result, options=("--no-color",))

        self.assertEqual(ended.code, 1)
        self.assertEqual(ended.stdout, 'print: differs: stdout, byte 1, line 1, column 2\n'
                                       '  recorded: "46\\n"\n  here:     "45\\n"\n  runs here agree with each other\n')

    def test_compares_only_the_label_where_a_limit_decided(self) -> None:
        spin: Job = {"id": "spin", "source": "import time\nwhile True: print(time.time_ns())",
                     "limits": {"cpu_ms": 200, "stdout_kb": 1 << 20, "wall_ms": 600_000}}
        job, = self.report(*self.results(spin))["jobs"]

        self.assertEqual((job["label"], job["same"], job["compared"]), ("TimeoutException", True, "label"))

    def test_keeps_the_limits_of_the_job(self) -> None:
        hungry: Job = {"id": "hungry", "source": "x = b'x' * (90 << 20)", "limits": {"memory_mb": 64}}
        result, = self.results(hungry)
        result["record"]["job"]["limits"]["memory_mb"] = 200
        self.assertIn("record.digests.job", self.replay(result).stderr)

        report = self.report(*self.results(hungry))
        self.assertTrue(report["ok"])

    def test_says_that_some_results_cannot_be_compared(self) -> None:
        lost: Result = {**self.results(ALIKE[0])[0], "label": "SandboxError", "by": "sandbox", "ok": False}
        ended = self.replay(lost, options=("--no-color",))

        self.assertEqual((ended.code, ended.stdout), (1, "print: not compared: SandboxError says nothing of the program\n"))

    def test_is_quiet_about_what_is_the_same_if_asked(self) -> None:
        ended = self.replay(*self.results(*ALIKE[:2]), options=("--quiet",))

        self.assertEqual((ended.code, ended.out, ended.err), (0, b"", b""))


class Places(ReplayTestCase):
    def test_another_template_is_said_first(self) -> None:
        setup = Path(self.folder(), "setup.py")
        setup.write_text("answer = 6")
        mine = ("--template", "mine", "--setup", str(setup), "--preload", "json")
        results = self.results({"id": "a", "source": "import zygo_setup; print(zygo_setup.answer)"}, options=mine)
        self.assertEqual(self.replay(*results, options=mine).stdout, "a: same\n")

        setup.write_text("answer = 7")
        ended = self.replay(*results, options=(*mine, "--no-color"))

        first, *rest = ended.stdout.splitlines()
        self.assertRegex(first, r"^recorded under template mine mine@sha256:\w+, here mine@sha256:\w+$")
        self.assertRegex(rest[0], r"^recorded under template mine: setup sha256:\w+, here sha256:\w+$")
        self.assertEqual((ended.code, rest[1]), (1, "a: differs: stdout, byte 0, line 1, column 1"))

    def test_strict_runs_nothing_elsewhere(self) -> None:
        result, = self.results(ALIKE[0])
        self.assertEqual(self.replay(result, options=("--strict",)).code, 0)

        result["record"]["zygo"] = "0.0.1"
        ended = self.replay(result, options=("--strict",))

        self.assertEqual(ended.code, 2)
        self.assertRegex(ended.stdout, r"^recorded under zygo 0\.0\.1, here [\d.]+\n$")
        self.assertIn("--strict: recorded under another zygo; nothing was run", ended.stderr)

    def test_what_a_record_does_not_say_is_named(self) -> None:
        """Absent, or empty; strict runs nothing then, either."""
        result, = self.results(ALIKE[0])
        for absent in ("zygo", "kernel", "machine", "template", "level"):
            for value in (None, ""):
                with self.subTest(absent, value=value):
                    bare = {**result, "record": dict(result["record"])}
                    if absent == "level":
                        bare["level"] = None
                    elif absent == "template":
                        bare["record"]["template"] = {**result["record"]["template"], "id": ""}
                        if value is None:
                            del bare["record"]["template"]
                    elif value is None:
                        del bare["record"][absent]
                    else:
                        bare["record"][absent] = value
                    ended = self.replay(bare, options=("--strict",))

                    self.assertEqual(ended.code, 2)
                    self.assertRegex(ended.stdout, rf"^recorded under {absent}[^\n]* unknown, here ")
                    self.assertRegex(ended.stderr, rf"--strict: recorded under an unknown {absent}[^\n]*; nothing was run")
                    self.assertEqual(self.replay(bare).stdout.splitlines()[-1], "print: same")

    def test_a_record_of_another_template_is_no_strict_match(self) -> None:
        result, = self.results(ALIKE[0])
        result["record"]["template"]["name"] = "other"
        ended = self.replay(result, options=("--strict",))

        self.assertEqual((ended.code, ended.stdout), (2, "recorded under template other, here python\n"))

    def test_a_job_that_cannot_be_run_here_is_not_compared(self) -> None:
        result, = self.results({**ALIKE[0], "policy": {"require": ["full"]}})
        ended = self.replay(result, options=("--level", "minimal", "--no-color"))

        self.assertEqual(ended.code, 1)
        self.assertIn("print: not compared: it cannot be run here: SandboxError: this host does not give", ended.stdout)

    def test_a_report_of_fixed_mode_is_compared(self) -> None:
        result, = self.results({**ALIKE[0], "determinism": {"mode": "fixed", "seed": 3}})
        self.assertEqual(self.replay(result).code, 0)
        report = result["determinism"]
        for lie in ({"seed": 4}, {"not_fixed": [*report["not_fixed"], "made up"]}):
            with self.subTest(lie=lie):
                job, = self.report({**result, "determinism": {**report, **lie}})["jobs"]

                self.assertEqual(job["difference"]["axis"], "determinism")

    def test_a_template_that_is_unknown_here_is_told_with_its_options(self) -> None:
        results = self.results(ALIKE[0], options=("--template", "mine", "--preload", "json,decimal"))
        ended = self.replay(*results)

        self.assertEqual((ended.code, ended.out), (2, b""))
        self.assertIn("results.jsonl:1: template mine is unknown here; it was recorded with --template mine --preload json,decimal",
                      ended.stderr)


EVIL = "\x1b[2J\u009b31m\u202eevil\nzygo: forged"


class Strangers(ReplayTestCase):
    """What a hostile file says moves no cursor and makes no line of its own."""

    def check_harmless(self, text: str, lines: int) -> None:
        self.assertEqual([c for c in text if c in "\x1b\u009b\u202e"], [], ascii(text))
        self.assertEqual(len(text.splitlines()), lines, ascii(text))

    def test_json_is_ascii(self) -> None:
        result, = self.results(ALIKE[0])
        result["record"]["zygo"] = EVIL
        result["stdout"]["text"] = EVIL
        ended = self.replay(result, options=("--json",))

        self.assertTrue(ended.out.isascii())
        self.check_harmless(ended.stdout, lines=1)
        self.assertEqual(json.loads(ended.out)["changes"][0]["recorded"], EVIL)

    def test_an_error_of_a_record_is_one_line(self) -> None:
        name = "a\nzygo: forged"
        result, = self.results({**ALIKE[0], "files": {name: {"text": "x"}}})
        result["record"]["digests"]["files"][name] = f"sha256:{'1' * 64}"
        ended = self.replay(result)

        self.assertEqual(ended.code, 2)
        self.check_harmless(ended.stderr, lines=1)

    def test_an_error_of_other_files_is_one_line(self) -> None:
        corpus = Path(self.folder(), "c.jsonl")
        corpus.write_text(json.dumps({"id": "a", "source": "1", EVIL: 1}) + "\n")
        package = Path(self.folder(), "package")
        (package / "data/secret").mkdir(parents=True)
        (package / "problem.yaml").write_text("name: x\n")
        (package / "data/secret" / f"{EVIL}.in").touch()
        image = Path(self.folder(), "image.tar")
        with tarfile.open(image, "w") as tar:
            tar.addfile(tarfile.TarInfo(f"../{EVIL}"))
        for command in (("certify", str(corpus), "--jobs", "1"), ("judge", str(package), "--self"),
                        ("image", "import", "evil", str(image))):
            with self.subTest(command[0]):
                ended = zygo.run_cli(*command)

                self.assertNotEqual(ended.code, 0)
                self.check_harmless(ended.stderr, lines=1)


class Records(ReplayTestCase):
    def test_name_all_that_is_needed(self) -> None:
        result, = self.results(ALIKE[1])
        record = result["record"]

        self.assertEqual(record["job"]["limits"]["wall_ms"], zygo.patient(ALIKE[1]).get("limits", {}).get("wall_ms", 10_000))
        self.assertEqual(set(record["digests"]), {"job", "source", "stdin", "files"})
        self.assertEqual(record["template"]["id"], result["template"])
        self.assertEqual(record["template"]["interpreter"], "/usr/bin/python3")
        self.assertRegex(record["template"]["interpreter_digest"], r"^sha256:[0-9a-f]{64}$")
        for name in ("zygo", "kernel", "machine"):
            self.assertTrue(record[name])
        self.assertEqual(record["seed"], 0)

    def test_are_only_in_results_that_were_asked_for_them(self) -> None:
        ended = zygo.run_cli("batch", "--quiet", stdin=zygo.lines_of(({"source": "1"}, {"source": "1", "record": True})))

        self.assertEqual(sorted("record" in result for result in zygo.results_of(ended.out)), [False, True])

    def test_are_of_run_with_what_it_read_from_stdin(self) -> None:
        folder = self.folder()
        Path(folder, "p.py").write_text("print(input())")
        ended = zygo.run_cli("run", "--json", "--record", str(Path(folder, "p.py")), stdin=b"hello\n")
        replayed = zygo.run_cli("replay", stdin=ended.out)

        self.assertEqual(json.loads(ended.out)["record"]["job"]["stdin"], "hello\n")
        self.assertEqual((replayed.code, replayed.stdout), (0, "job-1: same\n"))
        self.assertEqual(zygo.run_cli("run", "--record", str(Path(folder, "p.py"))).code, 2)

    def test_come_from_a_service_too(self) -> None:
        service = serve.Service("--log", "off")
        self.addCleanup(service.stop)
        answer = service.ask("POST", "/v1/jobs", {**ALIKE[1], "record": True})

        self.assertEqual(zygo.run_cli("replay", stdin=answer.body).stdout, "input: same\n")

    def test_that_do_not_fit_are_refused_before_anything_runs(self) -> None:
        fine, = self.results(ALIKE[1])
        job = fine["record"]["job"]
        for change, words in (({"source": "print(2)"}, "results.jsonl:2: record.digests.source: sha256:"),
                              ({"stdin": ""}, "results.jsonl:2: record.digests.stdin: expected none"),
                              ({"limits": {**job["limits"], "cpu_ms": 1}}, "results.jsonl:2: record.digests.job: sha256:"),
                              ({"limits": {"cpu": 1}}, "results.jsonl:2: record.job: unknown field limits.cpu"),
                              ({"files": {}}, "results.jsonl:2: record.digests.files: ")):
            with self.subTest(change=change):
                ended = self.replay(fine, {**fine, "record": {**fine["record"], "job": {**job, **change}}})

                self.assertEqual((ended.code, ended.out), (2, b""))
                self.assertIn(words, ended.stderr)

    def test_that_are_missing_are_told_how_to_be_had(self) -> None:
        result, = self.results(ALIKE[0])
        ended = self.replay({name: value for name, value in result.items() if name != "record"})

        self.assertEqual((ended.code, ended.out), (2, b""))
        self.assertIn('results.jsonl:1: record: required; run jobs with "record": true', ended.stderr)


if __name__ == "__main__":
    unittest.main()

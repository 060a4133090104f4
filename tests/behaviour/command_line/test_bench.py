"""`tools/bench`: a run has the shape its readers rely on, its page and pictures stand alone. No speed is asserted."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import host
import zygo
from zygo import ZygoTestCase

sys.path.insert(0, str(zygo.CHECKOUT / "tools"))
from benchmarks.pictures import page, write_pictures  # noqa: E402
from benchmarks.report import Section, text  # noqa: E402

BENCH = zygo.CHECKOUT / "tools/bench"
LIMIT_MODULE = zygo.BINARY.parent.parent / "lib/zygo/zygo_limit.so"
LITTLE = ("--quick", "--templates", "python", "--rounds", "1", "--jobs", "8", "--asks", "10", "--idle-asks", "2",
          "--programs", "32", "--subset", "1", "--batches", "1", "--starts", "1", "--loops", "1", "--cells", "1",
          "--steps", "2", "--nodes", "3")
ROWS = ("tiny", "latency", "arc", "reward", "serve", "data", "memory")
SVG = "{http://www.w3.org/2000/svg}"
RUN = {"cpu": "a <CPU>", "cpus": 2, "kernel": "6", "load": 0.1, "root": True, "zygo": "0", "level": "full",
       "when": "now", "quick": True}


def bench(*arguments: str, timeout: float = 120) -> zygo.Finished:
    command = [sys.executable, "-B", str(BENCH), "--zygo", str(zygo.BINARY), "--limit-module", str(LIMIT_MODULE)]
    return zygo.run_command([*command, *arguments], timeout=timeout)


def references(root: ElementTree.Element) -> list[str]:
    """Whatever in a document would make its reader load something, or run something."""
    found = [f"{element.tag} {name}={value}" for element in root.iter() for name, value in element.attrib.items()
             if name.rpartition("}")[2] in {"href", "src", "srcset", "data", "action"} or name.startswith("on")]
    tags = [(element.tag.rpartition("}")[2], element) for element in root.iter()]
    found += [tag for tag, _ in tags if tag in {"script", "link", "image", "use", "iframe", "object"}]
    styles = " ".join(element.text or "" for tag, element in tags if tag == "style")
    return found + re.findall(r"@import\S*|url\([^)]*\)", styles)


def parsed(document: str) -> ElementTree.Element:
    return ElementTree.fromstring(document.removeprefix("<!DOCTYPE html>\n"))


class ARun(ZygoTestCase):
    """One run, of as little as possible, for all of these tests."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if not LIMIT_MODULE.is_file():
            raise unittest.SkipTest(f"no {LIMIT_MODULE}: this build has no limit to compare with")
        host.adopt_orphans()
        holder = tempfile.TemporaryDirectory(prefix="behaviour-")
        cls.addClassCleanup(holder.cleanup)
        cls.out = Path(holder.name)
        cls.ended = bench("--rows", ",".join(ROWS), *LITTLE, "--json", "--html", str(cls.out / "page.html"),
                          "--svg", str(cls.out / "pictures"))
        (cls.out / "run.json").write_bytes(cls.ended.out)

    def document(self) -> dict[str, Any]:
        self.assertEqual(self.ended.code, 0, self.ended.stderr[-3000:] + self.ended.stdout[-3000:])
        return json.loads(self.ended.out)

    def test_names_the_machine_and_gives_every_row_in_order(self) -> None:
        document = self.document()

        self.assertEqual(set(document["run"]), set(RUN))
        self.assertEqual(list(dict.fromkeys(s["row"] for s in document["sections"])), [*ROWS, "goals"])

    def test_gives_records_that_share_their_keys_and_spreads_in_order(self) -> None:
        for section in self.document()["sections"]:
            with self.subTest(f"{section['row']} {section['part']}"):
                self.assertEqual(set(section), {"row", "part", "title", "records", "problems", "skipped"})
                self.assertEqual(section["problems"], [])
                self.assertTrue(section["records"] or section["skipped"])
                self.assertLessEqual(len({tuple(record) for record in section["records"]}), 1)
                for value in [v for record in section["records"] for v in record.values() if isinstance(v, dict)]:
                    order = ("min", "median", "max") if "median" in value else ("p50", "p99", "max")
                    self.assertEqual(set(value), set(order))
                    self.assertEqual([value[key] for key in order], sorted(value.values()))

    def test_compares_what_was_measured_in_one_turn(self) -> None:
        (one_core, *_) = self.document()["sections"][0]["records"]

        self.assertEqual(one_core["cores"], 1)
        # With a single round the ratio is that of the two rates.
        ratio = one_core["zygo_jobs/s"]["median"] / one_core["limit_jobs/s"]["median"]
        self.assertAlmostEqual(one_core["zygo/limit"]["median"], ratio)

    def test_its_page_is_well_formed_and_loads_nothing(self) -> None:
        self.document()
        root = parsed((self.out / "page.html").read_text(encoding="utf-8"))

        self.assertEqual(references(root), [])
        charts = [element for element in root.iter("svg") if element.get("class") == "chart"]
        self.assertGreaterEqual(len(charts), len(ROWS) - 2)  # `serve` has none; another may have been skipped
        for chart in charts:
            self.assertTrue(chart.get("aria-label"))
            drawn = [e for e in chart.iter() if e.tag in ("rect", "circle", "path") and e.get("class", "")[:1] == "s"]
            self.assertTrue(drawn)

    def test_its_pictures_stand_alone(self) -> None:
        self.document()
        pictures = sorted((self.out / "pictures").glob("*.svg"))

        self.assertLessEqual({"rates", "latency", "arc", "reward"}, {picture.stem for picture in pictures})
        for picture in pictures:
            with self.subTest(picture.name):
                root = ElementTree.fromstring(picture.read_text(encoding="utf-8"))
                self.assertEqual(root.tag, f"{SVG}svg")
                self.assertEqual(references(root), [])
                self.assertIn("prefers-color-scheme:dark", root.findtext(f"{SVG}style") or "")
                self.assertGreater(float(root.get("height", "0")), 0)

    def test_can_be_shown_again_without_measuring(self) -> None:
        document = self.document()
        again = bench("--from", str(self.out / "run.json"), "--json", timeout=20)
        tables = bench("--from", str(self.out / "run.json"), timeout=20)

        self.assertEqual(json.loads(again.out), document)
        for section in document["sections"]:
            self.assertIn(f"\n{section['row']}: {section['title']}\n", tables.stdout)

    def test_leaves_no_process(self) -> None:
        self.document()
        self.assertEqual([host.name_of(pid) for pid in host.descendants(os.getpid())], [])


class APicture(unittest.TestCase):
    """Drawn from records alone."""

    def test_takes_text_of_any_kind(self) -> None:
        ugly = "<script>alert('&')</script> \x1b[31m\x00\ud800 \"quoted\""
        section = Section("mix", ugly, part="at once", problems=[ugly], skipped=[ugly], records=[
            {"cells": 2, "jobs": 9, "alone_jobs/s": {"median": 2.0, "min": 1.0, "max": 3.0},
             "mixed_jobs/s": {"median": 0.0, "min": 0.0, "max": 0.0}, "mixed/alone": {"median": 0, "min": 0, "max": 0}},
        ])
        root = parsed(page({**RUN, "zygo": ugly}, [section]).encode("utf-8", "strict").decode())

        self.assertEqual(references(root), [])
        self.assertIn("<script>alert('&')</script>", "".join(root.itertext()))

    def test_is_drawn_for_one_value_and_for_extremes(self) -> None:
        for values in ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (-0.5, 2.0, 9.0), (1e-6, 1.0, 1e6)):
            with self.subTest(values):
                tails = dict(zip(("p50", "p99", "max"), values, strict=True))
                record = {"how": "2 x cores", "kill_ms": tails, "usage_ms": tails, "heard_ms": tails}
                root = parsed(page(RUN, [Section("deadline", "late", records=[record])]))

                places = [float(value) for element in root.iter() for name, value in element.attrib.items()
                          if name in ("x", "cx", "x1", "x2", "width")]
                self.assertTrue(all(-1 <= place <= 1000 for place in places), places)

    def test_of_a_row_that_was_not_measured_is_not_written(self) -> None:
        section = Section("tiny", "not measured", problems=["no"])
        said = io.StringIO()
        with tempfile.TemporaryDirectory(prefix="behaviour-") as folder:
            with contextlib.redirect_stderr(said):
                self.assertEqual(write_pictures(Path(folder), RUN, [section]), [])
            self.assertEqual(os.listdir(folder), [])
        self.assertIn("rates.svg is not written: row tiny was not measured", said.getvalue())

    def test_says_in_words_what_is_doubtful_and_what_is_missing(self) -> None:
        tables = text(RUN, [Section("peers", "peers", problems=["is odd"], skipped=["bwrap is not installed"])])

        self.assertIn("  ! is odd", tables)
        self.assertIn("  - skipped: bwrap is not installed", tables)


class TheRouter(ZygoTestCase):
    def test_has_its_rate_what_it_adds_to_a_job_and_a_pilots_first_result(self) -> None:
        ended = bench("--rows", "router", *LITTLE, "--json")

        self.assertEqual(ended.code, 0, ended.stderr)
        sections = {section["part"]: section for section in json.loads(ended.stdout)["sections"] if section["row"] == "router"}
        self.assertEqual(list(sections), ["rate", "latency", "join", "arc"])
        for part, section in sections.items():
            with self.subTest(part):
                self.assertEqual((section["problems"], section["skipped"]), ([], []))
        self.assertEqual([record["jobs"] for record in sections["rate"]["records"]], [8 * 32])
        self.assertEqual([record["where"] for record in sections["latency"]["records"]], ["one CPU", "all CPUs"])
        self.assertGreater(sections["arc"]["records"][0]["routed/embedded"]["median"], 0)


class TheSessions(ZygoTestCase):
    FIELDS = {
        "step": ["state", "own_mb", "steps", "job_ms", "step_ms", "added_ms", "put_back_ms", "kept_ms", "next_ms",
                 "next_added_ms", "next_kept_ms", "paused_ms", "paused_job_ms", "paused_added_ms"],
        "timeout": ["steps_kept", "rounds", "before_ms", "stopped_ms", "after_ms", "after/before"],
        "try": ["branches", "keep", "batch_ms", "try_ms", "try/batch"],
        "nodes": ["nodes", "own_page_bytes", "beyond_bytes", "processes_before", "processes", "step_ms"],
        "keep": ["state", "way", "keeps", "keep_ms", "go_on_ms", "both_ms"],
    }

    def test_have_their_parts_and_say_which_ways_to_keep_a_state_are_missing(self) -> None:
        ended = bench("--rows", "sessions", *LITTLE, "--json")

        self.assertEqual(ended.code, 0, ended.stderr)
        sections = {section["part"]: section for section in json.loads(ended.stdout)["sections"] if section["row"] == "sessions"}
        self.assertEqual(list(sections), list(self.FIELDS))
        for part, section in sections.items():
            with self.subTest(part):
                self.assertEqual(section["problems"], [])
                self.assertEqual({tuple(record) for record in section["records"]}, {tuple(self.FIELDS[part])})
        self.assertEqual([record["steps"] for record in sections["step"]["records"]], [2] * 4)
        (nodes,) = sections["nodes"]["records"]
        self.assertEqual(nodes["nodes"], 3)
        told = [record["way"] for record in sections["keep"]["records"]] + sections["keep"]["skipped"]
        for way in ("a node of zygo", "copy.deepcopy", "dill", "CRIU", "os.fork"):
            self.assertTrue([one for one in told if one.startswith(way)], (way, told))


class ACommandLine(ZygoTestCase):
    def test_help_has_a_line_for_each_row_and_examples(self) -> None:
        ended = bench("--help", timeout=20)

        self.assertEqual(ended.code, 0)
        for row in (*ROWS, "cells", "cold", "determinism", "drift", "mix", "deadline", "counts", "peers", "router", "sessions"):
            self.assertRegex(ended.stdout, rf"(?m)^  {row} +\S.{{20,}}$")
        self.assertIn("examples:", ended.stdout)

    def test_mistakes_are_named_before_anything_is_measured(self) -> None:
        mistakes = {
            "'warp' is none of": ("--rows", "warp"), "'0' is not a positive number": ("--jobs", "0"),
            "no program at": ("--zygo", "/nowhere/zygo"), "no limit module at": ("--limit-module", "/nowhere.so"),
            "--cpu 4095 is none of": ("--cpu", "4095"), "/nowhere.json": ("--from", "/nowhere.json"),
        }
        for complaint, arguments in mistakes.items():
            with self.subTest(arguments):
                ended = bench(*arguments, timeout=20)
                self.assertEqual(ended.code, 2)
                self.assertIn(complaint, ended.stderr)


if __name__ == "__main__":
    unittest.main()

"""`zygo doctor`: what is there, what is in force, what is lost, and the cure in the language of the place."""

from __future__ import annotations

import json
import os
import unittest
from typing import Any

import zygo
from zygo import ZygoTestCase

LEVELS = ("full", "contained", "minimal")
LAYERS = {"userns", "pidns", "mntns", "netns", "ipcns", "utsns", "cgroupns", "cgroup.memory", "cgroup.pids",
          "cgroup.cpu", "landlock", "seccomp", "uid", "caps", "nnp", "rlimits", "fds", "scratch"}


def checkup(*options: str) -> dict[str, Any]:
    return json.loads(zygo.run_cli("doctor", "--json", *options).out)


class Doctor(ZygoTestCase):
    def test_says_everything_of_each_layer(self) -> None:
        report = checkup()

        self.assertLessEqual(LAYERS | {"landlock.scope", "seccomp.notify", "ptrace.read"}, set(report["layers"]))
        for name, layer in report["layers"].items():
            with self.subTest(name):
                self.assertEqual(set(layer), {"available", "kernel", "usable", "in_force", "why", "lost", "cure"})
                self.assertEqual(layer["available"], layer["usable"])
                self.assertEqual(bool(layer["cure"]), not layer["available"])
                self.assertTrue(layer["why"] and layer["lost"])
                self.assertTrue(layer["kernel"] or not layer["usable"], "usable, but not in the kernel")
                self.assertTrue(layer["usable"] or not layer["in_force"], "in force, but not usable")

    def test_says_which_levels_there_are_and_what_the_others_lack(self) -> None:
        report = checkup()

        self.assertEqual(list(report["levels"]), list(LEVELS))
        for level, answer in report["levels"].items():
            with self.subTest(level):
                self.assertEqual(answer["available"], answer["missing"] == [])
                self.assertTrue(all(not report["layers"][name]["available"] for name in answer["missing"]))
        there = [level for level in LEVELS if report["levels"][level]["available"]]
        self.assertEqual(report["level"], there[0] if there else None)

    def test_what_it_calls_in_force_is_what_jobs_get(self) -> None:
        for level in [name for name, answer in checkup()["levels"].items() if answer["available"]]:
            with self.subTest(level):
                report = checkup("--level", level)
                self.assertEqual(report["running"], level)
                promised = {name for name in LAYERS if report["layers"][name]["in_force"]}

                result = zygo.run_job("print(1)", "--level", level)

                self.assertEqual(result["level"], level)
                self.assertEqual(set(result["enforced"]), promised)

    def test_fits_a_hundred_columns(self) -> None:
        for options in ((), ("--level", "contained"), ("--level", "minimal")):
            with self.subTest(options):
                ended = zygo.run_cli("doctor", *options)
                self.assertLessEqual(max(map(len, ended.stdout.splitlines())), 100)

    def test_names_what_is_required_and_not_there(self) -> None:
        report = checkup("--level", "minimal")
        if report["running"] is None:
            self.skipTest("this host does not give level minimal (see `zygo doctor`)")

        ended = zygo.run_cli("doctor", "--level", "minimal", "--require", "minimal,netns")

        self.assertEqual(ended.code, 1)
        self.assertIn("layer netns", ended.stderr)
        self.assertEqual(zygo.run_cli("doctor", "--level", "minimal", "--require", "minimal,landlock").code, 0)

    def test_an_ordinary_user_is_told_of_delegation_or_root(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("needs root to become an ordinary user")
        ended = zygo.run_command(["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--inh-caps=-all",
                                  "--bounding-set=-all", str(zygo.BINARY), "doctor", "--json"])
        if not ended.out:
            self.skipTest("an ordinary user cannot run the binary where it lies")
        report = json.loads(ended.out)

        self.assertFalse(report["place"]["root"])
        self.assertFalse(report["layers"]["uid"]["available"])
        self.assertRegex(report["layers"]["uid"]["cure"], "root|--user 0|runAsUser: 0")

    def test_help_has_examples(self) -> None:
        ended = zygo.run_cli("doctor", "--help")

        self.assertEqual(ended.code, 0)
        self.assertIn("docker run --rm --entrypoint zygo IMAGE doctor", ended.stdout)


if __name__ == "__main__":
    unittest.main()

"""The files that `zygo pilot --print` prints do what they say: shells run them, Kubernetes' schemas accept them.

They lie in tests/data/cluster, where a unit test compares them with what is printed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import zygo
from zygo import ZygoTestCase

try:
    import yaml
except ImportError:
    yaml = None

FILES = zygo.CHECKOUT / "tests/data/cluster"
PROGRAM = "/opt/zygo/bin/zygo"
PACKAGE = "kubernetes-models@5.1.0"  # a class for each kind, which validates by the schema of Kubernetes 1.3x
FALLBACK = "# Without the adapter"

# Takes part as a pilot would: says that it has begun, with its arguments, and that SIGTERM came.
PILOT = """#!/usr/bin/env -S /usr/bin/python3
import os, signal, sys
log = os.open({log!r}, os.O_WRONLY)
def say(*words):
    os.write(log, (" ".join(words) + "\\n").encode())
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # until it is waited for
signal.alarm(60)  # nobody ends it where a test fails
say("began", str(os.getpid()), *sys.argv[1:])
if {status}:
    sys.exit({status})
signal.sigwait([signal.SIGTERM])
say("drained")
"""
SSH = """#!/bin/sh
for command; do :; done
exec sh -c "$command"
"""
VALIDATOR = """
import {readFileSync} from "node:fs";
const told = [];
for (const object of JSON.parse(readFileSync("objects.json"))) {
  const kinds = await import(`kubernetes-models/${object.apiVersion}`);
  try { new kinds[object.kind](object).validate(); told.push("good"); } catch (error) { told.push(error.message); }
}
console.log(JSON.stringify(told));
"""


class Scripts(ZygoTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="behaviour-engines-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        log = self.place / "log"
        os.mkfifo(log)
        self.log: IO[str] = os.fdopen(os.open(log, os.O_RDWR), "r")
        self.addCleanup(self.log.close)

    def write(self, name: str, text: str) -> Path:
        path = self.place / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def start(self, name: str, status: int = 0) -> subprocess.Popen[bytes]:
        """The printed script, with pilots that end at once with `status` unless it is 0."""
        pilot = self.write("zygo", PILOT.format(log=str(self.place / "log"), status=status))
        self.write("ssh", SSH)
        script = self.write("script", (FILES / name).read_text().replace(PROGRAM, str(pilot)))
        process = subprocess.Popen(["/bin/sh", script], env={"PATH": f"{self.place}:/usr/bin:/bin"}, cwd=self.place,
                                   stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def lines(self, count: int) -> list[list[str]]:
        return [self.log.readline().split() for _ in range(count)]

    def test_the_script_for_slurm_becomes_the_pilot(self) -> None:
        process = self.start("slurm.sh")
        ((began, pid, *words),) = self.lines(1)

        self.assertEqual((began, int(pid)), ("began", process.pid), "a signal to the batch script reaches the pilot")
        self.assertEqual(words[:5], ["pilot", "--join", "https://one.example:8443", "--join", "https://two.example"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual((self.lines(1), process.wait()), ([["drained"]], 0))

    def test_pilots_of_ssh_drain_when_their_script_is_ended(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                process = self.start("ssh.sh")
                self.assertEqual([line[0] for line in self.lines(2)], ["began", "began"])
                process.send_signal(number)
                self.assertEqual((self.lines(2), process.wait()), ([["drained"], ["drained"]], 0))

    def test_pilots_of_ssh_drain_when_their_script_is_killed(self) -> None:
        process = self.start("ssh.sh")
        self.lines(2)
        process.kill()

        self.assertEqual(self.lines(2), [["drained"], ["drained"]])

    def test_the_script_for_ssh_tells_that_a_pilot_failed(self) -> None:
        process = self.start("ssh.sh", status=3)
        self.lines(2)

        self.assertEqual(process.wait(), 1)


class Manifests(ZygoTestCase):
    def setUp(self) -> None:
        if yaml is None:
            self.skipTest("python3-yaml is not installed: run tools/setup")

    def objects(self) -> Iterator[Any]:
        return yaml.safe_load_all((FILES / "kubernetes.yaml").read_text())

    def of_kind(self, kind: str) -> Any:
        (found,) = (each for each in self.objects() if each and each["kind"] == kind)
        return found

    def fallback(self) -> Any:
        """The autoscaler that is printed as a comment."""
        text = (FILES / "kubernetes.yaml").read_text()
        lines = text[text.index(FALLBACK):].splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("# apiVersion"))
        return yaml.safe_load("\n".join(line.removeprefix("# ") for line in lines[begin:]))

    def test_pods_meet_the_restricted_standard(self) -> None:
        pod = self.of_kind("Deployment")["spec"]["template"]["spec"]
        (container,) = pod["containers"]

        self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
        self.assertGreater(pod["securityContext"]["runAsUser"], 0)
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                        "capabilities": {"drop": ["ALL"]}})
        for name in ("hostNetwork", "hostPID", "hostIPC", "hostUsers"):
            self.assertNotIn(name, pod)
        self.assertLessEqual({kind for volume in pod["volumes"] for kind in volume}, {"name", "emptyDir", "secret"})
        self.assertIs(pod["automountServiceAccountToken"], False)

    def test_a_pod_has_its_files_and_time_to_drain(self) -> None:
        pod = self.of_kind("Deployment")["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        words = container["args"]

        (files,) = (mount for mount in container["volumeMounts"] if mount.get("readOnly"))
        self.assertEqual(Path(words[words.index("--token-file") + 1]).parent, Path(files["mountPath"]))
        grace = int(words[words.index("--grace") + 1].removesuffix("s"))
        self.assertGreater(pod["terminationGracePeriodSeconds"], grace)
        self.assertEqual(container["resources"]["requests"].items() - container["resources"]["limits"].items(), set())

    def test_autoscalers_and_policy_speak_of_the_pilots(self) -> None:
        deployment = self.of_kind("Deployment")
        labels = deployment["spec"]["template"]["metadata"]["labels"]

        self.assertEqual(deployment["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(self.of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"], labels)
        self.assertEqual(self.of_kind("NetworkPolicy")["spec"]["ingress"], [])
        for scaler in (self.of_kind("HorizontalPodAutoscaler"), self.fallback()):
            self.assertEqual(scaler["spec"]["scaleTargetRef"],
                             {"apiVersion": deployment["apiVersion"], "kind": deployment["kind"],
                              "name": deployment["metadata"]["name"]})
            self.assertEqual(scaler["spec"]["minReplicas"], deployment["spec"]["replicas"])

    def test_the_schemas_of_kubernetes_accept_all_objects(self) -> None:
        if absent := [name for name in ("node", "npm") if not shutil.which(name)]:
            self.skipTest(f"no {' and no '.join(absent)} in PATH (apt-get install nodejs npm)")
        objects = [each for each in self.objects() if each] + [self.fallback()]
        wrong = json.loads(json.dumps(objects[0]))
        wrong["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = "60s"
        with tempfile.TemporaryDirectory(prefix="behaviour-engines-") as folder:
            place = Path(folder)
            (place / "package.json").write_text('{"private": true, "type": "module"}\n')
            (place / "objects.json").write_text(json.dumps([*objects, wrong]))
            (place / "validate.mjs").write_text(VALIDATOR)
            installed = self.run_in(place, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                                    "--prefer-offline", "--fetch-retries=1", PACKAGE)
            if installed.returncode:
                self.skipTest(f"npm could not install {PACKAGE}: {installed.stderr[-500:]}")
            told = self.run_in(place, "node", "validate.mjs")

        *good, bad = json.loads(told.stdout)
        self.assertEqual(good, ["good"] * len(objects))
        self.assertIn("terminationGracePeriodSeconds must be integer", bad)

    @staticmethod
    def run_in(place: Path, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120 * zygo.PATIENCE)


if __name__ == "__main__":
    unittest.main()

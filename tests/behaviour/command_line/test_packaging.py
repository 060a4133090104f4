"""What zygo is shipped by: the installed tree, the container image, manifests and units say what they must.

The image itself takes minutes and a mirror of Debian's: ZYGO_TEST_CONTAINER=1 builds it and runs it on every level
(tools/try-container).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

import zygo
from serve import Service
from zygo import CHECKOUT, ZygoTestCase

try:
    import yaml
except ImportError:
    yaml = None

FILES = CHECKOUT / "images/service"
BUILD = zygo.BINARY.parent.parent
VARIABLE = re.compile(r"ZYGO_[A-Z_]*[A-Z]")
NOT_OPTIONS = {"ZYGO_HOME"}


def variables_of_the_service() -> set[str]:
    """Those of its manual page, which is made of its options."""
    _, _, section = zygo.run_cli("manual", "zygo-serve").stdout.partition(".SH ENVIRONMENT")
    return set(VARIABLE.findall(section.partition(".SH ")[0]))


class TheInstalledTree(ZygoTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if not (BUILD / "cmake_install.cmake").is_file() or not shutil.which("cmake"):
            raise unittest.SkipTest(f"{BUILD} is no build folder, or there is no cmake")
        if not (BUILD / "share/stamp").is_file():
            raise unittest.SkipTest(f"the manual pages are not made: cmake --build {BUILD} --target zygo_share")

    def install(self, prefix: str, **extra: str) -> None:
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", prefix], check=True, timeout=120,
                       env={**os.environ, **extra}, stdout=subprocess.DEVNULL)

    def setUp(self) -> None:
        self.prefix = self.folder() / "opt/elsewhere"
        self.install(str(self.prefix))
        for folder in (self.prefix.parent.parent, self.prefix.parent):
            folder.chmod(0o755)

    def test_the_program_finds_its_parts_wherever_the_prefix_is(self) -> None:
        link = self.prefix.parent / "zygo"
        link.symlink_to(self.prefix / "bin/zygo")

        for program in (self.prefix / "bin/zygo", link):
            with self.subTest(program):
                ended = zygo.run_command([str(program), "run", "--require", "minimal", "-"], stdin=b"print(6 * 7)", cwd="/")
                self.assertEqual((ended.code, ended.stdout), (0, "42\n"), ended.stderr)

    def test_it_needs_nothing_of_the_build_or_the_checkout(self) -> None:
        """Neither file nor directory of theirs is opened, in any process."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed, and nothing but this needs it")
        trace = self.prefix.parent / "trace"

        ended = zygo.run_command(["strace", "-f", "-qq", "-e", "trace=%file", "-o", str(trace), str(self.prefix / "bin/zygo"),
                                  "template", "list"], cwd="/")

        self.assertEqual(ended.code, 0, ended.stderr)
        named = [line for line in trace.read_text().splitlines() if str(CHECKOUT) in line or str(BUILD) in line]
        self.assertEqual(named, [])

    def test_pages_completions_units_and_documents_are_there(self) -> None:
        for name in ("share/man/man1/zygo.1", "share/man/man1/zygo-serve.1", "share/zsh/site-functions/_zygo",
                     "share/bash-completion/completions/zygo", "share/fish/vendor_completions.d/zygo.fish",
                     "share/doc/zygo/README.md", "share/doc/zygo/LICENSE", "share/doc/zygo/docs/http.md",
                     "lib/systemd/system/zygo.socket", "lib/zygo/zygo-launch", "lib/zygo/exec/zygo-exec",
                     "lib/zygo/python/bootstrap.py", "lib/zygo/runtimes/cpp.json"):
            with self.subTest(name):
                self.assertTrue((self.prefix / name).is_file())

    def test_the_unit_starts_the_program_that_was_installed(self) -> None:
        unit = (self.prefix / "lib/systemd/system/zygo.service").read_text()

        self.assertIn(f"ExecStart={self.prefix}/bin/zygo serve\n", unit)

    def test_a_package_is_staged_by_destdir(self) -> None:
        stage = self.folder()

        self.install("/usr", DESTDIR=str(stage))

        self.assertIn("ExecStart=/usr/bin/zygo serve\n", (stage / "usr/lib/systemd/system/zygo.service").read_text())
        self.assertTrue(os.access(stage / "usr/bin/zygo", os.X_OK))


class TheDockerfile(ZygoTestCase):
    def setUp(self) -> None:
        text = (FILES / "Dockerfile").read_text().replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.instructions = [tuple(line.split(None, 1)) for line in lines]
        last = max(number for number, (name, _) in enumerate(self.instructions) if name == "FROM")
        self.final = self.instructions[last:]

    def values(self, name: str) -> list[str]:
        return [value for found, value in self.final if found == name]

    def test_the_base_is_chosen_by_an_argument(self) -> None:
        self.assertEqual(self.instructions[0], ("ARG", "BASE=debian:12"))
        self.assertEqual({value.split()[0] for name, value in self.instructions if name == "FROM"}, {"${BASE}"})

    def test_it_runs_the_service_as_root_and_asks_it_for_its_health(self) -> None:
        self.assertEqual(self.values("USER"), [])
        self.assertEqual((self.values("ENTRYPOINT"), self.values("CMD")), (['["zygo"]'], ['["serve"]']))
        self.assertIn('CMD ["zygo", "health", "--ready", "--quiet"]', self.values("HEALTHCHECK")[0])
        self.assertEqual(self.values("EXPOSE"), ["8000"])

    def test_what_only_the_operator_can_say_is_not_said(self) -> None:
        """Neither that less isolation will do, nor that anyone may run programs."""
        said = set(VARIABLE.findall(" ".join(self.values("ENV"))))

        self.assertEqual(said & {"ZYGO_REQUIRE", "ZYGO_LEVEL", "ZYGO_ALLOW_ANYONE", "ZYGO_TOKENS"}, set())
        self.assertIn("ZYGO_LISTEN", said)

    def test_the_compiler_stays_behind(self) -> None:
        self.assertEqual(self.values("COPY"), ["--from=build /packages /tmp/packages", "--from=build /install/ /"])
        self.assertNotIn("tools/setup", " ".join(self.values("RUN")))

    def test_each_layer_depends_on_all_that_it_reads(self) -> None:
        self.assertNotIn("--mount", " ".join(self.values("RUN")), "podman's cache does not see what is mounted")


class Manifests(ZygoTestCase):
    def setUp(self) -> None:
        if yaml is None:
            self.skipTest("python3-yaml is not installed: run tools/setup")

    def read(self, name: str) -> Any:
        return yaml.safe_load((FILES / name).read_text())

    def pod(self) -> Any:
        return self.read("kubernetes/deployment.yaml")["spec"]["template"]

    def container(self) -> Any:
        (container,) = self.pod()["spec"]["containers"]
        return container

    def environment(self) -> dict[str, str]:
        return {entry["name"]: entry["value"] for entry in self.container()["env"]}

    def test_every_variable_that_is_set_somewhere_is_an_option(self) -> None:
        known = variables_of_the_service()

        self.assertGreater(len(known), 20)
        for path in (CHECKOUT / "docs/deploy.md", *FILES.rglob("*")):
            if path.is_file() and path.suffix != ".txt":
                with self.subTest(path):
                    self.assertLessEqual(set(VARIABLE.findall(path.read_text())) - NOT_OPTIONS, known)

    def test_the_pod_meets_the_restricted_standard(self) -> None:
        pod, container = self.pod()["spec"], self.container()

        self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
        self.assertGreater(pod["securityContext"]["runAsUser"], 0)
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                        "capabilities": {"drop": ["ALL"]}})
        for name in ("hostNetwork", "hostPID", "hostIPC", "hostUsers"):
            self.assertNotIn(name, pod)
        self.assertLessEqual({kind for volume in pod["volumes"] for kind in volume}, {"name", "emptyDir", "secret"})
        self.assertIs(pod["automountServiceAccountToken"], False)
        labels = self.read("kubernetes/namespace.yaml")["metadata"]["labels"]
        self.assertEqual(labels["pod-security.kubernetes.io/enforce"], "restricted")

    def test_the_pod_accepts_the_level_that_such_a_pod_has_and_knows_its_callers(self) -> None:
        environment = self.environment()

        self.assertEqual(environment["ZYGO_REQUIRE"], "minimal")
        (tokens,) = (mount for mount in self.container()["volumeMounts"] if mount["name"] == "tokens")
        self.assertEqual(environment["ZYGO_TOKENS"], tokens["mountPath"] + "/tokens")
        self.assertNotIn("ZYGO_ALLOW_ANYONE", environment)

    def test_the_pod_can_write_where_jobs_have_their_scratch(self) -> None:
        mounts = {mount["mountPath"] for mount in self.container()["volumeMounts"] if not mount.get("readOnly")}

        self.assertEqual(mounts, {"/tmp", "/var/lib/zygo"})

    def test_the_pod_is_asked_for_its_health_where_it_answers(self) -> None:
        container = self.container()

        self.assertEqual(container["ports"], [{"name": "http", "containerPort": 8000}])
        paths = {name: container[name]["httpGet"]["path"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
        self.assertEqual(paths, {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"})
        self.assertEqual({container[name]["httpGet"]["port"] for name in paths}, {"http"})
        (service,) = self.read("kubernetes/service.yaml")["spec"]["ports"]
        self.assertEqual(service["targetPort"], "http")

    def test_the_pod_has_time_to_end(self) -> None:
        """What runs has its grace, after the pause in which the pod leaves the endpoints."""
        pause = int(self.container()["lifecycle"]["preStop"]["exec"]["command"][1])
        grace = int(self.environment()["ZYGO_GRACE"].removesuffix("s"))

        self.assertGreater(self.pod()["spec"]["terminationGracePeriodSeconds"], pause + grace)

    def test_the_pod_has_limits_and_no_more_workers_than_cores(self) -> None:
        resources = self.container()["resources"]

        self.assertEqual(set(resources["requests"]), {"cpu", "memory"})
        self.assertLessEqual({"cpu", "memory"}, set(resources["limits"]))
        self.assertEqual(self.environment()["ZYGO_WORKERS"], resources["limits"]["cpu"])

    def test_pods_are_added_when_jobs_wait(self) -> None:
        scaler = self.read("kubernetes/hpa.yaml")["spec"]
        deployment = self.read("kubernetes/deployment.yaml")

        self.assertEqual(scaler["scaleTargetRef"], {"apiVersion": deployment["apiVersion"], "kind": deployment["kind"],
                                                    "name": deployment["metadata"]["name"]})
        (metric,) = scaler["metrics"]
        self.assertEqual((metric["type"], metric["pods"]["target"]["type"]), ("Pods", "AverageValue"))
        documented = (CHECKOUT / "docs/http.md").read_text()
        self.assertIn(f"`{metric['pods']['metric']['name']}`", documented)
        self.assertLess(int(metric["pods"]["target"]["averageValue"]), int(self.environment()["ZYGO_QUEUE"]))

    def test_all_objects_speak_of_the_same_pods(self) -> None:
        labels = self.pod()["metadata"]["labels"]

        self.assertEqual(self.read("kubernetes/deployment.yaml")["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(self.read("kubernetes/service.yaml")["spec"]["selector"], labels)
        self.assertEqual(self.read("kubernetes/disruption.yaml")["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(self.read("kubernetes/network.yaml")["spec"]["podSelector"]["matchLabels"], labels)
        listed = set(self.read("kubernetes/kustomization.yaml")["resources"])
        there = {path.name for path in (FILES / "kubernetes").glob("*.yaml")}
        self.assertEqual(there - listed, {"kustomization.yaml", "podmonitor.yaml"})

    def test_the_pod_calls_nobody(self) -> None:
        policy = self.read("kubernetes/network.yaml")["spec"]

        self.assertEqual((sorted(policy["policyTypes"]), policy["egress"]), (["Egress", "Ingress"], []))

    def test_the_compose_file_is_reached_from_this_host_by_those_with_a_token(self) -> None:
        file = self.read("compose.yaml")
        service = file["services"]["zygo"]

        self.assertEqual(set(file), {"services", "volumes", "secrets"}, "docker-compose 1.29 (Debian 12) knows no others")
        self.assertEqual(service["environment"]["ZYGO_REQUIRE"], "contained")
        self.assertEqual(service["environment"]["ZYGO_TOKENS"], f"/run/secrets/{service['secrets'][0]}")
        self.assertEqual(service["ports"], ["127.0.0.1:8000:8000"])
        self.assertTrue((FILES / service["build"]["context"] / service["build"]["dockerfile"]).is_file())
        self.assertNotIn("privileged", service)
        self.assertTrue(service["read_only"] and service["mem_limit"] and service["pids_limit"])
        grace, most = (int(value.removesuffix("s")) for value in (service["environment"]["ZYGO_GRACE"],
                                                                  service["stop_grace_period"]))
        self.assertLess(grace, most)


class Monitoring(ZygoTestCase):
    """Rules and dashboard ask for nothing that the service does not tell."""

    def metrics_of(self, text: str) -> set[str]:
        return {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\b(?:zygo|process)_[a-z_]+", text)}

    def told(self) -> set[str]:
        """By a service and by a router."""
        told: set[str] = set()
        for command in ("serve", "route"):
            service = Service("--log", "off", command=command)
            self.addCleanup(service.stop)
            told |= set(re.findall(r"^# TYPE (\S+)", service.ask("GET", "/metrics").body.decode(), re.MULTILINE))
        return told

    def test_every_metric_that_is_asked_for_is_told(self) -> None:
        told = self.told()
        for name in ("alerts.yaml", "dashboard.json"):
            with self.subTest(name):
                asked = self.metrics_of((FILES / "monitoring" / name).read_text())
                self.assertGreater(len(asked), 5)
                self.assertEqual(asked - told, set())

    def test_every_metric_of_the_service_is_on_the_dashboard_or_is_named_here(self) -> None:
        elsewhere = {"zygo_connections", "zygo_session_steps", "process_open_fds", "process_start_time_seconds"}
        shown = self.metrics_of((FILES / "monitoring/dashboard.json").read_text())

        self.assertEqual(self.told() - shown, elsewhere)

    def test_each_panel_has_a_place_and_a_unit(self) -> None:
        panels = json.loads((FILES / "monitoring/dashboard.json").read_text())["panels"]

        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
        self.assertEqual(len(places), len(set(places)))
        for panel in panels:
            if panel["type"] == "row":
                continue
            self.assertTrue(panel["title"] and panel["fieldConfig"]["defaults"]["unit"] and panel["targets"])

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian package prometheus)")
    def test_promtool_accepts_the_rules(self) -> None:
        ended = zygo.run_command(["promtool", "check", "rules", str(FILES / "monitoring/alerts.yaml")])

        self.assertEqual(ended.code, 0, ended.stderr)


class TheUnits(ZygoTestCase):
    # Each answers a job's call before zygo's own filter can name it, or takes a layer away.
    BREAKING = ("RestrictNamespaces", "SystemCallFilter", "ProtectKernelTunables", "ProtectHostname", "ProtectProc",
                "ProcSubset", "RestrictAddressFamilies", "LockPersonality", "MemoryDenyWriteExecute", "RestrictRealtime",
                "RestrictSUIDSGID", "SystemCallArchitectures", "ProtectControlGroups", "DynamicUser", "User")

    def settings(self) -> dict[str, str]:
        lines = (FILES / "zygo.service").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    def test_the_unit_keeps_what_level_full_is_made_of(self) -> None:
        settings = self.settings()

        self.assertEqual((settings["Type"], settings["Delegate"], settings["OOMPolicy"]), ("notify", "yes", "continue"))
        self.assertEqual(set(settings) & set(self.BREAKING), set())
        self.assertTrue(settings["CapabilityBoundingSet"].startswith("~"))

    def test_systemd_understands_them(self) -> None:
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        folder = self.folder()
        unit = (FILES / "zygo.service").read_text().replace("/usr/local/bin/zygo", "/bin/true")
        for name, text in (("zygo.service", unit), ("zygo.socket", (FILES / "zygo.socket").read_text())):
            (folder / name).write_text("".join(line for line in text.splitlines(keepends=True)
                                               if not line.startswith("Documentation=")))

        ended = zygo.run_command(["systemd-analyze", "verify", "--man=no", str(folder / "zygo.service"),
                                  str(folder / "zygo.socket")])

        said = [line for line in ended.stderr.splitlines() if "zygo" in line]
        self.assertEqual((said, ended.code), ([], 0), ended.stderr)


class TheImage(ZygoTestCase):
    def test_is_built_and_runs_on_every_level(self) -> None:
        if os.environ.get("ZYGO_TEST_CONTAINER") != "1":
            self.skipTest("builds an image, which takes minutes and a mirror: ZYGO_TEST_CONTAINER=1, or tools/try-container")
        ended = zygo.run_command([str(CHECKOUT / "tools/try-container")], timeout=3000)
        if ended.code == 77:
            self.skipTest(ended.stderr.strip())

        self.assertEqual(ended.code, 0, ended.stderr)
        for level in ("full", "contained", "minimal"):
            self.assertRegex(ended.stdout, rf"(?m)^{level}: healthy, \"OK 42 {level}\"")


if __name__ == "__main__":
    unittest.main()

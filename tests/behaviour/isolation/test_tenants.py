"""Tenants: what one has, and where its programs run, is never another's; and many of them fit into little memory.

With ZYGO_TENANTS=1000 the crowd at the end is that large, in a control group of 2 GiB, which takes minutes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import unittest
from typing import Any

import host
import zygo
from serve import Answer, Service
from limits.test_pressure import home_of
from service.test_serve import ServeTestCase

NAMES = ("ann", "bob", "cyd")
TOKENS = {name: f"0123456789abcdef-{name}" for name in (*NAMES, "gateway")}
# Where the interpreter and a library lie: the layout of the template.
LAYOUT = "import ctypes\nprint(id(object), ctypes.cast(ctypes.CDLL(None).printf, ctypes.c_void_p).value)"
CROWD = int(os.environ.get("ZYGO_TENANTS", "60"))


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": "Bearer " + TOKENS[name]}


class Tenants(ServeTestCase):
    def tokens(self, *trusted: str) -> str:
        path = self.folder() / "tokens"
        lines = [f"{name} {TOKENS[name]}\n" for name in NAMES]
        lines += [f"{name} {TOKENS[name]} jobs,blobs,metrics,tenant\n" for name in trusted]
        path.write_text("".join(lines))
        return str(path)

    def tenants(self, *options: str, **how: Any) -> Service:
        how.setdefault("ZYGO_HOME", str(self.folder()))
        trusted = ("gateway",) if "field" in options else ()
        workers = () if "--workers" in options else ("--workers", "1")
        return self.serve("--tokens", self.tokens(*trusted), *workers, "--log", "off", *options, **how)

    def post(self, service: Service, name: str, job: dict[str, Any], timeout: float = 60) -> Answer:
        return service.ask("POST", "/v1/jobs", job, bearer(name), timeout)

    def run_as(self, service: Service, name: str, source: str, **fields: Any) -> zygo.Result:
        answer = self.post(service, name, {"source": source, **fields})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def layout(self, service: Service, name: str, **fields: Any) -> str:
        result = self.run_as(service, name, LAYOUT, **fields)
        self.assertLabel(result, "OK")
        return result["stdout"]["text"]

    def metric(self, service: Service, name: str) -> float:
        text = service.ask("GET", "/metrics", None, bearer("ann")).body.decode()
        return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " "))


class Processes(Tenants):
    def test_each_has_an_address_layout_of_its_own(self) -> None:
        service = self.tenants()
        layouts = {name: self.layout(service, name) for name in NAMES}
        self.assertEqual(len(set(layouts.values())), len(NAMES), layouts)
        for name in NAMES:  # in the same one again: it says something of the layout, not of chance
            self.assertEqual(self.layout(service, name), layouts[name], name)

    def test_each_has_a_template_process_of_its_own(self) -> None:
        service = self.tenants()
        before = len(host.children(service.process.pid))
        for count, name in enumerate(NAMES, 1):
            self.layout(service, name)
            self.assertEqual(len(host.children(service.process.pid)), before + count, name)
            self.assertEqual(self.metric(service, "zygo_tenant_templates_alive"), count)

    def test_without_tenants_all_clients_share_the_common_templates(self) -> None:
        service = self.tenants("--tenant-by", "none")
        self.assertEqual(len({self.layout(service, name) for name in NAMES}), 1)
        self.assertEqual(self.metric(service, "zygo_tenant_templates_alive"), 0)

    def test_a_service_says_by_what_it_tells_them_apart(self) -> None:
        self.assertEqual(self.tenants().ask("GET", "/v1/info", None, bearer("ann")).json["tenant_by"], "token")
        self.assertEqual(self.serve("--log", "off").ask("GET", "/v1/info").json["tenant_by"], "none")

    def test_the_command_line_takes_the_field_as_it_is(self) -> None:
        jobs = [{"id": f"{tenant}{turn}", "source": LAYOUT, **({"tenant": tenant} if tenant else {})}
                for turn in (1, 2) for tenant in ("a", "b", "")]
        results = zygo.run_batch(jobs, "--workers", "1")
        layouts = {name: result["stdout"]["text"] for name, result in results.items()}
        self.assertEqual([layouts["a1"], layouts["b1"], layouts["1"]], [layouts["a2"], layouts["b2"], layouts["2"]])
        self.assertEqual(len(set(layouts.values())), 3)

    def test_a_checker_runs_as_the_tenant_of_its_job(self) -> None:
        checker = {"template": "python", "source": "import sys\nprint(id(object), file=sys.stderr)\nsys.exit(0)"}
        job = {"source": "print(1)", "checker": checker, "tests": [{"stdin": "", "expect": "", "compare": "checker"}]}
        service = self.tenants()
        self.assertLabel(self.run_as(service, "ann", **job), "OK")
        self.assertEqual(self.metric(service, "zygo_tenant_templates_alive"), 1)
        self.assertEqual(self.metric(service, "zygo_templates_alive"), 2)  # and the common one, from the start


class Field(Tenants):
    """`tenant` in a job."""

    def test_counts_only_where_a_trusted_client_says_it(self) -> None:
        service = self.tenants("--tenant-by", "field")
        self.assertEqual(self.layout(service, "gateway", tenant="ann"), self.layout(service, "ann"))
        self.assertNotEqual(self.layout(service, "gateway", tenant="ann"), self.layout(service, "gateway"))

        refused = self.post(service, "bob", {"source": "1", "tenant": "ann"})
        self.assertEqual((refused.status, refused.json["error"]["path"]), (403, "tenant"))
        batch = service.ask("POST", "/v1/batches", b'{"id": "a", "source": "1", "tenant": "ann"}\n{"id": "b", "source": "1"}\n',
                            bearer("bob"))
        labels = {line["id"]: (line["label"], line["detail"].get("path")) for line in batch.lines}
        self.assertEqual(labels, {"a": ("BadJob", "tenant"), "b": ("OK", None)})

    def test_is_refused_in_a_batch_s_defaults_as_well(self) -> None:
        service = self.tenants("--tenant-by", "field")
        body = {"defaults": {"tenant": "ann"}, "jobs": [{"source": "1"}]}
        batch = service.ask("POST", "/v1/batches", body, bearer("bob"))
        self.assertEqual([line["label"] for line in batch.lines], ["BadJob"])

    def test_is_refused_by_token_from_everybody(self) -> None:
        service = self.tenants()
        answer = self.post(service, "ann", {"source": "1", "tenant": "bob"})
        self.assertEqual((answer.status, answer.json["error"]["path"]), (403, "tenant"))

    def test_of_the_defaults_of_a_service_is_an_error(self) -> None:
        defaults = self.folder() / "defaults.json"
        defaults.write_text('{"tenant": "ann"}')
        ended = zygo.run_command([str(zygo.BINARY), "serve", "--defaults", str(defaults), "--listen", "127.0.0.1:0"])
        self.assertEqual(ended.code, 2)
        self.assertIn("tenant", ended.stderr)


class Contents(Tenants):
    def put(self, service: Service, name: str, content: bytes, query: str = "") -> str:
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        answer = service.ask("PUT", f"/v1/blobs/{digest}{query}", content, bearer(name))
        self.assertEqual(answer.status, 201, answer.body)
        return digest

    def get(self, service: Service, name: str, digest: str, method: str = "GET") -> Answer:
        return service.ask(method, f"/v1/blobs/{digest}", None, bearer(name))

    def test_a_blob_of_another_is_as_good_as_unknown(self) -> None:
        service = self.tenants()
        mine = self.put(service, "ann", b"the expected answer")
        unknown = "sha256:" + hashlib.sha256(b"nobody has this").hexdigest()

        self.assertEqual(self.get(service, "ann", mine).body, b"the expected answer")
        for method in ("GET", "HEAD"):
            theirs, none = (self.get(service, "bob", digest, method) for digest in (mine, unknown))
            self.assertEqual((theirs.status, theirs.body), (404, none.body.replace(unknown.encode(), mine.encode())))
        named = {"source": "print(open('x').read())", "files": {"x": {"blob": mine}}}
        self.assertEqual(self.run_as(service, "ann", **named)["stdout"]["text"], "the expected answer\n")
        refused = self.run_as(service, "bob", **named)
        self.assertLabel(refused, "BadJob")
        self.assertIn("no blob", refused["detail"]["message"])

    def test_a_trusted_client_says_whose_a_blob_is(self) -> None:
        service = self.tenants("--tenant-by", "field")
        digest = self.put(service, "gateway", b"for ann", "?tenant=ann")
        self.assertEqual(self.get(service, "ann", digest).status, 200)
        self.assertEqual(self.get(service, "bob", digest).status, 404)
        self.assertEqual(self.get(service, "bob", digest + "?tenant=ann").status, 403)

    def test_results_that_wait_are_for_who_has_sent_the_job(self) -> None:
        service = self.tenants("--durable", str(self.folder() / "jobs.db"))
        for query in ("?async=1", "?async=1&durable=1"):
            place = service.ask("POST", "/v1/jobs" + query, {"source": "print(1)"}, bearer("ann")).headers["location"]
            for method in ("GET", "DELETE"):
                self.assertEqual(service.ask(method, place, None, bearer("bob")).status, 404, query)
            self.assertLabel(service.ask("GET", place + "?wait=60", None, bearer("ann"), 90).json, "OK")
        keyed = {name: {**bearer(name), "Idempotency-Key": "one"} for name in ("ann", "bob")}
        ids = {service.ask("POST", "/v1/jobs?async=1&durable=1", {"source": "print(1)"}, headers).json["id"]
               for headers in keyed.values()}
        self.assertEqual(len(ids), 2)

    def test_a_durable_job_runs_as_its_tenant(self) -> None:
        service = self.tenants("--durable", str(self.folder() / "jobs.db"))
        place = service.ask("POST", "/v1/jobs?async=1&durable=1", {"source": LAYOUT}, bearer("ann")).headers["location"]
        kept = service.ask("GET", place + "?wait=60", None, bearer("ann"), 90).json
        self.assertEqual(kept["stdout"]["text"], self.layout(service, "ann"))
        self.assertNotEqual(kept["stdout"]["text"], self.layout(service, "bob"))


@unittest.skipUnless(shutil.which("gcc"), "needs gcc")
class Builds(Tenants):
    PROGRAM = {"template": "c", "source": "#include <stdio.h>\nint main(void) { puts(\"tenants\"); }\n"}

    def cached(self, service: Service, name: str) -> bool:
        result = self.run_as(service, name, **self.PROGRAM)
        self.assertEqual(result["stdout"]["text"], "tenants\n", result)
        return result["compile"]["cached"]

    def test_are_found_by_nobody_else(self) -> None:
        home = str(self.folder())
        service = self.tenants(ZYGO_HOME=home)
        self.assertEqual([self.cached(service, name) for name in ("ann", "ann", "bob", "bob")], [False, True, False, True])
        service.stop()
        later = self.tenants(ZYGO_HOME=home)  # from the disk
        self.assertEqual([self.cached(later, name) for name in ("ann", "bob", "cyd")], [True, True, False])

    def test_are_shared_where_the_operator_wants_it(self) -> None:
        service = self.tenants("--share-builds")
        self.assertEqual([self.cached(service, name) for name in NAMES], [False, True, True])


class Eviction(Tenants):
    def test_the_template_that_was_used_longest_ago_makes_room(self) -> None:
        service = self.tenants("--tenant-templates", "2")
        ann, bob = (self.layout(service, name) for name in ("ann", "bob"))
        self.assertEqual(self.layout(service, "ann"), ann)
        self.layout(service, "cyd")
        self.assertEqual(self.metric(service, "zygo_tenant_templates_dropped_total"), 1)
        self.assertEqual(self.metric(service, "zygo_tenant_templates_alive"), 2)
        self.assertEqual(self.layout(service, "ann"), ann)
        self.assertNotEqual(self.layout(service, "bob"), bob)

    def test_a_tenant_of_many_templates_gives_up_its_own(self) -> None:
        service = self.tenants("--tenant-templates", "3")
        bob = self.layout(service, "bob")
        for _ in range(2):
            greedy = self.run_as(service, "ann", "print(1)", determinism={"runs": 4})
            self.assertLabel(greedy, "OK")
        self.assertGreaterEqual(self.metric(service, "zygo_tenant_templates_dropped_total"), 2)
        self.assertEqual(self.layout(service, "bob"), bob)

    def test_a_template_that_nobody_uses_goes_by_itself(self) -> None:
        service = self.tenants("--tenant-idle", "300ms")
        before = len(host.children(service.process.pid))
        self.layout(service, "ann")
        while self.metric(service, "zygo_tenant_templates_alive") > 0:  # its own clock ends this
            pass
        while len(host.children(service.process.pid)) > before:
            pass
        self.layout(service, "ann")

    def test_a_template_whose_job_runs_stays(self) -> None:
        service = self.tenants("--tenant-idle", "100ms", "--tenant-templates", "1", "--workers", "2")
        answers: list[Answer] = []
        long = {"source": "import sys\nprint('on')\nfor line in sys.stdin: pass\nimport time\ntime.sleep(1.5)\nprint('off')"}
        runner = threading.Thread(target=lambda: answers.append(self.post(service, "ann", long)))
        runner.start()
        while runner.is_alive():
            self.layout(service, "bob")
            self.layout(service, "cyd")
        runner.join()
        self.assertEqual(answers[0].json["stdout"]["text"], "on\noff\n")


@unittest.skipIf(home_of("memory") is None, "needs root and a control group of memory")
class ACrowd(Tenants):
    """One tenant after another, and then all of them again."""

    def test_fits_into_a_bounded_memory(self) -> None:
        home = home_of("memory")
        assert home is not None
        group = home / f"zygo-behaviour-{os.getpid()}-tenants"
        group.mkdir()
        self.addCleanup(lambda: [os.rmdir(folder) for folder, _, _ in os.walk(group, topdown=False)])
        limit = (2 << 30) if CROWD >= 1000 else (768 << 20)
        for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max"):
            if (group / name).exists():
                (group / name).write_text(str(limit))
        service = self.tenants("--tenant-by", "field", "--queue", "4000", "--workers", "2",
                               before=("/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh"))
        self.addCleanup(service.stop)  # before the group goes
        bound = max(8, limit // 4 // (64 << 20))
        lines = [json.dumps({"id": f"{turn}-{number}", "source": "print(6 * 7)", "tenant": f"tenant-{number}"})
                 for turn in range(2) for number in range(CROWD)]
        answers: list[Answer] = []
        body = "\n".join(lines).encode()
        crowd = threading.Thread(target=lambda: answers.append(
            service.ask("POST", "/v1/batches", body, bearer("gateway"), 30 + CROWD)))
        crowd.start()
        most = 0.0
        while crowd.is_alive():
            most = max(most, self.metric(service, "zygo_tenant_templates_alive"))
            crowd.join(0.05)
        self.assertEqual([line["label"] for line in answers[0].lines], ["OK"] * len(lines))
        self.assertLessEqual(most, bound)
        self.assertGreaterEqual(self.metric(service, "zygo_tenant_templates_dropped_total"), CROWD - bound)
        peak = next((int(path.read_text()) for path in (group / "memory.max_usage_in_bytes", group / "memory.peak")
                     if path.exists()), 0)
        print(f"{CROWD} tenants: at most {most:.0f} templates, {peak >> 20} MiB of {limit >> 20}")


if __name__ == "__main__":
    unittest.main()

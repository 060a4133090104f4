"""A trace of a caller is found in the log of the router, in results, and in the log of the pilot that has run the job."""

from __future__ import annotations

import json
import signal
import unittest

from cluster.routing import RoutingTestCase
from serve import Service

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


class Traces(RoutingTestCase):
    def pair(self, form: str) -> tuple[Service, Service]:
        router = Service("--log", form, command="route")
        self.addCleanup(router.stop)
        pilot = Service("--log", form, "--workers", "2", "--join", f"http://127.0.0.1:{router.port}", listen=(), command="pilot")
        self.addCleanup(pilot.stop)
        self.await_pilots(router, 1)
        return router, pilot

    def line(self, service: Service, job: str) -> str:
        """Of a service that has ended: the one that names the job, and by then all that it had to say is there."""
        lines = [line for line in service.stop()[1].splitlines() if f'"{job}"' in line]
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_one_trace_is_in_the_result_and_in_the_logs_of_router_and_pilot(self) -> None:
        for form in ("text", "json"):
            with self.subTest(form):
                router, pilot = self.pair(form)
                trace = router.ask("POST", "/v1/jobs", {"id": "mine", "source": "1 / 0"},
                                   {"traceparent": PARENT}).json["service"]["trace"]
                router.run("print(1)", id="other")
                of_pilot, of_router = self.line(pilot, "mine"), self.line(router, "mine")

                self.assertEqual((trace["trace_id"], trace["parent_id"]), (TRACE, SPAN))
                if form == "text":
                    self.assertIn(f"trace {TRACE} span {trace['span_id']}", of_router)
                    self.assertIn('job "mine" "ZeroDivisionError" ', of_pilot)
                    self.assertIn(f" trace {TRACE} span ", of_pilot)
                    self.assertNotIn(trace["span_id"], of_pilot)
                else:
                    told = json.loads(of_pilot)
                    self.assertEqual(json.loads(of_router)["trace"], trace)
                    self.assertEqual((told["jobs"], told["label"], told["job_count"]), (["mine"], "ZeroDivisionError", 1))
                    self.assertEqual((told["trace"]["trace_id"], told["trace"]["parent_id"]), (TRACE, trace["span_id"]))
                    self.assertEqual(told["client"], f"http://127.0.0.1:{router.port}")

    def test_a_pilot_that_reads_another_format_in_its_configuration_writes_all_in_it(self) -> None:
        config = self.folder() / "pilot.json"
        config.write_text('{"log": "text"}')
        router = Service(command="route")
        self.addCleanup(router.stop)
        pilot = Service("--config", str(config), "--workers", "2", "--join", f"http://127.0.0.1:{router.port}", listen=(),
                        command="pilot")
        self.addCleanup(pilot.stop)
        self.await_pilots(router, 1)
        config.write_text('{"log": "json"}')
        pilot.process.send_signal(signal.SIGHUP)
        pilot.await_line('"note":"configuration read again, and in force"')
        router.ask("POST", "/v1/jobs", {"id": "mine", "source": "print(1)"}, {"traceparent": PARENT})
        router.stop()  # which its pilot tells of

        told = [json.loads(line) for line in pilot.stop()[1].splitlines()]
        self.assertEqual([line["jobs"] for line in told if "jobs" in line], [["mine"]])
        self.assertTrue(any(f"http://127.0.0.1:{router.port}" in line.get("note", "") for line in told), told)

    def test_a_pilot_names_itself_in_its_log(self) -> None:
        _, pilot = self.pair("text")
        pilot.process.send_signal(signal.SIGHUP)
        pilot.await_line(" zygo pilot: configuration read again, and in force")

    def test_a_job_without_a_trace_is_not_in_the_log_of_its_pilot(self) -> None:
        router, pilot = self.pair("text")
        router.run("print(1)", id="other")

        self.assertNotIn('"other"', pilot.stop()[1])

    def test_all_jobs_of_a_batch_have_the_trace(self) -> None:
        router, pilot = self.pair("text")
        lines = "".join(json.dumps({"id": f"job-{i}", "source": "print(1)"}) + "\n" for i in range(3)).encode()
        router.ask("POST", "/v1/batches", lines, {"traceparent": PARENT})

        told = pilot.stop()[1]
        for i in range(3):
            self.assertRegex(told, f'job "job-{i}" "OK" .* trace {TRACE} ')


if __name__ == "__main__":
    unittest.main()

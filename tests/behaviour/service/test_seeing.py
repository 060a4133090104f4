"""What is seen of `zygo serve` from outside: metrics, statistics, traces, origins, a selfcheck; and `zygo top`."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time
import unittest
from typing import Any

import serve
import zygo
from serve import Service
from zygo import ZygoTestCase

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
TOKEN, READER = "0123456789abcdef-all", "0123456789abcdef-info"
OWN = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class SeeingTestCase(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = Service("--log", "json", "--api", "sandbox-fusion", "--cors", "https://grader.example")
        cls.addClassCleanup(cls.service.stop)

    def stats(self) -> dict[str, Any]:
        return self.service.ask("GET", "/v1/stats").json


class Figures(SeeingTestCase):
    def test_metrics_tell_label_template_and_api_and_time(self) -> None:
        self.service.run("1 / 0")
        self.service.ask("POST", "/run_code", {"code": "print(1)", "language": "python"})

        text = self.service.ask("GET", "/metrics").body.decode()

        self.assertIn('zygo_jobs_total{label="ZeroDivisionError",template="python",api="zygo"} ', text)
        self.assertIn('zygo_jobs_total{label="OK",template="python",api="sandbox-fusion"} 1\n', text)
        for name in ("zygo_job_seconds", "zygo_queue_seconds", 'zygo_stage_seconds_count{stage="run"'):
            self.assertIn(name, text)
        self.assertGreaterEqual(self.service.metric("zygo_job_seconds_count"), 3)
        self.assertIn("\nzygo_cells_alive ", text)  # none, when a renewed template has no job yet
        for name in ("zygo_forks_total", "zygo_templates_alive", "zygo_cells_made_total",
                     "process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds"):
            self.assertGreater(self.service.metric(name + " "), 0, name)
        # Every line is a comment or a sample, and every histogram ends with all of its samples.
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="([^"\\]|\\.)*",?)*\})? [0-9.e+-]+)$')
        self.assertEqual(self.service.metric('zygo_job_seconds_bucket{le="+Inf"}'),
                         self.service.metric("zygo_job_seconds_count"))

    def test_statistics_have_failures_with_evidence_and_without_programs(self) -> None:
        self.service.run("print('SECRET_OUTPUT')\nraise ValueError('SECRET_WORDS')", id="bad")
        self.service.run("print('SECRET_OUTPUT')", id="wrong", tests=[{"expect": "SECRET_ANSWER"}])
        self.service.run("while True: pass", id="slow", limits={"cpu_ms": 100})

        stats = self.stats()

        newest = {each["id"]: each for each in stats["failures"]}
        self.assertEqual((newest["bad"]["label"], newest["bad"]["by"], newest["bad"]["detail"]["line"]),
                         ("ValueError", "program", 2))
        self.assertEqual(newest["wrong"]["label"], "WrongAnswer")
        self.assertEqual((newest["slow"]["detail"]["limit"], newest["slow"]["detail"]["limit_ms"]), ("cpu", 100))
        self.assertGreater(newest["slow"]["cpu_us"], 50_000)
        self.assertNotIn("SECRET", json.dumps(stats))
        counts = {each["label"]: each["count"] for each in stats["jobs"]["labels"]}
        self.assertEqual(sum(counts.values()), stats["jobs"]["total"])
        self.assertEqual(counts["OK"], stats["jobs"]["ok"])

    def test_history_is_a_sample_a_second(self) -> None:
        self.service.run("print(1)")
        total = self.stats()["jobs"]["total"]
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while sum(self.stats()["history"]["ended"]) < total:  # a second is told when it is over
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

        history = self.stats()["history"]

        columns = [history[name] for name in ("ended", "ok", "refused", "queued", "running", "p50_us", "p99_us")]
        self.assertEqual({len(column) for column in columns}, {len(columns[0])})
        self.assertLessEqual(len(columns[0]), history["most"])
        self.assertTrue(all(p50 <= p99 for p50, p99 in zip(history["p50_us"], history["p99_us"])))


class Traces(SeeingTestCase):
    def ask(self, path: str, body: Any, **headers: str) -> serve.Answer:
        return self.service.ask("POST", path, body, headers)

    def test_a_trace_comes_back_in_result_answer_and_log(self) -> None:
        answer = self.ask("/v1/jobs", {"source": "print(1)"}, traceparent=PARENT, tracestate="congo=t61,rojo=1")

        trace = answer.json["service"]["trace"]
        self.assertEqual((trace["trace_id"], trace["parent_id"], trace["flags"], trace["state"]),
                         (TRACE, SPAN, 1, "congo=t61,rojo=1"))
        self.assertEqual(answer.headers["traceresponse"], f"00-{TRACE}-{trace['span_id']}-01")
        self.assertNotEqual(trace["span_id"], SPAN)
        self.assertEqual(list(answer.json)[-1], "service")

    def test_all_results_of_a_batch_and_the_one_fetched_later_have_it(self) -> None:
        answer = self.ask("/v1/batches", b'{"source": "print(1)"}\n{"sauce": 1}\n', traceparent=PARENT)
        self.assertEqual([each["service"]["trace"]["trace_id"] for each in answer.lines], [TRACE, TRACE])

        place = self.ask("/v1/jobs?async=1", {"source": "print(1)"}, traceparent=PARENT).headers["location"]
        self.assertEqual(self.service.ask("GET", place + "?wait=30").json["service"]["trace"]["trace_id"], TRACE)

    def test_without_one_or_with_a_broken_one_nothing_is_said(self) -> None:
        for given in ({}, {"traceparent": PARENT[:-1]}, {"traceparent": "ff" + PARENT[2:]},
                      {"traceparent": f"00-{'0' * 32}-{SPAN}-01"}, {"tracestate": "a=1"}):
            with self.subTest(given):
                answer = self.ask("/v1/jobs", {"source": "print(1)"}, **given)
                self.assertNotIn("service", answer.json)
                self.assertNotIn("traceresponse", answer.headers)

    def test_the_log_has_it_in_both_formats(self) -> None:
        for form in ("text", "json"):
            service = Service("--log", form)
            self.addCleanup(service.stop)
            service.ask("POST", "/v1/jobs", {"id": "mine", "source": "print(1)"}, {"traceparent": PARENT})
            service.ask("POST", "/v1/jobs", {"id": "other", "source": "print(1)"})
            lines = service.stop()[1].splitlines()
            mine, other = (next(line for line in lines if f'"{name}"' in line) for name in ("mine", "other"))
            self.assertIn(TRACE, mine)
            self.assertNotIn("trace", other)
            if form == "json":
                self.assertEqual(json.loads(mine)["trace"]["parent_id"], SPAN)


class Origins(SeeingTestCase):
    def test_a_named_origin_may_send_and_read_others_may_not(self) -> None:
        ours = self.service.ask("POST", "/v1/jobs", {"source": "print(1)"}, {"Origin": "https://grader.example"})
        self.assertEqual((ours.status, ours.headers["access-control-allow-origin"]), (200, "https://grader.example"))
        self.assertEqual(ours.headers["vary"], "Origin")
        self.assertIn("Idempotent-Replayed", ours.headers["access-control-expose-headers"])
        for origin in ("https://evil.example", "http://grader.example", "null"):
            theirs = self.service.ask("POST", "/v1/jobs", {"source": "print(1)"}, {"Origin": origin})
            self.assertEqual(theirs.status, 403)
            self.assertNotIn("access-control-allow-origin", theirs.headers)

    def test_a_browser_may_ask_before(self) -> None:
        asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
        ours = self.service.ask("OPTIONS", "/v1/jobs", None, {"Origin": "https://grader.example", **asked})
        self.assertEqual((ours.status, ours.body), (204, b""))
        self.assertNotIn("content-length", ours.headers)
        self.assertIn("POST", ours.headers["access-control-allow-methods"])
        self.assertIn("Idempotency-Key", ours.headers["access-control-allow-headers"])
        theirs = self.service.ask("OPTIONS", "/v1/jobs", None, {"Origin": "https://b.example", **asked})
        self.assertEqual(theirs.status, 405)

    def test_our_own_page_is_known_by_an_address_not_by_a_name(self) -> None:
        port = self.service.port
        for host, status in ((f"127.0.0.1:{port}", 200), (f"localhost:{port}", 200), (f"evil.example:{port}", 403)):
            answer = self.service.ask("POST", "/v1/jobs", {"source": "print(1)"},
                                      {"Host": host, "Origin": f"http://{host}"})
            self.assertEqual(answer.status, status, host)

    def test_everybody_is_welcome_only_with_tokens(self) -> None:
        ended = zygo.run_cli("serve", "--listen", "127.0.0.1:0", "--cors", "*")
        self.assertEqual(ended.code, 2)
        self.assertIn("--tokens", ended.stderr)
        self.assertEqual(zygo.run_cli("serve", "--cors", "https://a.example/path").code, 2)


class Rebinding(ZygoTestCase):
    """A page whose own name was made to point here: its requests have that name, and no Origin."""

    PATHS = ("/v1/info", "/v1/runtimes", "/v1/templates", "/v1/stats", "/metrics", "/v1/jobs/j-1", "/v1/openapi.json",
             "/v1/attach", "/v1/blobs/sha256:" + "0" * 64, "/v1/batches/b-1", "/file", "/api/v2/runtimes",
             "/v1/sandbox/dependencies")

    def serve(self, *options: str, **how: Any) -> Service:
        service = Service("--log", "off", "--workers", "1", *options, **how)
        self.addCleanup(service.stop)
        return service

    def test_reads_nothing(self) -> None:
        service = self.serve("--api", "go-judge", "--api", "piston", "--api", "dify")
        form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsecret\r\n--b--\r\n'
        file = service.ask("POST", "/file", form, {"Content-Type": "multipart/form-data; boundary=b"}).json
        for path in (*self.PATHS, f"/file/{file}"):
            for host in ("evil.example", f"evil.example:{service.port}", "localhost.evil.example", "zygo", "a.local"):
                with self.subTest(path, host=host):
                    refused = service.ask("GET", path, None, {"Host": host})
                    self.assertEqual(refused.status, 403)
                    self.assertNotIn(b"secret", refused.body)
        self.assertEqual(service.ask("GET", f"/file/{file}", None, {"Host": "LOCALHOST:1"}).body, b"secret")
        self.assertEqual(service.ask("POST", "/v1/jobs", {"source": "1"}, {"Host": "evil.example"}).status, 403)
        self.assertEqual(service.ask("GET", "/healthz", None, {"Host": "probe.example"}).status, 200)

    def test_names_that_the_operator_allows_are_known(self) -> None:
        service = self.serve("--allow-host", "Zygo.Example", "--allow-host", "other.example")
        for host, status in (("zygo.example", 200), ("ZYGO.example.:80", 200), ("other.example", 200),
                             ("a.zygo.example", 403)):
            self.assertEqual(service.ask("GET", "/v1/info", None, {"Host": host}).status, status, host)
        self.assertEqual(zygo.run_cli("serve", "--allow-host", "http://a").code, 2)

    def test_a_token_is_enough(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"all {TOKEN}\n")
        service = self.serve("--tokens", str(tokens))
        headers = {"Host": "zygo.example", "Authorization": "Bearer " + TOKEN}
        self.assertEqual(service.ask("GET", "/v1/info", None, headers).status, 200)


class Selfcheck(ZygoTestCase):
    def test_a_running_service_checks_itself_once_at_a_time(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"all {TOKEN}\nreader {READER} info,jobs\n")
        service = Service("--tokens", str(tokens), "--log", "off")
        self.addCleanup(service.stop)
        bearer = {"Authorization": "Bearer " + TOKEN}
        refused = service.ask("POST", "/v1/selfcheck", None, {"Authorization": "Bearer " + READER})
        self.assertEqual(refused.status, 403)

        answers: list[serve.Answer] = []
        first = threading.Thread(target=lambda: answers.append(
            service.ask("POST", "/v1/selfcheck", None, bearer, timeout=400)))
        first.start()
        self.addCleanup(first.join)
        while first.is_alive() and all(each.status != 409 for each in answers):  # whichever comes second gets it
            answers.append(service.ask("POST", "/v1/selfcheck", None, bearer, timeout=400))
            self.assertLabel(service.ask("POST", "/v1/jobs", {"source": "print(1)"}, bearer).json, "OK")
        first.join()

        self.assertIn(409, [each.status for each in answers])
        report = next(each for each in answers if each.status == 200).json
        self.assertEqual([each for each in report["attempts"] if each["standing"] in ("escaped", "unclear")], [])
        self.assertTrue(report["ok"], {key: report[key] for key in ("level", "not_in_force", "held")})
        self.assertGreater(report["held"], 20)

    def test_it_does_not_keep_a_service_from_ending(self) -> None:
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        sock = service.connect()
        self.addCleanup(sock.close)
        sock.sendall(serve.post("/v1/selfcheck", b""))
        self.assertEqual(service.ask("GET", "/healthz").status, 200)

        code, _ = service.stop(timeout=60)

        self.assertEqual(code, 0)


class Top(SeeingTestCase):
    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.service.port}"

    def test_once_is_a_screen_of_text(self) -> None:
        self.service.run("raise type('E\\x1b[2J', (Exception,), {})")

        ended = zygo.run_cli("top", "--once", "--url", self.url)

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertTrue(ended.stdout.startswith("zygo "), ended.stdout)
        for word in ("ready", "outcome", "OK", "station", "run"):
            self.assertIn(word, ended.stdout)
        self.assertNotIn("\x1b", ended.stdout)
        self.assertTrue(all(len(line) <= 80 for line in ended.stdout.splitlines()))

    def test_json_is_what_the_service_says(self) -> None:
        ended = zygo.run_cli("top", "--once", "--json", "--url", self.url)
        self.assertEqual(set(json.loads(ended.out)), set(self.stats()))

    def test_a_pipe_gets_a_line_for_each_look_until_ctrl_c(self) -> None:
        process = zygo.start_cli("top", "--every", "50ms", "--url", self.url, bufsize=0)
        self.addCleanup(zygo.finish, process)
        assert process.stdout
        lines = [process.stdout.readline().decode().split() for _ in range(4)]
        self.assertEqual(lines[0][0], "jobs/s")
        self.assertTrue(all(len(line) >= len(lines[0]) for line in lines[1:]), lines)  # times are two words
        process.send_signal(signal.SIGINT)
        self.assertEqual(zygo.finish(process), 0)

    def test_on_a_terminal_it_fits_and_leaves_all_as_it_was(self) -> None:
        for end, rows, columns in ((b"q", 24, 80), (b"\x03", 10, 40)):
            with self.subTest(end):
                shown, code, same = self.on_terminal(end, rows, columns)
                self.assertEqual(code, 0)
                self.assertTrue(same, "the terminal's settings")
                self.assertTrue(shown.startswith("\x1b[?1049h") and shown.rstrip().endswith("\x1b[?1049l"), shown[-80:])
                frame = shown.split("\x1b[H")[1].split("\x1b[J")[0]
                lines = [OWN.sub("", line) for line in frame.replace("\r", "").split("\n")]
                self.assertLessEqual(len(lines), rows)
                self.assertLessEqual(max(map(len, lines)), columns)

    def on_terminal(self, end: bytes, rows: int, columns: int) -> tuple[str, int, bool]:
        """All that arrived, the exit code, and whether the settings are what they were."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        before = termios.tcgetattr(slave)
        process = zygo.start_cli("top", "--every", "50ms", "--url", self.url, stdin=slave, stdout=slave,
                                 preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        shown = self.read_until(master, lambda text: text.count("\x1b[H") >= 3)
        os.write(master, end)
        shown += self.read_until(master, lambda text: "\x1b[?1049l" in text)
        return shown, zygo.finish(process), termios.tcgetattr(slave) == before

    def read_until(self, master: int, enough: Any) -> str:
        text = ""
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while not enough(text):
            ready, _, _ = select.select([master], [], [], max(0, deadline - time.monotonic()))
            self.assertTrue(ready, text)
            text += os.read(master, 65536).decode(errors="replace")
        return text

    def test_tokens_and_unix_sockets(self) -> None:
        folder = self.folder()
        (folder / "tokens").write_text(f"all {TOKEN}\nreader {READER} info\n")
        (folder / "mine").write_text(TOKEN + "\n")
        (folder / "theirs").write_text(READER + "\n")
        service = Service("--tokens", str(folder / "tokens"), "--log", "off",
                          listen=("127.0.0.1:0", f"unix:{folder}/s"))
        self.addCleanup(service.stop)
        url = f"http://127.0.0.1:{service.port}"

        self.assertEqual(zygo.run_cli("top", "--once", "--url", f"unix:{folder}/s").code, 0)
        self.assertEqual(zygo.run_cli("top", "--once", "--url", url, "--token-file", str(folder / "mine")).code, 0)
        for arguments, words in (((), "--token-file"), (("--token-file", str(folder / "theirs")), "scope metrics")):
            ended = zygo.run_cli("top", "--once", "--url", url, *arguments)
            self.assertEqual(ended.code, 125)
            self.assertIn(words, ended.stderr)
            self.assertNotIn(READER, ended.stderr)

    def test_mistakes_are_named(self) -> None:
        for arguments, code, words in ((("--url", "here"), 2, "--url"), (("--token-file", "/nowhere"), 2, "/nowhere"),
                                       (("--url", "http://127.0.0.1:1"), 125, "Connection refused"),
                                       (("--url", "unix:/nowhere"), 125, "No such file")):
            with self.subTest(arguments):
                ended = zygo.run_cli("top", "--once", *arguments)
                self.assertEqual(ended.code, code)
                self.assertIn(words, ended.stderr)


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    return zygo.as_written(loader, globals())


if __name__ == "__main__":
    unittest.main()

"""Options by the environment, and `zygo health`: what those who start containers and units rely on."""

from __future__ import annotations

import socket
import threading
import unittest
from collections.abc import Callable

import zygo
from serve import Service
from zygo import Finished, ZygoTestCase


class TheEnvironment(ZygoTestCase):
    def serve(self, *options: str, listen: tuple[str, ...] = ("127.0.0.1:0",), **extra: str) -> Service:
        service = Service(*options, listen=listen, **extra)
        self.addCleanup(service.stop)
        return service

    def refused(self, *arguments: str, **extra: str) -> Finished:
        return zygo.run_cli(*arguments, env=zygo.environment(**extra))

    def test_an_option_of_the_service_is_taken_from_its_variable(self) -> None:
        service = self.serve(ZYGO_QUEUE="7", ZYGO_WORKERS="1", ZYGO_HELD="100M", ZYGO_MAX_BODY="1M")

        self.assertEqual(service.metric("zygo_queue_limit"), 7)
        self.assertEqual(service.metric("zygo_held_bytes_limit"), 100 << 20)
        self.assertEqual(service.ready["workers"], 1)
        self.assertEqual(service.ask("POST", "/v1/jobs", b"x" * (2 << 20)).status, 413)

    def test_the_command_line_wins(self) -> None:
        service = self.serve("--queue", "9", ZYGO_QUEUE="7")

        self.assertEqual(service.metric("zygo_queue_limit"), 9)

    def test_it_wins_over_the_file(self) -> None:
        config = self.folder() / "config.json"
        config.write_text('{"queue": 5, "connections": 33}')

        service = self.serve(ZYGO_CONFIG=str(config), ZYGO_QUEUE="7")

        self.assertEqual(service.metric("zygo_queue_limit"), 7)

    def test_what_may_be_repeated_is_separated_by_commas(self) -> None:
        path = self.folder() / "sock"

        service = self.serve(listen=(), ZYGO_LISTEN=f"127.0.0.1:0,unix:{path}", ZYGO_API="piston,dify")

        self.assertEqual([name.split(":")[0] for name in service.ready["listening"]], ["http", "unix"])
        self.assertEqual(service.ask("GET", "/api/v2/runtimes").status, 200)

    def test_a_flag_is_switched_on_and_off(self) -> None:
        self.serve(listen=("0.0.0.0:0",), ZYGO_ALLOW_ANYONE="yes")

        for value in ("no", "0", ""):
            with self.subTest(value):
                ended = self.refused("serve", "--listen", "0.0.0.0:0", ZYGO_ALLOW_ANYONE=value)
                self.assertEqual(ended.code, 2, ended.stderr)
                self.assertIn("--tokens", ended.stderr)

    def test_a_wrong_value_is_refused_by_the_variable_s_name(self) -> None:
        for name, value in (("ZYGO_QUEUE", "0"), ("ZYGO_REQUIRE", "bogus"), ("ZYGO_LISTEN", "here"),
                            ("ZYGO_ALLOW_ANYONE", "perhaps"), ("ZYGO_GRACE", "soon")):
            with self.subTest(name):
                ended = self.refused("serve", **{name: value})

                self.assertEqual((ended.code, ended.stdout), (2, ""), ended.stderr)
                self.assertIn(value if name == "ZYGO_LISTEN" else name, ended.stderr)

    def test_a_variable_that_is_no_option_is_named(self) -> None:
        """On the way to a refusal, so that no service need be started."""
        ended = self.refused("serve", "--listen", "here", ZYGO_REQIRE="full", ZYGO_SERVICE_HOST="10.0.0.1",
                             ZYGO_PORT_8000_TCP="tcp://10.0.0.1:8000", ZYGO_HOME="/nowhere")

        named = [line for line in ended.stderr.splitlines() if "in the environment" in line]
        self.assertEqual(len(named), 1, ended.stderr)
        self.assertIn("ZYGO_REQIRE", named[0])

    def test_what_is_required_counts_for_every_command(self) -> None:
        ended = self.refused("run", "--level", "minimal", "-", ZYGO_REQUIRE="full")

        self.assertEqual(ended.code, 2)
        self.assertIn("--require full", ended.stderr)

    def test_other_commands_read_only_what_all_have(self) -> None:
        ended = zygo.run_cli("run", "--require", "minimal", "-", stdin=b"print(1)",
                             env=zygo.environment(ZYGO_WALL="bogus", ZYGO_QUEUE="bogus", ZYGO_MEMORY="bogus"))

        self.assertEqual((ended.code, ended.stdout), (0, "1\n"), ended.stderr)

    def test_a_hidden_option_has_no_variable(self) -> None:
        ended = zygo.run_cli("run", "--require", "minimal", "-", stdin=b"",
                             env=zygo.environment(ZYGO_TESTING="1", ZYGO_WITHOUT="bogus", ZYGO_HEAP="bogus"))

        self.assertEqual(ended.code, 0, ended.stderr)


class Health(ZygoTestCase):
    def health(self, *arguments: str, **extra: str) -> Finished:
        return zygo.run_cli("health", *arguments, env=zygo.environment(**extra))

    def answering(self, answer: bytes) -> str:
        """The address of a server that says this once, whatever it is asked."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def test_a_service_is_well_at_any_of_its_addresses(self) -> None:
        path = self.folder() / "sock"
        tokens = self.folder() / "tokens"
        tokens.write_text("me 0123456789abcdef\n")
        service = Service("--tokens", str(tokens), listen=("0.0.0.0:0", f"unix:{path}"))
        self.addCleanup(service.stop)

        for address in (f"127.0.0.1:{service.port}", f"http://127.0.0.1:{service.port}/", f"unix:{path}",
                        f"0.0.0.0:{service.port}"):
            for options in ((), ("--ready",)):
                with self.subTest(address, options=options):
                    ended = self.health(address, *options)
                    self.assertEqual(ended.code, 0, ended.stderr)
                    self.assertIn("200", ended.stderr)
        ended = self.health("--quiet", ZYGO_LISTEN=f"0.0.0.0:{service.port},unix:/none")
        self.assertEqual((ended.code, ended.stderr), (0, ""))

    def test_any_other_answer_is_not_well(self) -> None:
        cases: dict[str, Callable[[], str]] = {
            "503": lambda: self.answering(b"HTTP/1.1 503 Service Unavailable\r\n\r\n"),
            "no HTTP answer": lambda: self.answering(b"SSH-2.0-OpenSSH\r\n"),
            "no HTTP": lambda: self.answering(b""),
            "connect": lambda: f"unix:{self.folder()}/none",
        }
        for expected, address in cases.items():
            with self.subTest(expected):
                ended = self.health("--ready", address())

                self.assertEqual(ended.code, 1, ended.stderr)
                self.assertIn(expected, ended.stderr)

    def test_silence_is_not_well(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        ended = self.health("--timeout", "50ms", f"127.0.0.1:{listener.getsockname()[1]}")

        self.assertEqual(ended.code, 1, ended.stderr)

    def test_an_address_that_is_none_is_a_mistake(self) -> None:
        for address in ("here", "127.0.0.1:0"):
            with self.subTest(address):
                self.assertEqual(self.health(address).code, 2)


if __name__ == "__main__":
    unittest.main()

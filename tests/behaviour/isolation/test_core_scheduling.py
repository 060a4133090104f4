"""Core scheduling: templates whose processes never share a core with others, where kernel and machine have it.

Where they do not, the service says so instead of serving without. Debian's kernels are built without it
(CONFIG_SCHED_CORE), so neither the machine of tools/vm-test nor most others run the second test.
"""

from __future__ import annotations

import ctypes
import json
import os
import unittest

import host
import zygo
from serve import Service
from zygo import ZygoTestCase

PR_SCHED_CORE, GET, OF_A_THREAD = 62, 0, 0
LIBC = ctypes.CDLL(None, use_errno=True)
TOKENS = {name: f"0123456789abcdef-{name}" for name in ("ann", "bob")}


def layer() -> dict[str, object]:
    return json.loads(zygo.run_cli("doctor", "--json").out)["layers"]["core scheduling"]


def cookie_of(pid: int) -> int:
    cookie = ctypes.c_ulong()
    if LIBC.prctl(PR_SCHED_CORE, GET, pid, OF_A_THREAD, ctypes.byref(cookie)) < 0:
        raise OSError(ctypes.get_errno(), f"the cookie of process {pid}")
    return cookie.value


class CoreScheduling(ZygoTestCase):
    def test_what_the_host_cannot_do_is_refused_with_its_reason(self) -> None:
        found = layer()
        if found["available"]:
            self.skipTest("the host has core scheduling")

        ended = zygo.run_cli("serve", "--listen", "127.0.0.1:0", "--core-scheduling")

        self.assertEqual(ended.code, 125)
        self.assertIn("core scheduling", ended.err.decode())
        self.assertIn(str(found["cure"]), ended.err.decode())

    def test_each_tenant_has_a_cookie_that_its_processes_share(self) -> None:
        if not layer()["available"]:
            self.skipTest(f"no core scheduling here: {layer()['why']}")
        if os.geteuid() != 0:
            self.skipTest("only root may read cookies")
        folder = self.folder()
        tokens = folder / "tokens"
        tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
        service = Service("--core-scheduling", "--tokens", str(tokens), "--workers", "1", "--log", "off",
                          ZYGO_HOME=str(folder))
        self.addCleanup(service.stop)
        common = host.descendants(service.process.pid)
        cookies = [{cookie_of(pid) for pid in common}]
        for token in TOKENS.values():
            before = host.descendants(service.process.pid)
            answer = service.ask("POST", "/v1/jobs", {"source": "print(1)"}, {"Authorization": f"Bearer {token}"})
            self.assertLabel(answer.json, "OK")
            cookies.append({cookie_of(pid) for pid in host.descendants(service.process.pid) - before})

        self.assertEqual(cookie_of(service.process.pid), 0)
        for of_one in cookies:
            self.assertNotIn(0, of_one)
        self.assertEqual([len(of_one) for of_one in cookies], [1, 1, 1])
        self.assertEqual(len(set.union(*cookies)), 3)


if __name__ == "__main__":
    unittest.main()

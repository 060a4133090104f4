"""Eight interpreters with a pool each, on a machine that has too few processes for them: all complete, with right labels."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import PACKAGE, PATIENCE, main

GROUPS = Path("/sys/fs/cgroup")
AT_ONCE = 8
WORKERS = 4
# Two threads of the interpreter, those of zygo (a shard has a helper), and one process more: less than a job needs, if
# all are there at once.
MOST = 2 + 2 + 2 * min(WORKERS, len(os.sched_getaffinity(0))) + 1
ROUND = ["OK", "ZeroDivisionError", "NonZeroExit"] * 5
# Round after round until its stdin ends, so that all are there at once for as long as it takes. What the runtime says, and
# each round's labels, are lines of stdout.
CODE = """
import json, logging, select, sys
import zygo
say = lambda **what: print(json.dumps(what), flush=True)
handler = logging.Handler()
handler.emit = lambda record: say(said=record.getMessage())
logging.getLogger("zygo").addHandler(handler)
logging.getLogger("zygo").setLevel("INFO")
programs = ["import time\\ntime.sleep(0.01)\\nprint(1)", "1 // 0", "exit(3)"] * 5
with zygo.Pool("python", workers=4) as pool:
    while True:
        say(labels=[result.label for result in pool.map({"source": source} for source in programs)])
        if select.select([sys.stdin], [], [], 0)[0]:
            break
zygo.shutdown()
"""


def home() -> Path | None:
    if os.geteuid() != 0:
        return None
    if (GROUPS / "pids/cgroup.procs").exists():
        return GROUPS / "pids"
    handed_on = GROUPS / "cgroup.subtree_control"
    return GROUPS if handed_on.exists() and "pids" in handed_on.read_text().split() else None


@unittest.skipIf(home() is None, "needs root and a control group of pids")
class EightAtOnce(unittest.TestCase):
    def test_all_complete_with_right_labels_and_say_when_they_shrink(self) -> None:
        place = home()
        assert place
        group = place / f"zygo-python-{os.getpid()}"
        group.mkdir()
        self.addCleanup(self.remove, group)
        (group / "pids.max").write_text(str(MOST * AT_ONCE))
        command = ["/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh", sys.executable, "-B", "-c", CODE]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}

        started = [subprocess.Popen(command, env=environment, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for _ in range(AT_ONCE)]
        heard = self.listen(started, b"pool: 4 -> ")
        for process in started:  # all at once: who went on could keep others from their last round
            process.stdin.close()
            process.stdin = None
        ended = [process.communicate(timeout=3 * PATIENCE) for process in started]

        told = [json.loads(line) for before, (out, _) in zip(heard, ended) for line in (before + out).splitlines()]
        self.assertTrue(any("pool: 4 -> " in one.get("said", "") for one in told), "the limit was not felt")
        for process, before, (out, errors) in zip(started, heard, ended):
            self.assertEqual(process.returncode, 0, errors)
            self.assertIn(b'"labels"', before + out)
        self.assertEqual([one for one in told if one.get("labels", ROUND) != ROUND], [])

    def listen(self, processes: list[subprocess.Popen[bytes]], words: bytes) -> list[bytes]:
        """What each has written until one of them says the words, or none does in time."""
        heard = [b"" for _ in processes]
        give_up = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as selector:
            for number, process in enumerate(processes):
                selector.register(process.stdout, selectors.EVENT_READ, number)
            while not any(words in text for text in heard) and time.monotonic() < give_up:
                for key, _ in selector.select(give_up - time.monotonic()):
                    data = os.read(key.fd, 1 << 16)
                    heard[key.data] += data
                    if not data:
                        selector.unregister(key.fileobj)
        return heard

    def remove(self, group: Path) -> None:
        for folder, _, _ in os.walk(group, topdown=False):
            os.rmdir(folder)


if __name__ == "__main__":
    main()

"""Eight interpreters with a pool each, on a machine that has too few processes for them: all complete, with right labels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from support import PACKAGE, PATIENCE, main

GROUPS = Path("/sys/fs/cgroup")
AT_ONCE = 8
WORKERS = 4
# Two threads of the interpreter, those of zygo (a shard has a helper), and one process more: less than a job needs, if
# all are there at once.
MOST = 2 + 2 + 2 * min(WORKERS, len(os.sched_getaffinity(0))) + 1
CODE = """
import json, logging, sys
import zygo
lines = []
handler = logging.Handler()
handler.emit = lambda record: lines.append(record.getMessage())
logging.getLogger("zygo").addHandler(handler)
logging.getLogger("zygo").setLevel("INFO")
programs = ["import time\\ntime.sleep(0.01)\\nprint(1)", "1 // 0", "exit(3)"] * 5
with zygo.Pool("python", workers=4) as pool:
    labels = [result.label for result in pool.map({"source": source} for source in programs)]
zygo.shutdown()
print(json.dumps([labels, lines]))
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

        started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for _ in range(AT_ONCE)]
        ended = [process.communicate(timeout=3 * PATIENCE) for process in started]

        said = []
        for out, errors in ended:
            self.assertTrue(out, errors)
            labels, lines = json.loads(out)
            self.assertEqual(labels, ["OK", "ZeroDivisionError", "NonZeroExit"] * 5, lines)
            said += lines
        self.assertTrue(any("pool: 4 -> " in line for line in said), "the limit was not felt")

    def remove(self, group: Path) -> None:
        for folder, _, _ in os.walk(group, topdown=False):
            os.rmdir(folder)


if __name__ == "__main__":
    main()

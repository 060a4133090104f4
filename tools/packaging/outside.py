"""The project's Python tests and the ARC set by the wheel that is installed here, in a clean root without the checkout: its
tests, documents and grader were copied to the folder of this file (roots.py).

Arguments: the wheel; what to try: `tests` or `arc`. Prints a line for each thing tried; exits 1 if one is not as it should be.
`arc` leaves its report in arc.json beside this file.
"""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

WHEEL, TRIED = sys.argv[1:]
HERE = Path(__file__).resolve().parent
PIP = "install --no-index --quiet --disable-pip-version-check --root-user-action=ignore --break-system-packages".split()
SKIPPED = 77
failed = []


def run(*command):
    return subprocess.run([sys.executable, "-B", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True, cwd="/")


def report(what, good, detail=""):
    print("  {:<44} {} {}".format(what, "ok" if good else "FAILED", detail).rstrip(), flush=True)
    if not good:
        failed.append(what)


def tests():
    """Each file by itself, as from the checkout."""
    ran = skipped = 0
    files = sorted((HERE / "tests/python").glob("test_*.py"))
    for file in files:
        ended = run(file)
        if ended.returncode not in (0, SKIPPED):
            report(file.name, False, "\n" + ended.stderr)
        ran += int((re.search(r"^Ran (\d+) test", ended.stderr, re.MULTILINE) or [0, 0])[1])
        skipped += int((re.search(r"skipped=(\d+)", ended.stderr) or [0, 0])[1])
    report("Python tests", ran > skipped and not failed, "{} files, {} tests, {} skipped".format(len(files), ran, skipped))


def arc():
    ended = run(HERE / "tools/graders/arc", "--json", "--quiet", "--expected", "--expected-metrics")
    (HERE / "arc.json").write_text(ended.stdout)
    told = json.loads(ended.stdout or "{}")
    as_expected = told.get("differences") == told.get("metrics_differ") == []
    report("the ARC set", as_expected, "{} labels, {} differ from those expected{}".format(
        told.get("compared"), len(told.get("differences", ())), "" if as_expected else "\n" + ended.stderr + ended.stdout))


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where a shell started this in the background
    installed = run("-m", "pip", *PIP, WHEEL)
    if installed.returncode:
        report("installs", False, installed.stderr)
        return 1
    {"tests": tests, "arc": arc}[TRIED]()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

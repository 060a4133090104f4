"""A grader that runs pytest in a folder with the program and the tests.

    zygo certify --grader 'python3 by_pytest.py'
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    case = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "solution.py").write_text(case["program"], encoding="utf-8")
        Path(folder, "test_solution.py").write_text(case["tests"], encoding="utf-8")
        try:
            ended = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   timeout=4)
        except subprocess.TimeoutExpired:
            print(json.dumps({"passed": False, "reason": "timeout"}))
            return
    print(json.dumps({"passed": ended.returncode == 0}))


if __name__ == "__main__":
    main()

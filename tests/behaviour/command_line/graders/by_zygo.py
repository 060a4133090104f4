"""A grader that uses zygo: the program in one sandbox, its tests in another. `--suite` takes run_tests, and not HumanEval's way; strictly, or an `==` of the program's own would pass.

    zygo certify --kinds function,class,stdin --grader 'python3 by_zygo.py'
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools/python"))

import zygo  # noqa: E402
from zygo import grade  # noqa: E402


def passes(case: dict, pool: zygo.Pool) -> bool:
    if case["kind"] == "stdin":
        tests = [{"input": test["stdin"], "output": test["expect"]} for test in case["io"]]
        return set(grade.check_stdin(case["program"], tests, timeout=1, pool=pool)) == {"OK"}
    if "--suite" in sys.argv:
        return grade.run_tests(case["program"], case["tests"], timeout=1, strict=True, pool=pool).passed
    problem = {"task_id": case["id"], "prompt": "", "entry_point": case["entry_point"], "test": case["check"]}
    return bool(grade.check_correctness(problem, case["program"], timeout=1, pool=pool)["passed"])


def main() -> None:
    case = json.load(sys.stdin)
    with zygo.Pool(workers=2) as pool:
        print(json.dumps({"passed": passes(case, pool)}))


if __name__ == "__main__":
    main()

"""The package's own bounds are those of the runtime's table, as docs/jobs.md has them."""

import pathlib
import re
import unittest

import support  # noqa: F401  (puts the package on the path)
from zygo import calls

JOBS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "jobs.md"


def most(name: str) -> int:
    row = next(line for line in JOBS.read_text().splitlines() if line.startswith(f"| `limits.{name}`"))
    found = re.search(r"\d+ to (\d+)", row)
    assert found, row
    return int(found[1])


class Bounds(unittest.TestCase):
    def test_a_day_is_the_most_time(self) -> None:
        self.assertEqual(calls.DAY_MS, most("wall_ms"))
        self.assertEqual(calls.DAY_MS, most("cpu_ms"))

    def test_a_value_is_no_longer_than_any_may_be(self) -> None:
        self.assertEqual(calls.MOST_VALUE_KB, most("value_kb"))

    def test_the_usual_limits_of_functions_are_limits(self) -> None:
        for name, value in calls.LIMITS.items():
            self.assertLessEqual(value, most(name), name)


if __name__ == "__main__":
    unittest.main()

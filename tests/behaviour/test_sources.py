"""What a program is made of: files beside its source."""

from __future__ import annotations

import json
import unittest
from typing import Any

import languages
import zygo


def refusal(source: str, **fields: Any) -> str:
    """What is said of a job that must be BadJob."""
    ended = zygo.run_cli("batch", "-", stdin=zygo.lines_of([{"id": "only", "source": source, **fields}]))
    result = json.loads(ended.out)
    if result["label"] != "BadJob":
        raise AssertionError(zygo.brief(result))
    return json.dumps([result["detail"], result.get("tests")]).replace('\\"', '"')


class FurtherSources(unittest.TestCase):
    def test_a_file_in_a_folder_that_is_called_like_the_source_is_refused(self) -> None:
        source = "public class S { public static void main(String[] a) { } }"
        for field in ({"files": {"S.java/x": {"text": ""}}}, {"files": {"S.java": {"directory": True}}}):
            with self.subTest(str(field)):
                self.assertIn('files["S.java/', refusal(source, template="java", limits=languages.LIMITS, **field))


if __name__ == "__main__":
    unittest.main()

"""Templates are renewed: what programs learn of the address layout of one is of no use for ever."""

from __future__ import annotations

import unittest

import zygo
from zygo import ZygoTestCase

# A refused call wears its cell out, and the next job needs a new one: templates serve for 200 of them.
WEARING = "import ctypes\nprint(ctypes.cast(ctypes.CDLL(None).printf, ctypes.c_void_p).value)\nctypes.CDLL(None).socket(2, 1, 0)"
CELLS = 450


class ATemplate(ZygoTestCase):
    def test_is_replaced_by_one_with_another_layout_and_loses_no_job(self) -> None:
        jobs: list[zygo.Job] = [{"id": str(number), "source": WEARING} for number in range(CELLS)]

        results = zygo.run_batch(jobs, "--workers", "1", timeout=300)

        self.assertEqual({result["label"] for result in results.values()}, {"UnsafeCode"})
        layouts = [results[str(number)]["stdout"]["text"] for number in range(CELLS)]
        self.assertGreater(len(set(layouts)), 1, "no template was renewed")
        self.assertLessEqual(len(set(layouts)), 1 + CELLS // 200, "templates are renewed too often")
        # A job never meets a layout again that a template before had.
        order = list(dict.fromkeys(layouts))
        self.assertEqual(layouts, sorted(layouts, key=order.index))


if __name__ == "__main__":
    unittest.main()

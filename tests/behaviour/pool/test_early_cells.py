"""While a template makes its heap image, a cell that it forked before already serves who waits."""

from __future__ import annotations

import os
import signal
import unittest
from pathlib import Path

import host
import zygo
from zygo import Coprocess, Job, ZygoTestCase

STAY = "import sys, time\nprint('here', flush=True)\ntime.sleep(60)"
MOST_JOBS = 100  # until the image is there, which takes a part of a second


def is_on_image(job: int) -> bool:
    """Whether a process keeps its inherited memory in a template's image."""
    return "zygo-image" in Path(f"/proc/{job}/maps").read_text() or has_huge_image(job)


def has_huge_image(job: int) -> bool:
    """An image on a private tmpfs is a nameless file: a private writable mapping of a deleted one."""
    lines = Path(f"/proc/{job}/maps").read_text().splitlines()
    return any(line.split()[1] == "rw-p" and line.endswith("(deleted)") for line in lines)


@unittest.skipUnless(os.geteuid() == 0, "needs root to look at the memory of another user's process")
class WhoWaitsIsServedFirst(ZygoTestCase):
    def image_of_first_job(self, *options: str) -> bool:
        with Coprocess("--workers", "1", *options) as batch:
            batch.send(zygo.lines_of([{"id": "first", "template": "python-numpy", "source": STAY}]))
            return self.look(batch)[1]

    def look(self, batch: Coprocess) -> tuple[int, bool]:
        while True:
            job = host.job_of(batch.process.pid)
            try:
                return job, is_on_image(job)
            except FileNotFoundError:
                pass  # it was a holder that its cell cannot use, which goes while we look

    def test_the_first_job_does_not_wait_for_the_image(self) -> None:
        self.assertFalse(self.image_of_first_job())

    def test_a_heap_that_was_asked_for_is_that_of_the_first_job_too(self) -> None:
        self.assertTrue(self.image_of_first_job("--heap", "huge"))
        self.assertTrue(self.image_of_first_job("--heap", "merged"))
        self.assertFalse(self.image_of_first_job("--heap", "plain"))

    def test_soon_all_jobs_run_on_the_image(self) -> None:
        with Coprocess("--workers", "1") as batch:
            for number in range(MOST_JOBS):
                batch.send(zygo.lines_of([{"id": str(number), "source": STAY}]))
                job, moved = self.look(batch)
                os.kill(job, signal.SIGKILL)
                self.assertLabel(batch.result(), "Signalled")
                if moved:
                    return
            self.fail(f"none of {MOST_JOBS} jobs ran on the image")


class WhatEndsWithItsTemplate(ZygoTestCase):
    def test_each_job_is_told_why_the_template_was_refused(self) -> None:
        jobs: list[Job] = [{"id": str(n), "template": "broken", "source": "print(1)"} for n in range(5)]
        command = ("batch", "-", "--preload", "no_such_module", "--template", "broken", "--workers", "2")
        results = zygo.results_of(zygo.run_cli(*command, stdin=zygo.lines_of(jobs)).out)
        self.assertEqual(len(results), 5)
        for result in results:
            self.assertLabel(result, "BadJob")
            self.assertIn("preload 'no_such_module' cannot be imported", result["detail"]["message"])

    def test_all_that_wait_for_an_image_are_served(self) -> None:
        jobs: list[Job] = [{"id": str(n), "source": f"print({n})"} for n in range(40)]
        results = zygo.run_batch(jobs, "--workers", "4")
        for job in jobs:
            self.assertLabel(results[job["id"]], "OK")
            self.assertEqual(results[job["id"]]["stdout"]["text"], f"{job['id']}\n")


if __name__ == "__main__":
    unittest.main()

"""What a cell costs in memory: PSS of the process tree while 1, 4, 16 and 64 cells have a job each.

PSS counts a page that n processes share as 1/n in each, so the sum over the tree is what the tree holds. Jobs have done
a little (the numpy job, or the tiny one) and sleep while it is read. The image of a template is a file in memory: what
of it no process has touched is in `shared` only, which is the growth of the machine's Shmem, others' included.
"""
import time

from ..coprocess import Coprocess, job_line
from ..programs import PROGRAMS, TEMPLATES
from ..report import Section
from ..setting import Setting, new_id
from ..system import BenchError, children_of, process_tree, progress, pss_kb, shared_memory_kb

COUNTS = (1, 4, 16, 64)
PATIENCE_SECONDS = 60
LOOK_SECONDS = 0.1  # /proc has no event for a process that has come to rest
SAME = 0.005


def memory(setting: Setting) -> list[Section]:
    section = Section("memory", "PSS in kB of the process tree, all cells busy; extra: per cell above the line before")
    for template in setting.templates:
        before: dict | None = None
        for count in [n for n in COUNTS if n <= setting.effort.cells]:
            progress(f"memory: {template}, {count} cell(s)")
            record = _record(setting, template, count)
            # With fewer cells than cores the line before had fewer shards, too, each of which has a template.
            comparable = before is not None and before["cells"] >= setting.cores
            extra = (record["pss_kb"] - before["pss_kb"]) / (count - before["cells"]) if comparable else None
            section.records.append({**record, "extra_kb_per_cell": extra})
            before = record
    return [section]


def _record(setting: Setting, template: str, count: int) -> dict:
    shared = shared_memory_kb()
    zygo = setting.coprocess("--workers", str(count))
    try:
        program = PROGRAMS["numpy" if "numpy" in TEMPLATES[template] else "tiny"]
        job = {"template": template, "source": f"{program}\nimport time\ntime.sleep(600)",
               "limits": {"wall_ms": 600_000, "cpu_ms": 60_000}}
        zygo.send(b"".join(job_line({"id": new_id("sleep"), **job}) for _ in range(count)))
        tree, total = _at_rest(zygo, count)
        leaves = [pid for pid in tree if not children_of(pid)]
        return {
            "template": template, "cells": count, "processes": len(tree), "pss_kb": total,
            "daemon_kb": pss_kb([zygo.pid]), "jobs_kb": pss_kb(leaves), "shared_kb": shared_memory_kb() - shared,
        }
    finally:
        zygo.interrupt()


def _at_rest(zygo: Coprocess, count: int) -> tuple[list[int], int]:
    """The tree and its PSS once a process per cell and one per job is there and nothing grows any more."""
    deadline, before = time.monotonic() + PATIENCE_SECONDS, (0, 0)
    while time.monotonic() < deadline:
        tree = process_tree(zygo.pid)
        total = pss_kb(tree)
        if len(tree) >= 2 * count + 1 and len(tree) == before[0] and abs(total - before[1]) <= SAME * total:
            return tree, total
        before = (len(tree), total)
        time.sleep(LOOK_SECONDS)
    raise BenchError(f"{count} jobs were not at rest within {PATIENCE_SECONDS} s")

"""A template may keep its memory in four ways; no program can tell which one it runs on."""

from __future__ import annotations

import unittest
from textwrap import dedent

import zygo
from zygo import Job, ZygoTestCase

MODES = ["plain", "moved", "merged", "huge"]

# Each does to inherited memory what a file mapping might do differently from anonymous memory.
PROGRAMS = {
    "a large preloaded block grows and shrinks": """
        import sys
        for number in range(300_000):
            sys.intern(f"name-{number}")
        sys.modules.update({f"m{n}": sys for n in range(5000)})
        print(len(sys.modules) > 5000, sys.intern("name-7") is sys.intern("name-" + "7"))
        """,
    "memory that is given back and asked for again is zero": """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.malloc_trim(0)
        libc.calloc.restype = ctypes.c_void_p
        blocks = [libc.calloc(1, size) for size in (64, 4000, 70_000, 300_000, 5_000_000)]
        print([any(ctypes.string_at(block, size)) for block, size in
               zip(blocks, (64, 4000, 70_000, 300_000, 5_000_000))])
        """,
    "realloc moves and grows blocks of every size": """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.realloc.restype = ctypes.c_void_p
        libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        block, size = None, 16
        while size < 50_000_000:
            block = libc.realloc(block, size)
            ctypes.memset(block, size % 251, size)
            size = size * 3 // 2
        print(ctypes.string_at(block, 1) == bytes([size * 2 // 3 % 251]) or "grown")
        """,
    "the collector walks all that was inherited": """
        import gc
        gc.unfreeze()
        gc.collect()
        gc.collect()
        print("collected")
        """,
    "every module of the template is written to": """
        import sys
        for module in list(sys.modules.values()):
            for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
                hash(name), type(value), id(value)
                setattr(module, "_touched", name)
        print("touched")
        """,
    "threads start, allocate and end": """
        import threading
        def work(results, n):
            results.append(sum(len(str(i)) for i in range(20_000)))
        results = []
        threads = [threading.Thread(target=work, args=(results, n)) for n in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(results)
        """,
    "deep recursion and large stacks": """
        import sys
        sys.setrecursionlimit(5000)
        def down(n): return 0 if n == 0 else 1 + down(n - 1)
        print(down(4000))
        """,
    "numerical work on fresh and inherited arrays": """
        import numpy as np
        a = np.arange(250_000, dtype=float).reshape(500, 500)
        print(float(np.linalg.norm(a @ a.T)), float(np.sort(a[::-1]).sum()), np.zeros(10**6).any())
        """,
}
FORKING = """
    import os
    child = os.fork()
    if child == 0:
        data = [str(i) for i in range(100_000)]
        os._exit(len(data) % 251)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """


def jobs() -> list[Job]:
    plain = [{"id": name, "template": "python-numpy", "source": dedent(source)} for name, source in PROGRAMS.items()]
    return [*plain, {"id": "a fork in the job", "template": "python-numpy", "source": dedent(FORKING),
                     "policy": {"profile": "subprocess"}}]


class TheSameOnEveryHeap(ZygoTestCase):
    def test_programs_that_stress_inherited_memory_end_alike(self) -> None:
        reference = zygo.run_batch(jobs(), "--heap", "plain")
        for name, result in reference.items():
            self.assertLabel(result, "OK")

        for mode in MODES[1:]:
            results = zygo.run_batch(jobs(), "--heap", mode)
            for name, result in results.items():
                with self.subTest(name, heap=mode):
                    self.assertLabel(result, "OK")
                    self.assertEqual(result["stdout"], reference[name]["stdout"])

    def test_what_one_job_writes_to_the_image_the_next_does_not_see(self) -> None:
        write = "import json, random\njson.mark = 'left'\nrandom.Random.mark = 'left'\nprint('written')"
        look = "import json, random\nprint(hasattr(json, 'mark'), hasattr(random.Random, 'mark'))"
        order: list[Job] = [{"id": "write", "source": write}, {"id": "look", "source": look}]

        for mode in MODES:
            results = zygo.run_batch(order, "--workers", "1", "--heap", mode)
            with self.subTest(heap=mode):
                self.assertEqual(results["look"]["stdout"]["text"], "False False\n")


if __name__ == "__main__":
    unittest.main()

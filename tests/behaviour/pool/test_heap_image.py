"""A template may keep its memory in four ways; no program can tell which one it runs on."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import host
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


@contextmanager
def environment_with(module: str, source: str) -> Iterator[Path]:
    """The interpreter of a fresh virtual environment that has one module of its own."""
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        subprocess.run(
            ["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", str(venv)], check=True, timeout=60
        )
        Path(folder).chmod(0o755)
        (site,) = venv.glob("lib/python3*/site-packages")
        (site / f"{module}.py").write_text(dedent(source), encoding="utf-8")
        yield venv / "bin/python3"


# Two thirds of a megabyte that the template has, and jobs that write to all of it.
SETUP = """
    held = bytearray(170 * 4096)

    def write():
        for at in range(0, len(held), 4096):
            held[at] = 1
        return "written"
    """
WRITING = "from zygo_setup import write\ndef f(x):\n    return write()\n"
COUNTING = dedent("""
    from resource import RUSAGE_SELF, getrusage
    from zygo_setup import write
    def f(x):
        before = getrusage(RUSAGE_SELF).ru_minflt
        write()
        return getrusage(RUSAGE_SELF).ru_minflt - before
    """)


class ATemplateLearnsFromTheTrialsOfItsSetup(ZygoTestCase):
    def faults_of_a_job(self, *trials: object) -> int:
        """While it writes to what the template holds."""
        job: Job = {"id": "j", "mode": "call", "source": COUNTING, "func": "f", "inputs": [1]}
        with tempfile.NamedTemporaryFile("w", suffix=".py") as setup:
            setup.write(dedent(SETUP) + f"__trials__ = {list(trials)!r}\n")
            setup.flush()
            os.chmod(setup.name, 0o644)
            results = zygo.run_batch([job], "--memory-of-jobs", "fork", "--heap", "moved", "--setup", setup.name,
                                     "--preload", "resource")
        self.assertLabel(results["j"], "OK")
        return results["j"]["value"][0]

    def test_what_they_write_to_is_there_before_a_job_begins(self) -> None:
        self.assertGreaterEqual(self.faults_of_a_job(), 150)
        self.assertLess(self.faults_of_a_job(WRITING), 20)

    def test_what_is_no_program_or_fails_costs_nothing(self) -> None:
        self.assertGreaterEqual(self.faults_of_a_job(7, None, "not a program", "def f(x):\n    raise KeyError\n"), 150)


class NoPageIsWritableAndExecutable(ZygoTestCase):
    @unittest.skipUnless(os.geteuid() == 0, "needs root to look at the memory of another user's process")
    def test_in_template_cell_and_job(self) -> None:
        job = b'{"id": "j", "template": "python-numpy", "source": "import time; time.sleep(60)"}\n'
        for mode in MODES:
            process = zygo.start_cli("batch", "-", "--quiet", "--heap", mode)
            try:
                process.stdin.write(job)
                process.stdin.flush()
                for pid in host.chain_of(process.pid):
                    protections = [line.split()[1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
                    with self.subTest(host.name_of(pid), heap=mode):
                        self.assertGreater(len(protections), 20)
                        self.assertEqual([p for p in protections if "w" in p and "x" in p], [])
            finally:
                process.terminate()
                zygo.finish(process)


# Every generator that a template may have used before it was forked.
DRAWS = """
    import json, os, random, secrets, ssl, tempfile, uuid
    import numpy as np
    drawn = {
        "random": random.getrandbits(64),
        "random.gauss": random.gauss(0, 1),
        "another Random": random.Random().getrandbits(64),
        "numpy legacy": np.random.randint(1 << 62),
        "numpy legacy normal": float(np.random.standard_normal()),
        "numpy default_rng": int(np.random.default_rng().integers(1 << 62)),
        "openssl": ssl.RAND_bytes(8).hex(),
        "urandom": os.urandom(8).hex(),
        "secrets": secrets.token_hex(8),
        "uuid1": str(uuid.uuid1()),
        "uuid4": str(uuid.uuid4()),
        "tempfile": next(tempfile._get_candidate_names()),
    }
    """
SEEDED = """
    random.seed(7)
    np.random.seed(7)
    seeded = [random.random(), random.gauss(0, 1), np.random.rand(), np.random.standard_normal()]
    print(json.dumps([drawn, seeded]))
    """


class ChanceIsTheJobsOwn(ZygoTestCase):
    def test_no_generator_repeats_itself_in_the_next_job(self) -> None:
        source = dedent(DRAWS) + dedent(SEEDED)
        jobs: list[Job] = [{"id": str(n), "source": source} for n in range(6)]
        with environment_with("used_chance", DRAWS) as python:
            for mode in ("plain", "huge"):
                # Two cells, one after the other in each: neither the next job of a cell nor another cell's.
                results = zygo.run_batch(
                    jobs, "--workers", "2", "--heap", mode, "--python", str(python), "--preload", "used_chance",
                    "--template", "custom",
                )
                for result in results.values():
                    self.assertLabel(result, "OK")
                said = [json.loads(result["stdout"]["text"]) for result in results.values()]
                for name in said[0][0]:
                    with self.subTest(name, heap=mode):
                        self.assertEqual(len({drawn[name] for drawn, _ in said}), len(said))
                with self.subTest("seeded", heap=mode):
                    self.assertEqual(len({tuple(seeded) for _, seeded in said}), 1)


# A template, what it takes beyond `--template`, and a program that uses what is particular to it.
TEMPLATES: dict[str, tuple[list[str], str]] = {
    "python": ([], "import math, json\nprint(json.dumps([math.factorial(30), sorted({3, 1, 2})]))"),
    "python-numpy": ([], "import numpy as np\nprint(np.linalg.inv(np.eye(3) * 2).tolist())"),
    "python-pandas": ([], "import pandas as pd\nf = pd.DataFrame({'a': range(9), 'b': list('abcabcabc')})\n"
                          "print(f.groupby('b').a.agg(['sum', 'mean']).to_dict())"),
    "scientific": (["--preload", "scipy.optimize,scipy.sparse,scipy.stats"],
                   "import numpy as np, scipy.optimize as o, scipy.sparse as s\n"
                   "print(round(o.brentq(lambda x: x * x - 2, 0, 2), 9), s.eye(4).toarray().sum())"),
}


class EveryTemplate(ZygoTestCase):
    def test_runs_the_same_on_the_image_as_on_the_plain_heap(self) -> None:
        for template, (options, source) in TEMPLATES.items():
            if template == "scientific" and importlib.util.find_spec("scipy") is None:
                print("skipped: scipy is not installed", flush=True)
                continue
            said = {}
            for mode in ("plain", "huge"):
                jobs: list[Job] = [{"id": str(n), "template": template, "source": source} for n in range(3)]
                results = zygo.run_batch(jobs, *options, *(["--template", template] if options else []), "--heap", mode)
                for result in results.values():
                    self.assertLabel(result, "OK")
                said[mode] = {result["stdout"]["text"] for result in results.values()}
            with self.subTest(template):
                self.assertEqual(len(said["plain"]), 1)
                self.assertEqual(said["huge"], said["plain"])


if __name__ == "__main__":
    unittest.main()

"""The small jobs, the same for zygo and for what it is compared with, and what their interpreters have loaded."""

# Each leaves its answer in `result`.
PROGRAMS = {
    "tiny": "result = str(sum(range(100)))",
    "func": (
        "def f(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n"
        "result = f(50) + sum(sorted([3, 1, 2]))"
    ),
    "numpy": "import numpy as np\na = np.arange(1000.0)\nresult = float((a * a).sum())",
    # 5 ms of CPU time, not of the clock: two at once on one core take 10.
    "5 ms": "import time\nend = time.process_time() + 0.005\nwhile time.process_time() < end:\n    pass\nresult = 5",
}
ANSWERS = {"tiny": "4950", "func": "12586269031", "numpy": "332833500.0", "5 ms": "5"}
SMALL = ("tiny", "func", "numpy")

STANDARD = (
    "json", "re", "math", "random", "collections", "itertools", "functools", "heapq", "bisect", "string", "datetime",
    "typing",
)
NUMPY = "python-numpy"  # the template that is measured where one must do
TEMPLATES = {
    NUMPY: ("numpy", *STANDARD),
    "python": STANDARD,
    "python-pandas": ("numpy", "pandas", *STANDARD),
}

# Otherwise numexpr and the BLAS start threads, and a fork of a process with threads is no zygote.
ONE_THREAD = {
    name: "1"
    for name in (
        "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    )
}


def programs_of(template: str) -> list[str]:
    return [name for name in SMALL if name != "numpy" or "numpy" in TEMPLATES[template]]

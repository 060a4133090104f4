"""A session as its user sees it: what a step finds, what it leaves, and what is not kept."""

from __future__ import annotations

import ast
import os
import platform
import random
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sessions.client import SessionTestCase

BRK = 12 if platform.machine() == "x86_64" else 214  # brk(2), for syscall(2)


# Programs by how they end.
ENDINGS = ("f = lambda x=1: x\nf()", "x = '''a\nb'''\nx", "x = 1\nlen('''a\nb = 2\n''')", "(\n1 +\n2\n)", "x = 1; x + 1", "[1,\n2]",
           "if True:\n  y = 3\ny", "x = \\\n 5\nx", "x = 1 + \\\n2", "'text'", "'text'\n5", "x = 2\nf'{x}'", "# c\n7  # d\n\n# e\n",
           "x = 1\r\nx", "\nx = [\n1,\n2]\n", "*(1,), 2", "x = 1\n(y := 4)", "x = {'a': 1}\nx['a']", "x = {}\nx['a'] = len('a=b')",
           "from __future__ import annotations\n1", "def g(): pass", "x: int = 4", "x = 1\nx += 1", "x = 1\nx == 1", "dict(\na=1,\nb=2)",
           "x = 1\n\n\n  \n# (\nx", "for i in range(3):\n  i", "try:\n  1\nfinally:\n  2", "x = 'a;b'\nx", "é = 1\né", "lambda x=1: x",
           "v = 'k'\n'''<a\nhref=\"''' + v + '\"'  # isn't", "\"\"\"\nfor 'a\"\"\" + 'b' #'", "x = 1\nf'''\nif {x} 'a''' + 'b' #'")


def last_value(source: str) -> Any:
    """Of a program's last expression, as an interactive interpreter would show it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    names: dict[str, Any] = {}
    exec(compile(tree, "main.py", "exec"), names)  # noqa: S102  ours
    value = eval(compile(ast.Expression(last.value), "main.py", "eval"), names) if last else None  # noqa: S307
    if isinstance(value, tuple):
        return {"$type": "tuple", "items": list(value)}
    return None if callable(value) else value


class Steps(SessionTestCase):
    def test_a_step_finds_what_those_before_it_left(self) -> None:
        node = self.node("", "x = [1]", "def f(n):\n    return x + [n]", "import collections as c", "x.append(2)")
        self.assertEqual(self.value(node, "f(3)"), [1, 2, 3])
        self.assertEqual(self.value(node, "sorted(c.Counter('aab').items())[0][1]"), 2)

    def test_the_value_is_that_of_the_last_expression(self) -> None:
        result = self.keep("", "x = 6\nx * 7")
        self.assertEqual((result["value"], result["display"]), (42, {"text/plain": "42"}))
        self.assertEqual(self.value(result["session"]["node"], "_ + 1"), 43)
        for source in ("x = 1", "None", "", "for i in range(3): i"):
            with self.subTest(source=source):
                quiet = self.keep("", source)
                self.assertEqual((quiet["value"], quiet.get("display")), (None, None))

    def test_the_last_expression_is_that_of_the_tree(self) -> None:
        for source in ENDINGS:
            with self.subTest(source=source):
                self.assertEqual(self.keep("", source)["value"], last_value(source))

    def test_a_warning_of_the_compiler_is_shown_once(self) -> None:
        for source in ("x = 1\nx is 5", "x = 1\ny = x is 5", "x = 1\nif x is 5: pass\nx", "x = 1\n*'a', x is 5"):
            with self.subTest(source=source):
                shown = self.keep("", source)["stderr"]["text"]
                self.assertEqual(shown.count("SyntaxWarning"), 1, shown)
                self.assertIn("x is 5", shown.partition("SyntaxWarning")[2], "its line")
        shown = self.keep("", "1 is 1\nreturn 4", label="SyntaxError")["stderr"]["text"]
        self.assertEqual(shown.count("SyntaxWarning"), 1, shown)

    def test_an_exception_of_the_program_while_it_is_compiled_is_its_own(self) -> None:
        shown = "import warnings\ndef show(*_):\n  warnings.showwarning = lambda *_: None\n  raise KeyError(7)\nwarnings.showwarning = show"
        for source in ("1 is 1", "x = 1 is 1"):
            with self.subTest(source=source):
                self.assertLabel(self.step(self.node("", shown), source), "KeyError")

    def test_what_cannot_be_a_value_is_shown(self) -> None:
        result = self.keep("", "class A:\n  def __repr__(self): return 'an A'\n  def _repr_html_(self): return '<b>A</b>'\nA()")
        self.assertEqual(result["value"], None)
        self.assertEqual(result["display"], {"text/html": "<b>A</b>", "text/plain": "an A"})

    def test_a_function_that_is_there_is_called(self) -> None:
        node = self.node("", "calls = 0\ndef f(x):\n  global calls\n  calls += 1\n  return x * 2")
        result = self.service.run("", session=node, mode="call", func="f", inputs=[1, [2]])
        self.assertLabel(result, "OK")
        self.assertEqual(result["value"], [2, [2, 2]])
        self.assertEqual(self.value(result["session"]["node"], "calls"), 2)

    def test_an_exception_leaves_what_was_done_before_it(self) -> None:
        result = self.keep("", "x = 1\n1 / 0\nx = 2", label="ZeroDivisionError")
        self.assertEqual(self.value(result["session"]["node"], "x"), 1)
        result = self.keep(result["session"]["node"], "x = (", label="SyntaxError")
        self.assertEqual(self.value(result["session"]["node"], "x"), 1)

    def test_a_traceback_names_the_step_of_each_line(self) -> None:
        node = self.node("", "def f(n):\n    return 1 / n", "x = 1")
        result = self.keep(node, "y = 2\n\nf(0)", label="ZeroDivisionError")
        self.assertEqual((result["exception"]["traceback"], result["detail"]["line"]),
                         ('Traceback (most recent call last):\n  File "step 3", line 3, in <module>\n    f(0)\n'
                          '  File "main.py", line 2, in f\nZeroDivisionError: division by zero\n', 3))
        lines = "import inspect, traceback\ntry: f(0)\nexcept Exception: text = traceback.format_exc()\n"
        self.assertEqual(self.value(node, lines + "['return 1 / n' in text, inspect.getsource(f)]"),
                         [True, "def f(n):\n    return 1 / n\n"])

    def test_a_step_that_a_limit_ends_leaves_its_parent(self) -> None:
        node = self.node("", "x = 1")
        endings = {"TimeoutException": "x = 2\nwhile True: pass", "MemoryLimitExceeded": "x = bytearray(1 << 30)",
                   "UnsafeCode": "x = 2\nimport socket\nsocket.socket()"}
        for label, source in endings.items():
            with self.subTest(label=label):
                result = self.step(node, source, limits={"cpu_ms": 300 if "while" in source else 10000, "memory_mb": 128})
                self.assertNotKept(result, "a step that ends so leaves the session as it was", label)
                self.assertEqual(self.value(result["session"]["node"], "x"), 1)

    def test_branches_see_nothing_of_each_other(self) -> None:
        node = self.node("", "x = [0]\nopen('f', 'w').write('0')")
        left = self.node(node, "x.append('left')\nopen('f', 'a').write('left')\nopen('only-left', 'w').close()")
        right = self.node(node, "x.append('right')\nopen('f', 'a').write('right')")
        look = "import os; [x, open('f').read(), sorted(os.listdir('.'))]"
        self.assertEqual(self.value(left, look), [[0, "left"], "0left", ["f", "only-left"]])
        self.assertEqual(self.value(right, look), [[0, "right"], "0right", ["f"]])
        self.assertEqual(self.value(node, look), [[0], "0", ["f"]])


class State(SessionTestCase):
    def test_a_state_may_be_most_of_its_limit(self) -> None:
        limits = {"memory_mb": 96}
        node = self.keep("", "import os\nx = [os.urandom(6 << 20) for _ in range(10)]", limits=limits)["session"]["node"]
        for i in range(9):
            node = self.keep(node, f"x[{i}] = os.urandom(6 << 20)", limits=limits)["session"]["node"]
        self.assertEqual(self.keep(node, "sum(map(len, x))", limits=limits)["value"], 60 << 20)

    def test_a_seed_says_what_is_drawn(self) -> None:
        draw = "import random\n[random.random(), random.gauss(0, 1)]"
        for node in ("", self.node("", "import random\nrandom.random()")):
            drawn = [self.value(node, draw, seed=seed) for seed in (5, 5, 6)]
            self.assertEqual(drawn[0], drawn[1])
            self.assertNotEqual(drawn[0], drawn[2])
        seeded = self.node("", "import random\nrandom.seed(1)")
        self.assertEqual(self.value(seeded, draw, seed=5), self.value(seeded, draw, seed=6))
        self.assertEqual(self.service.ask("POST", "/v1/jobs", {"source": "1", "seed": 5}).json["error"]["path"], "seed")

    def test_few_descriptors_are_enough_for_every_state(self) -> None:
        limits = {"open_files": 16}
        node = self.keep("", "import os\nopen('f', 'w').write('kept')", limits=limits)["session"]["node"]
        for i in range(10):
            node = self.keep(node, f"x{i} = os.urandom(1 << 18)", limits=limits)["session"]["node"]
        self.assertEqual(self.keep(node, "open('f').read()", limits=limits)["value"], "kept")

    def test_generators_and_chance(self) -> None:
        node = self.node("", "import random\nrandom.seed(7)\nfirst = random.random()\nit = iter(range(5)); next(it)")
        draws = [self.value(node, "[next(it), random.random()]") for _ in range(2)]
        self.assertEqual(draws[0], draws[1])
        fresh = self.node("", "import random")
        self.assertNotEqual(self.value(fresh, "random.random()"), self.value(fresh, "random.random()"))

    def test_no_half_of_a_pair_of_draws_is_left(self) -> None:
        """The second of two deviates that are made together is kept by their generator."""
        for draw, template in (("random.gauss(0, 1)", "python"), ("np.random.randn()", "python-numpy")):
            with self.subTest(draw):
                node = self.node("", f"import random\ntry: import numpy as np\nexcept ImportError: pass\n{draw}", template=template)
                self.assertNotEqual(*(self.value(node, draw, template=template) for _ in range(2)))

    def test_files_of_all_kinds(self) -> None:
        node = self.node("", """
import os
os.makedirs('a/b')
open('a/b/f', 'w').write('content')
os.link('a/b/f', 'hard')
os.symlink('a/b/f', 'soft')
os.chmod('a/b/f', 0o444)
os.utime('a/b/f', (1, 2))
os.mkdir('shut', 0o500)
""")
        look = ("[open('soft').read(), os.path.samefile('hard', 'a/b/f'), os.readlink('soft'), "
                "oct(os.stat('a/b/f').st_mode), os.stat('a/b/f').st_mtime, oct(os.stat('shut').st_mode), "
                "os.stat('hard').st_nlink]")
        expected = ["content", True, "a/b/f", "0o100444", 2.0, "0o40500", 2]
        self.assertEqual(self.value(node, look), expected)
        node = self.node(node, "os.rename('a', 'z')", "os.unlink('hard')")
        self.assertEqual(self.value(node, "[sorted(os.listdir('.')), os.stat('z/b/f').st_nlink]"),
                         [["shut", "soft", "z"], 1])

    def test_open_files_go_on_where_they_were(self) -> None:
        node = self.node("", "import os\nf = open('f', 'w+')\nf.write('one two')\nf.seek(4)\ng = open('log', 'a')\n"
                             "null = open('/dev/null', 'w')\nd = os.dup(f.fileno())")
        left = self.node(node, "f.read(3)", "f.write(' three'); f.flush(); g.write('left'); g.flush()")
        self.assertEqual(self.value(left, "[open('f').read(), open('log').read(), os.lseek(d, 0, 1) == os.lseek(f.fileno(), 0, 1)]"),
                         ["one two three", "left", True])
        self.assertEqual(self.value(node, "[f.read(), null.write('x')]"), ["two", 1])

    def test_each_step_has_its_own_input(self) -> None:
        first = self.keep("", "import sys\nread = sys.stdin.readline\nfirst = read()", stdin="one\ntwo\n")
        second = self.keep(first["session"]["node"], "first + read() + input()", stdin="three\n" * 100_000)
        self.assertEqual(second["value"], "one\nthree\nthree")
        self.assertEqual(self.value(second["session"]["node"], "sys.stdin.read()"), "")

    def test_input_is_there_again_whatever_a_step_made_of_it(self) -> None:
        node = self.node("", "import io, sys", "sys.stdin.read()", "pass")
        for source in ("sys.stdin.close()", "sys.stdin.buffer.close()", "sys.stdin.buffer.raw.close()", "sys.stdin.readline()",
                       "sys.stdin.reconfigure(errors='replace', newline='')", "sys.stdin.buffer.peek()", "pass"):
            with self.subTest(source=source):
                after = self.keep(node, source)["session"]["node"]
                look = "[sys.stdin.closed, sys.stdin.errors, sys.stdin.read(), sys.stdin.fileno()]"
                self.assertEqual(self.value(after, look), [False, "strict", "", 0])
                self.assertEqual(self.keep(after, "sys.stdin.read()", stdin="given\n")["value"], "given\n")

    def test_threads_are_waited_for(self) -> None:
        node = self.node("", "import threading, time\ndone = []\ndef work():\n  time.sleep(0.05); done.append(1)\n"
                             "threads = [threading.Thread(target=work) for _ in range(3)]\nfor each in threads: each.start()")
        self.assertEqual(self.value(node, "done"), [1, 1, 1])

    def test_threads_are_gone_before_their_step_is_kept(self) -> None:
        """A deep stack takes the kernel long to free, after Python has said that the thread has ended."""
        code = ("import sys, threading\nthreading.stack_size(256 << 20)\nsys.setrecursionlimit(1_000_000)\n"
                "def deep(n):\n  return n and next(map(deep, [n - 1]))\n"
                "thread = threading.Thread(target=deep, args=(100_000,))\nthread.start()\n")
        for joined in ("", "thread.join()"):
            with self.subTest(joined=joined):
                self.assertEqual(self.value(self.node("", code + joined), "thread.is_alive()"), False)

    def test_threads_that_nobody_knows_any_more_are_gone_as_well(self) -> None:
        """For the kernel a thread lasts until its own data is gone, which takes 50 ms here (pthread_key_create(3))."""
        code = ("import _thread, ctypes, threading\nC = ctypes.CDLL(None)\nkey = ctypes.c_uint()\nhas_run = _thread.allocate_lock()\n"
                "def work():\n  C.pthread_setspecific(key, ctypes.c_void_p(50_000))\n  has_run.release()\n"
                "def by_class():\n  thread = threading.Thread(target=work)\n  thread.start()\n  thread.join()\n"
                "def by_function():\n  _thread.start_new_thread(work, ())\n  has_run.acquire()\n"
                "C.pthread_key_create(ctypes.byref(key), C.usleep)\nhas_run.acquire()\n")
        for start in ("by_class()", "by_function()"):
            with self.subTest(start=start):
                self.assertEqual(self.value(self.node("", code + start), "threading.active_count()"), 1)

    def test_executors_that_nobody_waits_for(self) -> None:
        code = "from concurrent.futures import ThreadPoolExecutor\nimport asyncio\n"
        for use in ("def f():\n  e = ThreadPoolExecutor(8)\n  return sum(e.map(abs, range(100)))\nf()",
                    "e = ThreadPoolExecutor(8)\nn = sum(e.map(abs, range(100)))\ne.shutdown(wait=False)\nn",
                    "loop = asyncio.new_event_loop()\nn = loop.run_until_complete(loop.run_in_executor(None, sum, range(100)))\nloop.close()\nn"):
            with self.subTest(use=use):
                self.assertEqual(self.value("", code + use), 4950)

    def test_surroundings(self) -> None:
        node = self.node("", "import os, signal\nos.mkdir('d'); os.chdir('d'); os.umask(0o27); os.environ['A'] = 'b'\n"
                             "caught = []\nsignal.signal(signal.SIGUSR1, lambda *a: caught.append(1))\n"
                             "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])")
        self.assertEqual(self.value(node, "os.kill(os.getpid(), signal.SIGUSR1)\n"
                                          "[os.path.basename(os.getcwd()), oct(os.umask(0)), os.environ['A'], caught, "
                                          "signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, [])]"),
                         ["d", "0o27", "b", [1], True])

    def test_what_the_kernel_and_the_processor_keep_of_a_process(self) -> None:
        look = ("import ctypes, faulthandler, signal\nC = ctypes.CDLL(None)\n"
                "def found():\n  name, stack, action = (ctypes.create_string_buffer(n) for n in (16, 24, 152))\n"
                "  C.prctl(16, name), C.sigaltstack(None, stack)\n"
                "  actions = [C.sigaction(n, None, action) or action.raw[:8] + action.raw[136:140] for n in (signal.SIGUSR1, signal.SIGSEGV)]\n"
                "  return repr([name.value, C.prctl(30), C.fegetround(), stack.raw[:8], actions])\n")
        change = ("signal.signal(signal.SIGUSR1, lambda *a: None); signal.siginterrupt(signal.SIGUSR1, False)\nfaulthandler.enable()\n"
                  "C.fesetround(0x400); C.prctl(15, b'a step'); C.prctl(29, 123_456)\n")
        node = self.node("", look + "usual = found()", change)
        first = self.keep(node, "found()")
        self.assertEqual(self.value(node, "found() == usual"), False)
        self.assertIn("b'a step', 123456, 1024", first["value"])
        self.assertEqual(self.value(first["session"]["node"], "found()"), first["value"])

    def test_a_database_goes_on(self) -> None:
        """SQLite knows its file by device and inode number."""
        node = self.node("", "import os, sqlite3\na = sqlite3.connect('data', timeout=0)\na.execute('create table t (x)')",
                         "a.execute('insert into t values (1)'); a.commit()", "a.execute('insert into t values (2)')")
        locked = self.keep(node, "b = sqlite3.connect('data', timeout=0)\nb.execute('insert into t values (9)')", label="OperationalError")
        self.assertIn("locked", locked["exception"]["message"])
        after = self.node(locked["session"]["node"], "a.commit()", "b.execute('insert into t values (3)'); b.commit()")
        self.assertEqual(self.value(after, "[x for x, in a.execute('select x from t')]"), [1, 2, 3])
        self.assertEqual(self.value(node, "a.rollback()\n[x for x, in a.execute('select x from t')]"), [1])
        moved = self.step(after, "os.rename('data', 'other')\na.execute('insert into t values (4)')")
        self.assertLabel(moved, "OperationalError")
        new = self.node(after, "os.rename('data', 'other')\nc = sqlite3.connect('data')\nc.execute('create table u (y)')",
                        "c.execute('insert into u values (7)'); c.commit()")
        self.assertEqual(self.value(new, "[[y for y, in c.execute('select * from u')], [each for each in os.listdir() if '-' in each]]"), [[7], []])

    def four_times(self, node: str, source: str) -> list[object]:
        """At once, so that they are in different cells."""
        with ThreadPoolExecutor(4) as threads:
            return list(threads.map(lambda _: self.value(node, f"import time; time.sleep(0.2)\n{source}"), range(4)))

    def test_a_database_goes_on_in_every_cell(self) -> None:
        node = self.node("", "import os, sqlite3\nfor i in range(60): open('f', 'w'); os.unlink('f')\na = sqlite3.connect('data', timeout=0)",
                         "a.execute('create table t (x)'); a.commit()", "a.execute('insert into t values (1)')")
        failed = self.keep(node, "1", label="NotADirectoryError", files={"data/below": {"text": ""}})
        self.assertEqual(self.four_times(failed["session"]["node"], "a.execute('insert into t values (2)'); a.commit()\n[x for x, in a.execute('select x from t')]"),
                         [[1, 2]] * 4)
        replace = ("a.commit(); os.rename('data', 'old'); seen = set()\nfor i in range(150):\n"
                   "  if os.path.exists('data'): os.unlink('data')\n  open('data', 'w').close()\n"
                   "  try: a.execute('insert into t values (3)'); a.commit(); seen.add('written')\n"
                   "  except sqlite3.OperationalError as error: seen.add(str(error)); a.rollback()\nsorted(seen)")
        self.assertEqual(self.four_times(node, replace), [["attempt to write a readonly database"]] * 4)

    def test_a_lock_is_held_from_step_to_step(self) -> None:
        other = ("import subprocess\nsubprocess.run(['python3', '-c', 'import sqlite3; sqlite3.connect(\"data\", timeout=0).execute(\"delete from t\")'], "
                 "capture_output=True, text=True).stderr[-40:]")
        node = self.node("", "import sqlite3\na = sqlite3.connect('data')\na.execute('create table t (x)'); a.commit()\na.execute('begin immediate')",
                         policy={"profile": "subprocess"})
        locked = self.keep(node, other, policy={"profile": "subprocess"})
        self.assertIn("database is locked", locked["value"])
        free = self.node(locked["session"]["node"], "a.commit()", policy={"profile": "subprocess"})
        self.assertEqual(self.value(free, other, policy={"profile": "subprocess"}), "")

    def test_its_directory_whatever_its_name_is(self) -> None:
        """Where nothing can be mounted, each cell has another one."""
        node = self.node("", "import os, sys, tempfile\ntempfile.gettempdir()\nopen('lib.py', 'w').write('x = 5')")
        look = ("import lib, time\ntime.sleep(0.1)\nhere = os.getcwd()\n"
                "[lib.x, os.environ['HOME'] == here, os.environ['TMPDIR'] == here, sys.path[0] == here, tempfile.gettempdir() == here]")
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: self.value(node, look), range(4)))
        self.assertEqual(found, [found[0]] * 4)
        self.assertEqual(found[0][0], 5)
        if "--level" in self.options:
            self.assertEqual(found[0], [5, True, True, True, True])

    def test_the_heap_ends_where_its_allocator_takes_it_to_end(self) -> None:
        """Whoever puts a state back has a heap of its own by then: brk(2) is a part of each state, wherever it is."""
        chance = random.Random(21)
        where = ("import ctypes\nlibrary = ctypes.CDLL(None)\nlibrary.sbrk.restype = ctypes.c_void_p\nlibrary.syscall.restype = ctypes.c_long\n"
                 f"kept = {{}}\ndef where():\n  return library.sbrk(0) - library.syscall({BRK}, 0)\n")
        node = self.node("", where + "big = [bytes(4000 + i % 100) for i in range(20_000)]\ndel big")
        for _ in range(12):
            sizes = [chance.choice((100, 600, 4000, 40_000, 100_000, 200_000)) for _ in range(chance.randrange(1, 40))]
            step = [f"kept[{i}] = [bytes({size} + i % 9) for i in range({2_000_000 // size})]" if chance.random() < 0.5 else f"kept.pop({i}, 0)"
                    for i, size in enumerate(sizes)]
            with self.subTest(step=step):
                node = self.keep(node, "\n".join(["found = where()", *step]))["session"]["node"]
                self.assertEqual(self.value(node, "[found, where(), sum(any(each) for some in kept.values() if some for each in some)]"), [0, 0, 0])

    def test_a_mapping_behind_the_heap_is_none_of_it(self) -> None:
        node = self.node("", "import ctypes\nC = ctypes.CDLL(None)\nC.sbrk.restype = C.mmap.restype = ctypes.c_void_p\n"
                             "C.syscall.restype = ctypes.c_long\nC.mmap.argtypes = [ctypes.c_size_t] * 6\n"
                             "behind = C.mmap(C.sbrk(0), 8192, 3, 0x100022, 2**64 - 1, 0)\nctypes.memmove(behind, b'kept', 4)")
        look = f"[C.sbrk(0) - C.syscall({BRK}, 0), behind - C.sbrk(0), ctypes.string_at(behind).decode(), ctypes.string_at(behind + 4096).decode()]"
        self.assertEqual(self.value(self.node(node, ""), look), [0, 0, "kept", ""])

    def test_memory_that_was_never_written_is_zero(self) -> None:
        """A heap that shrinks and grows again within a step is not the template's any more."""
        node = self.node("", "big = [bytes(4000 + i % 100) for i in range(20_000)]\ndel big\nzeros = [bytes(100_000) for i in range(80)]")
        self.assertEqual(self.value(node, "[sum(map(any, zeros)), sum(map(any, [bytes(100_000) for i in range(80)]))]"), [0, 0])

    def test_extensions_loaded_in_the_middle(self) -> None:
        node = self.node("", "import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute('create table t (x)')",
                         "db.execute('insert into t values (4)')", "import decimal, lzma, ctypes")
        self.assertEqual(self.value(node, "db.execute('select x from t').fetchall()[0][0]"), 4)
        self.assertEqual(self.value(node, "lzma.decompress(lzma.compress(b'a')).decode() + str(decimal.Decimal(1))"), "a1")

    def test_much_memory(self) -> None:
        node = self.node("", "x = bytearray(20 << 20)\nx[::4096] = b'a' * len(x[::4096])", "y = [bytes([i]) * 100000 for i in range(50)]",
                         "del x")
        self.assertEqual(self.value(node, "sum(len(each) for each in y)"), 5_000_000)


class StepsContained(Steps):
    options = ("--level", "contained")


class StateContained(State):
    options = ("--level", "contained")


class StepsMinimal(Steps):
    options = ("--level", "minimal")


class StateMinimal(State):
    options = ("--level", "minimal")


@unittest.skipIf(os.geteuid() != 0, "a mount namespace is to be made")
class StateWithoutCgroups(SessionTestCase):
    """Memory is looked at from outside then, and all that a process has mapped counts."""

    before = ("unshare", "--mount", "sh", "-c", 'umount --recursive --lazy /sys/fs/cgroup && exec "$@"', "sh")
    test_a_state_may_be_most_of_its_limit = State.test_a_state_may_be_most_of_its_limit


class NotKept(SessionTestCase):
    def assertLost(self, source: str, why: str, **fields: object) -> None:
        with self.subTest(why=why):
            self.assertNotKept(self.step("", source, **fields), why)

    def test_what_is_found_by_looking(self) -> None:
        self.assertLost("import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
                        "a second thread")
        self.assertLost("import os\nends = os.pipe()", "an open pipe")
        self.assertLost("import mmap\nm = mmap.mmap(-1, 4096)", "a shared mapping")
        self.assertLost("import os\nf = open('f', 'w'); os.unlink('f')", "an open file that was deleted")
        self.assertLost("import os\nos.chdir('/')", "a working directory outside of its own")
        self.assertLost("import os\nos.mkfifo('p')", "a named pipe")
        self.assertLost("import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\nos.kill(os.getpid(), signal.SIGUSR1)",
                        "a signal that waits")
        self.keep("", "import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])\nos.kill(os.getpid(), signal.SIGCHLD)")
        self.assertLost("import os, time\nif os.fork() == 0: time.sleep(60)", "a child process",
                        policy={"profile": "subprocess"})

    def test_a_thread_that_goes_on_is_not_waited_for(self) -> None:
        self.assertLost("import faulthandler\nfaulthandler.dump_traceback_later(60)", "a second thread", limits={"wall_ms": 900})

    def test_a_heap_of_the_template_in_another_place(self) -> None:
        """brk(2) below it, and its pages behind that: they would go with what is behind it."""
        result = self.keep("", "import ctypes\nC = ctypes.CDLL(None)\nC.sbrk.restype = C.mmap.restype = C.mremap.restype = ctypes.c_void_p\n"
                               "C.mmap.argtypes, C.mremap.argtypes = [ctypes.c_size_t] * 6, [ctypes.c_size_t] * 5\n"
                               "C.syscall.argtypes = [ctypes.c_long] * 2\nC.memmove.argtypes = [ctypes.c_size_t] * 3\nb = C.sbrk(0)\n"
                               "x, last = (C.mmap(0, 4096, 3, 0x22, 2**64 - 1, 0) for _ in range(2))\nC.memmove(last, b - 4096, 4096)\n"
                               f"C.mremap(b - 8192, 4096, 4096, 3, x)\nC.syscall({BRK}, b - 8192)\nC.mremap(x, 4096, 4096, 3, b - 8192)\n"
                               "C.mmap(b - 4096, 4096, 3, 0x32, 2**64 - 1, 0)\nC.memmove(b - 4096, last, 4096)\n7")
        self.assertEqual(self.value(result["session"]["node"], "7"), 7)

    def test_a_program_that_stops_or_ends_itself(self) -> None:
        result = self.step("", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", limits={"wall_ms": 400})
        self.assertNotKept(result, "a step that ends so leaves the session as it was", "TimeoutException")
        self.assertLost("import os\nos._exit(0)", "the program ended before its step was over")

    def test_nodes_that_are_not_there(self) -> None:
        for node, message in {"n-1": 'session: "n-1" is no node of a session here'}.items():
            result = self.step(node, "1")
            self.assertLabel(result, "BadJob")
            self.assertEqual(result["detail"]["message"], message)

    def test_fields_that_no_step_has(self) -> None:
        for fields, message in (({"determinism": {"runs": 2}}, "determinism.runs: a step of a session is run once"),
                                ({"determinism": {"mode": "fixed"}}, "determinism.mode: fixed mode is not for steps of sessions")):
            answer = self.service.ask("POST", "/v1/jobs", {"source": "1", "session": "new", **fields})
            self.assertEqual((answer.status, answer.json["error"]["message"]), (400, message))
        answer = self.service.ask("POST", "/v1/jobs", {"source": "1", "keep": False})
        self.assertEqual((answer.status, answer.json["error"]["message"]), (400, "keep: for steps of sessions"))

    def test_a_step_that_is_not_to_be_kept_leaves_nothing(self) -> None:
        node = self.node("", "x = [1]")
        result = self.step(node, "x.append(2)\nx", keep=False)
        self.assertEqual(result["value"], [1, 2])
        self.assertNotKept(result, "the request keeps no such step")
        self.assertEqual(self.value(node, "x"), [1])

    def test_files_come_and_go_with_steps(self) -> None:
        up = {"in/a.txt": {"text": "1 2 3"}}
        node = self.keep("", "import os", files=up)["session"]["node"]
        made = self.keep(node, "os.mkdir('out')\nfor n in open('in/a.txt').read().split(): open(f'out/{n}', 'w').write(n * 2)",
                         outputs=["out/*"])
        self.assertEqual({path: each["text"] for path, each in made["outputs"].items()}, {"out/1": "11", "out/2": "22", "out/3": "33"})
        down = self.step(made["session"]["node"], "", outputs=["in/*", "out/3"], keep=False)
        self.assertEqual({path: each["text"] for path, each in down["outputs"].items()}, {"in/a.txt": "1 2 3", "out/3": "33"})
        late = self.step(node, "open('a', 'w').write('1')\nwhile True: pass", outputs=["*"], limits={"cpu_ms": 300})
        self.assertNotKept(late, "a step that ends so leaves the session as it was", "TimeoutException")


if __name__ == "__main__":
    unittest.main()

"""Fixed mode: what does not come from the program is the same in every run, every cell and every daemon."""

from __future__ import annotations

import json
import os
import shutil
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Job, Result, ZygoTestCase

FIXED = {"mode": "fixed"}
START = 1577836800


def fixed(name: str, source: str, **fields: Any) -> Job:
    determinism = {**FIXED, **fields.pop("determinism", {})}
    return {"id": name, "source": source, "determinism": determinism, **fields}


def run_fixed(source: str, **fields: Any) -> Result:
    return zygo.run_batch([fixed("only", source, **fields)])["only"]


def printed(source: str, **fields: Any) -> str:
    """What a program prints that ends well in fixed mode."""
    result = run_fixed(source, **fields)
    if result["label"] != "OK":
        raise AssertionError(zygo.brief(result))
    return str(result["stdout"]["text"])


CHANCE = {
    "clocks": "import time, datetime; print(time.time(), time.monotonic(), time.perf_counter(), time.process_time(),"
              " time.thread_time(), time.time_ns(), datetime.datetime.now(), time.localtime())",
    "times": "import os, resource; print(os.times(), resource.getrusage(resource.RUSAGE_SELF).ru_utime)",
    "random": "import random; print(random.random(), random.sample(range(99), 9), random.gauss(0, 1),"
              " random.SystemRandom().random(), random.Random().random())",
    "numpy": "import numpy as np; print(np.random.rand(3), np.random.default_rng().random(3), np.random.randn())",
    "hash": "print(hash('text'), {'a', 'b', 'c', 'd', 'e', 'f'}, hash(b'bytes'), hash(object()))",
    "uuid": "import uuid; print(uuid.uuid4(), uuid.uuid1(), uuid.getnode())",
    "urandom": "import os, secrets; print(os.urandom(16), os.getrandom(16), secrets.token_hex(8),"
               " open('/dev/urandom', 'rb').read(8), open('/dev/random', 'rb').read(8))",
    "id": "print(id(object()), [id([]) for _ in range(3)], object(), id(print), id(bytearray(1 << 22)))",
    "pid": "import os, threading; print(os.getpid(), threading.get_ident(), threading.get_native_id())",
    # join() returns as the last act of a thread begins: whether the next one has its stack is thread order.
    "threads": "import threading\nfor i in range(3):\n"
               "    t = threading.Thread(target=lambda: print(threading.get_native_id(), i or threading.get_ident()))\n"
               "    t.start(); t.join()",
    "tempfile": "import tempfile; print(tempfile.mkdtemp(), tempfile.mktemp(), tempfile.NamedTemporaryFile().name)",
    "listdir": "import os\nfor name in 'dbeca': open(name, 'w').close()\n"
               "print(os.listdir('.'), [e.name for e in os.scandir('.')])",
}


class EveryRun(ZygoTestCase):
    def test_of_a_python_program_is_the_same(self) -> None:
        """In three daemons, and in each after other jobs and beside them: each item of chance."""
        jobs = [fixed(f"{name} {n}", source, template="python-numpy")
                for n in range(3) for name, source in CHANCE.items()]
        other = [{"id": f"other {n}", "source": "x = [object() for _ in range(9999)]", "template": "python-numpy",
                  "determinism": FIXED} for n in range(3)]

        seen: dict[str, set[str]] = {name: set() for name in CHANCE}
        for turn in range(3):
            order = [*other[:turn], *jobs, *other[turn:]]
            for name, result in zygo.run_batch(order).items():
                if name.startswith("other"):
                    continue
                self.assertLabel(result, "OK")
                seen[name.rsplit(" ", 1)[0]].add(result["stdout"]["text"])

        self.assertEqual({name: len(texts) for name, texts in seen.items()}, dict.fromkeys(CHANCE, 1), seen)

    def test_that_is_compared_agrees(self) -> None:
        job = fixed("same", CHANCE["random"], determinism={"runs": 8})

        result = zygo.run_batch([job])["same"]

        self.assertLabel(result, "OK")
        self.assertEqual(result["determinism"]["runs"], 8)
        self.assertIs(result["determinism"]["same"], True)

    def test_that_differs_all_the_same_is_found(self) -> None:
        """The times of files are not fixed, and the result says so."""
        source = "import os; open('f', 'w').close(); print(os.stat('f').st_mtime_ns)"

        result = run_fixed(source, determinism={"runs": 2})

        self.assertLabel(result, "NonDeterministicCode")
        self.assertIn("file metadata", result["determinism"]["not_fixed"])

    def test_names_the_order_of_threads_where_there_were_several(self) -> None:
        """Found out afterwards, however short they lived."""
        alone = run_fixed("import threading; print(threading.active_count())")
        several = run_fixed("import threading; t = threading.Thread(target=int); t.start(); t.join()")

        self.assertEqual(alone["determinism"], {"mode": "fixed", "seed": 0, "not_fixed": ["file metadata"]})
        self.assertEqual(alone["usage"]["pids_peak"], 1)
        self.assertEqual(several["determinism"]["not_fixed"], ["file metadata", "thread order"])
        self.assertEqual(several["usage"]["pids_peak"], 2)

    def test_sees_directories_in_the_order_of_names(self) -> None:
        source = ("import os\nfor name in 'dbeca': open(name, 'w').close()\n"
                  "print(''.join(os.listdir('.')), ''.join(e.name for e in os.scandir('.')))")

        self.assertEqual(printed(source), "abcde abcde\n")

    def test_holds_for_each_test_of_a_job(self) -> None:
        job = fixed("tests", "import random; print(input(), random.random())",
                    tests=[{"name": "a", "stdin": "1"}, {"name": "b", "stdin": "1"}])

        tests = zygo.run_batch([job])["tests"]["tests"]

        self.assertEqual(tests[0]["stdout"], tests[1]["stdout"])

    def test_names_what_is_the_hosts_below_full(self) -> None:
        result = zygo.run_batch([fixed("only", "pass")], "--level", "minimal")["only"]

        self.assertEqual(result["determinism"]["not_fixed"], ["file metadata", "paths", "pid", "thread order", "uid"])

    def test_names_a_judge_which_has_real_time_and_chance(self) -> None:
        checker = {"template": "python", "source": "print('fine')"}
        tests = [{"stdin": "1", "expect": "", "compare": "checker"}]

        self.assertIn("judge", run_fixed("pass", tests=tests, checker=checker)["determinism"]["not_fixed"])
        self.assertNotIn("judge", run_fixed("pass", tests=[{"stdin": "1"}])["determinism"]["not_fixed"])

    def test_names_what_differs_in_any_of_its_tests(self) -> None:
        source = "import threading\nif input() == '1': t = threading.Thread(target=print); t.start(); t.join()"
        for order in ("12", "21"):
            with self.subTest(order):
                job = fixed("tests", source, tests=[{"stdin": each} for each in order])
                result = zygo.run_batch([job], "--workers", "1")["tests"]
                self.assertIn("thread order", result["determinism"]["not_fixed"])


class Parameters(ZygoTestCase):
    def test_another_seed_is_another_chance_and_its_own_again(self) -> None:
        source = "import random, os, uuid; print(random.random(), os.urandom(4), uuid.uuid4())"
        jobs = [fixed(f"{seed} {n}", source, determinism={"seed": seed}) for seed in (0, 1, 2 ** 53 - 1) for n in (1, 2)]

        results = zygo.run_batch(jobs)

        texts = {name: result["stdout"]["text"] for name, result in results.items()}
        self.assertEqual(len(set(texts.values())), 3)
        for seed in (0, 1, 2 ** 53 - 1):
            self.assertEqual(texts[f"{seed} 1"], texts[f"{seed} 2"])
            self.assertEqual(results[f"{seed} 1"]["determinism"]["seed"], seed)

    def test_the_clock_begins_at_start_and_steps_at_each_reading(self) -> None:
        source = "import time; print([time.time_ns() for _ in range(3)], time.gmtime(time.time()).tm_year)"

        usual, chosen = printed(source), printed(source, determinism={"start": 1_000_000_000, "clock_step_us": 250_000})

        first = json.loads(usual.partition("]")[0] + "]")
        self.assertLess(first[0] - START * 10 ** 9, 10 ** 6)
        self.assertEqual([first[1] - first[0], first[2] - first[1]], [1000, 1000])
        self.assertIn("2020", usual)
        second = json.loads(chosen.partition("]")[0] + "]")
        self.assertEqual([second[1] - second[0], second[2] - second[1]], [250_000_000] * 2)
        self.assertIn("2001", chosen)

    def test_a_frozen_clock_stands_still_in_sleeps_too(self) -> None:
        source = "import time; a = time.time(), time.monotonic(); time.sleep(0.05); print(a == (time.time(), time.monotonic()), a[0])"

        self.assertEqual(printed(source, determinism={"clock_step_us": 0}), f"True {START}.0\n")

    def test_a_field_of_fixed_mode_without_it_is_an_error_that_says_so(self) -> None:
        for field in ("seed", "clock_step_us", "start"):
            with self.subTest(field):
                ended = zygo.run_cli("batch", "-", stdin=json.dumps(
                    {"id": "a", "source": "", "determinism": {field: 1}}).encode() + b"\n")
                result = zygo.results_of(ended.out)[0]
                self.assertLabel(result, "BadJob")
                self.assertEqual(result["detail"]["message"],
                                 f'determinism.{field}: only in fixed mode ("mode": "fixed")')

    def test_the_command_line_has_them(self) -> None:
        program = b"import time, random; print(time.time(), random.random())"
        options = ("--fixed", "--seed", "3", "--clock-start", "86400", "--clock-step", "7")

        runs = [zygo.run_cli("run", *options, "-", stdin=program) for _ in range(2)]
        without = zygo.run_cli("run", "--seed", "3", "-", stdin=program)

        self.assertEqual(runs[0].out, runs[1].out)
        self.assertTrue(runs[0].stdout.startswith("86400.0"), runs[0].stdout)
        self.assertEqual(without.code, 2)
        self.assertIn("--fixed", without.stderr)


# Each prints how long it took by the fixed clock; none may hang, and none may return before its time.
WAITS = {
    "sleep": "time.sleep(0.1)",
    "event": "assert not threading.Event().wait(0.1)",
    "condition": "c = threading.Condition(); c.acquire(); assert not c.wait(0.1)",
    "lock": "l = threading.Lock(); l.acquire(); assert not l.acquire(timeout=0.1)",
    "queue": "try:\n    queue.Queue().get(timeout=0.1)\nexcept queue.Empty: pass",
    "select": "assert select.select([], [], [], 0.1) == ([], [], [])",
    "poll": "p = select.poll(); assert p.poll(100) == []",
    "join": "t = threading.Thread(target=threading.Event().wait, args=(0.3,), daemon=True)\nt.start()\n"
            "t.join(0.1)\nassert t.is_alive()",
    "busy": "end = time.time() + 0.1\nwhile time.time() < end: pass",
    "future": "f = concurrent.futures.Future()\ntry:\n    f.result(timeout=0.1)\nexcept concurrent.futures.TimeoutError: pass",
}
HEAD = "import time, threading, queue, select, concurrent.futures\nbegan = time.monotonic()\n"
TAIL = "\nprint(round(time.monotonic() - began, 2))"


class TimedWaits(ZygoTestCase):
    def test_take_what_they_ask_for_by_the_fixed_clock(self) -> None:
        results = zygo.run_batch([fixed(name, HEAD + body + TAIL) for name, body in WAITS.items()])

        for name, result in results.items():
            with self.subTest(name):
                self.assertLabel(result, "OK")
                self.assertEqual(result["stdout"]["text"], "0.1\n")

    def test_really_take_it_so_that_limits_hold(self) -> None:
        for body in ("time.sleep(60)", "threading.Event().wait(60)", "select.select([], [], [], 60)"):
            with self.subTest(body):
                result = run_fixed(HEAD + body, limits={"wall_ms": 300})
                self.assertLabel(result, "TimeoutException")

    def test_of_asyncio_and_children_end(self) -> None:
        jobs = [fixed("asyncio", "import asyncio, time\nbegan = time.monotonic()\nasyncio.run(asyncio.sleep(0.1))" + TAIL,
                      policy={"profile": "subprocess"}),
                fixed("subprocess", "import subprocess, time\nbegan = time.monotonic()\ntry:\n"
                      "    subprocess.run(['sleep', '60'], timeout=0.1)\nexcept subprocess.TimeoutExpired: pass"
                      "\nprint(0.1 <= time.monotonic() - began < 0.3)", policy={"profile": "subprocess"}),
                fixed("child", "import subprocess; print(subprocess.check_output(['/usr/bin/python3', '-c', "
                      "'import time, os; print(time.time(), os.urandom(4))']))", policy={"profile": "subprocess"})]

        first, second = zygo.run_batch(jobs), zygo.run_batch(jobs)

        self.assertEqual(first["asyncio"]["stdout"]["text"], "0.1\n")
        self.assertEqual(first["subprocess"]["stdout"]["text"], "True\n")
        self.assertIn(f"{START}.", first["child"]["stdout"]["text"])
        self.assertEqual(first["child"]["stdout"], second["child"]["stdout"])


CPP = r"""
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
using namespace std::chrono;
int main() {
  int local = 0;
  auto heap = std::make_unique<int>();
  std::printf("%ld %ld %d %d\n", static_cast<long>(time(nullptr)), static_cast<long>(clock()), rand(), getpid());
  std::printf("%p %p %p\n", static_cast<void*>(&local), static_cast<void*>(heap.get()), reinterpret_cast<void*>(main));
  unsigned long word = 0, other = 0;
  if (getrandom(&word, sizeof word, 0) < 0 || syscall(SYS_getrandom, &other, sizeof other, 0) < 0) return 1;
  unsigned char byte = 0;
  std::ifstream("/dev/urandom").read(reinterpret_cast<char*>(&byte), 1);
  std::printf("%lx %lx %u %u\n", word, other, std::random_device{}(), byte);
  const auto began = steady_clock::now();
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  bool timeouts = condition.wait_for(lock, 50ms) == std::cv_status::timeout;
  timeouts &= condition.wait_until(lock, system_clock::now() + 50ms) == std::cv_status::timeout;
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  timeouts &= future.wait_for(50ms) == std::future_status::timeout;
  timeouts &= future.wait_until(system_clock::now() + 50ms) == std::future_status::timeout;
  std::this_thread::sleep_for(50ms);
  std::this_thread::sleep_until(steady_clock::now() + 50ms);
  std::printf("%d %ld\n", timeouts, static_cast<long>(duration_cast<milliseconds>(steady_clock::now() - began).count()));
  char name[] = "nameXXXXXX";
  close(mkstemp(name));
  std::puts(name);
}
"""


FORK = r"""
#include <stdio.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  const pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
  unsigned long word = 0;
  if (child < 0 || getrandom(&word, sizeof word, 0) < 0) return 1;
  printf("%lx\n", word);
  return 0;
}
"""


CHILD = "import os, random, time; print(int(time.time()), random.random(), os.urandom(4).hex(), os.environ.get('OWN'))"
STARTS = f"""import os, subprocess, sys
child = [sys.executable, '-c', {CHILD!r}]
for env in ({{}}, {{'OWN': 'x'}}, {{'LD_PRELOAD': ''}}, {{'LD_PRELOAD': '/usr/lib/none.so', 'ZYGO_FIXED': '0:{START}:1'}}, None):
    print(subprocess.run(child, env=env, stdout=-1, stderr=-3, text=True).stdout, end='', flush=True)
os.environ.clear()
os.system(f"{{sys.executable}} -c \\"{{child[2]}}\\"")
print(os.popen(f"{{sys.executable}} -c \\"{{child[2]}}\\"").read(), end='', flush=True)
for start in (lambda: os.posix_spawn(child[0], child, {{}}), lambda: os.fork() or os.execve(child[0], child, {{}})):
    os.waitpid(start(), 0)
"""
EXECUTES = """#include <unistd.h>
int main(int count, char **words) {
  if (count == 1) return execle("/proc/self/exe", "again", "one", (char *)0, (char *[]){0});
  if (count == 2) return execl("/bin/date", "date", "+%s", (char *)0);
  return 1;
}
"""


class Children(ZygoTestCase):
    def test_of_warm_python_are_fixed_whatever_environment_they_are_given(self) -> None:
        jobs = [fixed(str(n), STARTS, policy={"profile": "subprocess"}) for n in range(2)]

        first, second = zygo.run_batch(jobs).values()

        self.assertLabel(first, "OK")
        lines = first["stdout"]["text"].splitlines()
        self.assertEqual(len(lines), 9, first)
        self.assertEqual({line.split()[0] for line in lines}, {str(START)})
        self.assertEqual(len({line.rsplit(" ", 1)[0] for line in lines}), 1, lines)  # each begins anew
        self.assertEqual([line.split()[-1] for line in lines], ["None", "x"] + ["None"] * 7)
        self.assertEqual(first["stdout"]["text"], second["stdout"]["text"])

    def test_have_the_seed_of_the_job(self) -> None:
        source = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}], env={{}})"
        jobs = [fixed(str(seed), source, policy={"profile": "subprocess"}, determinism={"seed": seed, "start": START + seed})
                for seed in (1, 2)]

        results = zygo.run_batch(jobs)

        first, second = (results[seed]["stdout"]["text"].split() for seed in ("1", "2"))
        self.assertEqual((first[0], second[0]), (str(START + 1), str(START + 2)))
        self.assertNotEqual(first[1], second[1])

    def test_of_an_executed_program_are_fixed_however_they_are_started(self) -> None:
        results = zygo.run_batch([fixed("c", EXECUTES, template="c", policy={"profile": "subprocess"})])

        self.assertEqual(results["c"]["stdout"]["text"], f"{START}\n", results["c"])


class Devices(ZygoTestCase):
    def test_of_chance_have_no_end(self) -> None:
        source = ("import hashlib, os\nall = b''\nwith open('/dev/urandom', 'rb', buffering=0) as device:\n"
                  "    while len(all) < 1 << 18: all += device.read(50_000)\n"
                  "reader, writer = os.pipe(); os.close(writer)\n"
                  "print(len(all) >> 18, hashlib.sha1(all).hexdigest(), os.read(reader, 1))")

        seen = printed(source)

        self.assertTrue(seen.startswith("1 ") and seen.endswith(" b''\n"), seen)
        self.assertEqual(seen, printed(source))


class Executed(ZygoTestCase):
    def require(self, template: str) -> None:
        listed = json.loads(zygo.run_cli("runtime", "list", "--json").stdout)
        runtimes = {each["name"]: each for each in (listed if isinstance(listed, list) else listed["runtimes"])}
        if not runtimes.get(template, {}).get("available", True):
            self.skipTest(f"{template} is not installed")

    def test_a_cpp_program_is_the_same_in_every_run(self) -> None:
        self.require("cpp")
        jobs = [fixed(str(n), CPP, template="cpp") for n in range(3)]

        results = [result for _ in range(2) for result in zygo.run_batch(jobs, timeout=240).values()]

        for result in results:
            self.assertLabel(result, "OK")
            self.assertEqual(result["stdout"]["text"], results[0]["stdout"]["text"])
        self.assertTrue(results[0]["stdout"]["text"].startswith(f"{START} "))
        self.assertIn("\n1 300\n", results[0]["stdout"]["text"])
        self.assertIn("rdtsc", results[0]["determinism"]["not_fixed"])
        self.assertNotIn("static program", results[0]["determinism"]["not_fixed"])

    def test_a_forked_child_has_a_chance_of_its_own(self) -> None:
        self.require("c")
        jobs = [fixed(str(n), FORK, template="c", policy={"profile": "subprocess"}) for n in range(2)]

        first, second = (result["stdout"]["text"] for result in zygo.run_batch(jobs).values())

        self.assertEqual(first, second)
        child, parent = first.split()
        self.assertNotEqual(child, parent)

    def test_a_static_program_is_named(self) -> None:
        self.require("c")
        job = fixed("static", "int main(void) { return 0; }", template="c", compiler_flags=["-static"])

        result = zygo.run_batch([job])["static"]

        self.assertLabel(result, "OK")
        self.assertEqual(result["determinism"]["not_fixed"], ["file metadata", "rdtsc", "static program"])

    def test_interpreters_of_other_languages_are_the_same_in_every_run(self) -> None:
        programs = {"perl": "print rand(), ' ', time(), ' ', $$, ' ', join(',', keys %{{map {$_ => 1} 'a'..'z'}}), \"\\n\";",
                    "ruby": "puts rand, Time.now.to_f, Process.pid, 'a'.hash, Object.new.inspect",
                    "php": "<?php echo mt_rand(), ' ', microtime(true), ' ', uniqid(), ' ', bin2hex(random_bytes(4));",
                    "lua": "print(os.time(), os.clock(), tostring({}), math.random())",
                    "javascript": "console.log(Math.random(), Date.now(), require('crypto').randomUUID())"}
        for template, source in programs.items():
            with self.subTest(template):
                self.require(template)
                jobs = [fixed(str(n), source, template=template) for n in range(2)]
                results = [r for _ in range(2) for r in zygo.run_batch(jobs, timeout=120).values()]
                self.assertLabel(results[0], "OK")
                self.assertEqual(len({result["stdout"]["text"] for result in results}), 1, results[:2])


class Signals(ZygoTestCase):
    WAITS = {
        "select": "import select; select.select([], [], [], 0.2)", "poll": "import select; select.poll().poll(200)",
        "epoll": "import select; select.epoll().poll(0.2)", "sleep": "time.sleep(0.2)",
        "lock": "import threading; l = threading.Lock(); l.acquire(); l.acquire(timeout=0.2)",
        "semaphore": "import threading; threading.Event().wait(0.2)", "signal": "signal.sigtimedwait([signal.SIGUSR1], 0.2)",
    }

    def test_do_not_keep_a_wait_from_ending(self) -> None:
        """Each interruption leaves the rest of the wait, and not the whole of it again."""
        before = "import signal, time\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)\n"
        after = "\nsignal.setitimer(signal.ITIMER_REAL, 0)\nprint('ended')"
        jobs = [fixed(name, before + wait + after) for name, wait in self.WAITS.items()]

        for name, result in zygo.run_batch(jobs).items():
            with self.subTest(name):
                self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "ended\n"), zygo.brief(result))


LIST_WHILE_FORKING = r"""
import os, threading
def list_for_ever():
    while True: os.listdir('/usr/bin')
threading.Thread(target=list_for_ever, daemon=True).start()
for _ in range(12):
    child = os.fork()
    if child == 0:
        os._exit(0 if os.listdir('.') is not None else 1)
    os.waitpid(child, 0)
print('ended', flush=True)
os._exit(0)
"""

STREAMS = r"""
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static DIR* shared;
static void* count(void* at) {
  struct dirent* each;
  while ((each = readdir(shared))) *(int*)at += each->d_name[0] != '.';
  return 0;
}
int main(void) {
  for (const char* c = "dbeca"; *c; ++c) {
    const char name[] = {*c, 0};
    close(open(name, O_CREAT | O_WRONLY, 0600));
  }
  DIR* stream = opendir(".");
  DIR* other = opendir(".");
  const char* names[8];
  int n = 0;
  for (struct dirent* each; n < 8 && (each = readdir(stream));)
    if (strlen(each->d_name) == 1 && each->d_name[0] != '.') names[n++] = strdup(each->d_name);
  for (int i = 0; i < n; ++i) printf("%s", names[i]);
  char first[256];
  strcpy(first, readdir(other)->d_name);
  const long place = telldir(other);
  char second[256];
  strcpy(second, readdir(other)->d_name);
  seekdir(other, place);
  printf(" %d", strcmp(second, readdir(other)->d_name));
  rewinddir(other);
  printf(" %d", strcmp(first, readdir(other)->d_name) == 0);
  closedir(other);
  closedir(stream);
  int seen[2] = {0, 0};
  for (int turn = 0; turn < 200; ++turn) {
    shared = opendir(".");
    pthread_t thread;
    pthread_create(&thread, 0, count, &seen[1]);
    count(&seen[0]);
    pthread_join(thread, 0);
    closedir(shared);
  }
  printf(" %d", seen[0] + seen[1]);
  if (vfork() == 0) {
    DIR* own = opendir(".");
    _exit(own && readdir(own) && closedir(own) == 0 ? 7 : 1);
  }
  int status = 0;
  wait(&status);
  printf(" %d\n", WEXITSTATUS(status));
  return 0;
}
"""

NULLS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  void* volatile none = 0;
  printf("%d %d\n", nanosleep(none, 0), errno == EFAULT);
  printf("%d\n", clock_nanosleep(CLOCK_MONOTONIC, 0, none, 0) == EFAULT);
  printf("%d\n", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, none, 0) == EFAULT);
  printf("%d\n", thrd_sleep(none, 0));
  printf("%d\n", gettimeofday(none, 0));
  errno = 0;
  printf("%d %d\n", (int)getrandom(none, 8, 0), errno == EFAULT);
  errno = 0;
  printf("%d %d\n", (int)syscall(SYS_getrandom, none, 8, 0), errno == EFAULT);
  errno = 0;
  printf("%d %d\n", (int)syscall(SYS_clock_gettime, CLOCK_REALTIME, none), errno == EFAULT);
  errno = 0;
  printf("%d %d\n", (int)syscall(SYS_nanosleep, none, 0), errno == EFAULT);
  return 0;
}
"""


class Calls(ZygoTestCase):
    """What an honest program does goes on in fixed mode as without."""

    def test_a_child_lists_a_directory_while_a_thread_of_its_parent_did(self) -> None:
        self.assertEqual(printed(LIST_WHILE_FORKING, policy={"profile": "subprocess"}), "ended\n")

    def test_streams_of_directories_do_what_they_do(self) -> None:
        """Two at once, places in one, one that two threads read, one of a child in its parent's memory."""
        self.assertEqual(printed(STREAMS, template="c", policy={"profile": "subprocess"}), "abcde 0 1 1000 7\n")

    def test_the_time_since_the_start_of_the_machine_is_fixed(self) -> None:
        source = "#include <stdio.h>\n#include <sys/sysinfo.h>\n" + \
            "int main(void) { struct sysinfo s; return sysinfo(&s) || !printf(\"%ld %lu\\n\", s.uptime, s.loads[0]); }"

        self.assertEqual(printed(source, template="c"), "100000 0\n")

    def test_a_null_is_an_error_and_no_crash(self) -> None:
        plain = zygo.run_batch([{"id": "plain", "source": NULLS, "template": "c"}])["plain"]
        self.assertLabel(plain, "OK")

        self.assertEqual(printed(NULLS, template="c"), plain["stdout"]["text"])


class Start(ZygoTestCase):
    LAST = 4_102_444_800

    def test_may_be_as_late_as_the_field_allows(self) -> None:
        source = "import threading, time; began = time.time(); print(int(began), threading.Event().wait(0.05), time.time() - began >= 0.05)"

        self.assertEqual(printed(source, determinism={"start": self.LAST}), f"{self.LAST} False True\n")

    def test_later_is_refused(self) -> None:
        late = json.dumps(fixed("late", "", determinism={"start": self.LAST + 1}))
        result = zygo.results_of(zygo.run_cli("batch", "-", stdin=late.encode() + b"\n").out)[0]

        self.assertEqual((result["label"], result["detail"]["path"]), ("BadJob", "determinism.start"))


class Place(ZygoTestCase):
    """Where the library cannot be loaded nothing has real time and chance without a word."""

    JOBS = {
        "bash": fixed("bash", "date +%s", template="bash"),
        "children": fixed("children", "import subprocess; print(subprocess.check_output(['date', '+%s']))",
                          policy={"profile": "subprocess"}),
        "python": fixed("python", "import time; print(int(time.time()))"),
    }

    def copy(self, *below: str) -> Path:
        folder = Path(self.folder())
        folder.chmod(0o755)
        at = folder.joinpath(*below)
        for name in ("bin", "lib", "share"):
            if (source := zygo.BINARY.parent.parent / name).is_dir():
                shutil.copytree(source, at / name, symlinks=True, ignore=shutil.ignore_patterns("zygo_*"))
        return at

    def run_in(self, at: Path, level: str) -> dict[str, Result]:
        ended = zygo.run_command([str(at / "bin" / zygo.BINARY.name), "batch", "--level", level, "-"],
                                 stdin=zygo.lines_of(self.JOBS.values()))
        if not ended.out:
            self.skipTest(ended.stderr)
        return zygo.by_id(zygo.results_of(ended.out))

    def check_refused(self, result: Result, *words: str) -> None:
        self.assertLabel(result, "SandboxError")
        for word in ("fixed mode", "zygo-fixed.so", *words):
            self.assertIn(word, json.dumps(result["detail"]))

    def test_with_a_space_or_a_colon_is_refused(self) -> None:
        for folder in ("with space", "with:colon"):
            results = self.run_in(self.copy(folder), "minimal")
            for result in results.values():
                with self.subTest(folder, job=result["id"]):
                    self.check_refused(result, folder)

    def test_that_jobs_cannot_enter_is_refused_to_what_starts_programs(self) -> None:
        at = self.copy("closed", "zygo")
        at.parent.chmod(0o700)
        if os.geteuid() != 0:
            self.skipTest("jobs have ids of their own where zygo runs as root")
        results = self.run_in(at, "contained")

        for name in ("bash", "children"):
            with self.subTest(name):
                self.check_refused(results[name], str(at.parent))
        self.assertEqual(results["python"]["stdout"]["text"], f"{START}\n")

    def test_without_the_library_is_refused(self) -> None:
        at = self.copy("zygo")
        for file in at.glob("lib/zygo/*/zygo-fixed.so"):
            file.unlink()
        results = self.run_in(at, "full")

        for name in ("bash", "children"):
            with self.subTest(name):
                self.check_refused(results[name], str(at), "No such file")
        self.assertLabel(results["python"], "BadJob")
        self.assertIn("zygo-fixed.so could not be loaded", json.dumps(results["python"]["detail"]))


class OtherJobs(ZygoTestCase):
    def test_have_real_time_and_chance(self) -> None:
        """Between jobs in fixed mode, of the same template and worker."""
        source = "import os, secrets, random, time, uuid; print(os.urandom(8).hex(), secrets.token_hex(), random.random(), uuid.uuid4(), time.time())"
        mixed: list[Job] = []
        for n in range(4):
            mixed += [fixed(f"fixed {n}", source), {"id": f"real {n}", "source": source}]
        for memory in ("borrowed", "fork"):
            with self.subTest(memory):
                results = zygo.run_batch(mixed, "--workers", "1", "--memory-of-jobs", memory)
                told = {name: result["stdout"]["text"].split() for name, result in results.items()}
                real = [words for name, words in told.items() if name.startswith("real")]
                self.assertEqual(len({tuple(words) for name, words in told.items() if name.startswith("fixed")}), 1)
                for column in range(5):
                    self.assertEqual(len({words[column] for words in real}), 4, real)
                    self.assertNotIn(told["fixed 0"][column], [words[column] for words in real])


if __name__ == "__main__":
    unittest.main()

"""Programs in other languages than Python: the same deeds, the same labels; compiled once, run many times."""

from __future__ import annotations

import functools
import json
import unittest
from typing import Any

import languages
import zygo
from zygo import Job, Result, run_batch, run_job

AFRESH = ("--build-cache", "0")  # whatever earlier runs of the tests have left on this host
NEEDED = {"python", "c", "cpp", "bash", "javascript", "perl", "lua", "java"}  # tools/setup sees to these


@functools.cache
def offered() -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in json.loads(zygo.run_cli("runtime", "list", "--json").out)}


def available() -> list[str]:
    return [name for name in languages.LANGUAGES if offered()[name]["available"]]


def battery() -> list[Job]:
    return [{"id": f"{deed}/{language}", "template": language, "source": sources[language], "stdin": "3 4\n",
             "limits": languages.LIMITS | languages.LIMITS_OF.get(deed, {}),
             "policy": languages.SUBPROCESS if language in languages.NEED_PROCESSES else languages.DEEDS[deed][2]}
            for deed, sources in languages.PROGRAMS.items() for language in sources if language in available()]


class Battery(unittest.TestCase):
    def test_what_the_tests_need_is_offered(self) -> None:
        self.assertLessEqual(NEEDED, set(available()))

    def test_the_same_deed_has_the_same_label_in_every_language(self) -> None:
        self.assert_labels(battery(), "full")

    def test_below_full_as_well(self) -> None:
        levels = json.loads(zygo.run_cli("doctor", "--json").out)["levels"]
        deeds = {"sum", "stdin_by_name", "endless", "hog", "exit_3", "segv", "bomb", "socket", "write_outside"}
        jobs = [job for job in battery() if job["id"].partition("/")[0] in deeds]
        for level in ("contained", "minimal"):
            with self.subTest(level):
                if not levels[level]["available"]:
                    self.skipTest(f"this host does not give level {level} (see `zygo doctor`)")
                refused = {"c", "cpp", "java", "go", "rust", "r"} if level == "minimal" else set()  # there, by name
                self.assert_labels([job for job in jobs if job["template"] not in refused], level)

    def assert_labels(self, jobs: list[Job], level: str) -> None:
        results = run_batch(jobs, "--level", level, timeout=300)

        for job in jobs:
            deed, _, language = job["id"].partition("/")
            label, facts, _ = languages.DEEDS[deed]
            result = results[job["id"]]
            with self.subTest(deed=deed, language=language, level=level):
                self.assertEqual(result["label"], label, zygo.brief(result))
                self.assertEqual(result["by"], zygo.by_of(label))
                seen = {**result["detail"], "stdout": result["stdout"]["text"]}
                self.assertEqual({key: seen.get(key) for key in facts}, facts, zygo.brief(result))


class Compiled(unittest.TestCase):
    HELLO = '#include <cstdio>\nint main() { puts("hello"); }\n'

    def test_a_second_identical_submission_costs_no_compile(self) -> None:
        jobs = [{"id": f"job-{i}", "template": "cpp", "source": self.HELLO} for i in range(20)]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual({result["stdout"]["text"] for result in results.values()}, {"hello\n"})
        self.assertEqual(sum(not result["compile"]["cached"] for result in results.values()), 1)

    def test_another_flag_file_or_runtime_is_another_program(self) -> None:
        with_header = {"template": "cpp", "source": '#include "x.h"\nint main() { return X; }\n'}
        jobs = [{"id": "1", **with_header, "files": {"x.h": {"text": "#define X 1\n"}}},
                {"id": "2", **with_header, "files": {"x.h": {"text": "#define X 2\n"}}},
                {"id": "17", "template": "cpp17", "source": "int main() { return __cplusplus / 100 % 100; }\n"},
                {"id": "20", "template": "cpp", "source": "int main() { return __cplusplus / 100 % 100; }\n"}]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual({key: result["exit"]["code"] for key, result in results.items()},
                         {"1": 1, "2": 2, "17": 17, "20": 20})

    def test_the_program_of_a_java_source_is_found_in_it(self) -> None:
        main = 'public static void main(String[] a) { System.out.println(new Throwable().getStackTrace()[0].getClassName()); }'
        sources = {"Solution": f"public class Solution {{ {main} }}",
                   "Hidden": f"class Helper {{ int x; }} class Hidden {{ {main} }}",
                   "a.b.Packed": f"package a.b;\nimport java.util.*;\npublic final class Packed {{ {main} }}",
                   "Second": f"public interface Shape {{ }} class Second {{ {main} }}",
                   "Main": f"// public class Other {{\npublic class Main {{ String s = \"class X {{\"; {main} }}"}
        jobs = [{"id": name, "template": "java", "source": source, "limits": languages.LIMITS}
                for name, source in sources.items()]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual({name: result["stdout"]["text"] for name, result in results.items()},
                         {name: name + "\n" for name in sources}, {n: zygo.brief(r) for n, r in results.items()})

    def test_a_java_class_without_a_program_says_so(self) -> None:
        for source in ("public class Library { int x; }", "class A { void main() {} }", "interface {"):
            with self.subTest(source):
                result = run_job(source, template="java", limits=languages.LIMITS)
                self.assertIn(result["label"], ("NonZeroExit", "CompilationError"), zygo.brief(result))
                self.assertEqual(result["by"], "program")

    def test_a_library_has_no_program(self) -> None:
        """Its compiler is content, and makes an archive."""
        sources = {"go": "package hello\n\nfunc Add(a, b int) int { return a + b }\n",
                   "rust": '#![crate_type = "lib"]\npub fn add(a: i32) -> i32 { a + 1 }\n'}
        there = [name for name in sources if offered()[name]["available"]]
        if not there:
            self.skipTest("neither Go nor Rust is installed here")
        for name in there:
            with self.subTest(name):
                result = run_job(sources[name], template=name, limits=languages.LIMITS)
                self.assertEqual((result["label"], result["by"]), ("CompilationError", "program"), zygo.brief(result))
                self.assertIn("no program", result["detail"]["message"])

    def test_what_the_compiler_says_is_in_the_result(self) -> None:
        result = run_job("int main() { return nothing; }\n", template="cpp")

        self.assertEqual((result["label"], result["by"]), ("CompilationError", "program"))
        self.assertIn("'nothing' was not declared", result["stderr"]["text"].replace("\u2018", "'").replace("\u2019", "'"))
        self.assertIn("main.cpp:1", result["detail"]["message"])
        self.assertEqual(result["detail"]["compiler"], "g++")
        self.assertIsNone(result["exit"]["code"])

    def test_a_compiler_has_limits_of_its_own(self) -> None:
        bombs = {
            "time": "template<int N> struct F { static const long v = F<N-1>::v + F<N-2>::v; };\n"
                    "constexpr long f(long n) { return n < 2 ? n : f(n-1) + f(n-2); }\n"
                    "int main() { constexpr long x = f(60); return x; }\n",
            "output": "#define A x y z w\n#define B A A A A A A A A\n#define C B B B B B B B B\n"
                      "int main() { C C C C C C C C }\n",
            "forever": '#include "/dev/zero"\n',
        }
        jobs = [{"id": name, "template": "cpp", "source": source} for name, source in bombs.items()]

        results = run_batch(jobs, *AFRESH, timeout=200)

        for name, result in results.items():
            with self.subTest(name):
                self.assertEqual(result["label"], "CompilationError", zygo.brief(result))

    def test_jobs_that_wait_for_a_build_that_fails_are_all_told(self) -> None:
        jobs = [{"id": f"job-{i}", "template": "c", "source": "int main( {\n"} for i in range(10)]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual({result["label"] for result in results.values()}, {"CompilationError"})
        self.assertEqual(sum(not result["compile"]["cached"] for result in results.values()), 1)

    def test_a_name_that_is_not_offered_says_what_it_needs(self) -> None:
        missing = [name for name, each in offered().items() if not each["available"]]
        if not missing:
            self.skipTest("every runtime is installed here")

        ended = zygo.run_cli("batch", "-", stdin=zygo.lines_of([{"source": "x", "template": missing[0]}]))

        result = json.loads(ended.out)
        self.assertEqual(result["label"], "BadJob")
        self.assertIn("not installed here (package ", result["detail"]["message"])


class Executed(unittest.TestCase):
    """What a program can do that has taken the place of the shim."""

    DEEP = ("#include <cstdio>\n"
            "static long depth(long n) { volatile char frame[1000]; frame[0] = 1; return n ? depth(n - 1) + frame[0] : 0; }\n"
            'int main() { std::printf("%ld\\n", depth(100000)); }\n')  # 100 MB

    def test_recursion_is_as_deep_as_the_stack_that_was_asked_for(self) -> None:
        usual = run_job(self.DEEP, template="cpp", limits={"memory_mb": 256})
        deep = run_job(self.DEEP, template="cpp", limits={"memory_mb": 256, "stack_mb": 200})
        beyond = run_job(self.DEEP, template="cpp", limits={"memory_mb": 64, "stack_mb": 200})

        self.assertEqual((usual["label"], usual["exit"]["signal"]), ("Signalled", "SIGSEGV"), zygo.brief(usual))
        self.assertEqual((deep["label"], deep["stdout"]["text"]), ("OK", "100000\n"), zygo.brief(deep))
        self.assertEqual(beyond["label"], "MemoryLimitExceeded", zygo.brief(beyond))

    def test_a_file_that_grows_beyond_its_limit_ends_its_program(self) -> None:
        source = ('#include <stdio.h>\nint main(void) { FILE *f = fopen("big", "w");\n'
                  "  for (int i = 0; i < 3 << 20; ++i) putc(0, f); return 0; }\n")
        met = run_job(source, template="c", limits={"file_mb": 1})
        below = run_job(source, template="c", limits={"file_mb": 4})

        self.assertEqual((met["label"], met["detail"].get("source")), ("DiskLimitExceeded", "SIGXFSZ"), zygo.brief(met))
        self.assertEqual(below["label"], "OK", zygo.brief(below))

    def run_c(self, body: str, *options: str, **fields: Any) -> Result:
        head = "".join(f"#include <{name}.h>\n" for name in (
            "dirent", "errno", "fcntl", "stdio", "stdlib", "string", "sys/mman", "sys/stat", "unistd"))
        source = f"#define _GNU_SOURCE\n{head}int main(int argc, char **argv) {{ {body} return 0; }}\n"
        return run_job(source, *options, template="c", **fields)

    def test_only_the_first_execve_is_the_shims(self) -> None:
        bodies = {"by path": 'execl("/bin/true", "true", NULL);',
                  "from a file of its own": 'int fd = open("x", O_CREAT | O_RDWR, 0700); char b[4096]; '
                                            'int me = open("/proc/self/exe", O_RDONLY); '
                                            'for (int n; (n = read(me, b, sizeof b)) > 0;) write(fd, b, n); '
                                            'char *none[] = {NULL}; fexecve(fd, none, none);'}
        for level in ("full", "contained"):
            for how, body in bodies.items():
                with self.subTest(how=how, level=level):
                    result = self.run_c(body, "--level", level)
                    if result["label"] == "SandboxError":
                        self.skipTest(f"level {level} is not to be had here")
                    self.assertEqual(result["label"], "UnsafeCode", zygo.brief(result))
                    self.assertIn(result["detail"]["syscall"], ("execve", "execveat"))

    def test_nothing_of_ours_is_left_in_its_descriptors_or_environment(self) -> None:
        result = self.run_c('for (int fd = 3; fd < 1024; ++fd) if (fcntl(fd, F_GETFD) >= 0) printf("fd %d ", fd); '
                            'extern char **environ; for (char **e = environ; *e; ++e) puts(*e);')

        self.assertEqual(result["stdout"]["text"].splitlines(), [
            "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "USER=sandbox", "LOGNAME=sandbox",
            "LANG=C.UTF-8"])

    def test_proc_shows_itself_and_nothing_that_tells_of_the_host(self) -> None:
        result = self.run_c(
            'DIR *d = opendir("/proc"); int others = 0; struct dirent *e; while ((e = readdir(d))) '
            'if (e->d_name[0] >= \'0\' && e->d_name[0] <= \'9\' && atoi(e->d_name) != getpid()) ++others; '
            'printf("others %d\\n", others); const char *p[] = {"/proc/self/mountinfo", "/proc/self/cgroup", '
            '"/proc/self/status", "/proc/self/maps", "/proc/self/mem", "/proc/cpuinfo", "/proc/kallsyms", "/proc/1/stat", '
            '"/proc/sys/kernel/hostname"}; for (int i = 0; i < 9; ++i) printf("%s %s\\n", p[i], '
            'open(p[i], O_RDONLY) >= 0 ? "opened" : strerrorname_np(errno));', "--level", "full")

        lines = result["stdout"]["text"].splitlines()
        self.assertEqual(lines[0], "others 0", zygo.brief(result))
        for line in lines[1:]:
            with self.subTest(line):
                self.assertRegex(line, r" (EACCES|ENOENT)$")

    def test_the_next_job_of_the_cell_finds_nothing_of_it(self) -> None:
        source = ('#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(int c, char **v) { '
                  'if (c > 1) { fopen("left", "w"); system("sleep 60 &"); return 0; } '
                  'printf("%d %d\\n", access("left", F_OK), getpid()); }\n')
        common = {"template": "c", "source": source, "policy": {"profile": "subprocess"}}

        results = run_batch([{"id": "leaves", "argv": ["x"], **common}, {"id": "looks", **common}], "--workers", "1")

        self.assertEqual(results["looks"]["stdout"]["text"].split()[0], "-1")

    def test_minimal_refuses_what_needs_a_compiler_by_name(self) -> None:
        ended = zygo.run_cli("batch", "-", "--level", "minimal",
                             stdin=zygo.lines_of([{"source": "int main() {}", "template": "c"}]))
        if ended.code == 125:
            self.skipTest("level minimal is not to be had here")

        result = json.loads(ended.out)
        self.assertEqual(result["label"], "BadJob")
        self.assertIn("c is compiled, which needs processes (profile build); level minimal has none",
                      result["detail"]["message"])

    def test_call_mode_is_refused_by_name(self) -> None:
        job = {"source": "x", "template": "bash", "mode": "call", "func": "f", "inputs": [1]}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertIn("call mode is for Python templates", result["detail"]["message"])


if __name__ == "__main__":
    unittest.main()

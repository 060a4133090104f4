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


class Outputs(unittest.TestCase):
    def test_files_are_collected_and_others_refused_by_name(self) -> None:
        source = ("import os\nopen('a.txt', 'w').write('one')\nos.mkdir('d')\nopen('d/b.bin', 'wb').write(b'\\xff')\n"
                  "os.chmod('a.txt', 0o755)\nos.symlink('/etc/passwd', 'd/link')\nos.mkfifo('d/pipe')\n")

        result = run_job(source, outputs=["*.txt", "d/*"])

        self.assertEqual(result["outputs"], {"a.txt": {"text": "one", "bytes": 3, "executable": True},
                                             "d/b.bin": {"b64": "/w==", "bytes": 1, "executable": False}})
        self.assertEqual(result["outputs_refused"], [{"path": "d/link", "why": "a symbolic link"},
                                                     {"path": "d/pipe", "why": "a pipe"}])

    def test_empty_directories_are_made(self) -> None:
        files = {"logs": {"directory": True}, "in/deep": {"directory": True}, "in/x": {"text": "y"}}
        sources = {"python": "import os; print([(d, sorted(n)) for d, n, f in sorted(os.walk('.'))], os.listdir('logs'))",
                   "bash": "echo y > logs/z; cat in/x logs/z; ls -d in/deep/"}

        python, bash = (run_job(source, template=name, files=files) for name, source in sources.items())

        self.assertEqual(python["stdout"]["text"],
                         "[('.', ['in', 'logs']), ('./in', ['deep']), ('./in/deep', []), ('./logs', [])] []\n")
        self.assertEqual(bash["stdout"]["text"], "yy\nin/deep/\n", zygo.brief(bash))

    def test_their_size_is_limited(self) -> None:
        result = run_job("open('big', 'w').write('x' * 5000)", outputs=["*"], limits={"outputs_kb": 4})

        self.assertEqual(result["label"], "OK")
        self.assertEqual(result["outputs"], {})
        self.assertEqual([each["path"] for each in result["outputs_refused"]], ["big"])

    def test_the_next_job_of_the_cell_finds_nothing_of_it(self) -> None:
        keep = {"source": "open('left', 'w').write('x')", "outputs": ["left"]}
        look = {"source": "import os; print(os.listdir('.'))"}

        results = run_batch([{"id": "keep", **keep}, {"id": "look", **look}], "--workers", "1")

        self.assertEqual(results["look"]["stdout"]["text"], "[]\n")


class Tests(unittest.TestCase):
    ADD = "#include <cstdio>\nint main() { long a, b; scanf(\"%ld %ld\", &a, &b); printf(\"%ld\\n\", a + b); }\n"

    def run_tests(self, tests: list[dict[str, Any]], source: str = ADD, template: str = "cpp", **fields: Any) -> Result:
        return run_job(source, template=template, tests=tests, **fields)

    def labels(self, result: Result) -> list[str]:
        return [test.get("label", "skipped") for test in result["tests"]]

    def test_a_hundred_tests_cost_one_compile(self) -> None:
        result = self.run_tests([{"stdin": f"{i} 1\n", "expect": f"{i + 1}\n"} for i in range(100)])

        self.assertEqual((result["label"], result["ok"]), ("OK", True))
        self.assertEqual(result["summary"], {"total": 100, "passed": 100, "failed": 0, "skipped": 0})
        self.assertEqual(set(self.labels(result)), {"OK"})

    def test_the_first_failure_in_order_is_the_label(self) -> None:
        result = self.run_tests([{"name": "good", "stdin": "1 2", "expect": "3"},
                                 {"name": "wrong", "stdin": "1 2", "expect": "4"},
                                 {"name": "worse", "stdin": "1 2", "expect": "5"}])

        self.assertEqual((result["label"], result["by"]), ("WrongAnswer", "program"))
        self.assertEqual(result["detail"], {"test": "wrong", "where": "line 1", "expected": "4", "got": "3"})
        self.assertEqual(self.labels(result), ["OK", "WrongAnswer", "WrongAnswer"])

    def test_stop_at_the_first_failure_skips_the_rest(self) -> None:
        result = self.run_tests([{"stdin": "1 2", "expect": "4"}, {"stdin": "1 2", "expect": "3"}], stop="first_fail")

        self.assertEqual(self.labels(result), ["WrongAnswer", "skipped"])
        self.assertEqual(result["summary"], {"total": 2, "passed": 0, "failed": 1, "skipped": 1})

    def test_each_test_has_a_run_and_a_verdict_of_its_own(self) -> None:
        source = "n = int(input())\nif n == 1: 1 / 0\nwhile n == 2: pass\nopen('seen', 'x'); print(n)\n"

        result = self.run_tests([{"stdin": str(i), "expect": str(i)} for i in range(4)], source, "python",
                                limits={"cpu_ms": 500})

        self.assertEqual(self.labels(result), ["OK", "ZeroDivisionError", "TimeoutException", "OK"])

    def test_calls_are_compared_by_value(self) -> None:
        source = "def half(x, *, up=False): return {'half': x / 2 + (0.5 if up else 0)}\n"

        result = self.run_tests([{"args": [4], "expect": {"half": 2}},
                                 {"args": [5], "kwargs": {"up": True}, "expect": {"half": 3.0}},
                                 {"args": [1], "expect": {"half": 0.5000001}, "compare": "float:1e-3"},
                                 {"args": [1], "expect": {"half": 0.6}},
                                 {"args": ["x"], "expect": None}],
                                source, "python", mode="call", func="half")

        self.assertEqual(self.labels(result), ["OK", "OK", "OK", "WrongAnswer", "TypeError"])
        self.assertEqual(result["detail"]["where"], '["half"]')

    def test_a_program_that_cannot_be_compiled_fails_as_a_whole(self) -> None:
        result = self.run_tests([{"stdin": "1 2", "expect": "3"}] * 1, source="int main( {")

        self.assertEqual(result["label"], "CompilationError")
        self.assertEqual(self.labels(result), ["skipped"])
        self.assertIn("error", result["stderr"]["text"])

    def test_a_checker_decides_and_sees_input_output_and_answer(self) -> None:
        checker = {"template": "python", "source": (
            "import sys\ninput, output, answer = (open(path).read() for path in sys.argv[1:4])\n"
            "print(input, answer, file=sys.stderr)\nsys.exit(0 if sorted(output) == sorted(answer) else 1)\n")}

        result = self.run_tests([{"stdin": "1 2", "expect": "3\n", "compare": "checker"},
                                 {"stdin": "10 2", "expect": "21\n", "compare": "checker"},
                                 {"stdin": "1 1", "expect": "3\n", "compare": "checker"}], checker=checker)

        self.assertEqual(self.labels(result), ["OK", "OK", "WrongAnswer"])

    def test_a_checker_that_breaks_is_the_callers_and_never_the_programs(self) -> None:
        job = {"source": self.ADD, "template": "cpp", "tests": [{"stdin": "1 2", "expect": "", "compare": "checker"}],
               "checker": {"template": "python", "source": "import sys; sys.exit(9)"}}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["by"]), ("BadJob", "caller"))
        self.assertIn("checker: ended as NonZeroExit", result["detail"]["message"])

    def test_a_checker_may_give_points(self) -> None:
        """As testlib's quitp does, or in the file of the ICPC protocol."""
        checker = {"template": "python", "source": (
            "import sys\nright = open(sys.argv[2]).read() == open(sys.argv[3]).read()\n"
            "sys.stderr.write(f'points {2.5 if right else 0.5} of 3\\n')\nsys.exit(7)\n")}
        icpc = {"template": "python", "protocol": "icpc", "source": (
            "import sys\nopen(sys.argv[3] + 'score_multiplier.txt', 'w').write('0.25')\nsys.exit(42)\n")}
        tests = [{"stdin": "1 2", "expect": "3\n", "compare": "checker"},
                 {"stdin": "1 1", "expect": "3\n", "compare": "checker"}, {"stdin": "1 1", "expect": "2"}]

        result = self.run_tests(tests, checker=checker)
        other = self.run_tests(tests[:1], checker=icpc)

        self.assertEqual(self.labels(result), ["OK", "OK", "OK"])
        self.assertEqual([test.get("score") for test in result["tests"]], [2.5, 0.5, None])
        self.assertEqual(result["summary"], {"total": 3, "passed": 3, "failed": 0, "skipped": 0, "score": 3})
        self.assertEqual(other["tests"][0]["score_multiplier"], 0.25)
        self.assertNotIn("score", other["summary"])

    def test_points_that_are_no_number_are_the_callers_mistake(self) -> None:
        checker = {"template": "python", "source": "import sys\nsys.stderr.write('points many')\nsys.exit(7)\n"}

        job = {"source": "print(3)", "tests": [{"expect": "3\n", "compare": "checker"}], "checker": checker}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["detail"]["message"]), ("BadJob", "checker: points: expected a number"))

    def test_a_checker_may_have_further_sources_and_flags(self) -> None:
        checker = {"template": "cpp", "source": '#include "right.h"\nint main() { return right(LIMIT) ? 0 : 1; }\n',
                   "sources": {"right.h": "bool right(int);\n", "right.cpp": "bool right(int n) { return n == 7; }\n"}}
        tests = [{"stdin": "1 2", "expect": "3\n", "compare": "checker"}]

        results = [self.run_tests(tests, checker={**checker, "compiler_flags": [f"-DLIMIT={limit}"]}) for limit in (7, 8)]

        self.assertEqual([self.labels(result) for result in results], [["OK"], ["WrongAnswer"]], zygo.brief(results[0]))

    def test_the_expected_answer_is_nowhere_in_the_sandbox(self) -> None:
        source = ("import os\nfound = []\nfor root, _, names in os.walk('/tmp'): found += names\n"
                  "print(found, 'needle-' + '42' in str(globals()))\n")

        result = self.run_tests([{"stdin": "", "expect": "needle-42"}], source, "python")

        self.assertEqual(result["tests"][0]["stdout"]["text"], "[] False\n")

    def test_what_is_wrong_with_a_test_is_named(self) -> None:
        wrong = {
            '"tests": 1': "tests: expected a list of tests",
            '"tests": [{"stdin": 1}]': "tests[0].stdin: expected a string",
            '"tests": [{}, {"nome": "x"}]': "tests[1].nome: unknown field",
            '"tests": [{"compare": "similar"}]': "tests[0].compare: expected exact, lines, tokens",
            '"tests": [{"name": "a"}, {"name": "a"}]': "tests[1]: name: another test has it",
            '"tests": [{"args": [1]}]': "tests: args and kwargs only in call mode",
            '"tests": [{"expect": "", "compare": "checker"}]': "checker: required",
            '"checker": {"source": "x"}': "checker: template: required",
            '"stop": "now"': "stop: expected one of",
        }
        for text, message in wrong.items():
            with self.subTest(text):
                line = b'{"source": "x", ' + text.encode() + b"}\n"
                result = json.loads(zygo.run_cli("batch", "-", stdin=line).out)
                self.assertEqual(result["label"], "BadJob")
                self.assertIn(message, result["detail"]["message"])


class Conversations(unittest.TestCase):
    """A program guesses a number; the interactor answers with -1, 0 or 1, and counts."""

    INTERACTOR = {"template": "python", "source": """
import sys
secret = int(open(sys.argv[1]).read())
for asked in range(20):
    line = sys.stdin.readline()
    if not line: print("the program left", file=sys.stderr); sys.exit(1)
    guess = int(line)
    print((secret > guess) - (secret < guess), flush=True)
    if guess == secret: sys.exit(0)
print("too many questions", file=sys.stderr); sys.exit(1)
"""}
    BISECT = """
#include <iostream>
int main() { int low = 0, high = 1000, answer; do { int middle = (low + high) / 2; std::cout << middle << std::endl;
  std::cin >> answer; if (answer > 0) low = middle + 1; else high = middle - 1; } while (answer != 0); }
"""

    def converse(self, source: str, template: str = "python", secrets: tuple[int, ...] = (7,), **fields: Any) -> Result:
        tests = [{"name": str(secret), "stdin": str(secret)} for secret in secrets]
        return run_job(source, "--workers", "4", template=template, tests=tests,
                       **{"interactor": self.INTERACTOR, **fields})

    def test_a_program_that_asks_well_is_right(self) -> None:
        result = self.converse(self.BISECT, "cpp", tuple(range(0, 1000, 97)))

        self.assertEqual((result["label"], result["summary"]["passed"]), ("OK", 11), zygo.brief(result))

    def test_one_that_asks_too_much_is_wrong_and_says_what_the_interactor_said(self) -> None:
        result = self.converse("for i in range(1000): print(i, flush=True); input()", secrets=(500,))

        self.assertEqual((result["label"], result["detail"]["interactor"]), ("WrongAnswer", "too many questions"))

    def test_one_that_leaves_early_is_wrong(self) -> None:
        stays = "import time; print(1, flush=True); input(); time.sleep(0.2)"
        for source, said in (("print(1, flush=True)", "the program left before the conversation was over"),
                             (stays, "the program left")):
            with self.subTest(source):
                result = self.converse(source)
                self.assertEqual(result["label"], "WrongAnswer")
                self.assertIn(result["detail"]["interactor"], {said, "the program left"})

    def test_two_that_wait_for_each_other_are_a_deadlock(self) -> None:
        result = self.converse("input()", limits={"wall_ms": 500})

        self.assertEqual((result["label"], result["detail"]["limit"]), ("TimeoutException", "wall"))

    def test_both_waiting_is_said(self) -> None:
        silent = {"template": "python", "source": "import time; time.sleep(60)"}

        result = self.converse("input()", limits={"wall_ms": 500}, interactor=silent)

        self.assertEqual(result["detail"].get("reason"), "deadlock: each waited for the other", zygo.brief(result))

    def test_the_programs_own_ends_stay_its_own(self) -> None:
        ends = {"1 / 0": "ZeroDivisionError", "while True: pass": "TimeoutException",
                "import os; os.fork()": "UnsafeCode", "import sys; sys.exit(3)": "NonZeroExit"}
        for source, label in ends.items():
            with self.subTest(source):
                result = self.converse(source, limits={"cpu_ms": 300})
                self.assertEqual(result["label"], label, zygo.brief(result))

    def test_an_interactor_that_cannot_be_built_is_the_callers(self) -> None:
        job = {"source": "1", "tests": [{}], "interactor": {"template": "cpp", "source": "int main( {"}}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["detail"]["message"]), ("BadJob", "interactor: CompilationError"))

    def test_one_worker_is_too_few(self) -> None:
        job = {"source": "1", "tests": [{}], "interactor": self.INTERACTOR}

        result = json.loads(zygo.run_cli("batch", "-", "--workers", "1", stdin=zygo.lines_of([job])).out)

        self.assertIn("two workers", result["detail"]["message"])

    def test_many_at_once_do_not_starve_each_other(self) -> None:
        jobs = [{"id": f"job-{i}", "source": self.BISECT, "template": "cpp", "interactor": self.INTERACTOR,
                 "tests": [{"stdin": str(i)}]} for i in range(40)]

        results = run_batch(jobs, "--workers", "2")

        self.assertEqual({result["label"] for result in results.values()}, {"OK"})


if __name__ == "__main__":
    unittest.main()

"""Ruby and PHP as warm zygotes: no program can tell, and nothing of the zygote is left in its reach."""

from __future__ import annotations

import functools
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Job, Result, brief, run_batch, run_job

EXECUTED = ("--start", "exec")  # the twin: an interpreter that starts with each job
LIMITS = {"cpu_ms": 5000, "wall_ms": 30000, "memory_mb": 256}

# Programs whose every word must be the same.
RUBY = {
    "names": "p $0, __FILE__, __dir__, ARGV, caller, binding.local_variables, self, $PROGRAM_NAME, __method__\n",
    "loaded": "puts $LOADED_FEATURES, $LOAD_PATH; p Gem.loaded_specs.keys, Gem.path - [Gem.user_dir]\n",
    "constants": "p Object.constants.sort, global_variables.sort, Thread.list.size, Signal.list.size\n",
    "environment": "p ENV.to_h, Dir.pwd, File.umask, Process.getpgrp == $$, Encoding.default_external\n",
    "streams": "p [$stdin, $stdout, $stderr].map { |s| [s.fileno, s.tty?, s.sync, s.external_encoding] }; p gets, gets\n",
    # As many, though perhaps by other numbers.
    "descriptors": "File.open('x', 'w'); p DATA.path, DATA.read\n"
                   "p (3..250).select { |n| IO.for_fd(n, autoclose: false) rescue nil }.size\n"
                   "__END__\nbehind the end\n",
    "traces": "def f = raise(ArgumentError, 'no')\nat_exit { puts \"bye #{$!.inspect}\" }\nbegin\n  f\nrescue => e\n"
              "  puts e.full_message(highlight: false), e.backtrace\nend\nf\n",
    "error with a hint": "x = [1, 2]\n  x.frist\n",
    "first column": "nil.foo\n",
    "syntax": "puts 1\ndef f(\n",
    "comment of encoding": "# encoding: latin1\np __ENCODING__, 'a'.encoding, __LINE__\n",
    "begin": "=begin\nnot this\n=end\np __LINE__\nBEGIN { puts 'first' }\nEND { puts 'last' }\n",
    "frozen": "# frozen_string_literal: true\np 'a'.frozen?\n",
    "threads": "q = Queue.new; t = 3.times.map { |i| Thread.new { sleep 0.01; q << i } }; t.each(&:join); p q.size\n"
               "p (begin; require 'timeout'; Timeout.timeout(0.05) { sleep 5 }; rescue Timeout::Error => e; e.class; end)\n",
    "signals": "trap('USR1') { puts 'usr1' }; Process.kill('USR1', $$); sleep 0.05; p trap('INT', 'DEFAULT'), trap('TERM', nil)\n"
               "Process.kill('TERM', $$); sleep 1; puts 'alive'\n",
    "interrupt": "begin; Process.kill('INT', $$); sleep 2; rescue Interrupt => e; p e.class; end\n",
    "deep": "def f(n) = f(n + 1)\nbegin; f(0); rescue SystemStackError => e; puts e.message; end\n",
    "memory": "x = 'x' * 50_000_000; GC.start; p x.size, GC.disable, GC.stress, ObjectSpace.each_object(Class).count > 100\n",
    "exit in a block": "at_exit { exit 7 }; exit 3\n",
    "abort": "abort 'said so'\n",
    "clocks": "p Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 5, Process.times.utime < 5, $$ == Process.pid\n",
    "title": "$0 = 'another name'; p $0, __FILE__\n",
    "empty": "",
    "fibers": "p Fiber.new { Fiber.yield 1; 2 }.then { |f| [f.resume, f.resume] }, Enumerator.new { |y| y << 1 }.next\n",
    "ractors": "Warning[:experimental] = false; p Ractor.new { 1 + 2 }.take\n",
    "requires": "require 'json'; require 'set'; require 'bigdecimal'; require 'digest'; puts JSON.dump([1, Digest::MD5.hexdigest('x')])\n",
    "required relative": "require_relative 'other'; p OTHER\n",
}
PHP = {
    "names": "<?php var_dump(__FILE__, __DIR__, __LINE__, $argv, $argc, $_SERVER['argv'], $_SERVER['argc'], PHP_SAPI, "
             "get_included_files(), $_SERVER['SCRIPT_FILENAME'], $_SERVER['PHP_SELF']);\n",
    "environment": "<?php $e = getenv(); ksort($e); var_dump($e, getcwd(), $_ENV, sys_get_temp_dir(), get_cfg_var('cfg_file_path'));\n",
    "settings": "<?php $all = ini_get_all(null, false); var_dump($all, get_loaded_extensions(), stream_get_wrappers());\n",
    "world": "<?php var_dump(count(get_declared_classes()), count(get_defined_functions()['internal']), "
             "array_keys($GLOBALS), get_include_path(), error_reporting(), ini_get('memory_limit'));\n",
    "streams": "<?php var_dump(fgets(STDIN), stream_isatty(STDOUT), fstat(STDIN)['size'] >= 0, posix_isatty(0));\n"
               "fwrite(STDERR, 'to stderr'); echo file_get_contents('php://stdin');\n",
    "descriptors": "<?php $open = []; for ($i = 0; $i < 250; ++$i) if (@fopen(\"php://fd/$i\", 'r')) $open[] = $i; "
                   "var_dump($open);\n",
    "uncaught": "<?php\nfunction f() { throw new DomainException('no'); }\n"
                "register_shutdown_function(function () { echo \"bye\\n\"; });\nf();\n",
    "fatal": "<?php echo 'before'; undefined_function(1);\n",
    "syntax": "<?php echo 1\necho 2;\n",
    "text first": "plain text\n<?= 1 + 1 ?>\n",
    "exit": "<?php register_shutdown_function(function () { echo 'last'; }); exit(5);\n",
    "exit text": "<?php exit('words');\n",
    "halt": "<?php echo stream_get_contents(fopen(__FILE__, 'r'), -1, __COMPILER_HALT_OFFSET__);\n__halt_compiler();behind\n",
    "memory": "<?php $x = str_repeat('x', 150000000); echo 'not reached';\n",
    "destructors": "<?php class A { function __destruct() { echo 'gone'; } } $a = new A; gc_collect_cycles();\n",
    "signals": "<?php pcntl_async_signals(true); pcntl_signal(SIGUSR1, fn() => print('usr1')); posix_kill(getmypid(), SIGUSR1); "
               "usleep(1000); posix_kill(getmypid(), SIGTERM); sleep(1); echo 'alive';\n",
    "output buffers": "<?php ob_start(); echo 'kept'; $k = ob_get_clean(); echo strtoupper($k); echo 'x'; fflush(STDOUT);\n",
    "time limit": "<?php set_time_limit(1); for (;;);\n",
    "empty": "",
    "libraries": "<?php echo json_encode([preg_match('/a+/', 'caat', $m), $m, md5('x'), date('Y') > 2000]);\n",
    "included": "<?php include 'other.php'; var_dump(OTHER, get_included_files());\n",
}
FILES = {"ruby": {"other.rb": {"text": "OTHER = [__FILE__, __LINE__]\n"}},
         "php": {"other.php": {"text": "<?php const OTHER = [__FILE__, __LINE__];\n"}}}
PROGRAMS = {"ruby": RUBY, "php": PHP}


@functools.cache
def available() -> list[str]:
    offered = {each["name"]: each["available"] for each in json.loads(zygo.run_cli("runtime", "list", "--json").out)}
    return [name for name in PROGRAMS if offered[name]]


def setUpModule() -> None:
    if not available():
        raise unittest.SkipTest("neither ruby nor php is installed here")


@functools.cache
def each_level() -> list[str]:
    return [name for name, level in json.loads(zygo.run_cli("doctor", "--json").out)["levels"].items() if level["available"]]


def jobs_of(language: str) -> list[Job]:
    return [{"id": f"{language}/{name}", "template": language, "source": source, "stdin": "3 4\nlast", "limits": LIMITS,
             "files": FILES[language]} for name, source in PROGRAMS[language].items()]


def shown(result: Result) -> dict[str, Any]:
    """All that a caller sees but figures. Below level full the scratch has another path in each cell."""
    def plain(text: str) -> str:
        return re.sub(r"/tmp/zygo-scratch-\w+/c\d+", "SCRATCH", text)

    return {"label": result["label"], "by": result["by"], "exit": result["exit"], "limit": result["detail"].get("limit"),
            "stdout": plain(result["stdout"]["text"]), "stderr": plain(result["stderr"]["text"])}


class Programs(unittest.TestCase):
    def test_none_can_tell_whether_its_interpreter_was_warm(self) -> None:
        for level in each_level():
            for language in available():
                how = ("--level", level, "--workers", "1")
                warm = run_batch(jobs_of(language), *how, timeout=300)
                executed = run_batch(jobs_of(language), *how, *EXECUTED, timeout=300)
                for name, result in warm.items():
                    with self.subTest(name, level=level):
                        self.assertEqual(shown(result), shown(executed[name]))

    def test_a_job_of_its_own_kind_is_executed_and_ends_as_ever(self) -> None:
        for language in available():
            ruby = language == "ruby"
            words = "p ARGV, ENV['RUBYOPT'], $VERBOSE\n" if ruby else "<?php var_dump($argv, getenv('X'));\n"
            kinds: dict[str, Job] = {
                "argv": {"argv": ["a", "b c"]},
                "env": {"env": {"RUBYOPT": "-w", "X": "y"}},
                "first line": {"source": ("#!/usr/bin/env ruby -w\n" if ruby else "#!/usr/bin/php\n") + words},
                "mark": {"source": "\ufeff" + words},
                "hidden file": {"files": {".local/x": {"text": ""}}},
            }
            jobs = [{"id": name, "template": language, "source": words, "limits": LIMITS, **job}
                    for name, job in kinds.items()]
            warm, executed = run_batch(jobs), run_batch(jobs, *EXECUTED)
            for name in kinds:
                with self.subTest(name, language=language):
                    self.assertEqual(warm[name]["label"], "OK", brief(warm[name]))
                    self.assertEqual(shown(warm[name]), shown(executed[name]))

    def test_it_is_the_template_that_has_started(self) -> None:
        """What is the same in two jobs of one template, and never in two interpreters of their own."""
        address = {"ruby": "p 'x'.hash\n"}
        for language in set(available()) & set(address):
            jobs = [{"id": str(i), "template": language, "source": address[language]} for i in range(2)]
            for how, same in (((), True), (EXECUTED, False)):
                results = run_batch(jobs, "--workers", "1", *how)
                with self.subTest(language, how=how):
                    self.assertEqual(results["0"]["stdout"] == results["1"]["stdout"], same)

    def test_determinism_is_checked_with_another_template(self) -> None:
        if "ruby" not in available():
            self.skipTest("ruby is not installed here")
        for source, label in (("p 'x'.hash\n", "NonDeterministicCode"), ("p 'x'.sum, $$\n", "OK")):
            with self.subTest(source):
                result = run_job(source, template="ruby", determinism={"runs": 2})
                self.assertEqual(result["label"], label, brief(result))


class Randomness(unittest.TestCase):
    def test_no_two_jobs_draw_the_same(self) -> None:
        sources = {
            "ruby": "require 'securerandom'; p rand, Random.rand, Random.new.rand, Random.new_seed, SecureRandom.hex, "
                    "(1..99).to_a.shuffle, [*1..1000].sample, Random.bytes(8), Random.urandom(8)\n",
            "php": "<?php foreach ([mt_rand(), rand(), lcg_value(), random_int(0, PHP_INT_MAX), bin2hex(random_bytes(8)), "
                   "uniqid('', true), implode(',', (function () { $a = range(1, 99); shuffle($a); return $a; })()), "
                   "str_shuffle(str_repeat('abcdefgh', 9)), implode(array_rand(range(1, 9999), 9))] as $x) echo $x, \"\\n\";\n",
        }
        for language in available():
            jobs = [{"id": str(i), "template": language, "source": sources[language]} for i in range(6)]
            results = run_batch(jobs, "--workers", "1")
            drawn = [result["stdout"]["text"].splitlines() for result in results.values()]
            self.assertTrue(all(len(lines) == 9 for lines in drawn), brief(results["0"]))
            for which, lines in enumerate(zip(*drawn)):
                with self.subTest(language, line=which):
                    self.assertEqual(len(set(lines)), len(jobs), lines)


class Isolation(unittest.TestCase):
    def test_not_even_the_first_execve_is_allowed(self) -> None:
        sources = {"ruby": "exec '/bin/true'\n", "php": "<?php pcntl_exec('/bin/true');\n"}
        for level in each_level():
            for language in available():
                with self.subTest(language, level=level):
                    result = run_job(sources[language], "--level", level, template=language)
                    self.assertEqual((result["label"], result["detail"].get("syscall")), ("UnsafeCode", "execve"),
                                     brief(result))

    def test_processes_are_had_where_the_profile_has_them(self) -> None:
        sources = {"ruby": "p system('echo a'), `echo b`, (fork { exit! 3 }; Process.wait; $?.exitstatus)\n"
                           "system({'X' => '1'}, 'env')\n",
                   "php": "<?php echo `echo a`, exec('env'); $p = pcntl_fork(); if ($p == 0) exit(3); "
                          "pcntl_waitpid($p, $s); echo pcntl_wexitstatus($s);\n"}
        for language in available():
            job = {"id": "x", "template": language, "source": sources[language], "policy": {"profile": "subprocess"}}
            with self.subTest(language):
                warm, executed = run_batch([job])["x"], run_batch([job], *EXECUTED)["x"]
                self.assertEqual(warm["label"], "OK", brief(warm))
                self.assertEqual(shown(warm), shown(executed))
                self.assertNotIn("ZYGO", warm["stdout"]["text"])
                self.assertNotIn("LD_", warm["stdout"]["text"])

    def test_the_next_job_finds_nothing_of_the_one_before(self) -> None:
        pairs = {"ruby": ("$left = 1; File.write('left', 'x'); class String; def size = 7; end; ENV['LEFT'] = '1'; "
                          "srand(1); at_exit { exit! 0 }; Dir.mkdir('d'); Dir.chdir('d'); $stdout.close\n",
                          "p $left, Dir.children('.'), 'a'.size, ENV['LEFT'], Dir.pwd == '/tmp', 1\n",
                          "nil\n[]\n1\nnil\ntrue\n1\n"),
                 "php": ("<?php file_put_contents('left', 'x'); putenv('LEFT=1'); define('LEFT', 1); mt_srand(1); "
                         "ini_set('precision', 3); mkdir('d'); chdir('d'); fclose(STDOUT);\n",
                         "<?php echo json_encode([scandir('.'), getenv('LEFT'), defined('LEFT'), 1 / 3, getcwd()]);\n",
                         '[[".","..","main.php"],false,false,0.3333333333333333,"\\/tmp"]')}
        for language in available():
            leaves, looks, expected = pairs[language]
            jobs = [{"id": str(i), "template": language, "source": leaves if i % 2 == 0 else looks} for i in range(6)]
            results = run_batch(jobs, "--workers", "1")
            for i in (1, 3, 5):
                with self.subTest(language, job=i):
                    text = results[str(i)]["stdout"]["text"].replace('["main.rb"]', "[]")
                    self.assertEqual(text, expected, brief(results[str(i)]))


class Fallback(unittest.TestCase):
    """An interpreter that does not ask for its script as expected."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="zygo-warm-"))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(zygo.BINARY.parent.parent / "lib/zygo", self.folder / "lib/zygo", symlinks=True)
        (self.folder / "bin").mkdir()
        shutil.copy2(zygo.BINARY, self.folder / "bin/zygo")
        self.folder.chmod(0o755)

    def run_here(self, *jobs: Job) -> dict[str, Result]:
        ended = zygo.run_command([str(self.folder / "bin/zygo"), "batch", "-"], stdin=zygo.lines_of(jobs), timeout=60)
        return zygo.by_id(zygo.results_of(ended.out))

    def write(self, name: str, **fields: Any) -> None:
        spec = {"name": name, "title": name, "start": "warm", **fields}
        (self.folder / f"lib/zygo/runtimes/{name}.json").write_text(json.dumps(spec))

    def test_it_is_executed_for_each_job(self) -> None:
        self.write("asks-another-way", file="main.sh", run=["bash", "main.sh"])
        self.write("ends-at-once", file="x.txt", run=["true", "x.txt"])
        self.write("two-words", file="main.pl", run=["perl", "-w", "main.pl"])

        results = self.run_here(
            {"id": "1", "template": "asks-another-way", "source": "echo $0 $#; exit 3\n"},
            {"id": "2", "template": "asks-another-way", "source": "ls -d /proc/self\n"},
            {"id": "3", "template": "ends-at-once", "source": ""},
            {"id": "4", "template": "two-words", "source": "print \"$0 $$\\n\";"})

        self.assertEqual((results["1"]["label"], results["1"]["stdout"]["text"]), ("NonZeroExit", "main.sh 0\n"))
        self.assertEqual(results["2"]["label"], "UnsafeCode", brief(results["2"]))
        self.assertEqual(results["3"]["label"], "OK", brief(results["3"]))
        self.assertEqual(results["4"]["stdout"]["text"], "main.pl 2\n", brief(results["4"]))


if __name__ == "__main__":
    unittest.main()

"""Jobs of warm Ruby and PHP that borrow their cell's memory, one after the other: they end as forked jobs do, and nothing of a
job is left for the next. Every run but one compares the whole address space with its first state after each job
(--verify-rollback)."""

from __future__ import annotations

import functools
import os
import random
import re
import unittest
from typing import Any

import languages
import zygo
from pool import test_warm_interpreters as warm
from pool.test_borrowed_levels import InARestrictedPod, InDocker
from pool.test_borrowed_memory import ONE_CELL, UNVERIFIED, BorrowedMemory, first_looks, layout_of, was_borrowed
from zygo import Job, Result, brief

FORKED = ("--memory-of-jobs", "fork", "--workers", "1")
LIMITS = {"cpu_ms": 20000, "wall_ms": 60000, "memory_mb": 256}
SHORT = {"cpu_ms": 300, "wall_ms": 60000, "memory_mb": 64, "stdout_kb": 64}

# How programs end, and what they can do to their interpreter by the way.
RUBY = {
    "stack overflow": "def f(n) = f(n + 1)\n3.times { begin; f(0); rescue SystemStackError => e; puts e.message; end }\n",
    "stack overflow, uncaught": "def f(n) = f(n + 1)\nf(0)\n",
    # Of the machine's stack: Ruby learns it by a signal, on the signal's own stack.
    "overflow of C's stack": "a = b = []\n100_000.times { a, b = [a], [b] }\n"
                             "[-> { a.inspect }, -> { a.hash }, -> { a == b }].each do |f|\n  f.call\nrescue SystemStackError => e\n  puts e.message\nend\n",
    "overflow in a thread": "def f(n) = f(n + 1)\nThread.new { begin; f(0); rescue SystemStackError => e; p e.class; end }.join\n",
    "no memory": "left = []\nloop { left << 'x' * (1 << 20) }\n",
    "no memory for small ones": "left = []\nloop { left << [1, 2, 3, 4] }\n",
    "too large": "begin; 'x' * (1 << 60); rescue => e; p e.class; end\n",
    "no end": "loop {}\n", "no end in a thread": "Thread.new { loop {} }.join\n",
    "threads left": "5.times { Thread.new { loop {} } }\nThread.new { sleep }\nputs 'main is done'\n",
    "exception": "class Odd < StandardError; end\ndef f = raise(Odd, 'no')\nf\n",
    "gc stress": "GC.stress = true\np (1..40).map { |i| i.to_s * 3 }.join.size\nGC.stress = false\nGC.start\n",
    "gc": "a = (1..200_000).map(&:to_s); a = nil; 3.times { GC.start }\np GC.count > 0, GC.stat[:heap_live_slots] > 0\n",
    "much memory freed": "20.times { x = Array.new(100_000) { |i| \"s#{i}\" }; x.clear; GC.start }\np 1\n",
    "a process": "system('true')\n", "a fork": "fork { exit! 3 }\n", "a program": "exec '/bin/true'\n",
    "much output": "$stdout.sync = true\nloop { puts 'x' * 1000 }\n", "40 kilobytes": "print 'y' * 40_000\n",
    "at_exit": "at_exit { puts 'last'; exit 7 }\nat_exit { puts 'first' }\nexit 3\n",
    "traps": "%w[INT TERM USR1 CHLD].each { |s| trap(s) { puts s } }\nProcess.kill('USR1', $$)\nsleep 0.02\n",
    "exit!": "at_exit { puts 'never' }\n$stdout.sync = true\nputs 'a'\nexit! 4\n",
    "kill": "Process.kill(:KILL, $$)\nsleep 9\n", "segv": "Process.kill(:SEGV, $$)\nsleep 9\n", "abort": "Process.abort('why')\n",
    "compaction": "GC.compact\nGC.auto_compact = true\n9.times { Array.new(9999) { Object.new }; GC.start }\np GC.stat[:compact_count] > 0\n",
    "libraries": "require 'json'; require 'set'; require 'date'; require 'bigdecimal'; require 'digest'; require 'erb'\n"
                 "p JSON.parse('[1]'), Set[1], Date.new(2020, 1, 1).yday, Digest::SHA256.hexdigest('x'), ERB.new('<%= 1 %>').result\n",
    "time limit": "require 'timeout'\nbegin; Timeout.timeout(0.05) { loop {} }; rescue Timeout::Error => e; p e.class; end\n",
    "ractors": "Warning[:experimental] = false\np 3.times.map { |i| Ractor.new(i) { |n| n * 2 } }.map(&:take)\n",
    "fibers": "p 200.times.map { |i| Fiber.new { Fiber.yield i; i }.tap(&:resume) }.sum(&:resume)\n",
    "long source": "# " + "x" * 20000 + "\np __LINE__\n",
}
PHP = {
    "deep": "<?php function f($n) { return $n ? 1 + f($n - 1) : 0; } echo f(50000);\n",
    "deep in C": "<?php $a = []; for ($i = 0; $i < 20000; $i++) $a = [$a]; echo strlen(serialize($a));\n",
    "no memory": "<?php $l = []; for (;;) $l[] = str_repeat('x', 1 << 20);\n",
    "no memory, no limit": "<?php ini_set('memory_limit', -1); $l = []; for (;;) $l[] = str_repeat('x', 1 << 20);\n",
    "no end": "<?php for (;;);\n",
    "exception": "<?php class Odd extends Exception {} function f() { throw new Odd('no'); } f();\n",
    "warnings": "<?php echo $undefined; echo [1] . 'a'; hex2bin('abc'); trigger_error('mine', E_USER_WARNING);\n",
    "gc": "<?php for ($i = 0; $i < 99999; $i++) { $a = new stdClass; $a->a = $a; } unset($a); echo gc_collect_cycles() >= 0;\n",
    "much memory freed": "<?php for ($i = 0; $i < 9; $i++) { $a = range(1, 200000); unset($a); } gc_mem_caches(); echo 1;\n",
    "huge blocks": "<?php $s = ''; for ($i = 0; $i < 400; $i++) $s .= str_repeat('x', 50000); echo strlen($s); $s = substr($s, 0, 9); echo $s;\n",
    "a process": "<?php var_dump(@shell_exec('echo a'));\n", "a fork": "<?php echo pcntl_fork();\n", "a program": "<?php pcntl_exec('/bin/true');\n",
    "much output": "<?php for (;;) echo str_repeat('x', 1000);\n", "40 kilobytes": "<?php echo str_repeat('y', 40000);\n",
    "shutdown": "<?php register_shutdown_function(fn() => print('last')); exit(7);\n",
    "destructors": "<?php class A { function __destruct() { echo 'gone'; } } $a = new A; static $b; $b = new A; exit(2);\n",
    "signals": "<?php pcntl_async_signals(true); pcntl_signal(SIGUSR1, fn() => print('usr1')); posix_kill(getmypid(), SIGUSR1);\n",
    "kill": "<?php posix_kill(getmypid(), 9); sleep(9);\n", "segv": "<?php posix_kill(getmypid(), 11); sleep(9);\n",
    "patterns": "<?php for ($i = 0; $i < 200; $i++) preg_match(\"/^(a|b$i)+(?=c)$i\\\\d*/\", 'aaab1c1', $m); echo preg_last_error(), json_encode($m);\n",
    "alarm": "<?php pcntl_async_signals(true); pcntl_signal(SIGALRM, function () { echo 'alarm'; exit(4); }); pcntl_alarm(1); for (;;);\n",
    "libraries": "<?php echo json_encode([md5('x'), date('Y', 0), iconv('UTF-8', 'ISO-8859-1', 'x'), sodium_bin2hex('x'), filter_var('1', FILTER_VALIDATE_INT)]);\n",
    "fibers": "<?php $f = new Fiber(function () { $x = Fiber::suspend(1); echo $x; }); echo $f->start(); $f->resume(2);\n",
    "generators": "<?php function g() { for ($i = 0; ; $i++) yield $i; } foreach (g() as $x) if ($x > 99) break; echo $x;\n",
    "text": "only text\n", "long source": "<?php /*" + "x" * 20000 + "*/ echo __LINE__;\n",
}
PROGRAMS = {"ruby": RUBY, "php": PHP}
NOT_BORROWED = {"ruby/compaction"}

# One job changes what it can reach, in its language and under it, and a later one looks.
CHANGES = {
    "ruby": {
        "globals": "$left = 1; $, = '-'; $stdout.sync = true; LEFT = 2; $VERBOSE = true; $PROGRAM_NAME = 'left'\n",
        "classes": "class String; def size = 99; end\nclass Integer; def succ = 7; end\nmodule Kernel; def puts(*) = nil; end\n"
                   "class Object; LEFT = 1; def left = 1; end\nclass << GC; def start = 3; end\n",
        "features": "require 'json'; require 'set'; require 'date'; $LOADED_FEATURES << 'left.rb'; $LOAD_PATH.clear\n",
        "environment": "ENV['LEFT'] = '1'; ENV.delete('HOME'); Dir.mkdir('d'); Dir.chdir('d'); File.umask(0)\n",
        "endings": "at_exit { exit! 0 }; ObjectSpace.define_finalizer('x'.dup, proc { puts 'late' }); set_trace_func proc {}\n",
        "signals": "%w[INT TERM USR1 USR2 CHLD HUP].each { |s| trap(s, 'IGNORE') }; Thread.report_on_exception = false\n",
        "collector": "GC.disable; GC.stress = false; GC.measure_total_time = false; 99999.times { |i| i.to_s }; ObjectSpace.count_objects\n",
        "threads": "9.times { Thread.new { sleep } }; Thread.abort_on_exception = true; Thread.current[:left] = 1\n",
        "frozen": "Object.freeze; $LOADED_FEATURES.freeze; ENV.freeze rescue 0; String.freeze\n",
        "removed": "class Array; undef_method :map; end; Object.send(:remove_const, :Comparable); class Object; undef_method :inspect; end\n",
        "encodings": "Encoding.default_internal = 'UTF-16LE'; Encoding.default_external = 'ISO-8859-1'\n",
        "random": "srand(1); Random.rand; Random.srand(2)\n",
        "symbols": "9999.times { |i| \"left#{i}\".to_sym; Object.const_set(\"L#{i}\", i) }\n",
        "memory": "$left = Array.new(300_000) { |i| \"s#{i}\" }; GC.start; $left = nil; GC.start\n",
        "native": "require 'fiddle'\nC = ->(name, *a) { Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], [Fiddle::TYPE_LONG] * a.size, Fiddle::TYPE_LONG).(*a) }\n"
                  "page = Fiddle.dlwrap(String) & ~4095\n(0..40).each { |n| C['munmap', page + n * 4096, 4096]; C['mprotect', page + n * 4096, 4096, 0] }\n"
                  "C['mmap', page, 4096, 3, 0x32, -1, 0]; C['madvise', page, 1 << 16, 4]\n",
        "written": "require 'fiddle'\nFiddle::Pointer.new(Fiddle.dlwrap(String))[0, 200] = 'x' * 200\n",
        "unmapped": "require 'fiddle'\nFiddle::Function.new(Fiddle::Handle::DEFAULT['syscall'], [Fiddle::TYPE_LONG] * 3, Fiddle::TYPE_LONG).(11, 65536, (1 << 47) - 65536 - 4096)\n",
    },
    "php": {
        "globals": "<?php $GLOBALS['left'] = 1; define('LEFT', 1); $_SERVER['LEFT'] = 1; $_ENV['LEFT'] = 1; function left() {} class Left {}\n",
        "settings": "<?php foreach (['precision' => 3, 'memory_limit' => '9M', 'display_errors' => '0', 'error_reporting' => 0, 'include_path' => '/left',\n"
                    "'date.timezone' => 'Asia/Tokyo', 'pcre.jit' => '0', 'serialize_precision' => 2] as $k => $v) ini_set($k, $v); setlocale(LC_ALL, 'C');\n",
        "handlers": "<?php set_error_handler(fn() => true); set_exception_handler(fn() => 0); register_shutdown_function(fn() => 0);\n"
                    "spl_autoload_register(fn($c) => 0); stream_wrapper_unregister('http'); ob_start(fn($x) => ''); assert_options(ASSERT_ACTIVE, 0);\n",
        "environment": "<?php putenv('LEFT=1'); putenv('HOME'); mkdir('d'); chdir('d'); umask(0); file_put_contents('left', 'x');\n",
        "random": "<?php mt_srand(1); srand(2); mt_rand();\n",
        "signals": "<?php pcntl_async_signals(true); foreach ([1, 2, 10, 12, 15] as $s) pcntl_signal($s, SIG_IGN); pcntl_sigprocmask(SIG_BLOCK, [15]); pcntl_alarm(5);\n",
        "collector": "<?php gc_disable(); $a = []; for ($i = 0; $i < 99999; $i++) { $b = new stdClass; $b->b = $b; $a[] = $b; }\n",
        "memory": "<?php $l = range(1, 500000); unset($l); gc_mem_caches();\n",
        "streams": "<?php fclose(STDOUT); stream_context_set_default(['http' => ['left' => 1]]); stream_filter_register('left', 'php_user_filter');\n",
        "patterns": "<?php for ($i = 0; $i < 5000; $i++) preg_match(\"/left$i/\", 'x'); date_default_timezone_set('Asia/Tokyo'); iconv_set_encoding('internal_encoding', 'UTF-16');\n",
        "native": "<?php $c = FFI::cdef('int munmap(void*, long); int mprotect(void*, long, int); void *stdout; int getpid(void); long syscall(long, ...);');\n"
                  "$a = FFI::cast('long', $c->stdout)->cdata & ~4095; for ($n = 0; $n < 40; $n++) { $c->syscall(11, $a + $n * 4096, 4096); $c->syscall(10, $a + $n * 4096, 4096, 0); }\n",
        "written": "<?php $c = FFI::cdef('void *environ; void *memset(void*, int, long);'); $c->memset($c->environ, 1, 64);\n",
        "unmapped": "<?php FFI::cdef('long syscall(long, long, long);')->syscall(11, 65536, (1 << 47) - 65536 - 4096);\n",
        "code": "<?php $c = FFI::cdef('void *mmap(long, long, int, int, int, long); void *memset(void*, int, long);');\n"
                "for ($i = 0; $i < 50; $i++) $c->memset($c->mmap(0, 65536, 7, 0x22, -1, 0), 0xc3, 65536);\n",
        "a file in memory": "<?php $c = FFI::cdef('int memfd_create(char*, int); int ftruncate(int, long); void *mmap(long, long, int, int, int, long); void *memset(void*, int, long);');\n"
                            "$f = $c->memfd_create('left', 0); $c->ftruncate($f, 65536); $c->memset($c->mmap(0, 65536, 7, 1, $f, 0), 0xc3, 65536);\n",
    },
}
ENDINGS = {
    "ruby": {"by itself": "", "at once": "exit! 0\n", "by a kill": "Process.kill(:KILL, $$); sleep 9\n", "by an exception": "raise 'x'\n"},
    "php": {"by itself": "", "at once": "exit(0);\n", "by a kill": "posix_kill(getmypid(), 9); sleep(9);\n", "by an exception": "throw new Exception('x');\n"},
}
# First what no two templates have in common. Ruby's pages lie at multiples of their size, so how many objects there is room for
# depends on the layout, too.
LOOK = {
    "ruby": "p 'layout'.hash\n"
            "p [global_variables.sort.hash, $,, $VERBOSE, $0, $LOADED_FEATURES.size, $LOADED_FEATURES.frozen?, $LOAD_PATH.size, Object.constants.size, Object.frozen?]\n"
            "p ['ab'.size, 1.succ, 5.respond_to?(:left), [1, 2].map { |x| x }, defined?(LEFT), defined?(Comparable), GC.count, GC.stress, GC.measure_total_time]\n"
            "p [ENV.to_h, ENV.frozen?, Dir.pwd, Dir.children('.'), File.umask, Thread.list.size, Thread.current[:left], Thread.report_on_exception, Thread.abort_on_exception]\n"
            "p %w[INT TERM USR1 USR2 CHLD HUP].map { |s| trap(s, 'DEFAULT') }, Encoding.default_internal, Encoding.default_external, Symbol.all_symbols.size\n"
            "p ObjectSpace.count_objects, GC.stat.slice(:heap_allocated_pages, :heap_live_slots, :total_allocated_objects), ObjectSpace.each_object(Class).count, 'x'.object_id, GC.disable\n",
    "php": "<?php echo FFI::cast('long', FFI::cdef('extern void *stdout;')->stdout)->cdata, \"\\n\";\n"
           "echo json_encode([array_keys($GLOBALS), defined('LEFT'), isset($_SERVER['LEFT']), isset($_ENV['LEFT']), function_exists('left'), class_exists('Left', false),\n"
           "md5(serialize(ini_get_all(null, false))), error_reporting(), set_error_handler(null), set_exception_handler(null), spl_autoload_functions(), stream_get_wrappers(),\n"
           "ob_get_level(), getenv(), getcwd(), scandir('.'), umask(), gc_status(), gc_enabled(), memory_get_usage(), memory_get_peak_usage(), date_default_timezone_get(), 1 / 3,\n"
           "stream_get_filters(), count(get_declared_classes()), spl_object_id(new stdClass), spl_object_hash(new stdClass), pcntl_alarm(0), preg_match('/a(b+)/', 'abb', $m), $m,\n"
           "array_map('pcntl_signal_get_handler', [1, 2, 10, 12, 15]), (function () { pcntl_sigprocmask(SIG_BLOCK, [], $o); return $o; })(), setlocale(LC_ALL, 0)]);\n",
}

RANDOM_JOBS = int(os.environ.get("ZYGO_RANDOM_JOBS", "250"))
RANDOM_SEED = int(os.environ.get("ZYGO_RANDOM_SEED", "1"))


def job(language: str, name: str, source: str, limits: dict[str, int] = LIMITS) -> Job:
    return {"id": f"{language}/{name}", "template": language, "source": source, "limits": limits}


def limits_of(name: str) -> dict[str, int]:
    """What does not end by itself ends soon, and by the limit that it is about: only what has no other by that of CPU time."""
    if name.startswith("no end"):
        return SHORT
    ends_by_another = name.startswith("no ") or name in {"much output", "stack overflow, uncaught"}
    return {**SHORT, "cpu_ms": LIMITS["cpu_ms"]} if ends_by_another else LIMITS


@functools.cache
def all_programs() -> list[Job]:
    """Those of this file, of the tests of warm interpreters, and of the battery of all languages."""
    jobs = [each for language in warm.available() for each in warm.jobs_of(language)]
    for language in warm.available():
        jobs += [job(language, f"own {name}" if name in warm.PROGRAMS[language] else name, source, limits_of(name))
                 for name, source in PROGRAMS[language].items()]
        for deed, sources in languages.PROGRAMS.items():
            label, _, policy = languages.DEEDS[deed]
            if language in sources and policy["profile"] == "default" and label != "TimeoutException":
                jobs.append({**job(language, f"deed {deed}", sources[language], languages.LIMITS), "policy": policy, "stdin": "3 4\n"})
    return jobs


def steady(result: Result) -> dict[str, Any]:
    """All that a caller sees but figures, and the addresses in an interpreter's report of its own crash."""
    return {field: in_any_cell(re.sub(r"(0x|E:)[0-9a-f]{6,}", "0x", text)) if isinstance(text, str) else text
            for field, text in warm.shown(result).items()}


def in_any_cell(text: str) -> str:
    """Without the number of the cell, which is in the name of its scratch where that is a directory."""
    return re.sub(r"zygo-scratch-\w+(\\?/)c\d+", r"zygo-scratch\1c", text)


class BorrowedInterpreters(BorrowedMemory):
    @classmethod
    def setUpClass(cls) -> None:
        if not warm.available():
            raise unittest.SkipTest("neither ruby nor php is installed here")
        super().setUpClass()  # where Python's jobs borrow, these do

    def assert_as_before(self, jobs: list[Job], results: dict[str, Result]) -> None:
        """Each job whose id begins with `look` printed what the first look of its template did."""
        self.assert_were_borrowed({str(each["id"]): results[str(each["id"])] for each in jobs})
        first = first_looks((each for each in jobs if "/look" in str(each["id"])), results)
        for each in jobs:
            result = results[str(each["id"])]
            with self.subTest(each["id"]):
                self.assertNotEqual(result["label"], "SandboxError", brief(result))
                if "/look" in str(each["id"]):
                    text = result["stdout"]["text"]
                    self.assertEqual((result["label"], in_any_cell(text)), ("OK", in_any_cell(first.get(layout_of(text), ""))))


class EveryProgram(BorrowedInterpreters):
    def test_ends_as_a_forked_one_does(self) -> None:
        jobs = all_programs()
        mixed = jobs + [{**each, "id": f"{each['id']} again"} for each in jobs]
        random.Random(RANDOM_SEED).shuffle(mixed)

        forked = self.batch(jobs, *FORKED, timeout=300)
        borrowed = self.batch(mixed, *ONE_CELL, timeout=500)

        for name, result in borrowed.items():
            twin = forked[name.removesuffix(" again")]
            with self.subTest(name):
                self.assertEqual(steady(result), steady(twin), brief(result))
                self.assertNotEqual(result["label"], "SandboxError", brief(result))
                self.assertEqual((was_borrowed(result), was_borrowed(twin)), (name.removesuffix(" again") not in NOT_BORROWED, False))


class TheNextJob(BorrowedInterpreters):
    def test_sees_nothing_of_what_the_last_one_changed(self) -> None:
        for language in warm.available():
            jobs = [job(language, "look first", LOOK[language])]
            for change, source in CHANGES[language].items():
                for ending, end in ENDINGS[language].items():
                    jobs.append(job(language, f"{change}, {ending}", source + end))
                    jobs.append(job(language, f"look after {change}, {ending}", LOOK[language]))

            results = self.batch(jobs, *ONE_CELL, timeout=300)

            self.assert_as_before(jobs, results)

    def test_sees_nothing_of_changes_in_any_order(self) -> None:
        for language in warm.available():
            draw = random.Random(RANDOM_SEED)
            jobs = [job(language, "look first", LOOK[language])]
            for n in range(RANDOM_JOBS):
                change, ending = draw.choice(list(CHANGES[language])), draw.choice(list(ENDINGS[language]))
                kind = draw.random()
                if kind < 0.4:
                    jobs.append(job(language, f"{n} {change}, {ending}", CHANGES[language][change] + ENDINGS[language][ending]))
                elif kind < 0.6:
                    name = draw.choice([name for name in PROGRAMS[language] if f"{language}/{name}" not in NOT_BORROWED])
                    jobs.append(job(language, f"{n} {name}", PROGRAMS[language][name], SHORT))
                else:
                    jobs.append(job(language, f"look {n}", LOOK[language]))

            results = self.batch(jobs, *ONE_CELL, timeout=60 + 2 * RANDOM_JOBS)

            self.assert_as_before(jobs, results)

    def test_draws_other_numbers(self) -> None:
        draws = {"ruby": "p rand, Random.rand, Random.new.rand, Random.new_seed, [*1..99].shuffle, Random.bytes(8)\n",
                 "php": "<?php foreach ([mt_rand(), rand(), random_int(0, PHP_INT_MAX), bin2hex(random_bytes(8)), str_shuffle('abcdefghijklmnop')] as $x) echo $x, \"\\n\";\n"}
        for language in warm.available():
            jobs = [job(language, str(n), draws[language]) for n in range(20)]

            results = self.batch(jobs, *UNVERIFIED)

            self.assertTrue(all(was_borrowed(result) for result in results.values()))
            for n, drawn in enumerate(zip(*(result["stdout"]["text"].splitlines() for result in results.values()))):
                self.assertEqual(len(set(drawn)), len(jobs), (language, n))


class AJobOfItsOwnKind(BorrowedInterpreters):
    def test_borrows_nothing_where_it_is_executed(self) -> None:
        """An executed program has a memory of its own, where the filter of borrowers would not hold it."""
        for language in warm.available():
            jobs = [{**job(language, str(n), ""), **({"argv": ["a"]} if n % 2 else {})} for n in range(6)]

            results = self.batch(jobs, *ONE_CELL)

            self.assertEqual({result["label"] for result in results.values()}, {"OK"})
            self.assertEqual([was_borrowed(results[f"{language}/{n}"]) for n in range(6)], [True, False] * 3)

    def test_finds_no_process_but_itself(self) -> None:
        """The holder is one of its cell's, with pid 29999 or above."""
        looks = {"ruby": "p (1..40000).select { |pid| File.exist?(\"/proc/#{pid}\") } - [$$], Process.ppid\n",
                 "php": "<?php echo json_encode([array_values(array_filter(range(1, 40000), fn($p) => $p != getmypid() && file_exists(\"/proc/$p\"))), posix_getppid()]);\n"}
        for language in warm.available():
            result = self.batch([job(language, "look", looks[language])], *UNVERIFIED)[f"{language}/look"]

            self.assertTrue(was_borrowed(result))
            self.assertEqual("".join(result["stdout"]["text"].split()), {"ruby": "[]1", "php": "[[],1]"}[language])

    def test_is_refused_compaction_where_it_hides_that_it_asks(self) -> None:
        """Borrowed memory cannot be protected page by page. What names it is forked, and compacts."""
        if "ruby" not in warm.available():
            self.skipTest("ruby is not installed here")
        asked = {"'com' + 'pact'": "compact", "'auto_com' + 'pact=', true": "auto_compact=",
                 "'verify_com' + 'paction_references', toward: :empty": "verify_compaction_references"}
        jobs = [job("ruby", f"hidden {name}", f"begin\n  GC.send({how})\nrescue NotImplementedError => e\n  puts e.message\nend\n")
                for how, name in asked.items()]
        named = job("ruby", "named", "GC.verify_compaction_references(toward: :empty) if GC.respond_to?(:verify_compaction_references)\np 1\n")

        results = self.batch([*jobs, named], *ONE_CELL)

        self.assertEqual((results["ruby/named"]["label"], results["ruby/named"]["stdout"]["text"]), ("OK", "1\n"))
        for name in asked.values():
            result = results[f"ruby/hidden {name}"]
            told = (result["label"], result["stdout"]["text"])
            self.assertEqual(told, ("OK", f"{name}() function is unimplemented on this machine\n"), brief(result))


class TheNextJobInDocker(InDocker, TheNextJob):
    pass


class TheNextJobInARestrictedPod(InARestrictedPod, TheNextJob):
    pass


if __name__ == "__main__":
    unittest.main()

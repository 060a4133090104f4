"""Steps that mean to break what comes after them, and every program of tests/programs as a step."""

from __future__ import annotations

import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import zoo
import zygo
from address_space import NATIVE
from sessions.client import SessionTestCase

SYS_RSEQ, SYS_TIMER_CREATE, SYS_TIMER_SETTIME = 334, 222, 223
# A page of the stack in use, by getcontext(3): where RSP is in a ucontext_t.
STACK = "context = (ctypes.c_ulong * 256)()\nlibc.getcontext(context)\nused = page(context[20])\n"
NOT_OF_STEPS = {"determinism", "outputs", "tests"}
# A session goes on, so that nothing is run at the end of its steps.
HAVE_EXIT_FUNCTIONS = {"ends/abort_in_atexit_after_the_value", "ends/atexit_after_exception", "ends/atexit_exits_0_after_the_value",
                       "ends/atexit_exits_5_after_the_value", "ends/atexit_output_is_kept",
                       "limits/cpu_in_an_exit_function_that_swallows", "limits/flood_in_atexit", "limits/wall_atexit_never_ends",
                       "tricks/code_of_the_library_is_replaced", "unsafe/attempt_in_atexit"}


class WhatRestores(SessionTestCase):
    """A step leaves nothing that the process of a later step acts on before it is that program's."""

    def assertUnharmed(self) -> None:
        self.assertLabel(self.service.run("print(1)"), "OK")

    def test_a_stack_in_parts(self) -> None:
        for name, call in {"madvise": "call(28, used, 4096, 16)",
                           "mprotect": "call(10, used - (9 << 12), 4096, 1)",
                           "mmap": "call(9, used - (1 << 26), 4096, 3, 0x32, -1, 0) > 0"}.items():
            with self.subTest(name):
                result = self.step("", NATIVE + STACK + call)
                self.assertIn(result["value"], (0, True), zygo.brief(result))
                self.assertNotKept(result, "a stack that it has changed")

    def test_no_area_of_rseq_is_registered(self) -> None:
        ask = NATIVE + f"import ctypes\narea = (ctypes.c_char * 64)()\nat = (ctypes.addressof(area) + 31) & ~31\n"\
                       f"[call({SYS_RSEQ}, at, 32, 0, 0x53053053, 0), call({SYS_RSEQ}, at, 32, 1, 0x53053053, 0)]"
        result = self.keep("", ask)
        self.assertIn(result["value"], ([0, 0], [-38, -38]))
        self.assertEqual(self.value(result["session"]["node"], ask), result["value"])

    def test_more_descriptors_than_a_later_step_may_have(self) -> None:
        node = self.node("", "import os\nos.dup2(os.open('.', os.O_RDONLY), 200)")
        result = self.step(node, "1", limits={"open_files": 64})
        self.assertEqual((result["by"], result["session"]["node"]), ("sandbox", node), zygo.brief(result))
        self.assertEqual(self.value(node, "os.listdir(200)"), [])
        self.assertUnharmed()

    def test_a_smaller_disk_than_its_files_need(self) -> None:
        node = self.node("", "open('f', 'w').write('x' * (3 << 20))")
        result = self.step(node, "1", limits={"disk_mb": 1})
        self.assertEqual((result["by"], result["session"]["node"]), ("sandbox", node), zygo.brief(result))
        self.assertUnharmed()

    def test_a_limit_that_its_state_alone_exceeds(self) -> None:
        node = self.node("", "x = bytearray(100 << 20)\nx[::4096] = b'a' * len(x[::4096])")
        result = self.step(node, "1", limits={"memory_mb": 64})
        self.assertNotKept(result, "a step that ends so leaves the session as it was", "MemoryLimitExceeded")
        result = self.step(node, "1", limits={"wall_ms": 5}, stdin="for a process of its own")
        self.assertNotKept(result, "a step that ends so leaves the session as it was", "TimeoutException")
        self.assertEqual(self.value(node, "len(x)"), 100 << 20)

    def test_a_policy_that_cannot_put_it_back(self) -> None:
        node = self.node("", "open('f', 'w').write('x')")
        result = self.step(node, "1", policy={"profile": "pure"})
        self.assertLabel(result, "BadJob")
        self.assertEqual(result["detail"]["message"], f'session: "{node}" is of policy.profile default, not pure')
        pure = self.node("", "x = 1", "x += 1", policy={"profile": "pure"})
        self.assertEqual(self.value(pure, "x", policy={"profile": "pure"}), 2)

    def test_a_later_crime_is_still_named(self) -> None:
        node = self.node("", "x = 1")
        result = self.step(node, "x = 2\nimport socket\nsocket.socket()")
        self.assertLabel(result, "UnsafeCode")
        self.assertEqual(result["detail"]["line"], 3)


class WhatCannotBeKept(SessionTestCase):
    def assertLost(self, source: str, why: str, **fields: Any) -> None:
        with self.subTest(why=why):
            self.assertNotKept(self.step("", source, **fields), why)

    def test_timers(self) -> None:
        self.assertLost("import signal\nsignal.setitimer(signal.ITIMER_REAL, 60)", "a timer")
        timer = (f"import ctypes\nevent = (ctypes.c_int * 16)()\nevent[2] = 18\nnumber = ctypes.c_int()\n"
                 f"made = call({SYS_TIMER_CREATE}, 1, ctypes.addressof(event), ctypes.addressof(number), 0, 0)\n"
                 f"when = (ctypes.c_long * 4)(0, 1000, 0, 1000)\n"
                 f"[made, call({SYS_TIMER_SETTIME}, number.value, 0, ctypes.addressof(when), 0, 0)]")
        result = self.step("", NATIVE + timer)  # continues the process again and again
        if result["value"] != [0, 0]:
            self.skipTest("there are no timers of POSIX here")
        self.assertFalse(result["session"]["kept"])
        self.assertIn(result["session"]["why_not"], ("a timer", "a process that went on"))

    def test_standard_streams(self) -> None:
        why = "standard streams that it has redirected"
        self.assertLost("import os\nos.dup2(os.open('log', os.O_CREAT | os.O_WRONLY), 1)", why)
        self.assertLost("import os\nos.close(0)", why)

    def test_places_and_names(self) -> None:
        self.assertLost("import os\nos.mkdir('d')\nentries = os.scandir('d')\nopen('d/a', 'w'); open('d/b', 'w')\n"
                        "fd = os.open('.', os.O_RDONLY)\n" + NATIVE +
                        "import ctypes\nbuffer = ctypes.create_string_buffer(64)\n"
                        "call(217, fd, ctypes.addressof(buffer), 64, 0, 0)\nNone", "a folder half read")
        self.assertLost("import os\nfor _ in range(20):\n  os.mkdir('d' * 250); os.chdir('d' * 250)\n",
                        "a path of more than 4095 bytes")

    def test_code_that_was_written(self) -> None:
        page = NATIVE + "page = call(9, 0, 4096, 7, 0x22, -1, 0)\nimport ctypes\n"
        result = self.step("", page + "if page > 0: ctypes.memset(page, 0xc3, 4096)\npage > 0")
        if result["label"] != "OK" or not result["value"]:
            self.skipTest("no area is both written and executed here")
        self.assertNotKept(result, "code that it has written")


class WhatIsKept(SessionTestCase):
    def test_modes_that_forbid_what_is_open(self) -> None:
        node = self.node("", """
import os
f = open('f', 'w+'); f.write('text'); f.flush(); os.chmod('f', 0o400)
os.mkdir('shut'); inside = open('shut/g', 'w+'); inside.write('more'); inside.flush(); os.chmod('shut', 0)
path = os.open('f', os.O_PATH)
""")
        self.assertEqual(self.value(node, "f.seek(0); inside.seek(0)\n[f.read(), inside.read(), oct(os.stat('f').st_mode), "
                                          "oct(os.stat('shut').st_mode)]"),
                         ["text", "more", "0o100400", "0o40000"])

    def test_a_working_directory_that_cannot_be_entered(self) -> None:
        node = self.node("", "import os\nos.mkdir('d'); os.chdir('d'); open('f', 'w').write('x')\n"
                             "fd = os.open('.', os.O_RDONLY); os.chmod('.', 0)")
        self.assertEqual(self.value(node, "os.path.basename(os.getcwd())"), "d")
        self.assertEqual(self.value(node, "oct(os.fstat(fd).st_mode)"), "0o40000")

    def test_a_mapped_file_of_another_folder(self) -> None:
        node = self.node("", "import mmap, os\nopen('f', 'wb').write(b'abc' * 4000)\nf = open('f', 'rb')\n"
                             "m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)\nm[5000:5003] = b'xyz'\n"
                             "os.mkdir('d'); os.chdir('d')")
        self.assertEqual(self.value(node, "[m[0:3].decode(), m[5000:5003].decode(), sorted(os.listdir('..'))]"), ["abc", "xyz", ["d", "f"]])

    def test_memory_that_may_not_be_read(self) -> None:
        node = self.node("", NATIVE + "import ctypes\nat = call(9, 0, 16384, 3, 0x22, -1, 0)\nctypes.memset(at, 65, 16384)\n"
                                      "call(10, at + 4096, 4096, 0, 0, 0)\nNone")
        self.assertEqual(self.value(node, "call(10, at + 4096, 4096, 1, 0, 0)\nctypes.string_at(at, 16384) == b'A' * 16384"), True)

    def test_memory_that_was_given_back(self) -> None:
        node = self.node("", "x = bytearray(64 << 20)\nx[::4096] = b'a' * len(x[::4096])", "del x", "x = bytearray(64 << 20)")
        self.assertEqual(self.value(node, "any(x)"), False)


class WhatIsKeptContained(WhatIsKept):
    options = ("--level", "contained")


class WhatIsKeptMinimal(WhatIsKept):
    options = ("--level", "minimal")


class WhatRestoresMinimal(WhatRestores):
    options = ("--level", "minimal")


class EveryProgram(SessionTestCase):
    """A program is judged alike whether it is a job, the first step of a session, or one that goes on."""

    options = ("--workers", "4")

    def results(self, node: str) -> dict[str, tuple[zoo.Program, zygo.Result]]:
        programs = [each for each in zoo.programs() if NOT_OF_STEPS.isdisjoint(each.job()) and each.id not in HAVE_EXIT_FUNCTIONS
                    and each.job().get("template", "python") == "python"]
        profiles = {"default": node}

        def run(program: zoo.Program) -> zygo.Result:
            job = program.job()
            profile = job.get("policy", {}).get("profile", "default")
            at = profiles.get(profile) or self.node("", "", policy={"profile": profile}) if node else ""
            return self.service.run(**{**job, "session": at or "new"})

        with ThreadPoolExecutor(4) as threads:
            found = threads.map(run, programs)
            return {program.id: (program, result) for program, result in zip(programs, found)}

    def assertAllAsExpected(self, node: str) -> None:
        results = self.results(node)
        self.assertGreater(len(results), 100)
        for name, (program, result) in results.items():
            with self.subTest(name):
                self.assertEqual(zoo.differences(program, result), [], zygo.brief(result))

    def test_as_the_first_step(self) -> None:
        self.assertAllAsExpected("")

    def test_as_a_later_step(self) -> None:
        self.assertAllAsExpected(self.node("", "", ""))


if __name__ == "__main__":
    unittest.main()

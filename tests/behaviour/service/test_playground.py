"""The playground of `zygo serve`'s page in a real browser: its editor, what a program says while it runs, links."""

from __future__ import annotations

import base64
import json
import unittest

import browser
import page_case
import zygo
from page_case import MARKUP, PageTestCase
from serve import Service

ENDLESS = "print('so far')\nwhile True: pass"
# The label that each example ends with, in order; those of languages that this host lacks cannot be chosen.
ENDS = {"An exception": "ZeroDivisionError", "An endless loop": "TimeoutException", "Too much memory": "MemoryLimitExceeded",
        "A forbidden call": "UnsafeCode", "Chance": "NonDeterministicCode"}
MODES = {"python": "python", "c": "clike", "cpp": "clike", "cpp17": "clike", "java": "clike", "javascript": "javascript",
         "ruby": "ruby", "php": "php", "go": "go", "rust": "rust", "bash": "shell", "lua": "lua", "perl": "perl", "r": "r"}


def packed(draft: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(draft).encode()).decode().rstrip("=")


class Verdicts(PageTestCase):
    def test_a_program_gets_its_verdict_with_all_that_was_measured(self) -> None:
        page = self.open("playground")

        verdict = self.play(page, "print(6 * 7)", "OK")

        self.assertIn("42", verdict)
        for words in ("decided by the program", "CPU", "Wall clock", "Memory", "In force, level", "fork "):
            self.assertIn(words, verdict)

    def test_output_and_errors_are_text_and_never_markup(self) -> None:
        page = self.open("playground")
        verdict = self.play(page, f"print({MARKUP!r})", "OK")
        self.assertIn(MARKUP, verdict)
        self.assertNothingWasMade(page)
        verdict = self.play(page, f"raise ValueError({MARKUP!r})", "ValueError")
        self.assertIn(MARKUP, verdict)
        self.assertNothingWasMade(page)

    def test_a_function_is_called_and_large_numbers_stay_exact(self) -> None:
        page = self.open_playground()
        page.evaluate("document.getElementById('input-options').open = true")
        page.click("input[name=mode][value=call]")
        page.fill("#func", "f")
        page.fill("#inputs", "[123456789012345678901234567890, 0.5, [1.0]]")

        verdict = self.play(page, "def f(x):\n    return [x]", "OK")

        self.assertIn("[[123456789012345678901234567890], [0.5], [[1.0]]]", verdict)
        page.fill("#inputs", "[1, 2")
        page.click("#run")
        page.wait("document.getElementById('mistake').textContent.includes('JSON list')")

    def test_every_example_ends_as_its_name_says(self) -> None:
        page = self.open_playground()
        names = page.evaluate("[...document.getElementById('example').options].filter((o) => o.value && !o.disabled).map((o) => o.text)")
        self.assertLessEqual({*ENDS, "Hello", "C++", "A conversation"}, {*names})
        for name in names:
            with self.subTest(name):
                self.choose(page, "example", name)
                if name == "A conversation":
                    continue  # wants somebody to talk to: below
                self.run_it(page, ENDS.get(name, "OK"))

    def test_examples_of_languages_that_are_not_here_cannot_be_chosen(self) -> None:
        page = self.open_playground()
        here = page.evaluate("[...document.getElementById('runtime').options].map((o) => o.value)")
        for name, runtime in (("Ruby", "ruby"), ("PHP", "php"), ("Go", "go"), ("Rust", "rust"), ("Bash", "bash")):
            off = page.evaluate(f"[...document.getElementById('example').options].find((o) => o.text === {name!r}).disabled")
            self.assertEqual(off, runtime not in here, name)


class Editor(PageTestCase):
    def setUp(self) -> None:
        if not self.has_editor():
            self.skipTest("this zygo was built without libjs-codemirror")

    def test_each_language_has_its_colours_and_lines_have_numbers(self) -> None:
        page = self.open_playground()
        self.write(page, "def f():\n    return 'x'  # y")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.CodeMirror-linenumber')].map((e) => e.textContent)"),
                         ["1", "2"])
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.cm-keyword, .cm-string, .cm-comment')].map((e) => e.textContent)"),
                         ["def", "return", "'x'", "# y"])
        offered = page.evaluate("[...document.getElementById('runtime').options].map((o) => o.value)")
        for runtime, mode in MODES.items():
            if runtime in offered:
                self.choose(page, "runtime", runtime)
                found = page.evaluate("document.querySelector('.CodeMirror').CodeMirror.getMode().name")
                self.assertEqual(found, mode, runtime)
        self.choose(page, "runtime", "python-numpy" if "python-numpy" in offered else "python")
        self.assertEqual(page.evaluate("document.querySelectorAll('.cm-keyword').length"), 2)

    def test_what_is_typed_last_is_run(self) -> None:
        page = self.open_playground()
        self.write(page, "print(1)")
        page.type("\nprint(2)")
        page.press("Enter", browser.CONTROL)
        self.assertIn("1\n2", self.await_verdict(page, "OK"))
        self.write(page, "")

    def test_tab_goes_on_until_something_is_typed_then_indents_until_escape(self) -> None:
        page = self.open_playground()
        self.write(page, "x")
        focused = "document.activeElement.id || document.activeElement.tagName"
        page.evaluate("document.getElementById('example').focus()")
        page.press("Tab")
        self.assertEqual(page.evaluate(focused), "source-editor")
        page.press("Tab")
        self.assertEqual(page.evaluate(focused), "SUMMARY")
        page.press("Tab", browser.SHIFT)
        self.assertEqual(page.evaluate(focused), "source-editor")
        page.press("ArrowLeft")
        page.press("Tab")
        self.assertEqual(page.evaluate(f"[{focused}, document.getElementById('source').value]"), ["source-editor", "    x"])
        page.press("Escape")
        page.press("Tab", browser.SHIFT)
        self.assertEqual(page.evaluate(f"[{focused}, document.getElementById('source').value]"), ["example", "    x"])

    def test_its_label_names_it_and_leads_to_it(self) -> None:
        page = self.open_playground()
        page.call("Accessibility.enable")
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        fields = {node["name"]["value"]: node["description"]["value"] for node in nodes
                  if not node.get("ignored") and node["role"]["value"] == "textbox"}
        self.assertIn("Escape, then Tab", fields["Program"])
        page.click("#source-label")
        self.assertEqual(page.evaluate("document.activeElement.id"), "source-editor")

    def test_without_it_the_text_field_stays(self) -> None:
        page = self.browser.page()
        page.call("Network.setBlockedURLs", urls=["*codemirror*"])
        self.addCleanup(page.complaints.clear)  # the browser's own, about what it was told not to load
        self.open("playground", page=page)
        page.wait("document.querySelectorAll('#runtime option').length > 1")
        page.fill("#source", "print('plain')")
        self.assertIn("plain", self.run_it(page, "OK"))
        self.assertEqual(page.evaluate("[document.querySelector('label[for=source]').textContent,"
                                       "document.getElementById('source').getClientRects().length,"
                                       "document.getElementById('source-hint').hidden]"), ["Program", 1, True])


class Conversations(PageTestCase):
    def test_what_is_printed_is_there_while_it_runs_and_it_can_be_stopped(self) -> None:
        page = self.open_playground()
        page.evaluate("for (const name of ['cpu', 'wall']) document.getElementById(name).value = 60")
        self.write(page, ENDLESS)
        before = self.service.metric('zygo_jobs_total{label="Cancelled"')
        page.click("#run")

        page.wait("document.querySelector('.log').textContent === 'so far\\n'")
        self.assertIn("Running", page.text("#verdict"))
        page.click("#stop")

        self.assertIn("so far", self.await_verdict(page, "Cancelled"))
        self.assertEqual(page.text("#mistake"), "Stopped.")
        self.service.await_metric('zygo_jobs_total{label="Cancelled"', before + 1)

    def test_what_is_written_is_text_also_while_it_runs(self) -> None:
        page = self.open_playground()
        self.choose(page, "example", "A conversation")
        self.write(page, f"import os\nos.write(1, b'\\xff')\ninput({MARKUP!r})")
        page.click("#run")
        page.wait("document.querySelector('.log').textContent.includes('<img')")
        self.assertNothingWasMade(page)
        self.assertIn("\ufffd", page.text(".log"))
        page.click("#stop")
        self.await_verdict(page, "Cancelled")

    def test_a_program_is_typed_to(self) -> None:
        page = self.open_playground()
        self.choose(page, "example", "A conversation")
        page.click("#run")
        page.wait("document.querySelector('.log').textContent === 'Who is there? '")
        page.wait("document.activeElement.id === 'typed'")
        for said, heard in (("ann", "And what does ann say? "), ("olleh", "hello\\nAnd what does ann say? ")):
            page.type(said)
            page.press("Enter")
            page.wait(f"document.querySelector('.log').textContent.endsWith('{said}\\n{heard}')")
        page.press("Enter")

        verdict = self.await_verdict(page, "OK")

        self.assertIn("Who is there? ann\nAnd what does ann say? olleh\nhello\n", verdict)
        self.assertIn("Bye.", verdict)
        self.assertEqual(page.evaluate("document.activeElement.id"), "run")  # where it was before the line

    def test_input_can_be_ended_and_begins_with_what_the_form_says(self) -> None:
        page = self.open_playground()
        self.choose(page, "example", "A conversation")
        page.fill("#stdin", "first\n")
        self.write(page, "import sys\nprint([line for line in sys.stdin])")
        page.click("#run")
        page.wait("document.activeElement.id === 'typed'")
        page.type("second")
        page.press("Enter")
        page.click("#typed-end")
        self.assertIn("['first\\n', 'second\\n']", self.await_verdict(page, "OK"))

    def test_a_script_gets_the_end_of_its_input_at_once(self) -> None:
        page = self.open_playground()
        self.assertIn("7 ''", self.play(page, "import sys\nprint(7, repr(sys.stdin.read()))", "OK"))

    def test_typing_has_more_time_than_a_script(self) -> None:
        page = self.open_playground()
        page.evaluate("document.getElementById('input-options').open = true")
        walls = []
        for mode in ("live", "script"):
            page.click(f"input[name=mode][value={mode}]")
            walls.append(page.evaluate("document.getElementById('wall').value"))
        self.assertEqual(walls, ["60", "5"])

    def test_typing_and_two_seeds_do_not_go_together(self) -> None:
        page = self.open_playground()
        self.choose(page, "example", "A conversation")
        page.evaluate("document.getElementById('twice').checked = true")
        page.click("#run")
        page.wait("document.getElementById('mistake').textContent.includes('two seeds')")
        self.assertFalse(page.evaluate("document.getElementById('run').disabled"))

    def test_without_a_websocket_the_verdict_still_comes(self) -> None:
        page = self.open_playground()
        page.evaluate("globalThis.WebSocket = class { constructor() { throw new Error('none here'); } }")
        self.assertIn("by post", self.play(page, "print('by post')", "OK"))

    def test_the_keyboard_is_enough(self) -> None:
        page = self.open_playground()
        page.evaluate("document.activeElement.blur()")
        reached = []
        for _ in range(12):
            page.press("Tab")
            reached.append(page.evaluate("(e => e.id || e.className || e.tagName)(document.activeElement)"))
        self.assertLessEqual({"skip", "tab-dashboard", "tab-playground", "SUMMARY", "run"}, set(reached), reached)
        form = reached.index("runtime")
        self.assertEqual([each.removesuffix("-editor") for each in reached[form:form + 3]], ["runtime", "example", "source"])
        self.write(page, "print('by keys')")
        page.press("Enter", browser.CONTROL)
        self.assertIn("by keys", self.await_verdict(page, "OK"))


class Links(PageTestCase):
    def source(self, page: browser.Page) -> list[str]:
        return page.evaluate("['source', 'runtime'].map((id) => document.getElementById(id).value)")

    def test_a_link_brings_the_program_and_what_it_needs(self) -> None:
        page = self.open_playground()
        self.choose(page, "example", "C")
        self.write(page, "int main(void) { return 3; } // \u00fc\u4e16")
        page.click("#share")
        page.wait("document.getElementById('mistake').textContent")
        link = page.evaluate("location.hash").removeprefix("#playground")

        other = self.open_playground(link=link)

        self.assertEqual(self.source(other), ["int main(void) { return 3; } // \u00fc\u4e16", "c"])
        self.run_it(other, "NonZeroExit")
        # An address that is pasted into the same tab is followed, too.
        self.write(other, "int main(void) { return 0; }")
        self.assertEqual(other.evaluate("location.hash"), "#playground")
        other.evaluate(f"location.hash = '#playground{link}'")
        other.wait("document.getElementById('source').value.includes('return 3')")

    def test_a_draft_outlives_a_reload_with_its_language(self) -> None:
        link = packed({"source": "puts 1", "runtime": "bash"})
        page = self.open_playground(link=f"/{link}")
        self.assertEqual(self.source(page), ["puts 1", "bash"])
        self.write(page, "echo 2")
        page.call("Page.reload")
        page.wait("document.getElementById('source').value === 'echo 2'")
        self.await_playground(page)
        self.assertEqual(self.source(page), ["echo 2", "bash"])

    def test_broken_and_hostile_links_do_no_harm(self) -> None:
        for link in ("%%%", "bm9uZQ", packed(7), packed({"source": 1}), packed({"source": MARKUP, "mode": "]", "cpu": MARKUP}),
                     packed({"source": MARKUP, "runtime": MARKUP, "twice": MARKUP})):
            with self.subTest(link):
                page = self.open_playground(link=f"/{link}")
                self.assertNothingWasMade(page)
                self.assertIn("42", self.play_afresh(page))

    def play_afresh(self, page: browser.Page) -> str:
        self.choose(page, "example", "Hello")
        return self.run_it(page, "OK")

    def test_a_language_that_is_not_here_is_named(self) -> None:
        page = self.open_playground(link=f"/{packed({'source': 'x', 'runtime': 'cobol'})}")
        page.wait("document.getElementById('mistake').textContent.includes('does not have cobol')")


class Gone(PageTestCase):
    def test_a_service_that_goes_is_missed_and_found_again(self) -> None:
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        page = self.open_playground(service)
        page.wait("document.getElementById('state').textContent.startsWith('ready')")

        service.stop()

        page.wait("!document.getElementById('trouble').hidden")
        self.assertEqual(page.text("#state"), "no answer")
        page.click("#run")
        page.wait("document.getElementById('mistake').textContent.includes('does not answer')")
        self.assertEqual(page.text("#verdict"), "No verdict.")
        again = Service("--log", "off", listen=(f"127.0.0.1:{service.port}",))
        self.addCleanup(again.stop)
        page.wait("document.getElementById('trouble').hidden")
        page.complaints.clear()  # the browser's own, about the connection
        self.assertIn("back", self.play(page, "print('back')", "OK"))

    def test_one_that_goes_in_the_middle_is_said_to_have_gone(self) -> None:
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        page = self.open_playground(service)
        page.evaluate("for (const name of ['cpu', 'wall']) document.getElementById(name).value = 60")
        self.write(page, ENDLESS)
        page.click("#run")
        page.wait("document.querySelector('.log').textContent === 'so far\\n'")

        service.stop(9)

        page.wait("document.getElementById('mistake').textContent.includes('broke before the verdict')")
        page.go("about:blank")
        page.complaints.clear()  # the browser's own, about the connection


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    return zygo.as_written(loader, globals())


if __name__ == "__main__":
    page_case.main()

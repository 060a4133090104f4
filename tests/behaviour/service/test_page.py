"""The page of `zygo serve` in a real browser: its files, the dashboard, tokens, looks. The playground has a file of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import unittest

import browser
import page_case
from page_case import BACK, FAINT, HEADINGS, MARKUP, PageTestCase
import zygo
from serve import Service

TOKEN, OTHER = "0123456789abcdef-all", "0123456789abcdef-jobs"
SIZES = ((1280, 900), (375, 812))
SCHEMES = ("light", "dark")
# In each of them all kinds of words that have a colour of their own.
PROGRAMS = {
    "python": "# why\nimport sys\n@property\ndef f(x: int = 0x1f) -> str:\n    return f'{x}' if None else len(r\"a\\n\")\n",
    "cpp": "// why\n#include <map>\ntemplate <typename T> T f(T x) { return true ? 'c' : x + 1.5e3; }\nstd::string s = \"a\\n\";\n",
    "ruby": "# why\nclass A\n  attr_reader :b\n  def c = @b.map { |x| \"#{x}\" + /d/.to_s } if nil\nend\n",
    "php": "<html><b class=\"a\">x</b>\n<?php\n// why\nfunction f($x) { return \"a $x\" . strlen(null) . 12; }\n?>\n",
    "javascript": "// why\nclass A { #b = `x${1n}`; get c() { return /d/g.test(undefined) || this.b; } }\n",
    "java": "/* why */ @Deprecated class A { static final int B = 1; String c = \"d\"; boolean e = true; }\n",
    "bash": "#!/bin/bash\n# why\nfor i in \"$@\"; do echo ${i%.c} `ls` 12 > /dev/null; done\n",
    "perl": "# why\nuse strict; my @a = map { $_ =~ s/a/b/r } qw(a b); print \"$a[0]\\n\" if 1;\n",
    "lua": "-- why\nlocal function f(x) return #x .. 'a', nil, 12, string.format('%d', x) end\n",
}
PAGE = zygo.CHECKOUT / "service" / "page"


class Files(PageTestCase):
    def test_they_come_with_a_strict_policy_and_a_tag(self) -> None:
        html = self.service.ask("GET", "/")
        self.assertEqual((html.status, html.headers["content-type"]), (200, "text/html; charset=utf-8"))
        names = re.findall(r'(?:src|href)="(/page/[^"]+)"', html.body.decode())
        self.assertIn("/page/main.js", names)
        for path in ("/", *names):
            answer = self.service.ask("GET", path)
            policy = answer.headers["content-security-policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            again = self.service.ask("GET", path, None, {"If-None-Match": answer.headers["etag"]})
            self.assertEqual((again.status, again.body), (304, b""))
            head = self.service.ask("HEAD", path)
            self.assertEqual((head.status, int(head.headers["content-length"])), (200, len(answer.body)))
        self.assertEqual(self.service.ask("POST", "/", b"").status, 405)
        self.assertEqual(self.service.ask("GET", "/page/nothing.js").status, 404)

    def test_a_build_without_codemirror_has_its_files_and_they_are_empty(self) -> None:
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        sizes = []
        for folder in ("CODEMIRROR-NOTFOUND", "/usr/share/javascript/codemirror"):
            made = self.folder() / "page_files.cc"
            subprocess.run(["cmake", f"-DFOLDER={PAGE}", f"-DCODEMIRROR={folder}", f"-DOUTPUT={made}", "-P", PAGE / "embed.cmake"],
                           check=True, timeout=60, stdout=subprocess.DEVNULL)
            text = made.read_text()
            for name in ("/", "/page/main.js", "/page/codemirror.js", "/page/codemirror.css", "/page/codemirror.txt"):
                self.assertIn(f'{{"{name}", "text/', text)
            sizes.append(len(text))
            self.assertEqual("built without CodeMirror" in text, sizes[-1] < 100_000)
        self.assertLess(sizes[0], 100_000)
        served = self.service.ask("GET", "/page/codemirror.js").body
        self.assertTrue(b"built without" in served or b"MIT license" in served)
        self.assertEqual(b"Marijn" in self.service.ask("GET", "/page/codemirror.txt").body, b"MIT license" in served)

    def test_without_the_page_there_is_nothing(self) -> None:
        service = Service("--no-page", "--log", "off")
        self.addCleanup(service.stop)
        for path in ("/", "/page/main.js"):
            self.assertEqual(service.ask("GET", path).status, 404)
        own = f"127.0.0.1:{service.port}"
        headers = {"Host": own, "Origin": f"http://{own}"}
        self.assertEqual(service.ask("POST", "/v1/jobs", {"source": ""}, headers).status, 403)


class Dashboard(PageTestCase):
    def test_jobs_and_failures_are_seen_as_they_end(self) -> None:
        page = self.open("dashboard")
        page.wait("document.getElementById('state').textContent.startsWith('ready')")

        self.service.run("while True: pass", id="the-slow-one", limits={"cpu_ms": 100})

        page.wait("document.getElementById('failures').textContent.includes('the-slow-one')")
        failures = page.text("#failures")
        self.assertIn("TimeoutException", failures)
        self.assertIn("cpu limit 100 ms", failures)
        self.assertIn("TimeoutException", page.text("#outcomes"))
        self.assertIn("total", page.text("#stations"))
        page.wait("document.querySelectorAll('.plot .main').length === 3")
        page.wait(f"({BACK})(document.querySelector('.plot'))")

    def test_labels_that_programs_make_up_are_text(self) -> None:
        self.service.run(f"raise type({MARKUP!r}, (Exception,), {{}})", id=MARKUP)
        page = self.open("dashboard")

        page.wait("document.getElementById('failures').textContent.includes('<img src=x')")

        self.assertIn("<img src=x", page.text("#outcomes"))
        self.assertNothingWasMade(page)

    def test_a_service_that_goes_is_said_to_be_gone(self) -> None:
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        page = self.open("dashboard", service)
        page.wait("document.getElementById('state').textContent.startsWith('ready')")

        service.stop()

        page.wait("!document.getElementById('trouble').hidden")
        self.assertIn("does not answer", page.text("#trouble"))
        page.go("about:blank")
        page.complaints.clear()  # the browser's own, about the connection


class Tokens(PageTestCase):
    def test_a_token_is_asked_for_kept_in_the_tab_and_sent(self) -> None:
        path = self.folder() / "tokens"
        path.write_text(f"all {TOKEN}\nother {OTHER} jobs\n")
        service = Service("--tokens", str(path), "--log", "off")
        self.addCleanup(service.stop)
        page = self.open("dashboard", service)

        page.wait("document.getElementById('token-dialog').open")
        page.fill("#token", "not-a-token-at-all")
        page.press("Enter")
        page.wait("document.getElementById('token-why').textContent.includes('does not know')")
        page.wait("document.getElementById('token-dialog').open")
        page.fill("#token", OTHER)
        page.press("Enter")
        page.wait("document.getElementById('trouble').textContent.includes('scope metrics')")
        page.click("#token-button")
        page.fill("#token", TOKEN)
        page.press("Enter")

        page.wait("document.getElementById('state').textContent.startsWith('ready')")
        self.assertEqual(page.evaluate("[sessionStorage.getItem('zygo-token'), localStorage.length, document.cookie]"),
                         [TOKEN, 0, ""])
        self.assertEqual([url for url in page.requests if TOKEN in url], [])
        page.click("#tab-playground")
        self.assertIn("42", self.play(page, "print(6 * 7)", "OK"))
        # Live, which takes a WebSocket: that one shows the token, too, and not in its address.
        self.assertIn(f"ws://127.0.0.1:{service.port}/v1/attach", page.requests)
        self.assertEqual([url for url in page.requests if TOKEN in url], [])


class Looks(PageTestCase):
    def test_it_fits_a_phone_and_a_desk_and_is_legible_in_light_and_dark(self) -> None:
        self.service.run("raise LookupError")
        page = self.open("dashboard")
        page.wait("document.querySelectorAll('#failures tr').length > 0")
        for width, height in SIZES:
            for scheme in SCHEMES:
                page.look(width, height, scheme, mobile=width < 500)
                for view in ("dashboard", "playground"):
                    with self.subTest(f"{view} {width} {scheme}"):
                        page.evaluate(f"location.hash = '{view}'")
                        page.wait(f"!document.getElementById('{view}').hidden")
                        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                        self.assertHeadings(page)
                        self.assertEqual(page.evaluate(FAINT), [])

    def test_whatever_the_playground_says_is_legible_and_below_one_heading(self) -> None:
        page = self.open_playground()
        self.choose(page, "example", "A conversation")
        page.click("#run")
        page.wait("document.activeElement.id === 'typed'")
        page.type("one who types")
        page.press("Enter")
        self.look_at(page, "while it runs")
        page.click("#stop")
        self.await_verdict(page, "Cancelled")
        self.look_at(page, "stopped")
        for name, source in PROGRAMS.items():
            if page.evaluate(f"[...document.getElementById('runtime').options].some((each) => each.value === {name!r})"):
                self.choose(page, "runtime", name)
                self.write(page, source)
                self.look_at(page, name)
        self.choose(page, "runtime", "python")
        self.play(page, "import sys\nsys.stderr.write('oh')\nraise ValueError(sys)", "ValueError")
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        self.look_at(page, "exception")
        page.evaluate("document.getElementById('token-dialog').showModal()")
        self.look_at(page, "token")

    def look_at(self, page: browser.Page, what: str) -> None:
        for scheme in SCHEMES:
            page.look(1280, 900, scheme)
            with self.subTest(f"{what} {scheme}"):
                self.assertEqual(page.evaluate(FAINT), [])
        self.assertHeadings(page)

    def assertHeadings(self, page: browser.Page) -> None:
        """One of the first level, which comes first; none below it leaves a level out."""
        levels = page.evaluate(HEADINGS)
        self.assertEqual((levels[:1], levels.count(1)), ([1], 1), levels)
        self.assertTrue(all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False)), levels)

    def test_every_control_has_a_name_and_every_chart_a_description(self) -> None:
        page = self.open("dashboard")
        page.wait("document.querySelectorAll('.plot[aria-label]').length === 3")
        page.call("Accessibility.enable")
        for view in ("dashboard", "playground"):
            page.evaluate(f"location.hash = '{view}'")
            page.wait(f"!document.getElementById('{view}').hidden")
            nodes = page.call("Accessibility.getFullAXTree")["nodes"]
            roles = {"textbox", "combobox", "button", "link", "spinbutton", "radio", "checkbox", "image", "table",
                     "region"}
            nameless = [node["role"]["value"] for node in nodes if not node.get("ignored")
                        and node.get("role", {}).get("value") in roles and not node.get("name", {}).get("value")]
            self.assertEqual(nameless, [])


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    return zygo.as_written(loader, globals())


if __name__ == "__main__":
    page_case.main()

"""The page of `zygo serve` in a real browser: what it shows and loads, and that no program's words become more."""

from __future__ import annotations

import re
import sys
import unittest

import browser
import zygo
from serve import Service
from zygo import ZygoTestCase

SKIPPED = 77  # What ctest takes for a skipped test.
TOKEN, OTHER = "0123456789abcdef-all", "0123456789abcdef-jobs"
MARKUP = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
SIZES = ((1280, 900), (375, 812))


class PageTestCase(ZygoTestCase):
    service: Service
    browser: browser.Browser

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = Service("--log", "off")
        cls.addClassCleanup(cls.service.stop)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, view: str, service: Service | None = None) -> browser.Page:
        """Complaints and requests elsewhere fail the test at its end."""
        page = self.browser.page()
        own = f"http://127.0.0.1:{(service or self.service).port}/"
        self.addCleanup(self.check, page, own)
        page.look(1280, 900)
        page.go(f"{own}#{view}")
        page.wait(f"!document.getElementById('{view}').hidden")
        return page

    def check(self, page: browser.Page, own: str) -> None:
        page.evaluate("1")  # brings what is still on its way
        self.assertEqual([url for url in page.requests if not url.startswith(own)], [])
        self.assertEqual([each for each in page.complaints if "status of 40" not in each], [])

    def play(self, page: browser.Page, source: str, label: str) -> str:
        """Runs it as somebody would, and returns what the verdict says."""
        page.wait("document.querySelectorAll('#runtime option').length > 1")
        page.fill("#source", source)
        page.click("#run")
        page.wait(f"document.querySelector('#verdict .word')?.textContent === {label!r}"
                  " && !document.getElementById('run').disabled")
        return page.text("#verdict")

    def assertNothingWasMade(self, page: browser.Page) -> None:
        self.assertEqual(page.evaluate("document.querySelectorAll('img, iframe, object, main script').length"), 0)
        self.assertNotIn("taken", page.evaluate("document.title"))


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


class Playground(PageTestCase):
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
        page = self.open("playground")
        page.wait("document.querySelectorAll('#runtime option').length > 1")
        page.evaluate("document.getElementById('input-options').open = true")
        page.click("input[name=mode][value=call]")
        page.fill("#func", "f")
        page.fill("#inputs", "[123456789012345678901234567890, 0.5, [1.0]]")

        verdict = self.play(page, "def f(x):\n    return [x]", "OK")

        self.assertIn("[[123456789012345678901234567890], [0.5], [[1.0]]]", verdict)
        page.fill("#inputs", "[1, 2")
        page.click("#run")
        page.wait("document.getElementById('mistake').textContent.includes('JSON list')")

    def test_a_running_program_can_be_stopped(self) -> None:
        page = self.open("playground")
        page.wait("document.querySelectorAll('#runtime option').length > 1")
        page.evaluate("for (const name of ['cpu', 'wall']) document.getElementById(name).value = 60")
        page.fill("#source", "while True: pass")
        before = self.service.metric('zygo_jobs_total{label="Cancelled"')
        page.click("#run")
        self.service.await_metric("zygo_engine_jobs", 1)

        page.click("#stop")

        page.wait("document.getElementById('mistake').textContent === 'Stopped.'")
        self.service.await_metric('zygo_jobs_total{label="Cancelled"', before + 1)

    def test_the_keyboard_is_enough(self) -> None:
        page = self.open("playground")
        page.wait("document.querySelectorAll('#runtime option').length > 1")
        page.evaluate("document.activeElement.blur()")
        reached = []
        for _ in range(12):
            page.press("Tab")
            reached.append(page.evaluate("(e => e.id || e.className || e.tagName)(document.activeElement)"))
        self.assertLessEqual({"skip", "tab-dashboard", "tab-playground", "SUMMARY", "run"}, set(reached), reached)
        form = reached.index("runtime")
        self.assertEqual(reached[form:form + 3], ["runtime", "example", "source"])
        page.fill("#source", "print('by keys')")
        page.press("Enter", browser.CONTROL)
        page.wait("document.querySelector('#verdict .word')?.textContent === 'OK'")
        self.assertIn("by keys", page.text("#verdict"))


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


class Looks(PageTestCase):
    def test_it_fits_a_phone_and_a_desk_and_is_legible_in_light_and_dark(self) -> None:
        self.service.run("raise LookupError")
        page = self.open("dashboard")
        page.wait("document.querySelectorAll('#failures tr').length > 0")
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                page.look(width, height, scheme, mobile=width < 500)
                for view in ("dashboard", "playground"):
                    with self.subTest(f"{view} {width} {scheme}"):
                        page.evaluate(f"location.hash = '{view}'")
                        page.wait(f"!document.getElementById('{view}').hidden")
                        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                        self.assertEqual(page.evaluate(FAINT), [])

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


# The arrow keys move a chart's cursor into the past; its description says so.
BACK = """(plot) => {
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  return plot.getAttribute("aria-label").includes("s ago");
}"""

# Texts whose contrast with what lies behind them is less than WCAG's 4.5 to 1.
FAINT = """(() => {
  const channels = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = (colour) => {
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = channels(colour).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length || element.closest("option, noscript, kbd")) continue;
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push(`${element.tagName} ${element.textContent.slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return faint;
})()"""


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    cases = (Files, Dashboard, Playground, Tokens, Looks)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    if not browser.find():
        print(f"SKIPPED: none of {', '.join(browser.NAMES)} in PATH (apt-get install chromium)", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()

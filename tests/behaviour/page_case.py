"""What tests of the page have in common: a service, a browser, a look at the page, and scripts that measure it."""

from __future__ import annotations

import json
import sys
import unittest

import browser
from serve import Service
from zygo import ZygoTestCase

SKIPPED = 77  # What ctest takes for a skipped test.
MARKUP = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
FIELD = "document.querySelector('.CodeMirror-code') ?? document.getElementById('source')"


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

    def open(self, view: str, service: Service | None = None, page: browser.Page | None = None) -> browser.Page:
        """Complaints and requests elsewhere fail the test at its end."""
        page = page or self.browser.page()
        own = f"//127.0.0.1:{(service or self.service).port}/"
        self.addCleanup(self.check, page, own)
        page.look(1280, 900)
        page.go(f"http:{own}#{view}")
        page.wait(f"!document.getElementById('{view.split('/')[0]}').hidden")
        return page

    def open_playground(self, service: Service | None = None, link: str = "", page: browser.Page | None = None) -> browser.Page:
        """Its languages are there, and the editor, if this zygo has one."""
        page = self.open(f"playground{link}", service, page)
        self.await_playground(page)
        return page

    def await_playground(self, page: browser.Page) -> None:
        page.wait("document.querySelectorAll('#runtime option').length > 1")
        if self.has_editor():  # which moves what is below it when it comes
            page.wait("document.querySelector('.CodeMirror')")

    def has_editor(self) -> bool:
        return b"copyright (c) by Marijn" in self.service.ask("GET", "/page/codemirror.js").body

    def check(self, page: browser.Page, own: str) -> None:
        page.evaluate("1")  # brings what is still on its way
        self.assertEqual([url for url in page.requests if url.split(":", 1)[1][:len(own)] != own], [])
        self.assertEqual([each for each in page.complaints if "status of 40" not in each], [])

    def write(self, page: browser.Page, source: str) -> None:
        """In the place of the program that is there, by keys."""
        page.evaluate(f"({FIELD}).focus()")
        page.overwrite(source)

    def choose(self, page: browser.Page, field: str, value: str) -> None:
        """In a list, by what is shown."""
        page.evaluate(f"""(() => {{
          const list = document.getElementById({field!r});
          list.value = [...list.options].find((option) => option.text === {json.dumps(value)}).value;
          for (const name of ["input", "change"]) list.dispatchEvent(new Event(name, {{ bubbles: true }}));
        }})()""")

    def play(self, page: browser.Page, source: str, label: str) -> str:
        """Runs it as somebody would, and returns what the verdict says."""
        self.await_playground(page)
        self.write(page, source)
        return self.run_it(page, label)

    def run_it(self, page: browser.Page, label: str) -> str:
        page.click("#run")
        return self.await_verdict(page, label)

    def await_verdict(self, page: browser.Page, label: str) -> str:
        page.wait("document.querySelector('#verdict .word') && !document.getElementById('run').disabled")
        self.assertEqual(page.text("#verdict .word"), label, page.text("#verdict"))
        return page.text("#verdict")

    def assertNothingWasMade(self, page: browser.Page) -> None:
        self.assertEqual(page.evaluate("document.querySelectorAll('img, iframe, object, main script').length"), 0)
        self.assertNotIn("taken", page.evaluate("document.title"))


def main() -> None:
    """Skipped, loudly, where there is no browser."""
    if not browser.find():
        print(f"SKIPPED: none of {', '.join(browser.NAMES)} in PATH (apt-get install chromium)", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()


# The arrow keys move a chart's cursor into the past; its description says so.
BACK = """(plot) => {
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  return plot.getAttribute("aria-label").includes("s ago");
}"""

# Texts whose contrast with what lies behind them is less than WCAG's 4.5 to 1, as they are drawn: a translucent one is
# mixed with that. Exempt are, as there, controls that cannot be used.
FAINT = """(() => {
  const channels = (colour) => { const [r, g, b, a = 1] = colour.match(/[0-9.]+/g).map(Number); return { rgb: [r, g, b], a }; };
  const light = (rgb) => {
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const mix = (upper, share, lower) => upper.map((c, i) => share * c + (1 - share) * lower[i]);
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const { rgb, a } = channels(getComputedStyle(element).backgroundColor);
    return a === 1 ? rgb : mix(rgb, a, behind(element.parentElement));
  };
  const opacity = (element) => (element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1);
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = element.matches("input, select, textarea") ? element.value
      : [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length || element.closest("option, noscript, :disabled")) continue;
    const style = getComputedStyle(element);
    const { rgb, a } = channels(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const ground = behind(element);
    const [x, y] = [light(mix(rgb, a * opacity(element), ground)), light(ground)].sort((p, q) => q - p);
    const contrast = (x + 0.05) / (y + 0.05);
    if (contrast < 4.5) faint.push(`${element.tagName}.${element.className} ${element.textContent.slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return faint;
})()"""

# The levels of the headings that can be seen or heard, in their order.
HEADINGS = """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((each) => each.getClientRects().length)
  .map((each) => Number(each.tagName[1]))"""

"""`tools/site`: the documentation as a site builds without a warning, its links hold, and it is complete."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import re
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import browser
import zygo
from zygo import ZygoTestCase

sys.path.insert(0, str(zygo.CHECKOUT / "tools"))

from documentation import check, stage  # noqa: E402

HAS_MKDOCS = importlib.util.find_spec("mkdocs") is not None


@unittest.skipUnless(HAS_MKDOCS, "mkdocs is not installed: run tools/setup")
class Site(ZygoTestCase):
    site: Path
    said: zygo.Finished

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="behaviour-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.site = Path(folder.name) / "site"
        cls.said = zygo.run_command([sys.executable, "-B", str(zygo.CHECKOUT / "tools/site"), "-o", str(cls.site), "--zygo",
                                     str(zygo.BINARY)], timeout=300)

    def page(self, name: str) -> str:
        return (self.site / name).read_text(encoding="utf-8")

    def test_it_builds_without_a_warning_and_every_link_holds(self) -> None:
        self.assertEqual((self.said.code, self.said.stderr), (0, ""))

    def test_every_page_of_the_menu_is_there(self) -> None:
        for _, entries in stage.NAVIGATION:
            for title, path in entries:
                with self.subTest(title):
                    self.assertIn("<h1", self.page(re.sub(r"(README)?\.md$", lambda end: "index.html" if end[1] else ".html",
                                                          path)))

    def test_the_python_api_is_made_of_signatures_and_docstrings(self) -> None:
        text = re.sub(r"<[^>]+>", "", self.page("reference/python.html"))

        for words in ("Executor.map", "Pool.run", "wait: bool", "One job: its source, or a whole Job or dict", "An exception; a kind of"):
            self.assertIn(words, text)

    def test_the_http_api_has_each_route_and_each_field_of_a_job(self) -> None:
        text = re.sub(r"<[^>]+>", "", self.page("reference/http-api.html"))

        for words in ("POST /v1/jobs", "GET /v1/attach", "DELETE /v1/batches/{id}", "limits.memory_mb", "determinism.runs",
                      "usage.cpu_us"):
            self.assertIn(words, text)

    def test_the_search_has_every_page(self) -> None:
        index = json.loads(self.page("search/search_index.json"))
        found = {entry["location"].partition("#")[0] for entry in index["docs"]}

        pages = {str(path.relative_to(self.site)) for path in self.site.rglob("*.html")} - {"404.html"}
        self.assertEqual(found, pages)

    @unittest.skipUnless(browser.find(), "needs Chromium: apt-get install chromium")
    def test_a_reader_who_searches_finds_the_page(self) -> None:
        handler = functools.partial(Quiet, directory=str(self.site))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                with browser.Browser() as chromium:
                    page = chromium.page()
                    page.go(f"http://127.0.0.1:{server.server_port}/index.html?q=WrongAnswer")
                    page.wait("document.querySelector('.md-search-result__link[href*=labels]') !== null")
            finally:
                server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Checker(ZygoTestCase):
    """Of the built pages: it would be no use if it found nothing."""

    def test_each_kind_of_fault_is_found_and_nothing_else(self) -> None:
        site = self.folder()
        (site / "below").mkdir()
        (site / "b.html").write_text('<h1 id="name">b</h1><img src="gone.png"><script src="https://cdn.example/a.js"></script>')
        (site / "below/c.html").write_text('<a href="../b.html#name">right</a><a href="https://a.example/">elsewhere</a>'
                                           '<a href="../b.html#other">wrong</a><a href="none.html">wrong</a>')

        self.assertEqual(check.faults(site), ["b.html: loads https://cdn.example/a.js", "b.html: there is no gone.png",
                                              "below/c.html: b.html has nothing named #other",
                                              "below/c.html: there is no below/none.html"])

    def test_links_lead_to_copies_of_sources_and_to_folders(self) -> None:
        pages = self.folder()
        writer = stage.Repository(zygo.CHECKOUT, pages)

        line = writer.line_for_mkdocs("[`a`](../tools/site), [b](../images/service), [c](cli.md#zygo-run), `[d](e)`", "docs")

        self.assertEqual(line, "[`a`](../tools/site.txt), [b](../images/service/index.md), [c](cli.md#zygo-run), `[d](e)`")
        self.assertEqual((pages / "tools/site.txt").read_bytes(), (zygo.CHECKOUT / "tools/site").read_bytes())
        self.assertIn("[Dockerfile](Dockerfile.txt)", (pages / "images/service/index.md").read_text())


if __name__ == "__main__":
    unittest.main()

"""The page of a router in a real browser: it shows the pilots, and the page of a service does not."""

from __future__ import annotations

import signal

import page_case
from cluster.routing import RoutingTestCase
from page_case import FAINT, HEADINGS, MARKUP, PageTestCase


class Pilots(PageTestCase, RoutingTestCase):
    def test_pilots_are_shown_and_which_were_lost_and_why(self) -> None:
        router = self.router()
        page = self.open("dashboard", router)
        page.wait("!document.getElementById('pilots-card').hidden")
        self.assertIn("None is there", page.text("#pilots-card"))
        for name in ("node-1", "node-2"):
            pilot = self.pilot(router, options=("--name", name))
        self.await_pilots(router, 2)
        router.run("print(1)")

        page.wait("document.querySelectorAll('#pilots tr').length === 2")
        page.wait("/\\b1 ended/.test(document.getElementById('pilots').textContent)")
        shown = page.text("#pilots")
        for part in ("node-1", "node-2", "ready", "level full", "0 of 2 workers busy, 0 jobs wait", "127.0.0.1"):
            self.assertIn(part, shown)
        self.assertIn("2 ready · 4 workers", page.text("#pilots-note"))

        pilot.stop(signal.SIGKILL)
        page.wait("document.getElementById('lost').textContent.includes('node-2')")
        self.assertIn("its connection has ended", page.text("#lost"))
        page.wait("document.querySelectorAll('#pilots tr').length === 1")
        for width, scheme in ((1280, "light"), (375, "dark")):
            page.look(width, 900, scheme, mobile=width < 500)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            self.assertEqual(page.evaluate(FAINT), [])
        levels = page.evaluate(HEADINGS)
        self.assertEqual((levels[:1], levels.count(1)), ([1], 1))

    def test_names_that_pilots_make_up_are_text(self) -> None:
        router = self.router()
        self.pilot(router, options=("--name", MARKUP))
        page = self.open("dashboard", router)

        page.wait("document.getElementById('pilots').textContent.includes('<img src=x')")

        self.assertNothingWasMade(page)

    def test_the_page_of_a_service_asks_once_and_shows_none(self) -> None:
        page = self.open("dashboard")
        asked = "performance.getEntriesByType('resource').filter((each) => each.name.endsWith('/v1/{}')).length"
        page.wait(f"{asked.format('stats')} > 5")  # pilots are asked for every three seconds

        self.assertTrue(page.evaluate("document.getElementById('pilots-card').hidden"))
        self.assertEqual(page.evaluate(asked.format("pilots")), 1)


if __name__ == "__main__":
    page_case.main()

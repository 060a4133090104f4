"""Checks a built site: every link leads to a page of it and to a heading of that page, and no page loads anything from
elsewhere."""
from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given and given.get("rel") != "canonical":
            self.loads.append(given[LOADED[tag]])


def faults(site: Path) -> list[str]:
    pages = {str(path.relative_to(site)): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    pages.pop("404.html", None)  # its links are absolute, because it is shown at any address
    found = [] if pages else [f"{site}: there is no page"]
    for path, page in pages.items():
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    found.append(f"{path}: loads {target}")
                continue
            aim = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
            if (site / aim).is_dir():
                aim = os.path.normpath(os.path.join(aim, "index.html"))
            if not (site / aim).is_file():
                found.append(f"{path}: there is no {aim}")
            elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].names:
                found.append(f"{path}: {aim} has nothing named #{unquote(parts.fragment)}")
    return sorted(set(found))

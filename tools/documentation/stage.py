"""The repository as mkdocs wants it: its documents at their own paths, and what they link to beside them.

A link to a source file leads to a copy of it as text, one to a folder to its README or to a list of its files. So every
link of a document holds on the site as it does in the repository.
"""
from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

PYTHON_API = "reference/python.md"
HTTP_API = "reference/http-api.md"

# In the order of the site's menu. Documents that are not named here stand under "Source".
NAVIGATION: list[tuple[str, list[tuple[str, str]]]] = [
    ("Start", [("zygo", "README.md"), ("What do you want to do?", "docs/README.md")]),
    ("Tasks", [("Grade a model's programs", "docs/guide/grading.md"), ("Judge submissions", "docs/guide/judging.md"),
               ("Run a service", "docs/guide/service.md"), ("Notebooks and sessions", "docs/guide/notebooks.md"),
               ("Use a cluster", "docs/guide/cluster.md")]),
    ("Understand", [("How fast, and why", "docs/guide/speed.md"), ("How it works", "docs/architecture.md"),
                    ("Security", "SECURITY.md"), ("Compared with others", "docs/comparison.md"),
                    ("Measurements", "docs/measurements.md")]),
    ("Reference", [("The command line", "docs/cli.md"), ("Jobs", "docs/jobs.md"), ("Labels", "docs/labels.md"),
                   ("Values", "docs/values.md"), ("Determinism", "docs/determinism.md"), ("Sessions", "docs/sessions.md"),
                   ("Agents", "docs/mcp.md"), ("Jupyter", "docs/jupyter.md"), ("The service", "docs/http.md"),
                   ("The HTTP API", HTTP_API), ("The Python package", "tools/python/README.md"),
                   ("The Python API", PYTHON_API), ("Languages", "languages/README.md"),
                   ("Other services' APIs", "docs/foreign-apis.md"), ("isolate", "docs/isolate.md"),
                   ("Deployment", "docs/deploy.md"), ("What stays stable", "docs/stability.md"),
                   ("Changes", "CHANGELOG.md")]),
]

PICTURES = (".svg", ".png")


def checker() -> ModuleType:
    """tools/check_documents knows what a link is."""
    path = Path(__file__).resolve().parent.parent / "check_documents"
    loader = importlib.machinery.SourceFileLoader("check_documents", str(path))
    spec = importlib.util.spec_from_loader("check_documents", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


DOCUMENTS = checker()


def page(pages: Path, path: str, text: str) -> None:
    (pages / path).parent.mkdir(parents=True, exist_ok=True)
    (pages / path).write_text(text, encoding="utf-8")


class Repository:
    """Writes a document and, once each, what it links to."""

    def __init__(self, root: Path, pages: Path) -> None:
        self.root, self.pages = root, pages
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True,
                                check=True)
        self.files = set(listed.stdout.split("\n")) - {""}

    def document(self, path: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        page(self.pages, path, self.for_mkdocs(text, os.path.dirname(path)))

    def for_mkdocs(self, text: str, folder: str) -> str:
        lines, fenced = [], False
        for line in text.splitlines():
            if DOCUMENTS.FENCE.match(line):
                fenced = not fenced
            elif not fenced and not line.startswith("    "):
                line = self.line_for_mkdocs(line, folder)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def line_for_mkdocs(self, line: str, folder: str) -> str:
        if line.startswith("|"):  # a forge wants \| in the code of a table, and mkdocs would show it
            line = DOCUMENTS.CODE.sub(lambda span: span[0].replace("\\|", "|"), line)
        parts, end = [], 0
        for span in DOCUMENTS.CODE.finditer(line):
            parts += [line[end:span.start()], span[0]]
            end = span.end()
        parts.append(line[end:])
        if not any(DOCUMENTS.LINK.search(code) for code in parts[1::2]):  # `code` may stand in a link's text
            return str(DOCUMENTS.LINK.sub(lambda link: f"]({self.aim(link[1], folder)})", line))
        parts[::2] = [DOCUMENTS.LINK.sub(lambda link: f"]({self.aim(link[1], folder)})", part) for part in parts[::2]]
        return "".join(parts)

    def aim(self, target: str, folder: str) -> str:
        """Where a link of a document in `folder` leads on the site."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        file, _, anchor = target.partition("#")
        aim = os.path.normpath(os.path.join(folder, file))
        if aim in self.files and aim.endswith(PICTURES):
            self.copy(aim, aim)
        elif aim in self.files and not aim.endswith(".md"):
            text = os.path.join(os.path.dirname(aim), os.path.basename(aim).lstrip(".") + ".txt")  # mkdocs hides .files
            self.copy(aim, text)
            aim = text
        elif aim in self.files and not (self.pages / aim).exists() and aim.startswith(DOCUMENTS.STRANGERS):
            self.document(aim)
        elif aim not in self.files:
            aim = self.folder(aim)
        back = os.path.relpath(aim, folder or ".")
        return back + ("#" + anchor if anchor else "")

    def copy(self, path: str, to: str) -> None:
        (self.pages / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / path, self.pages / to)

    def folder(self, path: str) -> str:
        """The page of a folder; made if it has no README."""
        if f"{path}/README.md" in self.files:
            return f"{path}/README.md"
        made = f"{path}/index.md"
        inside = sorted(file for file in self.files if file.startswith(path + "/"))
        if inside and not (self.pages / made).exists():
            for file in inside:
                self.copy(file, file + ".txt")
            lines = [f"- [{file[len(path) + 1:]}]({file[len(path) + 1:]}.txt)" for file in inside]
            page(self.pages, made, f"# {path}\n\n" + "\n".join(lines) + "\n")
        return made


def repository(root: Path, pages: Path) -> None:
    writer = Repository(root, pages)
    for path in DOCUMENTS.documents(root):
        writer.document(path)


def title_of(path: Path) -> str:
    for _, line in DOCUMENTS.prose(path.read_text(encoding="utf-8")):
        if heading := DOCUMENTS.HEADING.match(line):
            return str(heading[1])
    return path.stem


def navigation(pages: Path) -> list[Any]:
    named = {path for _, entries in NAVIGATION for _, path in entries}
    menu: list[Any] = [{group: [{title: path} for title, path in entries]} for group, entries in NAVIGATION]
    rest = sorted(str(path.relative_to(pages)) for path in pages.rglob("*.md"))
    menu.append({"Source": [{title_of(pages / path): path} for path in rest if path not in named]})
    return menu


def configuration(root: Path, pages: Path, output: Path) -> Path:
    """JSON is YAML. mkdocs reads it beside `pages`."""
    here = Path(__file__).resolve().parent
    shutil.copyfile(here / "site.css", pages / "site.css")
    config = {
        "site_name": "zygo", "site_description": "Runs untrusted programs, each in a fresh sandbox", "site_url": "",
        "docs_dir": str(pages), "site_dir": str(output.resolve()), "use_directory_urls": False,
        "theme": {"name": "material", "font": False, "language": "en",
                  "icon": {"logo": "material/shield-check-outline"},
                  "features": ["navigation.tabs", "navigation.top", "search.highlight", "search.suggest"],
                  "palette": [
                      {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "teal",
                       "toggle": {"icon": "material/weather-night", "name": "Dark"}},
                      {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "teal",
                       "toggle": {"icon": "material/weather-sunny", "name": "Light"}}]},
        "extra_css": ["site.css"], "extra": {"generator": False},
        "plugins": [{"search": {"lang": "en"}}],
        "markdown_extensions": ["tables", "sane_lists", "attr_list", "pymdownx.superfences",
                                {"pymdownx.highlight": {"use_pygments": True}},
                                {"toc": {"permalink": True}}],
        "hooks": [str(here / "hooks.py")],
        "nav": navigation(pages),
    }
    path = pages.parent / "mkdocs.yml"
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")
    return path

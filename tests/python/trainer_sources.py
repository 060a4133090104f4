"""Parts of trainers' own sources, run without the trainers: for tools/try-trainers."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import types
from pathlib import Path
from typing import Any


class Source:
    """Files of a trainer, from a work tree or a bare repository."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)

    def text(self, path: str) -> str:
        if (self._root / path).is_file():
            return (self._root / path).read_text()
        return subprocess.run(["git", "-C", str(self._root), "show", f"HEAD:{path}"], capture_output=True, text=True,
                              check=True).stdout

    def function(self, path: str, name: str) -> str:
        """The text of a function, method or class, without its decorators and indentation."""
        text = self.text(path)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
                return textwrap.dedent("\n".join(text.splitlines()[node.lineno - 1:node.end_lineno]))
        raise LookupError(f"{path}: there is no {name} any more")

    def between(self, path: str, first: str, last: str) -> str:
        """The lines from one that begins with `first` to one that begins with `last`."""
        lines = self.text(path).splitlines()
        start = next(i for i, line in enumerate(lines) if line.lstrip().startswith(first))
        end = next(i for i, line in enumerate(lines) if i > start and line.lstrip().startswith(last))
        return textwrap.dedent("\n".join(lines[start:end + 1]))


def made(source: str, name: str, **names: Any) -> Any:
    scope: dict[str, Any] = dict(names)
    exec(compile("from __future__ import annotations\n" + source, name, "exec"), scope)
    return scope[name]


def module(name: str, source: str = "", **names: Any) -> types.ModuleType:
    found = types.ModuleType(name)
    found.__dict__.update(names)
    found.__path__ = []  # type: ignore[attr-defined]
    sys.modules[name] = found
    exec(compile(source, name, "exec"), found.__dict__)
    return found

"""The Python API as a page, from the docstrings and signatures of the package."""
from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any, Iterator

HEAD = """# The Python API

Made from the docstrings of the package `zygo`. [Its page](../tools/python/README.md) explains it by examples.
"""
MODULES = {"zygo": "zygo", "zygo.cluster": "zygo.cluster: for pilots of a batch engine", "zygo.grade": "zygo.grade: for graders",
           "zygo.rewards": "zygo.rewards: for trainers"}


def prose(text: str) -> str:
    """A docstring as Markdown: code is what is indented or stands in backquotes, and nothing else has a meaning."""
    lines = []
    for line in text.strip().splitlines():
        if not line.startswith("    "):
            parts = re.split(r"(`[^`]*`)", line)
            parts[::2] = [re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts[::2]]
            line = "".join(parts)
        lines.append(line)
    return "\n".join(lines) + "\n"


def signature_of(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"<object object at 0x[0-9a-f]+>", "...", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return text.replace("(self, ", "(").replace("(self)", "()").replace("typing.", "")


def own_doc(thing: type) -> str:
    """Not one that dataclasses make, nor that of a base."""
    text = vars(thing).get("__doc__") or ""
    return "" if text.startswith(thing.__name__ + "(") else inspect.cleandoc(text)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Methods and properties that the package itself defines, those of its own bases included."""
    for name in dir(kind):
        owner = next(base for base in kind.__mro__ if name in vars(base)) if not name.startswith("_") else object
        if owner.__module__.split(".")[0] == "zygo":
            yield name, inspect.getattr_static(kind, name)


def of_class(name: str, kind: type) -> Iterator[str]:
    is_error = issubclass(kind, BaseException)
    signature = "" if is_error or "__init__" not in vars(kind) else signature_of(kind)
    yield f"### {name}\n"
    yield f"```python\nclass {name}{re.sub(r' -> None$', '', signature)}\n```\n"
    if is_error:
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        yield f"An exception; a kind of {bases}.\n"
    if own_doc(kind):
        yield prose(own_doc(kind))
    if dataclasses.is_dataclass(kind):
        yield "Fields: " + ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind)) + ".\n"
    for member, value in members(kind) if not is_error or kind.__name__ == "JobFailed" else ():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if isinstance(value, property):
            yield f"#### {name}.{member}\n"
            yield prose(inspect.getdoc(value) or "A property.")
        elif inspect.isfunction(plain):
            yield f"#### {name}.{member}\n"
            yield f"```python\n{member}{signature_of(plain)}\n```\n"
            yield prose(inspect.getdoc(plain) or "")


def of_module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"## {MODULES[name]}\n"
    yield prose(module.__doc__ or "")
    for each in sorted(module.__all__, key=str.lower):
        value = getattr(module, each)
        if inspect.isclass(value):
            yield from of_class(each, value)
        elif callable(value) and not hasattr(value, "__origin__"):
            yield f"### {each}\n"
            yield f"```python\n{each}{signature_of(value)}\n```\n"
            yield prose(inspect.getdoc(value) or "")


def page(package: Path) -> str:
    sys.path.insert(0, str(package.parent))
    try:
        return "\n".join([HEAD, *(part for name in MODULES for part in of_module(name))])
    finally:
        sys.path.remove(str(package.parent))

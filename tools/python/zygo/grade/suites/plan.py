"""From the names of what was given, and what the tests import: which files are tests, which framework runs them, and which
modules are the program's.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Dict, List, Sequence

from .report import Objection

_TEST_FILES = ("test_*.py", "*_test.py")
FRAMEWORKS = ("auto", "pytest", "unittest")


@dataclass
class Plan:
    files: List[str]
    framework: str
    modules: List[str]
    aliases: Dict[str, str]  # of the program's only module: what the tests call it


def make_plan(program: Sequence[str], given: Sequence[str], framework: str) -> Plan:
    """`program` and `given`: the paths of the program's files and of the tests', which are in the working directory."""
    files = [path for path in given if any(fnmatch(path.rpartition("/")[2], wild) for wild in _TEST_FILES)]
    if not files and len(given) == 1:
        files = list(given)
    if not files:
        raise Objection(f"no file of tests: none is called {' or '.join(_TEST_FILES)}")
    imports = {path: _imported_by(path) for path in files}
    if framework == "auto":
        is_unittest = all("unittest" in names and "pytest" not in names for names in imports.values())
        framework = "unittest" if is_unittest and "conftest.py" not in given else "pytest"
    modules = sorted({_module(path) for path in program if path.endswith(".py")})
    aliases = {}
    if len(program) == 1 and modules:
        others = {"pytest", *map(_module, given)}
        aliases = {name: modules[0] for names in imports.values() for name in names if name not in others}
    return Plan(files, framework, modules, aliases)


def _module(path: str) -> str:
    first = path.split("/")[0]
    return first[:-3] if first.endswith(".py") else first


def _imported_by(path: str) -> List[str]:
    """The top-level modules that a file imports anywhere."""
    with open(path, "rb") as file:
        try:
            tree = ast.parse(file.read())
        except (SyntaxError, ValueError):
            return ["unittest"]  # there it fails with its reason
    found: Dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update({alias.name.partition(".")[0]: None for alias in node.names})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module.partition(".")[0]] = None
    return list(found)

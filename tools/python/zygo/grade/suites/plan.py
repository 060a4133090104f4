"""From the names of what was given, and what the tests import: which files are tests, which framework runs them, and which
modules are the program's.

A program may be hostile in its files' names, too: it takes the place of no module that the tests could mean otherwise.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set

from .report import Objection

_TEST_FILES = ("test_*.py", "*_test.py")
FRAMEWORKS = ("auto", "pytest", "unittest")
_NEVER = {"pytest", "_pytest", "pluggy", "unittest", "zygo", "zygo_suite", "__main__", *sys.builtin_module_names,
          *getattr(sys, "stdlib_module_names", ())}


@dataclass
class Plan:
    files: List[str]
    framework: str
    modules: List[str]  # the program's
    aliases: Dict[str, str]  # of the program's only module: what the tests call it
    taken: List[str]  # what the tests import, and the program has by a name that is not for it
    own_names: Set[str]  # what the tests import from elsewhere, which `import *` does not replace


def make_plan(program: Sequence[str], given: Sequence[str], framework: str) -> Plan:
    """`program` and `given`: the paths of the program's files and of the tests', which are in the working directory."""
    files = _test_files(given)
    trees = {path: _parsed(path) for path in given if path.endswith(".py")}
    imports = {path: _imported_by(tree) for path, tree in trees.items()}
    if framework == "auto":
        by_file = [imports.get(path) for path in files]
        is_unittest = all(names is None or "unittest" in names and "pytest" not in names for names in by_file)
        framework = "unittest" if is_unittest and "conftest.py" not in given else "pytest"
    if framework == "pytest":
        _load_pytest()  # before any module of the program could be one that it imports
    wanted = {name for names in imports.values() for name in names or ()}
    found = {_module(path) for path in program if path.endswith(".py")} - set(map(_module, given))
    others = {name for name in found if name in _NEVER or name in sys.modules or len(program) > 1 and _is_installed(name)}
    taken = sorted(others & wanted)
    modules = sorted(found - others)
    aliases = {}
    if len(program) == 1 and modules and not found & wanted:
        aliases = {name: modules[0] for name in wanted - _NEVER - set(map(_module, given)) if not _is_installed(name)}
    own_names = {name for tree in trees.values() if tree for name in _bound_by_imports(tree, {*modules, *aliases})}
    return Plan(files, framework, modules, aliases, taken, own_names)


def _load_pytest() -> None:
    try:
        importlib.import_module("pytest")
    except ImportError:
        raise Objection(f"pytest is not installed for {sys.executable} (Debian: apt-get install python3-pytest)") from None


def _test_files(given: Sequence[str]) -> List[str]:
    files = [path for path in given if any(fnmatch(path.rpartition("/")[2], wild) for wild in _TEST_FILES)]
    if not files and len(given) == 1:
        files = list(given)
    if not files:
        raise Objection(f"no file of tests: none is called {' or '.join(_TEST_FILES)}")
    return files


def _module(path: str) -> str:
    first = path.split("/")[0]
    return first[:-3] if first.endswith(".py") else first


def _is_installed(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _parsed(path: str) -> Any:
    """None for what does not compile; then an import of it says why."""
    with open(path, "rb") as file:
        try:
            return ast.parse(file.read())
        except (SyntaxError, ValueError):
            return None


def _imports(tree: Any) -> Iterable[Any]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))


def _imported_by(tree: Any) -> Optional[List[str]]:
    """The top-level modules that a file imports anywhere."""
    if tree is None:
        return None
    found: Dict[str, None] = {}
    for node in _imports(tree):
        if isinstance(node, ast.Import):
            found.update({alias.name.partition(".")[0]: None for alias in node.names})
        elif node.module and not node.level:
            found[node.module.partition(".")[0]] = None
    return list(found)


def _bound_by_imports(tree: Any, program: Set[str]) -> Iterable[str]:
    """The names that imports of other modules than the program's give to something."""
    for node in _imports(tree):
        whole = isinstance(node, ast.Import)
        for alias in node.names:
            module = (alias.name if whole else node.module or "").partition(".")[0]
            if module not in program:
                yield alias.asname or (alias.name.partition(".")[0] if whole else alias.name)

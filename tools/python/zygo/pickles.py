"""Functions and arguments as bytes, towards the sandbox only. Nothing that comes out of one is read here, except by
`load_trusted`, for code that the caller vouches for.

A module travels by name if the sandbox can import it: what lies below the interpreter's own directories, or in what a
pool has packed. All others, `__main__` first, travel by value, which needs cloudpickle.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

from .errors import ZygoError

try:
    import cloudpickle as _cloudpickle
except ImportError:
    _cloudpickle = None

_registry = threading.Lock()
_seen_modules: Tuple[int, str] = (0, "")
_foreign: List[ModuleType] = []


class CannotPickle(ZygoError, TypeError):
    """A function or an argument that cannot travel."""


def interpreter_directories() -> List[str]:
    """What a sandbox sees of this interpreter: its prefixes, but for what users keep elsewhere."""
    found = {"/usr", sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    return sorted({os.path.realpath(path) for path in found} | found)


def is_visible(file: Optional[str], directories: Sequence[str]) -> bool:
    """Whether the sandbox has this file of ours; what is built in has none."""
    if not file:
        return True
    path = os.path.abspath(file)
    return any(path.startswith(directory.rstrip("/") + "/") for directory in directories)


def _refresh(packed: Sequence[str]) -> List[ModuleType]:
    """The loaded modules that the sandbox cannot import. Cheap while no module has been loaded since."""
    global _seen_modules, _foreign
    now = (len(sys.modules), next(reversed(sys.modules)))
    if now != _seen_modules:
        directories = interpreter_directories()
        _foreign = [
            module for name, module in list(sys.modules.items())
            if isinstance(module, ModuleType) and name not in ("__main__", "__mp_main__")
            and name.partition(".")[0] != __package__.partition(".")[0]
            and not is_visible(getattr(module, "__file__", None), directories)
        ]
        _seen_modules = now
    if not packed:
        return _foreign
    return [module for module in _foreign if not is_visible(module.__file__, packed)]


@contextmanager
def _by_value(packed: Sequence[str]) -> Iterator[None]:
    """cloudpickle keeps one list for the process, so it is changed only while we pickle."""
    with _registry:
        added = []
        known = _cloudpickle.list_registry_pickle_by_value()
        try:
            for module in _refresh(packed):
                if module.__name__ not in known and sys.modules.get(module.__name__) is module:
                    _cloudpickle.register_pickle_by_value(module)
                    added.append(module)
            yield
        finally:
            for module in added:
                _cloudpickle.unregister_pickle_by_value(module)


def _explain(thing: str, error: Exception) -> CannotPickle:
    hint = "" if _cloudpickle else "; with cloudpickle installed more can be (python3-cloudpickle)"
    return CannotPickle(f"{thing} cannot be sent to a sandbox: {type(error).__name__}: {error}{hint}")


def dump(value: Any, thing: str, packed: Sequence[str] = ()) -> bytes:
    try:
        if _cloudpickle is None:
            return pickle.dumps(value, protocol=5)
        with _by_value(packed):
            data: bytes = _cloudpickle.dumps(value, protocol=5)
            return data
    except Exception as error:
        raise _explain(thing, error) from error


def dump_function(function: Callable[..., Any], packed: Sequence[str] = ()) -> bytes:
    name = getattr(function, "__qualname__", None) or repr(type(function).__name__)
    if _cloudpickle is None and getattr(function, "__module__", None) == "__main__":
        raise CannotPickle(f"function {name} is of __main__, and only cloudpickle can send it (python3-cloudpickle)")
    return dump(function, f"function {name}", packed)


def dump_arguments(positional: Tuple[Any, ...], named: Any, packed: Sequence[str] = ()) -> bytes:
    """Plain pickle where it will do: it is many times faster, and most arguments are data."""
    if _is_data(positional) and _is_data(tuple(named.values())):
        return pickle.dumps((positional, named), protocol=5)
    return dump((positional, named), "an argument", packed)


_DATA = frozenset((type(None), bool, int, float, complex, str, bytes))


def _is_data(items: Tuple[Any, ...]) -> bool:
    for item in items:
        kind = type(item)
        if kind in _DATA:
            continue
        if kind in (list, tuple) and set(map(type, item)) <= _DATA:
            continue
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and item.dtype.kind in "biufc":
            continue
        return False
    return True


def _after_fork() -> None:
    """Another thread may have been pickling."""
    global _registry
    _registry = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def load_trusted(data: bytes) -> Any:
    """Runs whatever the bytes say. Only for `trust_results=True`."""
    return pickle.loads(data)

"""What stands for the program's objects and classes in the tests' process. A proxy asks the program for all that it is
asked for itself; its class, made from the program's description, says only which operators there are.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, FrozenSet, List, NoReturn, Optional, Tuple

from .operators import COMPARISONS, OPERATORS
from .wire import ERRORS

# Dunder names that are looked up in the program. All others would let it answer questions of the tests' machinery.
_READABLE = frozenset(f"__{name}__" for name in "name qualname doc dict annotations defaults members version author".split())
_NOT_PASSED_ON = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt")


def _is_hidden(name: str) -> bool:
    dunder = name[:2] == "__" and name[-2:] == "__" and name not in _READABLE
    return dunder or name.startswith(("_zygo", "_pytest", "pytest")) or name == "place_as"


def _no_attribute(owner: str, name: str) -> NoReturn:
    raise AttributeError(f"{owner} has no attribute {name!r} that tests can reach")


class RemoteClass(type):
    """The class of proxy classes. Nothing of the tests can derive from one."""

    _zygo_class: Tuple[Any, int]  # the session, and the class's number in the program
    _zygo_methods: FrozenSet[str]
    _zygo_plain: bool

    def __new__(mcs, name: str, bases: Tuple[type, ...], namespace: Dict[str, Any], ours: bool = False) -> Any:
        if not ours:
            raise TypeError("the tests cannot derive from a class of the program, which is in another process")
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name: str, bases: Tuple[type, ...], namespace: Dict[str, Any], ours: bool = False) -> None:
        super().__init__(name, bases, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._zygo_class[0].call(cls, args, kwargs)

    def __getattr__(cls, name: str) -> Any:
        if _is_hidden(name) or "_zygo_class" not in cls.__dict__:
            _no_attribute(f"class {cls.__name__}", name)
        return cls._zygo_class[0].request("get", cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name.startswith("__"):
            return type.__setattr__(cls, name, value)
        cls._zygo_class[0].request("set", cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls._zygo_class[0].request("delete", cls, name)

    def __dir__(cls) -> List[str]:
        return [str(name) for name in cls._zygo_class[0].request("dir", cls)]

    def __bool__(cls) -> bool:
        return True

    def __iter__(cls) -> Any:
        return cls._zygo_class[0].operator(cls, "__iter__")

    def __len__(cls) -> int:
        return int(cls._zygo_class[0].operator(cls, "__len__"))

    def __contains__(cls, item: Any) -> bool:
        return cls._zygo_class[0].operator(cls, "__contains__", item) is True

    def __getitem__(cls, key: Any) -> Any:
        return cls._zygo_class[0].operator(cls, "__getitem__", key)


class RemoteObject:
    """The root of proxy classes. `_zygo`: the session, and the object's number in the program."""

    __slots__ = ("_zygo", "__weakref__")

    def __getattr__(self, name: str) -> Any:
        if _is_hidden(name):
            _no_attribute(f"{type(self).__name__!r} object", name)
        session = self._zygo[0]
        if name in type(self)._zygo_methods:  # type: ignore[attr-defined]
            return lambda *args, **kwargs: session.method(self, name, args, kwargs)
        return session.request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._zygo[0].request("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._zygo[0].request("delete", self, name)

    def __dir__(self) -> List[str]:
        return [str(name) for name in self._zygo[0].request("dir", self)]

    def __repr__(self) -> str:
        return str(self._zygo[0].text(self, "__repr__"))

    def __str__(self) -> str:
        return str(self._zygo[0].text(self, "__str__"))

    def __format__(self, how: str) -> str:
        return str(self._zygo[0].text(self, "__format__", how))

    def __copy__(self) -> Any:
        return self._zygo[0].request("copy", self, False)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._zygo[0].request("copy", self, True)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("an object of the program cannot be pickled in the tests")

    def __del__(self) -> None:
        try:
            session, number = self._zygo
        except AttributeError:
            return
        session.forget(number)


def _operator(name: str) -> Any:
    def operate(self: Any, *args: Any) -> Any:
        return self._zygo[0].operator(self, name, *args)

    def compare(self: Any, other: Any) -> Any:
        return self._zygo[0].compare(self, name, other)

    def contains(self: Any, item: Any) -> Any:
        return self._zygo[0].contains(self, item)

    def truth(self: Any) -> bool:
        return bool(self._zygo[0].truth(self))

    def following(self: Any) -> Any:
        return self._zygo[0].request("next", self)

    special: Dict[str, Callable[..., Any]] = {"__contains__": contains, "__bool__": truth, "__next__": following}
    function: Any = compare if name in COMPARISONS else special.get(name, operate)
    function.__name__ = name
    return function


_FUNCTIONS = {name: _operator(name) for name in OPERATORS - {"__repr__", "__str__", "__format__", "__call__"}}


def _called(self: Any, *args: Any, **kwargs: Any) -> Any:
    return self._zygo[0].call(self, args, kwargs)


_FUNCTIONS["__call__"] = _called


def class_of(session: Any, number: int, name: str, module: str, bases: List[type], operators: List[str],
             methods: List[str], hashes: Optional[bool], is_plain: bool) -> type:
    """A proxy class, from a description whose parts have been checked to be of these types."""
    space: Dict[str, Any] = {"__module__": module, "__qualname__": name, "_zygo_class": (session, number),
                             "_zygo_methods": frozenset(methods), "_zygo_plain": is_plain}
    if any(issubclass(base, BaseException) for base in bases):
        return _derived(name, bases, {**space, **_ERROR_SPACE})
    functions: Dict[str, Any] = {op: _FUNCTIONS[op] for op in operators if op in _FUNCTIONS}
    if hashes is None:
        functions["__hash__"] = object.__hash__
    elif not hashes:
        functions["__hash__"] = None
    bases = [base for base in bases if issubclass(base, RemoteObject)] or [RemoteObject]
    return _derived(name, bases, {**space, **functions, "__slots__": ()})


def _derived(name: str, bases: List[type], space: Dict[str, Any]) -> type:
    """The program's bases may be such as no class can have: then the first will do."""
    try:
        return RemoteClass(name, tuple(bases), dict(space), ours=True)
    except TypeError:
        return RemoteClass(name, tuple(bases[:1]), dict(space), ours=True)


# Exceptions

def _error_text(self: Any) -> str:
    return str(self._zygo_text)


def _error_attribute(self: Any, name: str) -> Any:
    if _is_hidden(name) or "_zygo_reference" not in vars(self):
        _no_attribute(f"{type(self).__name__!r} object", name)
    return self._zygo_reference.request("get", self, name)


_ERROR_SPACE = {"__str__": _error_text, "__getattr__": _error_attribute}


def error_base(name: str) -> Any:
    """Of the builtin exceptions, that one; but not those that are no errors to the tests' process."""
    return RuntimeError if name in _NOT_PASSED_ON else ERRORS[name]


def error_of(kind: type, base: str, args: List[Any], text: str) -> BaseException:
    if base in _NOT_PASSED_ON:
        args = [f"the program raised {base}{': ' if text else ''}{text}"]
    error = _made(kind, args)
    vars(error).update(_zygo_remote=True, _zygo_text=text)
    return error


def _made(kind: Any, args: List[Any]) -> BaseException:
    makers: List[Callable[..., Any]] = [lambda *given: kind.__new__(kind, *given), lambda *given: kind.__new__(kind)]
    for make in makers if isinstance(kind, RemoteClass) else [kind, *makers]:
        try:
            error: BaseException = make(*args)
            error.args = tuple(args)
            return error
        except Exception:
            continue
    return Exception(*args)

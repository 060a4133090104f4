"""The program's cell: imports the program's modules when the tests do, and does with their objects what the tests ask.

It shares its interpreter with the program, so nothing that it says is more than the program's word.
"""

from __future__ import annotations

import copy
import importlib.machinery
import os
import sys
import threading
import types
import weakref
from typing import AbstractSet, Any, BinaryIO, Dict, List, MutableMapping, Optional, Tuple

from . import streams
from .operators import OPERATORS
from .wire import ERRORS, MOST_NESTED, Closed, Codec, dump, is_flat, read_frame

_MOST_TEXT = 10_000
_MOST_NAME = 200
_ERROR_NAMES = {kind: name for name, kind in ERRORS.items()}
_PLAIN: Tuple[Any, ...] = (list, tuple, dict, set, frozenset, bytearray, int, float, str, bytes, complex)
_MUTABLE_TAGS = frozenset("dsBqoCy")


class Foreign:
    """An object of the tests, which can be handed back, and called or iterated if that is what it is for."""

    _zygo: Tuple[Any, int]  # the server, and the object's number in the tests

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"an object of the tests has no attribute {name!r} that the program can reach")


def _foreign_call(self: Foreign, *args: Any, **kwargs: Any) -> Any:
    server, number = self._zygo
    return server.ask("call", number, server.items(args, 1), {str(key): server.pack(kwargs[key]) for key in kwargs})


def _foreign_iter(self: Foreign) -> Any:
    server, number = self._zygo
    return server.ask("iter", number)


def _foreign_next(self: Foreign) -> Any:
    server, number = self._zygo
    return server.ask("next", number)


_ABILITIES = {"c": ("__call__", _foreign_call), "i": ("__iter__", _foreign_iter), "n": ("__next__", _foreign_next)}


class Server(Codec):
    def __init__(self, calls: BinaryIO, answers: BinaryIO) -> None:
        super().__init__()
        self._calls, self._answers = calls, answers
        self._thread = threading.get_ident()
        self._depth = 0
        self._objects: Dict[int, List[Any]] = {}  # by number: the object, and how often the tests were told of it
        self._numbers: Dict[int, int] = {}  # by id()
        self._next = 1
        self._classes: Dict[type, int] = {}
        self._class_list: List[type] = []
        self._news: List[Any] = []  # classes that the tests have not been told of
        self._foreign: Dict[int, Any] = {}
        self._kinds: Dict[str, type] = {}
        self._arrived: Dict[int, Any] = {}  # copies of streams that came with one line
        self._copies: MutableMapping[Any, int] = weakref.WeakKeyDictionary()  # all of them, with their numbers
        self._in_full: AbstractSet[int] = frozenset()  # those that are packed with what is in them

    # References

    def export(self, value: Any) -> Any:
        if isinstance(value, Foreign):
            return {"k": value._zygo[1]}
        if streams.is_stream(value) and value in self._copies:
            number = self._copies[value]
            return {"y": [number, *streams.state_of(value)]} if number in self._in_full else {"k": number}
        if isinstance(value, type):
            return {"K": self._number_of_class(value)}
        if isinstance(value, types.ModuleType):
            return {"M": value.__name__}
        if isinstance(value, BaseException):
            return {"e": self.describe(value)}
        return {"h": self._reference(value)}

    def _reference(self, value: Any) -> List[int]:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = self._next
            self._objects[number] = [value, 0]
            self._next += 1
        self._objects[number][1] += 1
        return [number, self._number_of_class(type(value))]

    def release(self, counts: List[Tuple[int, int]]) -> None:
        for number, count in counts:
            entry = self._objects[number]
            entry[1] -= count
            if entry[1] <= 0:
                del self._objects[number], self._numbers[id(entry[0])]

    def _number_of_class(self, kind: type) -> int:
        number = self._classes.get(kind)
        if number is None:
            bases = [_ERROR_NAMES[base] if base in _ERROR_NAMES else self._number_of_class(base)
                     for base in kind.__bases__ if base is not object]
            number = self._classes[kind] = len(self._class_list)
            self._class_list.append(kind)
            names = [kind.__name__[:_MOST_NAME], str(kind.__module__)[:_MOST_NAME]]
            self._news.append([number, *names, bases, *_abilities_of(kind)])
        return number

    def resolve(self, tag: str, body: Any) -> Any:
        if tag == "h":
            return self._objects[body][0]
        if tag == "K":
            return self._class_list[body]
        if tag == "M":
            return sys.modules[body]
        if tag == "e":
            return self._error_of_tests(body)
        if tag == "y":
            return self._copy_of_stream(*body)
        number, abilities, name = body
        if number not in self._foreign:
            if abilities not in self._kinds:
                self._kinds[abilities] = type("TestsObject", (Foreign,), dict(_ABILITIES[one] for one in abilities))
            self._foreign[number] = one = self._kinds[abilities]()
            one._zygo, one.__name__, one.__qualname__ = (self, number), name, name
        return self._foreign[number]

    def _copy_of_stream(self, number: int, kind: str, rest: str, place: int) -> Any:
        if number not in self._arrived:
            self._arrived[number] = streams.copy_of(kind, rest)
            self._copies[self._arrived[number]] = number
        return self._arrived[number]

    def _unpack_line(self, items: List[Any]) -> List[Any]:
        self._arrived = {}
        return [self.unpack(item) for item in items]

    def _pack_in_full(self, value: Any, numbers: AbstractSet[int]) -> Any:
        self._in_full = numbers
        try:
            return self.pack(value)
        finally:
            self._in_full = frozenset()

    # Exceptions

    def describe(self, error: BaseException) -> Any:
        """[base, class, arguments, text, reference], or the number of an exception that came from the tests."""
        number = vars(error).get("_zygo_of_tests")
        if number is not None:
            return number
        base = next(_ERROR_NAMES[kind] for kind in type(error).__mro__ if kind in _ERROR_NAMES)
        own = type(error) not in _ERROR_NAMES
        try:
            text = str(error)[:_MOST_TEXT]
        except Exception:
            text = ""
        return [base, self._number_of_class(type(error)) if own else None, [self._pack_argument(one) for one in error.args],
                text, self._reference(error)[0] if own else None]

    def _pack_argument(self, value: Any) -> Any:
        try:
            return self.pack(value)
        except Exception as error:
            return f"<{type(value).__name__}: {error}>"

    def _error_of_tests(self, body: Any) -> BaseException:
        base, args, number = body
        try:
            error = ERRORS[base](*self.unpack(args))
        except Exception:
            error = Exception(*self.unpack(args))
        error._zygo_of_tests = number  # type: ignore[attr-defined]
        return error

    # The conversation

    def serve(self) -> None:
        while True:
            self._answer(read_frame(self._calls))

    def _send(self, frame: List[Any]) -> None:
        news, self._news = self._news, []
        try:
            line = dump([*frame, news])
        except BaseException:
            self._news = news + self._news
            raise
        self._answers.write(line)
        self._answers.flush()

    def _answer(self, frame: List[Any]) -> None:
        what, operands, released = frame
        self._depth += 1
        try:
            self.release(released)
            answer = self._perform(what, operands)
        except BaseException as error:
            answer = ["error", self.describe(error), []]
        self._depth -= 1
        try:
            self._send(answer)
        except (OverflowError, ValueError, RecursionError) as error:
            self._send(["error", self.describe(error), []])

    def _perform(self, what: str, operands: List[Any]) -> List[Any]:
        given = self._unpack_line(operands)
        arrived = self._arrived
        before = [(place, value, packed if is_flat(packed) else self._pack_in_full(value, arrived.keys()))
                  for place, value, packed in _mutable(operands, given)]
        try:
            answer = ["ok", self._pack_or_refer(getattr(self, "do_" + what)(*given))]
        except StopIteration as error:
            answer = ["stop"] if what == "next" else ["error", self.describe(error)]
        except BaseException as error:
            answer = ["error", self.describe(error)]
        return [*answer, self._changed(before, arrived.keys())]

    def _pack_or_refer(self, value: Any) -> Any:
        try:
            return self.pack(value)
        except RecursionError:  # nested too deeply to be copied
            return {"h": self._reference(value)}

    def _changed(self, before: List[Any], arrived: AbstractSet[int]) -> List[Any]:
        found = []
        for place, value, packed_before in before:
            if is_flat(packed_before) and _are_same(value, packed_before):
                continue
            packed = self._pack_in_full(value, arrived)
            if not _are_same(packed, packed_before):
                found.append([*place, packed])
        return found

    def ask(self, *question: Any) -> Any:
        """Of the tests: to call or go on with what they gave."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("what the tests gave can only be called by the thread that they called")
        if self._depth >= MOST_NESTED:
            raise RecursionError("program and tests call each other too deeply")
        self._send(list(question))
        while True:
            frame = read_frame(self._calls)
            if frame[0] == "ok":
                return self._unpack_line(frame[1:2])[0]
            if frame[0] == "stop":
                raise StopIteration
            if frame[0] == "error":
                raise self.unpack(frame[1])
            self._answer(frame)

    # What the tests ask for

    def do_import(self, name: str) -> Any:
        module = importlib.import_module(name)
        public = getattr(module, "__all__", None)
        names = [one for one in dir(module) if type(one) is str]
        public = list(public) if public is not None else [one for one in names if one[:1] != "_" and _is_own(module, one)]
        return [names, public, hasattr(module, "__path__")]

    def do_get(self, target: Any, name: str) -> Any:
        return getattr(target, name)

    def do_set(self, target: Any, name: str, value: Any) -> None:
        setattr(target, name, value)

    def do_delete(self, target: Any, name: str) -> None:
        delattr(target, name)

    def do_dir(self, target: Any) -> List[str]:
        return [name for name in dir(target) if type(name) is str]

    def do_call(self, target: Any, args: Any, kwargs: Dict[str, Any]) -> Any:
        return target(*args, **kwargs)

    def do_method(self, target: Any, name: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        return getattr(target, name)(*args, **kwargs)

    def do_operator(self, target: Any, name: str, args: Any) -> Any:
        return getattr(type(target), name)(target, *args)

    def do_next(self, target: Any) -> Any:
        return type(target).__next__(target)

    def do_plain(self, target: Any) -> Any:
        base = next(base for base in _PLAIN if isinstance(target, base))
        if base in (list, tuple, set, frozenset):
            return base(base.__iter__(target))
        return base(base.items(target)) if base is dict else base.__str__(target) if base is str else base(target)

    def do_copy(self, target: Any, deep: bool) -> Any:
        return copy.deepcopy(target) if deep else copy.copy(target)

    def do_ping(self) -> None:
        pass


def _is_own(module: Any, name: str) -> bool:
    """Whether an import of `*` brings it: a module of another's would take the place of the tests' own of that name."""
    value = vars(module).get(name)
    return not isinstance(value, types.ModuleType) or str(getattr(value, "__file__", "")).startswith(os.getcwd() + "/")


def _abilities_of(kind: type) -> Tuple[List[str], List[str], Optional[bool], bool]:
    """Operators, methods, whether it has hashes (None: those of any object), whether a builtin value lies below."""
    operators = [name for name in OPERATORS if getattr(kind, name, None) is not getattr(object, name, None)]
    methods = {name for base in kind.__mro__ for name, item in vars(base).items()
               if isinstance(item, types.FunctionType) and type(name) is str and name[:1] != "_" and len(name) < _MOST_NAME}
    hashes = None if "__hash__" not in operators else kind.__hash__ is not None
    return operators, sorted(methods), hashes, issubclass(kind, _PLAIN)


def _mutable(operands: List[Any], given: List[Any]) -> List[Any]:
    """Of positional and named arguments those that a call can change: place, value, and as it came."""
    found: List[Any] = []
    for at, (operand, value) in enumerate(zip(operands, given)):
        if at and type(operand) is dict and "t" in operand:
            found += [([at, index], value[index], item) for index, item in enumerate(operand["t"]) if _can_change(item)]
        elif at and type(operand) is dict and "d" in operand:
            found += [([at, key], value[key], item) for key, item in operand["d"] if _can_change(item)]
    return found


def _are_same(one: Any, other: Any) -> bool:
    """Equal in value and type, at every depth: 1 is neither True nor 1.0."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return list(one) == list(other) and all(_are_same(one[key], other[key]) for key in one)
    if type(one) is not list:
        return bool(one == other) or one is other
    if len(one) != len(other):
        return False
    kinds = set(map(type, one))
    if dict in kinds or list in kinds:
        return all(map(_are_same, one, other))
    return list(map(type, one)) == list(map(type, other)) and one == other  # else an operator of the program's own


def _can_change(packed: Any) -> bool:
    if type(packed) is list:
        return True
    if type(packed) is not dict:
        return False
    (tag, body), = packed.items()
    return tag in _MUTABLE_TAGS or tag == "t" and any(map(_can_change, body))


def _take_streams() -> Tuple[BinaryIO, BinaryIO]:
    """The two ends of the conversation. The program itself reads nothing, and what it prints goes to its stderr."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return calls, answers


def main(script: Optional[str]) -> None:
    """`script`: the program is one, and what the tests import of it is `__main__`."""
    server = Server(*_take_streams())
    sys.path.insert(0, os.getcwd())
    sys.argv = ["program.py"]
    if script is not None:
        sys.meta_path.insert(0, _Script(script))
        sys.modules.pop("__main__", None)
    try:
        server.serve()
    except (Closed, OSError):
        os._exit(0)


class _Script:
    def __init__(self, source: str) -> None:
        self._source = source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader) if name == "__main__" else None

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self._source, "program.py", "exec"), module.__dict__)

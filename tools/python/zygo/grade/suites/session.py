"""The tests' side of the conversation: asks the program, answers what it asks of the tests' callbacks, and keeps account
of what rests on the program's word. It believes nothing: a line that is not of the protocol ends the conversation.
"""

from __future__ import annotations

import collections
import threading
import types
import weakref
from typing import Any, BinaryIO, Counter, Dict, List, Optional, Set, Tuple

from . import proxies, streams
from .operators import ARITHMETIC, COMPARISONS
from .wire import ERRORS, MOST_NESTED, Closed, Codec, WireError, dump, merged, read_frame, whole

_MOST_CLASSES = 10_000
_MOST_OBJECTS = 1_000_000  # that live at once
_MOST_EXPORTS = 100_000
_BROKEN = "InvalidResult"
_REMOTE = (proxies.RemoteObject, proxies.RemoteClass)
_MAY_EXIT = ("call", "method", "import")  # where tests expect it; a framework that asks for a text would end


class ProgramGone(BaseException):
    """The conversation is over. No `except Exception` of a test catches it, and no test that began before passes."""


class Testimony(TypeError):
    pass


class RemoteModule(types.ModuleType):
    """A module of the program."""

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" and name not in vars(self).get("_zygo_names", ()) or name.startswith(("_zygo", "_pytest")):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return self._zygo.request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:2] == "__" or name.startswith("_zygo"):
            return super().__setattr__(name, value)
        self._zygo.request("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._zygo.request("delete", self, name)

    def __dir__(self) -> List[str]:
        return sorted(self._zygo_names)


class Session(Codec):
    def __init__(self, questions: BinaryIO, answers: BinaryIO, strict: bool) -> None:
        super().__init__()
        self._questions, self._answers = questions, answers
        self._strict = strict
        self._lock = threading.RLock()
        self._depth = 0
        self._classes: Dict[int, Any] = {}
        self._objects: Dict[int, Any] = weakref.WeakValueDictionary()  # type: ignore[assignment]
        self._told: Counter[int] = collections.Counter()  # how often the program has named an object
        self._released: List[List[int]] = []
        self._exports: List[Tuple[Any, str]] = []
        self._export_numbers: Dict[int, int] = {}
        self._lent: Dict[int, streams.Loan] = {}  # streams that were packed since the last question
        self._due: Optional[Dict[int, streams.Loan]] = None  # those that may come back now
        self._raised: Set[int] = set()  # exceptions of callbacks, by number, that the present call may end with
        self.broken: Optional[str] = None  # a label, or "": the program's own end has it
        self.why = ""
        self.testimony: Counter[str] = collections.Counter()

    # Asking

    def request(self, what: str, *operands: Any, changed: Tuple[Any, ...] = ()) -> Any:
        with self._lock:
            if self.broken is not None:
                raise ProgramGone(self.why)
            if self._depth >= MOST_NESTED:
                raise RecursionError("program and tests call each other too deeply")
            if self._depth == 0:
                self._raised.clear()
            self._lent = {}
            packed = [self.pack(operand) for operand in operands]
            lent = self._lent
            released, self._released = self._released, []
            line = dump([what, packed, released])
            return self._take(what, self._exchange(line), changed, lent)

    def _exchange(self, line: bytes) -> List[Any]:
        try:
            self._write(line)
            return self._await()
        except (WireError, Closed, OSError) as error:
            raise self._break_off(error) from None
        except BaseException as error:  # then who has to speak next is not known
            self.broken, self.why = type(error).__name__, str(error)
            raise

    def call(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.request("call", target, args, kwargs, changed=(None, args, kwargs))

    def method(self, target: Any, name: str, args: Any, kwargs: Any) -> Any:
        return self.request("method", target, name, args, kwargs, changed=(None, None, args, kwargs))

    def operator(self, target: Any, name: str, *args: Any) -> Any:
        if name in ARITHMETIC and not isinstance(args[0], _REMOTE):
            self._rely_on(ARITHMETIC[name], f"the result of {ARITHMETIC[name]} of a {type(target).__name__} of the program "
                                            "and a plain value")
        return self.request("operator", target, name, args, changed=(None, None, args))

    def text(self, target: Any, name: str, *args: Any) -> str:
        text = self.operator(target, name, *args)
        if type(text) is not str:
            raise TypeError(f"{name} returned {type(text).__name__}")
        return text

    def forget(self, number: int) -> None:
        count = self._told.pop(number, 0)
        if count:
            self._released.append([number, count])

    def _write(self, line: bytes) -> None:
        self._questions.write(line)
        self._questions.flush()

    def _await(self) -> List[Any]:
        while True:
            frame = read_frame(self._answers)
            if len(frame) < 2:
                raise WireError("a frame without its parts")
            self._learn(frame[-1])
            if frame[0] in ("call", "next", "iter"):
                self._serve(frame)
                continue
            return frame

    def _take(self, what: str, answer: List[Any], changed: Tuple[Any, ...], lent: Dict[int, streams.Loan]) -> Any:
        try:
            if answer[0] == "stop" and what == "next":
                error: Optional[BaseException] = StopIteration()
            else:
                if answer[0] not in ("ok", "error") or len(answer) != 4:
                    raise WireError("an answer that is none")
                self._apply(answer[2], changed, lent)
                error = self._error(answer[1]) if answer[0] == "error" else None
                value = None if error else self.unpack(answer[1])
        except WireError as wrong:
            raise self._break_off(wrong) from None
        if isinstance(error, SystemExit) and what not in _MAY_EXIT:
            error = RuntimeError("the program raised SystemExit")
        if error is not None:
            raise error
        return value

    def _break_off(self, error: Exception) -> ProgramGone:
        if self.broken is None:
            self.broken = _BROKEN if isinstance(error, WireError) else ""
            self.why = f"the program sent {error}" if self.broken else "the program ended"
        return ProgramGone(self.why)

    # Answering

    def _serve(self, frame: List[Any]) -> None:
        number = whole(frame[1])
        if not 0 <= number < len(self._exports):
            raise WireError("the number of a callback that the tests never gave")
        target, abilities = self._exports[number]
        if {"call": "c", "next": "n", "iter": "i"}[str(frame[0])] not in abilities:
            raise WireError(f"a {frame[0]} of what the tests gave for something else")
        args: List[Any] = []
        kwargs: Dict[str, Any] = {}
        if frame[0] == "call":
            if len(frame) != 5 or type(frame[3]) is not dict:
                raise WireError("a call without its parts")
            args, kwargs = self.unpack_all(frame[2]), {key: self.unpack(item) for key, item in frame[3].items()}
        self._write(self._outcome(str(frame[0]), target, args, kwargs))

    def _outcome(self, what: str, target: Any, args: List[Any], kwargs: Dict[str, Any]) -> bytes:
        self._depth += 1
        try:
            value = target(*args, **kwargs) if what == "call" else iter(target) if what == "iter" else next(target)
            return dump(["ok", self.pack(value)])
        except ProgramGone:
            raise Closed from None
        except StopIteration as error:
            return dump(["stop"] if what == "next" else ["error", self.pack(error)])
        except BaseException as error:
            return self._failure(error)
        finally:
            self._depth -= 1

    def _failure(self, error: BaseException) -> bytes:
        try:
            return dump(["error", self.pack(error)])
        except Exception:  # its arguments cannot cross
            number = self._number_of(error, "")
            self._raised.add(number)
            return dump(["error", {"e": ["RuntimeError", [type(error).__name__], number]}])

    # References

    def export(self, value: Any) -> Any:
        if isinstance(value, proxies.RemoteClass):
            return {"K": value._zygo_class[1]}
        if isinstance(value, proxies.RemoteObject):
            return {"h": value._zygo[1]}
        if isinstance(value, RemoteModule):
            return {"M": value.__name__}
        if isinstance(value, BaseException):
            if "_zygo_number" in vars(value):
                return {"h": vars(value)["_zygo_number"]}
            base = next(name for kind in type(value).__mro__ for name, known in ERRORS.items() if kind is known)
            number = self._number_of(value, "")
            self._raised.add(number)
            return {"e": [base, self.pack(list(value.args), 1), number]}
        kind = type(value)
        abilities = "".join(letter for letter, name in (("c", "__call__"), ("i", "__iter__"), ("n", "__next__"))
                            if getattr(kind, name, None) is not None)
        number = self._number_of(value, abilities)
        rest = streams.rest_of(value) if streams.is_stream(value) else None
        if rest is not None:
            self._lent.setdefault(number, streams.Loan(value))
            return {"y": [number, *rest, 0]}
        return {"k": [number, abilities, str(getattr(value, "__name__", kind.__name__))]}

    def _number_of(self, value: Any, abilities: str) -> int:
        number = self._export_numbers.get(id(value))
        if number is None:
            if len(self._exports) >= _MOST_EXPORTS:
                raise RuntimeError(f"more than {_MOST_EXPORTS} objects of the tests were given to the program")
            number = self._export_numbers[id(value)] = len(self._exports)
            self._exports.append((value, abilities))
        return number

    def resolve(self, tag: str, body: Any) -> Any:
        if tag == "h" and type(body) is list and len(body) == 2:
            return self._object(whole(body[0]), self._class(body[1]))
        if tag == "K":
            return self._class(body)
        if tag == "M" and type(body) is str:
            return self.module(body)
        if tag == "e":
            return self._error(body)
        if tag == "k" and type(body) is int and 0 <= body < len(self._exports):
            return self._exports[body][0]
        if tag == "y" and self._due is not None and type(body) is list and len(body) == 4:
            return self._take_back(*body)
        raise WireError("a reference to nothing")

    def _take_back(self, number: Any, kind: Any, text: Any, place: Any) -> Any:
        loan = (self._due or {}).get(whole(number))
        if loan is None:
            raise WireError("a stream that was not given")
        try:
            return loan.take_back(kind, text, place)
        except (TypeError, ValueError) as error:
            raise WireError(str(error)) from None

    def module(self, name: str) -> RemoteModule:
        module = RemoteModule(name)
        vars(module).update(_zygo=self, _zygo_names=())
        return module

    def _class(self, number: Any) -> Any:
        kind = self._classes.get(whole(number))
        if kind is None:
            raise WireError("a class that it never described")
        return kind

    def _object(self, number: int, kind: Any) -> Any:
        if not issubclass(kind, proxies.RemoteObject):
            raise WireError("an object of a class that is for exceptions")
        found = self._objects.get(number)
        if found is None:
            if len(self._objects) >= _MOST_OBJECTS:
                raise WireError("too many objects")
            found = object.__new__(kind)
            object.__setattr__(found, "_zygo", (self, number))
            self._objects[number] = found
        self._told[number] += 1
        return found

    def _learn(self, news: Any) -> None:
        if type(news) is not list or len(self._classes) + len(news) > _MOST_CLASSES:
            raise WireError("too many classes" if type(news) is list else "classes that are none")
        for one in news:
            if type(one) is not list or len(one) != 8 or any(
                    type(part) is not kind for part, kind in zip(one, (int, str, str, list, list, list))):
                raise WireError("a class that is none")
            number, name, module, bases, operators, methods, hashes, is_plain = one
            words = [name, module, *operators, *methods]
            if number in self._classes or not all(type(word) is str and len(word) < 1000 for word in words):
                raise WireError("a class that is none")
            known = [self._base(base) for base in bases]
            try:
                self._classes[number] = proxies.class_of(self, number, name.replace("\0", ""), module, known, operators,
                                                         methods, hashes, is_plain is True)
            except (TypeError, ValueError) as error:
                raise WireError(f"a class that cannot be: {error}") from None

    def _base(self, base: Any) -> Any:
        if type(base) is str and base in ERRORS:
            return proxies.error_base(base)
        return self._class(base)

    def _error(self, body: Any) -> BaseException:
        if type(body) is int:
            if 0 <= body < len(self._exports) and isinstance(self._exports[body][0], BaseException):
                error: BaseException = self._exports[body][0]
                if body in self._raised and not isinstance(error, StopIteration):
                    return error
                return RuntimeError(f"the program raised {type(error).__name__}, which a callback had raised")
            raise WireError("an exception that the tests never raised")
        if type(body) is not list or len(body) != 5:
            raise WireError("an exception that is none")
        base, number, args, text, reference = body
        if type(base) is not str or base not in ERRORS or type(text) is not str:
            raise WireError("an exception that is none")
        kind = proxies.error_base(base) if number is None else self._class(number)
        if not issubclass(kind, BaseException):
            raise WireError("an exception whose class is for others")
        error = proxies.error_of(kind, base, self.unpack_all(args), text)
        if reference is not None:
            vars(error).update(_zygo_number=whole(reference), _zygo_reference=self)
        return error

    # The program's word

    def compare(self, target: Any, name: str, other: Any) -> Any:
        ours = not isinstance(other, _REMOTE)
        if ours and type(target)._zygo_plain:
            value = self._plain(target)
            return getattr(type(value), name)(value, other)
        if ours and self._strict:
            self._rely_on(COMPARISONS[name], f"{COMPARISONS[name]} of a {type(target).__name__} of the program and a plain value")
        answer = self.operator(target, name, other)
        if ours and answer is not NotImplemented:
            self._rely_on(COMPARISONS[name], "")
        return answer

    def _rely_on(self, operator: str, what: str) -> None:
        self.testimony[operator] += 1
        if self._strict:
            raise Testimony(f"{what} would be the program's word")

    def _plain(self, target: Any) -> Any:
        value = self.request("plain", target)
        if isinstance(value, proxies.RemoteObject):
            raise RecursionError("a value of the program that is nested too deeply to be compared")
        return value

    def contains(self, target: Any, item: Any) -> bool:
        if type(target)._zygo_plain:
            return item in self._plain(target)
        answer = self.operator(target, "__contains__", item)
        if not isinstance(item, _REMOTE):
            self._rely_on("in", f"whether a plain value is in a {type(target).__name__} of the program")
        return bool(answer)

    def truth(self, target: Any) -> bool:
        self.testimony["bool"] += 1
        answer = self.operator(target, "__bool__")
        if type(answer) is not bool:
            raise TypeError("__bool__ should return bool")
        return answer

    # What the program changed in the tests' own arguments

    def _apply(self, changes: Any, changed: Tuple[Any, ...], lent: Dict[int, streams.Loan]) -> None:
        self._due = lent
        try:
            self._apply_all(changes, changed)
        finally:
            self._due = None

    def _apply_all(self, changes: Any, changed: Tuple[Any, ...]) -> None:
        if type(changes) is not list:
            raise WireError("changes that are none")
        for change in changes:
            try:
                at, key, body = change
                old = changed[at][key]  # a position or a name of what was given just now
            except (TypeError, ValueError, LookupError):
                raise WireError("a change of what was not given") from None
            merged(old, self.unpack(body))

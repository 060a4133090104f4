"""As much of JSON Schema as the service's OpenAPI document uses, and no more: an unknown word is an error."""

from __future__ import annotations

import json
import re
from typing import Any, Iterator

TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
                                      "object": (dict,), "array": (list,), "null": (type(None),)}
REMARKS = {"description", "default"}


def is_of(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


class Schema:
    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def problems(self, schema: dict[str, Any], value: Any, where: str = "$") -> Iterator[str]:
        for word, given in schema.items():
            if word not in REMARKS:
                yield from getattr(self, "check_" + word.strip("$"))(given, value, where, schema)

    def check_ref(self, given: str, value: Any, where: str, _: Any) -> Iterator[str]:
        target = self.document
        for step in given.removeprefix("#/").split("/"):
            target = target[step]
        yield from self.problems(target, value, where)

    def check_type(self, given: str | list[str], value: Any, where: str, _: Any) -> Iterator[str]:
        if not any(is_of(value, name) for name in ([given] if isinstance(given, str) else given)):
            yield f"{where}: {value!r} is not of type {given}"

    def check_enum(self, given: list[Any], value: Any, where: str, _: Any) -> Iterator[str]:
        if value not in given:
            yield f"{where}: {value!r} is none of {given}"

    def check_const(self, given: Any, value: Any, where: str, _: Any) -> Iterator[str]:
        if value != given:
            yield f"{where}: {value!r} is not {given!r}"

    def check_minimum(self, given: float, value: Any, where: str, _: Any) -> Iterator[str]:
        if is_of(value, "number") and value < given:
            yield f"{where}: {value} is less than {given}"

    def check_maximum(self, given: float, value: Any, where: str, _: Any) -> Iterator[str]:
        if is_of(value, "number") and value > given:
            yield f"{where}: {value} is more than {given}"

    def check_maxItems(self, given: int, value: Any, where: str, _: Any) -> Iterator[str]:
        if isinstance(value, list) and len(value) > given:
            yield f"{where}: more than {given}"

    def check_pattern(self, given: str, value: Any, where: str, _: Any) -> Iterator[str]:
        if isinstance(value, str) and not re.search(given, value):
            yield f"{where}: {value!r} does not match {given}"

    def check_anyOf(self, given: list[Any], value: Any, where: str, _: Any) -> Iterator[str]:
        found = [list(self.problems(each, value, where)) for each in given]
        if all(found):
            yield f"{where}: none of " + " / ".join(problems[0] for problems in found)

    def check_items(self, given: Any, value: Any, where: str, _: Any) -> Iterator[str]:
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield from self.problems(given, item, f"{where}[{i}]")

    def check_required(self, given: list[str], value: Any, where: str, _: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (f"{where}: {name} is missing" for name in given if name not in value)

    def check_properties(self, given: dict[str, Any], value: Any, where: str, _: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for name, each in given.items():
                if name in value:
                    yield from self.problems(each, value[name], f"{where}.{name}")

    def check_additionalProperties(self, given: Any, value: Any, where: str, schema: dict[str, Any]) -> Iterator[str]:
        if isinstance(value, dict):
            for name in value.keys() - schema.get("properties", {}).keys():
                if given is False:
                    yield f"{where}: {name} is not known"
                else:
                    yield from self.problems(given, value[name], f"{where}.{name}")


def problems_of_job(document: dict[str, Any], job: Any) -> list[str]:
    return list(Schema(document).problems(document["components"]["schemas"]["Job"], job))


def problems_of_result(document: dict[str, Any], result: Any) -> list[str]:
    return list(Schema(document).problems(document["components"]["schemas"]["Result"], result))


def problems_of_answer(document: dict[str, Any], method: str, path: str, status: int, body: bytes) -> list[str]:
    """What is not documented at all has none."""
    operation = document["paths"].get(path, {}).get(method.lower(), {"responses": {}})
    response = operation["responses"].get(str(status), {})
    if reference := response.get("$ref"):
        response = document["components"]["responses"][reference.rsplit("/", 1)[1]]
    problems: list[str] = []
    for kind, content in response.get("content", {}).items():
        if kind in ("application/json", "application/x-ndjson"):
            lines = body.splitlines() if kind.endswith("ndjson") else [body]
            for line in lines:
                problems += Schema(document).problems(content.get("schema", {}), json.loads(line))
    return problems

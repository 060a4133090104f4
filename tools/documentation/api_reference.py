"""The HTTP API as a page, from the OpenAPI document that a service gives."""
from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from http.client import HTTPConnection
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

HEAD = """# The HTTP API

Made from the OpenAPI document of zygo {version}, which a service gives at `GET /v1/openapi.json`. [The
service](../docs/http.md) explains what the requests do, [jobs](../docs/jobs.md) the fields of a job, and
[labels](../docs/labels.md) how a result is read.
"""
ERRORS = "Errors: {}; each is an [Error](#error)."


class LocalConnection(HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self.path = path

    def connect(self) -> None:
        self.sock = socket(AF_UNIX)
        self.sock.connect(self.path)


def document_of(zygo: Path) -> Any:
    with tempfile.TemporaryDirectory(prefix="zygo-site-") as folder:
        path = f"{folder}/socket"
        # No program is run, so whatever isolation the host gives will do.
        environment = {**os.environ, "ZYGO_HOME": folder, "ZYGO_REQUIRE": "minimal", "ZYGO_QUIET": "yes"}
        service = subprocess.Popen([zygo, "serve", "--listen", f"unix:{path}", "--log", "off", "--json"],
                                   stdout=subprocess.PIPE, env=environment)
        try:
            assert service.stdout is not None
            if not service.stdout.readline():
                raise SystemExit("site: the service did not start")
            connection = LocalConnection(path)
            connection.request("GET", "/v1/openapi.json")
            return json.loads(connection.getresponse().read())
        finally:
            service.terminate()
            service.communicate()


def kind(schema: Any) -> str:
    """`Job`, `text`, `list of whole number`, as words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")]))
    for word in "oneOf", "anyOf":
        if word in schema:
            return " or ".join(dict.fromkeys(kind(each) for each in schema[word]))
    kinds = schema.get("type", "anything")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "array" in kinds and "items" in schema:
        return "list of " + kind(schema["items"]) if kind(schema["items"]) != "anything" else "list"
    return " or ".join(kinds)


def cell(text: str) -> str:
    """Descriptions link to pages of docs/."""
    text = re.sub(r"\]\((?![a-z]+:|#)", "](../docs/", " ".join(text.split()))
    return text.replace("|", "\\|")


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads)] + [[cell(each) for each in row] for row in rows]]
    return "\n".join(lines) + "\n"


def operation(method: str, path: str, about: Any) -> str:
    parts = [f"## {method.upper()} {path}\n", about["summary"] + "\n"]
    if parameters := about.get("parameters"):
        rows = [[f"`{each['name']}`", each["in"], each.get("description", "")] for each in parameters]
        parts.append(table(["parameter", "in", "meaning"], rows))
    rows = [["takes", f"`{kind_of}`", kind(what.get("schema", {}))] for kind_of, what in
            about.get("requestBody", {}).get("content", {}).items()]
    errors = []
    for status, answer in about["responses"].items():
        if "$ref" in answer:
            errors.append(status)
            continue
        content = answer.get("content", {"": {}})
        rows += [[status, f"`{kind_of}`" if kind_of else "", kind(what.get("schema", {})) if kind_of else answer["description"]]
                 for kind_of, what in content.items()]
    parts.append(table(["", "type", "contents"], rows))
    if errors:
        parts.append(ERRORS.format(", ".join(errors)) + "\n")
    return "\n".join(parts)


def fields(schema: Any, before: str = "") -> list[list[str]]:
    rows = []
    for name, field in schema.get("properties", {}).items():
        rows.append([f"`{before}{name}`", kind(field), field.get("description", "")])
        rows += fields(field, f"{before}{name}.")
    return rows


def page(document: Any) -> str:
    parts = [HEAD.format(version=document["info"]["version"])]
    for path, methods in document["paths"].items():
        parts += [operation(method, path, about) for method, about in methods.items() if method != "head"]
    for name, schema in document["components"]["schemas"].items():
        parts.append(f"## {name}\n\n" + table(["field", "type", "meaning"], fields(schema)))
    return "\n".join(parts)

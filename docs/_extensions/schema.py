"""The JSON Schema of documents, made from the classes of the commands' results.

``python docs/_extensions/schema.py`` writes docs/reference/document.schema.json; a test compares
the file. The parts that describe the document around the result are kept from the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS
from mpinet.commands.fields import When, hints_for, row_of, said_of
from mpinet.commands.result import Result
from mpinet.commands.signature import signature_of

FILE = Path(__file__).parents[1] / "reference/document.schema.json"

KINDS = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def schema() -> dict[str, Any]:
    """Return the current schema."""
    kept: dict[str, Any] = json.loads(FILE.read_text())
    results = {
        command: kind
        for command in COMMANDS
        if issubclass(kind := signature_of(function_of(command)).result, Result)
        and kind is not Result
    }
    document = kept["$defs"]["document"] | {"allOf": [_of(*each) for each in results.items()]}
    classes = {_name(*each): _object(each[1], each[0]) for each in results.items()}
    return kept | {"$defs": {"error": kept["$defs"]["error"], "document": document} | classes}


def _of(command: str, kind: type) -> dict[str, Any]:
    """Return the condition that the documents of a command have a result of this class."""
    words = [{"const": word} for word in command.split()]
    said = {"properties": {"command": {"prefixItems": [{}, *words]}}}
    then = {"properties": {"result": {"$ref": f"#/$defs/{_name(command, kind)}"}}}
    return {"if": said, "then": then}


def _name(command: str, kind: type) -> str:
    """Return the name of a command's result in the schema."""
    return f"{command.capitalize()}Result" if hasattr(kind, "hints_for") else kind.__name__


def _object(kind: type, command: str = "") -> dict[str, Any]:
    """Return the schema of a class with fields."""
    if row := row_of(kind):
        return {"type": "array", "items": _object(row)}
    hints = hints_for(kind, command)
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: _value(hint) for name, hint in hints.items()},
        "required": [name for name, hint in hints.items() if not said_of(hint, When)],
    }
    kinds = [
        {"required": [name for name, hint in hints.items() if when in said_of(hint, When)]}
        for when in getattr(kind, "kinds_", ())
    ]
    return made | ({"anyOf": kinds} if kinds else {})


def _value(hint: Any) -> dict[str, Any]:
    """Return the schema of a type's values."""
    if get_origin(hint) is Annotated:
        return _value(get_args(hint)[0]) | dict(said_of(hint, tuple))
    kind, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if kind in (Union, UnionType):
        return {"anyOf": [*map(_value, parts)]}
    if kind is Literal:
        return {"enum": [*parts]}
    if kind is list:
        return {"type": "array", "items": _value(parts[0])}
    if kind is tuple:
        size = len(parts)
        return {"type": "array", "items": _value(parts[0]), "minItems": size, "maxItems": size}
    if kind is dict:
        return {"type": "object", "additionalProperties": _value(parts[1])}
    return {"type": KINDS[hint]} if hint in KINDS else _object(hint)


def text() -> str:
    """Return the text of the schema file."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())

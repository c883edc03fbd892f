"""Validates JSON against docs/report.schema.json: the part of JSON Schema that
it uses, and strictly. A field that the schema does not name is an error here,
although readers must accept it: it has to be documented."""

from __future__ import annotations

import json
from typing import Any

from cli_kit import ROOT

SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool,
    "integer": int, "number": (int, float), "null": type(None),
}
KNOWN = {
    "$ref", "type", "properties", "required", "additionalProperties", "items",
    "enum", "const", "anyOf", "allOf", "minimum", "description",
}


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    """allOf of objects as one object, so that all its fields are known."""
    schema = _resolve(schema)
    if "allOf" not in schema:
        return schema
    whole: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for part in map(_merged, schema["allOf"]):
        whole["properties"] |= part["properties"]
        whole["required"] += part["required"]
    return whole


def _object(value: dict[str, Any], schema: dict[str, Any], at: str) -> list[str]:
    properties = schema.get("properties", {})
    said = [f"{at}: {name} is missing"
            for name in schema.get("required", []) if name not in value]
    for name, item in value.items():
        if name in properties:
            said += problems(item, properties[name], f"{at}.{name}")
        elif isinstance(schema.get("additionalProperties"), dict):
            said += problems(item, schema["additionalProperties"], f"{at}.{name}")
        else:
            said.append(f"{at}: {name} is not in docs/report.schema.json; "
                        "document it there, and in docs/json.md")
    return said


def problems(value: Any, schema: dict[str, Any], at: str = "$") -> list[str]:
    """What is wrong with a value, a sentence each."""
    schema = _merged(schema)
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "anyOf" in schema:
        tries = [problems(value, s, at) for s in schema["anyOf"]]
        missing = [sum("is missing" in p for p in said) for said in tries]
        # What comes nearest: it lacks the fewest fields.
        order = sorted(range(len(tries)), key=lambda i: (
            len(tries[i]) > 0, missing[i], len(tries[i])))
        return tries[order[0]]
    if "const" in schema and value != schema["const"]:
        return [f"{at} is {value!r}, not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at} is {value!r}, not one of {schema['enum']}"]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(value, t) for t in types):
        return [f"{at} is {value!r}, not of type {types}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{at} is {value}, below {schema['minimum']}"]
    if isinstance(value, dict):
        return _object(value, schema, at)
    if isinstance(value, list) and "items" in schema:
        return [p for i, item in enumerate(value)
                for p in problems(item, schema["items"], f"{at}[{i}]")]
    return []


def validate(value: Any) -> None:
    """A whole report: of the schema and kind that it says it is."""
    root = {"anyOf": SCHEMA["anyOf"]}
    said = problems(value, root)
    assert not said, "\n".join(said[:10])

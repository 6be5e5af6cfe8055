"""Checks JSON against schemas/json: as much of JSON Schema as the files there use, and a refusal of what they do not."""

import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "json"
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
}
NOTES = {"$schema", "$id", "$defs", "title", "description"}


def load(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text())


def problems(value, schema, root, path="$"):
    """The errors of `value`, one per line."""
    found = []
    for word, rule in schema.items():
        if word not in NOTES:
            found += RULES[word](value, rule, schema, root, path)
    return found


def _reference(value, rule, _schema, root, path):
    if rule.startswith("#/$defs/"):
        return problems(value, root["$defs"][rule[len("#/$defs/") :]], root, path)
    other = load(rule.removesuffix(".schema.json"))
    return problems(value, other, other, path)


def _type(value, rule, _schema, _root, path):
    names = [rule] if isinstance(rule, str) else rule
    return [] if any(TYPES[name](value) for name in names) else [f"{path}: {value!r} is no {' or '.join(names)}"]


def _any(value, rule, _schema, root, path):
    tries = [problems(value, option, root, path) for option in rule]
    return [] if [] in tries else min(tries, key=len)


def _additional(value, rule, schema, root, path):
    if not isinstance(value, dict):
        return []
    strange = [name for name in value if name not in schema.get("properties", {})]
    if rule is False:
        return [f"{path}.{name}: not in the schema" for name in strange]
    return [p for name in strange for p in problems(value[name], rule, root, f"{path}.{name}")]


def _properties(value, rule, _schema, root, path):
    if not isinstance(value, dict):
        return []
    return [p for name, s in rule.items() if name in value for p in problems(value[name], s, root, f"{path}.{name}")]


def _required(value, rule, _schema, _root, path):
    return [f"{path}.{name}: missing" for name in rule if isinstance(value, dict) and name not in value]


def _items(value, rule, _schema, root, path):
    items = value if isinstance(value, list) else []
    return [p for i, item in enumerate(items) for p in problems(item, rule, root, f"{path}[{i}]")]


def _compared(wrong):
    def check(value, rule, _schema, _root, path):
        return [f"{path}: {value!r} against {rule!r}"] if wrong(value, rule) else []

    return check


def _is_number(value):
    return TYPES["number"](value)


RULES = {
    "$ref": _reference,
    "type": _type,
    "anyOf": _any,
    "allOf": lambda v, rule, _s, root, path: [p for option in rule for p in problems(v, option, root, path)],
    "additionalProperties": _additional,
    "properties": _properties,
    "required": _required,
    "items": _items,
    "const": _compared(lambda v, rule: v != rule),
    "enum": _compared(lambda v, rule: v not in rule),
    "minimum": _compared(lambda v, rule: _is_number(v) and v < rule),
    "maximum": _compared(lambda v, rule: _is_number(v) and v > rule),
    "minItems": _compared(lambda v, rule: isinstance(v, list) and len(v) < rule),
    "maxItems": _compared(lambda v, rule: isinstance(v, list) and len(v) > rule),
}


def check(value):
    """The errors of a JSON object of the command, by the schema that it names."""
    match = re.fullmatch(r"bantam\.([a-z.]+)/1", str(value.get("schema")))
    if not match or not (FOLDER / f"{match[1]}.schema.json").exists():
        return [f"schema: {value.get('schema')!r} has no file in {FOLDER}"]
    schema = load(match[1])
    return problems(value, schema, schema)

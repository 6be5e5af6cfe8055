#!/usr/bin/env python3
"""keys.py ROOT: do the tables of JSON keys (converter/source/keys/*.inc) say what the code does?

Every key that a table calls supported or refused stands as a string in the importers, and every key that readers of JSON files
ask for by a literal has a row. Keys of config.json need none where Fields keeps what is asked for (converter/network): a
conversion that reads a key reports it as read.
"""

import json
import pathlib
import re
import sys

TABLES = "converter/source/keys"
CODE = ("converter/source", "converter/tokenizer", "converter/network", "converter/onnx", "converter/import")
# Files that read JSON beside a model without keeping what they ask for.
READERS = ("converter/source", "converter/tokenizer", "converter/network/blocks/patches.cpp")
# Formats with keys of their own, and files that only write JSON.
OTHERS = re.compile(
    r"/(gguf|chat)/|/(bitnet|bpe_files|character_cnn|checkpoint|explain|fasttext|knowledge_ernie|marian\w*|model_card|pickle|safetensors"
    r"\w*|seq2seq|torch_file|vector_file|weights|word_vectors|write_back|zip|keys|keys_documents|split_pattern|pattern_parser)\.(cpp|h)$"
)
ROW = re.compile(r'BANTAM_KEY\(\s*(k\w+),\s*"([^"]*)",\s*(k\w+),\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\s*\)')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
READ = re.compile(
    r"\b(?:part|member|member_of|field_of|key_of|text_of|setting|entry|truth|truth_of|flag|flag_of|optional_flag|text|count|"
    r'count_or|number|numbers|words|side_of|has|inside|contains|at|value|find)\((?:[\w.*]+, )?"(\w+)"'
    r'|\w\["(\w+)"\]'
)
# Names that these readers ask for which are no keys of a model's settings.
NO_KEYS = {
    "String": "of a component's pattern",
    "Regex": "of a component's pattern",
    "SpecialToken": "of a template",
    "Sequence": "of a template",
    "id": "of a template",
    "type_id": "of a template",
    "ids": "of a template",
    "width": "of a size in pixels",
    "height": "of a size in pixels",
    "Metaspace": "a type",
    "tensor": "of label sets of bantam's own",
    "coef": "a tensor",
    "mapping": "a tensor",
    "weights": "a tensor",
}


def rows_of(root):
    """[(kind, path, state, neutral, effect)] of all tables."""
    rows = []
    for table in sorted((root / TABLES).glob("*.inc")):
        rows += [tuple(row) for row in ROW.findall(table.read_text(encoding="utf-8"))]
    return rows


def sources(root, folders):
    for folder in folders:
        path = root / folder
        found = [path] if path.is_file() else sorted(path.rglob("*")) if path.is_dir() else []
        for file in found:
            name = file.relative_to(root).as_posix()
            if file.suffix in {".cpp", ".h"} and name != "converter/source/keys.cpp":
                yield name, file.read_text(encoding="utf-8")


def last_name(path):
    return path.rsplit(".", 1)[-1]


def names_key(literal, key):
    """Is `key` the literal, or one that it begins ("pooling_mode_"), ends ("_chunk_length") or is a pattern of ("{}_size")?"""
    if literal == key:
        return True
    if "{}" in literal and "_" in literal:
        return re.fullmatch(re.escape(literal).replace(r"\{\}", r"\w*"), key) is not None
    if len(literal) <= 5:
        return False
    return (literal.endswith("_") and key.startswith(literal)) or (literal.startswith("_") and key.endswith(literal))


def problems_of_rows(rows):
    seen = set()
    for kind, path, state, neutral, effect in rows:
        where = f"{TABLES}: {kind} {path}"
        if (kind, path) in seen:
            yield f"{where}: has two rows"
        seen.add((kind, path))
        if state == "kUnsupported" and not neutral:
            yield f"{where}: is unsupported; name a value for which it has no effect"
        if state in {"kUnsupported", "kWithoutEffect"} and not effect:
            yield f"{where}: say what it would change, or why it changes nothing"
        for value in neutral.replace('\\"', '"').split(" | ") if neutral else []:
            try:
                json.loads(value)
            except ValueError:
                yield f"{where}: {value} is not JSON"


def problems_of(root):
    rows = rows_of(root)
    yield from problems_of_rows(rows)
    literals = set()
    for _, text in sources(root, CODE):
        literals.update(LITERAL.findall(text))
    for kind, path, state, _, _ in rows:
        key = last_name(path).removesuffix("[]")
        if state in {"kSupported", "kRefused"} and not any(names_key(literal, key) for literal in literals):
            yield f"{TABLES}: {kind} {path}: no importer names it; it is not {state[1:].lower()}"
    known = {last_name(path) for _, path, _, _, _ in rows} | set(NO_KEYS)
    for name, text in sources(root, READERS):
        if OTHERS.search(name):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for read in READ.findall(line):
                key = read[0] or read[1]
                if key not in known:
                    yield f'{name}:{number}: reads "{key}", which has no row in {TABLES}'


def main():
    problems = list(problems_of(pathlib.Path(sys.argv[1])))
    print("\n".join(problems) or "the tables of JSON keys say what the code does")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Programs that were compiled with an earlier version's C headers run with today's library: every function is there with the same
types, every constant has its value, and every field its place. Structs that say their size may have grown.

    test_abi.py --write VERSION    writes VERSION/abi.json, once, when a version is released"""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "runtime" / "include"
HEADERS = ("bantam.h", "bantam_device.h", "bantam_generate.h")
LIBRARY = os.environ.get("BANTAM_LIBRARY")
COMPILER = shutil.which("cc")


def field_name(words):
    return re.search(r"\(\*(\w+)\)|(\w+)(\[\w+\])?$", words.strip()).group(1, 2)


def type_of(parameter):
    """Without its name."""
    words = " ".join(parameter.split())
    return words if words == "void" else re.sub(r"\b\w+(\[\])?$", r"\1", words).strip()


def declared():
    """The declarations of the headers: {struct: fields}, constants, {function: its types}."""
    text = "\n".join((INCLUDE / "bantam" / name).read_text() for name in HEADERS)
    text = re.sub(r"/\*.*?\*/|^\s*#[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE)
    structs = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", text, flags=re.DOTALL):
        structs[name] = [first or second for first, second in map(field_name, filter(str.strip, body.split(";")))]
    constants = re.findall(r"^\s+(BANTAM_\w+) =", text, flags=re.MULTILINE)
    functions = {}
    for result, name, parameters in re.findall(r"^([\w* ]+?)\b(bantam_\w+)\(([^;{]*)\);", text, flags=re.MULTILINE):
        types = [type_of(parameter) for parameter in parameters.split(",")]
        functions[name] = f"{' '.join(result.split())} ({', '.join(types)})"
    return structs, constants, functions


def measured(structs, constants):
    """Sizes, places and values as this machine's compiler has them."""
    lines = [f'#include "bantam/{name}"' for name in HEADERS] + [
        "#include <stddef.h>",
        "#include <stdio.h>",
        "int main(void) {",
    ]
    for name, fields in structs.items():
        lines.append(f'printf("S {name} %zu\\n", sizeof({name}));')
        for field in fields:
            of = f"(({name}*)0)->{field}"
            lines.append(f'printf("F {name} {field} %zu %zu\\n", offsetof({name}, {field}), sizeof({of}));')
    lines += [f'printf("C {name} %ld\\n", (long){name});' for name in constants] + ["return 0; }"]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "abi.c"
        source.write_text("\n".join(lines))
        subprocess.run([COMPILER, "-I", INCLUDE, "-o", source.with_suffix(""), source], check=True)
        said = subprocess.run([source.with_suffix("")], check=True, capture_output=True, text=True).stdout
    found = {"structs": {}, "constants": {}}
    for kind, *words in map(str.split, said.splitlines()):
        if kind == "S":
            found["structs"][words[0]] = {"size": int(words[1]), "fields": {}}
        elif kind == "F":
            found["structs"][words[0]]["fields"][words[1]] = [int(words[2]), int(words[3])]
        else:
            found["constants"][words[0]] = int(words[1])
    return found


def abi():
    structs, constants, functions = declared()
    return {"pointer_bytes": struct.calcsize("P"), "functions": functions, **measured(structs, constants)}


@unittest.skipUnless(COMPILER, "needs cc")
class Abi(unittest.TestCase):
    maxDiff = None

    def test_headers_of_every_version(self):
        now = abi()
        self.assertGreater(len(now["functions"]), 100)
        for path in sorted(HERE.glob("*/abi.json")):
            then = json.loads(path.read_text())
            if then["pointer_bytes"] != now["pointer_bytes"]:
                continue
            with self.subTest(version=path.parent.name):
                self.assertEqual({k: now["functions"].get(k) for k in then["functions"]}, then["functions"])
                self.assertEqual({k: now["constants"].get(k) for k in then["constants"]}, then["constants"])
                for name, old in then["structs"].items():
                    new = now["structs"].get(name, {"size": 0, "fields": {}})
                    self.assertEqual({k: new["fields"].get(k) for k in old["fields"]}, old["fields"], name)
                    grows = next(iter(old["fields"])) == "size" and name.endswith("_options")
                    (self.assertGreaterEqual if grows else self.assertEqual)(new["size"], old["size"], name)

    @unittest.skipUnless(LIBRARY and shutil.which("nm"), "needs the shared library and nm")
    def test_the_library_has_every_function(self):
        said = subprocess.run(
            ["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True
        ).stdout
        there = {line.split()[-1] for line in said.splitlines()}
        for path in sorted(HERE.glob("*/abi.json")):
            self.assertEqual(set(json.loads(path.read_text())["functions"]) - there, set(), path.parent.name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        with open(HERE / sys.argv[2] / "abi.json", "x") as file:
            json.dump(abi(), file, indent=0, sort_keys=False)
            file.write("\n")
    else:
        unittest.main()

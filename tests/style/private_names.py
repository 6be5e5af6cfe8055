#!/usr/bin/env python3
"""private_names.py REPOSITORY: names in the anonymous namespaces of a folder are unique in it.

The preset release compiles a few sources of a folder as one (CMAKE_UNITY_BUILD), the preset demo all of them, and their
anonymous namespaces are one. A name that two sources define is found here in a second, enumerators included, and a private type
with the name of one that a header defines in the same namespace, which any other source may include; what else differs then in the
preset demo, `./dev test all` finds.
"""

import pathlib
import re
import sys

# Folders of sources that a system has and others have not.
SYSTEMS = (("linux", "posix"), ("macos", "posix"), ("windows",))

# Patterns of the names that a declaration at the top of a namespace defines: a type, a function, a variable.
TYPE = re.compile(r"^(?:template\s*<.*?>\s*)?(?:class|struct|enum(?:\s+class)?|union)\s+(\w+)[^;(]*$", re.S)
PUBLIC = re.compile(r"^(?:class|struct|enum(?:\s+class)?|union)\s+(\w+)", re.M)
TOP_TYPE = re.compile(r"^(?:class|struct)\s+(\w+)[^;(){}]*\{", re.M)
INNER_TYPE = re.compile(r"^ +(?:class|struct)\s+(\w+)[^;(){}]*\{", re.M)
NAMESPACE = re.compile(r"^namespace (bantam[\w:]*) \{$", re.M)
ALIAS = re.compile(r"^using\s+(\w+)\s*=(.*)$", re.S)
PLAIN_ENUM = re.compile(r"^enum\b(?!\s+(?:class|struct)\b)")
ENUMERATOR = re.compile(r"(?:^|,)\s*(\w+)")
FUNCTION = re.compile(r"(\w+)\s*\($")
VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:\[.*\]\s*)*(?:=.*|\{)?$", re.S)


def blanked(text):
    """`text` without comments, literals and preprocessor lines."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", "0", text)
    return re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)


def declared(head):
    """The name defined by a declaration whose text up to its first brace or semicolon is `head`: of a function with its
    parameters, of an alias with its meaning; or None."""
    head = head.strip()
    alias = ALIAS.match(head)
    if alias:
        return f"{alias.group(1)} = {' '.join(alias.group(2).split())}"
    if not head or re.match(r"(?:static_assert|namespace|extern|friend|typedef|using)\b", head):
        return None
    found = TYPE.match(head)
    if found:
        return found.group(1)
    without_templates = head
    while re.search(r"<[^<>]*>", without_templates):
        without_templates = re.sub(r"<[^<>]*>", "", without_templates)
    if "(" in without_templates.split("=")[0]:
        before = without_templates[: without_templates.index("(") + 1]
        found = FUNCTION.search(before)
        name = found.group(1) if found else None
        if name is None or re.search(r"(?:operator\W*|::\s*\w+\s*)\($", before):
            return None
        return name + re.sub(r"\s+", " ", head[head.index(name + "(") + len(name) :])
    found = VARIABLE.search(without_templates)
    return found.group(1) if found and " " in without_templates else None


def declared_too(head):
    """The names that a declaration of several variables defines after its first: `b` and `c` of `int a = f(1, 2), b, c = 3`."""
    if not (VARIABLE.search(head) and "=" in head):
        return set()
    flat = head
    while re.search(r"[(\[<][^()\[\]<>]*[)\]>]", flat):
        flat = re.sub(r"[(\[<][^()\[\]<>]*[)\]>]", "", flat)
    if "(" in head.split("=")[0]:
        return set()
    return {found.group(1) for found in re.finditer(r",[\s*]*(\w+)\s*(?==|,|$)", flat)}


def private_names(text):
    """Names that the anonymous namespaces of a source define at their top."""
    text = blanked(text)
    names = set()
    enumeration = False
    for start in (found.end() for found in re.finditer(r"\bnamespace\s*\{", text)):
        depth, head = 1, start
        for at in range(start, len(text)):
            if text[at] == "{":
                if depth == 1:
                    names.add(declared(text[head:at]))
                    names |= declared_too(text[head:at])
                    enumeration = bool(PLAIN_ENUM.match(text[head:at].strip()))
                    body = at + 1
                depth += 1
            elif text[at] == "}":
                depth -= 1
                if depth == 0:
                    break
                if depth == 1:
                    head = at + 1
                    if enumeration:
                        names.update(ENUMERATOR.findall(text[body:at]))
            elif text[at] == ";" and depth == 1:
                names.add(declared(text[head:at]))
                names |= declared_too(text[head:at])
                head = at + 1
    return names - {None}


def public_types(headers):
    """Those that headers define at the top of a namespace: (namespace, name), with the header."""
    found = {}
    for header in headers:
        text = blanked(header.read_text(encoding="utf-8"))
        for namespace in NAMESPACE.findall(text):
            found.update({(namespace, name): header.name for name in PUBLIC.findall(text)})
    return found


def hidden(folder, public):
    """Lines that name private types of sources under `folder` that hide a public one."""
    lines = []
    for source in sorted(pathlib.Path(folder).rglob("*.cpp")):
        text = source.read_text(encoding="utf-8")
        for namespace in set(NAMESPACE.findall(text)):
            for name in sorted(private_names(text)):
                header = public.get((namespace, name.partition(" = ")[0]))
                if header:
                    lines.append(f"{source}: {name} is private here and public in {header}: give it another name")
    return lines


def sources_for(system, folder):
    """Those under `folder` that are compiled together on a system: of folders named like systems only its own."""
    others = set().union(*SYSTEMS) - set(system)
    for source in sorted(pathlib.Path(folder).rglob("*.cpp")):
        if not others.intersection(source.relative_to(folder).parts[:-1]):
            yield source


def clashes(folder):
    """Lines that name what two sources under `folder` define privately."""
    return list(dict.fromkeys(line for system in SYSTEMS for line in clashes_on(system, folder)))


def clashes_on(system, folder):
    """The same on one system. Functions of other parameters are overloads; an alias may be declared again as the same."""
    owners = {}
    aliases = {}
    for source in sources_for(system, folder):
        for name in private_names(source.read_text(encoding="utf-8")):
            own = str(source.relative_to(folder))
            alias, _, means = name.partition(" = ")
            if not means:
                owners.setdefault(name, []).append(own)
            elif means not in aliases.setdefault(alias, {}):
                aliases[alias][means] = own
    for alias, meanings in aliases.items():
        if alias in owners or len(meanings) > 1:
            owners.setdefault(alias, []).extend(meanings.values())
    return [
        f"{folder}: {name} is private to {' and '.join(sources)}: give one another name"
        for name, sources in sorted(owners.items())
        if len(sources) > 1
    ]


def shadowed(folder):
    """Lines that name a type inside a function or class with the name of a private type of another source under `folder`."""
    texts = {
        source: blanked(source.read_text(encoding="utf-8")) for source in sorted(pathlib.Path(folder).rglob("*.cpp"))
    }
    top = {name: source for source, text in texts.items() for name in TOP_TYPE.findall(text)}
    return [
        f"{source}: {name} hides the private type of {top[name]}: give one another name"
        for source, text in texts.items()
        for name in sorted(set(INNER_TYPE.findall(text)))
        if top.get(name, source) != source
    ]


def folders(repository):
    """Those whose sources are compiled as one: layers of the converter, parts of the runtime (its CMakeLists.txt), and tests that are
    bantam_tests(... TOGETHER)."""
    parts = (
        "runtime/session",
        "runtime/ops",
        "runtime/text",
        "runtime/text/unicode",
        "runtime/model",
        "runtime/format",
        "runtime/tasks",
        "runtime/sound",
        "runtime/c",
        "runtime/host",
        "tests/converter",
        "tests/tasks",
        "tests/text",
    )
    return [
        *sorted(path for path in (repository / "converter").iterdir() if path.is_dir()),
        *(repository / part for part in parts),
    ]


def main():
    repository = pathlib.Path(sys.argv[1])
    public = public_types([*(repository / "converter").rglob("*.h"), *(repository / "runtime").rglob("*.h")])
    found = [
        line
        for folder in folders(repository)
        for line in (*clashes(folder), *hidden(folder, public), *shadowed(folder))
    ]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

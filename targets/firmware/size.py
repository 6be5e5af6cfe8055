"""What an image takes of flash and RAM, by section and by component, from the linker's map file.

size.py NAME.map... prints a table; as a module: `measure(path)`, `report(path)`."""

import pathlib
import re
import sys

# The first that matches decides: the input section's name, or the path of its object.
COMPONENTS = [
    ("flatbuffers", re.compile(r"^\S*flatbuffers"), None),
    ("core", None, re.compile(r"/runtime/(format|model|session)/")),
    ("ops", None, re.compile(r"/runtime/ops/")),
    ("kernels", None, re.compile(r"/runtime/kernels/")),
    ("tokenizer", None, re.compile(r"/runtime/text/")),
    ("tasks", None, re.compile(r"/runtime/tasks/")),
    ("model", re.compile(r"^\.model"), None),
    ("start-up", None, re.compile(r"/(board|startup|fault|memory|mpu|ticks)\.c")),
    ("libc", None, re.compile(r"\.a\(|/crt\w*\.o")),
    ("program", None, re.compile(r".")),
]
# Of mangled names; what is in none of them is the program's own.
NAMESPACES = [
    ("N6bantam3ops", "/runtime/ops/"),
    ("N6bantam7kernels", "/runtime/kernels/"),
    ("N6bantam4text", "/runtime/text/"),
    ("N6bantam8firmware", "program"),
    ("6bantam", "/runtime/model/"),
]
NAMES = [name for name, _, _ in COMPONENTS]
FLASH = (".text", ".rodata", ".ARM.exidx", ".ARM.extab")

OUTPUT = re.compile(r"^(\.[\w.]+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)")
INPUT = re.compile(r"^ (\.[\w.$]+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$")


def component(section, path):
    for name, of_section, of_path in COMPONENTS:
        if (of_section and of_section.search(section)) or (of_path and of_path.search(path)):
            return name
    raise AssertionError(path)


def entries(path):
    """Lines of the memory map; a name that stands alone is joined with the line that follows it."""
    lines = pathlib.Path(path).read_text().split("Linker script and memory map", 1)[1].split("\n")
    held = ""
    for line in lines:
        if re.fullmatch(r" ?\.[^\s]+", line):
            held = line
            continue
        yield held + line
        held = ""


def read_owners(path):
    """{symbol: object} of what `objdump -t` said of the objects before they were linked (nm sees no local symbols there)."""
    owners = {}
    place = ""
    for line in path.read_text().splitlines() if path.exists() else []:
        if found := re.match(r"(\S+): +file format", line):
            place = found[1]
        elif found := re.match(r"[0-9a-f]{8} .* \.(?:text|rodata)\S*\t[0-9a-f]{8} (?:\.hidden )?(\S+)$", line):
            owners[found[1]] = place
    return owners


def owner(owners, section, path):
    """The object that an input section is from: link-time optimisation leaves its symbol only, with suffixes such as
    .constprop.0."""
    if ".ltrans" not in path:
        return path
    symbol = re.sub(r"^\.(text|rodata)\.(startup\.|unlikely\.)?", "", section)
    while symbol not in owners and "." in symbol:
        symbol = symbol.rpartition(".")[0]
    if symbol in owners:
        return owners[symbol]
    # Inlined in its object, but no longer when linked: its namespace tells.
    for namespace, folder in NAMESPACES:
        if namespace in symbol:
            return folder
    return path


def measure(path):
    """{"sections": {name: bytes}, "components": {name: bytes of code and constants}, "text", "rodata", "data", "bss",
    "stack", "arena", "model"}: text and rodata as the program says them, data once (it is in flash and in RAM)."""
    sections = {}
    parts = {}
    owners = read_owners(pathlib.Path(path).with_suffix(".symbols"))
    current = ""
    for line in entries(path):
        if found := OUTPUT.match(line):
            current = found[1]
            sections[current] = int(found[3], 16)
        elif current in FLASH and (found := INPUT.match(line)):
            name = component(found[1], owner(owners, found[1], found[4]))
            parts[name] = parts.get(name, 0) + int(found[3], 16)
    code = sum(sections.get(name, 0) for name in FLASH)
    parts["padding"] = code - sum(parts.values())
    result = {name: sections.get("." + name, 0) for name in ("rodata", "model", "data", "bss", "stack", "arena")}
    result["text"] = code - result["rodata"]
    return {**result, "sections": sections, "components": parts}


def memories(path):
    """{name: bytes} of the linker script's MEMORY block."""
    text = pathlib.Path(path).read_text().split("Memory Configuration", 1)[1]
    text = text.split("Linker script and memory map", 1)[0]
    return {name: int(size, 16) for name, size in re.findall(r"^(\w+) +0x[0-9a-f]+ +0x([0-9a-f]+)", text, re.M)}


def report(path):
    """The table for people: (depth, name, bytes, note)."""
    sizes = measure(path)
    memory = memories(path)
    code = sizes["text"] + sizes["rodata"]
    apart = "MODEL" in memory
    model_note = f"in a memory of its own of {memory['MODEL']}" if apart else ""
    yield 0, "flash, bytes", code + sizes["data"] + (0 if apart else sizes["model"]), f"of {memory['FLASH']}"
    yield 1, "model", sizes["model"], model_note
    yield 1, "code and constants", code, ""
    for name in [*NAMES, "padding"]:
        if sizes["components"].get(name):
            yield 2, name, sizes["components"][name], ""
    yield 1, "initial values", sizes["data"], ""
    yield 0, "RAM, bytes", sum(sizes[name] for name in ("arena", "stack", "data", "bss")), f"of {memory['RAM']}"
    for name in ("arena", "stack", "data", "bss"):
        yield 1, name, sizes[name], ""


def main():
    for path in sys.argv[1:]:
        print(path)
        for depth, name, size, note in report(path):
            print(f"{'  ' * depth + name:32}{size:9}  {note}".rstrip())


if __name__ == "__main__":
    main()

"""What an image takes of flash and RAM, by section and by component: sections from the linker's map, components from the debug
information, which knows the source of each instruction even where one function was inlined in another.

size.py NAME.map... prints a table (NAME.elf lies beside); as a module: `measure(path)`, `report(path)`."""

import collections
import pathlib
import re
import subprocess
import sys

# The first that matches the path of a source, or of an object without debug information, decides.
COMPONENTS = [
    ("flatbuffers", re.compile(r"/flatbuffers/|bantam_generated\.h$")),
    ("core", re.compile(r"/runtime/(format|model|session|include)/|/linked\.h$")),
    ("ops", re.compile(r"/runtime/ops/")),
    ("kernels", re.compile(r"/runtime/kernels/")),
    ("tokenizer", re.compile(r"/runtime/text/")),
    ("tasks", re.compile(r"/runtime/(tasks|sound)/")),
    (
        "start-up",
        re.compile(
            r"(^|/)(\w*board(_config)?|startup|fault|memory|mpu|ticks|semihosting|system|uart/[\w-]+)\.[ch](\.o\w*)?$"
        ),
    ),
    ("libc", re.compile(r"\.a\(|/crt\w*\.o|libgcc|newlib|lib1funcs|\.S$")),
    ("unnamed", re.compile(r"\.ltrans\d*\.")),  # strings, and the compiler's tables for switches
    ("program", re.compile(r".")),
]
# Within bantam; what is in none of them is the core's.
NAMESPACES = [
    ("3ops", "/runtime/ops/"),
    ("7kernels", "/runtime/kernels/"),
    ("4text", "/runtime/text/"),
    ("5tasks", "/runtime/tasks/"),
    ("5sound", "/runtime/sound/"),
    ("8firmware", "program"),
]
NAMES = [name for name, _ in COMPONENTS]
FLASH = (".vectors", ".hot", ".text", ".rodata", ".ARM.exidx", ".ARM.extab")
TOOLS = "arm-none-eabi-"

OUTPUT = re.compile(r"^(\.[\w.]+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)")
INPUT = re.compile(r"^ (\.[\w.$]+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$")


def component(path):
    return next(name for name, of_path in COMPONENTS if of_path.search(path))


def tool(name, *arguments):
    return subprocess.run([TOOLS + name, *arguments], stdout=subprocess.PIPE, check=True).stdout.decode()


def instructions(elf):
    """(begin, end, source) of what the line tables cover. A row holds until the next; one without a line ends a function."""
    path = begin = source = None
    for line in tool("objdump", "--dwarf=decodedline", elf).splitlines():
        if re.match(r"\S.*:$", line):
            path = line[:-1]
        elif found := re.match(r"\S+ +(\d+|-) +(?:0x)?([0-9a-f]+)\b", line):
            address = int(found[2], 16)
            if begin is not None:
                yield begin, address, source
            begin, source = (None, None) if found[1] == "-" else (address, path)


def constants(elf):
    """(begin, end, source) of constants whose mangled name tells: of a variable the line tables do not."""
    for line in tool("nm", "--print-size", elf).splitlines():
        if found := re.match(r"([0-9a-f]+) ([0-9a-f]+) [rRvVwW] _Z\S*?6bantam(?=[0-9])(\S+)$", line):
            begin = int(found[1], 16)
            folder = next((folder for name, folder in NAMESPACES if found[3].startswith(name)), "/runtime/model/")
            yield begin, begin + int(found[2], 16), folder


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


def measure(path):
    """{"sections": {name: bytes}, "components": {name: bytes of code and constants}, "text", "rodata", "data", "bss",
    "stack", "arena", "model"}: text and rodata as the program says them, data once (it is in flash and in RAM)."""
    sections = {}
    owners = {}  # of each byte of code, by address
    current = ""
    for line in entries(path):
        if found := OUTPUT.match(line):
            current = found[1]
            sections[current] = int(found[3], 16)
        elif current in FLASH and (found := INPUT.match(line)):
            begin, size = int(found[2], 16), int(found[3], 16)
            owners.update(dict.fromkeys(range(begin, begin + size), component(found[4])))
    elf = pathlib.Path(path).with_suffix(".elf")
    for begin, end, source in [*constants(elf), *instructions(elf)]:
        owners.update(dict.fromkeys(owners.keys() & range(begin, end), component(source)))
    parts = dict(collections.Counter(owners.values()))
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

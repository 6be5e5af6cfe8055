#!/usr/bin/env python3
"""layers.py ROOT: do the folders of runtime/ and converter/ include only what their READMEs allow, and do READMEs keep the order?

The order is the table of runtime/README.md and converter/README.md, highest folder first: a folder stands above those that it
includes. What a folder includes at most is its README's sentence "May depend on: `a`, `b` ...". converter/CMakeLists.txt lists
the same (bantam_layer), so that other includes do not compile.
"""

import pathlib
import re
import sys

SOURCES = {".h", ".cpp", ".inc", ".c"}
PUBLIC = "include"  # holds public headers, which include each other only
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
MAY = re.compile(r"May\s+depend\s+on:?\s(.*?)\.(?:\s|$)", re.DOTALL)
ROW = re.compile(r"^\| `([\w/]+)/` \|", re.MULTILINE)
LAYER = re.compile(r"bantam_layer\(([\w/]+)(?:\s+QUICK_TO_COMPILE)?(?:\s+BELOW\s+([^)]*))?\)")


class Part:
    """converter/ or runtime/: its folders in order, and what each may include."""

    def __init__(self, root, name, problems):
        self.root, self.name, self.problems = root / name, name, problems
        table = self.root / "README.md"
        text = table.read_text() if table.exists() else ""
        self.order = ROW.findall(text)  # highest first
        self.allowed, self.runtime = {}, {}
        folders = [path for path in sorted(self.root.iterdir()) if path.is_dir() and path.name != PUBLIC]
        on_disk = [path.name for path in folders if self.sources(path)]
        for folder in on_disk:
            if folder not in self.order:
                problems.append(f"{name}/README.md: the table has no `{folder}/`; add it where it stands in the order")
        for folder in self.order:
            if folder not in on_disk:
                problems.append(f"{name}/README.md: the table has `{folder}/`, which holds no sources")
        # A folder inside a folder is a layer of its own where it has a README that says what it may depend on.
        units = [str(path.parent.relative_to(self.root)) for path in sorted(self.root.glob("*/*/README.md"))]
        units = [unit for unit in units if self.sentence(unit)]
        for unit in on_disk + units:
            self.read(unit)
        self.check_order()

    @staticmethod
    def sources(folder):
        return [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES]

    def sentence(self, unit):
        path = self.root / unit / "README.md"
        found = MAY.search(path.read_text()) if path.exists() else None
        return found and found.group(1)

    def read(self, unit):
        sentence = self.sentence(unit)
        if not (self.root / unit / "README.md").exists():
            self.problems.append(
                f"{self.name}/{unit}: no README.md; say what lives there, what it may depend on, where to start"
            )
        elif not sentence:
            self.problems.append(f'{self.name}/{unit}/README.md: no sentence "May depend on: ..."')
        self.runtime[unit] = "runtime" in (sentence or "")
        self.allowed[unit] = set(re.findall(r"`([\w/]+?)/?`", sentence or ""))
        if "everything below" in (sentence or "") and unit in self.order:
            self.allowed[unit].update(self.order[self.order.index(unit) + 1 :])

    def check_order(self):
        for unit, names in self.allowed.items():
            for name in sorted(names):
                if name not in self.allowed:
                    self.problems.append(f"{self.name}/{unit}/README.md: `{name}` is not a folder of {self.name}/")
                elif self.rank(name) >= self.rank(unit):
                    self.problems.append(
                        f"{self.name}/{unit}/README.md: `{name}` does not stand below it in {self.name}/README.md"
                    )

    def rank(self, unit):
        """Higher folders have higher ranks. A folder inside another stands right below it, or right above it where its README
        allows the outer folder."""
        top = unit.split("/")[0]
        place = len(self.order) - self.order.index(top) if top in self.order else 0
        # Beside each other inside one folder: by name, so that arrows between them cannot run in a circle.
        above = top in self.allowed.get(unit, set())
        inside = (2 if above else 0, tuple(-ord(c) for c in unit)) if "/" in unit else (1,)
        return (place, *inside)

    def holds_below(self, unit, other):
        """True if `other` is a folder inside `unit` that stands below it."""
        return other.startswith(unit + "/") and unit not in self.allowed[other]

    def unit_of(self, path):
        """The folder that a path (relative to this part) belongs to; "" beside the folders."""
        parts = pathlib.PurePosixPath(path).parts
        nested = "/".join(parts[:2])
        if len(parts) > 2 and nested in self.allowed:
            return nested
        return parts[0] if len(parts) > 1 else ""


def check_includes(part, parts, problems):
    for source in part.sources(part.root):
        path = source.relative_to(part.root).as_posix()
        unit = part.unit_of(path)
        for name in INCLUDE.findall(source.read_text(errors="replace")):
            homes = [other for other in parts if (other.root / name).is_file()]
            where = f'{part.name}/{path} includes "{name}"'
            if unit == PUBLIC:
                if not name.startswith("bantam/"):
                    problems.append(f"{where}: public headers include public headers only")
                continue
            if len(homes) > 1:
                problems.append(f"{where}, which both runtime/ and converter/ have; rename one")
            if not homes or (source.parent / name).is_file():
                continue  # a public or generated header, another project's, or a file beside it
            home, other = homes[0], homes[0].unit_of(name)
            if home is not part:
                if part.name == "runtime":
                    problems.append(f"{where}: the runtime may not depend on the converter")
                elif not part.runtime.get(unit, True):
                    problems.append(f"{where}, but {unit}/README.md does not allow the runtime")
            elif other and other != unit and not part.holds_below(unit, other) and not may(part, unit, other):
                problems.append(f"{where}, but {part.name}/{unit}/README.md does not allow `{other}`")


def may(part, unit, other):
    allowed = part.allowed.get(unit, set())
    top = other.split("/")[0]
    return other in allowed or (top in allowed and top != unit.split("/")[0])


def check_cmake(part, problems):
    path = part.root / "CMakeLists.txt"
    if not path.exists():
        return
    for folder, below in LAYER.findall(path.read_text()):
        linked, allowed = set(below.split()), part.allowed.get(folder, set())
        if linked != allowed:
            problems.append(
                f"{part.name}/CMakeLists.txt: bantam_layer({folder}) has {' '.join(sorted(linked)) or 'nothing'} BELOW, "
                f"its README allows {' '.join(sorted(allowed)) or 'nothing'}"
            )


def check(root):
    problems = []
    parts = [Part(root, name, problems) for name in ("runtime", "converter")]
    for part in parts:
        check_includes(part, parts, problems)
        check_cmake(part, problems)
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

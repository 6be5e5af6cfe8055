"""The results of onnx_files.py by model and kind of file: printed, stored as JSON lines, and as a page's table."""

import json
import pathlib

from onnx_models import MODELS

# The columns of the page, with prefixes of their spellings' names.
COLUMNS = {
    "TorchScript 11, 14, 17": "torchscript",
    "dynamo 18, 23": "dynamo",
    "ONNX Runtime's optimisers": ("session", "optimizer"),
    "dynamic int8": "dynamic",
    "QDQ": "qdq",
}
BEGIN, END = "<!-- onnx_files.py -->", "<!-- end -->"


def cell(rows):
    """The page's text for the files of one model and one kind."""
    there = [row for row in rows if row["verdict"] != "no file"]
    if not there:
        return "no file"
    passed = [row for row in there if row["verdict"] == "passes"]
    said = f"{len(passed)} of {len(there)}"
    others = {row["verdict"] for row in there} - {"passes"}
    if others == {"refused"} and not passed:
        return "refused"
    for word, what in (("refused", "refused"), ("DIFFERS", "differs")):
        if word in others:
            said += f", {sum(row['verdict'] == word for row in there)} {what}"
    differing = [row["detail"].split("; ") for row in there if row["verdict"] == "DIFFERS"]
    for parts in differing:
        labels = parts[0].split("labels ")[1]
        own = [part for part in parts if part.startswith("own")]
        said += f" ({labels}{', ' + own[0] if own else ''})"
    return said


class Table:
    """Collects rows; with a file of results, also those of earlier runs."""

    def __init__(self, results):
        self.refused = self.differs = self.passed = 0
        self.results = pathlib.Path(results) if results else None
        self.rows = {}
        if self.results and self.results.exists():
            for line in self.results.read_text().splitlines():
                row = json.loads(line)
                self.rows[(row["name"], row["spelling"])] = row

    def write(self, page):
        """Writes the table of the models that are exported here between the page's marks."""
        lines = [
            "| model | " + " | ".join(COLUMNS) + " |",
            "|---" * (len(COLUMNS) + 1) + "|",
        ]
        for name in MODELS:
            of_model = [row for row in self.rows.values() if row["name"] == name]
            if of_model:
                cells = (
                    cell([row for row in of_model if row["spelling"].startswith(kind)]) for kind in COLUMNS.values()
                )
                lines.append(f"| {name} | " + " | ".join(cells) + " |")
        page = pathlib.Path(page)
        head, rest = page.read_text().split(BEGIN)
        page.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1])

    def add(self, name, spelling, verdict, detail):
        self.rows[(name, spelling)] = dict(name=name, spelling=spelling, verdict=verdict, detail=str(detail))
        if self.results:
            self.results.write_text("".join(json.dumps(row) + "\n" for row in self.rows.values()))
        self.refused += verdict == "refused"
        self.differs += verdict == "DIFFERS"
        self.passed += verdict == "passes"
        print(f"{name:22} {spelling:26} {verdict:8} {detail}", flush=True)

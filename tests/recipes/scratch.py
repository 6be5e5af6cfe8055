#!/usr/bin/env python3
"""scratch.py SOURCE_DIR WORK_DIR [CMAKE_OPTION...]: the recipes of CONTRIBUTING.md, followed to the letter.

In a copy of the tree it adds an activation, a layout of weights, an operator and a family, each in the files that its recipe names
and in no other, builds the command and the tests that go through the tables, and compares: a model of the scratch family, whose
activation is another's under a new name and whose operator is undone by itself, in the scratch layout, must answer as the model
that it was copied from, bit for bit. Prints how many files and lines each addition took. Exit status 77 where BANTAM_EXHAUSTIVE is not
set: it builds everything once more.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "style"))
import recipes  # noqa: E402

MODEL = "tests/golden/models/bert-classify"
TEXTS = ["turn on the light", "play some jazz", ""]


class Addition:
    """Edits of a copy of the tree by one recipe."""

    def __init__(self, root, recipe):
        self.root, self.recipe, self.lines = root, recipe, {}

    def count(self, path, text):
        self.lines[path] = self.lines.get(path, 0) + len(text.strip("\n").split("\n"))

    def create(self, path, text):
        assert not (self.root / path).exists(), path
        (self.root / path).write_text(text)
        self.count(path, text)

    def edit(self, path, pattern, replacement, added):
        """Replaces the one place that `pattern` finds; `added` is what is new there."""
        file = self.root / path
        text, found = re.subn(pattern, lambda m: m.expand(replacement), file.read_text(), flags=re.S)
        if found != 1:
            sys.exit(f"{self.recipe}: {path}: {found} places look like {pattern!r} instead of one")
        file.write_text(text)
        self.count(path, added)

    def enumerator(self, enum, name):
        """A value at the end of an enumeration of the schema."""
        schema = "schemas/bantam.fbs"
        body = re.search(rf"^enum {enum} : \w+ \{{(.*?)^\}}", (self.root / schema).read_text(), re.S | re.M).group(1)
        number = max(int(n) for n in re.findall(r"\w+ = (\d+)", body)) + 1
        line = f"  {name} = {number}"
        self.edit(schema, rf"(\nenum {enum} : \w+ \{{.*?)(\n\}})", rf"\1,\n{line}\2", line)

    def row(self, path, line):
        """A row at the end of a table."""
        file = self.root / path
        file.write_text(file.read_text().rstrip("\n") + "\n" + line + "\n")
        self.count(path, line)

    def undeclared(self):
        """Files that the recipe does not name."""
        sections = dict(recipes.sections((self.root / "CONTRIBUTING.md").read_text()))
        named = {path for _, path in recipes.files_of(self.root, sections[self.recipe])}
        folder = {
            str(pathlib.PurePosixPath(path).parent) for path in named if path and recipes.PLACEHOLDER.search(path)
        }
        importers = "`converter/import/`" in sections[self.recipe]
        return [
            path
            for path in self.lines
            if path not in named
            and str(pathlib.PurePosixPath(path).parent) not in folder
            and not (importers and path.startswith("converter/import/"))
        ]


def add_activation(root):
    add = Addition(root, "Add an activation")
    add.enumerator("ActivationKind", "scratch_squared")
    add.row(
        "runtime/kernels/activations.inc",
        'BANTAM_ACTIVATION(scratch_squared, ScratchSquared, relu(x) * relu(x), "scratch_squared")',
    )
    return add


def add_layout(root):
    add = Addition(root, "Add a layout of weights")
    add.enumerator("Layout", "scratch_tile")
    add.row("runtime/format/weights.inc", "BANTAM_WEIGHTS(scratch_tile, Dynamic, ScratchTiles)")
    struct = """struct ScratchTiles : DenseWeights {
  static uint64_t bytes(uint64_t n, uint64_t k) { return 16 + n * round_up(k, 4); }
  static void bind(const fb::Tensor&, kernels::LinearQ8* args) { args->w += 16; }
};
"""
    add.edit("runtime/ops/weights.h", r"\n(struct WeightRows )", rf"\n{struct}\n\1".replace("\\n", "\n", 1), struct)
    codec = """std::vector<uint8_t> encode_scratch(const int8_t* weights, size_t rows, size_t columns) {
  std::vector<uint8_t> bytes = encode_tiles(weights, rows, columns);
  bytes.insert(bytes.begin(), 16, 0x5A);
  return bytes;
}

void visit_scratch(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) { visit_tiles(tensor, data + 16, sink); }

"""
    row = '    {fb::Layout::scratch_tile, "i8 scratch", false, encode_scratch, visit_scratch},\n'
    path = "converter/format/weight_codec.cpp"
    add.edit(path, r"(constexpr WeightCodec kCodecs\[\] = \{\n.*?)(\};)", rf"{codec}\1{row}\2", codec + row)
    add.edit(
        "converter/pack/layout.cpp",
        r"(\? fb::Layout::sparse_1x4 : fb::Layout::)tile_k4n16",
        r"\1scratch_tile",
        "scratch_tile",
    )
    return add


def add_operator(root):
    add = Addition(root, "Add an operator")
    table = "/// The columns of x in reverse order.\ntable ScratchReverse { reserved:uint8; }\n"
    add.edit("schemas/bantam.fbs", r"\n(union OpAttributes \{.*?)\n\}", rf"\n{table}\n\1, ScratchReverse\n}}", table)
    path = "runtime/model/structure.cpp"
    last = re.search(r"number<fb::(\w+)>\(\) == kUnionBase", (root / path).read_text()).group(1)
    add.edit(path, rf"(using Tables = List<[^;]*fb::{last},)", r"\1 fb::ScratchReverse,", "fb::ScratchReverse,")
    add.edit(path, rf"number<fb::{last}>\(\) == kUnionBase", "number<fb::ScratchReverse>() == kUnionBase", "number")
    field = "    field(&fb::ScratchReverse::reserved),\n"  # behind those of the last operator that has some
    add.edit(path, r"\n(    // Symbol, Tensor\n)", rf"\n{field}\1", field)
    add.row("runtime/ops/ops.inc", "BANTAM_OP(ScratchReverse, ScratchReverse, dynamic, 1, 1, 2, 0, kNone)")
    add.create("runtime/ops/scratch_reverse.cpp", (HERE / "scratch_reverse.cpp").read_text())
    declared = "  int32_t scratch_reverse(const std::string& name, int32_t x);\n"
    add.edit("converter/graph/builder.h", r"\n(  int32_t slice\()", rf"\n{declared}\1", declared)
    method = """int32_t Builder::scratch_reverse(const std::string& name, int32_t x) {
  const int32_t y = activation(name, rows_symbol(x), width(x));
  set_attributes<fb::ScratchReverseT>(op(name, {x}, {y, kAbsent}));
  return y;
}

"""
    add.edit("converter/graph/builder.cpp", r"\n(int32_t Builder::slice\()", rf"\n{method}\1", method)
    call = """    if (std::string(family_.model_types.front()) == "scratch") {
      x = builder_.scratch_reverse("there", x);
      x = builder_.scratch_reverse("and_back", x);
    }
"""
    add.edit("converter/network/stack.cpp", r"\n(    out\.hidden = x;\n)", rf"\n{call}\1", call)
    return add


def add_family(root):
    add = Addition(root, "Add a family")
    source = """// BERT by another name; tests/recipes/scratch.py adds it to a copy of the tree.
#include "network/families/blocks.h"

namespace bantam::convert {

Family bert();

Family scratch() {
  Family family = bert();
  family.model_types = {"scratch"};
  return family;
}

}  // namespace bantam::convert
"""
    add.create("converter/network/families/scratch.cpp", source)
    add.row("converter/network/families/families.inc", "BANTAM_FAMILY(scratch)")
    return add


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def copy_tree(root, tree):
    """What git knows and does not ignore, as it is now; what an earlier run left alike keeps its time, so that it is not built again."""
    names = run("git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    names = [name for name in names if name and (root / name).is_file()]
    shutil.rmtree(tree, ignore_errors=True)
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, tree / name)


def model(tree, work, name, settings):
    """A copy of MODEL whose config.json says otherwise."""
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree / MODEL, folder)
    config = json.loads((folder / "config.json").read_text())
    config.update(settings)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def answers(command, source, output, texts):
    run(command, "convert", source, "-o", output, "--parity", "none")
    return run(command, "run", output, "--json", "--file", texts), run(command, "inspect", output, "--ops", "--tensors")


def main():
    root, work, options = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3:]
    if not os.environ.get("BANTAM_EXHAUSTIVE"):
        print("builds everything once more: set BANTAM_EXHAUSTIVE, as ./dev test all does")
        return 77
    work.mkdir(parents=True, exist_ok=True)
    tree, build = work / "tree", work / "build"
    copy_tree(root, tree)
    wrong = []
    for add in (add_activation(tree), add_layout(tree), add_operator(tree), add_family(tree)):
        print(
            f"{add.recipe}: {sum(add.lines.values())} lines in {len(add.lines)} files: {', '.join(sorted(add.lines))}"
        )
        if len(add.lines) > recipes.MOST[add.recipe]:
            wrong.append(f"{add.recipe}: more than {recipes.MOST[add.recipe]} files")
        wrong += [f"{add.recipe}: does not name {path}" for path in add.undeclared()]

    run("cmake", "--preset", "release", "-B", build, *options, cwd=tree)
    run("cmake", "--build", build, "--target", "bantam_command", "model_tests", "converter_tests")
    for test in (
        "model/model_tests --file=structure_test.cpp",
        "converter/converter_tests --file=weight_codec_test.cpp",
    ):
        run(*f"{build}/tests/{test}".split())

    texts = work / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n")
    plain = model(tree, work, "plain", {"hidden_act": "relu2"})
    scratch = model(tree, work, "scratch", {"hidden_act": "scratch_squared", "model_type": "scratch"})
    expected, _ = answers(root / "build/bantam", plain, work / "plain.bantam", texts)
    actual, described = answers(build / "bantam", scratch, work / "scratch.bantam", texts)
    if actual.replace("scratch.bantam", "plain.bantam") != expected:
        wrong.append(f"answers differ:\n{expected}{actual}")
    for word in ("scratch_tile", "scratch_squared", "ScratchReverse"):
        if word not in described:
            wrong.append(f"bantam inspect knows nothing of {word}")
    print("\n".join(wrong) or "a model of all four answers as the one that it was made from")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

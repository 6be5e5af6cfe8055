"""The additions of scratch.py to a copy of the tree: an operator, a mask, a source format and others, a function each.

Each function edits the copy as its recipe in CONTRIBUTING.md says. Git counts the files that it touched, so no edit is
left out.
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "style"))
import recipes  # noqa: E402


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


class Tree:
    """A copy of the tree in a git repository of its own."""

    def __init__(self, source, root):
        """Copies what git knows and does not ignore, as it is now. Files keep their times, so that builds go on."""
        self.root = root
        names = run("git", "-C", source, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
        shutil.rmtree(root, ignore_errors=True)
        for name in names:
            if name and (source / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, root / name)
        self.git("init", "-q")
        self.commit("as it is")

    def git(self, *arguments):
        settings = ("-c", "user.name=recipes", "-c", "user.email=recipes@localhost", "-c", "core.autocrlf=false")
        return run("git", "-C", self.root, *settings, *arguments)

    def commit(self, subject):
        """{path: lines added and removed} of what changed since the last commit; what is ignored counts, too."""
        self.git("add", "-A", "-f")
        table = self.git("diff", "--cached", "--numstat", "--no-renames", "-z")
        self.git("commit", "-q", "--no-verify", "-m", subject)
        rows = (row.split("\t") for row in table.split("\0") if row)
        return {path: sum(int(n) for n in counts if n != "-") for *counts, path in rows}  # "-": a binary file

    def has(self, path):
        return (self.root / path).exists()

    def read(self, path):
        return (self.root / path).read_text()

    def create(self, path, text):
        assert not self.has(path), path
        (self.root / path).write_text(text)

    def edit(self, path, pattern, replacement):
        """Replaces the one place that `pattern` finds."""
        text, found = re.subn(pattern, lambda m: m.expand(replacement), self.read(path), flags=re.S)
        if found != 1:
            sys.exit(f"{path}: {found} places look like {pattern!r} instead of one")
        (self.root / path).write_text(text)

    def before(self, path, line, text):
        """Puts `text` in front of the one line that begins with `line`."""
        old = self.read(path)
        if len(re.findall(rf"^{re.escape(line)}", old, re.M)) != 1:
            sys.exit(f"{path}: not one line begins with {line!r}")
        at = re.search(rf"^{re.escape(line)}", old, re.M).start()
        (self.root / path).write_text(old[:at] + text + old[at:])

    def enumerator(self, enum, name):
        """A value at the end of an enumeration of the schema."""
        schema = "schemas/bantam.fbs"
        body = re.search(rf"^enum {enum} : \w+ \{{(.*?)^\}}", self.read(schema), re.S | re.M).group(1)
        number = max(int(n) for n in re.findall(r"\w+ = (\d+)", body)) + 1
        self.edit(schema, rf"(\nenum {enum} : \w+ \{{.*?)(\n\}})", rf"\1,\n  {name} = {number}\2")

    def row(self, path, line):
        """A row at the end of a table."""
        (self.root / path).write_text(self.read(path).rstrip("\n") + "\n" + line + "\n")


def add_activation(tree):
    tree.enumerator("ActivationKind", "scratch_squared")
    tree.row(
        "runtime/kernels/activations.inc",
        'BANTAM_ACTIVATION(scratch_squared, ScratchSquared, relu(x) * relu(x), "scratch_squared")',
    )


def add_layout(tree):
    tree.enumerator("Layout", "scratch_tile")
    tree.row("runtime/format/weights.inc", "BANTAM_WEIGHTS(scratch_tile, Dynamic, ScratchTiles)")
    struct = """struct ScratchTiles : DenseWeights {
  static uint64_t bytes(uint64_t n, uint64_t k) { return 16 + n * round_up(k, 4); }
  static void bind(const fb::Tensor&, kernels::LinearQ8* args) { args->w += 16; }
};

"""
    tree.before("runtime/ops/weights.h", "struct WeightRows ", struct)
    codec = """std::vector<uint8_t> encode_scratch(const int8_t* weights, size_t rows, size_t columns) {
  std::vector<uint8_t> bytes = encode_tiles(weights, rows, columns);
  bytes.insert(bytes.begin(), 16, 0x5A);
  return bytes;
}

void visit_scratch(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) { visit_tiles(tensor, data + 16,
sink); }

"""
    row = '    {fb::Layout::scratch_tile, "i8 scratch", false, encode_scratch, visit_scratch},\n'
    path = "converter/format/weight_codec.cpp"
    tree.edit(path, r"(constexpr WeightCodec kCodecs\[\] = \{\n.*?)(\};)", rf"{codec}\1{row}\2")
    tree.edit("converter/pack/layout.cpp", r"(\? fb::Layout::sparse_1x4 : fb::Layout::)tile_k4n16", r"\1scratch_tile")
    tree.before(
        "docs/format.md",
        "| `bitmask_k4n16` |",
        "| `scratch_tile` | i8 | 16 + ⌈N⌉₁₆ · ⌈K⌉₄ | 16 bytes, then `tile_k4n16` |\n",
    )


# The columns of ScratchReverse's row in runtime/ops/ops.inc, by the names that the comment there gives them.
OPERATOR = {
    "name": "ScratchReverse",
    "kind": "ScratchReverse",
    "numerics": "dynamic",
    "inputs": "2",
    "required": "2",
    "outputs": "2",
    "whole": "0",
    "macs": "kNone",
    "matrices": "0",
    "kernels": "kNone",
    "contexts": "kKeeps",
    "source": "more/scratch_reverse",
}


def operator_row(tree):
    columns = re.search(r"^// BANTAM_OP\(([\w, ]+)\)$", tree.read("runtime/ops/ops.inc"), re.M).group(1).split(", ")
    unknown = [column for column in columns if column not in OPERATOR]
    if unknown:
        sys.exit(f"runtime/ops/ops.inc: tests/recipes/additions.py knows no column {', '.join(unknown)}")
    return f"BANTAM_OP({', '.join(OPERATOR[column] for column in columns)})"


def add_operator_to_structure(tree):
    """Only where the verifier's table of the schema is written by hand."""
    path = "runtime/model/structure.cpp"
    if "using Tables" not in tree.read(path):
        return
    last = re.search(r"number<fb::(\w+)>\(\) == kUnionBase", tree.read(path)).group(1)
    tree.edit(path, rf"(using Tables =\s+List<[^;]*fb::{last},)", r"\1 fb::ScratchReverse,")
    tree.edit(path, rf"number<fb::{last}>\(\) == kUnionBase", "number<fb::ScratchReverse>() == kUnionBase")
    tree.before(path, "    // Symbol, Tensor", "    field(&fb::ScratchReverse::reserved),\n")


def add_operator(tree):
    table = "/// The columns of x in reverse order, times f32 [columns].\ntable ScratchReverse { reserved:uint8; }\n"
    tree.edit("schemas/bantam.fbs", r"\n(union OpAttributes \{.*?)\n\}", rf"\n{table}\n\1, ScratchReverse\n}}")
    add_operator_to_structure(tree)
    tree.row("runtime/ops/ops.inc", operator_row(tree))
    tree.create("runtime/ops/more/scratch_reverse.cpp", (HERE / "scratch_reverse.cpp").read_text())
    declared = "  int32_t scratch_reverse(const std::string& name, int32_t x, float factor);\n"
    tree.before("converter/graph/builder.h", "  int32_t slice(", declared)
    method = """int32_t Builder::scratch_reverse(const std::string& name, int32_t x, float factor) {
  Values factors;
  factors.values.assign(width(x), factor);
  const int32_t constant = vector(name + ".factors", std::move(factors));
  const int32_t y = activation(name, rows_symbol(x), width(x));
  set_attributes<fb::ScratchReverseT>(op(name, {x, constant}, {y, kAbsent}));
  return y;
}

"""
    tree.before("converter/graph/builder.cpp", "int32_t Builder::slice(", method)
    call = """    if (std::string(family_.model_types.front()) == "scratch") {
      x = builder_.scratch_reverse("there", x, 2);
      x = builder_.scratch_reverse("and_back", x, 0.5F);
    }
"""
    tree.before("converter/network/stack.cpp", "    out.hidden = x;", call)
    tree.before("docs/format.md", "| `Attention` |", "| `ScratchReverse` | x, factors | rows f32, rows i8 | |\n")


def add_mask(tree):
    """A mask that hides nothing, as `none` does; the scratch family asks for it."""
    tree.enumerator("MaskKind", "scratch_all")
    tree.edit(
        "runtime/links.inc",
        r"(.*\nBANTAM_LINK_MASK\(\w+, \w+, \w+\)[^\n]*\n)",
        r"\1BANTAM_LINK_MASK(scratch_all, nothing, None)\n",
    )


FAMILIES = "converter/network/families"


def add_family(tree):
    tree.create(
        f"{FAMILIES}/scratch.cpp",
        """// BERT by another name and with another mask; tests/recipes/scratch.py adds it to a copy of the tree.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

Family bert();

Family scratch() {
  Family family = bert();
  family.model_types = {"scratch"};
  family.settings.read_mask = [](const Fields&, EncoderConfig& out) { out.mask = fb::MaskKind::scratch_all; };
  return family;
}

}  // namespace bantam::convert
""",
    )
    tree.row(f"{FAMILIES}/families.inc", "BANTAM_FAMILY(scratch)")
    tree.edit("docs/models.md", r"(\| encoders of texts \| `bert`)", r"\1, `scratch`")


def add_family_of_a_new_kind(tree):
    """Words' vectors, and layers that no other family has: the columns of each row turned and turned back."""
    tree.create(
        f"{FAMILIES}/own/scratch_turned.cpp",
        """// Words' vectors, turned and turned back; tests/recipes/scratch.py adds it to a copy of the tree.
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

void add_turned_layers(const LayerSite& site) {
  const int32_t turned = site.builder.scratch_reverse("turned", site.encoder->hidden, 2);
  site.encoder->hidden = site.builder.scratch_reverse("turned_back", turned, 0.5F);
}

}  // namespace

Family scratch_turned() {
  Family family = above_words("scratch_turned", "ScratchTurned");
  family.own = {add_turned_layers, "they only turn rows"};
  family.unused = {{"lstm.", "rows are only turned"}};
  return family;
}

}  // namespace bantam::convert
""",
    )
    tree.row(f"{FAMILIES}/families.inc", "BANTAM_FAMILY(scratch_turned)")
    tree.edit("docs/models.md", r"(\| encoders of texts \| `bert`)", r"\1, `scratch_turned`")


def add_task(tree):
    """Numbers for texts, as `regress` has them; the scratch family has a head for it."""
    tree.enumerator("TaskKind", "scratch_rate")
    number = re.search(r"scratch_rate = (\d+)", tree.read("schemas/bantam.fbs")).group(1)
    tree.edit(
        "runtime/include/bantam/model.h",
        r"(enum class TaskKind : uint8_t \{.*?)(\n\};)",
        rf"\1\n  kScratchRate = {number},\2",
    )
    tree.edit(
        "runtime/include/bantam/bantam.h",
        r"(typedef enum bantam_task \{.*?)(\n\} bantam_task)",
        rf"\1,\n  BANTAM_TASK_SCRATCH_RATE = {number}\2",
    )
    tree.row("runtime/model/tasks.inc", "BANTAM_TASK(scratch_rate, kLabelsPart, kUnscored)")
    tree.edit(
        "converter/network/heads.cpp",
        r"(constexpr Builds kBuilds\[\] = \{.*?)(\n\};)",
        r"\1\n    {fb::TaskKind::scratch_rate, &HeadImporter::sequence},\2",
    )
    head = """  Head rates = *family.head(fb::TaskKind::regress);
  rates.task = fb::TaskKind::scratch_rate;
  rates.architecture = "ForScratchRating";
  family.heads.push_back(rates);
"""
    tree.before(f"{FAMILIES}/scratch.cpp", "  return family;", head)


def add_command(tree):
    tree.create(
        "converter/cli/scratch.cpp",
        """// bantam scratch; tests/recipes/scratch.py adds it to a copy of the tree.
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"

namespace bantam::cli {

void add_scratch(Program& program) {
  Command& command = program.add_command("scratch", "Say that a command was added", kAboutGroup);
  command.footer("Examples:\\n  bantam scratch");
  command.action([] { out() << "scratched\\n"; });
}

}  // namespace bantam::cli
""",
    )
    tree.before("converter/cli/commands.h", "void add_documents(", "void add_scratch(Program& program);  // scratch\n")
    tree.before("converter/cli/main.cpp", "    add_documents(program);", "    add_scratch(program);\n")


FORMATS = "converter/import/formats.inc"


def add_source_format(tree):
    """A file NAME.scratch: JSON with settings, and the folder beside it where weights and tokenizer lie."""
    tree.create("converter/source/scratch_pointer.cpp", (HERE / "scratch_pointer.cpp").read_text())
    row = 'BANTAM_FORMAT(scratch_pointer, "a scratch file", kNoOptions)\n'
    tree.before(FORMATS, "BANTAM_FORMAT(hugging_face,", row)
    tree.row("docs/converter.md", "\nA `.scratch` file names the folder of its weights.")


# (recipe, function) in the order in which they are made. Where a tree keeps no table of formats, none can be added.
ADDITIONS = (
    ("Add an activation", add_activation),
    ("Add a layout of weights", add_layout),
    ("Add an operator", add_operator),
    ("Add a mask of attention", add_mask),
    ("Add a family", add_family),
    ("Add a family of a new kind", add_family_of_a_new_kind),
    ("Add a task", add_task),
    ("Add a source format", add_source_format),
    ("Add a command", add_command),
)


def parts_of(touched):
    """{"product", "docs", "tests": paths}."""
    parts = {"product": [], "docs": [], "tests": []}
    for path in sorted(touched):
        parts[recipes.part_of(path)].append(path)
    return parts


def undeclared(tree, recipe, touched):
    """Files that the recipe does not name; nothing where CONTRIBUTING.md has no such recipe."""
    body = dict(recipes.sections(tree.read("CONTRIBUTING.md"))).get(recipe)
    return [] if body is None else [path for path in touched if not recipes.names(tree.root, body, path)]


def add_all(tree):
    """Makes all additions, prints what each touched; what is wrong with that."""
    wrong = []
    for recipe, add in ADDITIONS:
        if add is add_source_format and not tree.has(FORMATS):
            print(f"{recipe}: left out, there is no {FORMATS}")
            continue
        add(tree)
        touched = tree.commit(recipe)
        parts = parts_of(touched)
        count = len(parts["product"])
        print(f"{recipe}: {count} files of at most {recipes.MOST[recipe]}, {sum(touched.values())} lines")
        for part, paths in parts.items():
            print(f"  {part}: {', '.join(paths) or 'none'}")
        if count > recipes.MOST[recipe]:
            wrong.append(f"{recipe}: {count} files, at most {recipes.MOST[recipe]} are promised")
        wrong += [f"{recipe}: CONTRIBUTING.md does not name {path}" for path in undeclared(tree, recipe, touched)]
    return wrong

"""Writes the figures of one kind of core: report.py RESULTS_DIRECTORY docs/benchmarks

RESULTS_DIRECTORY holds what ./dev bench leaves in build/bench: *_bench.json of the Google Benchmark suites,
commands.json, peers*.json, encoders.json, images.json, long.json. Each kind of core has a page of its own (intel-xeon-amx.md), so that none overwrites another's.
It has a part for the suites and commands, one for the peers, one each for other encoders and for images (peers_encoders.py), one for long texts (peers_long.py); a part whose results are
not there stays as it is.
The README.md of that folder has a part for each kind, with single int8 requests.
"""

import json
import pathlib
import re
import sys

HEAD = """# Benchmarks: {}
Made by `./dev bench` (the first part) and `./dev bench --peers` (both); do not edit the parts by hand. Absolute times are
this machine's; ratios and fractions carry over to others of its kind.
"""
ISAS = ("amx", "avx512vnni", "avx512vnni256", "avxvnni", "avx2")
PEERS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "ctranslate2": "CTranslate2"}
RESULTS = ("commands.json", "peers.json", "encoders.json", "images.json", "long.json")
SINGLES = [str(length) for length in (8, 16, 32, 64, 128, 256)]
BATCHES = ["8x32", "32x32", "mix"]
BESIDE_TOKENS = [str(length) for length in (1, 2, 4, 8, 16, 32, 64, 128)]
ABOUT_PEERS = """\
All take turns in one run (`./dev bench --peers`, which runs `tests/bench/peers.py`); a figure is the least over rounds of a
round's median. Ratios below 1 mean that bantam is faster. int4: weights of 4 bits with a factor for 32 of them, by the peers' own tools;
sparse: bantam's file with 80 % of its blocks of weights 0 beside the peers' int8, which knows no faster way for zeros here. int8 is dynamic, per channel, for ONNX Runtime (the fastest of a
plain graph, one with fused operators and a given one), NNCF's static int8 for OpenVINO, and CTranslate2's own, dynamic as well, which has no
classification head. bantam's int8 is dynamic, too: activations take their scales while running. Its static int8 (`--activations static
--plan fast`) has scales that calibration fixed, as OpenVINO's file has, and ONNX Runtime's and CTranslate2's have not.
"""
ABOUT_LOADING = """\
In a fresh process: milliseconds from the file to a session; resident memory beyond that before loading, so that libraries
and Python are not counted.
"""


def table(head, rows):
    """A Markdown table; empty without rows."""
    if not rows:
        return []
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def kind(machine):
    """The features that distinguish kinds of core, in words: maker and name, AMD's family (virtual machines call a Zen 4 and a
    Zen 5 core the same), whether it has matrix units, which peers use, and whether vectors end at AVX2 (Zen 3 is of Zen 4's family)."""
    name = re.sub(r"\((R|TM)\)|CPU|Processor|@.*|[0-9]+-Core", "", machine["processor"])
    family = f" family {machine['family']}" if machine.get("family") else ""
    vectors = " with AVX2" if machine.get("avx2_alone") else " with AMX" if machine["amx"] else ""
    return " ".join(name.split()) + family + vectors


def slug(words):
    """Words as a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def describe(machine):
    virtual = ", a virtual machine" if machine["virtual"] else ""
    amx = "with" if machine["amx"] else "without"
    family = f" (family {machine['family']})" if machine.get("family") else ""
    return (
        f"{machine['processor']}{family}, {machine['cores']} cores ({machine['caches']}){virtual}, {amx} AMX; "
        f"instruction set {machine['isa']}; {machine['compiler']}; {machine['date']}."
    )


def span(values, digits=2):
    """The range of some fractions."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


# ---- suites ----------------------------------------------------------------------------------------------------


class Suite:
    """One Google Benchmark result file: counters by the parts of the name."""

    def __init__(self, path):
        self.entries = []
        if path.exists():
            for entry in json.loads(path.read_text())["benchmarks"]:
                parts = entry["name"].split("/")
                keys = dict(part.split(":", 1) for part in parts if ":" in part)
                self.entries.append(([part for part in parts if ":" not in part], keys, entry))

    def find(self, *names, **keys):
        """(keys, entry) of the benchmarks whose name begins so and has these keys."""
        for parts, found, entry in self.entries:
            if parts[: len(names)] == list(names) and all(found.get(k) == str(v) for k, v in keys.items()):
                yield found, entry


def kernels_part(suite):
    lines, peaks, dense, rows, floats = [], [], [], [], []
    for isa in ISAS:
        for _, entry in suite.find("peak", isa):
            loads = [f"{entry[f'GB/s_from_{size}K']:.0f}" for size in (16, 512, 8192)]
            peaks.append([isa, f"{entry['int8_GMAC/s']:.0f}", f"{entry['f32_GMAC/s']:.1f}", *loads])
        found = list(suite.find("linear_q8_shape", isa))
        for model, wide in (("MiniLM", ("384", "1152", "1536")), ("BERT-base", ("768", "2304", "3072"))):
            cells = []
            for group in ((1,), (2,), (4,), (7,), (8,), (13,), (16, 32), (64, 128)):
                values = [e["of_peak"] for k, e in found if int(k["m"]) in group and k["k"] in wide and k["n"] in wide]
                cells.append(span(values) if values else "")
            if any(cells):
                dense.append([isa, model, *cells])
        for keys, entry in suite.find("linear_q8_row", isa):
            if "of_load" in entry:
                shape = f"{keys['matrices']} x {keys['k']} x {keys['n']}"
                rows.append([isa, shape, f"{entry['MB']:.2f}", f"{entry['GB/s']:.0f}", f"{entry['of_load']:.2f}"])
        found = list(suite.find("linear_f32_shape", isa))
        cells = []
        for group in ((1,), (2,), (4,), (7,), (8,), (13,), (16, 32), (64, 128)):
            values = [e["of_peak"] for k, e in found if int(k["m"]) in group]
            cells.append(span(values) if values else "")
        if any(cells):
            floats.append([isa, *cells])
    if not peaks:
        return []
    lines += ["### What a core can do", ""]
    lines += table(["ISA", "int8 GMAC/s", "f32 GMAC/s", "loads GB/s of 16 KB", "of 512 KB", "of 8 MB"], peaks)
    widths = ["1", "2", "4", "7", "8", "13", "16-32", "64-128"]
    lines += ["### int8 linear: fraction of the dot-product peak, by rows (M)", ""]
    lines += table(["ISA", "shapes", *widths], dense)
    lines += ["### int8 linear, one row: fraction of the load rate of the cache that holds the weights", ""]
    lines += table(["ISA", "matrices", "MB", "GB/s", "of the load rate"], rows)
    lines += ["### f32 linear, MiniLM's shapes: fraction of the FMA peak, by rows (M)", ""]
    lines += table(["ISA", *widths], floats)
    return lines


def models_part(models, operators):
    lines, runs, second, starts = [], [], [], []
    lengths = ("8", "16", "32", "64", "128", "256")
    names = sorted({parts[1] for parts, _, _ in models.entries if parts[0] == "run"})
    for name in names:
        for isa in ISAS:
            for threads in ("1", "2"):
                cells = []
                for length in lengths:
                    found = [e for _, e in models.find("run", name, isa, threads=threads, tokens=length)]
                    cells.append(f"{found[0]['best_ms']:.3f} ({found[0]['of_limit']:.2f})" if found else "")
                if any(cells):
                    runs.append([name, isa, threads, *cells])
        gains = [(k, e) for k, e in models.find("second_thread", name) if "gain" in e]
        for keys, entry in gains:
            figures = [f"{entry[key]:.2f}" for key in ("gain", "probe_gain", "of_probe")]
            busy = " (the other core was busy)" if entry["probe_gain"] < 1.5 else ""
            second.append([name, keys["tokens"] + busy, *figures])
        opened = [e["best_us"] for _, e in models.find("open", name)]
        created = [e["best_us"] for _, e in models.find("create", name)]
        if opened and created:
            starts.append([name, f"{opened[0]:.0f}", f"{created[0]:.0f}"])
    lines += table(["model", "ISA", "threads", *(f"{length} tokens" for length in lengths)], runs)
    if lines:
        note = "Best milliseconds of a forward pass, batch 1 (in brackets: fraction of the dot-product limit, MACs / peak)."
        lines = ["### Whole models", "", note, ""] + lines
    for form in ("int4", "static"):
        rows = []
        for isa in ISAS:
            found = {k["tokens"]: e["ratio"] for k, e in models.find(f"{form}_over_int8", f"minilm-{form}", isa)}
            if found:
                rows.append([isa, *(f"{found[length]:.2f}" if length in found else "" for length in BESIDE_TOKENS)])
        if rows:
            lines += [f"### minilm's {form} file over its int8 file", ""]
            lines += ["Time of whole passes on one thread, in turn.", ""]
            lines += table(["ISA", *(f"{length} tokens" for length in BESIDE_TOKENS)], rows)
    if second:
        lines += ["### A second thread", ""]
        lines += ["Gain of two threads over one; the probe is a loop of dot products alone.", ""]
        lines += table(["model", "tokens", "gain", "the probe's gain", "share of the probe's"], second)
    if starts:
        lines += ["### Opening", ""]
        lines += table(["model", "Model::open, us", "Session::create for 128 tokens, us"], starts)
    rows = []
    for parts, keys, entry in operators.entries:
        if keys.get("tokens") == "64" and parts[0].endswith(("int8", "static")):
            peak = f"{entry['of_peak']:.2f}" if "of_peak" in entry else ""
            rows.append([parts[0], parts[1], f"{entry['best_us']:.1f}", peak])
    if rows:
        lines += ["### Operators, 64 tokens, one thread", ""]
        lines += table(["model", "operators", "us in all", "fraction of peak"], rows)
    return lines


def text_part(tokenizer, commands):
    lines = []
    rows = [
        [" ".join(parts), f"{entry['bytes_per_second'] * 1e-6:.0f}"]
        for parts, _, entry in tokenizer.entries
        if "bytes_per_second" in entry
    ]
    if rows:
        lines += ["### Tokenizer", ""] + table(["text", "MB/s"], rows)
    if not commands:
        return lines
    rows = []
    for model, texts in commands["texts"].items():
        for text in texts:
            parts = [f"{text[key]:.1f}" for key in ("tokenize_us", "forward_us", "task_us")]
            rows.append([model, text["tokens"], f"{text['min_us']:.1f}", f"{text['p50_us']:.1f}", *parts])
    head = ["model", "tokens", "min us", "median us", "tokenizer", "forward pass", "task head"]
    lines += ["### From text to intent and slots, 12 words", ""] + table(head, rows)
    rows = [[name, f"{t['min_ms']:.1f}", f"{t['p50_ms']:.1f}"] for name, t in commands["processes"].items()]
    lines += ["### Whole processes", ""] + table(["`bantam`", "min ms", "median ms"], rows)
    return lines


def suites_part(results):
    suites = {name: Suite(results / f"{name}_bench.json") for name in ("kernels", "operators", "models", "tokenizer")}
    path = results / "commands.json"
    commands = json.loads(path.read_text()) if path.exists() else None
    if not commands:
        return None
    lines = ["## bantam alone", "", describe(commands["machine"]), f"minilm is {commands['model']}.", ""]
    lines += [
        "Figures are the best of many short runs. Commands: `./dev bench`, which runs `build/tests/bench/*_bench` and"
    ]
    lines += ["`tests/bench/commands.py`.", ""]
    lines += kernels_part(suites["kernels"]) + models_part(suites["models"], suites["operators"])
    return lines + text_part(suites["tokenizer"], commands)


# ---- peers -----------------------------------------------------------------------------------------------------


def fastest(times, system, kind):
    """Milliseconds of a system's fastest form of the model."""
    found = [ms for name, ms in times.items() if name.split("/")[:2] == [system, kind]]
    return min(found) if found else None


# The form of a peer's model that stands beside bantam's.
BESIDE = {"int8": "int8", "static": "int8", "int4": "int4", "sparse": "int8", "static-sparse": "int8", "f32": "f32"}
# Names of bantam's forms for which the key does not suffice.
NAMES = {"static": "static int8", "static-sparse": "static sparse"}


def ratios(results, shapes, threads, ours, theirs, kind):
    """Time of one system over another's, as cells of a row; empty where either is not measured."""
    cells = []
    for shape in shapes:
        times = results["times"].get(f"{shape}/{threads}", {})
        a, b = fastest(times, ours, kind), fastest(times, theirs, BESIDE[kind])
        cells.append(f"{a / b:.2f}" if a and b else "")
    return cells


def ratio_table(results, shapes, threads, heads):
    rows = []
    for kind in BESIDE:
        times = [fastest(results["times"].get(f"{shape}/{threads}", {}), "bantam", kind) for shape in shapes]
        rows.append([f"bantam {NAMES.get(kind, kind)}, ms", *(f"{ms:.3f}" if ms else "" for ms in times)])
        for peer, words in PEERS.items():
            beside = words if kind == BESIDE[kind] else f"{words} {BESIDE[kind]}"
            words = f"{kind.replace('-', ' ')}: bantam / {beside}"
            rows.append([words, *ratios(results, shapes, threads, "bantam", peer, kind)])
    cells = ratios(results, shapes, threads, "bantam-xnnpack", "onnxruntime", "f32")
    rows.append(["f32: bantam with `--backend xnnpack` / ONNX Runtime", *cells])
    return table([f"{threads} thread{'s' if threads != 1 else ''}", *heads], [row for row in rows if any(row[1:])])


def loading_table(loading):
    rows = []
    for name, entry in sorted(loading.items()):
        words = name.replace("/", " ").replace("bantam-xnnpack", "bantam with XNNPACK,")
        system, _, kind = name.partition("/")
        words = f"{system} {NAMES[kind]}" if kind in NAMES else words
        for peer, full in PEERS.items():
            words = words.replace(peer + " ", full + " ")
        memory = entry["memory_bytes"]
        rows.append([words, f"{entry['load_ms']:.1f}", f"{memory / 1e6:.1f}" if memory is not None else ""])
    return table(["system", "load ms", "memory added, MB"], rows)


def peers_part(results):
    path = results / "peers.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    versions = ", ".join(f"{PEERS.get(name, name.upper())} {version}" for name, version in found["versions"].items())
    lines = ["## Beside its peers", "", describe(found["machine"]), ""]
    lines += [f"The model is {found['model']}; speed does not depend on the weights' values. {versions}."]
    lines += ABOUT_PEERS.split("\n")
    lines += ["### Single requests", ""]
    for threads in (1, 2):
        lines += ratio_table(found, SINGLES, threads, [f"{length} tokens" for length in SINGLES])
    lines += ["### Batches", ""]
    lines += ["mix: 16 texts of 7 to 128 tokens, padded to 128 for the peers that need it, never for bantam.", ""]
    for threads in (1, 2):
        lines += ratio_table(found, BATCHES, threads, BATCHES)
    if found["loading"]:
        lines += ["### Loading, and memory after running 128 tokens", ""]
        lines += ABOUT_LOADING.split("\n")
        lines += loading_table(found["loading"])
    if found["left_out"]:
        lines += ["### Left out", ""]
        lines += [f"- {name}: {why}" for name, why in sorted(found["left_out"].items())] + [""]
    return lines


def shape_part(results):
    """Another shape than MiniLM's by the same peers."""
    path = results / "peers-bert-base.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    lengths = sorted({shape.split("/")[0] for shape in found["times"]}, key=int)
    lines = ["## BERT-base beside peers", "", describe(found["machine"]), ""]
    lines += [f"As above, but {found['model']}, whose weights lie beyond the caches of most cores.", ""]
    return lines + ratio_table(found, lengths, 1, [f"{length} tokens" for length in lengths])


def texts_part(results):
    """Texts a second, tokenizers included."""
    path = results / "peers-texts.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    lines = ["## Texts a second beside peers", "", describe(found["machine"]), ""]
    lines += [
        "From text to label by MiniLM-L6 int8 on one thread (`tests/bench/peers_texts.py`): peers in their best batches, padded and sorted by",
        f"length, behind Hugging Face's tokenizers {found['versions']['tokenizers']}; bantam is the command `run --file`, which packs texts itself. Its int8",
        "file is dynamic, as ONNX Runtime's and CTranslate2's are; its static one has fixed scales, as OpenVINO's has.",
        "",
    ]
    rows, speeds = [], []
    for what, rates in found["texts"].items():
        best = {}
        for name, rate in rates.items():
            system, _, size = name.partition("@")
            peer = system.split("/")[0]
            if peer in PEERS and rate > best.get(peer, (0, ""))[0]:
                best[peer] = (rate, size)
        cells = [f"{best[peer][0]:.0f} ({best[peer][1]})" if peer in best else "" for peer in PEERS]
        fastest_peer = max(rate for rate, _ in best.values())
        own = [rates.get(name) for name in ("bantam", "bantam/static")]
        tokens = found["tokens"][what]
        words = f"{what}: {tokens['texts']} of {tokens['mean']:.0f} tokens"
        own_cells = [f"{rate:.0f}" if rate else "" for rate in own]
        rows.append([words, *own_cells, *cells, *(f"{rate / fastest_peer:.2f}" if rate else "" for rate in own)])
        speed = found["tokenizer_mb_s"][what]
        ratio = speed["bantam"] / speed["tokenizers"]
        speeds.append([what, f"{speed['bantam']:.0f}", f"{speed['tokenizers']:.1f}", f"{ratio:.1f}"])
    heads = [f"{words} (texts a batch)" for words in PEERS.values()]
    times = ["bantam: times the fastest peer", "static: times the fastest peer"]
    lines += table(["texts a second", "bantam", "bantam static", *heads, *times], rows)
    return lines + table(["text to ids, MB/s", "bantam", "tokenizers", "times"], speeds)


def encoders(found):
    """Lines of what peers_encoders.py found: milliseconds, and bantam's time as a share of the fastest peer's."""
    peers = ("onnxruntime", "openvino")
    rows = []
    for shape, times in found["times"].items():
        others = [times[peer] for peer in peers if peer in times]
        share = f"{times['bantam'] / min(others):.2f}" if others else ""
        cells = [f"{times[system]:.2f}" if system in times else "" for system in ("bantam", *peers)]
        rows.append([*shape.split("/"), *cells, share])
    lines = table(["int8, ms", "tokens", "bantam", *(PEERS[peer] for peer in peers), "of the fastest"], rows)
    local = {int(tokens): time for tokens, time in found.get("local_us_a_token", {}).items()}
    if local:
        of_lengths = ", ".join(f"of {tokens} tokens {time:.1f} us" for tokens, time in local.items())
        share = local[max(local)] / local[min(local)]
        lines += [f"ModernBERT's layers with a window, a token of texts {of_lengths}: {share:.2f}.", ""]
    return lines + [f"Left out: {line}" for line in found["left_out"]]


def encoders_part(results):
    return of_encoders(results / "encoders.json", "Other encoders beside peers", "")


def images_part(results):
    """The results that peers_encoders.py writes there with --only and --processor-time."""
    how = " Milliseconds are the processor's, medians of rounds, so that neighbours hardly disturb them; images have 224 by 224 pixels, answers are labels or vectors."
    return of_encoders(results / "images.json", "Images beside peers", how)


def of_encoders(path, title, how):
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    words = (
        "One thread, by `python3 tests/bench/peers_encoders.py`: shapes of the published models with random weights."
    )
    return [f"## {title}", "", describe(found["machine"]), "", words + how, "", *encoders(found)]


def long_texts(found):
    """Lines of what peers_long.py found: milliseconds, and bantam's time as a share of each peer's."""
    peers = ("pytorch", "onnxruntime")
    rows = []
    for shape, times in found["times"].items():
        cells = [f"{times[system]:.0f}" if system in times else "" for system in ("bantam", *peers)]
        shares = [f"{times['bantam'] / times[peer]:.2f}" if peer in times else "" for peer in peers]
        rows.append([*shape.split("/"), *cells, *shares])
    words = ["PyTorch f32", f"{PEERS['onnxruntime']} f32"]
    lines = table(["ms", "tokens", "bantam int8", *words, *(f"of {word}" for word in words)], rows)
    for name, times in found["us_a_token"].items():
        of = {int(tokens): time for tokens, time in times.items()}
        lengths = ", ".join(f"of {tokens} tokens {time:.1f} us" for tokens, time in of.items())
        lines += [f"{name}'s layers, a token of texts {lengths}: {of[max(of)] / of[min(of)]:.2f}.", ""]
    return lines + [f"Left out: {line}\n" for line in found["left_out"]]


def long_part(results):
    path = results / "long.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    lines = ["## Long texts beside peers", "", describe(found["machine"]), ""]
    lines += ["One thread, by `python3 tests/bench/peers_long.py`: shapes of the published models, random weights.", ""]
    return lines + long_texts(found)


def overview_part(results):
    """Single int8 requests on one thread."""
    found = json.loads((results / "peers.json").read_text())
    rows = []
    for peer, words in PEERS.items():
        name = f"{words} {found['versions'].get(peer, '')}"
        rows.append([name, *ratios(found, SINGLES, 1, "bantam", peer, "int8")])
    return table([kind(found["machine"]), *SINGLES], [row for row in rows if any(row[1:])])


# ---- page ------------------------------------------------------------------------------------------------------


def replace_part(page, name, lines, after=None):
    """The page with the part between its markers replaced; or put behind the last line that begins with `after`, or appended."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    part = "\n".join([begin, "", *lines, end])
    if begin in page and end in page:
        return page[: page.index(begin)] + part + page[page.index(end) + len(end) :]
    place = page.rfind("\n" + after) if after else -1
    if place >= 0:
        place = page.find("\n", place + 1)
        return page[:place] + "\n\n" + part + page[place:]
    return page.rstrip("\n") + "\n\n" + part + "\n"


def machine_of(results):
    """As the newest of the results says."""
    files = [results / name for name in RESULTS if (results / name).exists()]
    if not files:
        sys.exit(f"{results}: none of {', '.join(RESULTS)}; ./dev bench makes them")
    return json.loads(max(files, key=lambda file: file.stat().st_mtime).read_text())["machine"]


def main():
    results, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    words = kind(machine_of(results))
    path = folder / f"{slug(words)}.md"
    page = path.read_text() if path.exists() else HEAD.format(words)
    parts = {
        "suites": suites_part,
        "peers": peers_part,
        "bert-base": shape_part,
        "texts": texts_part,
        "encoders": encoders_part,
        "images": images_part,
        "long": long_part,
    }
    for name, lines in ((name, part(results)) for name, part in parts.items()):
        if lines:
            page = replace_part(page, name, lines)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(page)
    overview = folder / "README.md"
    if (results / "peers.json").exists() and overview.exists():
        name = f"peers {slug(words)}"
        text = replace_part(overview.read_text(), name, overview_part(results), after="<!-- end of peers")
        overview.write_text(text)
    print(f"{path}: written from {results}/*.json")


if __name__ == "__main__":
    main()

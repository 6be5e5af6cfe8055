"""Texts a second, from text to label, and tokenizers alone: bantam beside ONNX Runtime, OpenVINO and CTranslate2, one thread.

  peers_texts.py --command build/bantam --models build/bench/models --shared ../shared --out build/bench/peers-texts.json

MiniLM-L6 fine-tuned on SST-2 labels the SST-2 test set, and long texts (paragraphs of a novel, joined up to what the model
takes). Peers get their ids from Hugging Face's tokenizers (Rust, one thread), texts sorted by length and padded to the longest of
a batch, in batches of 1 to 64: their best size counts, and loading does not. bantam is the whole command `bantam run FILE --file
TEXTS --json`, less that of one text, as it chooses batches itself, with its int8 file and its static one. All take turns; a figure is the least over rounds. Without the
real model and its texts nothing is measured.
"""

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import machine
import numpy as np
import peers

FORMS = {"bantam": "int8", "bantam/static": "static"}
SIZES = (1, 8, 32, 64)
LONG_TEXTS, LONG_CHARACTERS, MOST_TOKENS = 64, 2600, 512


def short_texts(shared):
    return [json.loads(line)["text"] for line in (shared / "data/sst2/test.jsonl").open(encoding="utf-8")]


def long_texts(shared):
    """Paragraphs joined until each has about as many pieces as the model takes."""
    texts, text = [], ""
    for line in (shared / "data/text/pride_and_prejudice.jsonl").open(encoding="utf-8"):
        text = f"{text} {json.loads(line)['text']}".strip()
        if len(text) >= LONG_CHARACTERS:
            texts.append(" ".join(text[:LONG_CHARACTERS].split()))
            text = ""
    return texts[:LONG_TEXTS]


def tokenizer_of(directory):
    import tokenizers

    found = tokenizers.Tokenizer.from_file(str(pathlib.Path(directory) / "tokenizer.json"))
    found.no_padding()
    found.enable_truncation(MOST_TOKENS)
    return found


class Padded:
    """A peer that takes padded batches, behind the tokenizer."""

    def __init__(self, system, tokenizer, size):
        self.system, self.tokenizer, self.size = system, tokenizer, size

    def labels(self, texts):
        ids = [found.ids for found in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        labels = np.zeros(len(ids), np.int64)
        for begin in range(0, len(order), self.size):
            some = order[begin : begin + self.size]
            # Given models leave rows instead of scores: the same work.
            labels[some] = np.reshape(self.outputs([ids[i] for i in some]), (len(some), -1)).argmax(axis=1)
        return labels

    def outputs(self, rows):
        if isinstance(self.system, peers.CTranslate2):  # it has no classification head: the pooled rows stand for it
            return np.array(self.system.encoder.forward_batch(rows).pooler_output)
        longest = max(map(len, rows))
        full = {
            name: np.zeros((len(rows), longest), np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        for r, row in enumerate(rows):
            full["input_ids"][r, : len(row)] = row
            full["attention_mask"][r, : len(row)] = 1
        given = {name: full[name] for name in self.system.names}
        if isinstance(self.system, peers.OnnxRuntime):
            return self.system.session.run(None, given)[0]
        return self.system.request.infer(given)[0]


class Ours:
    def __init__(self, command, file):
        self.command = [command, "run", str(file), "--json", "--top", "1"]

    def seconds(self, texts):
        """(seconds of all texts but one, the labels' names)"""
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as many:
            many.write("\n".join(texts) + "\n")
            many.flush()
            begin = time.perf_counter()
            done = subprocess.run([*self.command, "--file", many.name], check=True, text=True, capture_output=True)
            whole = time.perf_counter() - begin
        begin = time.perf_counter()
        subprocess.run([*self.command, texts[0]], check=True, capture_output=True)
        return whole - (time.perf_counter() - begin), done.stdout.splitlines()


def measure(ours, padded, texts, rounds):
    """name -> texts a second, of systems by name"""
    rates = {}
    for _ in range(rounds):
        for name, system in ours.items():
            time.sleep(0.05)
            spent, lines = system.seconds(texts)
            if len(lines) != len(texts):
                sys.exit(f"{name} answered {len(lines)} of {len(texts)} texts")
            rates[name] = max(rates.get(name, 0), (len(texts) - 1) / spent)
        for name, system in padded.items():
            time.sleep(0.05)
            begin = time.perf_counter()
            system.labels(texts)
            rates[name] = max(rates.get(name, 0), len(texts) / (time.perf_counter() - begin))
    return rates


def tokenizer_rates(options, file, tokenizer, texts, rounds):
    """MB of text a second."""
    size = sum(len(text.encode()) for text in texts)
    best = {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as many:
        many.write("\n".join(texts) + "\n")
        many.flush()
        bench = [options.command, "bench", file, "--texts", many.name, "--repetitions", "5", "--warmup", "1", "--json"]
        for _ in range(rounds):
            lines = subprocess.run(bench, check=True, text=True, capture_output=True).stdout.splitlines()
            spent = sum(json.loads(line)["tokenize_us"] for line in lines) * 1e-6
            best["bantam"] = max(best.get("bantam", 0), size / spent * 1e-6)
            begin = time.perf_counter()
            tokenizer.encode_batch(texts)
            spent = time.perf_counter() - begin
            best["tokenizers"] = max(best.get("tokenizers", 0), size / spent * 1e-6)
    return best


def read_options():
    parser = peers.parser_of(__doc__, "build/bench/peers-texts.json")
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def main():
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    options = read_options()
    options.name, options.types = "minilm", "int8"
    shared = pathlib.Path(options.shared)
    systems = peers.Systems(options)
    if not (pathlib.Path(systems.source) / "tokenizer.json").exists() or not (shared / "data/sst2").exists():
        print("left out: texts a second want ../shared/models/minilm-sst2 and ../shared/data")
        return
    tokenizer = tokenizer_of(systems.source)
    files = {name: pathlib.Path(options.models) / f"minilm-{form}.bantam" for name, form in FORMS.items()}
    ours = {name: Ours(options.command, file) for name, file in files.items()}
    made = {name: system for name, system in systems.make(1).items() if not isinstance(system, peers.Ours)}
    padded = {f"{name}@{size}": Padded(system, tokenizer, size) for name, system in made.items() for size in SIZES}
    results = {"texts": {}, "tokens": {}, "tokenizer_mb_s": {}, "left_out": systems.left_out}
    for what, texts in (("SST-2 test", short_texts(shared)), ("long texts", long_texts(shared))):
        rates = measure(ours, padded, texts, options.rounds)
        results["texts"][what] = rates
        ids = [len(found.ids) for found in tokenizer.encode_batch(texts)]
        results["tokens"][what] = {"texts": len(texts), "mean": sum(ids) / len(ids), "most": max(ids)}
        results["tokenizer_mb_s"][what] = tokenizer_rates(options, files["bantam"], tokenizer, texts, options.rounds)
        print(f"{what}: " + "  ".join(f"{name} {rate:.0f}/s" for name, rate in rates.items()), flush=True)
        print(f"{what}, tokenizers: {results['tokenizer_mb_s'][what]}", flush=True)
    results["versions"] = {name: importlib.metadata.version(name) for name in ("tokenizers",)}
    results["machine"] = machine.describe(options.command)
    pathlib.Path(options.out).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

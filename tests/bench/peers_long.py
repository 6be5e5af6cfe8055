"""Longformer and Big Bird of the base shape by bantam in int8, PyTorch and ONNX Runtime in f32, in one interleaved run.

  pip install -r tests/bench/requirements-peers.txt torch transformers
  python3 tests/bench/peers_long.py --command build/bantam --out build/bench/long.json

Shapes are those of the published models, with positions for longer texts; weights are random, on which speed does not depend. The first token
of Longformer's texts is global, as for labels of texts. One thread. PyTorch runs transformers' model as it is; its graph for ONNX Runtime is
exported for one length. What cannot be installed or exported is left out and named. Prints Markdown: milliseconds, bantam's time as a share of
each peer's, and a token's time in Longformer's layers by the length of the text.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import machine
import numpy as np
import peers
import report

POSITIONS = 8192
MODELS = {
    "Longformer-base": (
        "LongformerModel",
        dict(
            vocab_size=50265,
            max_position_embeddings=POSITIONS + 2,
            type_vocab_size=1,
            layer_norm_eps=1e-5,
            attention_window=512,
            pad_token_id=1,
        ),
        ["--globals", "first"],
    ),
    "BigBird-base": ("BigBirdModel", dict(max_position_embeddings=POSITIONS), []),
}
LENGTHS = (1024, 8192)  # whose times a token are compared
VOCABULARY = 20000


def directory_of(name, folder):
    """The model as transformers saves it."""
    import torch
    import transformers

    directory = folder / name
    if not (directory / "model.safetensors").exists():
        kind, settings, _ = MODELS[name]
        torch.manual_seed(1)
        family = getattr(transformers, kind)
        family(family.config_class(**settings)).eval().save_pretrained(directory)
    return directory


def ours(name, options):
    path = options.folder / f"{name}.bantam"
    if not path.exists():
        command = [options.command, "convert", directory_of(name, options.folder), "-o", path, *MODELS[name][2]]
        command += ["--task", "encoder", "--parity", "none"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return peers.Ours(options.command, path, 1)


def ids_of(tokens):
    return np.random.default_rng(7).integers(5, VOCABULARY, (1, tokens), dtype=np.int64)


class PyTorch:
    def __init__(self, name, options):
        import torch
        import transformers

        torch.set_num_threads(1)
        self.torch = torch
        self.model = transformers.AutoModel.from_pretrained(directory_of(name, options.folder)).eval()
        self.globals = name.startswith("Longformer")

    def arguments(self, tokens):
        ids = self.torch.from_numpy(ids_of(tokens))
        if not self.globals:
            return {"input_ids": ids}
        first = self.torch.zeros_like(ids)
        first[:, 0] = 1
        return {"input_ids": ids, "attention_mask": self.torch.ones_like(ids), "global_attention_mask": first}

    def prepare(self, lengths):
        given = self.arguments(lengths[0])

        def call():
            with self.torch.no_grad():
                return self.model(**given).last_hidden_state

        return call


class OnnxRuntime:
    def __init__(self, name, options):
        import onnxruntime

        self.name, self.options, self.runtime = name, options, onnxruntime

    def export(self, path, tokens):
        import torch

        source = PyTorch(self.name, self.options)
        source.model.config.onnx_export = True
        given = source.arguments(tokens)

        class Rows(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = source.model

            def forward(self, *inputs):
                return self.model(**dict(zip(given, inputs, strict=True))).last_hidden_state

        torch.onnx.export(
            Rows(), tuple(given.values()), str(path), input_names=list(given), opset_version=17, dynamo=False
        )

    def prepare(self, lengths):
        path = self.options.folder / f"{self.name}-{lengths[0]}.onnx"
        peers.made(path, self.export, path, lengths[0])
        settings = self.runtime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        session = self.runtime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        given = {name: value.numpy() for name, value in PyTorch(self.name, self.options).arguments(lengths[0]).items()}
        feed = {entry.name: given[entry.name] for entry in session.get_inputs()}
        return lambda: session.run(None, feed)[0]


SYSTEMS = {"pytorch": PyTorch, "onnxruntime": OnnxRuntime}


def systems_of(name, tokens, options, left_out):
    systems = {"bantam": ours(name, options)}
    for system in options.peers.split(","):
        try:
            made = SYSTEMS[system](name, options)
            call = made.prepare((tokens,))
            call()
            made.prepare = lambda _, call=call: call
            systems[system] = made
        except Exception as error:  # whatever a peer raises, the others go on
            left_out.append(f"{system} of {name}: {type(error).__name__}: {error}".splitlines()[0].split(". ")[0][:160])
            print(f"left out: {left_out[-1]}", file=sys.stderr)
    return systems


def layers(name, options):
    """Length -> microseconds a token in all layers; the shortest of some runs."""
    shortest = {}
    for tokens in LENGTHS * options.rounds:
        command = [options.command, "bench", options.folder / f"{name}.bantam", "--seq", str(tokens)]
        command += ["--per-op", "--json", "--repetitions", "1", "--warmup", "1"]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        operators = json.loads(run.stdout)["ops"]
        total = sum(one["min_ms"] for one in operators if re.search(r"layer\.\d+\.", one["name"]))
        shortest[tokens] = min(shortest.get(tokens, total), total)
    return {tokens: total / tokens * 1e3 for tokens, total in shortest.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/bantam")
    parser.add_argument("--folder", type=pathlib.Path, default="build/bench/long", help="for the models")
    parser.add_argument("--out", type=pathlib.Path, default="build/bench/long.json")
    parser.add_argument("--only", default=",".join(MODELS), help="of these encoders")
    parser.add_argument("--peers", default=",".join(SYSTEMS), help="beside these systems")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    results = {"times": {}, "left_out": [], "us_a_token": {}, "machine": machine.describe(options.command)}
    for name in options.only.split(","):
        systems = systems_of(name, options.tokens, options, results["left_out"])
        results["times"][f"{name}/{options.tokens}"] = peers.measure_shape(systems, (options.tokens,), options.rounds)
        results["us_a_token"][name] = layers(name, options)
    options.out.write_text(json.dumps(results, indent=1))
    print("\n".join(report.long_texts(results)))


if __name__ == "__main__":
    main()

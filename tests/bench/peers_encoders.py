"""Encoder families by bantam, ONNX Runtime and OpenVINO in int8, in one interleaved run, as peers.py measures MiniLM.

  pip install -r tests/bench/requirements-peers.txt torch transformers
  python3 tests/bench/peers_encoders.py --command build/bantam --out build/bench/encoders.json

Shapes are those of the published models, weights are random: speed does not depend on them. transformers makes each
model and its ONNX graph, onnxruntime's quantize_dynamic (scales of output channels) and NNCF (static) the peers' int8
forms, `bantam convert` ours; all lie in --folder and are made once. OpenVINO computes what is not int8 in f32, which is
its faster setting here. A peer that cannot be installed, or cannot load a model, is left out and named. Prints
Markdown: milliseconds (of an image of 224 by 224 pixels, where a model takes images), and bantam's time as a share of the fastest peer's; then a token's time in those layers of ModernBERT
that see a window only, by the length of the text.
"""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import time

import machine
import numpy as np
import peer_models
import peers
import report

ENCODERS = {
    "RoBERTa-base": (
        "RobertaModel",
        {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    ),
    "MobileBERT": ("MobileBertModel", {}),
    "ModernBERT-base": ("ModernBertModel", {}),
    "DeBERTa-v3-small": (
        "DebertaV2Model",
        {
            "vocab_size": 128100,
            "hidden_size": 768,
            "num_hidden_layers": 6,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
            "relative_attention": True,
            "position_buckets": 256,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "type_vocab_size": 0,
            "max_relative_positions": -1,
            "layer_norm_eps": 1e-7,
        },
    ),
}
# Models of images of 224 by 224 pixels, and of CLIP's texts: class, settings, tokens of an image or text. Answers are
# labels or vectors.
IMAGES = {
    "ViT-B-16": ("ViTForImageClassification", {"num_labels": 1000}, 197),
    "ViT-tiny": (
        "ViTForImageClassification",
        {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768, "num_labels": 1000},
        197,
    ),
    "CLIP-B-32-images": ("CLIPVisionModelWithProjection", {}, 50),
}
TEXTS = {"CLIP-B-32-texts": ("CLIPTextModelWithProjection", {}, 77)}
OTHERS = {**IMAGES, **TEXTS}
WINDOWED, LONG = "ModernBERT-base", (512, 2048)


def feed(name, lengths):
    """One image, or texts of so many tokens."""
    if name not in IMAGES:
        return peer_models.feed(lengths, vocabulary=20000)
    return {"pixel_values": np.random.default_rng(1).standard_normal((1, 3, 224, 224)).astype(np.float32)}


class Given:
    """A peer that takes the inputs of a model: `name` says which."""

    name = None

    def prepare(self, lengths):
        full = feed(self.name, lengths)
        # A graph may call its only input otherwise.
        given = {name: full[name] if name in full else full["pixel_values"] for name in self.names}
        return lambda: self.answer(given)


class OnnxRuntime(Given, peers.OnnxRuntime):
    def answer(self, given):
        return self.session.run(None, given)[0]


class OpenVino(Given, peers.OpenVino):
    precision = "f32"

    def answer(self, given):
        return self.request.infer(given)[0]


SYSTEMS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def directory_of(name, folder):
    """The model as transformers saves it."""
    import torch
    import transformers

    directory = folder / name
    if not (directory / "model.safetensors").exists():
        kind, settings = {**ENCODERS, **OTHERS}[name][:2]
        torch.manual_seed(1)
        family = getattr(transformers, kind)
        family(family.config_class(**settings)).eval().save_pretrained(directory)
    return directory


def inputs_of(name):
    return ["pixel_values"] if name in IMAGES else ["input_ids", "attention_mask"]


def export(directory, path):
    """The ONNX graph of a directory's encoder, for texts of any length, or one image."""
    import torch
    import transformers

    example = feed(directory.name, [16])
    names = inputs_of(directory.name)

    class Rows(torch.nn.Module):
        def __init__(self):
            super().__init__()
            kind = {**ENCODERS, **OTHERS}[directory.name][0]
            self.model = getattr(transformers, kind).from_pretrained(directory, attn_implementation="eager").eval()

        def forward(self, *given):
            answer = self.model(**dict(zip(names, given)))
            return answer[0] if directory.name in OTHERS else answer.last_hidden_state

    torch.onnx.export(
        Rows(),
        tuple(torch.from_numpy(example[name]) for name in names),
        str(path),
        input_names=names,
        output_names=["rows"],
        dynamic_axes=None if directory.name in IMAGES else {name: {1: "tokens"} for name in names},
        opset_version=peer_models.OPSET,
        dynamo=False,
    )


def quantize_for_openvino(f32, path):
    import nncf
    import openvino

    name = pathlib.Path(f32).stem
    samples = [{given: feed(name, [n])[given] for given in inputs_of(name)} for n in (24, 32)]
    model = openvino.Core().read_model(f32)
    kind = nncf.ModelType.TRANSFORMER
    quantized = nncf.quantize(model, nncf.Dataset(samples), model_type=kind, subset_size=len(samples))
    openvino.save_model(quantized, path, compress_to_fp16=False)


def quantized(name, folder):
    """System -> its int8 model, made where it is not there."""
    f32 = peers.made(
        folder / f"{name}.onnx",
        lambda: export(directory_of(name, folder), folder / f"{name}.onnx"),
    )
    paths = {
        "onnxruntime": folder / f"{name}-int8.onnx",
        "openvino": folder / f"{name}-int8.xml",
    }
    # ONNX Runtime has no convolution of int8 weights.
    kinds = ["MatMul", "Gemm", "Gather"] if name in IMAGES else None
    makers = {
        "onnxruntime": lambda source, path: peer_models.onnx_int8(source, path, kinds),
        "openvino": quantize_for_openvino,
    }
    return {system: lambda s=system, p=path: peers.made(p, makers[s], f32, p) for system, path in paths.items()}


def ours(name, options):
    path = options.folder / f"{name}.bantam"
    if not path.exists():
        command = [
            options.command,
            "convert",
            directory_of(name, options.folder),
            "-o",
            path,
        ]
        command += ["--parity", "none"] if name in OTHERS else ["--task", "encoder", "--parity", "none"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return peers.Ours(options.command, path, 1)


def systems_of(name, options, left_out):
    systems = {"bantam": ours(name, options)}
    for system, make in quantized(name, options.folder).items():
        try:
            systems[system] = SYSTEMS[system](make(), 1)
            systems[system].name = name
            systems[system].prepare((4,))()
        except Exception as error:  # whatever a peer raises, the others go on
            systems.pop(system, None)
            left_out.append(f"{system} of {name}: {type(error).__name__}: {error}".splitlines()[0][:160])
            print(f"left out: {left_out[-1]}", file=sys.stderr)
    return systems


def local_layers(name, options):
    """Length -> microseconds a token in all layers whose attention is local; the shortest of many runs."""
    config = json.loads((options.folder / name / "config.json").read_text())
    kinds = config["layer_types"]
    shortest = {}
    for tokens in LONG * options.rounds:
        command = [options.command, "bench", options.folder / f"{name}.bantam", "--seq", str(tokens)]
        command += ["--per-op", "--json", "--repetitions", "3"]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        total = 0
        for operator in json.loads(run.stdout)["ops"]:
            layer = re.search(r"layers\.(\d+)\.", operator["name"])
            if layer and kinds[int(layer.group(1))] == "sliding_attention":
                total += operator["min_ms"]
        shortest[tokens] = min(shortest.get(tokens, total), total)
    return {tokens: total / tokens * 1e3 for tokens, total in shortest.items()}


def processor_ms(systems, tokens, rounds):
    """Milliseconds of processor time a run, medians of rounds that take the systems in turn: what others do on the machine hardly changes
    them. bantam's is that of `bantam bench` with so many runs less that with fewer."""
    calls = {
        name: None if isinstance(system, peers.Ours) else system.prepare((tokens,)) for name, system in systems.items()
    }
    spent = {name: [] for name in systems}

    def run(name, runs):
        if calls[name] is not None:
            begin = time.process_time()
            for _ in range(runs):
                calls[name]()
            return (time.process_time() - begin) * 1e3
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        systems[name].bench(*systems[name].shape((tokens,)), "--repetitions", str(runs), "--plain")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

    for _ in range(rounds):
        for name in systems:
            one = run(name, 3) / 3
            more = max(4, int(150 / one))
            spent[name].append((run(name, 3 + more) - run(name, 3)) / more)
    return {name: sorted(times)[len(times) // 2] for name, times in spent.items()}


def measure(options):
    results = {
        "times": {},
        "left_out": [],
        "machine": machine.describe(options.command),
    }
    for name in options.only.split(","):
        systems = systems_of(name, options, results["left_out"])
        for tokens in OTHERS[name][2:] if name in OTHERS else (16, 128):
            if options.processor_time:
                times = processor_ms(systems, tokens, options.rounds)
            else:
                times = peers.measure_shape(systems, (tokens,), options.rounds)
            results["times"][f"{name}/{tokens}"] = times
        if name == WINDOWED and not options.processor_time:
            results["local_us_a_token"] = local_layers(name, options)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/bantam")
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        default="build/bench/encoders",
        help="for the models",
    )
    parser.add_argument("--out", type=pathlib.Path, default="build/bench/encoders.json")
    parser.add_argument("--only", default=",".join([*ENCODERS, *OTHERS]), help="of these encoders")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor-time", action="store_true", help="on a busy machine: not the clock's time")
    parser.add_argument("--make", action="store_true", help="make the models, measure nothing")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.make:
        for name in options.only.split(","):
            systems_of(name, options, [])
        return
    results = measure(options)
    options.out.write_text(json.dumps(results, indent=1))
    print("\n".join(report.encoders(results)))


if __name__ == "__main__":
    main()

"""Encoder families by bantam, ONNX Runtime and OpenVINO in int8, in one interleaved run, as peers.py measures MiniLM.

  pip install -r tests/bench/requirements-peers.txt torch transformers
  python3 tests/bench/peers_encoders.py --command build/bantam --out build/bench/encoders.json

Shapes are those of the published models, weights are random: speed does not depend on them. transformers makes each
model and its ONNX graph, onnxruntime's quantize_dynamic (scales of output channels) and NNCF (static) the peers' int8
forms, `bantam convert` ours; all lie in --folder and are made once. OpenVINO computes what is not int8 in f32, which is
its faster setting here. A peer that cannot be installed, or cannot load a model, is left out and named. Prints
Markdown: milliseconds, and bantam's time as a share of the fastest peer's; then a token's time in those layers of ModernBERT
that see a window only, by the length of the text.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import machine
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
WINDOWED, LONG = "ModernBERT-base", (512, 2048)


class OpenVino(peers.OpenVino):
    precision = "f32"


SYSTEMS = {"onnxruntime": peers.OnnxRuntime, "openvino": OpenVino}


def directory_of(name, folder):
    """The model as transformers saves it."""
    import torch
    import transformers

    directory = folder / name
    if not (directory / "model.safetensors").exists():
        kind, settings = ENCODERS[name]
        torch.manual_seed(1)
        family = getattr(transformers, kind)
        family(family.config_class(**settings)).eval().save_pretrained(directory)
    return directory


def export(directory, path):
    """The ONNX graph of a directory's encoder, for texts of any length."""
    import torch
    import transformers

    class Rows(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformers.AutoModel.from_pretrained(directory, attn_implementation="eager").eval()

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    example = peer_models.feed([16], vocabulary=20000)
    names = ["input_ids", "attention_mask"]
    torch.onnx.export(
        Rows(),
        tuple(torch.from_numpy(example[name]) for name in names),
        str(path),
        input_names=names,
        output_names=["rows"],
        dynamic_axes={name: {1: "tokens"} for name in names},
        opset_version=peer_models.OPSET,
        dynamo=False,
    )


def quantize_for_openvino(f32, path):
    import nncf
    import openvino

    wanted = ("input_ids", "attention_mask")
    samples = [{name: peer_models.feed([n], vocabulary=20000)[name] for name in wanted} for n in (24, 32)]
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
    makers = {"onnxruntime": peer_models.onnx_int8, "openvino": quantize_for_openvino}
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
        command += ["--task", "encoder", "--parity", "none"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return peers.Ours(options.command, path, 1)


def systems_of(name, options, left_out):
    systems = {"bantam": ours(name, options)}
    for system, make in quantized(name, options.folder).items():
        try:
            systems[system] = SYSTEMS[system](make(), 1)
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


def measure(options):
    results = {
        "times": {},
        "left_out": [],
        "machine": machine.describe(options.command),
    }
    for name in options.only.split(","):
        systems = systems_of(name, options, results["left_out"])
        for tokens in (16, 128):
            results["times"][f"{name}/{tokens}"] = peers.measure_shape(systems, (tokens,), options.rounds)
        if name == WINDOWED:
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
    parser.add_argument("--only", default=",".join(ENCODERS), help="of these encoders")
    parser.add_argument("--rounds", type=int, default=5)
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

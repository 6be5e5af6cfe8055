#!/usr/bin/env python3
"""Exports PyTorch models as people write them (home_models.py), converts the ONNX files with `bantam convert`, compares with PyTorch.

Usage: home_made.py BANTAM [--only PATTERN] [--exporters NAME,...] [--work DIRECTORY]

Exporters: "dynamo" is torch.onnx.export as it is called today, with a dynamic length; "fixed" is the same without
dynamic_shapes, which gives a graph for texts of one length; "torchscript" is dynamo=False with opset 17. Answers (of three lengths, or
of the one) differ from PyTorch's by at most 1e-5 of the largest value. Prints a row a model; exit status 1 where one differs, or where dynamo's file is
refused and not known to be. --work keeps the files. Exit status 77: the libraries are not there.
"""

import argparse
import contextlib
import fnmatch
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import onnx
    import onnxscript  # noqa: F401  the exporter imports it late
    import torch
    from home_models import MODELS, VOCABULARY
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Exporters turn nn.EmbeddingBag into a loop over the texts, which is refused.
REFUSED = {"bag-of-words"}
EXPORTERS, LIMIT, FIXED, LENGTHS = ("dynamo", "fixed", "torchscript"), 1e-5, 12, (6, 9, 33)


def model_of(name):
    torch.manual_seed(1)
    model = MODELS[name][0]().eval()
    generator = torch.Generator().manual_seed(2)
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.3, generator=generator)
    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm1d):
            part.running_mean.normal_(0, 0.3, generator=generator)
            part.running_var.uniform_(0.5, 2, generator=generator)
    return model


def inputs_of(name, tokens):
    generator = torch.Generator().manual_seed(tokens)
    ids = torch.randint(3, VOCABULARY, (1, tokens), generator=generator)
    segments = (torch.arange(tokens) >= tokens // 2).long()[None]
    return tuple([ids, torch.ones_like(ids), segments][: len(MODELS[name][1])])


def export(name, exporter, file):
    model, names = model_of(name), list(MODELS[name][1])
    example = inputs_of(name, FIXED if exporter == "fixed" else 9)
    options = {"dynamo": exporter != "torchscript"}
    if exporter == "dynamo":
        length = torch.export.Dim("tokens", min=5, max=60)
        options["dynamic_shapes"] = tuple({1: length} for _ in example)
    if exporter == "torchscript":
        options |= {"opset_version": 17, "dynamic_axes": {one: {0: "texts", 1: "tokens"} for one in names}}
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, example, str(file), input_names=names, **options)


def fixed_length(file):
    """The length of a graph with a fixed length, which exporters write if it cannot be dynamic; otherwise 0."""
    sizes = [
        axis.dim_value for axis in onnx.load(file, load_external_data=False).graph.input[0].type.tensor_type.shape.dim
    ]
    return sizes[1]


def logits_of(name, values):
    """Inverts the last softmax or sigmoid, because bantam's outputs come before it."""
    return torch.log(values) if name == "probabilities" else torch.logit(values) if name == "bert-sigmoid" else values


def difference(name, bantam, file, tokens):
    inputs = inputs_of(name, tokens)
    command = [bantam, "run", str(file), "--ids", ",".join(map(str, inputs[0][0].tolist()))]
    if len(inputs) > 2:
        command += ["--segments", ",".join(map(str, inputs[2][0].tolist()))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    with torch.no_grad():
        expected = model_of(name)(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    outputs = json.loads(done.stdout)["outputs"]
    if len(outputs) != len(expected):
        raise RuntimeError(f"{len(outputs)} outputs of {len(expected)}")
    largest = 0.0
    for value, output in zip(expected, outputs.values()):
        value = logits_of(name, value).flatten().double()
        given = torch.tensor(output["data"], dtype=torch.float64).flatten()
        if name in ("probabilities", "character-rnn"):  # equal up to a constant
            value, given = value - value.mean(), given - given.mean()
        if value.numel() != given.numel():
            raise RuntimeError(f"{given.numel()} numbers of {value.numel()}")
        largest = max(largest, float((value - given).abs().max() / value.abs().max()))
    return largest


def compare(name, exporter, bantam, work):
    file, packed = work / f"{name}-{exporter}.onnx", work / "model.bantam"
    try:
        if not file.exists():
            export(name, exporter, file)
    except Exception as error:  # noqa: BLE001  exporters raise exceptions of any class
        return "not exported", str(error).strip().splitlines()[0][:160]
    command = [bantam, "convert", str(file), "-o", str(packed), "--weights", "f32", "--ids-only", "--parity", "none"]
    done = subprocess.run([*command, *MODELS[name][2]], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return "refused", done.stderr.strip().replace(str(file), "").replace("\n", " | ")
    try:
        length = fixed_length(file)
        worst = max(difference(name, bantam, packed, n) for n in ((length,) if length else LENGTHS))
    except RuntimeError as error:
        return "differs", str(error)
    return ("ok" if worst <= LIMIT else "differs"), f"{worst:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bantam")
    parser.add_argument("--only", default="*")
    parser.add_argument("--exporters", default=",".join(EXPORTERS))
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    wrong = False
    counts = {exporter: {} for exporter in options.exporters.split(",")}
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or pathlib.Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        names = [name for name in MODELS if fnmatch.fnmatch(name, options.only)]
        for name in names:
            for exporter, count in counts.items():
                state, why = compare(name, exporter, options.bantam, work)
                count[state] = count.get(state, 0) + 1
                wrong = wrong or state == "differs" or (exporter == "dynamo" and state != "ok" and name not in REFUSED)
                print(f"{name:26} {exporter:12} {state:12} {why}", flush=True)
    print(f"torch {torch.__version__}, {len(names)} models")
    for exporter, count in counts.items():
        print(f"{exporter}: " + ", ".join(f"{number} {state}" for state, number in sorted(count.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

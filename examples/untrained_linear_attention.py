"""untrained_linear_attention DIRECTORY: a Performer or a Linformer of the shape of MiniLM-L6 with random weights, to measure long texts.

DIRECTORY gets config.json and model.safetensors as docs/linear-attention.md lays them out; token ids are its only input. Needs numpy.
"""

import argparse
import json
import pathlib
import struct

import numpy


def random_features(config, layer, random):
    """F of a layer: rows that are orthogonal in blocks of a head's width, as long as Gaussian ones."""
    count, width = (config["nb_features"], config["hidden_size"] // config["num_attention_heads"])
    blocks = [numpy.linalg.qr(random.standard_normal((width, width)))[0].T for _ in range(-(-count // width))]
    lengths = numpy.linalg.norm(random.standard_normal((count, width)), axis=1)
    return {f"{layer}attention.self.features.weight": lengths[:, None] * numpy.concatenate(blocks)[:count]}


def make_tensors(config, random):
    hidden, inner, tensors = config["hidden_size"], config["intermediate_size"], {}

    def linear(name, rows, columns):
        tensors[f"{name}.weight"] = random.standard_normal((rows, columns)) / columns**0.5
        tensors[f"{name}.bias"] = numpy.zeros(rows)

    def norm(name):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = (numpy.ones(hidden), numpy.zeros(hidden))

    base = config["model_type"] + "."
    for name, rows in (
        ("word", config["vocab_size"]),
        ("position", config["max_position_embeddings"]),
        ("token_type", config["type_vocab_size"]),
    ):
        tensors[f"{base}embeddings.{name}_embeddings.weight"] = random.standard_normal((rows, hidden)) / 10
    norm(f"{base}embeddings.LayerNorm")
    for number in range(config["num_hidden_layers"]):
        layer = f"{base}encoder.layer.{number}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            linear(layer + name, hidden, hidden)
        norm(f"{layer}attention.output.LayerNorm")
        linear(f"{layer}intermediate.dense", inner, hidden)
        linear(f"{layer}output.dense", hidden, inner)
        norm(f"{layer}output.LayerNorm")
        if config["model_type"] == "performer":
            tensors.update(random_features(config, layer, random))
    if config["model_type"] == "linformer":
        shape = (config["projected_size"], config["max_position_embeddings"])
        tensors[f"{base}encoder.projection.weight"] = random.standard_normal(shape) / shape[1] ** 0.5
    linear(f"{base}pooler.dense", hidden, hidden)
    linear("classifier", 2, hidden)
    return tensors


def write(path, tensors):
    """The format of safetensors: a header of JSON, then the values, here f16."""
    header, body = {}, b""
    for name, values in tensors.items():
        content = values.astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": values.shape, "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--kind", choices=("performer", "linformer"), default="performer")
    for name, value in (("hidden", 384), ("layers", 6), ("heads", 12), ("features", 128), ("positions", 8192)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    config = {
        "model_type": options.kind,
        "architectures": [options.kind.capitalize() + "ForSequenceClassification"],
        "vocab_size": 1000,
        "hidden_size": options.hidden,
        "num_hidden_layers": options.layers,
        "num_attention_heads": options.heads,
        "intermediate_size": 4 * options.hidden,
        "max_position_embeddings": options.positions,
        "type_vocab_size": 2,
    }
    config |= (
        {"nb_features": options.features}
        if options.kind == "performer"
        else {"projected_size": options.features, "sharing": "layerwise"}
    )
    options.directory.mkdir(parents=True, exist_ok=True)
    (options.directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write(options.directory / "model.safetensors", make_tensors(config, numpy.random.default_rng(1)))


if __name__ == "__main__":
    main()

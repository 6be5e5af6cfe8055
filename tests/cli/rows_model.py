"""A small transformer over rows of bytes, with random weights, as a directory of transformers: for sounds and for windows of sensors."""

import json
import random
import struct

from torch_file import write_safetensors

# The content of preprocessor_config.json of a model of sounds (bantam/sound.h).
FILTERS = {
    "feature_extractor_type": "FilterBank",
    "sampling_rate": 16000,
    "win_length": 480,
    "hop_length": 320,
    "n_fft": 512,
    "num_mel_bins": 40,
}


def write_rows_model(directory, rows, columns, labels, processor, hidden=16, layers=2, inner=24, seed=1):
    chance = random.Random(seed)
    tensors = {}

    def tensor(name, shape, values):
        tensors[name] = ("F32", shape, struct.pack(f"<{len(values)}f", *values))

    def linear(name, out, inside, more=()):
        values = [chance.gauss(0, 1) * (2 / (out + inside)) ** 0.5 for _ in range(out * inside)]
        tensor(f"{name}.weight", [out, inside, *more], values)
        tensor(f"{name}.bias", [out], [chance.gauss(0, 0.1) for _ in range(out)])

    def norm(name):
        tensor(f"{name}.weight", [hidden], [1.0] * hidden)
        tensor(f"{name}.bias", [hidden], [0.0] * hidden)

    places = [chance.gauss(0, 0.2) for _ in range((rows + 1) * hidden)]
    tensor("vit.embeddings.cls_token", [1, 1, hidden], [chance.gauss(0, 0.2) for _ in range(hidden)])
    tensor("vit.embeddings.position_embeddings", [1, rows + 1, hidden], places)
    linear("vit.embeddings.patch_embeddings.projection", hidden, columns, [1, 1])
    for number in range(layers):
        layer = f"vit.encoder.layer.{number}."
        for name in ("query", "key", "value"):
            linear(f"{layer}attention.attention.{name}", hidden, hidden)
        linear(f"{layer}attention.output.dense", hidden, hidden)
        linear(f"{layer}intermediate.dense", inner, hidden)
        linear(f"{layer}output.dense", hidden, inner)
        norm(f"{layer}layernorm_before")
        norm(f"{layer}layernorm_after")
    norm("vit.layernorm")
    linear("classifier", len(labels), hidden)
    config = {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": inner,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-6,
        "image_size": [1, rows],
        "patch_size": 1,
        "num_channels": columns,
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)},
    }
    directory.mkdir(parents=True, exist_ok=True)
    settings = {"do_resize": False, "image_mean": 0.4, "image_std": 0.25, **processor}
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "preprocessor_config.json").write_text(json.dumps(settings))
    write_safetensors(directory / "model.safetensors", tensors)
    return directory

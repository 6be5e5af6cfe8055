"""Projects that `bantam firmware` writes, built for the tests and for ./dev size: model, target, tokens to firmware.elf."""

import array
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "models"


def convert(command, source, out, *options):
    arguments = [command, "convert", source, "-o", out, "--parity", "none", "--json", *options]
    subprocess.run([str(a) for a in arguments], check=True, stdout=subprocess.DEVNULL)


def build(command, model, target, tokens, out, more=(), cmake=()):
    """Writes and builds a project; returns its build folder, with firmware.elf and firmware.map. tokens: 0 as many as fit; more:
    options of bantam firmware; cmake: of its configuration."""
    arguments = [command, "firmware", model, "--board", target, "-o", out, "--force"]
    arguments += [*(["--max-tokens", tokens] if tokens else []), *more]
    subprocess.run([str(a) for a in arguments], check=True, stdout=subprocess.DEVNULL)
    options = list(cmake)
    if shutil.which("ccache"):
        options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    subprocess.run(
        ["cmake", "--fresh", "-G", "Ninja", "-S", out, "-B", out / "build", *options],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # The same sources in several projects are compiled once where a compiler cache is.
    cached = {**os.environ, "CCACHE_BASEDIR": str(out.parent), "CCACHE_NOHASHDIR": "1"}
    subprocess.run(["cmake", "--build", out / "build"], check=True, stdout=subprocess.DEVNULL, env=cached)
    return out / "build"


def wide_model(out, positions=512, width=128, layers=2, vocabulary=1000):
    """A BERT classifier with random weights, as transformers saves it: `layers` x `width`, for memory of long texts."""
    numbers = random.Random(7)
    shapes = {
        "bert.embeddings.word_embeddings.weight": [vocabulary, width],
        "bert.embeddings.position_embeddings.weight": [positions, width],
        "bert.embeddings.token_type_embeddings.weight": [2, width],
        "bert.embeddings.LayerNorm.weight": [width],
        "bert.embeddings.LayerNorm.bias": [width],
        "bert.pooler.dense.weight": [width, width],
        "bert.pooler.dense.bias": [width],
        "classifier.weight": [2, width],
        "classifier.bias": [2],
    }
    for layer in range(layers):
        at = f"bert.encoder.layer.{layer}."
        for name, rows, columns in [
            ("attention.self.query", width, width),
            ("attention.self.key", width, width),
            ("attention.self.value", width, width),
            ("attention.output.dense", width, width),
            ("intermediate.dense", 4 * width, width),
            ("output.dense", width, 4 * width),
        ]:
            shapes[f"{at}{name}.weight"] = [rows, columns]
            shapes[f"{at}{name}.bias"] = [rows]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{at}{name}.weight"] = [width]
            shapes[f"{at}{name}.bias"] = [width]
    header = {}
    data = bytearray()
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        norm = name.endswith("LayerNorm.weight")
        values = array.array("f", (1.0 if norm else numbers.uniform(-0.1, 0.1) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions,
        "num_attention_heads": width // 64,
        "num_hidden_layers": layers,
        "type_vocab_size": 2,
        "vocab_size": vocabulary,
    }
    (out / "config.json").write_text(json.dumps(config))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(c) for c in range(97, 123))]
    words += [f"word{i}" for i in range(vocabulary - len(words))]
    (out / "vocab.txt").write_text("\n".join(words) + "\n")

"""Makes the models that the benchmarks run: models.py COMMAND OUTPUT_DIRECTORY [SHARED_DIRECTORY]

voice-commands is the model that ships with the project; minilm is SHARED/models/minilm-sst2 where that exists, else the
same architecture (6 layers, 384 wide, 12 heads, 1536 in between, 30,522 pieces) with random weights: speed does not
depend on their values. Each becomes an int8 and an f32 file, minilm an int4 file, too, and minilm.json says which it was. Standard library only.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MINILM = {
    "architectures": ["BertForSequenceClassification"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 384,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "type_vocab_size": 2,
    "vocab_size": 30522,
    "id2label": {"0": "negative", "1": "positive"},
    "problem_type": "single_label_classification",
}


def shapes(config):
    """Names and shapes of the tensors of a BertForSequenceClassification."""
    wide, ffn = config["hidden_size"], config["intermediate_size"]

    def linear(name, n, k):
        return {f"{name}.weight": (n, k), f"{name}.bias": (n,)}

    def norm(name):
        return {f"{name}.weight": (wide,), f"{name}.bias": (wide,)}

    all_shapes = {
        "bert.embeddings.word_embeddings.weight": (config["vocab_size"], wide),
        "bert.embeddings.position_embeddings.weight": (config["max_position_embeddings"], wide),
        "bert.embeddings.token_type_embeddings.weight": (config["type_vocab_size"], wide),
        **norm("bert.embeddings.LayerNorm"),
        **linear("bert.pooler.dense", wide, wide),
        **linear("classifier", len(config["id2label"]), wide),
    }
    for layer in range(config["num_hidden_layers"]):
        at = f"bert.encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            all_shapes |= linear(f"{at}.attention.self.{part}", wide, wide)
        all_shapes |= linear(f"{at}.attention.output.dense", wide, wide) | norm(f"{at}.attention.output.LayerNorm")
        all_shapes |= linear(f"{at}.intermediate.dense", ffn, wide)
        all_shapes |= linear(f"{at}.output.dense", wide, ffn) | norm(f"{at}.output.LayerNorm")
    return all_shapes


def random_halves(generator, count):
    """f16 values of either sign with magnitudes from 1/64 to 1/8, as bytes."""
    exponents = bytes(((byte & 1) << 7) | (9 + (byte >> 1) % 3) << 2 | (byte >> 6) for byte in range(256))
    halves = bytearray(2 * count)
    halves[0::2] = generator.randbytes(count)
    halves[1::2] = generator.randbytes(count).translate(exponents)
    return bytes(halves)


def write_random_model(directory):
    """A Hugging Face directory with random weights; the same on every run."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(MINILM))
    generator = random.Random(1)
    header, blobs, end = {}, [], 0
    for name, shape in shapes(MINILM).items():
        count = 1
        for extent in shape:
            count *= extent
        # Norms of 1: a random factor would let the f32 answers of systems differ by more than rounding.
        norm = name.endswith("LayerNorm.weight")
        blobs.append(b"\x00\x3c" * count if norm else random_halves(generator, count))
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": (end, end + 2 * count)}
        end += 2 * count
    head = json.dumps(header).encode()
    with open(directory / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        file.writelines(blobs)


def minilm_source(shared, scratch):
    """(directory, what it is)"""
    given = pathlib.Path(shared) / "models" / "minilm-sst2" if shared else None
    if given and (given / "model.safetensors").exists():
        return given, "MiniLM-L6 fine-tuned on SST-2"
    directory = scratch / "minilm-random"
    if not (directory / "model.safetensors").exists():
        write_random_model(directory)
    return directory, "the architecture of MiniLM-L6 with random weights"


def main():
    command, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shared = sys.argv[3] if len(sys.argv) > 3 else None
    output.mkdir(parents=True, exist_ok=True)
    minilm, words = minilm_source(shared, output.parent)
    for name, source in (("voice-commands", SOURCE / "models" / "voice-commands"), ("minilm", minilm)):
        for weights in ("int8", "int4", "f32") if name == "minilm" else ("int8", "f32"):
            target = output / f"{name}-{weights}.bantam"
            options = ["--weights", weights, "--parity", "none", "--json"]
            subprocess.run([command, "convert", source, "-o", target, *options], check=True, stdout=subprocess.DEVNULL)
    described = {"directory": os.path.abspath(minilm), "what": words}
    (output / "minilm.json").write_text(json.dumps(described))


if __name__ == "__main__":
    main()

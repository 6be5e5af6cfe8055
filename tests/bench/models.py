"""Makes the models that the benchmarks run: models.py COMMAND OUTPUT_DIRECTORY [SHARED_DIRECTORY] [--base]

voice-commands is the model that ships with the project; minilm is SHARED/models/minilm-sst2 where that exists, else the
same architecture (6 layers, 384 wide, 12 heads, 1536 in between, 30,522 pieces) with random weights and words: speed does
not depend on their values. Each becomes an int8 and an f32 file, minilm an int4 file, one with 80 % of its blocks of weights 0
(sparse), one whose activations are int8 throughout, by scales that calibration fixed (static), and one that is both, too;
minilm.json says which it was. With --base only BERT-base's architecture is made (12 layers, 768 wide, random weights) as
bert-base: int8, int4, static. Standard library only.
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
BERT_BASE = MINILM | {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
}
SPARSE = ["--prune", "0.8", "--sparse", "always"]
STATIC = ["--weights", "int8", "--activations", "static", "--plan", "fast"]
# Options of `bantam convert` for each form.
FORMS = {
    "int8": ["--weights", "int8"],
    "int4": ["--weights", "int4"],
    "sparse": ["--weights", "int8", *SPARSE],
    "static": STATIC,
    "static-sparse": [*STATIC, *SPARSE],
    "f32": ["--weights", "f32"],
}
SPECIAL_TOKENS = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]"}
TEXTS = "texts.txt"  # beside random weights


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


def write_random_model(directory, config):
    """A Hugging Face directory with random weights; the same on every run."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    words = [SPECIAL_TOKENS.get(i, f"word{i}") for i in range(config["vocab_size"])]
    (directory / "vocab.txt").write_text("\n".join(words) + "\n")
    generator = random.Random(1)
    header, blobs, end = {}, [], 0
    for name, shape in shapes(config).items():
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
    # As long as what OpenVINO's file is calibrated on (peer_models.py).
    texts = (" ".join(generator.choices(words[104:], k=6 + 5 * (i % 25))) for i in range(48))
    (directory / TEXTS).write_text("\n".join(texts) + "\n")


def minilm_source(shared, scratch):
    """(directory, texts that calibrate, what it is)"""
    given = pathlib.Path(shared) / "models" / "minilm-sst2" if shared else None
    texts = pathlib.Path(shared) / "data" / "sst2" / "train.jsonl" if shared else None
    if given and (given / "model.safetensors").exists() and texts.exists():
        return given, texts, "MiniLM-L6 fine-tuned on SST-2"
    return *random_source(scratch / "minilm-random", MINILM), "the architecture of MiniLM-L6 with random weights"


def random_source(directory, config):
    """(directory, texts that calibrate)"""
    if not (directory / TEXTS).exists():  # which is written last
        write_random_model(directory, config)
    return directory, directory / TEXTS


def make(command, output, name, source, forms, texts=None):
    for form in forms:
        target = output / f"{name}-{form}.bantam"
        options = [*FORMS[form], "--parity", "none", "--json"]
        if "--activations" in options:
            options += ["--calibrate", texts]
        subprocess.run([command, "convert", source, "-o", target, *options], check=True, stdout=subprocess.DEVNULL)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--base"]
    command, output = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    output.mkdir(parents=True, exist_ok=True)
    if "--base" in sys.argv:
        name, words = "bert-base", "the architecture of BERT-base with random weights"
        source, texts = random_source(output.parent / "bert-base-random", BERT_BASE)
        make(command, output, name, source, ("int8", "int4", "static"), texts)
    else:
        name = "minilm"
        source, texts, words = minilm_source(arguments[2] if len(arguments) > 2 else None, output.parent)
        make(command, output, "voice-commands", SOURCE / "models" / "voice-commands", ("int8", "f32"))
        make(command, output, name, source, FORMS, texts)
    described = {"directory": os.path.abspath(source), "what": words}
    (output / f"{name}.json").write_text(json.dumps(described))


if __name__ == "__main__":
    main()

"""skip_thoughts MODEL TABLE WORDS DIRECTORY: a published skip-thought encoder (Kiros et al., arXiv 1506.06726) as a directory to convert.

MODEL: uni_skip.npz or bi_skip.npz. TABLE: utable.npy or btable.npy, the vectors of words. WORDS: dictionary.txt, a word a line. DIRECTORY gets
config.json, model.safetensors and tokenizer.json (docs/recurrent.md). Needs numpy; files of pickled Python objects are not opened.
"""

import argparse
import json
import pathlib
import struct
import sys

import numpy

UNKNOWN = "UNK"


def gru(model, prefix):
    """A GRU of the file in torch's order (r, z, n), whose update gate keeps the state as theirs does: h' = z h + (1 - z) n. Theirs have one bias."""
    gates, own, state = (numpy.asarray(model[f"{prefix}_{name}"], numpy.float32) for name in ("W", "Wx", "Ux"))
    both = numpy.asarray(model[f"{prefix}_U"], numpy.float32)
    biases = [numpy.asarray(model[f"{prefix}_{name}"], numpy.float32) for name in ("b", "bx")]
    if gates.shape[1] != 2 * own.shape[1] or both.shape != (own.shape[1], 2 * own.shape[1]) or state.shape[1] != own.shape[1]:
        sys.exit(f"skip_thoughts: the matrices {prefix}_* do not fit each other")
    yield "weight_ih_l0", numpy.concatenate([gates, own], axis=1).T
    yield "weight_hh_l0", numpy.concatenate([both, state], axis=1).T
    yield "bias_ih_l0", numpy.concatenate(biases)
    yield "bias_hh_l0", numpy.zeros(3 * own.shape[1], numpy.float32)


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(numpy.ascontiguousarray(values, "<f4").tobytes())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("model", "table", "words", "directory"):
        arguments.add_argument(name, type=pathlib.Path)
    given = arguments.parse_args()
    model = numpy.load(given.model, allow_pickle=False)
    table = numpy.asarray(numpy.load(given.table, allow_pickle=False), numpy.float32)
    words = given.words.read_text(encoding="utf-8").split("\n")
    words = words[:-1] if words[-1] == "" else words
    if UNKNOWN not in words or len(words) > len(table) or len(set(words)) != len(words):
        sys.exit(f"skip_thoughts: {given.words} has no {UNKNOWN}, a word twice, or more words than {given.table} rows")
    both = "encoder_r_W" in model
    tensors = {"embedding.weight": table[: len(words)]}
    for prefix, direction in [("encoder", ""), ("encoder_r", "_reverse")][: 2 if both else 1]:
        tensors.update({f"gru.{name}{direction}": values for name, values in gru(model, prefix)})
    config = {
        "model_type": "recurrent",
        "architectures": ["RecurrentForSentenceEmbedding"],
        "vocab_size": len(words),
        "embedding_size": table.shape[1],
        "cell_type": "gru",
        "hidden_size": int(tensors["gru.weight_hh_l0"].shape[1]),
        "bidirectional": both,
        "normalize": True,
        "max_length": 512,
    }
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": UNKNOWN},
    }
    given.directory.mkdir(parents=True, exist_ok=True)
    (given.directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (given.directory / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n", encoding="utf-8")
    write_safetensors(given.directory / "model.safetensors", tensors)


if __name__ == "__main__":
    main()

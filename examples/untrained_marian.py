"""untrained_marian DATA DIRECTORY: a translator that knows nothing yet, for `bantam distill` to train from pairs of texts alone.

DATA: lines of JSON with the fields src and tgt. DIRECTORY gets a MarianMTModel as transformers writes it: random weights, and one
vocabulary of both languages (unigram, sentencepiece). Needs the package sentencepiece.
"""

import argparse
import array
import json
import math
import pathlib
import random
import tempfile

import sentencepiece


def make_vocabulary(data, directory, size):
    """source.spm, target.spm and vocab.json; the number of tokens."""
    with tempfile.TemporaryDirectory() as folder:
        texts = pathlib.Path(folder) / "texts"
        pairs = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
        texts.write_text("".join(f"{pair['src']}\n{pair['tgt']}\n" for pair in pairs), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(texts), model_prefix=f"{folder}/pieces", vocab_size=size, model_type="unigram",
            character_coverage=1.0, bos_id=-1, eos_id=0, unk_id=1, num_threads=1, minloglevel=1,
        )  # fmt: skip
        pieces = (pathlib.Path(folder) / "pieces.model").read_bytes()
    for name in ("source.spm", "target.spm"):
        (directory / name).write_bytes(pieces)
    model = sentencepiece.SentencePieceProcessor(model_proto=pieces)
    vocabulary = {model.id_to_piece(i): i for i in range(model.get_piece_size())}
    vocabulary["<pad>"] = len(vocabulary)
    (directory / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    return len(vocabulary)


def make_weights(config, seed):
    """Name: (shape, values). Matrices as Glorot and Bengio (2010), embeddings of length 1 on average; what is added to the residual is
    small at first, by the factors of DeepNet (arXiv 2203.00555), without which six layers with norms behind them begin slowly."""
    chance = random.Random(seed)
    width, tokens = config["d_model"], config["vocab_size"]
    deviation = width**-0.5
    weights = {
        "final_logits_bias": ([1, tokens], [0.0] * tokens),
        "model.shared.weight": ([tokens, width], [chance.gauss(0, deviation) for _ in range(tokens * width)]),
    }

    def linear(name, rows, columns, factor=1):
        bound = factor * math.sqrt(6 / (rows + columns))
        weights[f"{name}.weight"] = ([rows, columns], [chance.uniform(-bound, bound) for _ in range(rows * columns)])
        weights[f"{name}.bias"] = ([rows], [0.0] * rows)

    def norm(name):
        weights[f"{name}.weight"] = ([width], [1.0] * width)
        weights[f"{name}.bias"] = ([width], [0.0] * width)

    encoder, decoder = config["encoder_layers"], config["decoder_layers"]
    factors = {"encoder": 0.87 * (encoder**4 * decoder) ** -0.0625, "decoder": (12 * decoder) ** -0.25}
    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        for layer in range(config[f"{side}_layers"]):
            place = f"model.{side}.layers.{layer}"
            for attention in attentions:
                for part in ("q_proj", "k_proj"):
                    linear(f"{place}.{attention}.{part}", width, width)
                for part in ("v_proj", "out_proj"):
                    linear(f"{place}.{attention}.{part}", width, width, factors[side])
                norm(f"{place}.{attention}_layer_norm")
            linear(f"{place}.fc1", config[f"{side}_ffn_dim"], width, factors[side])
            linear(f"{place}.fc2", width, config[f"{side}_ffn_dim"], factors[side])
            norm(f"{place}.final_layer_norm")
    return weights


def write_safetensors(path, weights):
    header, blobs, at = {}, [], 0
    for name in sorted(weights):
        shape, values = weights[name]
        blobs.append(array.array("f", values).tobytes())
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(blobs[-1])]}
        at += len(blobs[-1])
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--vocabulary", type=int, default=6000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--encoder-layers", type=int, default=6)
    parser.add_argument("--decoder-layers", type=int, default=6)
    parser.add_argument("--positions", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    o.directory.mkdir(parents=True)
    tokens = make_vocabulary(o.data, o.directory, o.vocabulary)
    config = {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "activation_function": "relu",
        "d_model": o.width,
        "encoder_layers": o.encoder_layers,
        "decoder_layers": o.decoder_layers,
        "encoder_attention_heads": o.heads,
        "decoder_attention_heads": o.heads,
        "encoder_ffn_dim": 4 * o.width,
        "decoder_ffn_dim": 4 * o.width,
        "max_position_embeddings": o.positions,
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "is_encoder_decoder": True,
        "vocab_size": tokens,
        "decoder_vocab_size": tokens,
        "eos_token_id": 0,
        "pad_token_id": tokens - 1,
        "decoder_start_token_id": tokens - 1,
    }
    generation = {
        "bad_words_ids": [[tokens - 1]],
        "decoder_start_token_id": tokens - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
        "pad_token_id": tokens - 1,
        "max_length": o.positions,
        "num_beams": 2,
    }
    tokenizer = {
        "source_lang": "en",
        "target_lang": "de",
        "model_max_length": o.positions,
        "tokenizer_class": "MarianTokenizer",
    }
    for name, settings in (("config", config), ("generation_config", generation), ("tokenizer_config", tokenizer)):
        (o.directory / f"{name}.json").write_text(json.dumps(settings, indent=1) + "\n")
    write_safetensors(o.directory / "model.safetensors", make_weights(config, o.seed))


if __name__ == "__main__":
    main()

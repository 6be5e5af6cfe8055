"""Writes tests/golden/gguf: golden models as GGUF files, by the `gguf` package's writer and its own names of tensors.

Usage: python gguf_files.py [OUTPUT_DIRECTORY]
Needs gguf, torch, transformers, safetensors and sentencepiece (README.md has the versions); golden models (models/) must be there. What
stands in such files beside names (order of rows of Llama's queries and keys, norms of Gemma with 1 added, matrices of GPT-2 turned, marks in
front of WordPiece's words) is written here as docs/gguf.md says. "llama-blocks" are small random models in each type of blocks, with the
logits that transformers computes from the values that gguf takes the blocks for, and the ids that sentencepiece makes of texts.
"""

import io
import json
import pathlib
import sys

import gguf
import numpy
import sentencepiece
import torch
import transformers
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
TEXTS = [
    "the cat sings",
    " two  blanks",
    "caf\u00e9 \u4f60\u597d",
    "rain\nand sun",
    "",
    "<s> the dog",
    "likes 42 cats.",
]
# Types of blocks, and where their factors of 16 bits lie.
HALVES = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
    "IQ4_NL": (0,),
    "IQ4_XS": (0,),
    "MXFP4": (),
}
# name: architecture of the file
MODELS = {
    "sentence-mean": "bert",
    "nomic-encoder": "nomic-bert",
    "llama-generate": "llama",
    "llama-scaled": "llama",
    "qwen2-generate": "qwen2",
    "qwen3-generate": "qwen3",
    "gemma-generate": "gemma",
    "gemma2-generate": "gemma2",
    "gemma3-generate": "gemma3",
    "gpt2-text": "gpt2",
}
BLOCKS = dict(
    vocab_size=320,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=32,
    tie_word_embeddings=True,
)


def interleaved(rows, heads):
    """Reorders the rows of each head: the first row, the first of its second half, the second, ..."""
    width = rows.shape[0] // heads
    return rows.reshape(heads, 2, width // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def add_blocks(writer, name, rows, kind, heads):
    """Adds a matrix as blocks of `kind`, of queries and keys as interleaved() lays them. Returns the numbers that are in the file, each
    row at its own place."""
    blocks = gguf.quantize(rows, kind)
    writer.add_tensor(name, blocks, raw_dtype=kind)
    stood = gguf.dequantize(blocks, kind).reshape(rows.shape)
    if heads:
        half = stood.reshape(heads, -1, 2, stood.shape[1])
        stood = half.swapaxes(1, 2).reshape(stood.shape)
    return numpy.ascontiguousarray(stood)


def first_of(config, *keys, otherwise=None):
    return next((config[key] for key in keys if config.get(key) is not None), otherwise)


def add_settings(writer, config, kind):
    hidden, heads = first_of(config, "hidden_size", "n_embd"), first_of(config, "num_attention_heads", "n_head")
    writer.add_context_length(first_of(config, "max_position_embeddings", "n_positions"))
    writer.add_embedding_length(hidden)
    writer.add_block_count(first_of(config, "num_hidden_layers", "n_layer"))
    writer.add_feed_forward_length(first_of(config, "intermediate_size", "n_inner", otherwise=4 * hidden))
    writer.add_head_count(heads)
    for key, add in (
        ("num_key_value_heads", writer.add_head_count_kv),
        ("rms_norm_eps", writer.add_layer_norm_rms_eps),
        ("layer_norm_eps", writer.add_layer_norm_eps),
        ("layer_norm_epsilon", writer.add_layer_norm_eps),
        ("attn_logit_softcapping", writer.add_attn_logit_softcapping),
        ("final_logit_softcapping", writer.add_final_logit_softcapping),
    ):
        if config.get(key) is not None:
            add(config[key])
    if "num_key_value_heads" in config:
        width = config.get("head_dim") or hidden // heads
        writer.add_key_length(width)
        writer.add_value_length(width)
    if kind in ("gemma2", "gemma3"):
        writer.add_sliding_window(config["sliding_window"])
    rope = config.get("rope_parameters", {})
    rope = rope.get("full_attention", rope)
    if "rope_theta" in rope:
        writer.add_rope_freq_base(rope["rope_theta"])
    if kind in ("bert", "nomic-bert"):
        writer.add_causal_attention(False)
        writer.add_token_type_count(config["type_vocab_size"])
    if kind == "bert":
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    return rope


def divisors(rope, width):
    """The numbers that Llama 3 divides angles by (arXiv 2407.21783), one per pair of columns."""
    frequencies = 1 / rope["rope_theta"] ** (numpy.arange(0, width, 2) / width)
    lengths = 2 * numpy.pi / frequencies
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    smooth = (rope["original_max_position_embeddings"] / lengths - low) / (high - low)
    between = 1 / ((1 - numpy.clip(smooth, 0, 1)) / rope["factor"] + numpy.clip(smooth, 0, 1))
    return between.astype(numpy.float32)


def renamed(name, kind):
    """transformers' names where the package knows others."""
    if kind == "nomic-bert":
        pairs = {
            "embeddings.LayerNorm": "emb_ln",
            "layer.": "layers.",
        }
        for old, new in pairs.items():
            name = name.replace(old, new)
    return name


def add_tensors(writer, tensors, config, kind):
    names = gguf.get_tensor_name_map(
        next(arch for arch, name in gguf.MODEL_ARCH_NAMES.items() if name == kind),
        first_of(config, "num_hidden_layers", "n_layer"),
    )
    heads = first_of(config, "num_attention_heads", "n_head")
    for name, values in sorted(tensors.items()):
        if "pooler" in name or name.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        made = names.get_name(renamed(name, kind), try_suffixes=(".weight", ".bias"))
        if made is None:
            raise ValueError(f"no name for {name}")
        values = values.astype(numpy.float32)
        if kind == "llama" and ".attn_q." in made:
            values = interleaved(values, heads)
        elif kind == "llama" and ".attn_k." in made:
            values = interleaved(values, config["num_key_value_heads"])
        elif kind.startswith("gemma") and made.endswith("norm.weight"):
            values = values + 1
        elif kind == "gpt2" and made.split(".")[-2] in ("attn_qkv", "attn_output", "ffn_up", "ffn_down"):
            values = values.T.copy() if values.ndim == 2 else values
        writer.add_tensor(made, values.astype(numpy.float16) if values.ndim > 1 else values)


def add_tokenizer(writer, path, kind):
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.get)
    control = {added["content"] for added in tokenizer["added_tokens"] if added["special"]}
    kinds = [gguf.TokenType.CONTROL if token in control else gguf.TokenType.NORMAL for token in tokens]
    if kind == "bert":
        marked = [
            token if token in control else token[2:] if token.startswith("##") else "\u2581" + token for token in tokens
        ]
        writer.add_tokenizer_model("bert")
        writer.add_tokenizer_pre("jina-v2-en")
        writer.add_token_list(marked)
        for token, add in (
            ("[UNK]", writer.add_unk_token_id),
            ("[SEP]", writer.add_sep_token_id),
            ("[PAD]", writer.add_pad_token_id),
            ("[CLS]", writer.add_bos_token_id),
            ("[MASK]", writer.add_mask_token_id),
        ):
            add(vocabulary[token])
    else:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(tokens)
        merges = tokenizer["model"]["merges"]
        writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(0)
    writer.add_token_types(kinds)


def write_model(name, kind, target):
    source = HERE / "models" / name
    config = json.loads((source / "config.json").read_text())
    writer = gguf.GGUFWriter(target / f"{name}.gguf", kind)
    writer.add_name(f"Golden {name}")
    rope = add_settings(writer, config, kind)
    if rope.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", divisors(rope, config["head_dim"]))
    if (source / "tokenizer.json").exists():
        add_tokenizer(writer, source / "tokenizer.json", kind)
    add_tensors(writer, load_file(source / "model.safetensors"), config, kind)
    finish(writer)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def train_pieces():
    """SentencePiece's BPE with a piece for every byte, so that no text is unknown."""
    words = "the a cat dog sun rain runs sings sees likes and or when far near old new cats dogs".split()
    lines = [" ".join(words[i:] + words[:i]) for i in range(len(words))] * 3
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=BLOCKS["vocab_size"],
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        hard_vocab_limit=True,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def add_pieces(writer, pieces):
    kinds = []
    for token in range(pieces.vocab_size()):
        kinds.append(
            gguf.TokenType.UNKNOWN
            if pieces.is_unknown(token)
            else gguf.TokenType.CONTROL
            if pieces.is_control(token)
            else gguf.TokenType.BYTE
            if pieces.is_byte(token)
            else gguf.TokenType.NORMAL
        )
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([pieces.id_to_piece(token) for token in range(pieces.vocab_size())])
    writer.add_token_scores([pieces.get_score(token) for token in range(pieces.vocab_size())])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(pieces.bos_id())
    writer.add_eos_token_id(pieces.eos_id())
    writer.add_unk_token_id(pieces.unk_id())


def write_blocks(target):
    """One model in each type of blocks; what transformers answers with the values that they stand for."""
    torch.manual_seed(8)
    config = transformers.LlamaConfig(**BLOCKS)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for name, value in sorted(model.named_parameters()):
            value.normal_(0, 0.3) if value.dim() > 1 else value.uniform_(0.5, 1.5)
    exact = {name: value.detach().numpy().copy() for name, value in model.named_parameters()}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    pieces = train_pieces()
    cases = []
    for kind in (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.BF16):
        writer = gguf.GGUFWriter(target / f"llama-blocks-{kind.name.lower()}.gguf", "llama")
        add_settings(writer, {**config.to_dict(), **BLOCKS}, "llama")
        add_pieces(writer, pieces)
        state = {}
        for name, values in sorted(exact.items()):
            made = names.get_name(name, try_suffixes=(".weight",))
            heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}.get(
                made.split(".")[-2], 0
            )
            rows = interleaved(values, heads) if heads else values
            if values.ndim == 1:
                writer.add_tensor(made, rows)
                state[name] = torch.from_numpy(values)
                continue
            state[name] = torch.from_numpy(add_blocks(writer, made, rows, kind, heads))
        finish(writer)
        model.load_state_dict(state, strict=False)
        for text in TEXTS:
            ids = [pieces.bos_id()] + pieces.encode(text)
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0, -1].tolist()
            cases.append({"type": kind.name.lower(), "text": text, "ids": ids, "logits": logits})
    lines = [json.dumps({**case, "logits": [round(x, 6) for x in case["logits"][:40]]}) for case in cases]
    (target / "llama-blocks.jsonl").write_text("\n".join(lines) + "\n")


def write_values(target):
    """Two blocks of random bytes in each type, with factors in bounds, and the values that the package takes them for."""
    generator = numpy.random.default_rng(11)
    lines = []
    for name, halves in HALVES.items():
        kind = gguf.GGMLQuantizationType[name]
        blocks = generator.integers(0, 256, (2, gguf.GGML_QUANT_SIZES[kind][1]), dtype=numpy.uint8)
        for block in blocks:
            for at in halves:
                block[at : at + 2] = numpy.array([generator.uniform(-1, 1)], numpy.float16).view(numpy.uint8)
        if name == "MXFP4":
            blocks[:, 0] = 0, 130  # the smallest exponent, and a usual one
        values = gguf.dequantize(blocks, kind).astype(numpy.float32)
        line = {
            "type": int(kind),
            "name": name,
            "bytes": blocks.tobytes().hex(),
            "bits": values.view(numpy.uint32).ravel().tolist(),
        }
        lines.append(json.dumps(line))
    (target / "block-values.jsonl").write_text("\n".join(lines) + "\n")


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "gguf"
    target.mkdir(parents=True, exist_ok=True)
    for name, kind in MODELS.items():
        write_model(name, kind, target)
    write_blocks(target)
    write_values(target)


if __name__ == "__main__":
    main()

"""Writes models/gliner-*: tiny random models of the library `gliner`, each with what it answers.

Usage: python make_gliner.py [OUTPUT_DIRECTORY]
Needs gliner (README.md has the version), which wants another transformers than make_golden.py: an environment of its own.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import gliner
import tokenizers
import torch
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

MOST_LABELS = 100  # of a text: the columns of a width in the file's scores
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
TEXTS = [
    ("Ada Lovelace lived in London.", ["person", "city"]),
    ("sea", ["person"]),
    ("Zoë-Anne met J_P 3rd; they ate tea & toast in N.Y. 東京 late", ["person", "name of a place", "food"]),
    (" a-b a--b  -c \t d_\u00a0e f-", ["x", "y z"]),
    ("tea tea tea tea tea tea tea tea tea tea tea tea tea tea", ["a", "b", "c", "d", "e"]),
]
# name: model_type and settings of the encoder, settings of the head, tokenizer
MODELS = {
    "gliner-find": (
        dict(
            model_type="deberta-v2",
            hidden_size=24,
            num_attention_heads=3,
            num_hidden_layers=2,
            intermediate_size=28,
            max_position_embeddings=24,
            relative_attention=True,
            position_buckets=6,
            share_att_key=True,
            norm_rel_ebd="layer_norm",
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            type_vocab_size=0,
        ),
        dict(hidden_size=18, max_width=4, max_len=12, num_rnn_layers=1),
        "pieces",
    ),
    "gliner-bert": (
        dict(
            model_type="bert",
            hidden_size=16,
            num_attention_heads=2,
            num_hidden_layers=1,
            intermediate_size=20,
            max_position_embeddings=64,
            type_vocab_size=2,
        ),
        dict(hidden_size=16, max_width=3, num_rnn_layers=0, embed_ent_token=False),
        "wordpiece",
    ),
}


def letters(text):
    return sorted({c for c in text if not c.isspace()})


def pieces_tokenizer():
    """As DeBERTa's: SentencePiece's unigram, a blank before every word."""
    text = "".join(t + "".join(ls) for t, ls in TEXTS)
    words = ["▁", "▁tea", "▁in", "▁person", "▁a", "▁L", "on", "don", "▁city", "▁of", "ace"]
    vocabulary = [(s, 0.0) for s in SPECIAL]
    vocabulary += [(w, -2.0 - 0.1 * i) for i, w in enumerate(words)]
    vocabulary += [(c, -5.0 - 0.01 * i) for i, c in enumerate(letters(text.replace("&", "").replace("京", "")))]
    tokenizer = tokenizers.Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def wordpiece_tokenizer():
    text = "".join(t + "".join(ls) for t, ls in TEXTS).lower()
    words = ["tea", "in", "person", "city", "##on", "##don", "##ace"]
    vocabulary = [*SPECIAL, *words, *letters(text), *("##" + c for c in letters(text) if c.isalnum())]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def write_tokenizer(kind, directory):
    tokenizer = pieces_tokenizer() if kind == "pieces" else wordpiece_tokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", [("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.save(str(directory / "tokenizer.json"))
    names = ["pad", "cls", "sep", "unk", "mask"]
    settings = {f"{name}_token": token for name, token in zip(names, SPECIAL, strict=True)}
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))
    return tokenizer.get_vocab_size()


def randomize(model, seed):
    generator = torch.Generator().manual_seed(seed)
    for name, value in model.named_parameters():
        with torch.no_grad():
            norm = "norm" in name.lower()
            gain = 1.5 / value.shape[-1] ** 0.5 if value.dim() > 1 else 0.2
            value.copy_(torch.randn(value.shape, generator=generator) * gain + (1 if norm and "weight" in name else 0))
            if "embeddings.weight" in name:
                value.copy_(torch.randn(value.shape, generator=generator))


def scores_of(model, text, labels):
    """Ids, marks, words and the library's scores [words, widths, labels], as its own pipeline computes them."""
    tokens, starts, ends = model.prepare_inputs([text])
    batch = model.data_processor.collate_raw_batch([{"tokenized_text": tokens[0], "ner": None}], entity_types=labels)
    inputs = model.data_processor.tokenize_and_prepare_labels(batch, prepare_labels=False)
    words = len(batch["tokens"][0])
    with torch.no_grad():
        logits = model.model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            words_mask=inputs["words_mask"],
            text_lengths=batch["seq_length"],
            span_idx=batch["span_idx"],
            span_mask=batch["span_mask"],
        ).logits[0]
    return inputs, logits[:words], words


def marks_of(model, inputs):
    """1: stands for a label, 2: begins a word."""
    ids, words = inputs["input_ids"][0].tolist(), inputs["words_mask"][0].tolist()
    label = model.config.class_token_index
    behind = not model.config.embed_ent_token
    at = [i + behind for i, id in enumerate(ids) if id == label]
    return [1 if i in at else 2 if words[i] > 0 else 0 for i in range(len(ids))]


def rounded(x):
    return float(f"{x:.8g}")


def case_of(model, text, labels):
    inputs, logits, words = scores_of(model, text, labels)
    marks = marks_of(model, inputs)
    rows = [i for i, mark in enumerate(marks) if mark == 2]
    assert len(rows) == words, "words without tokens"
    widths = model.config.max_width
    values = []
    for word in range(words):
        row = [0] * (widths * MOST_LABELS)
        for width in range(min(widths, words - word)):
            for label in range(len(labels)):
                row[width * MOST_LABELS + label] = rounded(logits[word, width, label].item())
        values.append(row)
    found = {}
    for name, options in {
        "flat": {},
        "nested": dict(flat_ner=False, threshold=0.3),
        "several": dict(multi_label=True, threshold=0.4),
    }.items():
        entities = model.predict_entities(text, labels, **options)
        found[name] = [[e["start"], e["end"], e["label"], rounded(e["score"])] for e in entities]
    return {
        "text": text,
        "labels": labels,
        "ids": inputs["input_ids"][0].tolist(),
        "marks": marks,
        "first_piece": rows,
        "logits": values,
        "found": found,
    }


def make(directory, seed):
    encoder, head, kind = MODELS[directory.name]
    shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        bare = pathlib.Path(folder) / "encoder"
        bare.mkdir()
        encoder = dict(encoder, vocab_size=write_tokenizer(kind, bare), pad_token_id=0)
        (bare / "config.json").write_text(json.dumps(encoder))
        config = dict(model_name=str(bare), encoder_config=encoder, max_types=5, dropout=0.0, **head)
        model = gliner.GLiNER.from_config(config, backbone_from_pretrained=False)
        randomize(model.model, seed)
        model.model.half().float()
        model.save_pretrained(directory, safe_serialization=True)
    settings = json.loads((directory / "gliner_config.json").read_text())
    settings["model_name"] = "encoder"
    settings["encoder_config"].pop("dtype", None)
    (directory / "gliner_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    import safetensors.torch

    path = directory / "model.safetensors"
    tensors = {name: value.half().contiguous() for name, value in safetensors.torch.load_file(path).items()}
    safetensors.torch.save_file(tensors, path)
    model.model.double().eval()
    with open(directory / "expected.jsonl", "w") as file:
        for text, labels in TEXTS:
            line = json.dumps(case_of(model, text, labels), separators=(",", ":"), ensure_ascii=False)
            file.write(line + "\n")


def main():
    output = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "models")
    for seed, name in enumerate(MODELS):
        make(output / name, 40 + seed)


if __name__ == "__main__":
    main()

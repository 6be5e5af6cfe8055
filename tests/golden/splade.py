"""SPLADE's sparse embeddings (arXiv 2107.05720, 2109.10086), answered by sentence-transformers' SparseEncoder.

Directories of two layouts: "splade" as published ones are, with the modules' older names, and "splade-sum" as sentence-transformers
saves one now: sums over tokens, and the logarithm twice.
"""

import json

import transformers

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY += [
    *"abdeikolmnt.,!?-",
    *("##" + letter for letter in "abdeikolmnt"),
    "ba",
    "di",
    "ko",
    "lu",
    "na",
    "ti",
]
TEXTS = ("ba di ko", "Ba, lu!", "ti", "na ko - di ba. The abba")
LAYOUTS = {
    "splade": ("BertForMaskedLM", "max", "relu"),
    "splade-sum": ("DistilBertForMaskedLM", "sum", "log1p_relu"),
}


def write(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def is_one(directory):
    return directory.name in LAYOUTS


def load(directory):
    import sentence_transformers

    return sentence_transformers.SparseEncoder(str(directory), device="cpu").double().eval()


def make(directory, shape, randomize, seed):
    """Weights and settings; "terms.jsonl" has the encoder's own terms of texts, greatest weight first."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    kind, strategy, function = LAYOUTS[directory.name]
    model_class = getattr(transformers, kind)
    names = {"dim": 18, "n_heads": 3, "hidden_dim": 20, "n_layers": 1} if "Distil" in kind else shape
    settings = {
        **names,
        "vocab_size": len(VOCABULARY),
        "max_position_embeddings": 32,
        "pad_token_id": 0,
    }
    model = model_class(model_class.config_class(**settings))
    randomize(model, seed)
    model.tie_weights()
    model.half().save_pretrained(directory)
    (directory / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    write(
        directory / "tokenizer_config.json",
        {"do_lower_case": True, "tokenizer_class": "BertTokenizer"},
    )
    if directory.name == "splade":
        base = "sentence_transformers.sparse_encoder.models."
        types = {"": base + "MLMTransformer", "1_SpladePooling": base + "SpladePooling"}
        modules = [{"idx": i, "name": str(i), "path": path, "type": t} for i, (path, t) in enumerate(types.items())]
        write(directory / "modules.json", modules)
        pooling = {"pooling_strategy": strategy, "activation_function": function}
        write(
            directory / "1_SpladePooling" / "config.json",
            {**pooling, "word_embedding_dimension": len(VOCABULARY)},
        )
        write(directory / "config_sentence_transformers.json", {"model_type": "SparseEncoder", "prompts": {}})
        write(
            directory / "sentence_bert_config.json",
            {"max_seq_length": 24, "do_lower_case": False},
        )
    else:
        transformer = Transformer(str(directory), transformer_task="fill-mask")
        pooling = SpladePooling(pooling_strategy=strategy, activation_function=function)
        SparseEncoder(modules=[transformer, pooling], device="cpu").half().save_pretrained(str(directory))
    encoder = load(directory)
    terms = encoder.decode(encoder.encode(list(TEXTS)))
    with open(directory / "terms.jsonl", "w") as file:
        for text, found in zip(TEXTS, terms, strict=True):
            line = {
                "text": text,
                "terms": [[term, float(f"{weight:.8g}")] for term, weight in found],
            }
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

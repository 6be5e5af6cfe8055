"""A distilled multilingual MiniLM as published: BERT's graph (positions from 0), the tokenizer of XLM-RoBERTa beside it."""

import json
import shutil

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers, processors

WORDS = [
    "▁the",
    "▁cat",
    "▁sat",
    "▁eine",
    "▁Katze",
    "▁le",
    "▁chat",
    "▁кот",
    "▁猫",
    "▁",
    "s",
    "t",
    "a",
    "e",
    "n",
    "ch",
    "а",
]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
# Longer and shorter than a page of 16 tokens; the last one is cut.
TEXTS = ["a", "the cat sat", "eine Katze, le chat", "кот 猫 the chat sat a sea tan tea", "the cat " * 20]
LONGEST = 20


def write_tokenizer(directory):
    pieces = [(word, 0.0) for word in SPECIAL]
    pieces += [(word, -2.0 - 0.25 * i) for i, word in enumerate(WORDS)]
    tokenizer = tokenizers.Tokenizer(models.Unigram([*pieces, ("<mask>", 0.0)], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([*SPECIAL, tokenizers.AddedToken("<mask>", lstrip=True)])
    tokenizer.save(str(directory / "tokenizer.json"))
    settings = {
        "tokenizer_class": "XLMRobertaTokenizer",
        "do_lower_case": True,  # in published files, where it means nothing
        "model_max_length": 512,
        **{"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"},
        **{"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"},
    }
    (directory / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")


def make(directory, shape, randomize, seed):
    """A directory of sentence-transformers with answers to texts. The table has more rows than the tokenizer has tokens."""
    from sentence_transformers import SentenceTransformer, models as modules

    bare = directory.parent / "bare"
    model = transformers.BertModel(transformers.BertConfig(**shape, pad_token_id=1))
    randomize(model, seed)
    model.half().save_pretrained(bare)
    write_tokenizer(bare)
    transformer = modules.Transformer(str(bare), max_seq_length=LONGEST)
    pooling = modules.Pooling(shape["hidden_size"], pooling_mode="mean")
    SentenceTransformer(modules=[transformer, pooling], device="cpu").half().save(
        str(directory), create_model_card=False
    )
    shutil.rmtree(bare)
    pipeline = SentenceTransformer(str(directory), device="cpu", model_kwargs={"dtype": torch.float64}).double()
    with open(directory / "expected.jsonl", "w") as file:
        for text in TEXTS:
            ids = pipeline.tokenize([text])["input_ids"][0].tolist()
            vector = [float(f"{x:.8g}") for x in pipeline.encode([text])[0].tolist()]
            line = {"text": text.strip(), "ids": ids, "sentence_embedding": vector}
            file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")

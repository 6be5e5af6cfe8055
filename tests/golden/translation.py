"""A Marian of two SentencePiece models, whose pieces one vocabulary numbers, with languages; and what MarianTokenizer and
transformers' generate() make of fifty texts, behind a language or by themselves."""

import json
import pathlib
import random
import tempfile

import sentencepiece
import torch
import transformers
from pair_generation import SMALL, generated, hangs_on_rounding, randomize_pair

NAME = "marian-text"
SOURCE = "the a cat dog sun rain runs sings sees likes and or when far near old new caf\u00e9".split()
TARGET = (
    "der ein Katze Hund Sonne Stra\u00dfe l\u00e4uft singt sieht mag und oder wenn fern nah alt neu \u00fcber".split()
)
LANGUAGES = ["deu", "fra"]


def train(words, seed, path):
    draw = random.Random(seed)
    lines = iter([" ".join(draw.choices(words, k=12)) for _ in range(400)])
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_prefix=str(path),
        vocab_size=38,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )


def tokenizer(directory):
    with tempfile.TemporaryDirectory() as temporary:
        pieces = {}
        for name, words, seed in (("source", SOURCE, 1), ("target", TARGET, 2)):
            train(words, seed, pathlib.Path(temporary) / name)
            (directory / f"{name}.spm").write_bytes((pathlib.Path(temporary) / f"{name}.model").read_bytes())
            model = sentencepiece.SentencePieceProcessor(str(directory / f"{name}.spm"))
            for i in range(3, model.get_piece_size()):
                pieces[model.id_to_piece(i)] = None
    texts = ["</s>", "<unk>", *(f">>{code}<<" for code in LANGUAGES), *sorted(pieces), "<pad>"]
    (directory / "vocab.json").write_text(json.dumps({text: i for i, text in enumerate(texts)}, indent=1) + "\n")
    settings = {"source_lang": "en", "target_lang": "de", "model_max_length": 40, "tokenizer_class": "MarianTokenizer"}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")
    return transformers.MarianTokenizer.from_pretrained(directory)


def texts():
    draw = random.Random(3)
    words = SOURCE + ["Stra\u00dfe", "\u2603", "\u00fc", "caf\u00e9\u00e9", "Sun", "<unk>"]
    return [" ".join(draw.choices(words, k=draw.randrange(1, 9))) for _ in range(400)]


def make(directory, randomize, seed):
    directory.mkdir(parents=True, exist_ok=True)
    words = tokenizer(directory)
    size = len(words.encoder)
    config = transformers.MarianConfig(
        vocab_size=size,
        **SMALL,
        pad_token_id=size - 1,
        eos_token_id=0,
        decoder_start_token_id=size - 1,
        scale_embedding=True,
    )
    model = transformers.MarianMTModel(config)
    randomize_pair(model, randomize, seed)
    model.generation_config = transformers.GenerationConfig(
        pad_token_id=size - 1,
        eos_token_id=0,
        decoder_start_token_id=size - 1,
        bad_words_ids=[[size - 1]],
        max_length=20,
        num_beams=3,
        forced_eos_token_id=0,
    )
    model.half().save_pretrained(directory)
    # Positions are not of these weights: they are made anew.
    model = transformers.MarianMTModel.from_pretrained(directory, dtype=torch.float64).eval()
    with open(directory / "generate.jsonl", "w") as file:
        kept = 0
        for number, text in enumerate(texts()):
            code = [None, *LANGUAGES][number % 3]
            given = text if code is None else f">>{code}<< {text}"
            ids = words(given).input_ids
            made, score = generated(model, ids, {})
            if hangs_on_rounding(model, ids, {}, made):
                continue
            line = {"text": text, "source": ids, "ids": made, "generated": words.decode(made, skip_special_tokens=True)}
            if code is not None:
                line["to"] = code
            file.write(json.dumps({**line, "score": score}, ensure_ascii=False, separators=(",", ":")) + "\n")
            kept += 1
            if kept == 50:
                return
    raise AssertionError(kept)

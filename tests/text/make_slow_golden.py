#!/usr/bin/env python3
"""Writes tests/text/golden/{blenderbot_small,m2m_100,m2m_100_bpe}: small vocabularies of tokenizers that transformers has in Python only, and
what those make of random texts of several scripts: ids, and the text of the ids.

Needs transformers 5.24 and sentencepiece 0.2. What bantam does not do as they do is left out: a capital sigma at the end of a word (Python's
lower case minds what stands beside it), and several unknown letters in a row of which one is a token of the vocabulary alone.
"""

import collections
import json
import pathlib
import random
import shutil

import sentencepiece
from transformers import BlenderbotSmallTokenizer, M2M100Tokenizer

WORDS = (
    "the a cat dog Hello WORLD don't it's low lower lowest new newer caf\u00e9 na\u00efve \u0130stanbul Stra\u00dfe \u00fcber l\u00e4uft "
    "\u043c\u0438\u0440 \u0421\u043b\u043e\u0432\u043e \u03b4\u03cd\u03bf \u65e5\u672c\u8a9e \u5b66\u6821 "
    "\u0645\u0631\u062d\u0628\u0627 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 \ud55c\uad6d\uc5b4 "
    "\u00bd \ufb01sh \u2163 5.00 3,14 x"
).split()
ODD = [
    *".,!?()'\"-_@#",
    "@@",
    "...",
    "?!",
    "\u2026",
    "\U0001f600",
    "\u2603",
    "\u200b",
    "e\u0301",
    "\x1c",
    "\u30ab\u3099",
]
BLANKS = [" ", "  ", "\n", "\n\n", " \n", "\n ", "\t", "\u00a0", "\u2003", "\r\n", "\u3000", "\u0085", ""]
# A few of the normaliser's rules that published models have.
NORMAL = {
    "FB01": "66 69",
    "2163": "49 56",
    "65 301": "E9",
    "BD": "31 2044 32",
    "30AB 3099": "30AC",
    **dict.fromkeys(("9", "A", "D", "85", "A0", "2003", "3000"), "20"),
    "200B": "20",
    "2026": "2E 2E 2E",
}


def random_text(draw, specials):
    parts = []
    for _ in range(draw.randrange(1, 12)):
        kind = draw.random()
        source = WORDS if kind < 0.65 else ODD if kind < 0.93 else specials
        parts += [draw.choice(source), draw.choice(BLANKS if draw.random() < 0.5 else [" "])]
    return draw.choice(["", "", draw.choice(BLANKS)]) + "".join(parts)


def write_expected(folder, tokenizer, specials, seed, count=160):
    draw = random.Random(seed)
    with open(folder / "expected.jsonl", "w", encoding="utf-8") as out:
        fixed = ["", " ", "\n", "a\n", "'\n", "\n'", "it's\nnew\n", "The cat. The dog?", "low" * 40]
        for text in fixed + [random_text(draw, specials) for _ in range(count)]:
            ids = tokenizer(text)["input_ids"]
            decoded = tokenizer.decode(ids, skip_special_tokens=True)
            # bantam leaves out the mark of a text that ends within a word.
            line = {"a": text, "b": None, "ids": ids, "text": None if decoded.endswith("@@") else decoded}
            out.write(json.dumps(line, separators=(",", ":")) + "\n")
        for first, second in (("the cat", "a dog"), ("", "x"), ("low", "")):
            ids = tokenizer(first, second)["input_ids"]
            out.write(json.dumps({"a": first, "b": second, "ids": ids, "text": None}, separators=(",", ":")) + "\n")


def learn_merges(words, count):
    """Byte pair encoding's, of words with how often they are there; and the words in their symbols."""
    cut = {word: [*word[:-1], word[-1] + "</w>"] for word in words}
    merges = []
    while len(merges) < count:
        pairs = collections.Counter()
        for word, times in words.items():
            for pair in zip(cut[word], cut[word][1:], strict=False):
                pairs[pair] += times
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for word, symbols in cut.items():
            at = 0
            while at + 1 < len(symbols):
                if (symbols[at], symbols[at + 1]) == best:
                    symbols[at : at + 2] = ["".join(best)]
                at += 1
            cut[word] = symbols
    return merges, cut


def make_blenderbot_small(folder):
    draw = random.Random(3)
    words = {word.lower(): draw.randrange(1, 9) for word in WORDS if not set(word) & set(".,!?()'")}
    words |= {"__newln__": 20, ".": 9, "'": 9, ",": 9, "!": 5, "(the": 3, ")": 3, ".a": 2}
    merges, cut = learn_merges(words, 110)
    # The vocabulary has what words become at the end, and some letters: the rest is named by merges alone.
    found = {symbol for symbols in cut.values() for symbol in symbols} | set("lowernwcat") | {"e</w>", "t</w>", "x</w>"}
    kept = sorted(found)
    draw.shuffle(kept)
    spelled = [token[:-4] if token.endswith("</w>") else token + "@@" for token in kept[6:]]
    tokens = ["__null__", "__start__", "__end__", "__unk__", *dict.fromkeys(spelled)]
    write_json(folder / "vocab.json", {token: i for i, token in enumerate(tokens)})
    lines = ["#version: 0.2", *(" ".join(merge) for merge in merges), ""]
    (folder / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BlenderbotSmallTokenizer"})
    tokenizer = BlenderbotSmallTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    write_expected(folder, tokenizer, ["__start__", "__end__", "__unk__", "__START__"], 5)


def make_m2m_100(folder, kind, size, seed):
    draw = random.Random(seed)
    rules = folder / "rules.tsv"
    rules.write_text("".join(f"{source}\t{target}\n" for source, target in NORMAL.items()))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(draw.choices(WORDS, k=12)) for _ in range(300)]),
        model_prefix=str(folder / "sentencepiece.bpe"),
        vocab_size=size,
        model_type=kind,
        normalization_rule_tsv=str(rules),
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    (folder / "sentencepiece.bpe.vocab").unlink()
    rules.unlink()
    model = str(folder / "sentencepiece.bpe.model")
    processor = sentencepiece.SentencePieceProcessor(model)
    pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    draw.shuffle(pieces)
    # Some pieces have no number; a letter has one that is no piece.
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *pieces[6:], "\u2603", "madeupword0000"]
    write_json(folder / "vocab.json", {token: i for i, token in enumerate(tokens)})
    plain = M2M100Tokenizer(str(folder / "vocab.json"), model)
    languages = list(plain.lang_token_to_id)
    write_json(folder / "special_tokens_map.json", {"additional_special_tokens": languages})
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "M2M100Tokenizer", "src_lang": "de"})
    tokenizer = M2M100Tokenizer(
        str(folder / "vocab.json"), model, src_lang="de", additional_special_tokens=list(languages)
    )
    write_expected(folder, tokenizer, ["__en__", "__de__", "</s>", "<s>", "<unk>", "__xx__"], seed)


def write_json(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n", encoding="utf-8")


def main():
    root = pathlib.Path(__file__).resolve().parent / "golden"
    makers = {
        "blenderbot_small": make_blenderbot_small,
        "m2m_100": lambda folder: make_m2m_100(folder, "unigram", 160, 7),
        "m2m_100_bpe": lambda folder: make_m2m_100(folder, "bpe", 260, 9),
    }
    for name, make in makers.items():
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).mkdir(parents=True)
        make(root / name)


if __name__ == "__main__":
    main()

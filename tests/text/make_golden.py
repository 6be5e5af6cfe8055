#!/usr/bin/env python3
"""Writes golden/NAME/{tokenizer.json,expected.jsonl}: small vocabularies, texts in many scripts (our own), and the
ids, byte offsets and segments that Hugging Face `tokenizers` gives them. Needs the `tokenizers` package.
"""

import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from conformance import SPECIALS, Truncating, make_tokenizer, to_bytes
from conformance_bpe import LLAMA3, make
from conformance_normal import SETTINGS
from conformance_words import CLIP, byte_pairs, normal, split, splitters, words

TEXTS = [
    "",
    " ",
    "Hello, world!",
    "unaffable walking",
    "  two\tblanks\nand a line\r\n",
    "a" * 100,
    "a" * 101,
    "x" * 30 + "\u00e9" * 70,
    "x" * 30 + "\u00e9" * 71,
    "state-of-the-art $5.00 (50%)",
    "don't e-mail @home #tag",
    "Caf\u00e9 cafe\u0301 CAFE\u0301 na\u00efve \u00c5ngstr\u00f6m \u212bngstrom",
    "\u0130stanbul I\u0307zmir \u0131l\u0131k",
    "\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03cd\u03c2 \u03a3\u03a3 \u1fef \u1f84",
    "\u0419\u043e\u0433\u0443\u0440\u0442 \u0451\u043b\u043a\u0430 \u0401\u041b\u041a\u0410",
    "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002\u6211\u4eec\u8d70\u5427\uff01",
    "\u65e5\u672c\u8a9e\u306e\u6587\u3068\u30ab\u30bf\u30ab\u30ca \uff76\uff9e\u304c\u304b\u3099",
    "\ud55c\uad6d\uc5b4 \uac00\uac01\u1100\u1161\u11a8",
    "\ufa0e\uf900\U0002f800\U00020000 a\u4e2db",
    "\u0645\u0631\u062d\u0628\u064b\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060c",
    "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e\u0964",
    "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0bca\u0bcb",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\u1019\u103c\u1014\u103a\u1019\u102c",
    "\u12a0\u121b\u122d\u129b\u1361\u1240\u1295",
    "\ua9ad\ua9c0\u0301\ua9c0 \u1b05\u1b44\u0327\u1b44 \U000116b6\u0301",
    "e\u0301\ua9c0\u0327\u1b44x",
    "\U0001d15e\U0001d165\u0301\U0001d16d\U0001d160",
    "\u302e\u0300\u302f\u0323",
    "zero\u200bwidth\u200djoin\ufeff soft\u00adhyphen",
    "nul\u0000here \ufffd bad",
    "bell\u0007 \u0085next \u2028line \u000bvt",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \u263a\ufe0f",
    "\ue000private \U0010ffff end",
    "\u00bfQu\u00e9? \u00ab\u00a0oui\u00a0\u00bb \u2014 \u2026 \u201cq\u201d",
    "\u24b6\u24d0 \u00df\u1e9e \ufb01 \u2460 x\u00b2 \u2167",
    "[CLS] inside [MASK]. [mask][MASK][SEP",
    "\u0a85\u0aae\u0aa6\u0abe\u0ab5\u0abe\u0aa6 \u0c24\u0c46\u0c32\u0c41\u0c17\u0c41 \u0d2e\u0d32\u0d2f\u0d3e\u0d33\u0d02",
    "\u10db\u10d0\u10d2\u10d0\u10da\u10d8\u10d7\u10d8 \u1c90\u10d0 \u054f \u13a0\uab70",
    "\u0f56\u0f7c\u0f51\u0f0b\u0f66\u0f90\u0f51 \u0f73",
    "Ti\u1ebfng Vi\u1ec7t c\u00f3 d\u1ea5u; \u0111\u01b0\u1eddng",
    "a\u0315\u0300\u05ae\u0062 z\u0345\u0301",
]
PAIRS = [
    ("who is it", "it is the walking world"),
    ("", "only the second"),
    ("\u4eca\u5929 \u597d", "caf\u00e9 " * 12),
    ("the the the the the the the", "world world world"),
    ("a b c d e f g h i j", "k l m n o p q r s t"),
]
ADDED_TEXTS = [
    "plain text",
    "a<e1>b</e1> c",
    "  <e1>  x",
    "new york is NEW YORK, newyork",
    "foo food foo-bar Foo _foo foo",
    "caf\u00e9 CAFE\u0301 cafeteria",
    "\u4e2d\u6587\u4e2d \u4e2d",
    "[MASK]  [MASK] x[MASK]y",
    "\u3000<e1>\u3000",
    "foo\u0301 \u0301foo",
    "<e1><e1>x</e1",
    "new  york",
    "new york\u0301",
    "foofoo foo foo",
]
PIECES = [
    "un",
    "##aff",
    "##able",
    "walk",
    "##ing",
    "the",
    "world",
    "hello",
    "it",
    "is",
    "who",
    "cafe",
    "##s",
    "new",
    "york",
    "\u4eca\u5929",
    "##ta",
    "st",
    "state",
]


def make_vocabulary(normalizer, texts):
    tokens = list(SPECIALS)
    characters = sorted(set("".join(normalizer.normalize_str(t) for t in texts)) - {" ", "\u0000"})
    # Some characters are left out, so that unknown words are met.
    kept = [c for i, c in enumerate(characters) if i % 13 != 7]
    tokens += kept + ["##" + c for c in kept] + PIECES
    return {token: i for i, token in enumerate(dict.fromkeys(tokens))}


def write(folder, name, tokenizer, requests):
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(target / "tokenizer.json"))
    data = json.loads((target / "tokenizer.json").read_text(encoding="utf-8"))
    (target / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=True, separators=(",", ":")) + "\n")
    with open(target / "expected.jsonl", "w", encoding="utf-8") as out:
        for first, second, most in requests:
            if most:
                tokenizer.enable_truncation(
                    most,
                    strategy=getattr(tokenizer, "bantam_strategy", "longest_first"),
                    direction=getattr(tokenizer, "bantam_side", "right"),
                )
            encoded = tokenizer.encode(first, second)
            tokenizer.no_truncation()
            ids, begins, ends, segments = to_bytes(encoded, first, second)
            out.write(
                json.dumps(
                    {
                        "a": first,
                        "b": second,
                        "max": most,
                        "ids": ids,
                        "begins": begins,
                        "ends": ends,
                        "segments": segments,
                    }
                )
                + "\n"
            )


def main():
    folder = pathlib.Path(__file__).resolve().parent / "golden"
    bert = normalizers.BertNormalizer
    everything = TEXTS + ADDED_TEXTS + [t for pair in PAIRS for t in pair]
    requests = [(t, None, 0) for t in TEXTS] + [(a, b, 0) for a, b in PAIRS]
    settings = {
        "uncased": bert(),
        "cased": bert(lowercase=False),
        "accents": bert(strip_accents=False),
        "raw": bert(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False),
    }
    for name, normalizer in settings.items():
        write(folder, name, make_tokenizer(make_vocabulary(normalizer, everything), normalizer), requests)

    vocabulary = make_vocabulary(bert(), everything)
    added = [
        AddedToken("<e1>", lstrip=True, normalized=False),
        AddedToken("</e1>", rstrip=True, normalized=False),
        AddedToken("foo", single_word=True, normalized=False),
        AddedToken("New York", normalized=True),
        AddedToken("Caf\u00e9", single_word=True, normalized=True),
        AddedToken("\u4e2d", lstrip=True, rstrip=True, normalized=True),
    ]
    write(folder, "added", make_tokenizer(vocabulary, bert(), added), [(t, None, 0) for t in ADDED_TEXTS + TEXTS])
    for side in ("right", "left"):
        tokenizer = Truncating(make_tokenizer(vocabulary, bert()), "longest_first", side)
        cut = [(a, b, most) for a, b in PAIRS for most in (3, 4, 7, 8, 12)] + [(t, None, 6) for t in TEXTS]
        write(folder, "truncate_" + side, tokenizer, cut)

    trained = train([t for t in TEXTS + ADDED_TEXTS])
    words, merges = (
        trained["vocab"],
        [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in trained["merges"]],
    )
    mask = [AddedToken("<mask>", lstrip=True, normalized=False)]
    roberta = make(words, merges, prefix=True, trim=True, trim_prefix=True, added=mask)
    write(folder, "roberta", roberta, requests + [(" a <mask> b", None, 0), (TEXTS[3], TEXTS[2], 9)])
    for name in ("nfc", "albert"):
        normal = make(words, merges)
        normal.normalizer = SETTINGS[name]
        write(folder, "forms_" + name, normal, requests)
    for name, fallback in (("unigram", False), ("unigram_bytes", True)):
        tokenizer = train_unigram(TEXTS + ADDED_TEXTS, fallback)
        extra = [
            ("the world " + "\u4eca\u5929" * 150, None, 0),
            ("word" * 100, None, 0),
            ("\u2581a <mask> b  c ", None, 0),
        ]
        write(folder, name, tokenizer, requests + extra)
    write_words(folder, requests)
    write(folder, "llama_words", make(words, merges, pattern=LLAMA3, ignore_merges=True), requests)


def write_words(folder, requests):
    """Tokens that say where words begin or end, whole words, and splitters in a row."""
    by = dict(splitters())
    lines = TEXTS + ADDED_TEXTS
    clip = pre_tokenizers.Sequence([split(CLIP, "removed", True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bytes_of_clip = byte_pairs(
        lines, clip, normal("clip"), "</w>", unknown="<|endoftext|>", size=700, alphabet=alphabet
    )
    write(folder, "clip", bytes_of_clip, requests)
    write(folder, "gpt", byte_pairs(lines, by["bert"], normal("bert"), "</w>", size=300), requests)
    write(folder, "prefix", byte_pairs(lines, by["bert"], normal("bert, cased"), prefix="##", size=300), requests)
    write(folder, "words", words(lines, by["whitespace"], normal("nfkc"), 80), requests)
    write(folder, "scripts", byte_pairs(lines, by["scripts"], normal("nfkc"), size=300), requests)
    write(folder, "split_texts", words(lines, by["texts, then scripts"], normal("none"), 80), requests)
    write(folder, "passes", words(lines, by["words, then digits, then marks"], normal("none"), 80), requests)


def train_unigram(texts, fallback):
    """A unigram model of a few hundred tokens, as XLM-R's is built, or with tokens of bytes."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    specials = ["<s>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=specials, unk_token="<unk>", show_progress=False, max_piece_length=12
    )
    tokenizer.train_from_iterator(texts, trainer)
    pieces = [tuple(p) for p in json.loads(tokenizer.to_str())["model"]["vocab"]]
    # The trainer gives equal scores an order that differs from run to run.
    pieces = pieces[:4] + sorted(pieces[4:], key=lambda p: (-p[1], p[0]))
    if fallback:
        pieces += [("<0x%02X>" % i, -30.0) for i in range(256)]
    result = Tokenizer(models.Unigram(pieces, 2, fallback))
    replace = normalizers.Replace(Regex(" {2,}"), "\u2581")
    result.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(left=False), replace])
    metaspace = pre_tokenizers.Metaspace(prepend_scheme="first" if fallback else "always")
    result.pre_tokenizer = metaspace
    if not fallback:
        result.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
    result.add_special_tokens([AddedToken(t, special=True, lstrip=t == "<mask>", normalized=False) for t in specials])
    result.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return result


def train(texts):
    """A byte-level BPE of a few hundred tokens, as tokenizer.json has it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return json.loads(tokenizer.to_str())["model"]


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares bantam's added tokens in normalised text, and in raw text beside them, with Hugging Face `tokenizers`: ids and byte
offsets, under normalisers in a row, splitters and models.

Usage: conformance_added.py COMPARATOR [CLIP] [--quick]

COMPARATOR is the built program tokenize_lines, CLIP a tokenizer.json of CLIP. Small tokenizers are made of texts of our own;
each gets tokens of every kind of edge and flag, and texts in which they stand beside each other, in capitals, decomposed,
full-width, and within words. Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import itertools
import pathlib
import random
import subprocess
import sys

from conformance import Comparator
from conformance_words import TEXTS, byte_pairs, normal, split, words
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

N = normalizers
P = pre_tokenizers
MARK = "\u2581"
PIECES = [
    "<X>",
    "<x>y",
    "Caf\u00e9",
    "\u4e2d",
    "new york",
    " lead",
    "trail ",
    "foo",
    "  ",
    "\uff21b",
    "e\u0301",
    "-",
]
PARTS = PIECES + [
    "<x>",
    "<X>Y",
    "cafe\u0301",
    "CAF\u00c9",
    "New  York",
    "FOO",
    "\uff1cx\uff1e",
    "x",
    " ",
    "   ",
    "\u3000",
    "\u00a0",
    ".",
    "_",
    "\u0301",
    "\u00e9",
    "'s",
    "foo bar",
    "\n",
    "y",
    "a\u0301\u0327b",
    "\u212aelvin",
    MARK,
    "ab",
    "AB",
    "\u200d",
    "\ufffd",
    "\U0001f600",
]
ROWS = {
    "none": None,
    "lowercase": N.Lowercase(),
    "clip": normal("clip"),
    "nfd": N.NFD(),
    "nfkc, lowercase": N.Sequence([N.NFKC(), N.Lowercase()]),
    "nmt, nfkc, one blank": N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " ")]),
    "strip": N.Sequence([N.Strip(), N.Lowercase()]),
    "accents": N.Sequence([N.NFD(), N.StripAccents(), N.Lowercase()]),
    "bert": N.BertNormalizer(),
    "replace": N.Sequence([N.Replace("foo", "<x>"), N.Lowercase()]),
    "marks": N.Sequence([N.Prepend(MARK), N.Replace(" ", MARK)]),
    "prepend": N.Prepend("x"),
}


def unigram(splitter):
    letters = sorted(set("".join(TEXTS + PARTS).lower()) - {" "})
    pieces = [
        ("<unk>", 0.0),
        (MARK, -3.0),
        (MARK + "the", -2.0),
        ("fo", -2.5),
        ("<x", -4.0),
        ("ab", -2.0),
    ]
    pieces += [(c, -5.0 - i / 97) for i, c in enumerate(letters) if c != MARK]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = splitter
    return tokenizer


def pairs_of_pieces(splitter):
    letters = sorted(set("".join(TEXTS).lower()) - {" "})
    tokens = ["<unk>", MARK, "x", "<", "foo", "fo", "o", "f", MARK + "f"] + letters
    vocabulary = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(
        models.BPE(
            vocabulary,
            [("f", "o"), ("fo", "o"), (MARK, "f")],
            unk_token="<unk>",
            fuse_unk=True,
        )
    )
    if splitter is not None:
        tokenizer.pre_tokenizer = splitter
    return tokenizer


def made():
    """Name, a function that makes the tokenizer, and the names of its normalisers."""
    alphabet = P.ByteLevel.alphabet()
    bytes_of = dict(alphabet=alphabet, unknown=None, size=700)
    every = [name for name in ROWS if name != "marks"]
    yield (
        "bytes",
        lambda: byte_pairs(TEXTS, P.ByteLevel(False), None, **bytes_of),
        every,
    )
    yield (
        "bytes, prefix",
        lambda: byte_pairs(TEXTS, P.ByteLevel(True), None, **bytes_of),
        every,
    )
    row = P.Sequence([P.Digits(True), P.ByteLevel(False)])
    yield (
        "bytes in passes",
        lambda: byte_pairs(TEXTS, row, None, **bytes_of),
        ["none", "nfkc, lowercase", "prepend"],
    )
    clip = P.Sequence(
        [
            split(r"[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "removed", True),
            P.ByteLevel(add_prefix_space=False),
        ]
    )
    yield (
        "like clip",
        lambda: byte_pairs(TEXTS, clip, None, suffix="</w>", alphabet=alphabet),
        ["clip", "none"],
    )
    yield "words", lambda: words(TEXTS, P.Whitespace(), None), every
    yield (
        "like gpt",
        lambda: byte_pairs(TEXTS, P.BertPreTokenizer(), None, suffix="</w>"),
        ["bert", "nfd"],
    )
    for scheme in ("always", "first", "never"):
        for whole in (False, True):
            mark = P.Metaspace(replacement=MARK, prepend_scheme=scheme, split=not whole)
            name = "%s%s" % (scheme, ", whole" if whole else "")
            yield (
                "unigram, " + name,
                lambda mark=mark: unigram(mark),
                [n for n in every if n != "bert"],
            )
            yield (
                "pieces, " + name,
                lambda mark=mark: pairs_of_pieces(mark),
                ["none", "clip", "strip"],
            )
    spaced = P.Sequence([P.WhitespaceSplit(), P.Metaspace(replacement=MARK, prepend_scheme="always")])
    yield (
        "unigram of words",
        lambda: unigram(spaced),
        ["none", "clip", "nfkc, lowercase"],
    )
    yield "like llama", lambda: pairs_of_pieces(None), ["marks"]


def trimmed(tokenizer, trim):
    if trim:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("clip", type=pathlib.Path, nargs="?")
    parser.add_argument("--quick", action="store_true", help="fewer texts")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    dice = random.Random(5)
    count = 150 if options.quick else 1500

    def compare(name, tokenizer, most=10):
        texts = ["".join(dice.choice(PARTS) for _ in range(dice.randint(1, most))) for _ in range(count)]
        texts += [part for part in PARTS] + [""]
        try:
            comparator.compare(name, tokenizer, ((t, None, 0) for t in texts))
        except subprocess.CalledProcessError:
            print("%s: not taken" % name)
            comparator.different += 1

    def flags():
        return [dict(zip(("single_word", "lstrip", "rstrip"), f)) for f in itertools.product((False, True), repeat=3)]

    if options.clip:
        for named in flags():
            tokenizer = Tokenizer.from_file(str(options.clip))
            tokenizer.add_tokens([AddedToken(p, normalized=True, **named) for p in PIECES if p != "  "])
            compare("clip's own, %s" % [k for k, v in named.items() if v], tokenizer)
    for name, make, rows in made():
        for row in rows:
            for named in flags():
                # The library takes either of two tokens that are equal once normalised: they get one each.
                tokenizer = make()
                if ROWS[row] is not None:
                    tokenizer.normalizer = ROWS[row]
                seen = set()
                added = []
                for i, piece in enumerate(PIECES):
                    text = ROWS[row].normalize_str(piece) if ROWS[row] is not None else piece
                    if text in seen or not text:
                        continue
                    seen.add(text)
                    added.append(AddedToken(piece, normalized=i % 4 != 3, **named))
                tokenizer.add_tokens(added)
                tokenizer.add_special_tokens([AddedToken("<s>", normalized=row == "marks")])
                trim = "bytes" in name and named["lstrip"]
                compare(
                    "%s, %s, %s" % (name, row, [k for k, v in named.items() if v]),
                    trimmed(tokenizer, trim),
                )
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares bantam's normalisers in a row with Hugging Face `tokenizers`, before byte-level BPE: ids and byte offsets.

Usage: conformance_normal.py COMPARATOR [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines. A vocabulary of single bytes shows every byte of the normalised text and
where it came from: every code point alone and in contexts, mixtures of awkward characters, runs, every line of the data.
Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import pathlib
import random
import sys

from conformance import TRICKY, Comparator, code_point_texts, read_lines
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from tokenizers.normalizers import NFC, NFD, NFKC, NFKD, Lowercase, Nmt, Prepend, Replace, Sequence, Strip, StripAccents

MORE = (
    TRICKY
    + "\u0344\u0300\u0301\u0302\u0323\u0330\u0338\u1100\u1161\u11a8\u1173\uac00\u11a7\u09c7\u09be\u09d7\u0b47\u0b56"
    + "\ufb01\ufdfa\u3392\uff21\uff9e\u30ab\u3099\u2126\u1e69\u1e9b\u0f73\u0f77\u2adc\U0001d15e\u0958\ufb1d\u0130\u03c2"
    + "\u200b\u200d\ufeff\u00ad\r\n  ``''\"\"<=>\u2581"
)
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())


def make(normalizer, use_regex=True):
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(BYTES)}, merges=[]))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    return tokenizer


def mixtures(count, seed):
    dice = random.Random(seed)
    yield "", None, 0
    for _ in range(count):
        yield "".join(dice.choice(MORE) for _ in range(dice.randint(1, 14))), None, 0


def runs():
    for piece in (" ", "a", "\u0301", "'", "``'", "\n", "\u00e9", "e\u0301", " a", "\ufdfa", "\uac00", "\u1100\u1161"):
        for size in (2, 3, 31, 32, 33, 64, 100, 400):
            yield piece * size, None, 0
            yield "a " + piece * size + " b", None, 0


SETTINGS = {
    "nfc": NFC(),
    "nfd": NFD(),
    "nfkc": NFKC(),
    "nfkd": NFKD(),
    "lowercase": Lowercase(),
    "strip accents": Sequence([NFD(), StripAccents()]),
    "nmt": Nmt(),
    "strip": Strip(),
    "strip right": Strip(left=False, right=True),
    "prepend": Sequence([Prepend("\u2581"), Replace(" ", "\u2581")]),
    "clip": Sequence([NFC(), Replace(Regex(r"\s+"), " "), Lowercase()]),
    "deberta of transformers 5": Sequence([Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), NFC(), Strip(left=False)]),
    "pegasus of transformers 5": Sequence([Replace(Regex(r"\n"), " "), Replace(Regex(" {2,}"), " ")]),
    "albert": Sequence(
        [
            Replace("``", '"'),
            Replace("''", '"'),
            NFKD(),
            StripAccents(),
            Lowercase(),
            Replace(Regex(" {2,}"), " "),
        ]
    ),
    "strip, nfkc": Sequence([Strip(), NFKC(), Replace(Regex(" {2,}"), "\u2581"), Strip(left=False)]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only, fewer mixtures")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    lines = list(read_lines(options.data)) if options.data else []
    step, count = (61, 3000) if options.quick else (1, 30000)
    for name, normalizer in SETTINGS.items():
        tokenizer = make(normalizer)
        comparator.compare(name + ": code points", tokenizer, code_point_texts(step))
        comparator.compare(name + ": mixtures", tokenizer, mixtures(count, 1))
        comparator.compare(name + ": runs", tokenizer, runs())
        if lines:
            comparator.compare(name + ": lines", tokenizer, ((line, None, 0) for line in lines))
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares bantam's SentencePiece unigram tokenizers with Hugging Face `tokenizers`: ids, byte offsets and segments.

Usage: conformance_unigram.py COMPARATOR [TOKENIZER...] [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, each TOKENIZER a tokenizer.json (or .json.gz) with a Unigram model. Every code
point alone and in contexts, mixtures of awkward characters, long words, every line of the data, as the file has it and under
other settings of metaspace and other normalisers; then small vocabularies with scores at random. Prints the number of
comparisons and of differences; exits 1 when there are any.
"""

import argparse
import gzip
import json
import pathlib
import random
import sys

from conformance import Comparator, code_point_texts, read_lines
from conformance_normal import MORE
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

EXTRA = MORE + "thesan ing \u4e2d\u6587\u3002\uff01\u3000\u00a0 \t\n\u2581\U0001f600\u0e01\u0e33\u0ba4<>"


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.name.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return json.load(file)


def variants(settings):
    """The tokenizer as it is, and as newer files and other families have it."""
    yield "as it is", settings
    own = settings.get("normalizer")
    charsmap = [own] if own and own["type"] == "Precompiled" else []
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    runs = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}
    rows = {
        "xlm-r": charsmap + [strip, dict(runs, content="\u2581")],
        "deberta": [dict(strip, strip_left=True)] + charsmap + [runs],
        "albert": [
            {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
            {"type": "Replace", "pattern": {"String": "''"}, "content": '"'},
            {"type": "NFKD"},
            {"type": "StripAccents"},
            {"type": "Lowercase"},
        ]
        + charsmap
        + [runs],
    }
    for name, row in rows.items():
        yield name, dict(settings, normalizer={"type": "Sequence", "normalizers": row}, pre_tokenizer=metaspace)
    for change in (dict(prepend_scheme="first"), dict(prepend_scheme="never"), dict(split=False)):
        yield str(change), dict(settings, pre_tokenizer=dict(metaspace, **change))
    words = {
        "type": "Sequence",
        "pretokenizers": [{"type": "WhitespaceSplit"}, dict(metaspace, prepend_scheme="first")],
    }
    yield "white words, first", dict(settings, pre_tokenizer=words)


def mixtures(count, seed):
    dice = random.Random(seed)
    yield "", None, 0
    for _ in range(count):
        yield "".join(dice.choice(EXTRA) for _ in range(dice.randint(1, 16))), None, 0


def long_texts(seed):
    dice = random.Random(seed)
    for piece in (
        "a",
        " ",
        "ab",
        "\u4e2d",
        "\u4e2d\u6587\u3002",
        "e\u0301",
        "\U0001f600",
        "the",
        " a",
        "\n",
        "\u0e01",
        "-",
        "\x01",
    ):
        for size in (50, 84, 85, 86, 255, 256, 257, 1000, 3000):
            yield piece * size, None, 0
            yield "x " + piece * size + " the end", None, 0
    for size in (300, 1500, 5000):
        for letters in ("ab", "etaoin", "\u4e2d\u6587a", " \n", "aaaab "):
            yield "".join(dice.choice(letters) for _ in range(size)), None, 0


def random_model(seed):
    dice = random.Random(seed)
    letters = dice.choice(["a", "ab", "abc", "a\u00e9", "a\u4e2d "])
    pieces = {"<unk>", "\u2581"}
    for _ in range(dice.choice([3, 10, 60])):
        pieces.add("".join(dice.choice(letters + "\u2581") for _ in range(dice.randint(1, 9))).replace(" ", "\u2581"))
    scores = [dice.choice([-1.0, -2.0, -0.5, -3.25, round(-dice.random() * 9, 3)]) for _ in pieces]
    vocabulary = [(p, s) for p, s in zip(sorted(pieces), scores)]
    fallback = seed % 3 == 0
    if fallback:
        vocabulary += [("<0x%02X>" % i, -20.0) for i in range(256)]
    unknown = [p for p, _ in vocabulary].index("<unk>")
    tokenizer = Tokenizer(models.Unigram(vocabulary, unknown, fallback))
    scheme = dice.choice(["always", "first", "never"])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=seed % 2 == 0)
    if seed % 4 == 0:
        tokenizer.normalizer = normalizers.NFC()
    sizes = [dice.choice([1, 3, 5, 20, 100, 300, 4000]) for _ in range(60)]
    texts = ["".join(dice.choice(letters + "xy") for _ in range(size)) for size in sizes]
    return tokenizer, [(t, None, 0) for t in texts] + [(letters[0] * size, None, 0) for size in (200, 3000)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("tokenizers", type=pathlib.Path, nargs="*")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only, fewer mixtures")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    lines = list(read_lines(options.data)) if options.data else []
    step, count = (61, 3000) if options.quick else (1, 30000)
    for path in options.tokenizers:
        settings = dict(read(path), truncation=None, padding=None)
        for name, changed in variants(settings):
            tokenizer = Tokenizer.from_str(json.dumps(changed))
            name = "%s, %s: " % (path.parent.name, name)
            comparator.compare(name + "code points", tokenizer, code_point_texts(step if name.endswith("is: ") else 61))
            comparator.compare(name + "mixtures", tokenizer, mixtures(count, 1))
            comparator.compare(name + "long", tokenizer, long_texts(2))
            comparator.compare(name + "lines", tokenizer, ((line, None, 0) for line in lines))
    for seed in range(20 if options.quick else 200):
        comparator.compare("random model %d" % seed, *random_model(seed))
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

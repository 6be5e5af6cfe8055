#!/usr/bin/env python3
"""Compares bantam's tokenizer with Hugging Face `tokenizers`: ids, byte offsets and segments.

Usage: conformance.py COMPARATOR VOCAB [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, VOCAB a BERT vocab.txt or a tokenizer.json, DIR a folder with
multilingual/*.jsonl and text/*. Every code point of Unicode is encoded alone and in contexts, under each setting of
the normaliser; then every line of the data, pairs with truncation on either side, and added tokens of every kind.
Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# Nonstarters of every rank, marks and others, Hangul, ideographs, musical notes, what the normaliser removes.
TRICKY = (
    "aZ9 .#\t\n\u00e9\u0130\u03a3\u00df\u0300\u0301\u0327\u0334\u0345\u0344\u0340\u0343\u093c\u094d\u0f71\u0f73"
    "\u1b44\ua9c0\ua953\u302e\u302f\U0001d15e\U0001d160\U0001d165\U0001d16d\U0001d16e\U000116b6\u3099\uac00\uac01"
    "\u1100\u1161\u11a8\u4e2d\uf900\ufa0e\U0002f800\u00a0\u2028\u3000\u0000\ufffd\u200d\u00ad\ue000\U0001f600\u1e9b"
    "\u0323\u212b\u037e\u1fef\u2126\u0bcb\U0001d1bc\U00011938\u111c9\u1dfa\u0898"
)


def read_vocabulary(path):
    text = path.read_text(encoding="utf-8")
    if path.name.endswith(".json"):
        return json.loads(text)["model"]["vocab"]
    return {token: i for i, token in enumerate(line for line in text.split("\n")[:-1])}


def make_tokenizer(vocabulary, normalizer, added=()):
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIALS])
    tokenizer.add_tokens(list(added))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(t, vocabulary[t]) for t in ("[CLS]", "[SEP]")],
    )
    return tokenizer


class Comparator:
    def __init__(self, program):
        self.program = program
        self.compared = 0
        self.different = 0

    def compare(self, name, tokenizer, requests, files=None):
        """`requests`: tuples (first, second or None, most tokens or 0). `files`: names and bytes of the directory that is
        imported, instead of the tokenizer's own tokenizer.json. Parts of answers that the original lacks, None, are not compared."""
        compared, different = 0, 0
        requests = list(requests)
        with tempfile.TemporaryDirectory() as folder:
            if files is None:
                tokenizer.save(folder + "/tokenizer.json")
            for file, content in (files or {}).items():
                pathlib.Path(folder, file).write_bytes(content)
            asked, answered = folder + "/requests.jsonl", folder + "/answers.jsonl"
            with open(asked, "w", encoding="utf-8") as out:
                for first, second, most in requests:
                    out.write(json.dumps({"a": first, "b": second, "max": most}) + "\n")
            with open(asked) as stdin, open(answered, "w") as stdout:
                subprocess.run([self.program, folder], stdin=stdin, stdout=stdout, check=True)
            with open(answered, encoding="utf-8") as answers:
                for request, want, line in zip(requests, self.expected(tokenizer, requests), answers):
                    got = json.loads(line)
                    if isinstance(got, str):
                        got = "error"
                    compared += 1
                    if any(part is not None and part != given for part, given in zip(want, got)):
                        different += 1
                        if different <= 10:
                            print("  %s %s\n    want %s\n    got  %s" % (name, ascii(request), want, got))
        if compared != len(requests):
            print("  %s: %d answers are missing" % (name, len(requests) - compared))
            different += len(requests) - compared
        self.compared += compared
        self.different += different
        print("%-58s %9d compared %6d different" % (name, compared, different), flush=True)

    @staticmethod
    def expected(tokenizer, chunk):
        for first, second, most in chunk:
            if most:
                kind = (
                    dict(strategy=tokenizer.bantam_strategy, direction=tokenizer.bantam_side)
                    if hasattr(tokenizer, "bantam_strategy")
                    else {}
                )
                tokenizer.enable_truncation(most, **kind)
            try:
                encoded = tokenizer.encode(first, second)
            except Exception:  # the strategy may not remove enough
                yield "error"
                continue
            finally:
                if most:
                    tokenizer.no_truncation()
            yield to_bytes(encoded, first, second)


def byte_positions(text):
    if text.isascii():
        return range(len(text) + 1)
    positions = [0]
    for c in text:
        positions.append(positions[-1] + (1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4))
    return positions


def to_bytes(encoded, first, second):
    if not hasattr(encoded, "offsets"):
        return [encoded.ids, None, None, None]
    positions = [byte_positions(first), byte_positions(second or "")]
    begins, ends = [], []
    for (begin, end), sequence in zip(encoded.offsets, encoded.sequence_ids):
        table = positions[sequence or 0]
        begins.append(table[begin])
        ends.append(table[end])
    return [encoded.ids, begins, ends, encoded.type_ids]


class Truncating:
    """A tokenizer that remembers how to truncate; its file says so too."""

    def __init__(self, tokenizer, strategy, side):
        self.tokenizer = tokenizer
        self.bantam_strategy = strategy
        self.bantam_side = side

    def save(self, path):
        self.tokenizer.enable_truncation(512, strategy=self.bantam_strategy, direction=self.bantam_side)
        self.tokenizer.save(path)
        self.tokenizer.no_truncation()

    def __getattr__(self, name):
        return getattr(self.tokenizer, name)


def code_point_texts(step):
    for c in CODE_POINTS[::step]:
        s = chr(c)
        # One request holds four contexts, kept apart by blanks, and the code point alone is the next one.
        yield "a" + s + "b . " + s + " . e" + s + "\u0301x . ##" + s + " . a" + s + s, None, 0
        yield s, None, 0


def tricky_texts(count, seed):
    dice = random.Random(seed)
    for _ in range(count):
        yield "".join(dice.choice(TRICKY) for _ in range(dice.randint(1, 9))), None, 0


def word_texts(vocabulary, count, seed):
    dice = random.Random(seed)
    tokens = [t.replace("##", "") for t in vocabulary]
    for _ in range(count):
        words = ("".join(dice.choice(tokens) for _ in range(dice.randint(1, 4))) for _ in range(dice.randint(1, 6)))
        yield dice.choice([" ", "  ", "\t", ", "]).join(words), None, 0


def read_lines(data):
    for path in sorted((data / "multilingual").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                yield json.loads(line)["text"]
    for path in sorted((data / "text").glob("*")):
        for i, line in enumerate(path.read_text(encoding="utf-8").split("\n")):
            if line and i < 4000:
                yield json.loads(line)["text"] if path.name.endswith(".jsonl") else line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("vocabulary", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only")
    options = parser.parse_args()
    vocabulary = read_vocabulary(options.vocabulary)
    comparator = Comparator(options.comparator)
    lines = list(read_lines(options.data)) if options.data else []
    step = 61 if options.quick else 1

    bert = normalizers.BertNormalizer
    settings = {
        "uncased": bert(),
        "cased": bert(lowercase=False),
        "uncased, accents kept": bert(strip_accents=False),
        "cased, accents stripped": bert(lowercase=False, strip_accents=True),
        "nothing but words": bert(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False),
        "not cleaned": bert(clean_text=False),
    }
    for name, normalizer in settings.items():
        tokenizer = make_tokenizer(vocabulary, normalizer)
        comparator.compare(name + ": code points", tokenizer, code_point_texts(step))
        comparator.compare(name + ": mixtures", tokenizer, tricky_texts(20000 // (10 if options.quick else 1), 1))
        comparator.compare(name + ": words", tokenizer, word_texts(vocabulary, 5000, 2))
        if lines:
            comparator.compare(name + ": lines", tokenizer, ((line, None, 0) for line in lines))

    dice = random.Random(3)
    pool = lines or ["The quick brown fox.", "\u4e2d\u6587 caf\u00e9", "", "a b c d e f g h"]
    for strategy in ("longest_first", "only_first", "only_second"):
        for side in ("right", "left"):
            tokenizer = Truncating(make_tokenizer(vocabulary, bert()), strategy, side)
            pairs = [(dice.choice(pool)[:300], dice.choice(pool)[:300], dice.randint(3, 60)) for _ in range(2000)]
            comparator.compare("pairs, %s, %s" % (strategy, side), tokenizer, pairs)
            if strategy != "only_second":  # there the library refuses a single text
                singles = [(dice.choice(pool), None, dice.randint(2, 60)) for _ in range(2000)]
                comparator.compare("single, %s, %s" % (strategy, side), tokenizer, singles)

    for normalized in (False, True):
        pieces = ["<x>", "<x>y", "Caf\u00e9", "\u4e2d", "new york", "foo", "oo", "  z"]
        for flags in itertools.product((False, True), repeat=3):
            named = dict(zip(("single_word", "lstrip", "rstrip"), flags))
            added = [AddedToken(p, normalized=normalized, **named) for p in pieces]
            tokenizer = make_tokenizer(vocabulary, bert(), added)
            parts = pieces + [
                "x",
                " ",
                "  ",
                "\u3000",
                ".",
                "_",
                "\u00e9",
                "\u0301",
                "\u4e2d",
                "FOO",
                "[MASK]",
                "\n",
                "y",
                "z",
            ]
            texts = ["".join(dice.choice(parts) for _ in range(dice.randint(1, 8))) for _ in range(3000)]
            comparator.compare(
                "added, normalized %s, %s" % (normalized, [k for k, v in named.items() if v]),
                tokenizer,
                ((text, None, 0) for text in texts),
            )
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

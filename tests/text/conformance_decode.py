#!/usr/bin/env python3
"""Compares the text that bantam makes of token ids with Hugging Face `tokenizers`' decode.

Usage: conformance_decode.py COMPARATOR [TOKENIZER...] [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, each TOKENIZER a tokenizer.json (or .json.gz). Ids of texts, every id alone and
behind another one, and ids at random, as the file's decoder and as others make text of them; special tokens left out and not.
Texts are decoded as a whole and as a stream. A stream says of bytes which are not UTF-8 what it can: only there it may differ.
Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from conformance import read_lines
from conformance_unigram import read
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

BAD = "\ufffd"


class Decoding:
    def __init__(self, program):
        self.program = program
        self.compared = 0
        self.different = 0

    def compare(self, name, tokenizer, requests):
        """`requests`: tuples (ids, whether special tokens are skipped)."""
        different = 0
        asked, wanted = [], []
        for ids, skip in requests:
            text = tokenizer.decode(ids, skip_special_tokens=skip)
            for stream in (False, True):
                if stream and BAD in text:
                    continue
                asked.append({"ids": ids, "skip": skip, "stream": stream})
                wanted.append(text)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(folder + "/tokenizer.json")
            lines = "".join(json.dumps(request) + "\n" for request in asked)
            done = subprocess.run(
                [self.program, folder],
                input=lines.encode(),
                stdout=subprocess.PIPE,
                check=True,
            )
        answers = done.stdout.decode().splitlines()
        for request, want, line in zip(asked, wanted, answers):
            if json.loads(line) != want:
                different += 1
                if different <= 10:
                    print("  %s %s\n    want %s\n    got  %s" % (name, request, ascii(want), line))
        different += abs(len(asked) - len(answers))
        self.compared += len(asked)
        self.different += different
        print(
            "%-58s %9d compared %6d different" % (name, len(asked), different),
            flush=True,
        )


def requests(tokenizer, lines, seed, step):
    dice = random.Random(seed)
    count = tokenizer.get_vocab_size()
    for line in lines:
        yield tokenizer.encode(line).ids, dice.random() < 0.5
    for token in range(0, count, step):
        yield [token], False
        yield [dice.randrange(count), token], False
        yield [dice.randrange(count), token, dice.randrange(count)], True
    for _ in range(3000):
        ids = [dice.randrange(count) for _ in range(dice.randint(0, 12))]
        yield ids, dice.random() < 0.5
    # Runs of what may be bytes: the first tokens of byte-level and SentencePiece vocabularies.
    for _ in range(6000):
        yield (
            [dice.randrange(min(count, 300)) for _ in range(dice.randint(1, 8))],
            dice.random() < 0.5,
        )
    yield [count, count + 5, 2**31 - 1], True


def byte_tokens():
    return ["<0x%02X>" % i for i in range(256)]


def of_pieces(fallback, decoder, metaspace=True):
    """BPE of code points whose first tokens are bytes."""
    words = ["<unk>"] + (byte_tokens() if fallback else [])
    words += [
        "\u2581",
        "a",
        "b",
        "\u00e9",
        "\u2581a",
        "ab",
        "\u2581\u2581",
        "\u4e2d",
        "<",
        "x",
        "\u2581\u2581a\u2581",
    ]
    vocabulary = {word: i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", fuse_unk=True, byte_fallback=fallback))
    if metaspace:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens([AddedToken("<s>", normalized=False), AddedToken("<\u2581>", normalized=False)])
    tokenizer.add_tokens(
        [
            AddedToken(" more ", normalized=False),
            AddedToken("<0x41>y", normalized=False),
        ]
    )
    return tokenizer


def of_words(decoder):
    words = (
        "[UNK] [CLS] the cat ##s ##ing . , ? ! ' n't 'm 's 've 're do not don ##. ##, ##'s '' .. ' . don't ###".split(
            " "
        )
    )
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens(["[CLS]"])
    tokenizer.add_tokens(
        [
            AddedToken("we do not know", normalized=False),
            AddedToken("is 's .", normalized=False),
        ]
    )
    return tokenizer


def of_bytes(seed):
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = letters + ["\u0120a", "\u0120\u0120", "\u00c3\u00a9", "\u00e4\u00b8"]
    merges = [
        ("\u0120", "a"),
        ("\u0120", "\u0120"),
        ("\u00c3", "\u00a9"),
        ("\u00e4", "\u00b8"),
    ]
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    for text in (
        "<|end|>",
        "\u00e9t\u00e9",
        "\u4e2d\u6587",
        "\u0120x",
        "a b",
        "\u00e4",
        "\u0120",
    ):
        tokenizer.add_tokens([AddedToken(text, normalized=False, special=text == "<|end|>")])
    return tokenizer


def made():
    """Small tokenizers for every decoder."""
    d = decoders
    row = [d.Replace("\u2581", " "), d.ByteFallback(), d.Fuse()]
    yield "llama", of_pieces(True, d.Sequence(row + [d.Strip(" ", 1, 0)]))
    yield "llama, two blanks", of_pieces(True, d.Sequence(row + [d.Strip(" ", 2, 0)]))
    yield "gemma", of_pieces(True, d.Sequence(row))
    yield "no marks", of_pieces(True, d.Sequence(row), False)
    yield "bytes alone", of_pieces(True, d.ByteFallback())
    yield "fused", of_pieces(False, d.Fuse())
    yield "marks alone", of_pieces(False, d.Replace("\u2581", " "))
    for scheme in ("always", "first", "never"):
        yield (
            "metaspace, " + scheme,
            of_pieces(False, d.Metaspace(prepend_scheme=scheme)),
        )
        yield (
            "metaspace, without marks, " + scheme,
            of_pieces(False, d.Metaspace(prepend_scheme=scheme), False),
        )
    yield "suffix", of_pieces(False, d.BPEDecoder(suffix="b"), False)
    yield "no decoder", of_pieces(False, None, False)
    for clean in (True, False):
        yield "wordpiece, %s" % clean, of_words(d.WordPiece(prefix="##", cleanup=clean))
    yield "wordpiece, other prefix", of_words(d.WordPiece(prefix="#", cleanup=True))
    yield "words, no decoder", of_words(None)
    yield "byte level", of_bytes(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("tokenizers", type=pathlib.Path, nargs="*")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st id and line only")
    options = parser.parse_args()
    decoding = Decoding(options.comparator)
    lines = (
        list(read_lines(options.data))
        if options.data
        else ["The quick brown fox.", "caf\u00e9 \u4e2d\u6587 \U0001f600"]
    )
    step = 61 if options.quick else 1
    for name, tokenizer in made():
        decoding.compare(name, tokenizer, requests(tokenizer, [], 1, 1))
    for path in options.tokenizers:
        tokenizer = Tokenizer.from_str(json.dumps(dict(read(path), truncation=None, padding=None)))
        decoding.compare(path.parent.name, tokenizer, requests(tokenizer, lines[::step], 2, step))
    print("total: %d compared, %d different" % (decoding.compared, decoding.different))
    return 1 if decoding.different else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares bantam's byte-level BPE with Hugging Face `tokenizers`: ids, byte offsets and segments.

Usage: conformance_bpe.py COMPARATOR VOCAB MERGES [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, VOCAB and MERGES those of GPT-2 or RoBERTa. The vocabulary is tried under
the split patterns and settings of published tokenizers: every code point alone and in contexts, mixtures of awkward
characters, long runs, added tokens, pairs with truncation, every line of the data. Then small vocabularies with merges at
random: parts first, in any order, and without some bytes. Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import json
import pathlib
import random
import sys

from conformance import Comparator, Truncating, code_point_texts, read_lines
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, processors

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
O200K = CASED % ("*", "+") + CASED % ("+", "*") + (r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BLOOM = r" ?[^(\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
FOUND = r"\s?\p{L}+|\p{Nd}{2}|(?=\p{P})[^a]\s"
POSSESSIVE = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TRICKY = (
    "aZ9 .'#\t\n\rstreveml ld\u00e9\u0130\u017f\u212a\u00df\u0300\u0301\u093c\u0e33\uac00\u4e2d\u00a0\u2028\u3000\u0085"
    "\u0000\ufffd\u200d\u00ad\ue000\U0001f600\u2019\u00bd\u0663\U0001d7d8_-=<>/\u1680 \u2009  "
)


def make(vocabulary, merges, pattern=None, prefix=False, trim=None, trim_prefix=False, added=(), **model):
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, **model))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=pattern is None)
    tokenizer.pre_tokenizer = byte_level
    if pattern == "":
        tokenizer.pre_tokenizer = byte_level
    elif pattern is not None:
        split = pre_tokenizers.Split(Regex(pattern), "isolated", invert=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    ids = [vocabulary.get(t, 0) for t in ("</s>", "<s>")]
    if trim is not None:
        tokenizer.post_processor = processors.RobertaProcessing(
            ("</s>", ids[0]), ("<s>", ids[1]), trim_offsets=trim, add_prefix_space=trim_prefix
        )
    tokenizer.add_tokens(list(added))
    return tokenizer


def tricky_texts(count, seed, most=12):
    dice = random.Random(seed)
    for _ in range(count):
        yield "".join(dice.choice(TRICKY) for _ in range(dice.randint(1, most))), None, 0


def long_texts(seed):
    dice = random.Random(seed)
    yield "", None, 0
    for piece in (
        "a",
        " ",
        "-",
        "\n",
        "ab",
        "=",
        "\u4e2d",
        "\u00e9",
        "\U0001f600",
        "'",
        "e\u0301",
        "\r\n",
        "the",
        "0",
        " a",
    ):
        for size in (100, 1000, 1024, 1025, 3000):
            yield piece * size, None, 0
    for size in (500, 1500, 5000):
        for letters in ("ab", "etaoin shrdlu"[:6], "\u4e2d\u6587a", " \n"):
            yield "".join(dice.choice(letters) for _ in range(size)), None, 0


def random_vocabulary(dice, letters, count):
    """Merges of what is there, parts first."""
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokens = sorted(pre_tokenizers.ByteLevel.alphabet())
    pool = [c for letter in letters for c in byte_level.pre_tokenize_str(letter)[0][0]]
    merges = []
    for _ in range(count):
        a, b = dice.choice(pool), dice.choice(pool)
        if len(a + b) > 40 or a + b in tokens:
            continue
        merges.append((a, b))
        tokens.append(a + b)
        pool.append(a + b)
    dice.shuffle(tokens)
    return {t: i for i, t in enumerate(tokens)}, merges


def without(vocabulary, merges, letter):
    """Both without the tokens that have this letter."""
    return (
        {token: number for token, number in vocabulary.items() if letter not in token},
        [(a, b) for a, b in merges if letter not in a + b],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("vocabulary", type=pathlib.Path)
    parser.add_argument("merges", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only, fewer mixtures")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    vocabulary = json.loads(options.vocabulary.read_text(encoding="utf-8"))
    merges = [tuple(line.split(" ")) for line in options.merges.read_text(encoding="utf-8").split("\n")[1:] if line]
    lines = list(read_lines(options.data)) if options.data else []
    step, mixtures = (61, 3000) if options.quick else (1, 40000)
    settings = {
        "gpt2": {},
        "roberta": dict(trim=True),
        "prefix": dict(prefix=True, trim=True, trim_prefix=True),
        "prefix, not in the processor": dict(prefix=True, trim=True, trim_prefix=False),
        "trim prefix alone": dict(prefix=False, trim=True, trim_prefix=True),
        "llama3": dict(pattern=LLAMA3, ignore_merges=True),
        "qwen2": dict(pattern=QWEN2),
        "whole texts": dict(pattern="", trim=True),
        "o200k": dict(pattern=O200K),
        "bloom": dict(pattern=BLOOM),
        "qwen3.5": dict(pattern=QWEN35),
        "found": dict(pattern=FOUND),
        "possessive": dict(pattern=POSSESSIVE),
    }
    for name, setting in settings.items():
        tokenizer = make(vocabulary, merges, **setting)
        comparator.compare(name + ": code points", tokenizer, code_point_texts(step))
        comparator.compare(name + ": mixtures", tokenizer, tricky_texts(mixtures, 1))
        comparator.compare(name + ": long", tokenizer, long_texts(2))
        if lines:
            comparator.compare(name + ": lines", tokenizer, ((line, None, 0) for line in lines))

    dice = random.Random(3)
    pool = lines or ["The quick brown fox.", "\u4e2d\u6587 caf\u00e9", "", " a b c d e f g h"]
    for strategy in ("longest_first", "only_first"):
        for side in ("right", "left"):
            tokenizer = Truncating(make(vocabulary, merges, prefix=True, trim=True, trim_prefix=True), strategy, side)
            pairs = [(dice.choice(pool)[:300], dice.choice(pool)[:300], dice.randint(4, 60)) for _ in range(1000)]
            comparator.compare("pairs, %s, %s" % (strategy, side), tokenizer, pairs)

    pieces = ["<x>", "<x>y", "Caf\u00e9", "\u4e2d", " lead", "trail ", "foo", "  "]
    for normalized in (False, True):
        for flags in range(8):
            named = dict(single_word=bool(flags & 1), lstrip=bool(flags & 2), rstrip=bool(flags & 4))
            added = [AddedToken(p, normalized=normalized, **named) for p in pieces]
            parts = pieces + ["x", " ", "  ", "\u3000", ".", "_", "\u00e9", "'s", "foo bar", "\n", "y"]
            texts = ["".join(dice.choice(parts) for _ in range(dice.randint(1, 8))) for _ in range(mixtures // 20)]
            for setting in ("roberta", "prefix"):
                tokenizer = make(vocabulary, merges, added=added, **settings[setting])
                comparator.compare(
                    "added, %s, %s, %s" % (setting, normalized, named), tokenizer, ((t, None, 0) for t in texts)
                )

    for seed in range(20 if options.quick else 200):
        dice = random.Random(seed)
        letters = dice.choice(["a", "ab", "abc", "abcdef", "a ", "\u00e9a"])
        words, joins = random_vocabulary(dice, letters, dice.choice([3, 10, 40, 200]))
        sizes = [dice.choice([5, 20, 100, 1500]) for _ in range(60)]
        texts = ["".join(dice.choice(letters) for _ in range(size)) for size in sizes]
        whole = bool(seed % 5 == 0)
        tokenizer = make(words, joins, pattern="", ignore_merges=whole)
        comparator.compare("random merges %d" % seed, tokenizer, ((t, None, 0) for t in texts))
        dice.shuffle(joins)
        tokenizer = make(words, joins, pattern="", ignore_merges=whole)
        comparator.compare("merges in any order %d" % seed, tokenizer, ((t, None, 0) for t in texts))
        for byte in dice.sample(sorted(pre_tokenizers.ByteLevel.alphabet()), dice.choice([1, 20, 128])):
            words, joins = without(words, joins, byte)
        words["<unk>"] = max(words.values()) + 1
        tokenizer = make(words, joins, pattern="", unk_token="<unk>", fuse_unk=bool(seed % 2), ignore_merges=whole)
        texts = [*texts, *(text for text, _, _ in tricky_texts(300, seed))]
        comparator.compare("bytes that are not tokens %d" % seed, tokenizer, ((t, None, 0) for t in texts))
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

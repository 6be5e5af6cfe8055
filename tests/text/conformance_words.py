#!/usr/bin/env python3
"""Compares bantam's tokenizers of whole words, of tokens that say where words begin or end, and under every splitter and row of
splitters, with Hugging Face `tokenizers`: ids and byte offsets.

Usage: conformance_words.py COMPARATOR [CLIP] [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, CLIP a tokenizer.json of CLIP. Small tokenizers are trained on texts of
our own or on the data's lines: byte pairs with "</w>" as CLIP and GPT have them, with "##", words, and characters; each
sees every code point alone and in contexts, mixtures of awkward characters, long runs, pairs with truncation and the data's
lines. Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

from conformance import Comparator, Truncating, code_point_texts, read_lines
from conformance_bpe import LLAMA3, long_texts, tricky_texts
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

P = pre_tokenizers
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
TEXTS = [
    "The quick brown fox doesn't jump over 13 lazy dogs, does it? 42nd street, 3.14!",
    "Caf\u00e9 na\u00efve \u00c5ngstr\u00f6m \u0130stanbul \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 low lower lowest newer wider",
    "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002\u65e5\u672c\u8a9e\u306e\u6587 \ud55c\uad6d\uc5b4 \u0915\u094d\u0937 1\u0663\u00bd \U0001f600!!",
    "snake_case camelCase kebab-case <tag> a.b.c... ((x)) --> \u201cq\u201d \u2014 \u2026\n\tend  of   line\r\n",
]


def split(pattern, behavior, invert=False):
    return P.Split(Regex(pattern), behavior, invert)


def splitters():
    """Name, splitter. What makes bytes of words comes last."""
    yield "none", None
    yield "whitespace", P.Whitespace()
    yield "whitespace split", P.WhitespaceSplit()
    yield "bert", P.BertPreTokenizer()
    yield "digits", P.Digits(individual_digits=False)
    yield "digits, each", P.Digits(individual_digits=True)
    yield "delimiter", P.CharDelimiterSplit("-")
    yield "delimiter beyond ASCII", P.CharDelimiterSplit("\u3002")
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        yield "punctuation, " + behavior, P.Punctuation(behavior)
        for invert in (False, True):
            name = behavior + (", inverted" if invert else "")
            yield "split at blanks, " + name, P.Split(" ", behavior, invert)
            yield "split at numbers, " + name, split(r"\p{N}{1,3}", behavior, invert)
            yield "split at words, " + name, split(r"\w+", behavior, invert)
            yield "split at white space, " + name, split(r"\s+", behavior, invert)
            yield "split at all, " + name, split(LLAMA3, behavior, invert)
            yield "split at a text, " + name, P.Split("aab", behavior, invert)
            yield "split at a text beyond ASCII, " + name, P.Split("e\u0301\u0301", behavior, invert)
    yield "characters", split(r"[\s\S]", "isolated")
    yield "clip", P.Sequence([split(CLIP, "removed", True), P.ByteLevel(add_prefix_space=False)])
    yield "the words of clip", split(CLIP, "removed", True)
    yield (
        "falcon, in another order",
        P.Sequence(
            [P.Punctuation("contiguous"), P.Digits(False), split("[0-9][0-9]?[0-9]?", "isolated"), P.ByteLevel(False)]
        ),
    )
    yield "starcoder", P.Sequence([P.Digits(True), P.ByteLevel(False)])
    yield (
        "deepseek",
        P.Sequence(
            [
                split(r"\p{N}{1,3}", "isolated"),
                split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", "isolated"),
                split(r"[\r\n]|\s?[^\s\p{L}\p{N}]+[\r\n]*|\s?\p{L}+|\s+(?!\S)|\s+|\p{N}", "isolated"),
                P.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    )
    yield "words, then marks", P.Sequence([P.WhitespaceSplit(), P.Punctuation("isolated")])
    yield "words, then digits, then marks", P.Sequence([P.Whitespace(), P.Digits(True), P.Punctuation("removed")])
    yield "scripts", P.UnicodeScripts()
    yield "words, then scripts", P.Sequence([P.Whitespace(), P.UnicodeScripts()])
    yield "of a length", P.FixedLength(3)
    yield (
        "texts, then scripts",
        P.Sequence([P.Split("foo", "merged_with_previous"), P.Split("the ", "removed"), P.UnicodeScripts()]),
    )
    yield "scripts, then bytes", P.Sequence([P.UnicodeScripts(), P.ByteLevel(False)])
    yield "bytes alone", P.ByteLevel(add_prefix_space=True)


def few_letters(count, seed):
    """Texts that hold what is split at, and its beginnings."""
    dice = random.Random(seed)
    for _ in range(count):
        yield "".join(dice.choice("aaab e\u0301\u0301") for _ in range(dice.randint(1, 30))), None, 0


def normal(name):
    return {
        "none": None,
        "clip": normalizers.Sequence(
            [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
        ),
        "bert": normalizers.BertNormalizer(),
        "bert, cased": normalizers.BertNormalizer(lowercase=False, strip_accents=False),
        "nfkc": normalizers.NFKC(),
    }[name]


def set_affixes(tokenizer, suffix, prefix, unknown):
    """The trainer does not tell the model what it put there, and it merges the unknown token, which is refused."""
    data = json.loads(tokenizer.to_str())
    data["model"]["end_of_word_suffix"] = suffix
    data["model"]["continuing_subword_prefix"] = prefix
    data["model"]["merges"] = [pair for pair in data["model"]["merges"] if unknown not in pair]
    return Tokenizer.from_str(json.dumps(data))


def byte_pairs(lines, splitter, normalizer, suffix=None, prefix=None, unknown="<unk>", size=600, alphabet=()):
    tokenizer = Tokenizer(models.BPE(unk_token=unknown))
    tokenizer.normalizer = normalizer
    if splitter is not None:
        tokenizer.pre_tokenizer = splitter
    affixes = {"end_of_word_suffix": suffix, "continuing_subword_prefix": prefix}
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[unknown, "<s>", "</s>"] if unknown else ["<s>", "</s>"],
        initial_alphabet=list(alphabet),
        limit_alphabet=300,
        show_progress=False,
        **{key: value for key, value in affixes.items() if value},
    )
    tokenizer.train_from_iterator(lines, trainer)
    if alphabet and (suffix or prefix):
        data = json.loads(tokenizer.to_str())
        vocabulary = data["model"]["vocab"]
        for letter in alphabet:
            for text in {
                letter,
                letter + (suffix or ""),
                (prefix or "") + letter,
                (prefix or "") + letter + (suffix or ""),
            }:
                vocabulary.setdefault(text, len(vocabulary))
        tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer = set_affixes(tokenizer, suffix, prefix, unknown)
    tokenizer.decoder = decoders.ByteLevel() if alphabet else decoders.BPEDecoder(suffix=suffix or "</w>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[(t, tokenizer.token_to_id(t)) for t in ("<s>", "</s>")],
    )
    return tokenizer


def words(lines, splitter, normalizer, size=500):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizer
    if splitter is not None:
        tokenizer.pre_tokenizer = splitter
    trainer = trainers.WordLevelTrainer(vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    tokenizer.train_from_iterator((line[:30] for line in lines), trainer)
    return tokenizer


def pieces(lines, splitter, normalizer, size=600):
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>", max_input_chars_per_word=60))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"], limit_alphabet=200, show_progress=False
    )
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("clip", type=pathlib.Path, nargs="?")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only, fewer mixtures")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    lines = list(read_lines(options.data)) if options.data else []
    some = TEXTS + lines[::37]
    step, mixtures = (61, 1000) if options.quick else (1, 20000)

    def compare(name, tokenizer, all_points):
        try:
            compare_all(name, tokenizer, all_points)
        except subprocess.CalledProcessError:
            print("%s: not taken" % name)
            comparator.different += 1

    def compare_all(name, tokenizer, all_points):
        comparator.compare(name + ": code points", tokenizer, code_point_texts(step if all_points else 61))
        comparator.compare(name + ": mixtures", tokenizer, tricky_texts(mixtures if all_points else 1000, 1))
        comparator.compare(name + ": few letters", tokenizer, few_letters(mixtures if all_points else 1000, 4))
        comparator.compare(name + ": long", tokenizer, long_texts(2))
        comparator.compare(
            name + ": lines", tokenizer, ((line, None, 0) for line in TEXTS + lines[:: 1 if all_points else 20])
        )
        dice = random.Random(3)
        pool = TEXTS + lines[:2000]
        for side in ("right", "left"):
            pairs = [(dice.choice(pool)[:200], dice.choice(pool)[:200], dice.randint(4, 40)) for _ in range(200)]
            comparator.compare(name + ": pairs, " + side, Truncating(tokenizer, "longest_first", side), pairs)

    if options.clip:
        compare("clip's own", Tokenizer.from_file(str(options.clip)), True)
    alphabet = P.ByteLevel.alphabet()
    clip = P.Sequence([split(CLIP, "removed", True), P.ByteLevel(add_prefix_space=False)])
    compare(
        "like clip",
        byte_pairs(some, clip, normal("clip"), suffix="</w>", unknown="<|endoftext|>", size=1500, alphabet=alphabet),
        True,
    )
    compare("like gpt", byte_pairs(some, P.BertPreTokenizer(), normal("bert"), suffix="</w>"), True)
    compare("with ##", byte_pairs(some, P.BertPreTokenizer(), normal("bert, cased"), prefix="##"), True)
    compare("with both", byte_pairs(some, P.Whitespace(), normal("nfkc"), prefix="@@", suffix="</w>"), False)
    both = byte_pairs(some, P.ByteLevel(False), None, prefix="##", suffix="</w>", size=2500, alphabet=alphabet)
    compare("with both, of bytes", both, False)
    for name in ("bert", "bert, cased", "nfkc"):
        compare("words, " + name, words(some, P.BertPreTokenizer(), normal(name)), name == "bert")
    for name, splitter in splitters():
        compare("words by " + name, words(some, splitter, None), name in ("whitespace", "bert", "digits", "scripts"))
        if "bytes" in name or name in ("clip", "starcoder", "deepseek") or "falcon" in name:
            made = byte_pairs(some, splitter, None, alphabet=alphabet, unknown=None, size=900)
            compare("bytes by " + name, made, False)
        else:
            compare("pairs by " + name, byte_pairs(some, splitter, None), False)
            compare("pieces by " + name, pieces(some, splitter, normal("nfkc")), False)
            compare("pairs with </w> by " + name, byte_pairs(some, splitter, normal("clip"), suffix="</w>"), False)
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares bantam's byte pair encoding of code points with Hugging Face `tokenizers`: ids, byte offsets and segments; and with
SentencePiece itself, whose merges the file has: ids.

Usage: conformance_pieces.py COMPARATOR MODEL [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, MODEL a SentencePiece file with a BPE model (Llama 2's tokenizer.model). Its
pieces and the merges that follow from them are tried as published tokenizers have them, and as the file alone is read: with
marks for blanks put by normalisers or by Metaspace, with byte fallback, unknown tokens fused and not. Then small vocabularies
with merges at random, and small models that SentencePiece trains. Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import io
import json
import pathlib
import random
import sys

import sentencepiece
from conformance import Comparator, code_point_texts, read_lines
from conformance_sentencepiece import Model
from conformance_unigram import long_texts, mixtures
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

MARK = "\u2581"
SPECIALS = ("<unk>", "<s>", "</s>")


def merges_of(vocabulary):
    """transformers' generate_merges, without scores."""
    merges = []
    for piece, rank in vocabulary.items():
        for at in range(1, len(piece)):
            left, right = piece[:at], piece[at:]
            if left in vocabulary and right in vocabulary:
                merges.append((rank, len(left), len(right), left, right))
    return [(left, right) for _, _, _, left, right in sorted(merges)]


def make(vocabulary, merges, words=None, normal=None, bos=True, **changes):
    settings = dict(dict(unk_token="<unk>", fuse_unk=True, byte_fallback=True), **changes)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, **settings))
    if normal:
        tokenizer.normalizer = normal
    if words:
        tokenizer.pre_tokenizer = words
    if bos:
        tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in SPECIALS])
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
        )
    return tokenizer


class Answer:
    """As an encoding of `tokenizers`, of which SentencePiece knows the ids."""

    def __init__(self, ids):
        self.ids = ids


class Original:
    """SentencePiece's own answers, behind the token that begins a text."""

    def __init__(self, content):
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=content)

    def encode(self, first, second):
        return Answer([self.processor.bos_id(), *self.processor.encode(first)])


def plain_texts(requests, marked):
    """Those without special tokens, which SentencePiece reads as texts; and, unless `marked`, without a blank or a mark in front,
    before which SentencePiece alone puts another one."""
    for text, _, most in requests:
        if any(special in text for special in SPECIALS) or (not marked and text[:1] in (" ", MARK)):
            continue
        yield text, None, most


def trained(lines, seed):
    """A small model of lines."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, model_type="bpe", vocab_size=400 + 150 * seed, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, hard_vocab_limit=False, minloglevel=2,
        split_by_whitespace=seed % 2 == 0, split_digits=seed % 3 == 0, max_sentencepiece_length=4 + 8 * seed, num_threads=1,
        allow_whitespace_only_pieces=seed % 2 == 1,
    )  # fmt: skip
    return out.getvalue()


def metaspace(scheme, split):
    return pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme=scheme, split=split)


def random_pieces(seed):
    """Few letters, merges that make parts first, texts with what is not a token."""
    dice = random.Random(seed)
    letters = dice.choice(["a", "ab", "abc", "a\u00e9", "a\u4e2d", "ab" + MARK])
    tokens, pool, merges = ["<unk>"], list(dict.fromkeys(letters + MARK)), []
    fallback = seed % 3 == 0
    tokens += pool + (["<0x%02X>" % i for i in range(256)] if fallback else [])
    for _ in range(dice.choice([0, 3, 10, 60])):
        a, b = dice.choice(pool), dice.choice(pool)
        if len(a + b) <= 30 and a + b not in tokens:
            merges.append((a, b))
            tokens.append(a + b)
            pool.append(a + b)
    words = dice.choice([None, metaspace("always", True), metaspace("first", False), "split"])
    if words == "split":
        words = pre_tokenizers.Split(Regex(r"\s+|[^\s]+"), "isolated")
    vocabulary = {token: i for i, token in enumerate(tokens)}
    changes = dict(byte_fallback=fallback, fuse_unk=seed % 2 == 0, ignore_merges=seed % 5 == 0)
    tokenizer = make(vocabulary, merges, words, bos=False, **changes)
    sizes = [dice.choice([1, 3, 8, 20, 100, 1500, 4000]) for _ in range(60)]
    more = letters.replace(MARK, "") + dice.choice(["", " ", "x", " xy", "\U0001f600 x"])
    return tokenizer, [("".join(dice.choice(more) for _ in range(size)), None, 0) for size in sizes]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only, fewer mixtures")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    lines = list(read_lines(options.data)) if options.data else []
    step, count = (61, 3000) if options.quick else (1, 30000)
    content = options.model.read_bytes()
    vocabulary = {text: i for i, (text, _, _) in enumerate(Model(content).pieces)}
    merges = merges_of(vocabulary)
    marks = normalizers.Replace(" ", MARK)
    legacy = normalizers.Sequence([normalizers.Prepend(MARK), marks])
    first = metaspace("first", False)
    split = pre_tokenizers.Split(" ", "merged_with_previous")

    def directory(model=content, **config):
        config = dict(dict(tokenizer_class="LlamaTokenizer"), **config)
        return {"tokenizer.model": model, "tokenizer_config.json": json.dumps(config).encode()}

    settings = {
        "normalisers": (dict(normal=legacy), None),
        "metaspace": (dict(words=first), None),
        "metaspace, words": (dict(words=metaspace("always", True)), None),
        "metaspace, whole words": (dict(words=metaspace("always", True), ignore_merges=True), None),
        "gemma": (dict(words=split, normal=marks), None),
        "unknown, fused": (dict(words=first, byte_fallback=False), None),
        "unknown, each": (dict(words=first, byte_fallback=False, fuse_unk=False), None),
        "no marks": ({}, None),
        "file": (dict(words=first), directory()),
        "file, legacy": (dict(normal=legacy), directory(tokenizer_class="LlamaTokenizerFast", legacy=True)),
    }
    for name, (changes, files) in settings.items():
        tokenizer = make(vocabulary, merges, **changes)
        every = step if name in ("normalisers", "metaspace") else 61
        comparator.compare(name + ": code points", tokenizer, code_point_texts(every), files)
        comparator.compare(name + ": mixtures", tokenizer, mixtures(count, 1), files)
        comparator.compare(name + ": long", tokenizer, long_texts(2), files)
        comparator.compare(name + ": lines", tokenizer, ((line, None, 0) for line in lines), files)
        pairs = [(a, b, 0) for a, b in zip(lines[:2000], lines[1000:3000])]
        comparator.compare(name + ": pairs", tokenizer, pairs, files)
    originals = [("SentencePiece", content)]
    data = lines or [text for text, _, _ in mixtures(2000, 3) if text]
    originals += [("SentencePiece %d" % seed, trained(data, seed)) for seed in range(4)]
    for name, model in originals:
        for old in (True, False):
            texts = [*code_point_texts(61), *mixtures(count, 5), *long_texts(6), *((line, None, 0) for line in lines)]
            texts = plain_texts(texts, old)
            comparator.compare(name + (", legacy" if old else ""), Original(model), texts, directory(model, legacy=old))
    for seed in range(30 if options.quick else 300):
        comparator.compare("random pieces %d" % seed, *random_pieces(seed))
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

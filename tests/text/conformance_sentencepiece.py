#!/usr/bin/env python3
"""Compares tokenizers read from SentencePiece model files with Hugging Face `tokenizers`: ids, byte offsets and segments.

Usage: conformance_sentencepiece.py COMPARATOR MODEL... [--data DIR] [--quick]

COMPARATOR is the built program tokenize_lines, each MODEL a SentencePiece file (spiece.model and its like). Its pieces are
given to `tokenizers` as transformers' tokenizer classes give them: fairseq's numbers, extra ids, normalisers, templates. Each
MODEL is read as every class that its kind goes with: the numbers of special tokens are then another family's, which both
sides know the same of. Prints the number of comparisons and of differences; exits 1 when there are any.
"""

import argparse
import json
import pathlib
import struct
import sys

from conformance import Comparator, code_point_texts, read_lines
from conformance_unigram import long_texts, mixtures
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors


def fields(message):
    """(number, value) of a protocol buffer's fields: ints, floats' bits or bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 5:
            at += 4
            yield key >> 3, message[at - 4 : at]
        elif key & 7 == 1:
            at += 8
            yield key >> 3, message[at - 8 : at]
        else:
            size = varint()
            at += size
            yield key >> 3, message[at - size : at]


class Model:
    """The content of a SentencePiece file: pieces of (text, score, type), the charsmap, the kind of model."""

    def __init__(self, content):
        self.content = content
        self.pieces = []
        self.charsmap = b""
        self.kind = 1
        for number, value in fields(content):
            if number == 1:
                piece = {1: b"", 2: struct.pack("<f", 0), 3: 1}
                piece.update(fields(value))
                self.pieces.append((piece[1].decode(), struct.unpack("<f", piece[2])[0], piece[3]))
            elif number == 2:
                self.kind = dict(fields(value)).get(3, 1)
            elif number == 3:
                self.charsmap = dict(fields(value)).get(2, b"")


def special(tokenizer, texts, mask=None, strips=True):
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in texts])
    if mask:
        tokenizer.add_special_tokens([AddedToken(mask, lstrip=strips, normalized=False, special=True)])


def template(tokenizer, single, pair, names):
    ids = [(name, tokenizer.token_to_id(name)) for name in names]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)


WORDS = pre_tokenizers.Sequence(
    [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")]
)


def unigram(model, vocabulary, unknown, before=(), after=(), words=WORDS):
    tokenizer = Tokenizer(models.Unigram(vocabulary, [t for t, _ in vocabulary].index(unknown), False))
    row = list(before) + ([normalizers.Precompiled(model.charsmap)] if model.charsmap else []) + list(after)
    tokenizer.normalizer = normalizers.Sequence(row)
    tokenizer.pre_tokenizer = words
    marks = [AddedToken(t, normalized=False, special=kind == 3) for t, _, kind in model.pieces if kind in (3, 4)]
    tokenizer.add_tokens(marks)
    return tokenizer


def scores(model, avoids=False):
    digits = "0123456789"
    cut = [avoids and len(t) > 1 and t[-1] == "," and t[-2] in digits for t, _, _ in model.pieces]
    return [(t, s - 100 if c else s) for (t, s, _), c in zip(model.pieces, cut)]


def xlm_roberta(model):
    vocabulary = [(t, 0.0) for t in ("<s>", "<pad>", "</s>", "<unk>")] + scores(model)[3:] + [("<mask>", 0.0)]
    tokenizer = unigram(model, vocabulary, "<unk>")
    special(tokenizer, ["<s>", "</s>", "<unk>", "<pad>"], "<mask>")
    template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>", ["<s>", "</s>"])
    return tokenizer


def camembert(model):
    first = [("<s>NOTUSED", 0.0), ("<pad>", 0.0), ("</s>NOTUSED", 0.0), ("<unk>", 0.0), ("<unk>NOTUSED", -100.0)]
    tokenizer = unigram(model, first + scores(model)[1:] + [("<mask>", 0.0)], "<unk>")
    special(tokenizer, ["<s>", "</s>", "<unk>", "<pad>"], "<mask>")
    special(tokenizer, ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"])
    template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>", ["<s>", "</s>"])
    return tokenizer


def quotes(accents, lower):
    row = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    row += [] if accents else [normalizers.NFKD(), normalizers.StripAccents()]
    return row + ([normalizers.Lowercase()] if lower else [])


def albert(model):
    tokenizer = unigram(model, scores(model, True), "<unk>", quotes(False, True))
    special(tokenizer, ["[CLS]", "[SEP]", "<unk>", "<pad>"], "[MASK]")
    pair = "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
    template(tokenizer, "[CLS]:0 $A:0 [SEP]:0", pair, ["[CLS]", "[SEP]"])
    return tokenizer


def xlnet(model):
    tokenizer = unigram(model, scores(model, True), "<unk>", quotes(False, False))
    special(tokenizer, ["<cls>", "<sep>", "<unk>", "<pad>"], "<mask>")
    special(tokenizer, ["<eop>", "<eod>"])
    template(tokenizer, "$A:0 <sep>:0 <cls>:2", "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2", ["<sep>", "<cls>"])
    return tokenizer


def t5(model):
    vocabulary = scores(model) + [("<extra_id_%d>" % i, 0.0) for i in range(99, -1, -1)]
    tokenizer = unigram(model, vocabulary, "<unk>")
    special(tokenizer, ["</s>", "<unk>", "<pad>"] + ["<extra_id_%d>" % i for i in range(99, -1, -1)])
    template(tokenizer, "$A </s>", "$A </s> $B </s>", ["</s>"])
    return tokenizer


def deberta(model):
    before = [normalizers.Strip(True, True)]
    words = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    after = [normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer = unigram(model, scores(model), "[UNK]", before, after, words)
    special(tokenizer, ["[CLS]", "[SEP]", "[UNK]", "[PAD]"], "[MASK]", False)
    pair = "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
    template(tokenizer, "[CLS]:0 $A:0 [SEP]:0", pair, ["[CLS]", "[SEP]"])
    return tokenizer


UNIGRAM = {
    "XLMRobertaTokenizer": xlm_roberta,
    "CamembertTokenizer": camembert,
    "AlbertTokenizer": albert,
    "XLNetTokenizerFast": xlnet,
    "T5Tokenizer": t5,
    "DebertaV2Tokenizer": deberta,
}


def renamed(content, names):
    """A model file whose pieces of these names have others of as many bytes or more."""
    out = b""
    for number, value in fields(content):
        if number == 1:
            piece = dict(fields(value))
            text = names.get(piece[1], piece[1])
            kind = bytes([24, piece[3]]) if 3 in piece else b""
            value = b"\n" + varint(len(text)) + text + b"\x15" + piece.get(2, bytes(4)) + kind
        if isinstance(value, bytes):
            out += bytes([number << 3 | 2]) + varint(len(value)) + value
    return out


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("comparator")
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="every 61st code point only, fewer mixtures")
    options = parser.parse_args()
    comparator = Comparator(options.comparator)
    lines = list(read_lines(options.data)) if options.data else []
    step, count = (61, 3000) if options.quick else (1, 30000)
    for path in options.models:
        given = Model(path.read_bytes())
        for name, make in UNIGRAM.items() if given.kind == 1 else []:
            swap = {} if make is deberta else {b"[UNK]": b"<unk>", b"[PAD]": b"<pad>"}
            if make is xlnet:
                swap.update({b"[CLS]": b"<cls>", b"[SEP]": b"<sep>"})
            if make is t5:
                swap.update({b"[CLS]": b"<s>", b"[SEP]": b"</s>"})
            if make in (xlm_roberta, camembert):
                swap = {b"[PAD]": b"<unk>", b"[CLS]": b"<s>", b"[SEP]": b"</s>", b"[UNK]": b"<other>"}
            model = Model(renamed(given.content, swap))
            tokenizer = make(model)
            config = json.dumps({"tokenizer_class": name}).encode()
            files = {"spiece.model": model.content, "tokenizer_config.json": config}
            for kind, texts in (
                ("code points", code_point_texts(step if make is deberta else 61)),
                ("mixtures", mixtures(count, 1)),
                ("long", long_texts(2)),
                ("lines", ((line, None, 0) for line in lines)),
                ("pairs", ((a, b, 0) for a, b in zip(lines[:2000], lines[1000:3000]))),
            ):
                comparator.compare("%s, %s: %s" % (path.parent.name, name, kind), tokenizer, texts, files)
    print("total: %d compared, %d different" % (comparator.compared, comparator.different))
    return 1 if comparator.different else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes what the original library answers for texts, for `bantam convert --expect FILE.jsonl`.

Usage: python make_expected.py HUGGING_FACE_DIRECTORY TEXTS [OUTPUT.jsonl]

TEXTS has one text a line, or two separated by a tab (a pair); "-" reads standard input. Each line written holds the
text, its token ids, segments where they are not all 0, and every output by transformers' name. Needs torch and
transformers, and sentence-transformers for its directories.
"""

import argparse
import json
import pathlib
import sys

import transformers

import reference


def tokenizer_of(model):
    if model.sentence:
        return model.model.tokenizer
    return transformers.AutoTokenizer.from_pretrained(model.directory)


def longest(model, tokenizer):
    """Most tokens of a text: what the model has positions for, or less where its tokenizer says so."""
    config = model.model[0].auto_model.config if model.sentence else model.model.config
    stated = model.model.max_seq_length if model.sentence else tokenizer.model_max_length
    return min(config.max_position_embeddings, stated or config.max_position_embeddings)


def encode(tokenizer, line, limit):
    first, tab, second = line.partition("\t")
    texts = (first, second) if tab else (first,)
    encoded = tokenizer(*texts, truncation=True, max_length=limit)
    segments = encoded.get("token_type_ids") or [0] * len(encoded["input_ids"])
    return encoded["input_ids"], segments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("texts")
    parser.add_argument("output", nargs="?", default="expected.jsonl")
    arguments = parser.parse_args()

    model = reference.Reference(arguments.directory)
    tokenizer = tokenizer_of(model)
    limit = longest(model, tokenizer)
    source = sys.stdin if arguments.texts == "-" else open(arguments.texts, encoding="utf-8", newline="\n")
    with source, open(arguments.output, "w", encoding="utf-8") as output:
        for line in source:
            text = line.rstrip("\n")
            ids, segments = encode(tokenizer, text, limit)
            written = {"text": text, "ids": ids}
            if any(segments) and model.segmented():
                written["segments"] = segments
            written.update(model(ids, segments))
            output.write(json.dumps(written, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

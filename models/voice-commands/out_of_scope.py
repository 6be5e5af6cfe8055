#!/usr/bin/env python3
"""Writes sentences out of scope as examples for `bantam distill` and `bantam convert --calibrate-scores`.

They are banking77's and wnut17's training sentences, and what the patterns of out_of_scope_train.txt make. Nine of ten
go into TRAIN.jsonl, the tenth into CALIBRATE.jsonl. No word of them is a slot.
"""

import argparse
import itertools
import json
import pathlib
import random
import re

HERE = pathlib.Path(__file__).resolve().parent
CHOICE = re.compile(r"\(([^()]*)\)|\{(\w+)\}")
SEED = 77
OF_EACH_PATTERN = 40
KEPT_BACK = 10


def expand(pattern, lists, chance):
    """Replaces each choice of the pattern, from the innermost out, by one of its parts."""
    while found := CHOICE.search(pattern):
        parts = found[1].split("|") if found[1] is not None else lists[found[2]]
        pattern = pattern[: found.start()] + chance.choice(parts) + pattern[found.end() :]
    return " ".join(pattern.split())


def written(path, chance):
    """Up to OF_EACH_PATTERN different sentences of every pattern of the file."""
    lists, sentences = {}, {}
    for line in path.read_text().splitlines():
        definition = re.fullmatch(r"(\w+) = (.*)", line)
        if definition:
            lists[definition[1]] = definition[2].split("|")
        elif line and not line.startswith("#"):
            sentences |= dict.fromkeys(expand(line, lists, chance) for _ in range(OF_EACH_PATTERN))
    return list(sentences)


def read(path):
    return map(json.loads, path.read_text().splitlines())


def spoken(text):
    """Lower case without punctuation around words, as the commands are written."""
    words = (word.strip(".,;:!?\"()[]*") for word in text.lower().split())
    return " ".join(word for word in words if word)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--banking77", type=pathlib.Path, required=True, metavar="TRAIN.jsonl")
    parser.add_argument("--wnut17", type=pathlib.Path, required=True, metavar="TRAIN.jsonl")
    parser.add_argument("train", type=pathlib.Path)
    parser.add_argument("calibrate", type=pathlib.Path)
    options = parser.parse_args()
    chance = random.Random(SEED)
    banking = [example["text"] for example in read(options.banking77)]
    tweets = [" ".join(example["tokens"]) for example in read(options.wnut17)]
    tested = set((HERE / "out_of_scope.txt").read_text().splitlines())
    all_of_them = itertools.chain(written(HERE / "out_of_scope_train.txt", chance), banking, tweets)
    texts = [text for text in dict.fromkeys(map(spoken, all_of_them)) if text and text not in tested]
    chance.shuffle(texts)
    for path, chosen in (
        (options.calibrate, texts[::KEPT_BACK]),
        (options.train, [text for number, text in enumerate(texts) if number % KEPT_BACK]),
    ):
        lines = []
        for text in chosen:
            words = text.split()
            lines.append({"text": text, "intent": "out_of_scope", "tokens": words, "slots": ["O"] * len(words)})
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()

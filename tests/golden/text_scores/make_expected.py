"""Scores of made-up texts by sacreBLEU and rouge_score: expected.jsonl, a set of texts a line. Written with sacrebleu 2.5, rouge_score 0.1.2."""

import json
import pathlib
import random

import sacrebleu
from rouge_score import rouge_scorer

WORDS = (
    'the a cat dog, sun. rain; runs 3.5 1,000 10-12 e.g. U.S. don\'t \u00fcber Stra\u00dfe \u6f22\u5b57 na\u00efve (so) "yes" &amp; '
    "&quot;q&quot; x&lt;y a/b well-known 5- -5 ... what?! \u00ab oui \u00bb \u2603 end."
).split(" ")
BLANKS = [" ", " ", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\n"]


def text(draw, longest):
    return "".join(draw.choice(WORDS) + draw.choice(BLANKS) for _ in range(draw.randrange(longest + 1))).rstrip()


def spoiled(draw, given):
    words = given.split(" ")
    return " ".join(draw.choice(WORDS) if draw.random() < 0.2 else word for word in words if draw.random() < 0.9)


def scores(made, references):
    columns = [[row[k] for row in references] for k in range(len(references[0]))]
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"])
    rouge = {"rouge1": 0.0, "rouge2": 0.0, "rougeL": 0.0}
    for one, row in zip(made, references):
        for name, best in scorer.score_multi(row, one).items():
            rouge[name] += best.fmeasure / len(made)
    return {
        "bleu": sacrebleu.corpus_bleu(made, columns).score / 100,
        "chrf": sacrebleu.corpus_chrf(made, columns).score / 100,
        **rouge,
    }


def main():
    draw = random.Random(7)
    with open(pathlib.Path(__file__).parent / "expected.jsonl", "w") as file:
        for number in range(60):
            count = draw.choice([1, 1, 2, 5, 20])
            wanted = draw.choice([1, 1, 3])
            references = [[text(draw, 14) or "x" for _ in range(wanted)] for _ in range(count)]
            made = [spoiled(draw, draw.choice(row)) if number % 5 else text(draw, 14) for row in references]
            line = {"made": made, "references": references, **scores(made, references)}
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


main()

"""Models of several families as people use them: vectors of the multilingual MiniLM, pairs judged by families other than BERT."""

import json
import math
import shutil
import unittest

from support import GOLDEN, CommandTest, model, softmax
from torch_file import read_safetensors, write_safetensors

TOKENIZER = GOLDEN / "minilm-multilingual"
QUERY = "the cat sat"
TEXTS = ["le chat", "a", "кот 猫", "eine Katze at sea"]
# Names that published models of inference give their labels, in the order of theirs.
INFERENCE = {
    "xlnet-classify": "CONTRADICTION NEUTRAL ENTAILMENT",
    "deberta-v3-classify": "entailment neutral contradiction",
}


def best_of(scores, count):
    """Places of the greatest, of equal ones the former first."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:count]


class Families(CommandTest):
    def convert(self, name, tokenizer=True, **settings):
        """A golden model with the small tokenizer of XLM-R, whose vocabulary fits every small model."""
        source, target = self.directory / name, self.directory / f"{name}.bantam"
        shutil.copytree(GOLDEN / name, source, dirs_exist_ok=True)
        if tokenizer:
            for file in ("tokenizer.json", "tokenizer_config.json"):
                shutil.copy(TOKENIZER / file, source)
        config = json.loads((source / "config.json").read_text())
        (source / "config.json").write_text(json.dumps({**config, **settings}))
        self.ok("convert", source, "-o", target, "--weights", "f32", "--parity", "none", "--quiet")
        return target

    def logits(self, file, first, second):
        """By token ids, as transformers writes a pair."""
        ids = self.line("tokenize", file, first, "--pair", second, "--json")["ids"]
        outputs = self.line("run", file, "--ids", ",".join(map(str, ids)))["outputs"]
        return outputs["logits"]["data"]

    def test_vectors_of_texts_are_the_library_s(self):
        file = self.convert("minilm-multilingual", tokenizer=False)
        for line in (TOKENIZER / "expected.jsonl").read_text().splitlines():
            expected = json.loads(line)
            found = self.line("embed", file, expected["text"], "--json")["embedding"]
            for a, b in zip(found, expected["sentence_embedding"], strict=True):
                self.assertAlmostEqual(a, b, delta=1e-5)

    def test_ranks_by_families_with_one_number(self):
        for name in ("xlm-roberta-regress", "jina-rank", "xlnet-regress"):
            for function in (None, "torch.nn.modules.linear.Identity"):
                settings = {"sentence_transformers": {"activation_fn": function}} if function else {}
                file = self.convert(name, **settings)
                ranked = self.line("rank", file, QUERY, *TEXTS, "--json")["found"]
                self.assertEqual(len(ranked), len(TEXTS))
                self.assertEqual(
                    [one["score"] for one in ranked], sorted((one["score"] for one in ranked), reverse=True)
                )
                for one in ranked:
                    number = self.logits(file, QUERY, one["text"])[0]
                    score = number if function else 1 / (1 + math.exp(-number))
                    self.assertAlmostEqual(one["score"], score, places=5, msg=name)

    def test_gives_labels_of_ones_own_by_families_of_inference(self):
        usual = "contradiction neutral entailment"
        for name in ("roberta-classify", "modernbert-classify", "electra-classify", *INFERENCE):
            labels = INFERENCE.get(name, usual).split()
            file = self.convert(name, id2label=dict(enumerate(labels)), label2id={x: i for i, x in enumerate(labels)})
            holds = [x.lower() for x in labels].index("entailment")
            wanted = ["cat", "chat", "sea"]
            found = [self.logits(file, QUERY, f"a {label}")[holds] for label in wanted]
            expected = dict(zip(wanted, softmax(found), strict=True))
            answer = self.line("classify", file, QUERY, "--labels", ",".join(wanted), "--hypothesis", "a {}", "--json")[
                "labels"
            ]
            self.assertEqual(len(answer), 3)
            for one in answer:
                self.assertAlmostEqual(one["score"], expected[one["label"]], places=5, msg=name)

    def test_embeddings_of_t5_under_the_decoder_s_name(self):
        """MADLAD-400 and its like have no shared.weight: both sides read decoder.embed_tokens.weight."""
        outputs = []
        for name in ("shared.weight", "decoder.embed_tokens.weight"):
            source, target = self.directory / name, self.directory / f"{name}.bantam"
            shutil.copytree(GOLDEN / "t5-untied", source)
            config = json.loads((source / "config.json").read_text())
            (source / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
            tensors = read_safetensors(source / "model.safetensors")
            words = tensors.pop("shared.weight")
            tensors[name] = words
            row = len(words[2]) // words[1][0]
            tensors["lm_head.weight"] = (
                *words[:2],
                words[2][row:] + words[2][:row],
            )  # another matrix than the embeddings
            write_safetensors(source / "model.safetensors", tensors)
            self.ok("convert", source, "-o", target, "--weights", "f32", "--parity", "none", "--quiet")
            outputs.append(self.line("run", target, "--ids", "5,9,12,1", "--decoder-ids", "0,7")["outputs"])
        self.assertEqual(outputs[0], outputs[1])

    def test_answers_that_xlnet_searches(self):
        """As transformers' script for SQuAD: the sum of both probabilities of a span counts, among the likeliest of each."""
        file = self.convert("xlnet-search", start_n_top=3, end_n_top=6)
        answered = 0
        for context in ("the cat sat at sea", "eine Katze at sea, the cat", "a кот 猫 sat", *TEXTS):
            tokens = self.line("tokenize", file, QUERY, "--pair", context, "--json")
            ids = ",".join(map(str, tokens["ids"]))
            outputs = self.line("run", file, "--ids", ids)["outputs"]
            scores = {name: value["data"] for name, value in outputs.items()}
            begins, inside = softmax(scores["start_logits"]), tokens["sequences"]
            spans = []
            for rank, first in enumerate(best_of(scores["start_logits"], 3)):
                ends = scores["end_logits" if rank == 0 else f"end_{rank}_logits"]
                for last in best_of(ends, 6):
                    if inside[first] == inside[last] == 1 and first <= last:
                        spans.append((begins[first] + softmax(ends)[last], first, last))
            found = self.line("answer", file, "--question", QUERY, "--context", context, "--json")
            self.assertEqual(found["answerable"], bool(spans), msg=context)
            if spans:
                answered += 1
                best, first, last = max(spans)
                score = 1 / sum(math.exp(span[0] - best) for span in spans)
                self.assertAlmostEqual(found["score"], score, places=5, msg=context)
                begin, end = tokens["offsets"][first][0], tokens["offsets"][last][1]
                self.assertEqual(found["answer"], context.encode()[begin:end].decode())
        self.assertGreater(answered, 1)

    def test_layers_of_gpt_3_see_all_tokens_and_bands_of_them_in_turn(self):
        for name in ("gpt3-generate", "gpt3-classify"):
            self.answers(name, model(name))
        plain = self.changed("gpt3-generate", attention_types=None)
        self.ok("convert", plain, "-o", self.directory / "plain.bantam", "--weights", "f32", "--parity", "none")
        line = json.loads((GOLDEN / "gpt3-generate" / "expected.jsonl").read_text().splitlines()[-1])
        ids = ",".join(map(str, line["ids"]))
        found = [
            self.line("run", file, "--raw", "--ids", ids)["outputs"]["logits"]["data"]
            for file in (self.directory / "plain.bantam", model("gpt3-generate"))
        ]
        self.assertEqual(found[0][:61], found[1][:61])
        self.assertNotEqual(found[0][-61:], found[1][-61:])
        for settings, says in (
            ({"attention_types": [[["global", "local"], 1]]}, ["attention_types", "4 layers"]),
            ({"attention_types": [[["global", "near"], 2]]}, ["attention_types", '"local"']),
            ({"attention_types": "local"}, ["attention_types"]),
            ({"window_size": 0}, ["window_size", "0"]),
        ):
            source = self.changed("gpt3-generate", **settings)
            self.fails(4, "convert", source, "-o", self.directory / "x.bantam", says=says)

    def test_students_of_families_whose_layers_stay_in_part(self):
        for name, option, says in (
            ("xlnet-classify", ("--ffn", "0.5"), None),
            ("deberta-classify", ("--ffn", "0.5"), None),
            ("mobilebert-classify", ("--ffn", "0.5"), "several feed-forward layers"),
            ("deberta-classify", ("--heads", "2"), "mixed in one matrix"),
            ("albert-classify", ("--layers", "1"), "run the same weights"),
        ):
            with self.subTest(name=name, option=option):
                self.convert(name)
                source, student = self.directory / name, self.directory / "student"
                shutil.rmtree(student, ignore_errors=True)
                if says:
                    self.fails(5, "student", source, *option, "-o", student, says=[says, f'"{option[0][2:]}"'])
                    if "--layers" in option:
                        continue
                    option = ()
                self.ok("student", source, "--layers", "1", *option, "-o", student)
                file = self.directory / "student.bantam"
                self.ok("convert", student, "-o", file, "--parity", "none", "--quiet")
                self.assertEqual(len(self.line("classify", file, QUERY, "--json")["labels"]), 3)


if __name__ == "__main__":
    unittest.main()

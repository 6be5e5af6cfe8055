"""generate: token by token what transformers' generate() makes, by every setting; where texts end; and what is refused."""

import json
import math
import shutil
import unittest

from support import GOLDEN, SHARED, CommandTest, bantam, model, softmax

NAME = "gpt2-text"
OPTIONS = {
    "greedy": [],
    "penalty": ["--repetition-penalty", "1.4"],
    "ngram": ["--no-repeat-ngram", "2"],
    "minimum": ["--min-new", "12"],
    "temperature": ["--temperature", "0.9"],
    "top_k": ["--temperature", "1.3", "--top-k", "9"],
    "top_p": ["--temperature", "1.1", "--top-p", "0.8"],
    "min_p": ["--temperature", "1.5", "--min-p", "0.1"],
    "all": [
        *("--temperature", "1.2", "--top-k", "40", "--top-p", "0.9", "--min-p", "0.01"),
        *("--repetition-penalty", "1.2", "--no-repeat-ngram", "3"),
    ],
}


def cases(kind):
    lines = (GOLDEN / NAME / "generate.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == kind]


class Generate(CommandTest):
    def generate(self, prompt, *options, name=NAME):
        return self.line("generate", model(name), prompt, "--json", *options)

    def test_without_chance_as_transformers_does(self):
        for kind in ("greedy", "penalty", "ngram", "minimum"):
            expected = cases(kind)
            self.assertEqual(len(expected), 50)
            prompts = self.directory / "prompts.txt"
            prompts.write_text("\n".join(case["prompt"] for case in expected) + "\n", encoding="utf-8")
            found = self.lines("generate", model(NAME), "--file", prompts, "--max-new", "20", "--json", *OPTIONS[kind])
            for case, made in zip(expected, found, strict=True):
                self.assertEqual(made["ids"], case["ids"], (kind, case["prompt"]))
                self.assertEqual(made["generated"], case["text"], (kind, case["prompt"]))
                self.assertEqual(made["finish"], "end" if case["ids"][-1] == 0 else "length")

    def test_by_chance_as_its_processors_do(self):
        for kind in ("temperature", "top_k", "top_p", "min_p", "all"):
            for case in cases(kind)[:: 5 if kind != "all" else 1]:
                made = self.generate(case["prompt"], "--max-new", "20", "--seed", str(case["seed"]), *OPTIONS[kind])
                self.assertEqual(made["ids"], case["ids"], (kind, case["prompt"]))

    def test_prints_text_as_it_comes(self):
        case = cases("greedy")[0]
        shown = self.ok("generate", model(NAME), case["prompt"], "--max-new", "20").decode()
        self.assertEqual(shown, case["text"] + "\n")
        shown = self.ok("generate", model(NAME), case["prompt"], "--max-new", "20", "--echo").decode()
        self.assertEqual(shown, case["prompt"] + case["text"] + "\n")
        streamed = self.ok("generate", model(NAME), "--max-new", "2", stdin=b"a cat\nthe dog\n").decode()
        self.assertEqual([line for line in streamed.split("\n") if line in ("a cat", "the dog")], ["a cat", "the dog"])

    def test_texts_end(self):
        case = next(case for case in cases("greedy") if len(case["text"]) > 6)
        stop = case["text"][4:6]
        made = self.generate(case["prompt"], "--max-new", "20", "--stop", "never", "--stop", stop)
        self.assertEqual(made["finish"], "stop")
        self.assertEqual(made["generated"], case["text"][: case["text"].index(stop)])
        made = self.generate(case["prompt"], "--max-new", "3", "--log-probs")
        self.assertEqual((made["finish"], made["ids"]), ("length", case["ids"][:3]))
        self.assertEqual(len(made["log_probabilities"]), 3)
        room = made["prompt_tokens"] + 2
        made = self.generate(case["prompt"], "--context", str(room))
        self.assertEqual((made["finish"], len(made["ids"])), ("context", 3))

    def test_contexts_prefill_and_threads_change_nothing(self):
        prompt = " ".join(["the cat sees"] * 20)
        plain = self.generate(prompt, "--max-new", "8")
        self.assertGreater(plain["prompt_tokens"], 40)
        self.assertEqual(self.generate(prompt, "--max-new", "8", "--threads", "2"), plain)
        for context in (plain["prompt_tokens"] + 8, 96):
            self.assertEqual(self.generate(prompt, "--max-new", "8", "--context", str(context)), plain)

    def test_says_what_it_cannot_do(self):
        self.fails(5, "generate", model("bert-classify"), "a", says=["classify", "--task generate"])
        self.fails(4, "generate", model(NAME), "a cat " * 100, says=["tokens", "shorten"])
        self.fails(4, "generate", model(NAME), "a cat sees", "--context", "2", says=["--context"])
        self.fails(4, "generate", model(NAME), "", says=["empty"])
        self.fails(2, "generate", model(NAME), "a", "--context", "97", says=["positions"])
        self.fails(2, "generate", model(NAME), "a", "--temperature", "-1", says=["--temperature"])
        self.fails(2, "generate", model(NAME), "a", "--top-p", "0", says=["--top-p"])
        self.fails(2, "generate", model(NAME), "a", "--min-new", "9", "--max-new", "3", says=["--min-new"])
        self.fails(2, "generate", model(NAME), "a", "--stop", "", says=["--stop"])
        self.fails(4, "generate", model("gpt2-generate"), "a", says=["tokenizer"])
        done = bantam("generate", model(NAME), "--json", stdin=b"a cat\n\nthe dog\n")
        objects = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertEqual([("error" in one) for one in objects], [False, True, False])

    def test_perplexity_is_that_of_each_token_by_those_in_front(self):
        text = "the cat sees a dog and runs when the sun sings"
        found = self.line("perplexity", model(NAME), text, "--json")
        ids = self.line("tokenize", model(NAME), text, "--json")["ids"]
        raw = self.line("run", model(NAME), "--ids", ",".join(map(str, ids)), "--raw")
        logits = raw["outputs"]["logits"]
        width = logits["shape"][2]
        rows = [logits["data"][i * width : (i + 1) * width] for i in range(len(ids))]
        log = sum(math.log(softmax(rows[i])[ids[i + 1]]) for i in range(len(ids) - 1))
        self.assertEqual((found["tokens"], found["texts"]), (len(ids) - 1, 1))
        self.assertAlmostEqual(found["log_probability"], log, delta=1e-3)
        self.assertAlmostEqual(found["perplexity"], math.exp(-log / (len(ids) - 1)), delta=1e-3 * found["perplexity"])
        # A window of four tokens, of which two are the one's before: each token by one to three others.
        short = self.line("perplexity", model(NAME), text, "--context", "4", "--overlap", "2", "--json")
        self.assertEqual(short["tokens"], found["tokens"])
        self.assertNotAlmostEqual(short["log_probability"], log, delta=1e-3)
        shown = self.ok("perplexity", model(NAME), text, "a cat").decode()
        self.assertRegex(shown, r"^perplexity \d+\.\d{4}  \(\d+ tokens of 2 texts, \d\.\d{4} bits a byte\)\n$")
        self.fails(2, "perplexity", model(NAME), text, "--context", "4", "--overlap", "4", says=["--overlap"])
        self.fails(5, "perplexity", model("bert-classify"), text, says=["--task generate"])
        self.fails(4, "perplexity", model(NAME), "!", says=["two tokens"])

    def test_runs_of_texts_show_what_may_follow(self):
        case = cases("greedy")[0]
        answer = self.line("run", model(NAME), case["prompt"], "--json", "--top", "2")
        self.assertEqual(answer["candidates"][0]["id"], case["ids"][0])
        self.assertTrue(answer["candidates"][0]["text"].startswith(case["prompt"]))


class Chat(CommandTest):
    """Conversations by templates in published forms; which text they make is golden_chat_test's to say."""

    def source(self, template=None, name="source"):
        source = self.directory / name
        shutil.copytree(GOLDEN / NAME, source)
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "", "eos_token": "<|endoftext|>"}
        (source / "tokenizer_config.json").write_text(json.dumps(settings))
        if template is not None:
            (source / "chat_template.jinja").write_text(template)
        return source

    def converted(self, form, name="source"):
        made = self.directory / f"{name}.bantam"
        template = (GOLDEN.parent / "chat" / f"{form}.jinja").read_text(encoding="utf-8")
        self.ok("convert", self.source(template, name), "-o", made, "--weights", "f32")
        return made

    def test_prompts_are_what_users_say(self):
        made = self.converted("zephyr")
        said = "the cat"
        for options, text in (
            ([], "<|user|>\nthe cat<|endoftext|>\n<|assistant|>\n"),
            (["--system", "Sing."], "<|system|>\nSing.<|endoftext|>\n<|user|>\nthe cat<|endoftext|>\n<|assistant|>\n"),
        ):
            found = self.line("generate", made, said, "--chat", *options, "--max-new", "8", "--json")
            self.assertEqual(found["text"], text)
            # The text has its special tokens itself.
            plain = self.line("generate", made, text, "--max-new", "8", "--json")
            self.assertEqual(found["ids"], plain["ids"])
            self.assertEqual(found["prompt_tokens"], plain["prompt_tokens"])
        self.assertEqual(self.line("generate", made, said, "--system", "Sing.", "--max-new", "8", "--json"), found)

    def test_conversations_are_lines_of_json(self):
        made = self.converted("chatml")
        turns = [("user", "a"), ("assistant", "b"), ("user", "c")]
        messages = [{"role": role, "content": text} for role, text in turns]
        lines = [
            json.dumps(messages),
            json.dumps({"messages": messages[:1]}),
            json.dumps(messages[:2]),
            "[1]",
            "{",
            "[]",
        ]
        done = bantam("generate", made, "--messages", "--max-new", "2", "--json", stdin="\n".join(lines).encode())
        found = [json.loads(line) for line in done.stdout.decode().splitlines()]
        marked = [f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns]
        self.assertEqual(found[0]["text"], "".join(marked) + "<|im_start|>assistant\n")
        self.assertEqual(found[1]["text"], marked[0] + "<|im_start|>assistant\n")
        self.assertEqual([("error" in one) for one in found], [False, False, True, True, True, True])

    def test_answers_end_with_the_turn(self):
        # Behind answers stands a text that is no special token.
        template = (
            "{% for m in messages %}{{ m.role }}: {{ m.content }}\nthe\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}"
        )
        made = self.directory / "own.bantam"
        self.ok("convert", self.source(template), "-o", made, "--weights", "f32")
        text = "user: a dog\nthe\nassistant: "
        plain = self.line("generate", made, text, "--max-new", "60", "--json")
        found = self.line("generate", made, "a dog", "--chat", "--max-new", "60", "--json")
        self.assertEqual(found["text"], text)
        if "the" in plain["generated"]:
            self.assertEqual((found["finish"], found["generated"]), ("stop", plain["generated"].split("the")[0]))
        else:
            self.assertEqual(found["generated"], plain["generated"])

    def test_says_what_it_cannot_do(self):
        self.fails(5, "generate", model(NAME), "a", "--chat", says=["chat template", "without --chat"])
        made = self.converted("gemma")
        self.fails(5, "generate", made, "a", "--system", "b", says=["no system"])
        shown = bantam("convert", self.source("{{ messages[0].content }}", "odd"), "-o", self.directory / "odd.bantam")
        self.assertEqual(shown.returncode, 0)
        self.assertIn("chat template", (shown.stdout + shown.stderr).decode())


@unittest.skipUnless((SHARED / "models" / "stories260k").exists(), "needs ../shared/models/stories260k")
class Stories(CommandTest):
    def test_goes_on_as_transformers_does(self):
        source = SHARED / "models" / "stories260k"
        made = self.directory / "stories.bantam"
        self.ok("convert", source, "-o", made, "--weights", "f32")
        for line in (source / "expected.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            count = len(case["greedy"]) - len(case["ids"])
            found = self.line("generate", made, case["prompt"], "--max-new", str(count), "--json")
            self.assertEqual(found["prompt_tokens"], len(case["ids"]))
            self.assertEqual(found["ids"], case["greedy"][len(case["ids"]) :], case["prompt"])
            self.assertEqual(case["prompt"] + found["generated"], case["greedy_text"])


if __name__ == "__main__":
    unittest.main()

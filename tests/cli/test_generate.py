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


PAIR = "bart-text"
SEARCHES = {
    "file": [],
    "greedy": ["--beams", "1"],
    "no": ["--beams", "4", "--early-stopping", "no", "--length-penalty", "1"],
    "never": ["--beams", "4", "--early-stopping", "never", "--length-penalty", "0.6"],
    "short": ["--beams", "3", "--early-stopping", "no", "--length-penalty", "-1"],
    "rules": ["--beams", "4", "--min-new", "6", "--repetition-penalty", "1.3", "--no-repeat-ngram", "2"],
    "summarization": ["--use", "summarization"],
}
TRANSLATOR = "marian-text"


def cases(kind, name=NAME):
    lines = (GOLDEN / name / "generate.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case.get("kind") == kind]


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


class Strict(CommandTest):
    """Settings of generation_config.json that no option gives."""

    def test_rules_of_sources_and_beginnings_are_those_of_transformers(self):
        expected = [json.loads(line) for line in (GOLDEN / PAIR / "strict.jsonl").read_text().splitlines()]
        rules = {
            "source": {"encoder_no_repeat_ngram_size": 1},
            "begin": {"begin_suppress_tokens": [22, 2], "suppress_tokens": [9]},
            "both": {"encoder_no_repeat_ngram_size": 1, "begin_suppress_tokens": [9, 28]},
        }
        for kind, settings in rules.items():
            source = self.directory / kind
            shutil.copytree(GOLDEN / PAIR, source)
            stated = json.loads((source / "generation_config.json").read_text())
            del stated["no_repeat_ngram_size"]
            (source / "generation_config.json").write_text(json.dumps({**stated, **settings}))
            file = self.directory / f"{kind}.bantam"
            self.ok("convert", source, "-o", file, "--weights", "f32", "--parity", "none", "-q")
            shown = self.line("inspect", file, "--json")["generations"][0]
            self.assertEqual(shown["source_no_repeat_ngram"], settings.get("encoder_no_repeat_ngram_size", 0))
            self.assertEqual(shown["begin_banned"], len(settings.get("begin_suppress_tokens", [])))
            for beams in (1, 3):
                some = [case for case in expected if (case["kind"], case["beams"]) == (kind, beams)]
                texts = self.write("texts.txt", "\n".join(case["text"] for case in some) + "\n")
                found = self.lines("generate", file, "--file", texts, "--json", "--beams", str(beams))
                for case, made in zip(some, found, strict=True):
                    self.assertEqual(made["ids"], case["ids"], case)


ANSWERS = [" the cat", " the cat runs", " a dog", " sees", " rain", " 東京"]


class Guesses(CommandTest):
    """The same texts in fewer passes: --lookup and --draft."""

    def same(self, options, prompt, *guesses, name=NAME, command="generate"):
        plain = self.line(command, model(name), prompt, "--json", *options)
        guessed = self.line(command, model(name), prompt, "--json", *options, *guesses)
        passes = guessed.pop("passes")
        self.assertEqual(guessed, plain, (options, guesses))
        self.assertNotIn("passes", plain)
        self.assertLessEqual(passes, len(plain["ids"]))
        return passes, len(plain["ids"])

    def test_texts_are_the_same(self):
        for kind, options in OPTIONS.items():
            for prompt in ("the cat sat on the cat sat on", "a"):
                for guesses in (["--lookup"], ["--draft", model(NAME)]):
                    passes, tokens = self.same([*options, "--max-new", "40", "--log-probs"], prompt, *guesses)
                    # A draft that is the model itself is always right, but does not know penalties of n-grams.
                    if guesses[0] == "--draft" and kind in ("greedy", "temperature", "top_k", "top_p", "min_p"):
                        self.assertLess(passes, tokens / 3 + 2, kind)

    def test_texts_that_repeat_themselves_take_fewer_passes(self):
        passes, tokens = self.same(["--max-new", "120"], "the cat", "--lookup")
        self.assertLess(passes, 0.6 * tokens)

    def test_ends_and_forms_are_the_same(self):
        draft = ["--draft", model(NAME)]
        for guesses in (["--lookup"], draft):
            for options in (
                ["--max-new", "1"],
                ["--max-new", "2"],
                ["--context", "16", "--max-new", "100"],
                ["--stop", "t", "--max-new", "30"],
                ["--min-new", "9", "--max-new", "10"],
                ["--temperature", "1.4", "--best-of", "5", "--max-new", "20", "--seed", "8"],
            ):
                self.same(options, "the cat sat", *guesses)
        for guesses in (["--lookup"], draft):
            self.same(["--answer", " the cat", "--answer", " a dog"], "the dog sees", *guesses)
            self.same(["--format", "json", "--max-new", "30", "--temperature", "1"], "it is", *guesses)

    def test_decoders_of_other_kinds(self):
        for name in ("nplm-generate-text", "retro-text"):
            self.same(["--max-new", "20"], "the cat sees the cat sees", "--lookup", name=name)

    def test_several_texts_at_a_time(self):
        lines = self.directory / "lines.txt"
        lines.write_text("the cat sat on the cat\na\nwhere is it where is\n" * 5, encoding="utf-8")
        options = ["complete", model(NAME), "--file", lines, "--json", "--max-new", "30", "--batch", "4"]
        plain = self.lines(*options)
        for guesses in (["--lookup"], ["--draft", model(NAME)]):
            found = self.lines(*options, *guesses)
            for text in found:
                del text["passes"]
            self.assertEqual(found, plain)

    def test_encoder_decoders(self):
        for case in cases("greedy", PAIR)[:10]:
            self.same(["--beams", "1"], case["text"], "--lookup", name=PAIR)
        self.same(["--beams", "1"], "a b a b a b a b", "--lookup", name=PAIR, command="summarize")

    def test_says_what_it_cannot_do(self):
        given = ("generate", model(NAME), "a")
        self.fails(2, *given, "--lookup", "--draft", model(NAME), says=["--lookup", "leave one of them out"])
        self.fails(2, *given, "--lookup", "--beams", "2", says=["--lookup", "--beams 1"])
        self.fails(2, "generate", model(PAIR), "a", "--lookup", says=["--lookup", "--beams 1"])
        self.fails(2, *given, "--lookup", "--backend", "xnnpack", says=["--lookup", "--backend"])
        self.fails(5, *given, "--draft", model("bert-classify"), says=["--draft", "is not a decoder"])
        self.fails(5, *given, "--draft", model("llama-generate"), says=["--draft", "tokens, and the model"])
        self.fails(3, *given, "--draft", self.directory / "none.bantam", says=["none.bantam"])
        self.fails(2, "translate", model(PAIR), "a", "--draft", model(NAME), says=["--draft"])


def answers(of=ANSWERS):
    return [word for answer in of for word in ("--answer", answer)]


class Constraints(CommandTest):
    """Texts that are one of a list of answers, or JSON."""

    def test_answers_are_those_that_transformers_chooses(self):
        settings = {"answers": [], "answers_beams": ["--beams", "4", "--length-penalty", "0.7"]}
        for kind, options in settings.items():
            expected = cases(kind)
            self.assertEqual(len(expected), 50)
            prompts = self.write("prompts.txt", "\n".join(case["prompt"] for case in expected) + "\n")
            found = self.lines(
                *("generate", model(NAME), "--file", prompts, "--max-new", "20", "--json"), *answers(), *options
            )
            self.assertGreater(len({case["text"] for case in expected}), 2)
            for case, made in zip(expected, found, strict=True):
                self.assertEqual(made["generated"], case["text"], (kind, case["prompt"]))
                self.assertIn(made["generated"], ANSWERS)
                # A text that can only end does so without the token that says it, but among beams.
                ids = made["ids"]
                self.assertIn(case["ids"], (ids, [*ids, 0]))
                self.assertEqual(made["finish"], "end")

    def test_answers_by_chance_are_of_its_processors(self):
        for case in cases("answers_top_p"):
            options = ["--temperature", "1.4", "--top-p", "0.9", "--seed", str(case["seed"])]
            made = self.line("generate", model(NAME), case["prompt"], "--max-new", "20", "--json", *answers(), *options)
            self.assertEqual(made["generated"], case["text"], case["prompt"])

    def test_scores_of_answers_are_exact(self):
        listed = self.write("answers.txt", "\n".join(ANSWERS) + "\n\n")
        for case in cases("answers")[:10]:
            found = [
                self.line(
                    *("generate", model(NAME), case["prompt"], "--answers", listed, "--answer-scores", "--json"),
                    *options,
                )
                for options in ([], ["--threads", "2"], ["--beams", "3", "--length-penalty", "1"])
            ]
            self.assertEqual([one["answers"] for one in found], [found[0]["answers"]] * 3)
            for answer, text, score in zip(found[0]["answers"], ANSWERS, case["scores"], strict=True):
                self.assertEqual(answer["text"], text)
                self.assertAlmostEqual(answer["log_probability"], score, delta=2e-4)

    def test_encoder_decoders_answer_too(self):
        texts = [case["text"] for case in cases("greedy", PAIR)][:8]
        for options in (["--beams", "1"], ["--beams", "3"]):
            for text in texts:
                made = self.line(
                    *("generate", model(PAIR), text, "--json", *answers(["sun", "old", "older"]), *options)
                )
                self.assertIn(made["generated"], ("sun", "old", "older"))

    def test_json_is_json_however_short(self):
        prompts = [case["prompt"] for case in cases("greedy")]
        kinds = {"json": object, "json-object": dict, "json-array": list, "json-string": str, "json-boolean": bool}
        for at, (kind, expected) in enumerate(kinds.items()):
            for room, options in ((4, []), (9, ["--temperature", "1.5"]), (30, ["--beams", "3"]), (24, [])):
                prompt = prompts[at * 4 + room % 4]
                made = self.line(
                    *("generate", model(NAME), prompt, "--format", kind, "--max-new", str(room), "--json"), *options
                )
                self.assertIsInstance(json.loads(made["generated"]), expected, made)
        # A context that is full ends texts in time, too.
        made = self.line("generate", model(NAME), "a cat " * 25, "--format", "json-object", "--json")
        self.assertIsInstance(json.loads(made["generated"]), dict)

    def test_objects_have_the_fields_asked_for(self):
        fields = ["--field", "name:string", "--field", "age:integer", "--field", "x"]
        for options in ([], ["--temperature", "2", "--seed", "3"], ["--beams", "2"]):
            made = self.line("generate", model(NAME), "the cat", *fields, "--max-new", "45", "--json", *options)
            value = json.loads(made["generated"])
            self.assertEqual(list(value), ["name", "age", "x"])
            self.assertIsInstance(value["name"], str)
            self.assertIsInstance(value["age"], int)
            shown = self.ok("generate", model(NAME), "the cat", *fields, "--max-new", "45", *options).decode()
            self.assertEqual(shown, made["generated"] + "\n")

    def test_says_what_it_cannot_do(self):
        text = ("generate", model(NAME), "a cat")
        self.fails(2, *text, "--answer", "", says=["--answer", "empty"])
        self.fails(2, *text, "--answers", self.write("none.txt", "\n\n"), says=["--answers", "no line"])
        self.fails(3, *text, "--answers", str(self.directory / "missing"), says=["missing"])
        self.fails(2, *text, "--answer", "a", "--format", "json", says=["--answer", "--format"])
        self.fails(2, *text, "--answer", "a", "--stop", "b", says=["--stop", "--answer"])
        self.fails(2, *text, "--answer-scores", says=["--answer-scores", "--answers"])
        self.fails(2, *text, "--format", "xml", says=["--format", "json"])
        self.fails(2, *text, "--field", "a:text", says=["--field", "string"])
        self.fails(2, *text, "--field", 'a":any', says=["--field", "quotation"])
        self.fails(2, *text, "--field", "a", "--format", "json-array", says=["--field", "--format"])
        self.fails(4, *text, "--answer", " the cat runs and sings", "--max-new", "3", says=["room", "--max-new"])
        self.fails(4, *text, "--field", "a:string", "--max-new", "6", says=["room", "--max-new"])
        self.fails(4, *text, "--answer", " the dog", "--min-new", "9", says=["--min-new"])
        self.fails(4, "generate", model(PAIR), "the cat", *answers(["Q"]), says=['"Q"', "tokenizer"])
        self.fails(5, "generate", model(PAIR), "the cat", "--format", "json", says=["JSON", "token"])


class Beams(CommandTest):
    def test_decoders_search_as_transformers_does(self):
        options = {
            "beams": ["--beams", "4", "--early-stopping", "yes", "--length-penalty", "0.8"],
            "beams_rules": ["--beams", "3", "--min-new", "5", "--repetition-penalty", "1.2", "--no-repeat-ngram", "3"],
        }
        for kind, chosen in options.items():
            expected = cases(kind)
            self.assertEqual(len(expected), 50)
            prompts = self.write("prompts.txt", "\n".join(case["prompt"] for case in expected) + "\n")
            found = self.lines("generate", model(NAME), "--file", prompts, "--max-new", "20", "--json", *chosen)
            for case, made in zip(expected, found, strict=True):
                self.assertEqual(made["ids"], case["ids"], (kind, case["prompt"]))
                self.assertEqual(made["generated"], case["text"], (kind, case["prompt"]))


class Pairs(CommandTest):
    """Encoder-decoders: beams, settings of the file, lines in and out, languages."""

    def write_lines(self, texts):
        return self.write("texts.txt", "\n".join(texts) + "\n")

    def test_texts_and_scores_are_those_of_transformers(self):
        for kind, options in SEARCHES.items():
            expected = cases(kind, PAIR)
            self.assertEqual(len(expected), 50)
            texts = self.write_lines(case["text"] for case in expected)
            found = self.lines("generate", model(PAIR), "--file", texts, "--json", *options)
            for case, made in zip(expected, found, strict=True):
                self.assertEqual(made["ids"], case["ids"], (kind, case["text"]))
                self.assertEqual(made["generated"], case["generated"], (kind, case["text"]))
                if "score" in case:
                    self.assertAlmostEqual(made["score"], case["score"], delta=1e-5)

    def test_batches_make_the_same_texts(self):
        expected = cases("greedy", PAIR)
        texts = self.write_lines(case["text"] for case in expected)
        for options in ([], ["--batch", "3"], ["--batch", "1", "--threads", "2"]):
            shown = self.ok("translate", model(PAIR), "--beams", "1", "--file", texts, *options).decode()
            self.assertEqual(shown, "".join(case["generated"] + "\n" for case in expected))

    def test_chance_is_the_seeds_and_the_best_of_several_is_the_likeliest(self):
        text = cases("greedy", PAIR)[0]["text"]
        chance = ("generate", model(PAIR), text, "--temperature", "1.2", "--json", "--log-probs")
        tried = [self.line(*chance, "--seed", str(seed)) for seed in range(5, 9)]
        self.assertGreater(len({tuple(one["ids"]) for one in tried}), 1)
        penalty = 1.5  # the file's
        scores = [sum(one["log_probabilities"]) / len(one["ids"]) ** penalty for one in tried]
        best = self.line(*chance, "--seed", "5", "--best-of", "4")
        self.assertEqual(best["ids"], tried[scores.index(max(scores))]["ids"])
        self.assertAlmostEqual(best["score"], max(scores), delta=1e-5)

    def test_summaries_take_the_files_way_and_cut_long_texts(self):
        expected = cases("summarization", PAIR)[0]
        shown = self.ok("summarize", model(PAIR), expected["text"]).decode()
        self.assertEqual(shown, expected["generated"] + "\n")
        text = "the cat sees a dog " * 40
        done = bantam("summarize", model(PAIR), text)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"the last \d+ of \d+ tokens of a text do not fit the model")
        self.assertGreater(self.line("summarize", model(PAIR), text, "--json")["cut_tokens"], 0)
        self.fails(4, "summarize", model(PAIR), text, "--no-cut", says=["tokens", "--cut"])
        self.fails(4, "translate", model(PAIR), text, says=["tokens", "--cut"])

    def test_translators_read_by_one_vocabulary_and_write_by_another(self):
        expected = cases(None, TRANSLATOR)
        self.assertEqual(len(expected), 50)
        self.assertEqual({case.get("to") for case in expected}, {None, "deu", "fra"})
        for to in (None, "deu", "fra"):
            mine = [case for case in expected if case.get("to") == to]
            texts = self.write_lines(case["text"] for case in mine)
            options = [] if to is None else ["--to", to]
            found = self.lines("translate", model(TRANSLATOR), "--file", texts, "--json", *options)
            for case, made in zip(mine, found, strict=True):
                self.assertEqual(made["prompt_tokens"], len(case["source"]), case["text"])
                self.assertEqual(made["ids"], case["ids"], case["text"])
                self.assertEqual(made["generated"], case["generated"], case["text"])
        # The language may stand in the text, as the published models have it.
        case = next(case for case in expected if "to" in case)
        found = self.line("translate", model(TRANSLATOR), f">>{case['to']}<< {case['text']}", "--json")
        self.assertEqual(found["ids"], case["ids"])
        self.fails(2, "translate", model(TRANSLATOR), "a", "--to", "fr", says=["--to fr", "deu, fra"])
        self.fails(2, "translate", model(TRANSLATOR), "a", "--from", "deu", says=["--from deu"])

    def test_languages_of_both_sides(self):
        # NLLB's form: tokens of languages in front of the source, and first in the translation.
        source = self.directory / "source"
        shutil.copytree(GOLDEN / PAIR, source)
        path = source / "tokenizer.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"<s>"', '"eng_Latn"').replace('"<pad>"', '"deu_Latn"'), encoding="utf-8")
        made = self.directory / "made.bantam"
        self.ok("convert", source, "-o", made, "--weights", "f32")
        listed = self.line("inspect", made, "--json")
        self.assertEqual(listed["languages"], [{"code": "eng_Latn", "token": 0}, {"code": "deu_Latn", "token": 1}])
        self.fails(2, "translate", made, "the cat", says=["--to", "2 languages"])
        english = self.line("translate", made, "the cat", "--to", "deu_Latn", "--json")
        self.assertEqual(english["ids"][0], 1)
        said = self.line("translate", made, "the cat", "--from", "eng_Latn", "--to", "deu_Latn", "--json")
        self.assertEqual(said, english)
        german = self.line("translate", made, "the cat", "--from", "deu_Latn", "--to", "deu_Latn", "--json")
        self.assertEqual(german["prompt_tokens"], english["prompt_tokens"])
        self.assertNotEqual(german["score"], english["score"])

    def test_inspect_shows_how_texts_are_made(self):
        found = self.line("inspect", model(PAIR), "--json")
        self.assertEqual([way["name"] for way in found["generations"]], ["", "summarization"])
        way = found["generations"][1]
        self.assertEqual((way["prefix"], way["beams"], way["length_penalty"], way["max_new"]), ("say: ", 2, 2.0, 8))
        self.assertEqual(found["source"]["max_tokens"], 64)
        shown = self.ok("inspect", model(PAIR)).decode()
        self.assertIn('summarization, behind "say: ", 2 beams', shown)
        self.assertRegex(self.ok("inspect", model(TRANSLATOR)).decode(), r"languages +deu, fra")

    def test_complete_goes_on_with_lines(self):
        case = cases("greedy")[0]
        shown = self.ok("complete", model(NAME), case["prompt"], "--max-new", "20").decode()
        text = case["text"].split("\n")[0]
        self.assertEqual(shown, case["prompt"] + text + "\n")
        shown = self.ok(
            "complete", model(NAME), "--only-new", "--max-new", "20", stdin=case["prompt"].encode()
        ).decode()
        self.assertEqual(shown, text + "\n")

    def test_eval_scores_what_is_generated(self):
        expected = cases("file", PAIR)
        lines = [json.dumps({"source": case["text"], "target": case["generated"]}) for case in expected]
        data = self.write("data.jsonl", "\n".join(lines) + "\n")
        said = self.directory / "said.jsonl"
        found = self.line("eval", model(PAIR), data, "--predictions", said, "--json")
        self.assertEqual((found["layout"], found["examples"]), ("texts", 50))
        metrics = found["metrics"]
        self.assertEqual((metrics["exact_match"], metrics["word_error"]), (1, 0))
        self.assertAlmostEqual(metrics["chrf"], 1, places=6)
        self.assertEqual(json.loads(said.read_text().splitlines()[0])["predicted"]["text"], expected[0]["generated"])
        other = self.line("eval", model(PAIR), data, "--beams", "1", "--against", model(PAIR), "--json")
        self.assertLess(other["metrics"]["exact_match"], 1)
        self.assertEqual(other["difference"]["text_flips"], 0)
        batches = self.line("eval", model(PAIR), data, "--beams", "1", "--batch", "7", "--json")
        self.assertEqual(batches["metrics"], other["metrics"])
        self.fails(5, "eval", model("bert-classify"), data, says=["texts"])

    def test_decoders_of_pairs_read_ids(self):
        alone = self.line("run", model(PAIR), "--ids", "0,9,2", "--raw")["outputs"]["logits"]
        some = self.line("run", model(PAIR), "--ids", "0,9,2", "--decoder-ids", "2,7", "--raw")["outputs"]["logits"]
        self.assertEqual((alone["shape"][1], some["shape"][1]), (3, 2))  # alone: the source's ids, shifted
        width = alone["shape"][2]
        self.assertEqual(alone["data"][:width], some["data"][:width])
        self.fails(2, "run", model(NAME), "--ids", "1", "--decoder-ids", "2", says=["--decoder-ids"])

    def test_says_what_does_not_go_together(self):
        pair = ("generate", model(PAIR), "the cat")
        self.fails(2, *pair, "--beams", "3", "--temperature", "1", says=["--beams", "--temperature"])
        self.fails(2, *pair, "--beams", "1", "--best-of", "2", says=["--best-of", "--temperature"])
        self.fails(2, *pair, "--log-probs", says=["--log-probs", "--beams 1"])
        self.fails(2, *pair, "--beams", "65", says=["--beams"])
        self.fails(2, *pair, "--use", "summarisation", says=["summarization"])
        self.fails(2, *pair, "--to", "de", says=["--to", "no languages"])
        self.fails(5, "translate", model(NAME), "a", says=["decoder", "generate"])
        self.fails(5, "summarize", model("bert-classify"), "a", says=["--task generate"])
        self.fails(5, "perplexity", model(PAIR), "a cat", says=["encoder-decoder"])
        self.fails(4, "generate", model("bart-generate"), "a", says=["tokenizer"])


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
        template = (
            "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}"
        )
        made = self.directory / "short.bantam"  # the model has few positions
        self.ok("convert", self.source(template), "-o", made, "--weights", "f32")
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
        marked = [f"{role}: {text}\n" for role, text in turns]
        self.assertEqual(found[0]["text"], "".join(marked) + "assistant: ")
        self.assertEqual(found[1]["text"], marked[0] + "assistant: ")
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
        answered = self.line("generate", made, "a dog", "--chat", *answers(["yes", "no"]), "--json")
        self.assertIn(answered["generated"], ("yes", "no"))
        answered = self.line("generate", made, "a dog", "--chat", "--field", "a:boolean", "--json")
        self.assertIn(json.loads(answered["generated"]), ({"a": True}, {"a": False}))

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

"""bench: lengths, mixes, texts, operators as fractions of the peak. What it prints, never how fast it is."""

import json
import shutil
import unittest

from support import SOURCE, CommandTest, bantam, model

QUICK = ("--repetitions", "3", "--warmup", "1")
TEXT = "play some jazz in the kitchen"


# Instruction sets without a loop in converter/probe/limits.cpp.
WITHOUT_PEAK = ("reference", "armv7neon")


def best_isa():
    return json.loads(bantam("version", "--json").stdout)["best_isa"]


class Lengths(CommandTest):
    def test_plain_is_one_number(self):
        output = self.ok("bench", model("voice"), "--seq", "16", "--threads", "1", "--plain", *QUICK)
        self.assertGreater(float(output.decode()), 0)
        self.assertEqual(len(output.split()), 1)

    def test_json(self):
        objects = self.lines("bench", model("voice"), "--seq", "8,32", "--batch", "2", "--json", *QUICK)
        self.assertEqual([o["seq"] for o in objects], [8, 32])
        self.assertEqual([o["tokens"] for o in objects], [16, 64])
        for o in objects:
            self.assertEqual(o["schema"], "bantam.bench/1")
            self.assertEqual((o["batch"], o["repetitions"], o["backend"]), (2, 3, "native"))
            self.assertLess(0, o["min_ms"])
            self.assertLessEqual(o["min_ms"], o["p50_ms"])
            self.assertLessEqual(o["p50_ms"], o["p99_ms"])
            self.assertTrue(o["isa"] and o["build"])
            self.assertGreater(o["open_ms"], 0)
            self.assertGreater(o["create_ms"], 0)
            self.assertGreater(o["memory_added_bytes"], 0)
            self.assertNotIn("ops", o)
        self.assertGreater(objects[1]["macs"], objects[0]["macs"])

    def test_csv(self):
        csv = self.ok("bench", model("voice"), "--seq", "8,32", "--csv", *QUICK).decode().splitlines()
        self.assertEqual(len(csv), 3)
        self.assertEqual(len(csv[0].split(",")), len(csv[1].split(",")))

    def test_mix(self):
        answer = self.line("bench", model("voice"), "--mix", "5,31,12", "--json", *QUICK)
        self.assertEqual((answer["lengths"], answer["tokens"]), ([5, 31, 12], 48))
        self.assertEqual((answer["seq"], answer["batch"]), (31, 3))
        alone = self.lines("bench", model("voice"), "--seq", "5,31,12", "--json", *QUICK)
        self.assertEqual(answer["macs"], sum(o["macs"] for o in alone))

    def test_wrong_options(self):
        self.fails(4, "bench", model("voice"), "--seq", "65", says=["--seq", "64"])
        self.fails(4, "bench", model("voice"), "--mix", "8,65", says=["--mix", "64"])
        self.fails(2, "bench", model("voice"), "--seq", "0", says=["--seq"])
        self.fails(2, "bench", model("voice"), "--mix", "0", says=["--mix"])
        self.fails(2, "bench", model("voice"), "--json", "--plain", says=["--plain"])
        self.fails(2, "bench", model("voice"), "--mix", "8", "--seq", "8", says=["--mix"])
        self.fails(2, "bench", model("voice"), "--mix", "8", "--batch", "2", says=["--mix"])


class PerOp(CommandTest):
    def bench(self, name, *options):
        return self.line("bench", model(name), "--seq", "8", "--per-op", "--json", *QUICK, *options)

    def test_operators(self):
        answer = self.bench("voice", "--batch", "2")
        ops = answer["ops"]
        self.assertAlmostEqual(sum(op["share"] for op in ops), 1, places=3)
        self.assertEqual(ops[1]["macs"], 2 * 8 * 128 * 384)
        attention = next(op for op in ops if op["kind"] == "Attention")
        # Two products of 8 queries by 8 keys, 128 wide, in 2 sequences.
        self.assertEqual((attention["macs"], attention["type"]), (2 * 2 * 8 * 8 * 128, "int8"))
        self.assertEqual(answer["macs"], sum(op["macs"] for op in ops))
        for op in ops:
            self.assertLessEqual(op["min_ms"], op["ms"] * 1.0001)
            self.assertEqual(op["type"] is None, op["macs"] == 0)

    def test_kinds_are_sums(self):
        answer = self.bench("voice")
        self.assertEqual(sum(kind["ops"] for kind in answer["kinds"]), len(answer["ops"]))
        self.assertEqual(sum(kind["macs"] for kind in answer["kinds"]), answer["macs"])
        self.assertAlmostEqual(sum(kind["share"] for kind in answer["kinds"]), 1, places=3)
        linear = [op for op in answer["ops"] if (op["kind"], op["type"]) == ("Linear", "int8")]
        kind = next(k for k in answer["kinds"] if (k["kind"], k["type"]) == ("Linear", "int8"))
        self.assertEqual(kind["ops"], len(linear))
        self.assertAlmostEqual(kind["min_ms"], sum(op["min_ms"] for op in linear), delta=1e-5)

    def check_fractions(self, answer):
        """Every fraction is the time at the peak over the time taken."""
        peaks = answer["peak_gmac_per_s"]
        limit = 0
        for op in answer["ops"]:
            if op["macs"] == 0:
                self.assertIsNone(op["of_peak"])
                continue
            at_peak = op["macs"] / peaks[op["type"]] * 1e-6
            limit += at_peak
            self.assertAlmostEqual(op["of_peak"], at_peak / op["min_ms"], delta=1e-3 * op["of_peak"] + 1e-9)
            # The probe's loop bounds every kernel; the margin is for a clock that speeds up between the two.
            if op["macs"] > 100000:
                self.assertLess(op["of_peak"], 1.5)
        limit /= peaks["threads"]
        self.assertAlmostEqual(answer["limit_ms"], limit, delta=1e-3 * limit)
        self.assertAlmostEqual(answer["of_limit"], limit / answer["min_ms"], delta=1e-3)

    @unittest.skipIf(best_isa() in WITHOUT_PEAK, "no instruction set with a peak on this machine")
    def test_fractions(self):
        for name, kind in (("voice", "int8"), ("voice-f32", "f32")):
            answer = self.bench(name)
            self.assertEqual(answer["peak_gmac_per_s"]["threads"], 1)
            self.assertIn(kind, {op["type"] for op in answer["ops"]})
            self.check_fractions(answer)

    @unittest.skipIf(best_isa() in WITHOUT_PEAK, "no instruction set with a peak on this machine")
    def test_fractions_of_two_threads(self):
        answer = self.bench("voice", "--threads", "2")
        self.assertEqual(answer["peak_gmac_per_s"]["threads"], answer["threads"])
        self.check_fractions(answer)

    def test_no_peak(self):
        for isa in {"reference", best_isa()}.intersection(WITHOUT_PEAK):
            answer = self.bench("voice", "--isa", isa)
            self.assertEqual(answer["peak_gmac_per_s"], {"int8": None, "f32": None, "threads": 1})
            self.assertIsNone(answer["limit_ms"])
            self.assertTrue(all(op["of_peak"] is None for op in answer["ops"]))
            text = self.ok("bench", model("voice"), "--seq", "8", "--per-op", "--isa", isa, *QUICK).decode()
            self.assertIn("no peak is known", text)

    def test_for_people(self):
        text = self.ok("bench", model("voice"), "--seq", "8", "--per-op", *QUICK).decode()
        self.assertLess(text.index("by kind of operator"), text.index("by operator\n"))
        for words in ("Linear", "Attention", "% of peak", "million MACs", "min ms", "mean ms"):
            self.assertIn(words, text)


class Cost(CommandTest):
    def check(self, cost):
        self.assertGreater(cost["cpu_ms"], 0)
        self.assertAlmostEqual(cost["per_core_hour"] * cost["cpu_ms"], 3600e3, delta=36e3)
        self.assertTrue(cost["joules"] is None or cost["joules"] >= 0)
        self.assertTrue(cost["cycles"] is None or cost["cycles"] > 1000)

    def test_of_batches(self):
        one, eight = (
            self.line("bench", model("voice"), "--seq", "16", "--batch", n, "--cost", "--json", *QUICK)["cost"]
            for n in ("1", "8")
        )
        for cost in (one, eight):
            self.check(cost)
        # Weights are the file's: 7,968 rows of embeddings are not among them.
        self.assertEqual(one["weight_bytes"], eight["weight_bytes"])
        self.assertLess(2 * 4 * 128 * 512, one["weight_bytes"])
        self.assertLess(one["weight_bytes"], 7968 * 128)

    def test_of_texts(self):
        lines = self.write("lines.txt", TEXT + "\nhello\n")
        costs = [o["cost"] for o in self.lines("bench", model("voice"), "--texts", lines, "--cost", "--json", *QUICK)]
        self.assertEqual(costs[0], costs[1])
        self.check(costs[0])
        self.assertNotIn("cost", self.line("bench", model("voice"), "--text", TEXT, "--json", *QUICK))

    def test_for_people(self):
        said = self.ok("bench", model("voice"), "--seq", "16", "--cost", *QUICK).decode()
        self.assertIn("a text of 16 tokens costs", said)
        self.assertIn("texts an hour of a core", said)
        self.assertIn("energy:" if "mJ" not in said else "mJ of the whole processor", said)
        said = self.ok("bench", model("voice"), "--text", TEXT, "--cost", *QUICK).decode()
        self.assertIn("the text costs", said)

    def test_wrong_options(self):
        self.fails(2, "bench", model("voice"), "--cost", "--csv", says=["--cost", "--csv"])
        self.fails(2, "bench", model("voice"), "--cost", "--plain", says=["--cost", "--plain"])


class Texts(CommandTest):
    def test_json(self):
        short, long = self.lines("bench", model("voice"), "--text", "stop", "--text", TEXT, "--json", *QUICK)
        self.assertEqual((short["text"], long["text"]), ("stop", TEXT))
        self.assertLess(short["tokens"], long["tokens"])
        for o in (short, long):
            self.assertEqual((o["schema"], o["task"], o["repetitions"]), ("bantam.bench/1", "joint", 3))
            self.assertLessEqual(o["min_us"], o["p50_us"])
            self.assertLessEqual(o["p50_us"], o["p99_us"])
            for part in ("tokenize_us", "forward_us", "task_us"):
                self.assertGreater(o[part], 0)
                self.assertLess(o[part], o["p99_us"])

    def test_tokens_are_the_tokenizers(self):
        ids = self.line("tokenize", model("voice"), TEXT, "--json")["ids"]
        self.assertEqual(self.line("bench", model("voice"), "--text", TEXT, "--json", *QUICK)["tokens"], len(ids))

    def test_truncation_is_said(self):
        answer = self.line("bench", model("voice"), "--text", "jazz " * 100, "--json", *QUICK)
        self.assertEqual((answer["tokens"], answer["truncated"]), (64, True))

    def test_file_and_forms(self):
        path = self.write("texts.txt", f"{TEXT}\nstop\nnext song\n")
        self.assertEqual(len(self.lines("bench", model("voice"), "--texts", path, "--json", *QUICK)), 3)
        numbers = self.ok("bench", model("voice"), "--texts", path, "--plain", *QUICK).decode().split()
        self.assertEqual(len(numbers), 3)
        self.assertTrue(all(float(number) > 0 for number in numbers))
        csv = self.ok("bench", model("voice"), "--texts", path, "--csv", *QUICK).decode().splitlines()
        self.assertEqual({len(line.split(",")) for line in csv}, {11})
        self.assertIn("mean of 3 texts", self.ok("bench", model("voice"), "--texts", path, *QUICK).decode())

    def test_other_tasks(self):
        pair = ("--pair", "the cat sat")
        names = ("classify", "multi-label", "regress", "tag", "fill", "pretraining")
        for name, options in [(f"bert-{name}", ()) for name in names] + [
            ("sentence-mean", ()),
            ("bert-answer", pair),
            ("bert-next-sentence", pair),
        ]:
            answer = self.line("bench", model(name), "--text", "the [MASK] cat", *options, "--json", *QUICK)
            self.assertGreater(answer["task_us"], 0, name)

    def test_tasks_without(self):
        self.fails(5, "bench", model("bert-choose"), "--text", "a", says=["choose", "--seq"])
        self.fails(5, "bench", model("bert-encoder"), "--text", "a", says=["none", "--seq"])
        self.fails(2, "bench", model("bert-answer"), "--text", "a", says=["--pair"])

    def test_file_without_tokenizer(self):
        source = self.directory / "ids-only"
        source.mkdir()
        for name in ("config.json", "model.safetensors"):
            shutil.copy(SOURCE / "models" / "voice-commands" / name, source)
        target = str(self.directory / "ids-only.bantam")
        self.ok("convert", source, "-o", target, "--parity", "none", "--json")
        self.fails(4, "bench", target, "--text", "a", says=["ids-only.bantam", "tokenizer", "--seq"])
        self.assertGreater(self.line("bench", target, "--seq", "8", "--json", *QUICK)["p50_ms"], 0)

    def test_wrong_options(self):
        self.fails(2, "bench", model("voice"), "--text", "a", "--seq", "8", says=["--text"])
        self.fails(2, "bench", model("voice"), "--text", "a", "--per-op", says=["--per-op"])
        self.fails(2, "bench", model("voice"), "--text", "a", "--mix", "8", says=["--mix"])
        self.fails(2, "bench", model("voice"), "--pair", "a", says=["--pair", "--text"])
        self.fails(2, "bench", model("voice"), "--texts", self.write("none.txt", ""), says=["--texts", "no text"])
        self.fails(3, "bench", model("voice"), "--texts", str(self.directory / "absent.txt"), says=["absent.txt"])


class Generating(CommandTest):
    def test_plain_is_the_median_of_whole_calls(self):
        for name, *more in (("gpt2-text",), ("bart-text",), ("bart-text", "--beam", "3"), ("gpt2-text", "--beam", "2")):
            options = ("--prompt", "9", "--generate", "5", *more, *QUICK)
            output = self.ok("bench", model(name), *options, "--plain").decode()
            self.assertGreater(float(output), 0)
            found = self.line("bench", model(name), *options, "--json")
            made = found["generate"]
            self.assertEqual((found["tokens"], made["tokens"], found["repetitions"]), (9, 5, 3))
            self.assertEqual(made["beams"], int(more[1]) if more else 1)
            self.assertLess(0, made["token_ms"])
            self.assertLess(made["first_ms"], found["p99_ms"])

    def test_weights_that_a_token_reads(self):
        # Three matrices of two layers and the output layer; the file is f32, whose matrices are padded in columns.
        width, vocabulary = 18, 300
        found = self.line("bench", model("gpt2-text"), "--prompt", "3", "--generate", "2", "--json", *QUICK)
        least = 4 * (2 * 12 * width * width + vocabulary * width)
        self.assertGreaterEqual(found["generate"]["weight_bytes"], least)
        self.assertLess(found["generate"]["weight_bytes"], 2 * least)

    def test_one_token_has_none_that_follow(self):
        found = self.line("bench", model("gpt2-text"), "--prompt", "3", "--generate", "1", "--json", *QUICK)
        self.assertNotIn("token_ms", found["generate"])
        shown = self.ok("bench", model("gpt2-text"), "--prompt", "3", "--generate", "4", *QUICK).decode()
        self.assertRegex(shown, r"first token +[\d.]+ ms .*\neach other +[\d.]+ ms")

    def test_wrong_options(self):
        self.fails(4, "bench", model("gpt2-text"), "--prompt", "90", "--generate", "7", says=["97", "96"])
        self.fails(4, "bench", model("bart-text"), "--prompt", "65", says=["--prompt", "64"])
        self.fails(2, "bench", model("gpt2-text"), "--prompt", "0", says=["--prompt"])
        self.fails(2, "bench", model("gpt2-text"), "--prompt", "3", "--seq", "4", says=["--prompt", "--seq"])
        self.fails(5, "bench", model("voice"), "--prompt", "3", says=["--task generate"])


if __name__ == "__main__":
    unittest.main()

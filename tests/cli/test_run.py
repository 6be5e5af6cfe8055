"""run and its named variants: the JSON shape of every task, and what the answers mean."""

import ast
import json
import struct
import unittest

from support import GOLDEN, CommandTest, bantam, model, softmax

TEXT = "play some jazz by miles davis"


class Shapes(CommandTest):
    def test_joint(self):
        answer = self.line("run", model("voice"), TEXT, "--json")
        self.assertEqual(list(answer), ["schema", "text", "intent", "slots", "labels", "truncated"])
        self.assertEqual(answer["schema"], "bantam.run/1")
        self.assertEqual(answer["text"], TEXT)
        self.assertEqual(answer["intent"]["label"], "PlayMusic")
        self.assertEqual(answer["labels"][0], answer["intent"])
        self.assertEqual(len(self.line("run", model("voice"), TEXT, "--json", "--top", "3")["labels"]), 3)
        self.assertGreater(answer["intent"]["score"], 0.9)
        self.assertEqual([slot["text"] for slot in answer["slots"]], ["jazz", "miles davis"])
        for slot in answer["slots"]:
            self.assertEqual(list(slot), ["slot", "text", "start", "end", "score", "label"])
            self.assertEqual(slot["label"], slot["slot"])
            self.assertEqual(TEXT.encode()[slot["start"] : slot["end"]].decode(), slot["text"])

    def test_classify(self):
        answer = self.line("classify", model("bert-classify"), "ba di", "--json")
        self.assertEqual(list(answer), ["schema", "text", "labels", "truncated"])
        self.assertEqual(answer["schema"], "bantam.classify/1")
        self.assertEqual(list(answer["labels"][0]), ["label", "score"])
        self.assertAlmostEqual(sum(label["score"] for label in answer["labels"]), 1, places=5)

    def test_top(self):
        every = self.line("classify", model("voice"), TEXT, "--json", "--top", "0")["labels"]
        self.assertEqual(len(every), 7)
        self.assertEqual(self.line("classify", model("voice"), TEXT, "--json", "--top", "2")["labels"], every[:2])
        scores = [label["score"] for label in every]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_multi_label(self):
        answer = self.line("run", model("bert-multi-label"), "ba di", "--json", "--top", "0")
        over = [label for label in answer["labels"] if label["score"] > 0.5]
        self.assertEqual(answer["selected"], len(over))

    def test_pair(self):
        answer = self.line("run", model("bert-next-sentence"), "ba di", "--pair", "ko", "--json")
        self.assertEqual(answer["pair"], "ko")
        self.assertEqual({label["label"] for label in answer["labels"]}, {"is_next", "not_next"})
        self.assertAlmostEqual(sum(label["score"] for label in answer["labels"]), 1, places=6)
        self.fails(2, "run", model("bert-next-sentence"), "ba di", says=["--pair"])
        self.fails(2, "answer", model("bert-answer"), "what is paris?", says=["--context"])

    def test_tag(self):
        answer = self.line("tag", model("voice"), TEXT, "--json")
        self.assertEqual(list(answer), ["schema", "text", "entities", "truncated"])
        self.assertEqual(list(answer["entities"][0]), ["label", "text", "start", "end", "score"])
        joint = self.line("run", model("voice"), TEXT, "--json")
        self.assertEqual([e["score"] for e in answer["entities"]], [s["score"] for s in joint["slots"]])

    def test_answer(self):
        context = "ba di ko lan, men ré"
        answer = self.line("answer", model("bert-answer"), "--question", "ko", "--context", context, "--json")
        self.assertEqual(list(answer)[:5], ["schema", "answer", "start", "end", "score"])
        self.assertEqual(context.encode()[answer["start"] : answer["end"]].decode(), answer["answer"])
        self.assertTrue(0 < answer["score"] <= 1)
        as_question = self.lines("answer", model("bert-answer"), "-", "--context", context, "--json", stdin=b"ko\n")
        as_context = self.lines("answer", model("bert-answer"), context, "--question", "ko", "--json")
        self.assertEqual(as_question, [answer])
        self.assertEqual(as_context, [answer])

    def test_embed_and_similar(self):
        a, b = self.lines("embed", model("sentence-mean"), "ba di", "ko", "--json")
        self.assertEqual(list(a), ["schema", "text", "embedding", "truncated"])
        dot = sum(x * y for x, y in zip(a["embedding"], b["embedding"], strict=True))
        norm = sum(x * x for x in a["embedding"]) ** 0.5 * sum(x * x for x in b["embedding"]) ** 0.5
        similar = self.line("similar", model("sentence-mean"), "ba di", "ko", "--json")
        self.assertAlmostEqual(similar["score"], dot / norm, places=5)
        self.assertEqual((similar["text"], similar["pair"]), ("ba di", "ko"))
        streamed = self.lines("similar", model("sentence-mean"), "-", "--pair", "ba di", "--json", stdin=b"ko\nba di\n")
        self.assertEqual(streamed[0], similar)
        self.assertAlmostEqual(streamed[1]["score"], 1, places=5)

    def test_fill(self):
        answer = self.line("fill", model("bert-fill"), "ba [MASK] di", "--top", "3", "--json")
        self.assertEqual(len(answer["candidates"]), 3)
        for candidate in answer["candidates"]:
            self.assertEqual(list(candidate)[:3], ["token", "text", "score"])
            self.assertEqual(candidate["text"], f"ba {candidate['token'].removeprefix('##')} di")
        two = self.line("fill", model("bert-fill"), "[MASK] [MASK]", "--json")
        self.assertEqual(len(two["masks"]), 2)
        self.fails(4, "fill", model("bert-fill"), "ba di", says=["[MASK]"])

    def test_pretraining_does_both(self):
        self.assertIn("candidates", self.line("run", model("bert-pretraining"), "ba [MASK]", "--json"))
        self.assertIn("labels", self.line("run", model("bert-pretraining"), "ba", "--pair", "di", "--json"))

    def test_pretraining_with_a_question(self):
        answer = self.line("run", model("bert-pretraining"), "ba [MASK]", "--question", "di", "--json")
        self.assertEqual((answer["text"], answer["pair"]), ("di", "ba [MASK]"))
        self.assertEqual({label["label"] for label in answer["labels"]}, {"is_next", "not_next"})

    def test_what_a_task_has_no_use_for(self):
        for name, arguments, says in (
            ("bert-tag", ("--top", "2"), '--top: the task "tag"'),
            ("sentence-mean", ("--top", "2"), '--top: the task "embed"'),
            ("bert-answer", ("--question", "di", "--top", "2"), '--top: the task "answer"'),
            ("bert-joint", ("--pair", "di"), '--pair: the task "joint" answers one text'),
            ("bert-tag", ("--question", "di"), '--question: the task "tag" answers one text'),
            ("sentence-mean", ("--pair", "di"), '--pair: the task "embed" answers one text'),
            ("bert-classify", ("--offsets", "chars"), '--offsets: the task "classify"'),
        ):
            with self.subTest(name, arguments=arguments):
                self.fails(2, "run", model(name), "ba", *arguments, says=[says])
        self.fails(2, "run", model("bert-tag"), "ba", "--offsets", "words", says=["bytes, chars, utf16"])

    def test_offsets(self):
        odd = b"caf\xc3\xa9 \xf0\x9f\x98\x80 wake \xff\xf0\x9f me \xe2\x82\xac at seven"
        for text in (odd, b"play jazz", b"", b"\xf0\x9f\x98\x80" * 5):
            for command in ("tag", "run"):
                arguments = (command, model("bert-tag"), "-", "--json")
                in_bytes = self.line(*arguments, stdin=text + b"\n")["entities"]
                chars = self.line(*arguments, "--offsets", "chars", stdin=text + b"\n")
                utf16 = self.line(*arguments, "--offsets", "utf16", stdin=text + b"\n")
                units = utf16["text"].encode("utf-16-le")
                for a, b, c in zip(in_bytes, chars["entities"], utf16["entities"], strict=True):
                    self.assertEqual(text[a["start"] : a["end"]].decode(errors="replace"), a["text"])
                    self.assertEqual(chars["text"][b["start"] : b["end"]], b["text"])
                    found = units[2 * c["start"] : 2 * c["end"]].decode("utf-16-le")
                    self.assertEqual(found, c["text"])
        context = "caf\u00e9 \U0001f600 ba di ko lan men"
        answer = self.line("answer", model("bert-answer"), context, "--question", "ko", "--json", "--offsets", "chars")
        self.assertEqual(context[answer["start"] : answer["end"]], answer["answer"])
        shown = self.ok("tag", model("bert-tag"), context, "--offsets", "chars").decode()
        self.assertNotEqual(shown, self.ok("tag", model("bert-tag"), context).decode())

    def test_vectors_as_a_file(self):
        path = self.directory / "vectors.npy"
        texts = b"ba di\nko\n\nlan men\n"
        wanted = self.lines("embed", model("sentence-mean"), "-", "--json", stdin=texts)
        said = self.ok("embed", model("sentence-mean"), "-o", path, "--batch", "3", stdin=texts).decode()
        self.assertIn(f"4 vectors of {len(wanted[0]['embedding'])} numbers", said)
        data = path.read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        (size,) = struct.unpack("<H", data[8:10])
        self.assertEqual((10 + size) % 64, 0)
        header = ast.literal_eval(data[10 : 10 + size].decode())
        shape = (4, len(wanted[0]["embedding"]))
        self.assertEqual(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
        values = struct.unpack(f"<{shape[0] * shape[1]}f", data[10 + size :])
        numbers = [
            x for row in wanted for x in struct.unpack(f"<{shape[1]}f", struct.pack(f"<{shape[1]}f", *row["embedding"]))
        ]
        self.assertEqual(list(values), numbers)
        bad = self.write("bad.jsonl", '{"text": "ba"}\n{"x": 1}\n')
        other = self.directory / "other.npy"
        self.fails(4, "embed", model("sentence-mean"), "--file", bad, "-o", other, says=["line 2"])
        self.assertFalse(other.exists())
        self.fails(2, "embed", model("sentence-mean"), "ba", "-o", model("sentence-mean"), says=["input"])
        self.fails(2, "embed", model("sentence-mean"), "ba", "-o", path, "--json", says=["--output"])

    def test_choose(self):
        choices = ["ko", "lan men", "di"]
        pairs = [word for choice in choices for word in ("--pair", choice)]
        answer = self.line("choose", model("bert-choose"), "ba", *pairs, "--json")
        self.assertEqual({label["label"] for label in answer["labels"]}, set(choices))
        raw = self.line("run", model("bert-choose"), "ba", *pairs, "--raw")["outputs"]["logits"]
        self.assertEqual(raw["shape"], [1, 3])
        wanted = softmax(raw["data"])
        for label in answer["labels"]:
            self.assertAlmostEqual(label["score"], wanted[choices.index(label["label"])], places=5)
        self.fails(2, "choose", model("bert-choose"), "ba", "--pair", "ko", says=["--pair"])

    def test_regress(self):
        answer = self.line("run", model("bert-regress"), "ba di", "--json")
        raw = self.line("run", model("bert-regress"), "ba di", "--raw")["outputs"]["logits"]["data"]
        self.assertEqual([label["score"] for label in answer["labels"]], raw)

    def test_no_task(self):
        self.fails(5, "run", model("bert-encoder"), "ba", says=["--raw"])
        outputs = self.line("run", model("bert-encoder"), "ba di", "--raw")["outputs"]
        self.assertEqual(set(outputs), {"last_hidden_state", "pooler_output"})
        self.fails(5, "answer", model("voice"), "ba", "--question", "di", says=["joint"])

    def test_human_output_has_the_answers(self):
        output = self.ok("run", model("voice"), TEXT).decode()
        self.assertIn("PlayMusic", output)
        self.assertIn("miles davis", output)
        self.assertNotIn("\x1b", output)


class Meaning(CommandTest):
    """Answers against what Python makes of the raw outputs."""

    def test_slots_are_the_decoded_raw_labels(self):
        texts = (GOLDEN.parents[2] / "models" / "voice-commands" / "commands.txt").read_text().splitlines()
        labels = json.loads((GOLDEN.parents[2] / "models" / "voice-commands" / "config.json").read_text())[
            "slot_labels"
        ]
        for text in texts:
            raw = self.line("run", model("voice"), text, "--raw")["outputs"]["slot_logits"]
            offsets = self.line("tokenize", model("voice"), text, "--json")["offsets"]
            width = raw["shape"][2]
            rows = [raw["data"][i * width : (i + 1) * width] for i in range(raw["shape"][1])]
            wanted, start = [], 0
            for word in text.split(" "):
                row = next(r for r, (begin, end) in zip(rows, offsets, strict=True) if begin == start and end > begin)
                label = labels[max(range(width), key=row.__getitem__)]
                score = max(softmax(row))
                end = start + len(word.encode())
                if label.startswith("I-") and wanted and wanted[-1]["open"] == label[2:]:
                    wanted[-1].update(end=end, score=min(wanted[-1]["score"], score))
                elif label != "O":
                    wanted.append({"slot": label[2:], "start": start, "end": end, "score": score, "open": label[2:]})
                if label == "O" and wanted:
                    wanted[-1]["open"] = None
                start = end + 1
            found = self.line("run", model("voice"), text, "--json")["slots"]
            self.assertEqual(
                [(s["slot"], s["start"], s["end"]) for s in found], [(s["slot"], s["start"], s["end"]) for s in wanted]
            )
            for slot, expected in zip(found, wanted, strict=True):
                self.assertAlmostEqual(slot["score"], expected["score"], places=5)

    def test_intent_is_the_softmax_of_the_raw_logits(self):
        raw = self.line("run", model("voice"), TEXT, "--raw")["outputs"]["intent_logits"]
        self.assertEqual(raw["shape"], [1, 7])
        answer = self.line("run", model("voice"), TEXT, "--json")
        self.assertAlmostEqual(answer["intent"]["score"], max(softmax(raw["data"])), places=6)

    def test_ids_give_what_transformers_gave(self):
        for directory in sorted(GOLDEN.iterdir()):
            lines = (directory / "expected.jsonl").read_text().splitlines()
            for line in lines[-1:]:  # golden_models_test goes through all
                expected = json.loads(line)
                if "labels" in expected:
                    continue  # its ids come of a text and labels: test_find.py
                arguments = ["--ids", ",".join(map(str, expected["ids"]))]
                if "segments" in expected:
                    arguments += ["--segments", ",".join(map(str, expected["segments"]))]
                if "marks" in expected:
                    arguments += ["--marks", ",".join(map(str, expected["marks"]))]
                if "decoder_ids" in expected:
                    arguments += ["--decoder-ids", ",".join(map(str, expected["decoder_ids"]))]
                outputs = self.line("run", model(directory.name), *arguments, "--raw")["outputs"]
                for name, values in expected.items():
                    if name in ("ids", "segments", "marks", "decoder_ids", "text"):
                        continue
                    flat = values
                    while flat and isinstance(flat[0], list):
                        flat = [x for row in flat for x in row]
                    self.assertEqual(len(outputs[name]["data"]), len(flat), (directory.name, name))
                    worst = max(abs(a - b) for a, b in zip(outputs[name]["data"], flat, strict=True))
                    self.assertLess(worst, 2e-4, (directory.name, name))


class SameBits(CommandTest):
    texts = (
        "\n".join(["", "a", TEXT, "book a table for two in rome", "x " * 80, "é\u3000ü", TEXT * 3] * 5).encode() + b"\n"
    )

    def answers(self, *arguments, **options):
        return self.ok("run", model("voice"), "-", "--json", *arguments, stdin=self.texts, **options)

    def test_batches_threads_and_instruction_sets(self):
        wanted = self.answers()
        self.assertEqual(wanted.count(b"\n"), 35)
        for batch in ("2", "7", "64"):
            self.assertEqual(self.answers("--batch", batch), wanted, batch)
        self.assertEqual(self.answers("--threads", "2", "--batch", "16"), wanted)
        sets = json.loads(self.ok("version", "--json"))["isa"]
        for isa in (entry["name"] for entry in sets if entry["available"]):
            self.assertEqual(self.answers("--isa", isa), wanted, isa)
            self.assertEqual(self.answers(environment={"BANTAM_ISA": isa}), wanted, isa)

    def test_f32_attention(self):
        wanted = self.answers("--f32-attention")
        self.assertEqual(self.answers("--f32-attention", "--threads", "2", "--batch", "16"), wanted)
        self.assertEqual(self.answers("--f32-attention", "--isa", "reference"), wanted)
        self.assertNotEqual(self.answers(), wanted)  # in the last digits only
        for int8, f32 in zip(self.answers().splitlines(), wanted.splitlines(), strict=True):
            int8, f32 = json.loads(int8)["intent"], json.loads(f32)["intent"]
            self.assertEqual(int8["label"], f32["label"])
            self.assertAlmostEqual(int8["score"], f32["score"], delta=0.05)

    def test_embeddings_and_tags(self):
        for name in ("sentence-mean", "bert-tag", "bert-classify"):
            one = self.ok("run", model(name), "-", "--json", stdin=self.texts)
            self.assertEqual(self.ok("run", model(name), "-", "--json", "--batch", "9", stdin=self.texts), one, name)

    def test_raw_too(self):
        one = self.ok("run", model("voice"), "-", "--raw", stdin=self.texts)
        self.assertEqual(self.ok("run", model("voice"), "-", "--raw", "--batch", "8", stdin=self.texts), one)


class Windows(CommandTest):
    long = "play " + "some jazz music " * 60 + "by miles davis"

    def test_truncation(self):
        answer = self.line("run", model("voice"), self.long, "--json")
        self.assertTrue(answer["truncated"])
        self.fails(4, "run", model("voice"), self.long, "--strict", says=["--stride"])
        self.assertFalse(self.line("run", model("voice"), TEXT, "--json", "--strict")["truncated"])

    def test_windows_reach_the_end(self):
        answer = self.line("run", model("voice"), self.long, "--stride", "16", "--json")
        self.assertFalse(answer["truncated"])
        self.assertGreater(answer["windows"], 2)
        self.assertGreater(answer["slots"][-1]["end"], len(self.long) - 16)
        spans = [(slot["start"], slot["end"]) for slot in answer["slots"]]
        self.assertEqual(spans, sorted(set(spans)))

    def test_short_text_is_not_changed(self):
        self.assertEqual(
            self.line("run", model("voice"), TEXT, "--stride", "16", "--json"),
            self.line("run", model("voice"), TEXT, "--json"),
        )

    def test_answer(self):
        context = " ".join(["ba di ko lan men"] * 60)
        answer = self.line("answer", model("bert-answer"), context, "--question", "ko", "--stride", "8", "--json")
        self.assertEqual(context[answer["start"] : answer["end"]], answer["answer"])
        self.assertGreater(answer["windows"], 2)

    def test_windows_reach_the_end_of_a_long_line(self):
        answer = self.line("run", model("voice"), "-", "--stride", "8", "--json", stdin=b"play jazz " * 3000)
        self.assertGreater(answer["windows"], 100)
        self.assertEqual(answer["slots"][-1]["end"], 29999)

    def test_wrong_strides(self):
        self.fails(2, "run", model("voice"), self.long, "--stride", "64", says=["--stride"])
        self.fails(2, "embed", model("sentence-mean"), self.long, "--stride", "4", says=["--stride"])


class Usage(CommandTest):
    def test_encoder_decoders_that_make_texts(self):
        for name in ("marian-text", "bart-text"):
            for more in ((), ("--raw",)):
                self.fails(5, "run", model(name), TEXT, *more, says=[name, "bantam generate, translate or summarize"])
        self.fails(5, "run", model("bart-generate"), TEXT, says=["bantam generate"])
        self.fails(5, "run", model("bart-model"), TEXT, "--raw", says=["--decoder-ids"])

    def test_no_text(self):
        self.fails(2, "run", model("voice"), says=["text"])
        self.fails(2, "run", model("voice"), TEXT, "--ids", "1", says=["--ids"])
        self.fails(2, "run", model("voice"), "--segments", "1", says=["--segments"])
        self.fails(2, "run", model("voice"), TEXT, "--pair", "a", "--pair", "b", says=["--pair"])
        self.fails(2, "similar", model("sentence-mean"), "ba", says=["--pair"])
        self.fails(2, "run", model("voice"), TEXT, "--isa", "z80", says=["--isa", "bantam version"])
        self.fails(2, "run", model("voice"), TEXT, environment={"BANTAM_ISA": "z80"}, says=["BANTAM_ISA"])
        self.fails(2, "run", model("voice"), TEXT, "--batch", "0", says=["--batch"])
        self.fails(2, "run", says=["FILE"])
        self.fails(2, "no-such-command")
        self.assertEqual(bantam().returncode, 2)

    def test_any_text_is_taken_as_it_is(self):
        texts = ["[MASK] [MASK]", "[a, b]", "{}", "%%", "tag", "run", "a,b", "", " ", "'\"'", "--", "x=y"]
        answers = self.lines("run", model("voice"), "--json", "--", *texts)
        self.assertEqual([answer["text"] for answer in answers], texts)
        for text in ("[a, b]", "{}", ""):
            pair = self.line("run", model("bert-next-sentence"), "ba", "--pair", text, "--json")
            self.assertEqual(pair["pair"], text)
            answer = self.line("answer", model("bert-answer"), "--question", "ba", "--context", text, "--json")
            self.assertEqual(answer["question"], "ba")

    def test_ids(self):
        outputs = self.line("run", model("voice"), "--ids", "2,2368,3", "--segments", "0,0,0", "--raw")["outputs"]
        self.assertEqual(outputs["slot_logits"]["shape"], [1, 3, 72])
        self.fails(4, "run", model("voice"), "--ids", "2,5553,3", "--raw", says=["--ids", "5553"])
        self.fails(4, "run", model("voice"), "--ids=-1", "--raw", says=["--ids"])
        self.fails(4, "run", model("voice"), "--ids", "2", "--segments", "2", "--raw", says=["--segments"])
        self.fails(4, "run", model("voice"), "--ids", ",".join(["2"] * 65), "--raw", says=["65", "64"])
        self.fails(2, "run", model("voice"), "--ids", "2,x", "--raw", says=["--ids"])
        self.fails(2, "run", model("voice"), "--ids", "2.5", "--raw", says=["--ids"])
        self.fails(2, "run", model("voice"), "--ids", "99999999999", "--raw", says=["--ids"])
        self.fails(2, "run", model("voice"), "--ids", ",", "--raw", says=["--ids"])
        self.fails(2, "run", model("voice"), "--ids", "2,3", "--segments", "0", "--raw", says=["--segments"])


if __name__ == "__main__":
    unittest.main()

"""run --uart: what an image of `bantam firmware` answers, line by line."""

import re
import unittest

from support import SOURCE, CommandTest, bantam, model

VOICE = SOURCE / "models" / "voice-commands"
COMMANDS = (VOICE / "commands.txt").read_bytes()
HASH = re.compile(rb"\t#[0-9a-f]{8}$")


class Uart(CommandTest):
    """The terminal that the firmware's example shares with the host."""

    def answers(self, name, lines, *options):
        answers = self.ok("run", model(name), "--uart", *options, stdin=lines).split(b"\n")
        self.assertEqual(answers.pop(), b"")
        return answers

    def bare(self, name, lines, *options):
        """The same without the hash of the outputs."""
        answers = self.answers(name, lines, *options)
        for answer in answers:
            self.assertRegex(answer, HASH)
        return [HASH.sub(b"", answer) for answer in answers]

    def test_joint(self):
        texts = COMMANDS.decode().splitlines()
        answers = self.bare("voice", COMMANDS)
        self.assertEqual(len(answers), len(texts))
        for text, answer, reference in zip(
            texts,
            answers,
            self.lines("run", model("voice"), "-", "--json", stdin=COMMANDS),
        ):
            fields = answer.decode().split("\t")
            intent = reference["intent"]
            self.assertEqual(fields[:2], ["ok", f"{intent['score']:.3f} {intent['label']}"])
            for field, slot in zip(fields[2:], reference["slots"], strict=True):
                score, name, span, words = field.split(" ", 3)
                self.assertAlmostEqual(float(score), slot["score"], delta=6e-4)
                self.assertEqual(
                    (name, span, words),
                    (slot["slot"], f"{slot['start']}-{slot['end']}", slot["text"]),
                )
                self.assertIn(words, text)

    def test_decoders_go_on_with_lines(self):
        lines = ["the cat", "a dog sees", "東京"]
        answers = self.answers("gpt2-text", "\n".join(lines).encode() + b"\n", "--max-tokens", "40")
        for line, answer in zip(lines, answers, strict=True):
            made = self.line(
                *("generate", model("gpt2-text"), line, "--context", "40", "--max-new", "99", "--json"),
            )
            status, text, finish, _ = answer.decode().split("\t")
            self.assertEqual((status, text, finish), ("ok", made["generated"], made["finish"]))
            self.assertRegex(answer, HASH)
        self.assertEqual(len({HASH.search(answer)[0] for answer in answers}), 3)
        # A line that leaves no room, and one that is more than the context.
        long = b"the cat sees a dog " * 20
        self.assertEqual(
            self.answers("gpt2-text", long + b"\n\n", "--max-tokens", "40"),
            [b"error\t10 more tokens than the session or the model takes", b"error\tempty line"],
        )

    def test_every_task(self):
        number = rb"-?\d+\.\d{3}"
        label = rb"\t" + number + rb" \S+"
        span = rb"\t" + number + rb" \d+-\d+ [ \S]+"
        entity = rb"\t" + number + rb" \S+ \d+-\d+ [ \S]+"
        raw = rb"\t\w+ \d+x\d+( " + number + rb")+"
        shapes = {
            "bert-answer": (
                b"who wrote it\tjane austen wrote it",
                rb"(%s|\tnone)" % span,
            ),
            "bert-choose": (b"she opened the door\twalked in", raw),
            "bert-classify": (b"a joy to watch", label),
            "bert-encoder": (b"some text", rb"(%s)+" % raw),
            "bert-fill": (b"paris is the [MASK] of [MASK]", rb"(%s){6}" % label),
            "bert-joint": (b"play some jazz", rb"%s(%s)*" % (label, entity)),
            "bert-multi-label": (b"some text", rb"(\tnone|(%s)+)" % label),
            "bert-next-sentence": (b"he came\the saw", label),
            "bert-pretraining": (b"paris is the [MASK]", rb"(%s){3}" % label),
            "bert-regress": (b"some text\tother text", rb"(%s)+" % label),
            "bert-tag": (b"ada lovelace lived in london", rb"(%s)*" % entity),
            "sentence-mean": (b"some text", rb"(%s)+" % raw),
        }
        for name, (line, shape) in shapes.items():
            with self.subTest(name):
                (answer,) = self.bare(name, line + b"\n")
                self.assertRegex(answer, rb"^ok%s$" % shape)
        self.assertRegex(self.answers("bert-fill", b"no mask\n")[0], rb"^error\t12 ")

    def test_line_ends(self):
        expected = self.answers("voice", b"play jazz\nwake me\n")
        for lines in (
            b"play jazz\r\nwake me\r\n",
            b"play jazz\rwake me\r",
            b"play jazz\nwake me",
        ):
            self.assertEqual(self.answers("voice", lines), expected)

    def test_hash_tells_bits_apart(self):
        first, again, other = self.answers("voice", b"play jazz\nplay jazz\nplay rock\n")
        self.assertEqual(first, again)
        self.assertNotEqual(HASH.search(first).group(), HASH.search(other).group())
        self.assertEqual([first], self.answers("voice", b"play jazz\n", "--isa", "reference"))

    def test_bad_lines(self):
        answers = self.answers(
            "voice",
            b"\n\xff\xfeplay\nplay \xed\xa0\x80\nplay caf\xc3\n" + b"a" * 513 + b"\nplay jazz\n",
        )
        self.assertEqual(
            answers[:5],
            [
                b"error\tempty line",
                b"error\tnot UTF-8",
                b"error\tnot UTF-8",
                b"error\tnot UTF-8",
                b"error\tline too long",
            ],
        )
        self.assertEqual(answers[5:], self.answers("voice", b"play jazz\n"))
        self.assertEqual(self.answers("voice", b"   \n\t\n \t \n"), [b"error\tempty line"] * 3)
        self.assertRegex(self.answers("voice", b"a " * 256 + b"\n")[0], rb"^truncated\t")
        self.assertTrue(self.answers("voice", "play \ufffd \x01\x00\x7f\n".encode())[0].startswith(b"ok\t"))

    def test_noise(self):
        noise = bytes((i * 167 + (i >> 3)) % 256 for i in range(20000))
        lines = noise.replace(b"\r", b"\n").split(b"\n")
        self.assertEqual(
            len(self.answers("voice", noise)),
            len(lines) - (not lines[-1]) - noise.count(b"\r\n"),
        )

    def test_max_tokens(self):
        (short,) = self.answers("voice", b"play some jazz from the sixties\n", "--max-tokens", "5")
        self.assertTrue(short.startswith(b"truncated\t"))
        self.fails(2, "run", model("voice"), "x", "--max-tokens", "5", says=["--uart"])
        self.fails(2, "run", model("voice"), "--uart", "--max-tokens", "16777217", says=["16,777,216", "smaller"])

    def test_control_characters_are_not_echoed(self):
        (answer,) = self.bare("voice", b"add \x1b[2Jmiles davis to my late night playlist\n")
        self.assertNotIn(b"\x1b", answer)

    def test_standard_input_only(self):
        self.fails(2, "run", model("voice"), "--uart", "text", says=["standard input"])
        self.fails(2, "run", model("voice"), "--uart", "--ids", "1", says=["standard input"])
        self.assertEqual(bantam("run", model("voice"), "--uart").stdout, b"")


if __name__ == "__main__":
    unittest.main()

"""Weights of 4 bits: what convert asks for and says, and that every other command takes such a file like any other."""

import unittest

from support import SOURCE, CommandTest, model

VOICE = SOURCE / "models" / "voice-commands"
COMMANDS = (VOICE / "commands.txt").read_text().splitlines()


class Int4(CommandTest):
    def refuses(self, code, *options, says):
        target = self.directory / "out.bantam"
        self.fails(code, "convert", VOICE, "-o", target, *options, says=says)
        self.assertFalse(target.exists())

    def test_says_what_goes_together(self):
        self.refuses(2, "--weights", "int4", "--group", "12", says=["--group 12", "multiple of 8", "32"])
        self.refuses(2, "--weights", "int4", "--group", "0", says=["--group"])
        self.refuses(2, "--weights", "int4", "--group", "4294967288", says=["--group", "between 8 and 1024"])
        self.refuses(2, "--group", "16", says=["--group", "--weights int4"])
        self.refuses(2, "--weights", "f16", "--rounding", "gptq", says=["--rounding gptq", "int8 and int4"])
        self.refuses(2, "--weights", "int4", "--calibrate", VOICE / "commands.txt", says=["--rounding gptq"])
        self.refuses(2, "--weights", "int4", "--activations", "static", says=["--calibrate", "leave out --weights"])
        self.refuses(3, "--rounding", "gptq", "--calibrate", self.directory / "no.txt", says=["no.txt"])

    def test_gate_names_what_is_finer(self):
        self.refuses(6, "--weights", "int4", "--max-label-flips", "0", says=["--rounding gptq", "--weights int8"])

    def test_rounding_is_reported_and_repeats(self):
        texts = VOICE / "commands.txt"
        options = (
            "--weights",
            "int4",
            "--rounding",
            "gptq",
            "--calibrate",
            texts,
            "--max-label-flips",
            "0.2",
            "--json",
        )
        files = []
        for name in ("one.bantam", "two.bantam"):
            report = self.line("convert", VOICE, "-o", self.directory / name, *options)
            self.assertIn("round weights", report["passes"])
            files.append((self.directory / name).read_bytes())
        self.assertEqual(files[0], files[1])

    def test_answers_alike_on_every_instruction_set(self):
        expected = self.ok("run", model("voice-int4"), *COMMANDS, "--raw", environment={"BANTAM_ISA": "reference"})
        for isa in self.line("version", "--json")["isa"]:
            if isa["available"]:
                got = self.ok("run", model("voice-int4"), *COMMANDS, "--raw", environment={"BANTAM_ISA": isa["name"]})
                self.assertEqual(got, expected, isa["name"])
        self.assertEqual(self.ok("run", model("voice-int4"), *COMMANDS, "--raw", "--threads", "3"), expected)

    def test_answers_as_int8_does(self):
        def intents(name):
            return [answer["intent"]["label"] for answer in self.lines("run", model(name), *COMMANDS, "--json")]

        self.assertEqual(intents("voice-int4"), intents("voice"))


if __name__ == "__main__":
    unittest.main()

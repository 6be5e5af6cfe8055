"""Texts that decoders go on with are those of `bantam generate`."""

import unittest

import bantam
from support import PackageTest, command, load, path


class Generation(PackageTest):
    def test_texts(self):
        made = set()
        for name in ("gpt2-text", "nplm-generate-text"):
            model = load(name)
            for prompt in ("the cat", "play some jazz", "a"):
                for given, options in (
                    ({}, []),
                    ({"temperature": 0.8, "seed": 3}, ["--temperature", 0.8, "--seed", 3]),
                    (
                        {"temperature": 1.5, "top_k": 7, "top_p": 0.9},
                        ["--temperature", 1.5, "--top-k", 7, "--top-p", 0.9],
                    ),
                ):
                    with self.subTest(model=name, prompt=prompt, options=options):
                        (expected,) = command("generate", path(name), "--json", "--max-new", 12, *options, prompt)
                        text = model.generate(prompt, 12, **given)
                        self.assertEqual(text, expected["generated"])
                        made.add(text)
        self.assertGreater(len(made), 3)

    def test_streams(self):
        model = load("gpt2-text")
        parts = list(model.generate("the cat", 5, stream=True))
        self.assertEqual(parts[0], "")
        self.assertEqual(parts[-1], model.generate("the cat", 5))
        self.assertLessEqual(len(parts), 6)

    def test_wrong(self):
        model = load("gpt2-text")
        self.raises(bantam.BantamError, lambda: load("voice").generate("a"), "generate")
        self.raises(bantam.BantamError, lambda: load("bart-text").generate("a"))
        self.raises(TypeError, lambda: model.generate(None), "prompt")
        self.raises(TypeError, lambda: model.generate("a", "b"), "max_new_tokens")
        self.raises(ValueError, lambda: model.generate("a", -1), "max_new_tokens")
        self.raises(ValueError, lambda: model.generate("a " * 500, context=8), "context")
        self.raises((bantam.BantamError, ValueError), lambda: model.generate("a", 3, temperature=float("nan")))


if __name__ == "__main__":
    unittest.main()

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
                        self.assertEqual(model.generate(prompt, 12, lookup=True, **given), text)
                        self.assertEqual(model.generate(prompt, 12, draft=load(name), **given), text)
        self.assertGreater(len(made), 3)

    def test_guesses_change_no_text(self):
        model, prompt = load("gpt2-text"), "the cat sat on the cat sat on"
        for given in ({}, {"context": 32}, {"temperature": 0.7, "seed": 5}):
            plain = list(model.generate(prompt, 60, stream=True, **given))
            self.assertGreater(len(plain), 5)
            for guesses in ({"lookup": True}, {"draft": model}):
                self.assertEqual(list(model.generate(prompt, 60, stream=True, **given, **guesses)), plain)

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
        self.raises(ValueError, lambda: model.generate("a", draft="other.bantam"), "draft")
        self.raises(ValueError, lambda: model.generate("a", draft=model, lookup=True), "draft")
        self.raises(bantam.BantamError, lambda: model.generate("a", draft=load("voice")), "draft")
        self.raises(TypeError, lambda: model.generate("a", "b"), "max_new_tokens")
        self.raises(ValueError, lambda: model.generate("a", -1), "max_new_tokens")
        self.raises(ValueError, lambda: model.generate("a " * 500, context=8), "context")
        self.raises((bantam.BantamError, ValueError), lambda: model.generate("a", 3, temperature=float("nan")))


if __name__ == "__main__":
    unittest.main()

"""Transformer-XL (docs/models.md): words in clusters, places as distances, texts longer than the settings say, and what is refused."""

import json
import unittest

from support import GOLDEN, CommandTest, model

NAME = "transfo-xl-generate"


class TransformerXl(CommandTest):
    def test_answers_are_those_of_the_paper(self):
        for name in (NAME, "transfo-xl-generate-table", "transfo-xl-classify", "transfo-xl-encoder"):
            with self.subTest(model=name):
                self.answers(name, model(name))

    def test_tables_of_clusters_are_kept_and_shared(self):
        shown = json.loads(self.ok("inspect", model(NAME), "--tensors", "--ops", "--json"))
        shapes = {tensor["name"]: tensor["shape"] for tensor in shown["tensors"]}
        for cluster, shape in enumerate(("17 x 24", "13 x 12", "15 x 6", "16 x 3")):
            self.assertEqual(shapes[f"transformer.word_emb.emb_layers.{cluster}.weight"], shape)
            self.assertNotIn(f"crit.out_layers.{cluster}.weight", shapes)
        own = json.loads(self.ok("inspect", model("transfo-xl-generate-table"), "--tensors", "--json"))
        self.assertIn("crit.out_layers.1.weight", [tensor["name"] for tensor in own["tensors"]])
        self.assertIn("AdaptiveSoftmax", [op["kind"] for op in shown["ops"]])

    def test_texts_may_be_longer_than_the_memory(self):
        out = self.directory / "long.bantam"
        self.ok("convert", GOLDEN / NAME, "-o", out, "--ids-only", "--max-tokens", "3000", "--quiet")
        ids = [3 + i * 7 % 58 for i in range(3000)]

        def last_scores(of):
            raw = self.line("run", out, "--raw", "--ids", ",".join(map(str, of)))
            return raw["outputs"]["logits"]["data"][-61:]

        # 9 tokens of memory through two layers: what stands further in front does not matter.
        self.assertEqual(last_scores(ids), last_scores(ids[-40:]))
        self.assertNotEqual(last_scores(ids), last_scores(ids[-4:]))

    def test_other_settings_are_refused_by_name(self):
        for code, settings in (
            (4, {"cutoffs": [30, 20]}),
            (4, {"cutoffs": [61]}),
            (4, {"cutoffs": "all"}),
            (4, {"div_val": 30}),
            (5, {"attn_type": 1}),
            (5, {"pre_lnorm": True}),
            (4, {"clamp_len": 0.5}),
        ):
            with self.subTest(settings=settings):
                directory = self.changed(NAME, **settings)
                out = self.directory / "x.bantam"
                self.fails(code, "convert", directory, "-o", out, "--ids-only", says=list(settings))
                self.assertFalse(out.exists())
        student = self.directory / "student"
        self.fails(5, "student", GOLDEN / NAME, "--layers", "1", "-o", student, says=["cutoffs", "clusters"])


if __name__ == "__main__":
    unittest.main()

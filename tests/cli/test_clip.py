"""CLIP (docs/images.md): a file a tower, vectors of both, labels of one's own for images, and what is refused."""

import json
import math
import pathlib
import shutil
import unittest

from support import CommandTest, model

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
CLIP = GOLDEN / "clip"
PHOTO = GOLDEN / "images" / "photo.ppm"
EXPECTED = json.loads((CLIP / "expected.json").read_text(encoding="utf-8"))


class Clip(CommandTest):
    def convert(self, tower, *options):
        path = self.directory / f"{tower}-{len(options)}.bantam"
        if not path.exists():
            self.ok("convert", CLIP, "--tower", tower, "-o", path, *options)
        return path

    def f32(self, tower):
        return model(f"clip-{tower}")

    def near(self, found, wanted, delta):
        for one, other in zip(found, wanted, strict=True):
            self.assertAlmostEqual(one, other, delta=delta)

    def test_texts_and_images_have_the_vectors_of_transformers(self):
        for text in EXPECTED["texts"]:
            if text["text"]:
                found = self.line("embed", self.f32("text"), text["text"], "--json")
                self.near(found["embedding"], text["vector"], 2e-6)
                self.assertEqual(found["truncated"], text["text"].startswith("cat cat"))
        self.near(self.line("embed", self.f32("vision"), PHOTO, "--json")["embedding"], EXPECTED["image"], 2e-6)

    def test_int8_passes_the_gate_and_stays_near(self):
        found = self.line("embed", self.convert("vision"), PHOTO, "--json")["embedding"]
        self.assertGreater(sum(a * b for a, b in zip(found, EXPECTED["image"], strict=True)), 0.995)
        text = EXPECTED["texts"][0]
        found = self.line("embed", self.convert("text", "--parity", "none"), text["text"], "--json")["embedding"]
        self.assertGreater(sum(a * b for a, b in zip(found, text["vector"], strict=True)), 0.995)

    def test_labels_have_the_probabilities_of_transformers(self):
        labels = EXPECTED["labels"]
        asked = ("--labels", ",".join(labels), "--label-model", self.f32("text"))
        found = self.line("classify", self.f32("vision"), PHOTO, *asked, "--hypothesis", "{}", "--json")["labels"]
        self.assertEqual([one["label"] for one in found], sorted(labels, key=labels.get, reverse=True))
        for one in found:
            self.assertAlmostEqual(one["score"], labels[one["label"]], delta=1e-5)
        usual = self.ok("classify", self.f32("vision"), PHOTO, *asked, "--top", "1")
        said = self.ok("classify", self.f32("vision"), PHOTO, *asked, "--top", "1", "--hypothesis", "a photo of a {}.")
        self.assertEqual(usual, said)

    def test_one_tower_alone_scores_as_published_ones_do(self):
        alone = self.directory / "alone"
        shutil.copytree(CLIP, alone)
        config = json.loads((alone / "config.json").read_text())
        for kind in ("text", "vision"):
            settings = {**config[f"{kind}_config"], "model_type": f"clip_{kind}_model"}
            settings["architectures"] = [f"CLIP{kind.capitalize()}ModelWithProjection"]
            (alone / "config.json").write_text(json.dumps(settings))
            path = self.directory / f"{kind}.bantam"
            self.ok("convert", alone, "-o", path, "--weights", "f32", "--parity", "none")
        found = self.line("embed", self.directory / "vision.bantam", PHOTO, "--json")["embedding"]
        self.near(found, EXPECTED["image"], 2e-6)

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        self.fails(2, "convert", CLIP, "-o", out, says=["--tower text", "--tower vision"])
        self.fails(2, "convert", CLIP, "--tower", "sound", "-o", out, says=["--tower", "sound", "vision"])
        one = GOLDEN / "images" / "vit-classify"
        self.fails(2, "convert", one, "--tower", "text", "-o", out, says=["--tower", "one model"])
        self.fails(2, "convert", CLIP, "--tower", "text", "--student", self.write("r.json", "{}"), "-o", out)
        broken = self.directory / "broken"
        shutil.copytree(CLIP, broken)
        config = json.loads((CLIP / "config.json").read_text())
        for change, code, says in (
            ({"vision_config": None}, 4, ["vision_config", "missing"]),
            ({"vision_config": "large"}, 4, ["vision_config", "not an object"]),
            ({"vision_config": {**config["vision_config"], "patch_size": 5}}, 5, ["patch_size"]),
            ({"vision_config": {**config["vision_config"], "hidden_size": 24}}, 4, ["position_embedding", "[10, 24]"]),
        ):
            (broken / "config.json").write_text(json.dumps({**config, **change}))
            self.fails(code, "convert", broken, "--tower", "vision", "-o", out, says=says)
        self.assertFalse(out.exists())
        labels = ("--labels", "cat,dog")
        self.fails(2, "classify", self.f32("vision"), PHOTO, "--label-model", self.f32("text"), says=["--labels"])
        self.fails(5, "classify", self.f32("vision"), PHOTO, *labels, says=["--label-model"])
        pair = ("classify", self.f32("vision"), PHOTO, *labels, "--label-model", self.f32("text"))
        self.fails(2, *pair, "--several", says=["--several"])
        self.fails(2, *pair, "--hypothesis", "a photo", says=["{}"])
        vectors = self.directory / "other.bantam"
        self.ok("convert", GOLDEN / "images" / "dinov2-encoder", "--task", "embed", "-o", vectors, "--parity", "none")
        other = ("classify", vectors, PHOTO, *labels, "--label-model", self.f32("text"))
        self.fails(5, *other, says=["20", "12", "not of one model"])
        self.fails(
            3, "classify", self.f32("vision"), self.directory / "no.png", *labels, "--label-model", self.f32("text")
        )

    def test_files_say_how_scores_are_made(self):
        factor = math.exp(2.6592)
        for tower in ("text", "vision"):
            said = json.loads(self.ok("inspect", self.f32(tower), "--json"))
            self.assertIn(f"{factor:.3f}"[:5], json.dumps(said))


if __name__ == "__main__":
    unittest.main()

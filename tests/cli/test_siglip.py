"""SigLIP (docs/images.md): a file a tower, vectors of both, labels that are scored each by itself, and what is refused."""

import json
import pathlib
import re
import shutil
import unittest

from support import CommandTest, model

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
SIGLIP = GOLDEN / "siglip"
PHOTO = GOLDEN / "images" / "photo.ppm"
EXPECTED = json.loads((SIGLIP / "expected.json").read_text(encoding="utf-8"))
PLACES = len(EXPECTED["texts"][0]["ids"])


class Siglip(CommandTest):
    def f32(self, tower):
        return model(f"siglip-{tower}")

    def near(self, found, wanted, delta):
        for one, other in zip(found, wanted, strict=True):
            self.assertAlmostEqual(one, other, delta=delta)

    def changed(self, **files):
        """A copy of the directory, in which these files have these settings."""
        copy = self.directory / "changed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(SIGLIP, copy)
        for name, change in files.items():
            path = copy / f"{name}.json"
            settings = json.loads(path.read_text(encoding="utf-8"))
            change(settings)
            path.write_text(json.dumps(settings), encoding="utf-8")
        return copy

    def test_texts_have_the_tokens_of_transformers_and_are_filled_up(self):
        for text in EXPECTED["texts"]:
            found = self.line("tokenize", self.f32("text"), "--truncate", "--json", text["text"])
            self.assertEqual(found["ids"], text["ids"], text["text"])
        longer = self.line("tokenize", self.f32("text"), "--json", "cat " * 50)["ids"]
        self.assertGreater(len(longer), PLACES)
        few = self.line("tokenize", self.f32("text"), "--json", "--max-tokens", "5", "a cat")["ids"]
        self.assertEqual(len(few), 5)
        bare = self.line("tokenize", self.f32("text"), "--json", "--no-special", "a cat")["ids"]
        self.assertLess(len(bare), 5)

    def test_texts_and_images_have_the_vectors_of_transformers(self):
        for text in EXPECTED["texts"]:
            found = self.line("embed", self.f32("text"), text["text"], "--json")
            self.near(found["embedding"], text["vector"], 2e-6)
            self.assertEqual(found["truncated"], text["text"].startswith("cat cat"))
        self.near(self.line("embed", self.f32("vision"), PHOTO, "--json")["embedding"], EXPECTED["image"], 2e-6)

    def test_a_batch_has_the_vectors_of_its_texts_alone(self):
        texts = [text["text"] for text in EXPECTED["texts"] if text["text"].strip()]
        lines = self.write("texts.txt", "\n".join(text.replace("\n", " ") for text in texts) + "\n")
        found = self.ok("embed", self.f32("text"), "--file", lines, "--json", "--batch", "3").splitlines()
        for one, text in zip(found, texts, strict=True):
            wanted = next(other for other in EXPECTED["texts"] if other["text"] == text)
            self.near(json.loads(one)["embedding"], wanted["vector"], 2e-6)

    def test_int8_passes_the_gate_and_stays_near(self):
        for tower, asked, wanted in (
            ("vision", PHOTO, EXPECTED["image"]),
            ("text", EXPECTED["texts"][0]["text"], EXPECTED["texts"][0]["vector"]),
        ):
            path = self.directory / f"{tower}.bantam"
            self.ok("convert", SIGLIP, "--tower", tower, "-o", path)
            found = self.line("embed", path, asked, "--json")["embedding"]
            self.assertGreater(sum(a * b for a, b in zip(found, wanted, strict=True)), 0.995)

    def test_firmware_has_what_fills_texts_up(self):
        for name, holds in (("siglip-text", True), ("clip-text", False)):
            out = self.directory / f"{name}-m7"
            project = self.line("firmware", model(name), "--target", "cortex-m7", "-o", out, "--json")
            self.assertEqual("fill" in project["linked"], holds)
            self.assertEqual(re.search(r"\bFill\b", (out / "bantam_config.h").read_text()) is not None, holds)

    def test_labels_have_the_scores_of_transformers(self):
        labels = EXPECTED["labels"]
        asked = ("--labels", ",".join(labels), "--label-model", self.f32("text"))
        found = self.line("classify", self.f32("vision"), PHOTO, *asked, "--json")["labels"]
        self.assertEqual([one["label"] for one in found], sorted(labels, key=labels.get, reverse=True))
        for one in found:
            self.assertAlmostEqual(one["score"], labels[one["label"]], delta=1e-5)
        # Each is scored by itself: a label's score is the same without the others.
        alone = ("--labels", found[-1]["label"], "--label-model", self.f32("text"), "--json")
        one = self.line("classify", self.f32("vision"), PHOTO, *alone)["labels"]
        self.assertEqual([label["score"] for label in one], [found[-1]["score"]])
        said = ("--hypothesis", "This is a photo of {}.", "--json")
        self.assertEqual(found, self.line("classify", self.f32("vision"), PHOTO, *asked, *said)["labels"])

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        self.fails(2, "convert", SIGLIP, "-o", out, says=["--tower text", "SiglipTextModel"])
        self.fails(
            2,
            "convert",
            SIGLIP,
            "--tower",
            "text",
            "--max-tokens",
            "8",
            "-o",
            out,
            says=["--max-tokens 8", "filled up"],
        )

        def other_naflex(config):
            config["model_type"] = "siglip2"

        self.fails(5, "convert", self.changed(config=other_naflex), "-o", out, says=["siglip2", "siglip_text_model"])

        def no_head(config):
            config["vision_config"]["vision_use_head"] = False

        self.fails(5, "convert", self.changed(config=no_head), "--tower", "vision", "-o", out, says=["vision_use_head"])

        def wide(config):
            config["vision_config"]["intermediate_size"] = 40

        self.fails(
            4, "convert", self.changed(config=wide), "--tower", "vision", "-o", out, says=["mlp.fc1", "[40, 20]"]
        )
        self.assertFalse(out.exists())

    def test_towers_saved_alone_do_not_know_how_to_score(self):
        paths = []
        for kind in ("text", "vision"):

            def alone(config, kind=kind):
                settings = {**config[f"{kind}_config"], "model_type": f"siglip_{kind}_model"}
                config.clear()
                config.update(settings, architectures=[f"Siglip{kind.capitalize()}Model"])

            directory = self.changed(config=alone)
            self.leave_out(directory / "model.safetensors", ("logit_scale", "logit_bias"))
            paths.append(self.directory / f"{kind}.bantam")
            self.ok("convert", directory, "-o", paths[-1], "--weights", "f32", "--parity", "none")
        self.near(self.line("embed", paths[1], PHOTO, "--json")["embedding"], EXPECTED["image"], 2e-6)
        pair = ("classify", paths[1], PHOTO, "--labels", "cat,dog", "--label-model", paths[0])
        self.fails(5, *pair, says=["logit_bias", "--tower"])

    @staticmethod
    def leave_out(path, tensors):
        """Writes a file of tensors again, without these."""
        stored = path.read_bytes()
        size = int.from_bytes(stored[:8], "little")
        header, data, kept = json.loads(stored[8 : 8 + size]), stored[8 + size :], b""
        header.pop("__metadata__", None)
        for name in tensors:
            header.pop(name)
        for tensor in header.values():
            begin, end = tensor["data_offsets"]
            tensor["data_offsets"] = [len(kept), len(kept) + end - begin]
            kept += data[begin:end]
        written = json.dumps(header).encode()
        path.write_bytes(len(written).to_bytes(8, "little") + written + kept)


if __name__ == "__main__":
    unittest.main()

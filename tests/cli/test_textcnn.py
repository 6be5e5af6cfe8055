"""TextCNN (docs/textcnn.md): what takes it, and what is refused."""

import json
import pathlib
import shutil
import unittest

from support import CommandTest

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "models"


class TextCnn(CommandTest):
    def copy(self, name, **settings):
        directory = self.directory / name
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(GOLDEN / name, directory)
        config = json.loads((directory / "config.json").read_text())
        config.update(settings)
        (directory / "config.json").write_text(json.dumps(config))
        return directory

    def test_commands_take_it(self):
        path = self.directory / "sorter.bantam"
        self.ok("convert", GOLDEN / "textcnn-classify", "-o", path, "--parity", "none", "--weights", "f32")
        for line in (GOLDEN / "textcnn-classify" / "expected.jsonl").read_text().splitlines():
            expected = json.loads(line)
            raw = json.loads(self.ok("run", path, "--ids", ",".join(map(str, expected["ids"]))))
            for found, wanted in zip(raw["outputs"]["logits"]["data"], expected["logits"], strict=True):
                self.assertAlmostEqual(found, wanted, delta=2e-4)
        self.assertIn("Unfold", self.ok("inspect", path, "--ops").decode())
        self.ok("report", path, "-o", self.directory / "page.html")
        self.ok("bench", path, "--seq", "8", "--repetitions", "1", "--per-op", "--json")

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        for name, settings, code, says in (
            ("classify", {"kernel_sizes": []}, 4, ["kernel_sizes", "[3, 4, 5]"]),
            ("classify", {"kernel_sizes": [3, "4"]}, 4, ["kernel_sizes"]),
            ("classify", {"kernel_sizes": [3, 4, 5, 65]}, 4, ["kernel_sizes", "64"]),
            ("classify", {"kernel_sizes": [2, 3]}, 4, ["convs.2"]),
            ("classify", {"kernel_sizes": [2, 3, 4]}, 4, ["convs.2.weight", "[7, 10, 4]"]),
            ("classify", {"num_filters": 8}, 4, ["convs.0.weight"]),
            ("classify", {"num_filters": None}, 4, ["num_filters"]),
            ("classify", {"num_layers": 2}, 5, ["padding", '"same"']),
            ("classify", {"padding": "full"}, 5, ['"full"', '"valid" and "same"']),
            ("classify", {"pooling": "last"}, 5, ['"last"', '"max" and "mean"']),
            ("classify", {"activation": "maxout"}, 5, ['"maxout"']),
            ("tag-crf", {"padding": "valid"}, 4, ["padding", '"same"']),
        ):
            with self.subTest(model=name, settings=settings):
                source = self.copy(f"textcnn-{name}", **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
        student = ("student", GOLDEN / "textcnn-joint", "-o", self.directory / "student")
        self.fails(5, *student, "--layers", "1", says=["they are convolutions"])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()

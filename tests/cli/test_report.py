"""report: its JSON, its page as text, and what it refuses. test_pages.py looks at pages in a browser."""

import json
import os
import pathlib
import shlex
import subprocess
import unittest

from support import COMMAND, MODELS, SOURCE, CommandTest, model

VOICE = SOURCE / "models" / "voice-commands"
LAYERS = {  # of goldens that have no attention with feed-forward networks
    "elmo": {"recurrent layers"},
    "mamba": {"recurrent layers"},
    "nplm": {"feed-forward"},
    "recurrent": {"recurrent layers"},
    "rwkv": {"recurrent layers", "feed-forward"},
    "seq2seq": {"recurrent layers"},
    "static": set(),
    "textcnn": {"feed-forward"},
}
QUICK = ("--repetitions", "2", "--tokens", "4")


class Report(CommandTest):
    def data(self):
        lines = [
            {
                "text": "play some jazz",
                "intent": "PlayMusic",
                "tokens": ["play", "some", "jazz"],
                "slots": ["O", "O", "B-genre"],
            },
            {
                "text": "rate this book five",
                "intent": "RateBook",
                "tokens": ["rate", "this", "book", "five"],
                "slots": ["O"] * 4,
            },
        ]
        return self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def test_every_kind_of_file(self):
        files = sorted(MODELS.glob("*.bantam"))
        self.assertGreater(len(files), 20)
        report = self.line("report", *files, "--no-times", "--json")
        self.assertEqual(report["schema"], "bantam.report/1")
        self.assertEqual(len(report["files"]), len(files))
        for path, file in zip(files, report["files"]):
            size = os.path.getsize(path)
            self.assertEqual((file["file"], file["bytes"]), (str(path), size))
            self.assertEqual(sum(component["bytes"] for component in file["components"]), size)
            kinds = {component["kind"] for component in file["components"]}
            kind = next((k for k in ("mamba", "recurrent-gemma") if k in path.stem), path.stem.split("-")[0])
            layers = LAYERS.get(kind, {"attention", "feed-forward"})
            # Between constants that end where the next one may begin nothing is left over.
            self.assertLessEqual({"embeddings", "graph"} | layers, kinds)
            golden = SOURCE / "tests" / "golden" / "models" / path.stem
            if any(golden.rglob("vocab.txt")):
                self.assertIn("tokenizer", kinds)
            self.assertTrue(file["matrices"])
            for matrix in file["matrices"]:
                self.assertIsNone(matrix["incomparable"], matrix)
                self.assertTrue(0 <= matrix["zeros"] <= 1)

    def test_times_of_every_operator(self):
        files = sorted(MODELS.glob("*.bantam"))[::12]  # each is measured between two looks at what the machine can do
        for path, file in zip(files, self.line("report", *files, *QUICK, "--json")["files"], strict=True):
            self.assertEqual(file["timing"]["tokens"], 4)
            self.assertGreater(file["timing"]["p50_ms"], 0)
            self.assertGreater(file["timing"]["per_core_hour"], 0)
            self.assertIn("joules", file["timing"])
            self.assertAlmostEqual(sum(op["share"] for op in file["timing"]["ops"]), 1, places=4)
            self.assertEqual(len(file["timing"]["ops"]), len(self.line("inspect", path, "--ops", "--json")["ops"]))

    def test_scores_are_those_of_eval(self):
        data = self.data()
        files = [model("voice"), model("voice-static")]
        report = self.line("report", *files, "--data", data, "--no-times", "--json")
        self.assertEqual((report["metric"], report["examples"], report["machine"]), ("sentence_accuracy", 2, None))
        for path, file in zip(files, report["files"]):
            self.assertEqual(file["metrics"], self.line("eval", path, data, "--json")["metrics"])
            self.assertIsNone(file["timing"])
        plotted = self.line("report", *files, "--data", data, "--no-times", "--json", "--metric", "slot_f1")
        self.assertEqual(plotted["metric"], "slot_f1")

    def test_errors_of_the_weights(self):
        names = ("voice-f32", "voice", "voice-int4", "voice-static")
        report = self.line("report", *map(model, names), "--source", VOICE, "--no-times", "--json")
        means = {}
        for name, file in zip(names, report["files"]):
            self.assertTrue(file["made_from_source"])
            linear = [m for m in file["matrices"] if m["kind"] in ("attention", "feed-forward")]
            if name == "voice-static":
                self.assertTrue(all("static" in m["incomparable"] for m in linear))
                continue
            for matrix in file["matrices"]:
                self.assertAlmostEqual(matrix["error"]["largest"], matrix["recorded_error"], places=5)
            means[name] = sum(m["error"]["relative"] for m in linear) / len(linear)
        self.assertEqual(means["voice-f32"], 0)
        self.assertTrue(0 < means["voice"] < 0.02 < means["voice-int4"] < 0.2, means)

    def test_pruned_and_foreign_weights(self):
        tiny = SOURCE / "models" / "voice-commands-tiny"
        pruned = self.directory / "pruned.bantam"
        self.ok("convert", VOICE, "-o", pruned, "--prune", "0.7", "--parity", "none", "--json")
        report = self.line("report", pruned, "--source", VOICE, "--no-times", "--json")
        linear = [m for m in report["files"][0]["matrices"] if m["kind"] in ("attention", "feed-forward")]
        for matrix in linear:
            self.assertGreaterEqual(matrix["error"]["relative"], matrix["error"]["zeros"])
        self.assertGreater(sum(m["zeros"] for m in linear) / len(linear), 0.6)
        self.assertGreater(max(m["error"]["zeros"] for m in linear), 0.1)
        other = self.line("report", pruned, "--source", tiny, "--no-times", "--json")["files"][0]
        self.assertFalse(other["made_from_source"])
        self.assertTrue(any("student" in (m["incomparable"] or "") for m in other["matrices"]))

    def test_page(self):
        done = self.ok("report", model("voice"), "--no-times", "-o", self.directory / "page.html").decode()
        self.assertIn("page.html: 1 file", done)
        self.assertIn("--data", done)
        page = (self.directory / "page.html").read_text()
        self.assertNotIn("http", page)
        self.assertIn("--no-times", page)
        self.ok("report", model("voice"), "--no-times", "-o", self.directory / "again.html")
        self.assertEqual(
            page.replace("page.html", ""), (self.directory / "again.html").read_text().replace("again.html", "")
        )

    def run_here(self, *arguments):
        command = [pathlib.Path(COMMAND).resolve(), *arguments]
        return subprocess.run(command, cwd=self.directory, capture_output=True, check=False)

    def test_default_output(self):
        arguments = ("report", pathlib.Path(model("voice")).resolve(), "--no-times")
        self.assertEqual(self.run_here(*arguments).returncode, 0)
        first = (self.directory / "report.html").read_text()
        self.assertTrue(first.startswith("<!DOCTYPE html>"))
        self.assertEqual(self.run_here(*arguments).returncode, 0)  # our own page is replaced
        self.write("report.html", "somebody's own page")
        done = self.run_here(*arguments)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"name another with -o", done.stderr)
        self.assertEqual((self.directory / "report.html").read_text(), "somebody's own page")

    def test_names_are_escaped(self):
        name = "<img src=x onerror=alert(1)>&\"'.bantam"
        (self.directory / name).symlink_to(pathlib.Path(model("voice")).resolve())
        self.ok("report", self.directory / name, model("voice"), "--no-times", "-o", self.directory / "page.html")
        page = (self.directory / "page.html").read_text()
        self.assertNotIn("<img", page)
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;", page)

    def test_refuses_all_at_once(self):
        good = pathlib.Path(model("voice")).read_bytes()
        foreign = self.write("foreign.bantam", b"no model" * 100)
        cut = self.write("cut.bantam", good[: len(good) // 2])
        target = self.directory / "page.html"
        self.fails(
            3, "report", model("voice"), "nowhere.bantam", foreign, cut, "--source", "no-such-directory", "-o", target,
            says=["nowhere.bantam", "foreign.bantam", "cut.bantam", "no-such-directory"],
        )  # fmt: skip
        self.fails(4, "report", foreign, cut, "-o", target, says=["foreign.bantam", "cut.bantam"])
        tasks = [model(name) for name in ("voice", "bert-tag", "bert-answer")]
        message = self.fails(5, "report", *tasks, "--data", self.data(), "-o", target, says=["bert-tag", "bert-answer"])
        self.assertEqual(message.count("cannot be scored"), 2)
        self.fails(
            4, "report", model("voice"), "--data", self.write("t.jsonl", '{"text": "a"}\n'), says=["no known layout"]
        )
        self.fails(4, "report", model("voice"), "--data", self.write("e.jsonl", ""), says=["no example"])
        self.fails(4, "report", model("voice"), "--tokens", "65", "-o", target, says=["at most 64"])
        self.fails(2, "report", model("voice"), "--metric", "f1", "-o", target, says=["goes with --data"])
        names = self.fails(
            2, "report", model("voice"), "--data", self.data(), "--metric", "f1", "--no-times", "-o", target
        )
        self.assertIn("slot_f1", names)
        self.fails(2, "report", model("voice"), "--no-times", "--tokens", "8", "-o", target)
        self.fails(2, "report", model("voice"), "-o", model("voice"), says=["that is an input"])
        self.fails(3, "report", model("voice"), "-o", self.directory / "no" / "page.html")
        self.fails(2, "report", model("voice"), "--data", "-", "-o", target, says=["save it"])
        self.fails(2, "report")
        self.assertEqual({path.name for path in self.directory.glob("page*")}, set())

    def test_full_disk_leaves_the_old_page(self):
        target = self.write("page.html", "old")
        # A limit on the size of files stands in for the full disk.
        command = shlex.join([COMMAND, "report", model("voice"), "--no-times", "-o", target])
        done = subprocess.run(
            ["sh", "-c", f"trap '' XFSZ; ulimit -f 8; exec {command}"], capture_output=True, timeout=300, check=False
        )
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(pathlib.Path(target).read_text(), "old")
        self.assertEqual({path.name for path in self.directory.iterdir()}, {"page.html"})


if __name__ == "__main__":
    unittest.main()

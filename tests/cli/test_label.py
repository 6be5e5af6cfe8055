"""Bulk labelling: records with answers, shards, runs that are killed, records that are wrong."""

import csv
import fcntl
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import unittest

from support import COMMAND, SOURCE, CommandTest, bantam, model


class Label(CommandTest):
    def records(self, count):
        words = ["play", "jazz", "wake me", "at seven", "book", "a table", "rome", "weather", "\u00e9t\u00e9"]
        pick = random.Random(3)
        return [
            {"id": i, "text": " ".join(pick.choices(words, k=pick.randint(1, 14))), "more": {"x": 1.50}}
            for i in range(count)
        ]

    def input(self, count=700):
        rows = self.records(count)
        lines = "".join(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n" * (1 + i % 3) for i, row in enumerate(rows))
        return rows, self.write("in.jsonl", lines.encode())

    def label(self, name, path, *more):
        out = str(self.directory / name)
        self.ok("label", model("voice"), path, "-o", out, *more)
        return pathlib.Path(out).read_bytes()

    def test_records_keep_their_bytes_and_get_the_answers_of_run(self):
        rows, path = self.input(300)
        whole = self.label("out.jsonl", path, "--top", "5")
        said = [json.loads(line) for line in self.ok("run", model("voice"), "--file", path, "--json").splitlines()]
        lines = whole.decode().splitlines()
        given = [line for line in pathlib.Path(path).read_text().splitlines() if line]
        self.assertEqual(len(lines), len(rows))
        for line, source, answer in zip(lines, given, said, strict=True):
            self.assertTrue(line.startswith(source[:-1] + ', "bantam": {'), line)
            for name in ("schema", "text"):
                answer.pop(name)
            self.assertEqual(json.loads(line)["bantam"], answer)
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.jsonl", "out.jsonl"])

    def test_shards_one_after_the_other_are_the_whole(self):
        _, path = self.input()
        whole = self.label("out.jsonl", path)
        self.assertEqual(whole.count(b"\n"), 700)
        for shards in (1, 2, 7, 50):
            parts = [self.label(f"{shards}-{i}", path, "--shard", f"{i}/{shards}") for i in range(1, shards + 1)]
            self.assertEqual(b"".join(parts), whole, shards)
            self.assertGreaterEqual(sum(1 for part in parts if part), min(shards, 40))
        self.assertEqual(self.label("threads.jsonl", path, "--threads", "2"), whole)

    def test_tables(self):
        rows = [{"id": str(i), "utterance": f'play "{i}",\njazz'} for i in range(150)]
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, ["id", "utterance"])
        writer.writeheader()
        writer.writerows(rows)
        path = self.write("in.csv", buffer.getvalue())
        whole = self.label("out.csv", path)
        table = list(csv.DictReader(io.StringIO(whole.decode())))
        self.assertEqual([{key: row[key] for key in ("id", "utterance")} for row in table], rows)
        said = self.ok("run", model("voice"), "--file", path, "--json").splitlines()
        for row, line in zip(table, said, strict=True):
            answer = json.loads(line)
            refused = answer.get("out_of_scope", False)
            self.assertEqual(row["bantam_label"], "out_of_scope" if refused else answer["intent"]["label"])
            self.assertEqual(json.loads(row["bantam_score"]), answer["intent"]["score"])
            self.assertEqual(json.loads(row["bantam"])["slots"], answer["slots"])
        parts = [self.label(f"p{i}.csv", path, "--shard", f"{i}/4") for i in range(1, 5)]
        self.assertEqual(b"".join(parts), whole)
        lines = self.label("out.jsonl", path, "--text", "id", "--as", "said").decode().splitlines()
        self.assertEqual(list(json.loads(lines[0])), ["id", "utterance", "said"])
        said = json.loads(self.ok("run", model("voice"), "0", "--json", "--top", "1"))
        self.assertEqual(json.loads(lines[0])["said"]["labels"], said["labels"])
        other = self.write("other.csv", "a,b\n1,play jazz\n")
        self.assertIn(b"PlayMusic", self.label("other.jsonl", other, "--text", "b"))
        says = ["no known field (a, b)", "by --text"]
        self.fails(4, "label", model("voice"), other, "-o", self.directory / "x.jsonl", says=says)
        texts = self.write("in.txt", "play jazz\n\nbook a table\n")
        found = [json.loads(line)["text"] for line in self.label("txt.jsonl", texts).decode().splitlines()]
        self.assertEqual(found, ["play jazz", "book a table"])

    def test_a_killed_run_goes_on(self):
        _, path = self.input(20000)
        out = str(self.directory / "out.jsonl")
        command = [COMMAND, "label", model("voice"), path, "-o", out, "--resume"]
        whole = self.label("whole.jsonl", path)
        stops = 0
        for wait in (0.15, 0.3, 0.3, 0.2, 0.25):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            stops += process.wait() == -signal.SIGKILL
            process.stderr.close()
        self.assertGreater(stops, 0)
        if not os.path.exists(out):
            self.assertTrue(os.path.exists(out + ".part"))
            with open(out + ".part", "ab") as part:
                part.write(b'{"half a li')
            message = self.fails(2, "label", model("voice"), path, "-o", out, says=["--resume"])
            self.assertIn(".part", message)
            self.ok(*command[1:])
        self.assertEqual(pathlib.Path(out).read_bytes(), whole)
        self.assertFalse(os.path.exists(out + ".part") or os.path.exists(out + ".state"))
        before = os.stat(out).st_mtime_ns
        self.assertEqual(self.line(*command[1:], "--json")["records"], 0)
        self.assertEqual(os.stat(out).st_mtime_ns, before)

    def test_a_beginning_that_is_not_this_runs(self):
        lines = ['{"text": "play jazz"}'] * 400 + ["{"]
        path = self.write("in.jsonl", "\n".join(lines))
        out = str(self.directory / "out.jsonl")
        self.fails(4, "label", model("voice"), path, "-o", out, says=["line 401", "--on-error"])
        self.assertEqual(pathlib.Path(out + ".part").read_bytes().count(b"\n"), 400)
        self.assertFalse(os.path.exists(out))
        for more in (["--top", "2"], ["--as", "x"], ["--shard", "1/2"], ["--strict"], ["--stride", "2"]):
            said = [f"was begun with another {more[0]};", "remove"]
            self.fails(2, "label", model("voice"), path, "-o", out, "--resume", *more, says=said)
        more = ["--top", "2", "--text", "text"]
        self.fails(2, "label", model("voice"), path, "-o", out, "--resume", *more, says=["another --text, --top;"])
        self.fails(2, "label", model("voice-f32"), path, "-o", out, "--resume", says=["another model;"])
        self.fails(4, "label", model("voice"), path, "-o", out, "--resume", says=["line 401"])
        self.assertEqual(pathlib.Path(out + ".part").read_bytes().count(b"\n"), 400)
        pathlib.Path(out + ".state").write_text("{")
        self.fails(4, "label", model("voice"), path, "-o", out, "--resume", says=[".state"])
        pathlib.Path(out + ".part").unlink()
        self.fails(4, "label", model("voice"), path, "-o", out, says=["line 401"])

    def test_a_bad_record_costs_nothing_of_the_run(self):
        rows = [f'{{"text": "play jazz {i}"}}' for i in range(300)]
        path = self.write("in.jsonl", "\n".join([*rows, "{", *rows]))
        whole = {way: self.label(way, path, "--on-error", way) for way in ("keep", "skip")}
        out = self.directory / "out.jsonl"
        for way, wanted in whole.items():
            message = self.fails(4, "label", model("voice"), path, "-o", out, says=["line 301", "--resume"])
            self.assertIn("--on-error keep or skip", message)
            os.utime(path)  # fetched again: other times, the same bytes
            said = self.line("label", model("voice"), path, "-o", out, "--resume", "--on-error", way, "--json")
            self.assertEqual((said["records"], said["failed"], said["already_complete"]), (601, 1, False))
            self.assertEqual(said["resumed"], 300)
            self.assertEqual(out.read_bytes(), wanted)
            out.unlink()

    def test_an_input_that_has_changed_is_not_continued(self):
        good, bad = '{"text": "play jazz"}\n' * 300, "{\n"
        for name, first, second in (
            ("in.jsonl", good + bad, good.replace("jazz", "rock", 1) + bad),  # a record that was read, the same size
            ("in.jsonl", good + bad, good + bad + good),
            ("in.csv", "text\n" + "play jazz\n" * 300 + '"', "text\nplay rock\n" + "play jazz\n" * 299 + '"'),
        ):
            path = self.write(name, first)
            out = self.directory / "out.jsonl"
            self.fails(4, "label", model("voice"), path, "-o", out, says=["--resume"])
            self.write(name, second)
            self.fails(2, "label", model("voice"), path, "-o", out, "--resume", says=["another input;"])
            self.write(name, first)
            self.fails(4, "label", model("voice"), path, "-o", out, "--resume", says=["line 30"])  # the same again
            for end in (".part", ".state"):
                pathlib.Path(f"{out}{end}").unlink()

    def test_a_run_without_a_record_leaves_nothing(self):
        path = self.write("in.jsonl", '{"text": "play jazz", "id": 1}\n')
        out = self.directory / "out"
        for code, more, says in (
            (4, ["-o", out, "--text", "nope"], ['field "nope" is missing, which --text names']),
            (4, ["-o", out, "--pair", "nope"], ["--pair names"]),
            (4, ["-o", out, "--text", os.fsdecode(b"\xff")], ["is missing, which --text names"]),
            (2, ["-o", f"{out}.csv"], ["not a table"]),
            (4, ["-o", out, "--as", "id"], ["there already"]),
        ):
            self.fails(code, "label", model("voice"), path, *more, says=says)
            self.assertEqual(os.listdir(self.directory), ["in.jsonl"])
        pathlib.Path(f"{out}.part").touch()  # of a run that was killed before its first record
        self.ok("label", model("voice"), path, "-o", out)
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.jsonl", "out"])

    def test_work_that_is_done_is_said_to_be(self):
        _, path = self.input(3)
        whole = self.label("out.jsonl", path)
        again = ("label", model("voice"), path, "-o", self.directory / "out.jsonl", "--resume")
        self.assertIn(b"is complete already", self.ok(*again))
        self.assertIs(self.line(*again, "--json")["already_complete"], True)
        self.assertEqual((self.directory / "out.jsonl").read_bytes(), whole)

    def test_names_of_standard_output(self):
        _, path = self.input(200)
        whole = self.label("whole.jsonl", path)
        for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            done = bantam("label", model("voice"), path, "-o", name)  # a pipe
            self.assertEqual((done.returncode, done.stdout), (0, whole), done.stderr)
            self.assertIn(b"200 records", done.stderr)
            with open(self.directory / "there", "wb") as file:
                file.write(b"before\n")
                file.flush()
                done = bantam("label", model("voice"), path, "-o", name, stdout=file)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.directory / "there").read_bytes(), b"before\n" + whole)
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.jsonl", "there", "whole.jsonl"])
        for command in (
            ["convert", SOURCE / "models" / "voice-commands", "--parity", "none"],
            ["index", model("sentence-mean"), path],
        ):
            written = bantam(*command, "-o", "/dev/stdout")
            self.assertEqual(written.returncode, 0, written.stderr)
            self.ok(*command, "-o", self.directory / "file")
            self.assertEqual(written.stdout, (self.directory / "file").read_bytes())
        self.ok("label", model("voice"), path, "-o", "/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        large = self.write("large.jsonl", '{"text": "play jazz"}\n' * 5000)
        label = f"'{COMMAND}' label '{model('voice')}' '{large}' -o /dev/stdout"
        done = subprocess.run(["sh", "-c", f"{label} | head -n 1"], capture_output=True, check=True)
        self.assertEqual((done.stdout.count(b"\n"), done.stderr), (1, b""))

    def test_what_is_no_file_is_written_to(self):
        _, path = self.input(200)
        whole = self.label("whole.jsonl", path)
        done = bantam("label", model("voice"), path, "-o", "-")
        self.assertEqual((done.returncode, done.stdout), (0, whole))
        self.assertIn(b"200 records", done.stderr)
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        self.ok("label", model("voice"), path, "-o", pipe)
        reader.join()
        self.assertEqual(read, [whole])
        self.assertTrue(pipe.is_fifo())
        self.fails(2, "label", model("voice"), path, "-o", "-", "--resume", says=["--resume", "standard output"])
        self.assertEqual(bantam("label", model("voice"), path, "-o", "/dev/full").returncode, 7)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.jsonl", "pipe", "whole.jsonl"])

    def test_links_and_folders(self):
        _, path = self.input(3)
        whole = self.label("whole.jsonl", path)
        (self.directory / "there").mkdir()
        link = self.directory / "link"
        link.symlink_to("there/real")
        for _ in range(2):  # a link to nothing yet, and to a file
            self.ok("label", model("voice"), path, "-o", link)
            self.assertTrue(link.is_symlink())
            self.assertEqual((self.directory / "there" / "real").read_bytes(), whole)
        self.assertEqual(os.listdir(self.directory / "there"), ["real"])
        self.fails(3, "label", model("voice"), path, "-o", self.directory / "there", says=["there", "directory"])
        self.assertFalse((self.directory / "there.part").exists())

    def test_names_beside_the_output_are_not_followed(self):
        _, path = self.input(3)
        out = self.directory / "out.jsonl"
        part, state, victim = (pathlib.Path(f"{out}{end}") for end in (".part", ".state", ".victim"))
        part.symlink_to(victim)
        for more in ([], ["--resume"]):
            self.fails(3, "label", model("voice"), path, "-o", out, *more, says=[".part", "link"])
            self.assertFalse(victim.exists())
        victim.write_bytes(b"precious")
        for make in (lambda: part.symlink_to(victim), lambda: os.link(victim, part), lambda: os.mkfifo(part)):
            part.unlink()
            make()
            self.fails(3, "label", model("voice"), path, "-o", out, "--resume", says=[".part"])
            self.assertEqual(victim.read_bytes(), b"precious")
        part.unlink()
        state.symlink_to(victim)
        lines = self.write("long.jsonl", '{"text": "play jazz"}\n' * 200 + "{\n")
        self.fails(4, "label", model("voice"), lines, "-o", out, says=["line 201"])  # keeps a state
        self.assertEqual(victim.read_bytes(), b"precious")

    def test_two_at_once(self):
        _, path = self.input(3)
        out = self.directory / "out.jsonl"
        with open(f"{out}.part", "wb") as part:
            fcntl.flock(part, fcntl.LOCK_EX)
            for more in ([], ["--resume"]):
                message = self.fails(2, "label", model("voice"), path, "-o", out, *more, says=["another process"])
                self.assertNotIn("remove", message)

    def test_a_state_that_is_none(self):
        lines = self.write("in.jsonl", '{"text": "play jazz"}\n' * 200 + "{\n")
        out = str(self.directory / "out.jsonl")
        self.fails(4, "label", model("voice"), lines, "-o", out, says=["line 201"])
        state = json.loads(pathlib.Path(out + ".state").read_text())
        for name, value in (("run", 7), ("run", None), ("run", []), ("bytes", "x"), ("records", -1), ("failed", 1.5)):
            pathlib.Path(out + ".state").write_text(json.dumps({**state, name: value}))
            self.fails(4, "label", model("voice"), lines, "-o", out, "--resume", says=[".state", "remove"])
        pathlib.Path(out + ".state").write_text("[" * 100000)
        self.fails(4, "label", model("voice"), lines, "-o", out, "--resume", says=["64"])

    def test_records_that_are_wrong(self):
        good = '{"text": "play jazz"}'
        lines = [good, "nonsense", '{"x": 1}', "{}", '{"text": 5}', good, '{"text": "a", "bantam": 1}', "[1]", good]
        path = self.write("in.jsonl", "\n".join(lines))
        out = self.directory / "kept.jsonl"
        said = self.line("label", model("voice"), path, "-o", out, "--on-error", "keep", "--json")
        self.assertEqual((said["records"], said["failed"]), (9, 6))
        kept = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(["error" in row["bantam"] for row in kept], [line != good for line in lines])
        self.assertEqual([row["bantam"].get("line") for row in kept], [None, 2, 3, 4, 5, None, 7, 8, None])
        self.assertEqual(kept[2]["x"], 1)
        parts = [self.label(f"k{i}", path, "--shard", f"{i}/3", "--on-error", "keep") for i in (1, 2, 3)]
        self.assertEqual(b"".join(parts), out.read_bytes())
        skipped = self.label("skipped.jsonl", path, "--on-error", "skip").decode().splitlines()
        self.assertEqual([json.loads(line)["text"] for line in skipped], ["play jazz"] * 3)
        table = self.write("in.csv", 'text,id\nplay jazz,1\na,b,c\n"open\n')
        rows = list(csv.DictReader(io.StringIO(self.label("t.csv", table, "--on-error", "keep").decode())))
        self.assertEqual([bool(row["bantam_error"]) for row in rows], [False, True, True])
        self.assertIn("line 3", rows[1]["bantam_error"])
        lines = "".join(json.dumps({"text": "ba [MASK]" if i % 60 else "none"}) + "\n" for i in range(300))
        masks = self.write("masks.jsonl", lines)
        out = self.directory / "masks.out"
        self.ok("label", model("bert-fill"), masks, "-o", out, "--on-error", "keep")
        wrong = [i for i, line in enumerate(out.read_text().splitlines()) if "error" in json.loads(line)["bantam"]]
        self.assertEqual(wrong, list(range(0, 300, 60)))
        self.assertNotIn(str(model("bert-fill")), out.read_text())

    def test_options_that_are_wrong(self):
        _, path = self.input(3)
        out = self.directory / "out.jsonl"
        for shard in ("0/2", "3/2", "1", "a/b", "1/", "/2", "1/2/3", "-1/2", ""):
            self.fails(2, "label", model("voice"), path, "-o", out, "--shard", shard, says=["--shard"])
        self.fails(2, "label", model("voice"), path, "-o", path, says=["in.jsonl"])
        self.fails(2, "label", model("voice"), "-", "-o", out, "--shard", "1/2", says=["standard input"])
        self.fails(2, "label", model("voice"), path, "-o", self.directory / "o.csv", says=["not a table"])
        self.fails(5, "label", model("bert-choose"), path, "-o", out, says=["choose"])
        self.fails(3, "label", model("voice"), self.directory / "none", "-o", out, says=["none"])
        self.fails(3, "label", model("voice"), path, "-o", self.directory / "no" / "out", says=["out.part"])
        self.fails(4, "label", model("bert-answer"), path, "-o", out, says=["line 1", "--pair"])
        pairs = self.write("pairs.jsonl", '{"q": "ba", "c": "ko lan"}\n')
        self.ok("label", model("bert-answer"), pairs, "-o", out.with_suffix(".a"), "--text", "q", "--pair", "c")
        self.assertIn("answerable", json.loads(out.with_suffix(".a").read_text())["bantam"])
        self.ok("label", model("voice"), "-", "-o", self.directory / "s", stdin=b"play jazz\n")
        self.assertEqual(bantam("label", model("voice"), path, "-o", "/dev/full/x").returncode, 3)


if __name__ == "__main__":
    unittest.main()

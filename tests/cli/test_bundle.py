"""bundle: apps answer as the command does, wherever they lie, and say so when they are damaged."""

import json
import os
import pathlib
import shlex
import shutil
import stat
import struct
import subprocess
import unittest

from support import COMMAND, CommandTest, bantam, model

EMULATOR = shlex.split(os.environ.get("BANTAM_EMULATOR", ""))
RUNNER = pathlib.Path(os.environ.get("BANTAM_RUNNER") or pathlib.Path(COMMAND).resolve().parent / "bantam-app")
TEXTS = b"play some jazz\nwake me at seven\n\xff\nbook a table in rome\n"
# Golden model, the command that its app is, arguments.
TASKS = (
    ("voice", "run", ["play some jazz by miles davis", "--top", "2"]),
    ("bert-classify", "classify", ["ba di", "--threads", "2"]),
    ("bert-tag", "tag", ["ba di", "--offsets", "chars"]),
    ("bert-answer", "answer", ["--question", "ba", "--context", "di do"]),
    ("sentence-mean", "embed", ["ba di", "ba"]),
    ("bert-fill", "fill", ["ba [MASK]", "--top", "3"]),
    ("bert-choose", "choose", ["ba", "--pair", "di", "--pair", "do"]),
    ("gpt2-text", "generate", ["ba", "--max-new", "4"]),
    ("bart-text", "generate", ["the cat", "--max-new", "4"]),
)


@unittest.skipUnless(RUNNER.exists(), "this build has no bantam-app")
class Bundle(CommandTest):
    def app(self, name, *more):
        path = self.directory / f"{name}-app"
        self.ok("bundle", model(name), "-o", path, "--quiet", *more)
        return path

    def start(self, path, *arguments, stdin=None):
        return subprocess.run(
            [*EMULATOR, str(path), *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=300,
            check=False,
        )

    def refuses(self, path, code, *says):
        done = self.start(path, "ba")
        message = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (code, b""), message)
        for words in says:
            self.assertIn(words, message)

    def test_apps_answer_as_the_command_of_their_task_does(self):
        for name, command, arguments in TASKS:
            with self.subTest(name=name):
                app = self.app(name)
                for more in ([], ["--json"]):
                    done = self.start(app, *arguments, *more)
                    expected = bantam(command, model(name), *arguments, *more)
                    self.assertEqual(expected.returncode, 0, expected.stderr)
                    self.assertEqual(done.stdout, expected.stdout)
                    self.assertEqual(done.stderr, expected.stderr)

    def test_streams_and_exit_codes(self):
        app = self.app("voice")
        done = self.start(app, "--json", stdin=TEXTS)
        expected = bantam("run", model("voice"), "--json", stdin=TEXTS)
        self.assertEqual((done.returncode, done.stdout), (expected.returncode, expected.stdout))
        self.assertEqual(done.stdout.count(b"PlayMusic"), expected.stdout.count(b"PlayMusic"))
        self.assertIn(b"PlayMusic", done.stdout)
        for arguments in (
            ["--foo"],
            ["x", "--isa", "abacus"],
            ["x", "--file", "none.txt"],
            ["--batch", "0", "x"],
            [],
        ):
            done = self.start(app, *arguments)
            expected = bantam("run", model("voice"), *arguments)
            self.assertEqual(done.returncode, expected.returncode, arguments)
            self.assertTrue(done.stderr.startswith(b"voice-app: ") or not arguments, done.stderr)
        self.assertIn(b"voice-app --help lists the options", self.start(app, "--foo").stderr)

    def test_help_speaks_of_the_app(self):
        text = self.start(self.app("bert-tag"), "--help-all").stdout.decode()
        self.assertIn("Usage: bert-tag-app [TEXT...] [OPTIONS]", text)
        self.assertIn('\n  bert-tag-app "Ada Lovelace lived in London" --json\n', text)
        self.assertIn("Exit codes: ", text)
        for absent in ("FILE.bantam", "ner.bantam", "gliner", "bantam tag"):
            self.assertNotIn(absent, text)
        version = self.start(self.directory / "bert-tag-app", "--version").stdout.decode().split()
        self.assertEqual(version, ["bert-tag-app", self.ok("--version").decode().split()[1]])

    def test_as_another_command(self):
        app = self.app("sentence-mean", "--as", "similar")
        texts = ["ba", "di", "do"]
        self.assertEqual(
            self.start(app, *texts).stdout,
            self.ok("similar", model("sentence-mean"), *texts),
        )
        app = self.app("voice", "--as", "tokenize")
        self.assertEqual(self.start(app, "play").stdout, self.ok("tokenize", model("voice"), "play"))
        out = self.directory / "none"
        message = self.fails(
            5,
            "bundle",
            model("bert-tag"),
            "-o",
            out,
            "--as",
            "embed",
            says=["--as embed", "tag"],
        )
        self.assertIn("leave the option out", message)
        self.fails(
            5,
            "bundle",
            model("bert-tag"),
            "-o",
            out,
            "--as",
            "generate",
            says=["--as generate"],
        )
        self.fails(2, "bundle", model("bert-tag"), "-o", out, "--as", "convert", says=["--as"])
        self.assertFalse(out.exists())

    def test_apps_are_files_for_other_commands(self):
        app = self.app("voice")
        (made,) = self.lines("bundle", model("voice"), "-o", self.directory / "same", "--json")
        self.assertEqual(app.read_bytes(), (self.directory / "same").read_bytes())
        self.assertEqual(made["bytes"], app.stat().st_size)
        self.assertEqual(made["model_bytes"], os.path.getsize(model("voice")))
        self.assertEqual(made["runner_bytes"], RUNNER.stat().st_size)
        self.assertEqual(made["command"], "run")
        self.assertEqual(self.line("verify", app, "--json")["bytes"], made["model_bytes"])
        self.assertEqual(
            self.ok("run", app, "play jazz", "--json"),
            self.ok("run", model("voice"), "play jazz", "--json"),
        )
        self.assertEqual(
            self.ok("run", app, "--json", stdin=b"play\n"),
            self.start(app, "--json", stdin=b"play\n").stdout,
        )
        # ... and for this one.
        self.ok("bundle", app, "-o", self.directory / "again")
        self.assertEqual((self.directory / "again").read_bytes(), app.read_bytes())

    def test_the_model_is_there_as_it_is(self):
        content = self.app("voice").read_bytes()
        magic, version, _, offset, size = struct.unpack("<8sIIQQ", content[-64:-32])
        self.assertEqual((magic, version, offset % 4096), (b"bantamap", 1, 0))
        self.assertEqual(content[offset : offset + size], pathlib.Path(model("voice")).read_bytes())
        self.assertEqual(content[: RUNNER.stat().st_size], RUNNER.read_bytes())

    def test_wherever_it_lies(self):
        app = self.app("voice")
        self.assertEqual(stat.S_IMODE(app.stat().st_mode) & 0o111, 0o111 & ~self.mask())
        expected = self.start(app, "play jazz", "--json").stdout
        self.assertTrue(expected)
        folder = self.directory / "elsewhere"
        folder.mkdir()
        copy = folder / "Wörter mit Platz"
        shutil.copy(app, copy)
        copy.chmod(0o555)
        folder.chmod(0o555)
        self.addCleanup(folder.chmod, 0o755)
        link = self.directory / "link"
        link.symlink_to(copy)
        for path in (copy, link):
            self.assertEqual(self.start(path, "play jazz", "--json").stdout, expected, path)
        self.assertIn(b"Usage: link ", self.start(link, "--help").stdout)

    def mask(self):
        mask = os.umask(0o022)
        os.umask(mask)
        return mask

    def test_damaged_apps(self):
        app = self.app("voice")
        content = app.read_bytes()
        size = len(content)
        model_at = struct.unpack("<Q", content[-48:-40])[0]
        damaged = self.directory / "damaged"

        def put(changed):
            damaged.write_bytes(changed)
            damaged.chmod(0o755)

        for length in (RUNNER.stat().st_size, model_at + 4096, size - 64, size - 1):
            put(content[:length])
            self.refuses(damaged, 4, "damaged: ", "cut short", "strip")
            self.fails(4, "run", damaged, "ba", says=["cut short"])
        # Behind the program: its own bytes may do anything before they are looked at.
        middle = (model_at + size) // 2
        for place in (
            model_at - 1,
            model_at + 5,
            middle,
            *(size - end for end in (65, 52, 48, 40, 30, 16, 8, 4, 2)),
        ):
            put(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
            self.refuses(damaged, 4, "changed")
            self.fails(4, "verify", damaged, says=["changed"])
        put(content[:-56] + b"\2" + content[-55:])
        self.refuses(damaged, 5, "an app of version 2")
        put(content + b"more")
        self.refuses(damaged, 4, "cut short")
        put(content[:model_at] + content[model_at + 4096 :])
        self.refuses(damaged, 4, "changed")
        self.refuses(RUNNER, 4, "bantam-app: ", "without a model")

    @unittest.skipUnless(shutil.which("strip") and not EMULATOR, "needs strip")
    def test_stripped(self):
        app = self.app("voice")
        done = subprocess.run(["strip", app], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refuses(app, 4, "strip has dropped the model")
        runner = self.directory / "runner"
        subprocess.run(["strip", "-o", runner, RUNNER], check=True)
        app = self.app("voice", "--runner", runner)
        self.assertTrue(self.start(app, "play jazz").stdout.startswith(b"PlayMusic"))

    def test_what_is_no_runner(self):
        out = self.directory / "none"
        voice = model("voice")
        self.fails(
            3,
            "bundle",
            voice,
            "-o",
            out,
            "--runner",
            self.directory / "absent",
            says=["--runner", "absent"],
        )
        self.fails(4, "bundle", voice, "-o", out, "--runner", voice, says=["not a program"])
        self.fails(
            4,
            "bundle",
            voice,
            "-o",
            out,
            "--runner",
            self.app("voice"),
            says=["has a model already"],
        )
        program = RUNNER.read_bytes()
        header = program[:64]
        for spoiled in (
            program[:40],
            program[:1000],
            program[: len(program) // 2],
            program[:-1],
            b"",
            header[:5] + b"\2" + program[6:],
            header[:4] + b"\1" + program[5:],
            program.replace(b"\1\0\0\0bantam\0\0", b"\1\0\0\0bantem\0\0"),
            header[:32] + b"\xff" * 8 + program[40:],
        ):
            path = self.write("spoiled", spoiled)
            self.fails(4, "bundle", voice, "-o", out, "--runner", path, says=["not a program"])
        newer = self.write("newer", program.replace(b"\1\0\0\0bantam\0\0\1", b"\1\0\0\0bantam\0\0\2"))
        self.fails(5, "bundle", voice, "-o", out, "--runner", newer, says=["another version"])
        self.fails(2, "bundle", voice, "-o", voice, says=["input"])
        self.fails(4, "bundle", self.write("text", "text"), "-o", out)
        self.assertFalse(out.exists())

    def test_it_is_mapped_from_its_own_file(self):
        if EMULATOR or not pathlib.Path("/proc/self/maps").exists():
            self.skipTest("needs /proc of the machine")
        app = self.app("voice")
        with subprocess.Popen([str(app)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(b"play jazz\n")
            process.stdin.flush()
            self.assertIn(b"play jazz", process.stdout.readline())
            maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
            process.stdin.close()
            process.stdout.read()
        whole = [line for line in maps.splitlines() if line.endswith(str(app)) and " r--p 00000000 " in line]
        sizes = [int(end, 16) - int(begin, 16) for begin, end in (line.split()[0].split("-") for line in whole)]
        self.assertIn((app.stat().st_size + 4095) // 4096 * 4096, sizes, maps)
        self.assertFalse([line for line in maps.splitlines() if line.endswith(".so.6")])


class WithoutRunner(CommandTest):
    def test_it_says_what_is_missing(self):
        if EMULATOR:
            self.skipTest("starts the command itself")
        command = self.directory / "bantam"
        shutil.copy(COMMAND, command)
        done = subprocess.run(
            [command, "bundle", model("voice"), "-o", "none"],
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"bantam-app", done.stderr)
        self.assertEqual(json.loads(self.ok("version", "--json"))["schema"], "bantam.version/1")


if __name__ == "__main__":
    unittest.main()

"""The command line's own descriptions: help, version, wrong commands and options, shell completion, manual pages."""

import os
import re
import shutil
import subprocess
import unittest

from support import CommandTest, bantam, model

GREETING = "bantam turns a trained transformer into one small file"


def commands():
    """Names of all commands, as the overview lists them."""
    listed = bantam("--help").stdout.decode()
    body = listed.split("Options\n")[0]
    return re.findall(r"^  ([a-z]+) {2,}\S", body, re.MULTILINE)


class Help(CommandTest):
    def test_every_command_is_listed_and_explained(self):
        names = commands()
        for expected in (
            "convert",
            "run",
            "classify",
            "embed",
            "eval",
            "inspect",
            "help",
            "completion",
            "man",
        ):
            self.assertIn(expected, names)
        for name in names:
            text = self.ok(name, "--help").decode()
            self.assertIn(f"Usage: bantam {name}", text)
            self.assertEqual(text, self.ok("help", name).decode())
            self.assertTrue(text.rstrip().split("Examples:\n")[-1].startswith("  "), name)

    def test_width(self):
        for columns, widest in ((None, 80), ("60", 60), ("70", 70), ("40", 60)):
            environment = {"COLUMNS": columns or ""}
            for name in commands():
                for line in self.ok(name, "--help-all", environment=environment).decode().splitlines():
                    # An argument of an example cannot be divided.
                    if not line.startswith("      --") and len(line.split()) > 1:
                        self.assertLessEqual(len(line), widest, (name, line))
        wide = self.ok("convert", "--help-all", environment={"COLUMNS": "140"}).decode()
        self.assertGreater(max(map(len, wide.splitlines())), 100)

    def test_usual_options(self):
        """Short help is a page; what it leaves out is in --help-all, and nothing else is."""
        for name in commands():
            short, whole = (self.ok(name, flag).decode() for flag in ("--help", "--help-all"))
            options = [set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.M)) for text in (short, whole)]
            self.assertLessEqual(options[0], options[1], name)
            self.assertLessEqual(len(options[0]), 17, name)
            left_out = re.search(r"There are (\d+) more options: bantam (\S+)\s+--help-all", short)
            self.assertEqual(int(left_out[1]) if left_out else 0, len(options[1] - options[0]), name)
            self.assertEqual(left_out[2] if left_out else name, name)
            self.assertEqual(whole, self.ok("help", name, "--all").decode())

    def test_words_of_the_house(self):
        for name in commands():
            text = self.ok(name, "--help-all").decode()
            for word in (
                "UINT",
                "INT:",
                "FLOAT",
                " in [",
                "TEXT:",
                "Excludes",
                "REQUIRED",
                "{",
            ):
                self.assertNotIn(word, text, name)

    def test_options_that_do_not_apply_are_not_listed(self):
        embed = self.ok("embed", "--help").decode()
        for option in ("--top", "--question", "--stride", "--pair"):
            self.assertNotIn(option, embed)
        self.assertIn("--stride", self.ok("tag", "--help").decode())
        for arguments in (
            ("embed", "--top", "3"),
            ("similar", "--top", "1"),
            ("embed", "--question", "q"),
        ):
            message = self.fails(2, arguments[0], model("sentence-mean"), "ba", *arguments[1:])
            self.assertIn(
                f"{arguments[1]}: does not go with {arguments[0]}; it is an option of",
                message,
            )

    def test_no_command(self):
        done = bantam()
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(GREETING, done.stderr.decode())
        self.assertIn(GREETING, self.ok("help").decode())

    def test_version(self):
        version = self.ok("version").decode().splitlines()[0]
        self.assertEqual(self.ok("--version").decode().splitlines(), [version])
        self.assertEqual(self.ok("-V").decode().splitlines(), [version])


class Mistakes(CommandTest):
    def test_commands(self):
        for wrong, meant in (
            ("verison", "version"),
            ("classfy", "classify"),
            ("RUN", "run"),
            ("sensitiv", "sensitivity"),
        ):
            message = self.fails(2, wrong)
            self.assertIn(f'"{wrong}" is not a command; did you mean {meant}? bantam --help', message)
        for wrong in ("xyzzy", "", "go"):
            message = self.fails(2, wrong, says=["is not a command", "bantam --help"])
            self.assertNotIn("did you mean", message)
        self.fails(2, "help", "classfy", says=["did you mean classify?"])

    def test_options(self):
        path = model("bert-classify")
        message = self.fails(2, "classify", path, "--tpo", "3", "ba")
        self.assertIn(
            "--tpo: unknown option; did you mean --top? bantam classify --help",
            message,
        )
        self.fails(
            2,
            "convert",
            "somewhere",
            "--weihgts",
            "int4",
            says=["did you mean --weights?", "convert --help"],
        )
        self.fails(2, "--qiet", says=["--qiet", "did you mean --quiet?"])
        self.fails(2, "--qiet", "version", says=["--qiet", "did you mean --quiet?"])
        self.fails(2, "--top", "3", says=["--top: ", "it is an option of run"])
        self.fails(
            2,
            "convert",
            "somewhere",
            says=["-o, --output FILE is missing", "bantam convert --help"],
        )
        self.fails(2, "classify", path, "ba", "--top", says=["--top: its value is missing"])
        self.fails(
            2,
            "classify",
            path,
            "ba",
            "--top",
            "abc",
            says=["--top", '"abc" is not a number'],
        )
        self.fails(
            2,
            "classify",
            path,
            "ba",
            "--batch",
            "0",
            says=["--batch: 0 is not between 1 and 4096"],
        )
        self.fails(
            2,
            "classify",
            path,
            "ba",
            "--backend",
            "ntive",
            says=["did you mean native?"],
        )
        self.fails(
            2,
            "convert",
            "x",
            "-o",
            "y",
            "--max-label-flips",
            "abc",
            says=["abc is not a share", "such as 0.02"],
        )
        self.fails(
            2,
            "convert",
            "x",
            "-o",
            "y",
            "--weights",
            "int9",
            says=["int9", ["int8", "int4", "f16", "f32"][0]],
        )
        self.fails(2, "verify", path, "another", says=['"another"', "bantam verify --help"])

    def test_files(self):
        here = {"gp.bantam": b"", "b4.bantam": b"", "voice.bantam": b""}
        for name, content in here.items():
            self.write(name, content)
        for wrong, meant in (
            ("nope.bantam", None),
            ("emb", None),
            ("voise.bantam", "voice.bantam"),
            ("voice", "voice.bantam"),
        ):
            message = self.fails(3, "inspect", str(self.directory / wrong))
            self.assertEqual("did you mean" in message, meant is not None, message)
            self.assertIn(meant or "check the path", message)
        (self.directory / "dangling.bantam").symlink_to("nowhere.bantam")
        message = self.fails(
            3,
            "inspect",
            str(self.directory / "dangling.bantam"),
            says=["link", "nowhere.bantam"],
        )
        self.assertNotIn("did you mean dangling", message)
        message = self.fails(
            3,
            "run",
            str(self.directory),
            "x",
            says=["is a directory", "bantam convert"],
        )
        self.assertEqual(message.count("is a directory"), 1, message)


class Completion(CommandTest):
    def bash(self, *words, cwd=None):
        """The completions that bash offers for the last of `words`."""
        script = self.write("bantam.bash", self.ok("completion", "bash"))
        line = " ".join(f"'{word}'" for word in words)
        program = (
            f"source {script}; COMP_WORDS=(bantam {line}); COMP_CWORD={len(words)}; _bantam; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-u", "-c", program],
            capture_output=True,
            timeout=60,
            check=False,
            cwd=cwd,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().split()

    def test_bash(self):
        if shutil.which("bash") is None:
            self.skipTest("there is no bash")
        self.assertEqual(sorted(self.bash("")), sorted(commands()))
        self.assertEqual(self.bash("cl"), ["classify"])
        self.assertEqual(self.bash("--color", "always", "cl"), ["classify"])
        self.assertEqual(sorted(self.bash("convert", "x", "--weights", "int")), ["int4", "int8"])
        self.assertEqual(sorted(self.bash("convert", "x", "--weights", "=", "int")), ["int4", "int8"])
        self.assertIn("--calibrate-scores", self.bash("convert", "x", "--cal"))
        self.assertEqual(self.bash("embed", "m", "--top"), [])
        self.assertEqual(self.bash("help", "insp"), ["inspect"])
        self.assertEqual(sorted(self.bash("completion", "")), ["bash", "fish", "zsh"])
        self.assertEqual(self.bash("classify", "m", "--top", ""), [])
        for name in ("a.bantam", "b.txt"):
            self.write(name, b"")
        (self.directory / "c d").mkdir()
        self.assertEqual(self.bash("inspect", "", cwd=self.directory), ["c", "d", "a.bantam"])
        self.assertIn("b.txt", self.bash("run", "a.bantam", "--file", "b", cwd=self.directory))

    def test_zsh(self):
        script = self.write("_bantam", self.ok("completion", "zsh"))
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh")
        program = f"autoload -U compinit; compinit -D -u; source {script}; print $_comps[bantam]"
        done = subprocess.run(["zsh", "-f", "-c", program], capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"_bantam\n", b""))

    def test_fish(self):
        script = self.write("bantam.fish", self.ok("completion", "fish"))
        if shutil.which("fish") is None:
            self.skipTest("there is no fish")

        def offered(line):
            done = subprocess.run(
                ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                capture_output=True,
                timeout=60,
                check=False,
                env={**os.environ, "HOME": str(self.directory)},
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            return [row.split("\t")[0] for row in done.stdout.decode().splitlines()]

        self.assertEqual(sorted(offered("bantam ")), sorted(commands()))
        self.assertEqual(sorted(offered("bantam convert --weights int")), ["int4", "int8"])
        self.assertEqual(offered("bantam embed m --to"), [])


class ManualPages(CommandTest):
    def test_pages(self):
        pages = self.directory / "man1"
        self.assertIn(str(pages), self.ok("man", str(pages)).decode())
        written = sorted(page.name for page in pages.iterdir())
        self.assertEqual(written, sorted(["bantam.1", *(f"bantam-{name}.1" for name in commands())]))
        convert = (pages / "bantam-convert.1").read_text()
        self.assertIn("\\-\\-weights TYPE", convert)
        self.assertTrue(convert.startswith(".TH "))
        for tool in (
            ["mandoc", "-T", "lint", "-W", "warning"],
            ["groff", "-man", "-ww", "-Tutf8", "-z"],
        ):
            if shutil.which(tool[0]) is None:
                continue
            for page in sorted(pages.iterdir()):
                done = subprocess.run([*tool, str(page)], capture_output=True, timeout=60, check=False)
                # Pages carry no date, so that the same sources give the same bytes.
                said = [line for line in (done.stdout + done.stderr).splitlines() if b"missing date" not in line]
                self.assertEqual(said, [], (tool[0], page.name))

    def test_pages_that_cannot_be_written(self):
        self.fails(3, "man", self.write("file", b"") + "/man1", says=["man1"])


class Appearance(CommandTest):
    def shown(self, *arguments, **environment):
        clean = {
            name: ""
            for name in (
                "NO_COLOR",
                "CLICOLOR_FORCE",
                "CLICOLOR",
                "LC_ALL",
                "LC_CTYPE",
                "LANG",
            )
        }
        return self.ok(*arguments, environment={**clean, **environment}).decode()

    def test_color(self):
        run = ("run", model("voice"), "play jazz")
        plain = self.shown(*run)
        self.assertNotIn("\x1b", plain)
        for arguments, environment, colored in (
            ((), {"CLICOLOR_FORCE": "1"}, True),
            ((), {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
            ((), {"CLICOLOR_FORCE": "0"}, False),
            (("--color", "always"), {"NO_COLOR": "1"}, True),
            (("--color", "never"), {"CLICOLOR_FORCE": "1"}, False),
            (("--color=auto",), {}, False),
        ):
            self.assertEqual(
                "\x1b" in self.shown(*run, *arguments, **environment),
                colored,
                (arguments, environment),
            )
        self.assertIn("\x1b", self.ok("--color", "always", *run).decode())
        self.fails(2, *run, "--color", "red", says=[["auto", "always", "never"][0]])

    def test_bars(self):
        run = ("run", model("voice"), "play jazz", "--color", "always")
        self.assertIn("█", self.shown(*run, LC_ALL="C.UTF-8"))
        for ascii_only in (
            {"LC_ALL": "C"},
            {"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"},
            {},
        ):
            text = self.shown(*run, **ascii_only)
            self.assertTrue(text.isascii(), text)
            self.assertIn("####", text)
        narrow = self.shown(*run, COLUMNS="40")
        self.assertIn("#" * 9, narrow)
        self.assertNotIn("#" * 11, narrow)

    def test_quiet(self):
        self.assertEqual(self.ok("verify", model("voice"), "--quiet"), b"")
        self.assertNotEqual(self.ok("run", model("voice"), "play jazz", "-q"), b"")
        self.assertEqual(self.ok("man", str(self.directory / "man1"), "-q"), b"")


if __name__ == "__main__":
    unittest.main()

"""firmware: the folders and files that it writes, and what it says of memory."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import COMMAND, GOLDEN, SOURCE, CommandTest, model

VOICE = SOURCE / "models" / "voice-commands"
COMMANDS = (VOICE / "commands.txt").read_bytes()


class Firmware(CommandTest):
    def make(self, *options, name="voice", target="cortex-m4", output="project", **more):
        path = self.directory / output
        return path, self.line("firmware", model(name), "--target", target, "-o", path, "--json", *options, **more)

    def refuses(self, code, *options, file=None, target="cortex-m4", output="x", says=()):
        """`firmware` ends with this code; file: of the voice model; output: in this test's directory."""
        path = self.directory / output
        self.fails(code, "firmware", file or model("voice"), "--target", target, "-o", path, *options, says=says)

    def test_help_names_every_core(self):
        cores = sorted(json.loads((SOURCE / "targets" / "firmware" / "cores.json").read_text()))
        text = " ".join(self.ok("firmware", "--help-all").decode().split())
        self.assertIn(f"in place of --board: {', '.join(cores)} --flash", text)

    def test_project(self):
        project, answer = self.make()
        self.assertEqual(
            (answer["schema"], answer["target"], answer["format"]),
            ("bantam.firmware/1", "cortex-m4", "project"),
        )
        self.assertEqual((answer["outputs"], answer["kept"]), ([str(project)], []))
        image = (project / "model.bantam").read_bytes()
        self.assertEqual(answer["flash"]["model"], len(image))
        self.assertEqual(sum(answer["flash"]["model_parts"].values()), len(image))
        self.assertEqual(sum(answer["ram"]["arena_parts"].values()), answer["ram"]["arena_at_most"])
        self.assertLessEqual(
            answer["ram"]["arena_at_most"] + answer["ram"]["stack"],
            answer["ram"]["device"],
        )
        for name in (
            "CMakeLists.txt",
            "README.md",
            "main.cpp",
            "bantam/LICENSE",
            "bantam/generated/bantam_generated.h",
            "bantam/generated/flatbuffers/flatbuffers.h",
            "bantam/runtime/c/bantam.cpp",
            "bantam/runtime/include/bantam/bantam.h",
            "bantam/runtime/include/bantam/session.h",
            "bantam/runtime/model/verify.cpp",
            "bantam/targets/cortex-m4/target.json",
            "bantam/targets/firmware/firmware.cmake",
            "bantam/targets/firmware/cores.json",
            "bantam/targets/firmware/uart/cmsdk.h",
        ):
            self.assertTrue((project / name).is_file(), name)
        files = [path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()]
        for foreign in ("avx", "/host", "cortex-m7"):
            self.assertFalse([name for name in files if foreign in name], foreign)

    def test_sources_want_no_library_of_cpp(self):
        project, _ = self.make()
        for path in (project / "bantam").rglob("*"):
            if path.suffix in (".h", ".cpp", ".inc") and path.name != "language.h":  # which asks whether they are there
                wanted = re.findall(r"^\s*#\s*include <([^>]+)>", path.read_text(), re.MULTILINE)
                self.assertEqual([name for name in wanted if not name.endswith(".h")], [], path.name)
        reader = (project / "bantam" / "generated" / "bantam_generated.h").read_text()
        self.assertIn("struct Model FLATBUFFERS_FINAL_CLASS", reader)
        for writer in ("Builder", "Verif", "CreateModel"):
            self.assertNotIn(writer, reader)

    def test_readme_holds_no_words_of_a_stranger_as_its_own(self):
        # Security trial, finding 16: a licence that ends the line and opens a block of shell, a file's name that is one.
        source = self.directory / "hostile"
        shutil.copytree(GOLDEN / "bert-joint", source)
        (source / "README.md").write_text('---\nlicense: "x```sh <b>[a](http://evil.example)"\n---\n', encoding="utf-8")
        file = self.directory / 'a"$(touch x)b.bantam'
        self.ok("convert", source, "-o", file, "--parity", "none")
        self.ok("firmware", file, "--target", "cortex-m4", "-o", self.directory / "project")
        readme = (self.directory / "project" / "README.md").read_text(encoding="utf-8")
        self.assertIn(r"licence: x\`\`\`sh \<b\>\[a\](http", readme)
        self.assertIn(f"run '{file.name}' --uart", readme)

    def test_readme_says_how_the_image_gets_onto_each_board(self):
        for path in sorted((SOURCE / "targets").glob("**/target.json")):
            board = json.loads(path.read_text(encoding="utf-8"))
            name, known = path.parent.name, board["flashing"]
            lines = known["how"]
            tools = [
                f"openocd {known.get('openocd')} -c ",
                f"probe-rs run --chip {known.get('probe_rs')} build/firmware.elf",
                f"pyocd flash -t {known.get('pyocd')} build/firmware.hex",
                f"JLinkExe -device {known.get('jlink')} -if SWD",
                f"Serial port: {known.get('serial')}, {board['uart'].get('baud', 115200)} baud",
            ]
            options = ["--max-tokens", 8]
            if name in ("microbit", "stm32f100"):  # too small for this model
                for memory, size in (("flash", "1M"), ("ram", "64K")):
                    options += [f"--{memory}", f"{board['memories'][memory]['start']}:{size}"]
            project, _ = self.make(*options, name="bert-joint", target=name, output=f"on-{name}")
            readme = (project / "README.md").read_text(encoding="utf-8")
            with self.subTest(name):
                section = readme.split("## Put it on the board\n")[1].split("\n## ")[0]
                self.assertGreater(len(lines), 0)
                for line in lines:
                    self.assertIn(f"- {line}\n", section)
                for tool, field in zip(tools, ("openocd", "probe_rs", "pyocd", "jlink", "serial"), strict=True):
                    self.assertEqual(tool in section, field in known, tool)
                # Names only files that the build writes.
                files = set(re.findall(r"build/(firmware\.\w+)", section))
                written = {"firmware.elf", "firmware.hex"} | ({"firmware.bin"} if "firmware.bin`" in section else set())
                self.assertLessEqual(files, written)
                self.assertEqual("firmware.bin" in (project / "CMakeLists.txt").read_text(), "firmware.bin`" in section)
                self.assertNotIn("semihosting", section)

    def test_same_input_same_bytes(self):
        first, _ = self.make(output="first")
        second, _ = self.make(output="second")
        for path in first.rglob("*"):
            if path.is_file():
                self.assertEqual(
                    path.read_bytes(),
                    (second / path.relative_to(first)).read_bytes(),
                    path,
                )

    def test_file_for_the_device_gives_the_same_bits(self):
        for name, line in (
            ("voice", COMMANDS),
            ("bert-answer", b"who wrote it\tjane austen wrote it\n"),
        ):
            image = self.directory / f"{name}.bantam"
            self.ok("firmware", model(name), "--target", "cortex-m7", "--format", "bin", "-o", image)
            answers = [self.ok("run", path, "--uart", stdin=line) for path in (model(name), image)]
            self.assertEqual(answers[0], answers[1])
            self.ok("verify", image)
            facts = [json.loads(self.ok("inspect", path, "--json")) for path in (model(name), image)]
            for key in (
                "task",
                "licence",
                "name",
                "max_tokens",
                "label_sets",
                "outputs",
            ):
                self.assertEqual(facts[0][key], facts[1][key], key)

    def test_c_array(self):
        _, answer = self.make("--format", "c-array", name="bert-joint", output="my-voice.c")
        header, source, _ = answer["outputs"]
        self.assertEqual(
            (header, source),
            (str(self.directory / "my-voice.h"), str(self.directory / "my-voice.c")),
        )
        self.assertIn(
            "extern const unsigned char my_voice[my_voice_SIZE];",
            pathlib.Path(header).read_text(),
        )
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler")
        self.write(
            "main.c",
            '#include <stdio.h>\n#include "my-voice.h"\n'
            "int main(void) { return (unsigned long)my_voice % 64 != 0 || fwrite(my_voice, 1, my_voice_SIZE, stdout) == 0; }\n",
        )
        program = self.directory / "program"
        subprocess.run(
            [
                compiler,
                "-O0",
                "-Wall",
                "-Werror",
                "-o",
                program,
                source,
                self.directory / "main.c",
            ],
            check=True,
        )
        image = self.directory / "image.bantam"
        self.ok("firmware", model("bert-joint"), "--target", "cortex-m4", "--format", "bin", "-o", image)
        self.assertEqual(
            subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout,
            image.read_bytes(),
        )

    def links(self, header):
        """The names in BANTAM_LINKS of a configuration."""
        listed = re.search(r"#define BANTAM_LINKS((?:.*\\\n)*.*)\n", header).group(1)
        return set(re.findall(r"\w+", listed))

    def test_linked(self):
        project, answer = self.make()
        header = (project / "bantam_config.h").read_text()
        links = self.links(header)
        self.assertLessEqual({"op_Embed", "op_Linear", "op_Attention", "Dynamic", "Tokenizer", "task_joint"}, links)
        self.assertFalse(links & {"op_Slice", "task_classify", "Contexts", "mask_none"})
        for word in ("embed", "linear", "attention", "dynamic", "tokenizer"):
            self.assertIn(word, answer["linked"])
        self.assertIn("gelu", answer["linked"])
        self.assertIn("exp", answer["linked"])  # of the labels' softmax
        self.assertNotIn("slice", answer["linked"])
        self.assertIn("slice", self.make(name="bert-answer", output="other")[1]["linked"])

    def test_configuration(self):
        """One header, in front of every source."""
        project, answer = self.make()
        parts = answer["ram"]["arena_parts"]
        config = (project / "bantam_config.h").read_text()
        self.assertIn(f"#define BANTAM_ARENA_BYTES {answer['ram']['arena_at_most']}\n", config)
        self.assertIn(f"#define BANTAM_ARENA_REST {sum(parts.values()) - parts['session']}\n", config)
        self.assertIn("BANTAM_FIRMWARE_ISA kDsp\n", config)
        self.assertFalse((project / "bantam_linked.h").exists())
        sources = list(project.rglob("*.cpp"))
        self.assertGreater(len(sources), 50)
        for source in sources:
            self.assertTrue(
                source.read_text().startswith('#define BANTAM_SOURCE 1\n#include "bantam_config.h"\n'), source
            )

    def test_decoders_keep_a_context(self):
        project, answer = self.make("--max-tokens", "48", name="gpt2-text")
        self.assertIn("contexts", answer["linked"])
        self.assertIn("decode", answer["linked"])
        self.assertEqual(answer["max_tokens"], 48)
        config = (project / "bantam_config.h").read_text()
        self.assertIn("BANTAM_MAX_CONTEXT 48\n", config)
        self.assertIn("BANTAM_MAX_TOKENS 16\n", config)
        self.assertGreater(answer["ram"]["arena_parts"]["contexts"], 0)
        self.assertLessEqual({"Contexts", "Decode", "mask_causal"}, self.links(config))
        other, answer = self.make(output="other")
        self.assertNotIn("Contexts", self.links((other / "bantam_config.h").read_text()))
        self.assertEqual((answer["ram"]["arena_parts"]["contexts"], answer["ram"]["stack"]), (0, 4096))
        self.assertIn("BANTAM_MAX_CONTEXT 0\n", (other / "bantam_config.h").read_text())

    def test_tokens(self):
        self.assertEqual(self.make("--max-tokens", "16")[1]["max_tokens"], 16)
        few = self.make("--max-tokens", "16", output="few")[1]["ram"]["arena_at_most"]
        many = self.make("--max-tokens", "32", output="many")[1]["ram"]["arena_at_most"]
        self.assertLess(few, many)

    def test_static(self):
        project, answer = self.make(name="voice-static")
        header = (project / "bantam_config.h").read_text()
        self.assertIn("static linear", answer["linked"])
        links = self.links(header)
        self.assertFalse(links & {"Float", "Dynamic", "FloatTables", "norm_layer"})
        activations = {name for name in links if name.startswith("activation_")}
        self.assertEqual(activations, {"activation_exp"})  # of the scores
        self.assertLess(answer["ram"]["arena_at_most"], self.make(output="dynamic")[1]["ram"]["arena_at_most"])

    def arena(self, file, *options):
        """Bytes of the arena, and what each option would save."""
        image = self.directory / "image"
        options = ("--target", "cortex-m4", "--format", "bin", "-o", image, *options)
        answer = self.line("firmware", file, *options, "--json")
        return answer["ram"]["arena_at_most"], {saving["option"]: saving["ram"] for saving in answer["savings"]}

    def test_memory_that_options_save(self):
        """Offered savings are real, byte for byte, and no option that saves a twentieth or less is offered."""
        static = ("--activations", "static", "--calibrate", VOICE / "commands.txt")
        dynamic = ("--residual", "i8")
        offered = set()
        for source, least, more in (
            (VOICE, dynamic, {"--residual i8": (), "--plan small": (*dynamic, "--plan", "fast")}),
            (VOICE, static, {"--plan small": (*static, "--plan", "fast")}),
            (GOLDEN / "bert-classify", dynamic, {"--residual i8": (), "--plan small": (*dynamic, "--plan", "fast")}),
            (GOLDEN / "bert-classify", static, {"--plan small": (*static, "--plan", "fast")}),
            (GOLDEN / "bert-tag", dynamic, {"--residual i8": ("--plan", "small")}),
            (GOLDEN / "bert-pretraining", (*dynamic, "--weights", "int4"), {"--residual i8": ("--weights", "int4")}),
        ):
            small = self.directory / "small.bantam"
            self.ok("convert", source, "-o", small, *least, "--parity", "none")
            for option, options in more.items():
                large = self.directory / "large.bantam"
                self.ok("convert", source, "-o", large, *options, "--parity", "none")
                for limits in (("--max-tokens", "8"), ("--max-tokens", "40", "--block-rows", "1")):
                    with self.subTest(source.name, options=options, limits=limits):
                        before, savings = self.arena(large, *limits)
                        after, rest = self.arena(small, *limits)
                        self.assertEqual(set(rest) - {"--block-rows 1"}, set())
                        expected = before - after if before - after > before // 20 else None
                        self.assertEqual(savings.get(option), expected)
                        self.assertLessEqual(set(savings), {option, "--block-rows 1"})
                        offered.update(savings)
        self.assertEqual(offered, {"--residual i8", "--plan small", "--block-rows 1"})

    def test_memory_that_fewer_rows_save(self):
        wide, savings = self.arena(model("voice"), "--max-tokens", "8")
        narrow, rest = self.arena(model("voice"), "--max-tokens", "8", "--block-rows", "1")
        self.assertEqual(savings["--block-rows 1"], wide - narrow)
        self.assertNotIn("--block-rows 1", rest)
        project, _ = self.make("--block-rows", "1")
        self.assertIn("BANTAM_BLOCK_ROWS 1\n", (project / "bantam_config.h").read_text())

    def test_sparse_layers(self):
        for name, options in (
            ("blocks", ("--pattern", "1x4", "--sparse", "always")),
            ("bits", ("--pattern", "unstructured")),
        ):
            with self.subTest(name):
                self.check_sparse_layers(name, *options)

    def check_sparse_layers(self, name, *options):
        file = self.directory / f"{name}.bantam"
        self.ok("convert", VOICE, "-o", file, "--prune", "0.6", *options, "--parity", "none")

        def make(output, *more, target="cortex-m55"):
            image = self.directory / f"{name}-{output}"
            options = ("--target", target, "--format", "bin", "-o", image)
            answer = self.line("firmware", file, *options, "--json", *more)
            return image, answer, self.ok("firmware", file, *options, *more).decode()

        image, answer, report = make("auto")
        kept_image, kept, kept_report = make("keep", "--sparse", "keep")
        sparse = answer["sparse"]
        self.assertGreater(sparse["expanded"], 5)
        self.assertGreater(sparse["expanded_bytes"], 0)
        self.assertEqual((sparse["slower"], sparse["slower_bytes"]), (0, 0))
        self.assertEqual(image.stat().st_size - kept_image.stat().st_size, sparse["expanded_bytes"])
        self.assertIn(
            f"{sparse['expanded']} layers with their zeros, faster so: {sparse['expanded_bytes']} bytes more", report
        )
        self.assertEqual((kept["sparse"]["expanded"], kept["sparse"]["slower"]), (0, sparse["expanded"]))
        self.assertEqual(kept["sparse"]["slower_bytes"], sparse["expanded_bytes"])
        self.assertEqual(kept["sparse"]["faster"], sparse["faster"])
        self.assertIn(f"{sparse['expanded']} layers without zeros, slower so (--sparse keep)", kept_report)
        expected = self.ok("run", file, "--uart", stdin=COMMANDS)
        for other in (image, kept_image):
            self.assertEqual(self.ok("run", other, "--uart", stdin=COMMANDS), expected)
        _, elsewhere, report = make("m4", target="cortex-m4")
        self.assertEqual(elsewhere["sparse"], dict.fromkeys(sparse, 0))
        self.assertNotIn("zeros", report)

    def test_offsets_only_where_answers_have_places(self):
        for name, kept in (
            ("bert-classify", 0),
            ("bert-tag", 1),
            ("bert-answer", 1),
            ("voice", 1),
            ("sentence-mean", 0),
        ):
            project, _ = self.make(name=name, output=name)
            self.assertIn(f"BANTAM_TEXT_OFFSETS {kept}\n", (project / "bantam_config.h").read_text(), name)

    def test_what_does_not_fit(self):
        # 5.2 MB in f32; flash has 2.
        big = model("voice-f32")
        self.refuses(
            5, file=big, output="project", says=["do not fit", "bytes of flash", "cortex-m4", "--format c-array"]
        )
        self.assertFalse((self.directory / "project").exists())
        # For a board that only its owner knows, nothing is too large; its folders are made as a project's are.
        file = self.directory / "made" / "for" / "big.bantam"
        options = ("--target", "cortex-m4", "--format", "bin", "-o", file)
        answer = self.line("firmware", big, *options, "--json")
        self.assertGreater(answer["flash"]["model"], answer["flash"]["device"])
        self.assertEqual(file.stat().st_size, answer["flash"]["model"])
        self.assertNotIn(b" of ", self.ok("firmware", big, *options))

    def test_boards_say_what_their_files_say(self):
        sizes = {"": 1, "K": 1 << 10, "M": 1 << 20}
        paths = [*(SOURCE / "targets").glob("*/target.json"), *(SOURCE / "targets" / "boards").glob("*/target.json")]
        listed = {board["board"]: board for board in self.line("firmware", "--list-boards", "--json")["boards"]}
        self.assertEqual(sorted(listed), sorted(path.parent.name for path in paths))
        self.assertEqual(len(self.ok("firmware", "--list-boards").splitlines()), len(paths) + 1)
        for path in paths:
            target = json.loads(path.read_text())
            listing = listed[path.parent.name]
            self.assertEqual(
                (listing["core"], listing["like"], listing["qemu"]),
                (target["core"], target["like"], target.get("qemu", {}).get("machine", "")),
            )
            for name in ("flash", "ram"):
                number, unit = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)([KM]?)", target["memories"][name]["size"]).groups()
                self.assertEqual(listing[name], int(number, 0) * sizes[unit], path)
        _, answer = self.make("--format", "bin", target="microbit", output="image")
        self.assertEqual((answer["flash"]["device"], answer["ram"]["device"]), (256 << 10, 16 << 10))

    def test_what_the_microbit_does_not_hold(self):
        """Both figures, of flash and of RAM, in one sentence each."""
        self.refuses(5, target="microbit", says=["do not fit the 262144 bytes of flash that microbit has"])
        small = model("bert-joint")
        self.refuses(
            5, "--ram", "0x20000000:8K", file=small, target="microbit", says=["bytes of RAM", "microbit has 8192"]
        )

    def test_a_board_of_ones_own(self):
        ranges = ("--flash", "0x08008000:480K", "--ram", "0x20000000:96K")
        made = self.line(
            *("firmware", model("bert-joint"), "--core", "cortex-m33", *ranges, "-o", self.directory / "own", "--json")
        )
        self.assertEqual(
            (made["target"], made["flash"]["device"], made["ram"]["device"]), ("board", 480 << 10, 96 << 10)
        )
        folder = self.directory / "own" / "bantam" / "targets" / "board"
        target = json.loads((folder / "target.json").read_text())
        self.assertEqual(target["core"], "cortex-m33")
        self.assertEqual(target["memories"]["flash"], {"start": "0x08008000", "size": "480K"})
        readme = (self.directory / "own" / "README.md").read_text()
        self.assertNotIn("run.py", readme)
        self.assertIn("text in over semihosting (a debugger), answers out", readme)
        self.assertIn("stops at its first byte unless a debugger with semihosting is attached", readme)
        # The same folder as a board, with a file of its own, and other memories of the command line.
        (folder / "board.c").write_text("int mine;\n")
        (folder / "notes.txt").write_text("not of the board\n")
        project, made = self.make("--flash", "0x08000000:1M", name="bert-joint", target=folder, output="again")
        copied = project / "bantam" / "targets" / "board"
        self.assertEqual(sorted(path.name for path in copied.iterdir()), ["board.c", "target.json"])
        self.assertEqual((made["flash"]["device"], made["ram"]["device"]), (1 << 20, 96 << 10))
        self.assertEqual(json.loads((copied / "target.json").read_text())["memories"]["ram"]["size"], "96K")
        # A model in a memory of its own may be larger than flash.
        options = ("--core", "cortex-m7", "--flash", "0x08000000:128K", "--ram", "0x20000000:512K", "--json")
        apart = ("--model-flash", "0x90000000:8M", "-o", self.directory / "apart")
        self.assertGreater(self.line("firmware", model("voice"), *options, *apart)["flash"]["model"], 128 << 10)

    def test_descriptions_that_cannot_be(self):
        good = {
            "core": "cortex-m4",
            "memories": {"flash": {"start": "0x0", "size": "1M"}, "ram": {"start": "0x20000000", "size": "64K"}},
        }
        for change, says in (
            ({"core": "cortex-m5"}, "core: known cores are cortex-m0,"),
            ({"core": 4}, "core: a string"),
            ({"kernels": "avx2"}, "kernels: known are"),
            ({"memories": {"flash": good["memories"]["flash"]}}, "flash and ram are wanted"),
            (
                {"memories": good["memories"] | {"ram": {"start": "8K", "size": "64K"}}},
                "memories/ram/start: an address",
            ),
            ({"memories": good["memories"] | {"ram": {"start": "0x0", "size": "64G"}}}, "memories/ram/size: a size"),
            ({"memories": good["memories"] | {"ram": {"start": "0xFFFFFFF0", "size": "64K"}}}, "above 4 GB"),
            (
                {"memories": good["memories"] | {"hot": {"start": "0x2000FFE0", "size": "64K"}}},
                "memories/hot: that begins within ram, whose end is at 0x20010000",
            ),
        ):
            with self.subTest(change):
                folder = self.directory / "bad"
                folder.mkdir(exist_ok=True)
                (folder / "target.json").write_text(json.dumps(good | change))
                self.refuses(4, target=folder, says=["target.json", says])
        empty = self.directory / "empty"
        empty.mkdir()
        self.refuses(3, target=empty, says=["target.json"])

    def test_boards_that_are_not_told(self):
        file, out = model("bert-joint"), self.directory / "x"
        flash, ram = ("--flash", "0x0:1M"), ("--ram", "0x20000000:64K")
        for options, says in (
            ((), "--board NAME or folder"),
            (("--board", "cortex-m4", "--core", "cortex-m4"), "--board NAME or folder"),
            (("--core", "cortex-m4"), "--flash and --ram are wanted, too"),
            (("--core", "cortex-m4", *flash), "--flash and --ram are wanted, too"),
            (("--core", "cortex-m44", *flash, *ram), "did you mean cortex-m4"),
            (("--core", "cortex-m4", "--flash", "1M", *ram), "--flash 1M: an address and a size"),
            (("--core", "cortex-m4", "--flash", "0x0:0", *ram), "--flash 0x0:0: an address and a size"),
            (("--core", "cortex-m4", *flash, *ram, "--hot", "0x10000000"), "--hot 0x10000000: an address and a size"),
            (("--core", "cortex-m4", *flash, "--ram", "20000000:64K"), "an address and a size"),
        ):
            with self.subTest(options):
                self.fails(2, "firmware", file, *options, "-o", out, says=[says])
        self.fails(
            2, "firmware", "--board", "cortex-m4", "-o", out, says=["firmware: FILE is missing; bantam firmware --help"]
        )
        self.fails(
            2,
            "firmware",
            file,
            "--board",
            "cortex-m4",
            says=["firmware: -o, --output PATH is missing; bantam firmware --help"],
        )

    def test_scripts_can_be_executed(self):
        for again in ((), ("--force",)):
            project, _ = self.make(*again)
            script = project / "bantam/targets/firmware/run.py"
            self.assertIn(b"--target", subprocess.run([script, "--help"], stdout=subprocess.PIPE, check=True).stdout)
            self.assertFalse((project / "main.cpp").stat().st_mode & 0o111)
            script.chmod(0o644)

    def test_force(self):
        project, _ = self.make()
        self.refuses(2, output="project", says=["--force"])
        mine = project / "notes.txt"
        mine.write_text("mine")
        (project / "main.cpp").write_text("int main() {}\n")
        (project / "bantam_config.h").unlink()
        _, answer = self.make("--force", "--max-tokens", "16", target="cortex-m7")
        self.assertEqual(answer["kept"], ["main.cpp"])
        self.assertEqual(mine.read_text(), "mine")
        self.assertEqual((project / "main.cpp").read_text(), "int main() {}\n")
        self.assertIn("BANTAM_MAX_TOKENS 16", (project / "bantam_config.h").read_text())
        self.assertFalse((project / "bantam/targets/cortex-m4/target.json").exists())
        self.assertTrue((project / "bantam/targets/cortex-m7/target.json").exists())

    def test_interrupts_leave_nothing_half_written(self):
        target = self.directory / "project"
        command = [COMMAND, "firmware", model("voice"), "--board", "cortex-m4", "-o", target]
        for attempt in range(24):
            with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL) as running:
                time.sleep(0.004 * attempt)
                running.send_signal(signal.SIGINT if attempt % 2 else signal.SIGTERM)
            self.assertEqual([p for p in self.directory.iterdir() if p != target], [])
            if target.exists():
                self.assertTrue((target / "CMakeLists.txt").exists())
                shutil.rmtree(target)

    def test_foreign_directories_stay(self):
        folder = self.directory / "folder"
        folder.mkdir()
        (folder / "main.cpp").write_text("mine")
        for force in ([], ["--force"]):
            self.refuses(2, *force, output="folder")
        self.assertEqual([path.name for path in folder.iterdir()], ["main.cpp"])
        self.make("--force", output="empty")
        project, _ = self.make(output="new/project/")
        (project / "bantam" / "LICENSE").rename(project / "moved")
        self.make("--force", output="new/project")

    def test_bad_arguments(self):
        noise = self.write("bad.bantam", b"noise" * 50)
        copy = self.write("copy.bantam", pathlib.Path(model("voice")).read_bytes())
        absent = self.directory / "absent.bantam"
        nowhere = "/proc/nowhere/x"
        for code, options, more in (
            (2, (), {"target": "cortex-m5", "says": ["did you mean cortex-m", "cortex-m0plus"]}),
            (2, (), {"target": "", "says": ["--board NAME or folder"]}),
            (2, ("--max-tokens", "65"), {"says": ["at most 64"]}),
            (2, ("--max-tokens", "3"), {"says": ["at least 4"]}),
            (2, ("--block-rows", "0"), {"says": ["--block-rows"]}),
            (2, ("--block-rows", "5"), {"says": ["--block-rows"]}),
            (2, ("--format", "elf"), {}),
            (2, ("--sparse", "never"), {"says": ["auto, keep"]}),
            (3, (), {"file": absent}),
            (3, (), {"file": self.directory, "says": ["is a directory, not a .bantam file"]}),
            (4, (), {"file": noise}),
            (2, ("--format", "bin"), {"file": copy, "output": "copy.bantam", "says": ["input"]}),
            (2, ("--force",), {"file": copy, "output": ".", "says": ["input"]}),
            (2, (), {"file": copy, "output": "copy.bantam"}),
            (3, (), {"file": copy, "output": nowhere}),
            (3, ("--format", "bin"), {"file": copy, "output": nowhere}),
        ):
            with self.subTest(options=options, **more):
                self.refuses(code, *options, **more)
        self.assertEqual([path.name for path in self.directory.iterdir() if "part" in path.name], [])


if __name__ == "__main__":
    unittest.main()

"""Runs one target's images in QEMU and compares what their UARTs say with the host's answers, byte for byte."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import unittest

import asleep
from build_images import PROJECTS, TARGETS
from make_models import EXPECTED, KERNEL_SEEDS, PHONEMES, PICTURE

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "targets" / "firmware"))
from run import MACHINES, run  # noqa: E402
from size import measure  # noqa: E402

given = None


def run_image(name, data=b"", timeout=600, icount=False):
    return run(MACHINES[given.target], given.images / f"{name}.elf", data, timeout, icount)


class Board(unittest.TestCase):
    """Start-up and everything that must trap (images/board_image.cpp)."""

    def traps(self, order, kind):
        status, output = run_image("board_image", order)
        self.assertRegex(output, rb"^\nfault: " + kind + rb"(, pc 0x[0-9a-f]{8})?[^\n]*, sp 0x[0-9a-f]{8}\n$")
        self.assertGreater(status, 128)
        return output

    def test_starts(self):
        status, output = run_image("board_image", b"ds\n")
        self.assertEqual(status, 3)
        used = re.fullmatch(rb"data\n(\d+) then (\d+) of 4096 bytes\nend\n", output)
        self.assertTrue(used, output)
        self.assertLess(int(used[1]), 200)
        self.assertGreater(int(used[2]), 20 * 48)

    def test_counts_instructions(self):
        _, output = run_image("board_image", b"t", icount=True)
        count = int(re.match(rb"(\d+) instructions\n", output)[1])
        # 1000 rounds of three nops, counter and branch; a tick is up to 40 instructions.
        self.assertTrue(4900 <= count <= 5300, output)

    def test_stack_guard(self):
        self.traps(b"o", rb"stack overflow, (memory management|usage|hard fault)")

    def test_handlers_stack_guard(self):
        """Its 100 frames of 64 bytes are more than the handlers' stack, and run into main's where nothing guards it."""
        status, output = run_image("board_image", b"h")
        if given.target == "cortex-m0plus":  # no fault where main's stack holds them: the board's test is the paint's
            self.assertIn(status, (3, 131), output)
        else:
            self.traps(b"h", rb"in a handler, stack overflow, (memory management|usage|hard fault)")

    def test_flash_is_read_only(self):
        self.traps(b"c", rb"(memory management|hard fault)")

    def test_ram_is_not_executable(self):
        self.traps(b"x", rb"(memory management|hard fault)")

    def test_nothing_beyond_the_map(self):
        self.traps(b"n", rb"(memory management|hard fault)")

    def test_undefined_instruction(self):
        self.traps(b"u", rb"(usage|hard fault)")


class Sleep(unittest.TestCase):
    """The core sleeps while the UART is silent, where the board's description has its interrupt."""

    def data_of(self, name, sleeps):
        with asleep.Machine(MACHINES[given.target], given.images / f"{name}.elf") as machine:
            machine.say(b"d")
            self.assertEqual(machine.read_line(), b"data\n")
            self.assertEqual(machine.is_asleep(), sleeps)
            return machine.finish(b"d" * 300)

    def test_between_bytes(self):
        answers = (3, b"data\n" * 300 + b"end\n")
        self.assertEqual(self.data_of("board_image", sleeps=True), answers)
        self.assertEqual(self.data_of("polling_image", sleeps=False), answers)


class Bits(unittest.TestCase):
    def test_kernels(self):
        status, output = run_image("kernels_image", b"%d\n" % KERNEL_SEEDS)
        self.assertEqual(output, (EXPECTED / "kernels.hash").read_bytes())
        self.assertEqual(status, 0)

    def test_sound(self):
        self.assertEqual(run_image("sound_image", b"h"), (0, (EXPECTED / "sound.hash").read_bytes()))

    def test_logits(self):
        status, output = run_image("logits_hash")
        self.assertEqual(output, (EXPECTED / "models.hash").read_bytes())
        self.assertEqual(status, 0)


class Hostile(unittest.TestCase):
    def test_statuses(self):
        status, output = run_image("hostile_image", b"oamo")
        self.assertEqual(status, 0)
        self.assertRegex(output, rb"^run: 0 .*\narena: 3 .*\nmisaligned: 2 .*\nrun: 0 .*\n$")

    def test_corrupted_files(self):
        status, output = run_image("hostile_image", b"c61\n")
        self.assertEqual(status, 0, output)
        counts = re.fullmatch(rb"survived (\d+) refused, (\d+) run\n", output)
        self.assertTrue(counts, output)
        self.assertGreater(int(counts[1]), 100)

    def test_not_linked(self):
        self.assertEqual(run_image("core_image"), (0, b"status 9\n"))


class Voice(unittest.TestCase):
    """The project that `bantam firmware` makes of models/voice-commands, against the same command's `run --uart`."""

    model = "voice"
    NOISE = bytes((i * 167 + (i >> 3)) % 256 for i in range(4000)).replace(b"\x04", b"")  # 0x04 ends the input

    LENGTH = "BANTAM_MAX_TOKENS"
    STACK = 4096

    def test_no_definitions(self):
        """A project's configuration is in headers: its compiler gets no macros."""
        rules = (given.images / self.model / "build" / "build.ninja").read_text()
        self.assertEqual(set(re.findall(r" -D(\w+)", rules)), {"NDEBUG"})  # of every release build of CMake

    def answers(self, lines):
        project = given.images / self.model
        tokens = re.search(self.LENGTH + r" (\d+)", (project / "bantam_config.h").read_text())[1]
        status, output = run(MACHINES[given.target], project / "build" / "firmware.elf", lines, timeout=600)
        self.assertEqual(status, 0, output)
        ready, *answers, end, empty = output.split(b"\n")
        self.assertEqual((ready, empty), (b"ready", b""))
        command = [given.command, "run", given.models / f"{self.model}.bantam", "--uart", "--max-tokens", tokens]
        expected = subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(b"\n".join(answers) + b"\n", expected)
        used = re.fullmatch(rb"end\tarena (\d+) of (\d+)\tstack (\d+) of (\d+)", end)
        self.assertTrue(used, end)
        self.assertLessEqual(int(used[3]), self.STACK)
        print(f"{given.target}, {self.model}: {len(answers)} answers, {end.decode()}")
        return answers

    def test_commands(self):
        commands = (SOURCE / "models" / "voice-commands" / "commands.txt").read_bytes()
        for answer in self.answers(commands):
            self.assertTrue(answer.startswith(b"ok\t"), answer)

    def test_bad_lines(self):
        lines = b"\n" + b"x" * 600 + b"\n" + b"\xff\xfe play\n" + b"a " * 250 + b"\n\xe2\x82\nplay jazz\n"
        answers = self.answers(lines)
        self.assertEqual([answer.split(b"\t")[0] for answer in answers[:3]], [b"error"] * 3)
        self.assertTrue(answers[3].startswith(b"truncated\t"))
        self.assertTrue(answers[-1].startswith(b"ok\t"))

    def test_noise(self):
        self.assertGreater(len(self.answers(self.NOISE)), 10)

    def test_parts(self):
        sizes = measure(given.images / self.model / "build" / "firmware.map")
        parts = sizes["components"]
        for name in ("core", "flatbuffers", "ops", "kernels", "tokenizer", "tasks", "program", "start-up", "model"):
            self.assertGreater(parts.get(name, sizes.get(name, 0)), 0, name)
        self.assertEqual(sum(parts.values()), sizes["text"] + sizes["rodata"])
        self.assertGreaterEqual(sizes["model"], (given.images / self.model / "model.bantam").stat().st_size)

    def test_no_allocator_no_exceptions(self):
        elf = given.images / self.model / "build" / "firmware.elf"
        names = subprocess.run(["arm-none-eabi-nm", "-C", elf], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn(" bantam::", names)
        bad = r" (_?malloc\w*|_?calloc\w*|_?realloc\w*|_?free\w*|_?sbrk\w*|__cxa_\w+|__gxx_\w+|_Unwind_\w+|operator (new|delete).*|(typeinfo|vtable) .*|__dynamic_cast|abort|raise|printf|__aeabi_atexit)$"
        self.assertEqual(re.findall(r".*" + bad, names, re.M), [])


@unittest.skipUnless("voice-static" in PROJECTS, "a project of ./dev test all")
class VoiceStatic(Voice):
    """The same in integers only."""

    model = "voice-static"


@unittest.skipUnless("decoder" in PROJECTS, "a project of ./dev test all")
class Decoder(Voice):
    """A decoder that goes on with lines, streaming."""

    model = "decoder"
    LENGTH = "BANTAM_MAX_CONTEXT"
    STACK = 16384

    def setUp(self):
        if given.target not in TARGETS[self.model]:
            self.skipTest("its RAM does not hold contexts of a useful length")

    def test_commands(self):
        lines = b"Once upon a time\nthe cat sees\nLily and Tom\n"
        config = (given.images / self.model / "bantam_config.h").read_text()
        context = re.search(self.LENGTH + r" (\d+)", config)[1]
        for line, answer in zip(lines.decode().splitlines(), self.answers(lines), strict=True):
            command = [given.command, "generate", given.models / "decoder.bantam", line, "--json"]
            command += ["--context", context, "--max-new", "9999"]
            made = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            status, text, finish, _ = answer.decode().split("\t")
            self.assertEqual((status, finish), ("ok", made["finish"]))
            self.assertEqual(
                text,
                "".join("?" if c < " " and c not in "\n\r\t" else c for c in made["generated"]).translate(
                    str.maketrans("\n\r\t", "   ")
                ),
            )

    def test_bad_lines(self):
        answers = self.answers(b"\n" + b"x" * 600 + b"\n\xff\xfe play\n" + b"#$%&" * 125 + b"\nthe cat\n")
        self.assertEqual([answer.split(b"\t")[0] for answer in answers], [b"error"] * 4 + [b"ok"])
        self.assertIn(b"\t10 ", answers[3])  # too many tokens

    def test_noise(self):
        self.assertGreater(len(self.answers(self.NOISE[:600])), 1)


@unittest.skipUnless("pair" in PROJECTS, "a project of ./dev test all")
class Pair(Decoder):
    """A recurrent encoder-decoder: words into phonemes."""

    model = "pair"
    LENGTH = "BANTAM_MAX_SOURCE"
    STACK = 10240

    def test_commands(self):
        lines = b"hello\ntransformer\nmicrocontroller\na\n"
        answers = self.answers(lines)
        command = [given.command, "translate", given.models / "pair.bantam", *lines.decode().split()]
        made = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        self.assertEqual([answer.decode().split("\t")[:2] for answer in answers], [["ok", text] for text in made])
        if PHONEMES.exists():
            self.assertEqual(made[0], "HH EH1 L OW0")

    def test_bad_lines(self):
        answers = self.answers(b"\n" + b"x" * 600 + b"\n\xff\xfe play\n" + b"x" * 16 + b"\nab\n")
        self.assertEqual([answer.split(b"\t")[0] for answer in answers], [b"error"] * 4 + [b"ok"])
        self.assertIn(b"\t10 ", answers[3])  # too many tokens


@unittest.skipUnless("picture" in PROJECTS, "a project of ./dev test all")
class Picture(Decoder):
    """A vision transformer: lines of pixels into labels."""

    model = "picture"
    LENGTH = "BANTAM_MAX_TOKENS"
    STACK = 4096

    def frames(self, *options):
        photo = str(PICTURE.parent / "photo.ppm")
        command = [given.command, "run", given.models / "picture.bantam", photo, photo, *options]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout

    def test_commands(self):
        answers = self.answers(self.frames("--frame"))
        best = json.loads(self.frames("--json").splitlines()[0])["labels"][0]
        for answer in answers:
            self.assertEqual(answer.split(b"\t")[1].decode(), f"{best['score']:.3f} {best['label']}")

    def test_bad_lines(self):
        line = self.frames("--frame").splitlines()[0]
        lines = (
            b"\n" + b"x" * 600 + b"\n" + line[:-1] + b"\n" + line + b"0\n" + line.upper().replace(b"F", b" f") + b"\n"
        )
        answers = self.answers(lines)
        self.assertEqual([answer.split(b"\t")[0] for answer in answers], [b"error"] * 4 + [b"ok"])


@unittest.skipUnless("sound" in PROJECTS, "a project of ./dev test all")
class Sound(Decoder):
    """A transformer over rows of sound: lines of samples into labels."""

    model = "sound"
    LENGTH = "BANTAM_MAX_TOKENS"
    STACK = 4096

    @staticmethod
    def line(period, loud, count=3000):
        samples = [((n * 2 // period % 2) * 2 - 1) * loud + n * 7919 % 31 for n in range(count)]
        return b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples).hex().encode() + b"\n"

    def test_commands(self):
        answers = self.answers(self.line(40, 9000) + self.line(6, 3000) + self.line(40, 0, 300))
        self.assertEqual([answer.split(b"\t")[0] for answer in answers], [b"ok"] * 3)
        self.assertEqual(len({answer.split(b"#")[1] for answer in answers}), 3)

    def test_bad_lines(self):
        line = self.line(40, 9000)
        long = line[:-1] * 6  # more than a second
        answers = self.answers(b"\n" + b"x" * 600 + b"\n123\n" + long + b"\n" + line[:88] + b"\n")
        self.assertEqual([answer.split(b"\t")[0] for answer in answers], [b"error"] * 4 + [b"ok"])


def main():
    global given
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, choices=sorted(MACHINES))
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--images", required=True, type=pathlib.Path)
    parser.add_argument("--command", required=True, help="the bantam command")
    given, rest = parser.parse_known_args()
    return not unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())

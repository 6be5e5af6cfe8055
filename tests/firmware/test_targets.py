"""Every targets/NAME/target.json and targets/boards/NAME/target.json: complete, and read by CMake as it is written. Needs cmake, no
compiler but for one test."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FIRMWARE = SOURCE / "targets" / "firmware"
CORES = json.loads((FIRMWARE / "cores.json").read_text())
FOLDERS = {
    path.parent.name: path.parent
    for pattern in ("*/target.json", "boards/*/target.json")
    for path in (SOURCE / "targets").glob(pattern)
}
BOARDS = {name: json.loads((folder / "target.json").read_text()) for name, folder in FOLDERS.items()}
TARGETS = [name for name, folder in FOLDERS.items() if folder.parent.name == "targets"]  # that are measured
FIELDS = [
    "core",
    "like",
    "source",
    "flashing",
    "flags",
    "kernels",
    "memories",
    "clock_hz",
    "uart",
    "start",
    "exit",
    "qemu",
]
NEEDED = {"core", "like", "flashing", "memories", "clock_hz", "uart"}
SIZE = re.compile(r"(0x[0-9a-fA-F]+|[0-9]+)([KM]?)")
ADDRESS = re.compile(r"0x[0-9A-F]{8}")


def size_of(text):
    number, unit = SIZE.fullmatch(text).groups()
    return int(number, 0) * {"": 1, "K": 1 << 10, "M": 1 << 20}[unit]


def written(description, call, *files):
    """Calls a function of board.cmake on the description, and returns the `files` that it writes to its folder as one text."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "target.json").write_text(description)
        (folder / "script.cmake").write_text(
            "cmake_minimum_required(VERSION 3.20)\n"
            f'set(BANTAM_FIRMWARE_DIR "{FIRMWARE}")\n'
            f'include("{FIRMWARE}/board.cmake")\n'
            f'file(READ "{folder}/target.json" json)\n'
            f"{call.format(folder=folder)}\n"
        )
        done = subprocess.run(["cmake", "-P", folder / "script.cmake"], stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.decode())
        return "".join((folder / file).read_text() for file in files)


def memory_script(board, *keys):
    text = (FOLDERS[board] / "target.json").read_text()
    call = f'bantam_memory_script("{{folder}}" hot "${{{{json}}}}" {" ".join(keys)})'
    return written(text, call, "memory.ld", "hot.ld")


def board_header(text, hot="OFF"):
    return written(text, f'bantam_board_header("{{folder}}/board_config.h" "${{{{json}}}}" {hot})', "board_config.h")


def crc32(data):
    """CRC-32 from the highest bit on, as RP2040's ROM computes it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc


class Targets(unittest.TestCase):
    def test_there_are_some(self):
        self.assertGreaterEqual(len(TARGETS), 4)
        self.assertGreaterEqual(len(BOARDS), 20)
        self.assertEqual(set(CORES), {board["core"] for board in BOARDS.values()}, "each core has a board")

    def test_fields(self):
        for name, board in sorted(BOARDS.items()):
            with self.subTest(name):
                self.assertEqual(list(board), [field for field in FIELDS if field in board], "in this order")
                self.assertLessEqual(NEEDED | (set() if name in TARGETS else {"source"}), set(board))
                ways = ["how", "openocd", "probe_rs", "pyocd", "jlink", "serial"]
                self.assertEqual(list(board["flashing"]), [way for way in ways if way in board["flashing"]])
                self.assertIn(board["core"], CORES)
                all_memories = [board["memories"]]
                if "qemu" in board:
                    self.assertIn(list(board["qemu"]), (["machine"], ["machine", "memories"]))
                    all_memories.append(board["qemu"].get("memories", board["memories"]))
                for memories in all_memories:
                    self.assertLessEqual({"flash", "ram"}, set(memories))
                    for memory in memories.values():
                        self.assertEqual(list(memory), ["start", "size"])
                        begin, size = int(memory["start"], 16), size_of(memory["size"])
                        self.assertLessEqual(begin + size, 1 << 32)
                        self.assertEqual((begin % 32, size % 32), (0, 0), "what every MPU can tell apart")
                for setting in board.get("start", []):
                    (order,) = {"write", "set", "clear", "await"} & set(setting)
                    self.assertEqual(list(setting), [order, "bits", "why"])
                    self.assertRegex(setting[order], ADDRESS)
                    self.assertLess(int(setting["bits"], 0), 1 << 32)

    def test_cores(self):
        kernels = (SOURCE / "runtime" / "include" / "bantam" / "session.h").read_text()
        for name, core in CORES.items():
            with self.subTest(name):
                self.assertEqual(list(core), ["architecture", "tools", "flags", "kernels"])
                self.assertTrue(core["flags"] and all(flag.startswith("-m") for flag in core["flags"]))
                self.assertRegex(kernels, rf"\bk{core['kernels'].capitalize()}\b")

    def test_settings(self):
        for name, board in sorted(BOARDS.items()):
            with self.subTest(name):
                header = board_header((FOLDERS[name] / "target.json").read_text())
                driver = board["uart"]["driver"]
                self.assertIn(f'#define BOARD_UART_DRIVER "uart/{driver}.h"\n', header)
                self.assertTrue((FIRMWARE / "uart" / f"{driver}.h").is_file())
                self.assertIn(f"#define BOARD_CLOCK_HZ {board['clock_hz']}u\n", header)
                for setting in board.get("start", []):
                    self.assertIn(f"  // {setting['why']}\n", header)
                self.assertEqual(header.count("REGISTER("), len(board.get("start", [])))
                self.assertIn("#define BOARD_RESETS 0\n", header)
                self.assertIn(f"#define BOARD_UART_INTERRUPT {board['uart']['interrupt']}u\n", header)

    def test_settings_in_full(self):
        described = {
            "core": "cortex-m3",
            "uart": {"driver": "pl011", "base": "0x40034000", "baud": 9600},
            "start": [
                {"write": "0x40000000", "bits": "1", "why": "one"},
                {"set": "0x40000004", "bits": "0x2", "why": "two"},
                {"clear": "0x40000008", "bits": "0x4", "why": "three"},
                {"await": "0x4000000C", "bits": "0x8", "why": "four"},
            ],
            "exit": "reset",
        }
        header = board_header(json.dumps(described))
        self.assertNotIn("BOARD_UART_INTERRUPT", header)
        self.assertNotIn("BOARD_HAS_HOT", header)
        self.assertIn("#define BOARD_HAS_HOT\n", board_header(json.dumps(described), "ON"))
        for line in (
            "#define BOARD_UART 0x40034000u",
            "#define BOARD_BAUD 9600u",
            "#define BOARD_RESETS 1",
            "  REGISTER(0x40000000) = 1u;  // one",
            "  REGISTER(0x40000004) |= 0x2u;  // two",
            "  REGISTER(0x40000008) &= ~0x4u;  // three",
            "  while ((REGISTER(0x4000000C) & 0x8u) != 0x8u) {\n  }  // four",
        ):
            self.assertIn(line + "\n", header)
        for field, value, says in (
            ("exit", "never", "semihosting or reset"),
            ("uart", {"driver": "x"}, "uart/x.h"),
            ("uart", {"interrupt": 480}, r"0 to\s+479"),
            ("uart", {"interrupt": "3x"}, r"0 to\s+479"),
        ):
            with self.assertRaisesRegex(ValueError, says):
                board_header(json.dumps(described | {field: value}))

    @unittest.skipUnless(shutil.which("arm-none-eabi-gcc"), "needs arm-none-eabi-gcc")
    def test_what_the_rom_of_rp2040_checks(self):
        with tempfile.TemporaryDirectory() as folder:
            code = pathlib.Path(folder) / "boot2"
            source = FOLDERS["rp2040"] / "boot2.S"
            subprocess.run(["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-c", source, "-o", f"{code}.o"], check=True)
            copy = ["arm-none-eabi-objcopy", "-O", "binary", "-j", ".boot2", f"{code}.o", code]
            subprocess.run(copy, check=True)
            block = code.read_bytes()
        self.assertEqual(len(block), 256)
        self.assertEqual(int.from_bytes(block[252:], "little"), crc32(block[:252]))

    def test_what_else_a_target_needs(self):
        budgets = json.loads((SOURCE / "targets" / "budgets.json").read_text())
        for name in sorted(TARGETS):
            with self.subTest(name):
                self.assertTrue((SOURCE / "targets" / name / "README.md").is_file())
                for figure in ("core", "code classifier", "stack classifier"):
                    self.assertIn(f"{figure} {name}", budgets)

    def test_linker_script(self):
        for name, target in sorted(BOARDS.items()):
            with self.subTest(name):
                for keys in (("memories",), ("qemu", "memories")):
                    if len(keys) == 2 and "memories" not in target.get("qemu", {}):
                        continue
                    memories = target[keys[0]] if len(keys) == 1 else target["qemu"]["memories"]
                    script = memory_script(name, *keys)
                    found = re.findall(r"(\w+) \((\w+)\) : ORIGIN = (\w+), LENGTH = (\w+)$", script, re.M)
                    self.assertEqual(
                        sorted((region.lower(), begin, size) for region, _, begin, size in found),
                        sorted((region, memory["start"], memory["size"]) for region, memory in memories.items()),
                    )
                    access = {region: flags for region, flags, _, _ in found}
                    self.assertEqual((access["FLASH"], access["RAM"]), ("rx", "rw"))
                    self.assertEqual("> HOT AT > FLASH" in script, "hot" in memories)
                    for region in ("model", "boot2"):
                        self.assertEqual(f'REGION_ALIAS("{region.upper()}"' in script, region not in memories)


if __name__ == "__main__":
    unittest.main()

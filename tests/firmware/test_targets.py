"""Every targets/NAME/target.json: complete, and read by CMake as it is written. Needs cmake, no compiler."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TARGETS = {path.parent.name: json.loads(path.read_text()) for path in (SOURCE / "targets").glob("*/target.json")}
SIZE = re.compile(r"(0x[0-9a-fA-F]+|[0-9]+)([KM]?)")


def size_of(text):
    number, unit = SIZE.fullmatch(text).groups()
    return int(number, 0) * {"": 1, "K": 1 << 10, "M": 1 << 20}[unit]


def memory_script(target, *keys):
    """What memory.cmake writes."""
    with tempfile.TemporaryDirectory() as folder:
        lists = pathlib.Path(folder) / "script.cmake"
        lists.write_text(
            "cmake_minimum_required(VERSION 3.20)\n"
            f'include("{SOURCE}/targets/firmware/memory.cmake")\n'
            f'file(READ "{SOURCE}/targets/{target}/target.json" json)\n'
            f'bantam_memory_script("{folder}/memory.ld" "${{json}}" {" ".join(keys)})\n'
        )
        subprocess.run(["cmake", "-P", lists], check=True, stderr=subprocess.PIPE)
        return (pathlib.Path(folder) / "memory.ld").read_text()


class Targets(unittest.TestCase):
    def test_there_are_some(self):
        self.assertGreaterEqual(len(TARGETS), 4)

    def test_fields(self):
        for name, target in sorted(TARGETS.items()):
            with self.subTest(name):
                self.assertEqual(
                    list(target),
                    ["core", "like", "flags", "kernels", "weights", "memories", "qemu"],
                    "fields, in this order",
                )
                self.assertEqual(list(target["qemu"]), ["machine", "memories"])
                self.assertTrue(target["flags"] and all(flag.startswith("-m") for flag in target["flags"]))
                for memories in (target["memories"], target["qemu"]["memories"]):
                    self.assertLessEqual({"flash", "ram"}, set(memories))
                    for memory in memories.values():
                        self.assertEqual(list(memory), ["start", "size"])
                        begin, size = int(memory["start"], 16), size_of(memory["size"])
                        self.assertLessEqual(begin + size, 1 << 32)
                        self.assertEqual((begin % 32, size % 32), (0, 0), "what every MPU can tell apart")

    def test_names_that_others_define(self):
        kernels = (SOURCE / "runtime" / "include" / "bantam" / "session.h").read_text()
        layouts = re.search(r"enum Layout\b.*?\{(.*?)\n\}", (SOURCE / "schemas" / "bantam.fbs").read_text(), re.S)[1]
        for name, target in sorted(TARGETS.items()):
            with self.subTest(name):
                self.assertRegex(kernels, rf"\bk{target['kernels'].capitalize()}\b")
                self.assertRegex(layouts, rf"\b{target['weights']}\b")

    def test_what_else_a_target_needs(self):
        budgets = json.loads((SOURCE / "targets" / "budgets.json").read_text())
        for name, _ in sorted(TARGETS.items()):
            with self.subTest(name):
                for file in ("board.c", "README.md"):
                    self.assertTrue((SOURCE / "targets" / name / file).is_file(), file)
                for figure in ("core", "code classifier", "stack classifier"):
                    self.assertIn(f"{figure} {name}", budgets)

    def test_linker_script(self):
        for name, target in sorted(TARGETS.items()):
            with self.subTest(name):
                for keys in (("memories",), ("qemu", "memories")):
                    memories = target[keys[0]] if len(keys) == 1 else target["qemu"]["memories"]
                    script = memory_script(name, *keys)
                    found = re.findall(r"(\w+) \((\w+)\) : ORIGIN = (\w+), LENGTH = (\w+)$", script, re.M)
                    self.assertEqual(
                        [(region.lower(), begin, size) for region, _, begin, size in found],
                        [(region, memory["start"], memory["size"]) for region, memory in memories.items()],
                    )
                    access = {region: flags for region, flags, _, _ in found}
                    self.assertEqual((access["FLASH"], access["RAM"]), ("rx", "rw"))
                    self.assertEqual("REGION_ALIAS" in script, "model" not in memories)


if __name__ == "__main__":
    unittest.main()

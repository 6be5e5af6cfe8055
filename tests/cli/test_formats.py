"""firmware --format of other build systems: what each of them reads, as far as it can be checked without it. tests/firmware/test_formats.py
compiles and runs what is in src/."""

import json
import re
import unittest
import xml.etree.ElementTree

from support import SOURCE, CommandTest, model

FORMATS = ("arduino", "cmake", "cmsis-pack", "esp-idf", "platformio", "stm32cube", "zephyr")
VERSION = re.search(r"project\(bantam VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
# Where each says which sources there are; what is not here takes all of a folder.
LISTS = {
    "cmake": "CMakeLists.txt",
    "cmsis-pack": "bantam.bantam.pdsc",
    "esp-idf": "CMakeLists.txt",
    "zephyr": "zephyr/CMakeLists.txt",
}


def pairs(text):
    """Lines NAME=VALUE."""
    return dict(line.split("=", 1) for line in text.splitlines())


class Formats(CommandTest):
    def make(self, form, *options, core="any", name="bert-joint"):
        folder = self.directory / f"{form}-{core}"
        answer = self.line(
            "firmware",
            model(name),
            "--core",
            core,
            "--format",
            form,
            "-o",
            folder,
            "--max-tokens",
            "16",
            "--json",
            *options,
        )
        self.assertEqual((answer["format"], answer["outputs"]), (form, [str(folder)]))
        return folder

    def files(self, folder):
        paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".bantam-firmware")
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    def test_all_have_the_same_sources(self):
        made = {form: self.files(self.make(form)) for form in FORMATS}
        source = {name: text for name, text in made["cmake"].items() if name.startswith("src/")}
        compiled = sorted(name for name in source if name.endswith((".c", ".cpp")))
        self.assertGreater(len(compiled), 40)  # those that the model needs
        for form, files in made.items():
            with self.subTest(form):
                self.assertEqual({name: text for name, text in files.items() if name.startswith("src/")}, source)
                self.assertIn("LICENSE", files)
                for name, text in files.items():
                    if not name.startswith("src/"):
                        self.assertNotIn(b"@", text.replace(b"maintainers@bantam.invalid", b""), name)
                if form in LISTS:
                    found = re.findall(r"(src/[\w./-]+\.(?:c|cpp))\b", files[LISTS[form]].decode())
                    self.assertEqual(sorted(found), compiled)
        for name, text in source.items():
            if name.endswith(".cpp"):
                self.assertTrue(text.startswith(b'#define BANTAM_SOURCE 1\n#include "bantam_config.h"\n'), name)
            for included in re.findall(r'^\s*#\s*include "([^"]+)"', text.decode(), re.MULTILINE):
                beside = name.rsplit("/", 1)[0]
                self.assertTrue(f"src/{included}" in source or f"{beside}/{included}" in source, (name, included))

    def test_configuration(self):
        config = (self.make("cmake", core="cortex-m4") / "src" / "bantam_config.h").read_text()
        for words in (
            "BANTAM_FIRMWARE_ISA kDsp",
            "#define BANTAM_LINKS ",
            "__FAST_MATH__",
            "!defined(__ARM_FEATURE_DSP)",
        ):
            self.assertIn(words, config)
        self.assertIn(
            "__ARM_FEATURE_MVE", (self.make("cmake", core="cortex-m55") / "src" / "bantam_config.h").read_text()
        )
        config = (self.make("cmake") / "src" / "bantam_config.h").read_text()
        self.assertIn("BANTAM_FIRMWARE_ISA kScalar", config)
        self.assertNotIn("__ARM_FEATURE", config)
        # The same beside an array and a file.
        for form, output in (("c-array", "voice"), ("bin", "voice.bantam")):
            answer = self.line(
                *("firmware", model("voice"), "--board", "cortex-m4", "--format", form, "-o", self.directory / output),
                *("--max-tokens", "16", "--json"),
            )
            self.assertEqual(answer["outputs"][-1], str(self.directory / "voice_config.h"))
            config = (self.directory / "voice_config.h").read_text()
            self.assertIn(f"#define BANTAM_ARENA_BYTES {answer['ram']['arena_at_most']}\n", config)
            self.assertIn("#define BANTAM_MAX_TOKENS 16\n", config)
            self.assertIn('#define BANTAM_LINKED_HEADER "voice_config.h"\n', config)

    def test_zephyr(self):
        files = self.files(self.make("zephyr", core="cortex-m4"))
        module = files["zephyr/module.yml"].decode()
        for line in ("name: bantam\n", "  cmake: zephyr\n", "  kconfig: zephyr/Kconfig\n", "  - samples\n"):
            self.assertIn(line, module)
        options = files["zephyr/Kconfig"].decode()
        self.assertRegex(options, r'^config BANTAM\n\tbool "[^"\n]+"\n\tdepends on CPP\n\thelp\n(\t  .+\n)+$')
        sample = pairs(files["samples/lines/prj.conf"].decode())
        self.assertEqual((sample["CONFIG_BANTAM"], sample["CONFIG_FPU"], sample["CONFIG_CPP"]), ("y", "y", "y"))
        self.assertGreaterEqual(int(sample["CONFIG_MAIN_STACK_SIZE"]), 4096)
        self.assertIn("sample.bantam.lines:", files["samples/lines/sample.yaml"].decode())

    def test_arduino_and_platformio(self):
        files = self.files(self.make("arduino"))
        library = pairs(files["library.properties"].decode())
        # Arduino's library specification: what every library has.
        for name in (
            "name",
            "version",
            "author",
            "maintainer",
            "sentence",
            "paragraph",
            "category",
            "url",
            "architectures",
        ):
            self.assertTrue(library[name], name)
        self.assertEqual((library["version"], library["includes"]), (VERSION, "bantam_lines.h"))
        sketch = files["examples/lines/lines.ino"]
        self.assertIn(b"void setup()", sketch)
        files = self.files(self.make("platformio"))
        library = json.loads(files["library.json"])
        self.assertEqual((library["name"], library["version"]), ("bantam", VERSION))
        for example in library["examples"]:
            for name in example["files"]:
                self.assertEqual(files[f"{example['base']}/{name}"], sketch)

    def test_cmsis_pack(self):
        files = self.files(self.make("cmsis-pack", core="cortex-m7"))
        pack = xml.etree.ElementTree.fromstring(files["bantam.bantam.pdsc"])
        self.assertEqual([child.tag for child in pack][:4], ["vendor", "name", "description", "url"])
        self.assertEqual(pack.find("releases/release").get("version"), VERSION)
        cores = [accept.get("Dcore") for accept in pack.findall("conditions/condition/accept")]
        self.assertEqual(cores, ["Cortex-M33", "Cortex-M4", "Cortex-M7"])
        for file in pack.findall("components/component/files/file"):
            name = file.get("name")
            self.assertTrue(name in files or name.endswith("/"), name)
        self.assertIn(pack.find("license").text, files)

    def test_esp_idf(self):
        files = self.files(self.make("esp-idf"))
        manifest = files["idf_component.yml"].decode()
        self.assertIn(f'version: "{VERSION}"\n', manifest)
        self.assertIn("idf_component_register(", files["CMakeLists.txt"].decode())
        self.assertIn("idf_component_register(", files["examples/lines/main/CMakeLists.txt"].decode())

    def test_the_same_bytes_again(self):
        first = self.files(self.make("zephyr"))
        self.make("zephyr", "--force")
        self.assertEqual(self.files(self.directory / "zephyr-any"), first)

    def test_bad_arguments(self):
        refused = ("firmware", model("voice"), "-o", self.directory / "x")
        self.fails(2, *refused, "--core", "any", says=["--core any"])
        self.fails(2, *refused, "--core", "cortex-m4", says=["--flash and --ram"])
        self.fails(2, *refused, "--core", "any", "--format", "zephir", says=["zephyr"])


if __name__ == "__main__":
    unittest.main()

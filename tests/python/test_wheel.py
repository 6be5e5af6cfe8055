"""The wheel by the tools that judge wheels, and by pip: built from targets/python it has the same bytes, and installs where nothing
else is. BANTAM_TEST_WHEELS: the folder that make_environment.py wrote it to."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
(WHEEL,) = pathlib.Path(os.environ["BANTAM_TEST_WHEELS"]).glob("bantam-*.whl")
TOOLS = pathlib.Path(sys.executable).parent


def needs(module):
    return unittest.skipIf(importlib.util.find_spec(module) is None, f"not installed: {module}")


class Wheel(unittest.TestCase):
    def run_tool(self, *arguments, **variables):
        done = subprocess.run(
            [str(one) for one in arguments], capture_output=True, text=True, env={**os.environ, **variables}
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return " ".join(done.stdout.split())

    @needs("auditwheel")
    def test_platform(self):
        said = self.run_tool(sys.executable, "-m", "auditwheel", "show", WHEEL)
        self.assertIn('platform tag: "manylinux_2_17_', said)

    @needs("twine")
    def test_metadata(self):
        self.assertIn("PASSED", self.run_tool(sys.executable, "-m", "twine", "check", "--strict", WHEEL))

    @needs("check_wheel_contents")
    def test_contents(self):
        self.assertIn("OK", self.run_tool(TOOLS / "check-wheel-contents", WHEEL))

    @unittest.skipUnless(os.environ.get("BANTAM_TEST_PORTABLE"), "the command for wheels is not built here")
    def test_command(self):
        """bantam-cli beside the package: convert() finds it, and it asks for the C library alone."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            backend = ROOT / "targets" / "python" / "backend" / "bantam_build.py"
            self.run_tool(
                sys.executable, "-B", backend, "--out", folder, "--command", os.environ["BANTAM_TEST_PORTABLE"]
            )
            (wheel,) = folder.glob("bantam_cli-*.whl")
            said = self.run_tool(sys.executable, "-m", "auditwheel", "show", wheel)
            tag = wheel.stem.rsplit("-", 1)[1]
            self.assertIn(f'platform tag: "{tag}"', said)
            self.run_tool(sys.executable, "-m", "twine", "check", "--strict", wheel)
            self.run_tool(sys.executable, "-m", "venv", folder / "new")
            new = folder / "new" / "bin"
            self.run_tool(new / "pip", "--disable-pip-version-check", "install", "--no-index", WHEEL, wheel)
            code = (
                f"import bantam; bantam.convert({str(ROOT / 'models' / 'voice-commands')!r}, 'x.bantam', parity='none')"
            )
            code = f"import os; os.chdir({str(folder)!r}); {code}; print(bantam.load('x.bantam')('play jazz')['intent']['label'])"
            nothing = {"PYTHONPATH": "", "BANTAM_LIBRARY": "", "BANTAM_COMMAND": "", "PATH": ""}
            self.assertEqual(self.run_tool(new / "python", "-c", code, **nothing), "PlayMusic")

    def test_pip(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            library = os.environ["BANTAM_TEST_LIBRARY"]
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
            project = ROOT / "targets" / "python"
            self.run_tool(*pip, "wheel", "--no-deps", "--no-index", "-w", folder, project, BANTAM_WHEEL_LIBRARY=library)
            self.assertEqual((folder / WHEEL.name).read_bytes(), WHEEL.read_bytes())
            self.run_tool(sys.executable, "-m", "venv", folder / "new")
            new = folder / "new" / "bin"
            self.run_tool(new / "pip", "--disable-pip-version-check", "install", "--no-index", WHEEL)
            model = pathlib.Path(os.environ["BANTAM_TEST_MODELS"]) / "voice.bantam"
            code = f"import bantam; print(bantam.load({str(model)!r})('play some jazz')['intent']['label'])"
            self.assertEqual(self.run_tool(new / "python", "-c", code, PYTHONPATH="", BANTAM_LIBRARY=""), "PlayMusic")
            self.run_tool(new / "pip", "--disable-pip-version-check", "uninstall", "-y", "bantam")


if __name__ == "__main__":
    unittest.main()

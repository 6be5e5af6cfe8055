"""The npm package and the demo page in a headless browser. Skipped without one."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from pages import Browser, find_browser, serve, show, wait_for

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(os.environ.get("BANTAM_WASM_PACKAGE", SOURCE / "build" / "npm"))
COMMAND = os.environ.get("BANTAM_COMMAND", str(SOURCE / "build" / "bantam"))
MODELS = pathlib.Path(os.environ.get("BANTAM_TEST_MODELS", SOURCE / "build" / "tests" / "cli" / "models"))
COMMANDS = SOURCE / "models" / "voice-commands" / "commands.txt"
HASHES = (SOURCE / "tests" / "firmware" / "expected" / "kernels.hash").read_text()
SCREENSHOT = os.environ.get("BANTAM_WASM_SCREENSHOT")  # a file's name: what the demo page looks like
PROGRAM = find_browser()


def single(value):
    """A number as the 32 bits that it was, lists and objects by their parts."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return struct.pack("f", value)
    if isinstance(value, list):
        return [single(part) for part in value]
    if isinstance(value, dict):
        return {name: single(part) for name, part in value.items()}
    return value


def native():
    options = ["--json", "--offsets", "utf16", "--file", COMMANDS]
    done = subprocess.run(
        [COMMAND, "run", MODELS / "voice.bantam", *options],
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def form(answer):
    slots = [{name: slot[name] for name in ("label", "text", "start", "end", "score")} for slot in answer["slots"]]
    return single(
        {
            **{name: answer[name] for name in ("intent", "labels", "truncated")},
            "slots": slots,
        }
    )


class InBrowser(unittest.TestCase):
    def setUp(self):
        self.browser = Browser(PROGRAM)
        self.addCleanup(self.browser.close)

    def serve(self, places):
        server, origin = serve(places)
        self.addCleanup(lambda: (server.shutdown(), server.server_close()))
        return origin

    def test_package(self):
        image = "targets/wasm/kernels_image.wasm"
        places = {
            "npm": PACKAGE,
            "wasm": SOURCE / "tests" / "wasm",
            "model": MODELS / "voice.bantam",
            "texts": COMMANDS,
        }
        places |= {
            "kernels-simd": SOURCE / "build-wasm" / image,
            "kernels-relaxed": SOURCE / "build-wasm-relaxed" / image,
            "kernels-relaxed-dot": SOURCE / "build-wasm-relaxed-dot" / image,
        }
        result = json.loads(show(self.browser, self.serve(places) + "/wasm/page.html", 300))
        self.assertNotIn("error", result)
        print("module:", result["module"])
        expected = [form(answer) for answer in native()]
        self.assertGreater(len(expected), 5)
        self.assertEqual([form(answer) for answer in result["answers"]], expected)
        self.assertEqual([form(answer) for answer in result["remote"]], expected)
        self.assertRegex(result["refused"], "^BantamError 4: ")
        self.assertRegex(result["refusedRemote"], "^BantamError 4: ")
        self.assertRegex(result["missing"], "404")
        self.assertRegex(result["freed"], "freed")
        for name in ("simd", "relaxed", "relaxed-dot"):
            self.assertEqual(result[name], {"status": 0, "output": HASHES})
            self.assertEqual(result[f"{name}More"], "\n0 failures\n")

    def text(self, selector):
        return self.browser.evaluate(f"document.querySelector({selector!r}).innerText")

    def key(self, key):
        code = {"Enter": 13, "Tab": 9}[key]
        more = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            fields = {
                "type": kind,
                "key": key,
                "code": key,
                "windowsVirtualKeyCode": code,
                **(more if kind == "keyDown" else {}),
            }
            self.browser.call("Input.dispatchKeyEvent", **fields)

    def choose(self, node, name):
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[str((MODELS / name).resolve())])

    def test_demo(self):
        with tempfile.TemporaryDirectory() as folder:
            web = pathlib.Path(folder) / "web"
            subprocess.run(
                [SOURCE / "targets" / "wasm" / "demo.sh", COMMAND, PACKAGE, web],
                check=True,
            )
            origin = self.serve({"web": web})
            self.browser.events.clear()
            self.browser.call("Page.navigate", url=f"{origin}/web/index.html")
            wait_for(self.browser, "document.querySelector('html[data-ready]') !== null")
            self.assertEqual(self.text(".intent"), "PlayMusic")
            # By keyboard alone: from the input, whose text is chosen whole, to the answer.
            self.browser.evaluate("document.querySelector('#command-text').select()")
            self.browser.call("Input.insertText", text="will it rain in Zürich 🌧 tomorrow")
            self.key("Enter")
            wait_for(
                self.browser,
                "document.querySelector('.intent').innerText === 'GetWeather'",
            )
            marked = self.browser.evaluate("[...document.querySelectorAll('mark')].map(m => m.firstChild.data)")
            self.assertIn("Zürich", marked)
            self.browser.evaluate("document.querySelector('#command-text').focus()")
            self.key("Tab")
            self.assertEqual(self.browser.evaluate("document.activeElement.innerText"), "Understand")

            root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
            node = self.browser.call("DOM.querySelector", nodeId=root, selector="#search-file")["nodeId"]
            self.choose(node, "voice.bantam")
            wait_for(
                self.browser,
                "document.querySelector('#search-status').innerText.includes('--task embed')",
            )
            self.choose(node, "minilm-multilingual.bantam")
            wait_for(
                self.browser,
                "document.querySelector('#search-status').innerText.includes('ready')",
            )
            self.browser.evaluate("document.querySelector('#search-query').focus()")
            self.key("Enter")
            wait_for(
                self.browser,
                "document.querySelectorAll('#search-answer li').length === 5",
            )
            if SCREENSHOT:
                self.browser.screenshot(SCREENSHOT)
            for width in (360, 1280):
                self.browser.call(
                    "Emulation.setDeviceMetricsOverride",
                    width=width,
                    height=900,
                    deviceScaleFactor=1,
                    mobile=False,
                )
                self.assertLessEqual(
                    self.browser.evaluate("document.scrollingElement.scrollWidth"),
                    width,
                )
            elsewhere = [url for url in self.browser.requests() if not url.startswith((origin, "data:", "blob:"))]
            self.assertEqual(elsewhere, [])
            self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    if PROGRAM is None:
        print("skipped: no browser; `./dev test all` installs one, or name one in BANTAM_BROWSER")
        sys.exit(77)
    unittest.main()

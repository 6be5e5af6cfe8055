"""A headless browser, driven over the pipe of the Chrome DevTools Protocol: nothing but Python's standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser():
    """The browser of BANTAM_BROWSER, or one that is installed; None when there is none."""
    wanted = os.environ.get("BANTAM_BROWSER")
    return wanted or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page. `events` are the protocol's, in their order, since the page was opened."""

    def __init__(self, program):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down_read, self._to = os.pipe()
        self._from, up_write = os.pipe()
        # The browser reads commands from its descriptor 3 and writes to 4; high numbers keep dup2 from treading on them.
        low = [os.dup(down_read), os.dup(up_write)]
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += [
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        shell = f'exec 3<&{low[0]} 4>&{low[1]} {low[0]}<&- {low[1]}>&-; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=low,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for descriptor in (down_read, up_write, *low):
            os.close(descriptor)
        self._pending = b""
        self._number = 0
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self):
        for descriptor in (self._to, self._from):
            os.close(descriptor)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()

    def _message(self, seconds=60):
        end = time.monotonic() + seconds
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._from], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self._from, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self._pending += chunk
        message, self._pending = self._pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, height=900, dark=False, scripts=True, media="screen"):
        """Shows a file; returns once it is loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        loader = self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")["loaderId"]
        loaded = {"loaderId": loader, "name": "load"}
        while not any(loaded.items() <= event["params"].items() for event in self.events):
            self.events.append(self._message())
        self.events = [e for e in self.events if e["params"].get("loaderId", loader) == loader]

    def evaluate(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def requests(self):
        """Addresses that the page asked for, itself left out."""
        urls = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return urls[1:] if urls and urls[0].startswith("file://") else urls

    def complaints(self):
        """Exceptions that the page threw, and lines that it wrote to the console."""
        return [
            e
            for e in self.events
            if e["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        ]

    def screenshot(self, path):
        """The whole page as a PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

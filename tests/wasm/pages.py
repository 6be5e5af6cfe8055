"""Pages for a headless browser: a server of files on this machine alone, and what a page shows when it is done."""

import functools
import http.server
import pathlib
import sys
import threading
import time
import typing
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from browser import Browser, find_browser  # noqa: E402, F401

TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".html": "text/html",
    ".css": "text/css",
}


class Files(http.server.SimpleHTTPRequestHandler):
    """The files of `places`: a name of the address's beginning, and where it lies."""

    extensions_map: typing.ClassVar = {**TYPES, "": "application/octet-stream"}

    def __init__(self, places, *arguments):
        self.places = places
        super().__init__(*arguments)

    def translate_path(self, path):
        first, _, rest = urllib.parse.unquote(urllib.parse.urlsplit(path).path).lstrip("/").partition("/")
        place = self.places.get(first)
        return str(place / rest if rest else place) if place else "/nonexistent"

    def log_message(self, *_):
        pass


def serve(places):
    """The server, and the beginning of its addresses."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, places))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def wait_for(browser, expression, seconds=120):
    """Until a JavaScript expression is true."""
    end = time.monotonic() + seconds
    while not browser.evaluate(expression):
        if time.monotonic() > end:
            raise RuntimeError(f"{expression} is not true after {seconds} s: {browser.complaints()}")
        time.sleep(0.1)


def show(browser, url, seconds=120):
    """Goes to a page and waits until its title is `done`; what it shows."""
    browser.events.clear()
    browser.call("Page.navigate", url=url)
    wait_for(browser, "document.title === 'done'", seconds)
    return browser.evaluate("document.body.innerText")

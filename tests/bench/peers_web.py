"""MiniLM int8 in a headless browser: the npm package beside onnxruntime-web's wasm back end, one thread each, in turns in one page.

Needs `./dev wasm`, the package onnxruntime-web (`npm install onnxruntime-web` somewhere) and both files of one model."""

import argparse
import json
import pathlib
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path.insert(0, str(SOURCE / "tests" / "wasm"))
from pages import Browser, find_browser, serve, show  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=pathlib.Path, default=SOURCE / "build" / "npm")
    parser.add_argument(
        "--ort",
        required=True,
        type=pathlib.Path,
        help="node_modules/onnxruntime-web/dist",
    )
    parser.add_argument("--bantam", required=True, type=pathlib.Path, help="the .bantam file")
    parser.add_argument(
        "--onnx",
        required=True,
        type=pathlib.Path,
        help="the .onnx file of the same model",
    )
    parser.add_argument("--lengths", default="8,16,32,64,128")
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    program = find_browser()
    if program is None:
        sys.exit("no browser: apt-get install chromium-headless-shell, or name one in BANTAM_BROWSER")
    places = {
        "npm": given.package,
        "ort": given.ort,
        "model": given.bantam,
        "onnx": given.onnx,
        "web": HERE / "web",
    }
    server, origin = serve(places)
    query = {
        "bantam": "/model",
        "onnx": "/onnx",
        "ort": "/ort/",
        "rounds": given.rounds,
        "lengths": given.lengths,
    }
    browser = Browser(program)
    try:
        address = f"{origin}/web/bench.html?{urllib.parse.urlencode(query)}"
        result = json.loads(show(browser, address, 600))
    finally:
        browser.close()
        server.shutdown()
    if "error" in result:
        sys.exit(result["error"])
    print(f"{result['agent']}, module {result['module']}")
    print(f"load: bantam {result['bantamLoad']:.0f} ms, onnxruntime-web {result['ortLoad']:.0f} ms")
    print("| tokens | bantam ms | onnxruntime-web ms | ratio |\n|---|---|---|---|")
    for length, ours, theirs in zip(result["lengths"], result["bantam"], result["ort"], strict=True):
        print(f"| {length} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()

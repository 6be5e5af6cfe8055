"""Tests of the WebAssembly modules and the npm package: run.py build|kernels|native|package|hosts|browser. What a machine lacks is said, and
its tests are skipped (77): `./dev wasm` installs the compilers, `./dev test all` the browser, too."""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PRESETS = ("wasm", "wasm-relaxed", "wasm-relaxed-dot")
EXPECTED = SOURCE / "tests" / "firmware" / "expected" / "kernels.hash"

sys.path.insert(0, str(SOURCE / "tests"))
import skipping  # noqa: E402
from skipping import skip  # noqa: E402


def need(*programs):
    skipping.need(programs, "targets/packages/debian.txt has the group wasm, `./dev wasm` installs it")


def build(given):
    need("clang++-19", "wasm-ld-19", "node", "ninja")
    for preset in PRESETS:
        subprocess.run(["cmake", "--preset", preset, "-DBANTAM_WERROR=ON"], cwd=SOURCE, check=True)
        subprocess.run(
            ["cmake", "--build", "--preset", preset, "-j", str(given.jobs)],
            cwd=SOURCE,
            check=True,
        )
    subprocess.run([SOURCE / "targets" / "wasm" / "package.sh", given.package], check=True)


def built(given):
    need("node")
    if not (given.package / "bantam.wasm").exists():
        skip("the package is not built: see the test wasm_build")


def node(*arguments, **environment):
    return subprocess.run(["node", *map(str, arguments)], env={**os.environ, **environment}, check=False).returncode


def kernels(given):
    built(given)
    return node(
        HERE / "kernels.mjs",
        SOURCE / "build-wasm" / "targets" / "wasm" / "kernels_image.wasm",
        EXPECTED,
    )


def node_tests(given, file):
    built(given)
    return node("--test", file, BANTAM_WASM_TEST=f"{given.package}:{given.command}:{given.models}")


def native(given):
    return node_tests(given, HERE / "native.mjs")


def package(given):
    return node_tests(given, HERE / "package.mjs")


def hosts(given):
    folder = SOURCE / "build-wasm" / "npm" / "node_modules"
    if not folder.is_dir():
        skip("Bun, Deno and workerd are not in build-wasm/npm: `./dev test all` installs them")
    os.environ["BANTAM_WASM_HOSTS"] = str(folder)
    return node_tests(given, HERE / "hosts.mjs")


def browser(given):
    built(given)
    arguments = [sys.executable, "-B", HERE / "test_browser.py"]
    names = {
        "BANTAM_WASM_PACKAGE": given.package,
        "BANTAM_COMMAND": given.command,
        "BANTAM_TEST_MODELS": given.models,
    }
    return subprocess.run(
        arguments,
        env={**os.environ, **{k: str(v) for k, v in names.items()}},
        check=False,
    ).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["build", "kernels", "native", "package", "hosts", "browser"])
    parser.add_argument("--package", type=pathlib.Path, default=SOURCE / "build" / "npm")
    parser.add_argument("--command", default=SOURCE / "build" / "bantam")
    parser.add_argument(
        "--models",
        type=pathlib.Path,
        default=SOURCE / "build" / "tests" / "cli" / "models",
    )
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    return globals()[given.what](given) or 0


if __name__ == "__main__":
    sys.exit(main())

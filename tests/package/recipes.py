"""recipes.py NAME WORK: a package that targets/packages/generate.py writes, checked as far as its tools are to be had here;
docs/packages.md says how far that is. Those that compile take a minute each: `./dev test all` does them."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

from support import SOURCE, check, facts, generate, need_long, run, skip


def archive(folder):
    (path,) = folder.glob("*.tar.gz")
    return path


def source(work):
    """The same bytes each time, every file of the list, and nothing of this machine."""
    first = archive(generate(work / "first", "source"))
    check(first.read_bytes() == archive(generate(work / "second", "source")).read_bytes(), "two runs differ")
    with tarfile.open(first) as tar:
        names = [name.removeprefix(f"bantam-{facts.version()}/") for name in tar.getnames()]
        check({member.uid for member in tar} == {0}, "owners")
    check(names == facts.source_files(), "other files")
    for needed in (
        "CMakeLists.txt",
        "LICENSE",
        "runtime/include/bantam/bantam.h",
        "schemas/bantam.fbs",
        "targets/packages/facts.py",
    ):
        check(needed in names, "lacks", needed)
    check(not [name for name in names if name.startswith(("tests/", "build", ".git"))], "too much")


def versions(work):
    """One version and licence, whoever states them."""
    for place, pattern in (
        ("targets/python/bantam/__init__.py", r'__version__ = "(.*)"'),
        ("converter/CMakeLists.txt", r"BANTAM_VERSION=\"(\$\{PROJECT_VERSION\})\""),
    ):
        for found in re.findall(pattern, (SOURCE / place).read_text()):
            check(found in (facts.version(), "${PROJECT_VERSION}"), place, "states", found)
    manifest = json.loads((generate(work, "npm") / "package.json").read_text())
    check(manifest["version"] == facts.version(), manifest["version"])
    check(manifest["license"] == facts.FACTS["license"], manifest["license"])
    check(
        '"version"' not in (SOURCE / "targets/packages/npm/package.json").read_text(),
        "npm/package.json states a version",
    )
    for path in manifest["files"]:
        check(path.endswith(".wasm") or list((work / "npm").glob(path)), "files:", path)
    pyproject = (SOURCE / "targets/python/pyproject.toml").read_text()
    check(f'license = "{facts.FACTS["license"]}"' in pyproject, "pyproject.toml: licence")
    check('dynamic = ["version", "description", "keywords"]' in pyproject, "pyproject.toml states what facts.json does")
    templates = "".join(
        path.read_text() for path in sorted((SOURCE / "targets/packages/templates").rglob("*")) if path.is_file()
    )
    check(facts.version() not in templates, "a template states the version")


def android(work):
    """The archive's layout, by what prefab reads; an archive of this machine stands for the NDK's."""
    library = work / "libbantam.a"
    work.mkdir(parents=True, exist_ok=True)
    library.write_bytes(b"!<arch>\n")
    folder = generate(work, "android", "--android", f"arm64-v8a={library}", "--android", f"x86_64={library}")
    with zipfile.ZipFile(folder / f"bantam-{facts.version()}.aar") as aar:
        names = set(aar.namelist())
        read = {name: aar.read(name) for name in names}
    check({"AndroidManifest.xml", "classes.jar", "prefab/prefab.json"} <= names, sorted(names))
    package = json.loads(read["prefab/prefab.json"])
    check((package["name"], package["version"], package["schema_version"]) == ("bantam", facts.version(), 2), package)
    check(re.fullmatch(r"\d+(\.\d+){0,3}", package["version"]), "CMake's form of versions:", package["version"])
    module = json.loads(read["prefab/modules/bantam/module.json"])
    check(module["library_name"] == "libbantam", module)
    check("prefab/modules/bantam/include/bantam/bantam.h" in names, "no headers")
    for abi in ("arm64-v8a", "x86_64"):
        stated = json.loads(read[f"prefab/modules/bantam/libs/android.{abi}/abi.json"])
        check((stated["abi"], stated["static"], stated["stl"]) == (abi, True, "none"), stated)
        check(f"prefab/modules/bantam/libs/android.{abi}/libbantam.a" in names, "no library for", abi)
    wrong = [sys.executable, "-B", SOURCE / "targets/packages/generate.py", "android", "--out", work]
    for more in ([], ["--android", f"mips={library}"], ["--android", "x86"]):
        check(subprocess.run([*wrong, *more], capture_output=True, check=False).returncode == 1, "taken:", *more)


def firmware(work):
    """Libraries that `bantam firmware --format` writes, as files; a folder with two files stands for one."""
    library = work / "library"
    (library / "src").mkdir(parents=True)
    (library / "src" / "a.cpp").write_text("int a;\n")
    (library / ".bantam-firmware").write_text("list\n")
    given = [word for form in ("arduino", "cmsis-pack", "esp-idf") for word in ("--firmware", f"{form}={library}")]
    folder = generate(work, "firmware", *given)
    with zipfile.ZipFile(folder / f"bantam-{facts.version()}-arduino.zip") as zipped:
        check(zipped.namelist() == ["bantam/src/a.cpp"], zipped.namelist())
    with zipfile.ZipFile(folder / f"bantam.bantam.{facts.version()}.pack") as zipped:
        check(zipped.namelist() == ["src/a.cpp"], zipped.namelist())
    with tarfile.open(folder / f"bantam-{facts.version()}-esp-idf.tar.gz") as tar:
        check(tar.getnames() == ["bantam/src/a.cpp"], tar.getnames())
    wrong = [sys.executable, "-B", SOURCE / "targets/packages/generate.py", "firmware", "--out", work]
    for more in ([], ["--firmware", f"zephyr={library}"]):
        check(subprocess.run([*wrong, *more], capture_output=True, check=False).returncode == 1, "taken:", *more)


def conan(work):
    """`conan create`, without a network: FlatBuffers of the system."""
    need_long("conan builds the library and the test package")
    program = pathlib.Path(sys.executable).with_name("conan")
    if not program.exists():
        skip("conan is not installed beside this Python: tests/package/requirements.txt")
    folder = generate(work, "conan")
    home = {"CONAN_HOME": str(work / "home"), "PATH": "/usr/bin:/bin"}
    run(program, "profile", "detect", "--force", env=home)
    shown = run(program, "inspect", folder, "--format", "json", env=home)
    check(json.loads(shown)["version"] == facts.version(), shown)
    run(program, "create", folder, "-nr", "-o", "bantam/*:system_flatbuffers=True", env=home)


CHECKS = {one.__name__: one for one in (source, versions, android, firmware, conan)}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    CHECKS[sys.argv[1]](folder)

"""recipes.py NAME WORK [MODEL]: a package that targets/packages/generate.py writes, checked as far as its tools are to be had here;
docs/packages.md says how far that is. Those that compile take a minute each: `./dev test all` does them."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

from support import SOURCE, check, facts, generate, need, need_long, run, skip


def archive(folder):
    (path,) = folder.glob("*.tar.gz")
    return path


def source(work, _model):
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


def versions(work, _model):
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


def vcpkg(work, model):
    """The manifest's fields, and the portfile run with stand-ins for vcpkg's functions; what it installs is used."""
    port = generate(work, "vcpkg") / "ports" / "bantam"
    manifest = json.loads((port / "vcpkg.json").read_text())
    check(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]), manifest["name"])
    check(manifest["version"] == facts.version(), manifest["version"])
    check(
        set(manifest) == {"name", "version", "description", "homepage", "license", "supports", "dependencies"},
        set(manifest),
    )
    for dependency in manifest["dependencies"]:
        check(isinstance(dependency, str) or set(dependency) == {"name", "host"}, dependency)
    need_long("the portfile builds the library")
    stubs = pathlib.Path(__file__).with_name("vcpkg_stubs.cmake")
    run("cmake", f"-DPORT_DIR={port}", f"-DARCHIVES={work / 'source'}", f"-DWORK={work / 'built'}", "-P", stubs)
    tree = work / "built" / "packages"
    for path in ("lib/libbantam.a", "include/bantam/bantam.h", "share/bantam/copyright", "share/bantam/usage"):
        check((tree / path).exists(), "not installed:", path)
    use_installed(tree, work, model)


def use_installed(tree, work, model):
    (packages,) = tree.rglob("bantam.pc")
    environment = {"PKG_CONFIG_PATH": str(packages.parent), "PATH": "/usr/bin:/bin"}
    flags = run("pkg-config", "--cflags", "--libs", "bantam", env=environment).split()
    run("cc", "-std=c11", SOURCE / "examples" / "intent.c", "-o", work / "intent", *flags, "-lm")
    check("PlayMusic" in run(work / "intent", model, "play some jazz"), "another answer")


def homebrew(work, _model):
    """Ruby's grammar, and the formula loaded with stand-ins for Homebrew's words."""
    need("ruby")
    formula = generate(work, "homebrew") / "Formula" / "bantam.rb"
    run("ruby", "-c", formula)
    stubs = pathlib.Path(__file__).with_name("formula_stubs.rb")
    run("ruby", "-W2", stubs, formula, facts.version(), archive(work / "source"))


def swift(work, model):
    """The target compiled as its manifest says, one file at a time, and an example on it."""
    folder = generate(work, "swift")
    manifest = (folder / "Package.swift").read_text()
    check(manifest.startswith("// swift-tools-version:"), "the first line")
    check(not re.search(r"@[A-Z]", manifest), "a place holder is left")
    target = folder / re.search(r'path: "(.*)"', manifest).group(1)
    check(
        (target / re.search(r'publicHeadersPath: "(.*)"', manifest).group(1) / "module.modulemap").exists(),
        "no module map",
    )
    flags = [f"-I{target / path}" for path in re.findall(r'headerSearchPath\("(.*)"\)', manifest)]
    flags += [f"-D{name}" for name in re.findall(r'define\("(\w+)"', manifest)]
    sources = sorted(target.rglob("*.cpp"))
    check(len(sources) > 50, len(sources), "sources")
    check(
        all(path.read_text().startswith("#pragma STDC FP_CONTRACT OFF\n") for path in sources),
        "fused operations are allowed",
    )
    for header in re.findall(r'header "(.*)"', (target / "include" / "module.modulemap").read_text()):
        check((target / "include" / header).exists(), "there is no", header)
    if shutil.which("swift"):
        json.loads(run("swift", "package", "--package-path", folder, "describe", "--type", "json"))
    need_long("its target is compiled")
    need("clang++")
    objects = work / "objects"
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir(parents=True)
    for number, source in enumerate(sources):  # folders have files of the same name
        object_file = objects / f"{number}.o"
        run("clang++", "-std=c++17", "-O1", "-c", *flags, f"-I{target / 'include'}", source, "-o", object_file)
    run("clang", "-std=c11", f"-I{target / 'include'}", "-c", SOURCE / "examples" / "intent.c", cwd=objects)
    run("clang++", *sorted(objects.glob("*.o")), "-o", work / "intent")
    check("PlayMusic" in run(work / "intent", model, "play some jazz"), "another answer")


def android(work, _model):
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


def conan(work, _model):
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


CHECKS = {one.__name__: one for one in (source, versions, vcpkg, homebrew, swift, android, conan)}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    CHECKS[sys.argv[1]](folder, pathlib.Path(sys.argv[3]).resolve())

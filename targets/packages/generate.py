#!/usr/bin/env python3
"""Writes what package managers want of bantam, from one version and one list of files (facts.py, facts.json) and the templates
beside this script. docs/packages.md says what each is and how it was checked."""

import argparse
import json
import pathlib
import re
import shutil
import struct

import facts

TEMPLATES = facts.HERE / "templates"
# What CMake calls the machines that Android's ABIs are.
ANDROID_ABIS = ("arm64-v8a", "armeabi-v7a", "x86", "x86_64")
ANDROID_API = 24
ANDROID_NDK = 25
# What commands without libraries are called by: the machine in an ELF header, and its name for people.
LINUX_MACHINES = {
    "x86_64": (62, "64-bit x86"),
    "aarch64": (183, "64-bit ARM"),
    "armv7": (40, "32-bit ARM (hard floats)"),
    "riscv64": (243, "64-bit RISC-V"),
}
PT_INTERP = 3


def fill(name, folder, **more):
    """Copies the templates of `name` into `folder`, with values for @NAME@; FILE.in becomes FILE."""
    known = facts.values(**more)

    def value(found):
        if found.group(1) not in known:
            raise SystemExit(f"generate: template of {name} names @{found.group(1)}@, which nobody knows")
        return str(known[found.group(1)])

    for template in sorted((TEMPLATES / name).rglob("*")):
        if template.is_file():
            place = template.relative_to(TEMPLATES / name).as_posix()
            target = folder / place.removesuffix(".in")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(re.sub(r"@([A-Z][A-Z0-9_]*)@", value, template.read_text()))


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def source(given):
    folder = fresh(given.out / "source")
    facts.source_archive(folder / f"bantam-{facts.version()}.tar.gz")


def conan(given):
    """The recipe, its test and, as exported sources, the files of the archive; and all of it in one archive beside the folder."""
    folder = fresh(given.out / "conan")
    fill("conan", folder)
    (folder / "test_package").mkdir(exist_ok=True)
    shutil.copy(facts.ROOT / "examples" / "intent.c", folder / "test_package" / "intent.c")
    for name in facts.source_files():
        target = folder / "src" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(facts.ROOT / name, target)
    whole = f"bantam-{facts.version()}-conan"
    facts.write_archive(given.out / f"{whole}.tar.gz", whole, facts.files_below(folder))


def android(given):
    """bantam-VERSION.aar: the static library of each ABI in the layout that Android's Gradle plugin calls prefab."""
    if not given.android:
        raise SystemExit(
            "generate android: which libraries? --android ABI=libbantam.a, as the preset `android` builds them"
        )
    folder = fresh(given.out / "android")
    tree = folder / "aar"
    fill("android", tree)
    module = tree / "prefab" / "modules" / "bantam"
    shutil.copytree(facts.ROOT / "runtime" / "include", module / "include")
    for pair in given.android:
        abi, _, library = pair.partition("=")
        if abi not in ANDROID_ABIS or not library:
            raise SystemExit(f"generate android: {pair}: ABI=FILE, of which ABI is one of {', '.join(ANDROID_ABIS)}")
        place = module / "libs" / f"android.{abi}"
        place.mkdir(parents=True)
        shutil.copy(library, place / "libbantam.a")
        said = {"abi": abi, "api": ANDROID_API, "ndk": ANDROID_NDK, "stl": "none", "static": True}
        (place / "abi.json").write_text(json.dumps(said, indent=2) + "\n")
    shutil.copy(facts.ROOT / "LICENSE", tree / "LICENSE")
    facts.write_zip(tree / "classes.jar", {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\n"})
    facts.write_zip(folder / f"bantam-{facts.version()}.aar", facts.files_below(tree))


def elf_machine(program):
    """(which machine, whether it asks for a loader, and so for libraries) of an ELF file, as its header says (System V ABI, chapter 4)."""
    if program[:4] != b"\x7fELF" or program[5] != 1:
        raise SystemExit("generate linux: that is no program for a little-endian machine")
    wide = program[4] == 2
    (machine,) = struct.unpack_from("<H", program, 18)
    (table,) = struct.unpack_from("<Q" if wide else "<I", program, 32 if wide else 28)
    size, count = struct.unpack_from("<HH", program, 54 if wide else 42)
    kinds = [struct.unpack_from("<I", program, table + size * at)[0] for at in range(count)]
    return machine, PT_INTERP in kinds


def linux(given):
    """bantam-VERSION-linux-MACHINE.tar.gz: the command without any library, of the presets for that machine."""
    if not given.linux:
        raise SystemExit(
            "generate linux: which commands? --linux MACHINE=bantam, as `./dev packages MACHINE` builds them"
        )
    folder = given.out / "linux"
    for pair in given.linux:
        machine, _, program = pair.partition("=")
        if machine not in LINUX_MACHINES or not program:
            raise SystemExit(
                f"generate linux: {pair}: MACHINE=FILE, of which MACHINE is one of {', '.join(LINUX_MACHINES)}"
            )
        number, name = LINUX_MACHINES[machine]
        found, loads = elf_machine(pathlib.Path(program).read_bytes())
        if found != number or loads:
            raise SystemExit(
                f"generate linux: {pair}: {'it needs libraries' if loads else 'that is for another machine'}"
            )
        tree = fresh(folder / machine)
        fill("linux", tree, MACHINE=name, TARGET=machine)
        whole = f"bantam-{facts.version()}-linux-{machine}"
        files = {"LICENSE": facts.ROOT / "LICENSE", "README.md": tree / "README.md", "bantam": pathlib.Path(program)}
        facts.write_archive(folder / f"{whole}.tar.gz", whole, files)


def library_of(build):
    """The static libraries of a build folder, and their headers."""
    files = {f"include/{name}": path for name, path in facts.files_below(facts.ROOT / "runtime" / "include").items()}
    for name in ("runtime/libbantam.a", "runtime/host/libbantam_host.a"):
        files[f"lib/{pathlib.PurePath(name).name}"] = pathlib.Path(build) / name
    return files


def windows(given):
    """bantam-VERSION-windows-x86_64.zip: the library of the preset windows."""
    if not given.windows:
        raise SystemExit("generate windows: which build? --windows FOLDER, as `./dev packages windows` makes it")
    folder = fresh(given.out / "windows")
    fill("windows", folder)
    whole = f"bantam-{facts.version()}-windows-x86_64"
    files = {"LICENSE": facts.ROOT / "LICENSE", "README.md": folder / "README.md", **library_of(given.windows)}
    facts.write_zip(folder / f"{whole}.zip", {f"{whole}/{name}": path for name, path in files.items()})


def macos(given):
    """bantam-VERSION-macos-MACHINE.tar.gz: the library of the presets macos-arm64 and macos-x86_64."""
    if not given.macos:
        raise SystemExit("generate macos: which builds? --macos MACHINE=FOLDER, as `./dev packages macos` makes them")
    folder = given.out / "macos"
    for pair in given.macos:
        machine, _, build = pair.partition("=")
        tree = fresh(folder / machine)
        fill("macos", tree, MACHINE=machine)
        whole = f"bantam-{facts.version()}-macos-{machine}"
        files = {"LICENSE": facts.ROOT / "LICENSE", "README.md": tree / "README.md", **library_of(build)}
        facts.write_archive(folder / f"{whole}.tar.gz", whole, files)


def firmware(given):
    """Libraries with a model in them, which `bantam firmware --format` has written: each as the one file that its tools install."""
    if not given.firmware:
        raise SystemExit(
            "generate firmware: which libraries? --firmware FORMAT=FOLDER, as `bantam firmware --format` writes them"
        )
    out = fresh(given.out / "firmware")
    whole = f"bantam-{facts.version()}"
    for pair in given.firmware:
        form, _, folder = pair.partition("=")
        files = facts.files_below(pathlib.Path(folder))
        files.pop(".bantam-firmware", None)  # for `bantam firmware --force` alone
        if form == "arduino":
            facts.write_zip(out / f"{whole}-arduino.zip", {f"bantam/{name}": path for name, path in files.items()})
        elif form == "cmsis-pack":  # VENDOR.NAME.VERSION.pack
            facts.write_zip(out / f"bantam.bantam.{facts.version()}.pack", files)
        elif form == "esp-idf":
            facts.write_archive(out / f"{whole}-esp-idf.tar.gz", "bantam", files)
        else:
            raise SystemExit(f"generate firmware: {pair}: FORMAT is arduino, cmsis-pack or esp-idf")


def npm(given):
    """The JavaScript package without its modules, which targets/wasm/package.sh adds."""
    folder = fresh(given.out / "npm")
    for path in sorted((facts.HERE / "npm").iterdir()):
        shutil.copy(path, folder / path.name)
    manifest = json.loads((folder / "package.json").read_text())
    manifest = {"name": facts.FACTS["name"], "version": facts.version(), "license": facts.FACTS["license"], **manifest}
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    shutil.copy(facts.ROOT / "LICENSE", folder / "LICENSE")


GENERATORS = {
    "source": source,
    "conan": conan,
    "android": android,
    "linux": linux,
    "windows": windows,
    "macos": macos,
    "firmware": firmware,
    "npm": npm,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(GENERATORS)} (default: all that need no build)"
    )
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder that gets a folder for each")
    parser.add_argument(
        "--android", action="append", metavar="ABI=FILE", help="a static library for Android; once for each"
    )
    parser.add_argument(
        "--linux", action="append", metavar="MACHINE=FILE", help="a command without libraries; once for each machine"
    )
    parser.add_argument("--windows", metavar="FOLDER", help="a build folder of the preset windows")
    parser.add_argument(
        "--macos", action="append", metavar="MACHINE=FOLDER", help="a build folder of a preset for macOS; once for each"
    )
    parser.add_argument(
        "--firmware", action="append", metavar="FORMAT=FOLDER", help="a library for microcontrollers; once for each"
    )
    given = parser.parse_args()
    built = {name: getattr(given, name) for name in ("android", "linux", "windows", "macos", "firmware")}
    names = given.names or [name for name in GENERATORS if built.get(name, True)]
    for name in names:
        if name not in GENERATORS:
            parser.error(f'there is no "{name}"; there are {", ".join(GENERATORS)}')
        GENERATORS[name](given)
        print(f"{given.out / name}: {facts.version()}")


if __name__ == "__main__":
    main()

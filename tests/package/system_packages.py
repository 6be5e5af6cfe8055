"""system_packages.py deb|rpm BUILD WORK: what cpack makes of a build folder: names, version, files, dependencies; what lintian (deb) and
rpmlint (rpm) say of it. Nothing is installed: the command is unpacked and started."""

import pathlib
import re
import shutil
import sys

from support import SOURCE, check, facts, need, run

# What they may say, and why: `./dev release` asks the same.
LINTIAN = ("lintian", "--allow-root", "--suppress-tags-from-file", SOURCE / "targets/packages/lintian.tags",
           "--fail-on", "error,warning")  # fmt: skip
RPMLINT = ("rpmlint", "--config", SOURCE / "targets/packages/rpmlint.toml", "--strict")


def pack(build, work, generator):
    shutil.rmtree(work, ignore_errors=True)
    printed = run("cpack", "-G", generator, "-B", work, cwd=build)
    check("Warning" not in printed, printed)


def check_files(names, files):
    command, library = files
    for path in ("usr/bin/bantam", "usr/share/man/man1/bantam.1.gz", "usr/share/bash-completion/completions/bantam"):
        check(path in command, names[0], "lacks", path)
    for path in ("usr/include/bantam/bantam.h", "usr/share/bantam/bantam.fbs"):
        check(path in library, names[1], "lacks", path)
    for end in ("/bantamConfig.cmake", "/bantam.pc", "/bantam.cps"):
        check(any(path.endswith(end) for path in library), names[1], "lacks", end)
    check(not set(command) & set(library), "in both:", set(command) & set(library))


def lint(command, paths):
    if shutil.which(command[0]) is None:
        print(f"{command[0]} is not installed: its checks are left out")
        return
    run(*command, *paths)


def start(folder):
    check(run(folder / "usr/bin/bantam", "--version").split() == ["bantam", facts.version()], "another version")


def deb(build, work):
    need("cpack", "dpkg-deb", "dpkg-shlibdeps")
    pack(build, work, "DEB")
    names = ("bantam", "libbantam-dev")
    paths = [next(iter(work.glob(f"{name}_{facts.version()}_*.deb")), None) for name in names]
    check(all(paths), "there are", list(work.iterdir()))
    files = []
    for path in paths:
        listed = run("dpkg-deb", "-c", path)
        files.append([re.split(r" \./| -> ", line)[1] for line in listed.splitlines() if not line.startswith("d")])
        field = {
            key: run("dpkg-deb", "-f", path, key).strip() for key in ("Version", "Depends", "Description", "Homepage")
        }
        check(field["Version"] == facts.version(), field)
        check("libc6" in field["Depends"], field)
        check(field["Description"].splitlines()[0] == facts.FACTS["summary"], field)
    check_files(names, files)
    run("dpkg-deb", "-x", paths[0], work / "unpacked")
    start(work / "unpacked")
    lint(LINTIAN, paths)


def rpm(build, work):
    need("cpack", "rpm", "rpmbuild", "rpm2cpio", "cpio")
    pack(build, work, "RPM")
    names = ("bantam", "bantam-devel")
    paths = [next(iter(work.glob(f"{name}-{facts.version()}-*.rpm")), None) for name in names]
    check(all(paths), "there are", list(work.iterdir()))
    files = []
    for path, name in zip(paths, names, strict=True):
        stated = run("rpm", "-qp", "--qf", "%{NAME}|%{VERSION}|%{LICENSE}|%{DESCRIPTION}", path).split("|")
        stated[3] = stated[3].replace("\n", " ")
        check(stated == [name, facts.version(), facts.FACTS["license"], facts.FACTS["description"]], stated)
        listed = [line.split(maxsplit=8) for line in run("rpm", "-qplv", path).splitlines()]
        folders = {words[8] for words in listed if words[0].startswith("d")}
        shared = {"/usr", "/usr/bin", "/usr/share/man", "/usr/share/man/man1", "/usr/lib", "/usr/lib/pkgconfig"}
        check(not shared & folders, "owns the system's folders:", shared & folders)
        files.append([words[8].lstrip("/") for words in listed if words[8] not in folders])
    check_files(names, files)
    check("libstdc++.so" in run("rpm", "-qpR", paths[0]), "no dependencies")
    check(
        f"pkgconfig(bantam) = {facts.version()}" in run("rpm", "-qp", "--provides", paths[1]), "provides no pkg-config"
    )
    lint(RPMLINT, paths)
    (work / "unpacked").mkdir()
    run("sh", "-c", f"rpm2cpio '{paths[0]}' | cpio -idm --quiet", cwd=work / "unpacked")
    start(work / "unpacked")


if __name__ == "__main__":
    {"deb": deb, "rpm": rpm}[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))

"""cps.py PREFIX EXAMPLES MODEL WORK: bantam.cps of an installed tree, read as the Common Package Specification has it (0.13), is
enough to build and run the examples."""

import json
import os
import pathlib
import re
import shutil
import sys

from support import check, facts, run

TYPES = ("archive", "dylib", "module", "jar", "interface", "symbolic")
ROOT_FIELDS = {
    "cps_version",
    "cps_path",
    "name",
    "version",
    "compat_version",
    "description",
    "license",
    "default_components",
    "components",
}
COMPONENT_FIELDS = {"type", "location", "includes", "requires", "link_languages", "link_libraries"}


def well_formed(package):
    check(set(package) <= ROOT_FIELDS, "unknown fields", set(package) - ROOT_FIELDS)
    check(re.fullmatch(r"0\.\d+\.\d+", package["cps_version"]), package["cps_version"])
    check((package["name"], package["version"]) == ("bantam", facts.version()), package["version"])
    check(package["cps_path"].startswith("@prefix@/"), package["cps_path"])
    for name, component in package["components"].items():
        check(set(component) <= COMPONENT_FIELDS, name, set(component) - COMPONENT_FIELDS)
        check(component["type"] in TYPES, component["type"])
        for required in component.get("requires", []):
            check(required.removeprefix(":") in package["components"], name, "requires", required)


def flags(package, prefix, names):
    """Compiler flags and linker arguments of components, those that need others first."""
    compile_flags, link = [], []
    for name in names:
        component = package["components"][name]
        at = {"location": component["location"].replace("@prefix@", str(prefix))}
        check(pathlib.Path(at["location"]).exists(), "there is no", at["location"])
        compile_flags += [f"-I{path.replace('@prefix@', str(prefix))}" for path in component.get("includes", [])]
        link.append(at["location"])
        more = flags(package, prefix, [required.removeprefix(":") for required in component.get("requires", [])])
        compile_flags += more[0]
        link += more[1] + [f"-l{library}" for library in component.get("link_libraries", [])]
    return compile_flags, link


def main():
    prefix, examples, model, work = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (path,) = prefix.rglob("bantam.cps")
    package = json.loads(path.read_text())
    well_formed(package)
    check(package["cps_path"].replace("@prefix@", str(prefix)) == str(path.parent), "lies elsewhere:", path)
    for source, names, compiler in (("intent.c", package["default_components"], "cc"), ("intent.cpp", ["host"], "c++")):
        compile_flags, link = flags(package, prefix, names)
        standard = "-std=c11" if compiler == "cc" else "-std=c++17"
        compiler = os.environ.get("CC" if compiler == "cc" else "CXX", compiler)
        run(compiler, standard, *compile_flags, examples / source, "-o", work / "example", *link)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(path.parent.parent)}
        said = run(work / "example", model, "play some jazz by miles davis", env=environment)
        check("PlayMusic" in said, source, "says", said)


if __name__ == "__main__":
    main()

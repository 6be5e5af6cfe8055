"""sbom.py SBOM PROGRAM: bantam.spdx.json is well formed, names what PROGRAM loads, and no library's version is made up.

With spdx-tools (tests/package/requirements.txt), which `./dev test all` has, its own validator reads the file too.
"""

import json
import re
import subprocess
import sys

from support import check, facts

# Libraries of the C and C++ implementation, and of what a component needs itself.
SYSTEM = (
    "linux-vdso",
    "ld-linux",
    "libc.",
    "libm.",
    "libdl.",
    "libpthread.",
    "librt.",
    "libgcc_s.",
    "libstdc++.",
    "libcpuinfo.",
)
NAMES = {
    "libfmt": "fmt",
    "libpng16": "libpng",
    "libz": "zlib",
    "libturbojpeg": "libjpeg-turbo",
    "libsodium": "libsodium",
    "libXNNPACK": "XNNPACK",
    "libpthreadpool": "pthreadpool",
}


def main():
    path, program = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        sbom = json.load(file)
    check(sbom["spdxVersion"] == "SPDX-2.3", sbom["spdxVersion"])
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["creationInfo"]["created"]), "created")
    packages = {one["SPDXID"]: one for one in sbom["packages"]}
    check(len(packages) == len(sbom["packages"]), "an SPDXID stands twice")
    check(packages["SPDXRef-bantam"]["versionInfo"] == facts.version(), packages["SPDXRef-bantam"]["versionInfo"])
    related = {one["relatedSpdxElement"] for one in sbom["relationships"]}
    check(related == set(packages), "relationships and packages differ", related ^ set(packages))
    # Headers that are there say which version they are; XNNPACK's and pthreadpool's do not.
    silent = {one["name"] for one in sbom["packages"] if one["versionInfo"] == "NOASSERTION"}
    check(silent <= {"XNNPACK", "pthreadpool"}, "without a version:", silent)
    names = {one["name"] for one in sbom["packages"]}
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for line in loaded.splitlines():
        library = line.split()[0].rpartition("/")[2]
        if not library.startswith(SYSTEM):
            name = NAMES.get(library.split(".so")[0], library.split(".so")[0])
            check(name in names, program, "loads", library, "which the SBOM does not name")
    try:
        from spdx_tools.spdx.parser.parse_anything import parse_file
        from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
    except ImportError:
        return
    faults = validate_full_spdx_document(parse_file(path))
    check(not faults, "spdx-tools:", [fault.validation_message for fault in faults])


if __name__ == "__main__":
    main()

"""A description of the machine, for docs/benchmarks."""

import datetime
import json
import os
import pathlib
import subprocess


def cpu_info():
    """Maker's family where it tells generations apart, name and feature flags of the first processor."""
    name, flags, family = "unknown processor", [], ""
    amd = False
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and name == "unknown processor":
            name = value.strip()
        if key.strip() == "flags" and not flags:
            flags = value.split()
        amd = amd or value.strip() == "AuthenticAMD"
        if key.strip() == "cpu family" and amd:
            family = value.strip()
    return name, flags, family


def caches():
    """Such as "L1d 32K, L2 1024K, L3 32768K" of the first processor."""
    found = []
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level = (index / "type").read_text().strip(), (index / "level").read_text().strip()
        if kind != "Instruction":
            found.append(f"L{level} {(index / 'size').read_text().strip()}")
    return ", ".join(found)


def describe(command):
    name, flags, family = cpu_info()
    version = json.loads(subprocess.run([command, "version", "--json"], text=True, capture_output=True).stdout)
    return {
        "processor": name,
        "family": family,
        "cores": os.cpu_count(),
        "caches": caches(),
        "amx": any(flag.startswith("amx") for flag in flags),
        "avx2_alone": "avx2" in flags and "avx512f" not in flags,
        "virtual": "hypervisor" in flags,
        "isa": os.environ.get("BANTAM_ISA") or version["best_isa"],
        "compiler": version.get("compiler", ""),
        "date": datetime.date.today().isoformat(),
    }

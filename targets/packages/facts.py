"""What every package says of bantam: facts.json, the version that CMakeLists.txt states, and the list of source files."""

import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FACTS = json.loads((HERE / "facts.json").read_text())


def version():
    return re.search(r"project\(bantam VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def source_files():
    """Files of the source archive, relative to the root, sorted: those of git where this is a work tree, else those that are there."""
    parts = FACTS["sources"]
    listed = []
    if (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *parts]
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    else:
        for part in parts:
            path = ROOT / part
            listed += [part] if path.is_file() else [p.relative_to(ROOT).as_posix() for p in path.rglob("*")]
    return sorted({name for name in listed if name and (ROOT / name).is_file() and "__pycache__" not in name})


def write_archive(path, folder, files):
    """Writes a .tar.gz of {name in it: path}, below `folder`: the same bytes from the same files, and no owner. A file with its SHA-256 lies
    beside it."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, source in files.items():
            content = source.read_bytes()
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            entry.mode = 0o755 if source.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(content))
    packed = gzip.compress(whole.getvalue(), mtime=0)
    path.write_bytes(packed)
    sha256 = hashlib.sha256(packed).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{sha256}  {path.name}\n")


def write_zip(path, files):
    """Writes a .zip of {name in it: path, or bytes}: the same bytes from the same files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, source in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, source if isinstance(source, bytes) else source.read_bytes())


def files_below(folder, prefix=""):
    """{name relative to the folder, behind the prefix: path} of its files, sorted."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {prefix + path.relative_to(folder).as_posix(): path for path in found}


def source_archive(path):
    """Writes bantam-VERSION.tar.gz as write_archive() does, of source_files()."""
    write_archive(path, f"bantam-{version()}", {name: ROOT / name for name in source_files()})


def values(**more):
    """What templates may name as @NAME@."""
    licence = FACTS["license"]
    found = {
        "VERSION": version(),
        "NAME": FACTS["name"],
        "SUMMARY": FACTS["summary"],
        "DESCRIPTION": FACTS["description"],
        "LICENSE": licence,
        "URL": FACTS["url"],
        "MAINTAINER": FACTS["maintainer"],
        "KEYWORDS": json.dumps(FACTS["keywords"]),
    }
    return {**found, **more}

"""bantam.convert(): the bantam command, which is a program of its own."""

from __future__ import annotations

import os

from .errors import CommandNotFound


def command() -> str:
    """Path of the bantam command: BANTAM_COMMAND, beside this Python, or on PATH. CommandNotFound where there is none."""
    named = os.environ.get("BANTAM_COMMAND")
    if named:
        return named
    import shutil
    import sysconfig

    found = shutil.which("bantam", path=sysconfig.get_path("scripts")) or shutil.which("bantam")
    if found is None:
        raise CommandNotFound(
            "the bantam command, which converts models, is not installed: pip install its wheel (./dev wheel writes"
            " build/wheel/bantam_cli-*.whl), put build/bantam (./dev build) on PATH, or name it in BANTAM_COMMAND"
        )
    return found


def _arguments(options: dict) -> list:
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            arguments += (
                [option] if one is True else [option, os.fspath(one) if hasattr(one, "__fspath__") else str(one)]
            )
    return arguments


class CommandFailed(RuntimeError):
    """`code` is the command's exit code, the message what it said."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return (type(self), (self.code, str(self)))


class ConversionFailed(CommandFailed):
    """A conversion that the command refuses."""


def run_command(arguments: list, options: dict, data: bytes | None = None, failed: type = CommandFailed) -> dict:
    """The JSON that the command prints. `data`: its standard input."""
    import json
    import subprocess

    source = {"stdin": subprocess.DEVNULL} if data is None else {"input": data}
    done = subprocess.run([command(), *arguments, *_arguments(options)], capture_output=True, check=False, **source)
    if done.returncode != 0:
        raise failed(done.returncode, done.stderr.decode(errors="replace").strip())
    return json.loads(done.stdout)


def convert(source, output, **options) -> dict:
    """Converts the directory `source` (of transformers or sentence-transformers) to the file `output`, and returns the report.

    Options are those of `bantam convert` with "_" for "-": weights="int4", gate_data="texts.jsonl", keep=["head=f32"]; True for those
    that take no value. Raises CommandNotFound without the command, ConversionFailed with what it says where it refuses."""
    return run_command(
        ["convert", os.fspath(source), "-o", os.fspath(output), "--json"], options, None, ConversionFailed
    )

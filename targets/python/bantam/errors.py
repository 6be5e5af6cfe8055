"""What the package raises beside TypeError and ValueError."""

from __future__ import annotations

import ctypes

from . import native


class BantamError(RuntimeError):
    """A status of the runtime: `status` is its number in bantam.h, `name` its name there in lower case, `fault` the rule that does not
    hold ("" where none is named)."""

    def __init__(self, status: int, where: str, fault: str = ""):
        self.status = status
        self.where = where
        self.fault = fault
        known = 0 <= status < len(native.STATUS_NAMES)
        self.name = native.STATUS_NAMES[status] if known else str(status)
        message = native.library.status_message(status).decode()
        super().__init__(f"{where}: {message}" + (f" ({fault})" if fault else ""))

    def __reduce__(self):
        return (BantamError, (self.status, self.where, self.fault))


class CommandNotFound(BantamError):
    """The bantam command, which converts models, is not installed."""

    def __init__(self, message: str):
        RuntimeError.__init__(self, message)
        self.status, self.where, self.fault, self.name = 0, "", "", "command_not_found"

    def __reduce__(self):
        return (CommandNotFound, (str(self),))


class ModelChanged(BantamError):
    """The file at a path is not the one whose digest was given, or whose model was pickled."""

    def __init__(self, path: str, wanted: str, found: str):
        RuntimeError.__init__(
            self,
            f"{path}: the file has the digest {found}, and {wanted} is wanted: it was replaced since; put the former file back, "
            "or load the new one by its path alone",
        )
        self.status, self.where, self.fault, self.name = 0, path, "", "model_changed"
        self._digests = wanted, found

    def __reduce__(self):
        return (ModelChanged, (self.where, *self._digests))


def check(status: int, where: str, fault: native.Fault | None = None) -> None:
    """Raises what `status` means. `fault` points into the file, which is open meanwhile."""
    if status == native.OK:
        return
    words = ""
    if fault is not None and fault.what:
        words = fault.what.decode("utf-8", "replace")
        if fault.name and fault.name_size:
            words += ": " + ctypes.string_at(fault.name, fault.name_size).decode("utf-8", "replace")
    raise BantamError(status, where, words)

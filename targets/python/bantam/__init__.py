"""bantam: .bantam files from Python, from text to answer. No dependency; NumPy's arrays where it is installed.

    model = bantam.load("voice.bantam")
    model("play some jazz")

load() has the model's methods, convert() makes files of models of transformers and sentence-transformers (with the bantam command)."""

from __future__ import annotations

from .convert import CommandFailed, ConversionFailed, convert
from .errors import BantamError, CommandNotFound, ModelChanged
from .index import Index
from .index_file import IndexDamaged
from .model import Model, load
from .tokens import Tokens
from .vectors import Vectors

__version__ = "0.9.0"
__all__ = [
    "BantamError",
    "CommandFailed",
    "CommandNotFound",
    "ConversionFailed",
    "Index",
    "IndexDamaged",
    "Model",
    "ModelChanged",
    "Tokens",
    "Vectors",
    "convert",
    "load",
    "__version__",
]

"""bantam: .bantam files from Python, from text to answer. No dependency; NumPy's arrays where it is installed.

    model = bantam.load("voice.bantam")
    model("play some jazz")

load() has the model's methods, convert() makes files of models of transformers and sentence-transformers (with the bantam command)."""

from __future__ import annotations

from .convert import ConversionFailed, convert
from .errors import BantamError, CommandNotFound, ModelChanged
from .model import Model, load
from .tokens import Tokens

__version__ = "0.9.0"
__all__ = [
    "BantamError",
    "CommandNotFound",
    "ConversionFailed",
    "Model",
    "ModelChanged",
    "Tokens",
    "convert",
    "load",
    "__version__",
]

"""BantamEmbeddingFunction: Chroma's EmbeddingFunction, which collections remember by name and settings (chromadb)."""

from __future__ import annotations

from typing import Any

import numpy as np
from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
from chromadb.utils.embedding_functions import register_embedding_function

import bantam


@register_embedding_function
class BantamEmbeddingFunction(EmbeddingFunction[Documents]):
    """`path`: of a file of the task embed. A collection remembers the file's digest and refuses another file at the path."""

    def __init__(self, path: str, threads: int = 1, normalize: bool = True, digest: str | None = None):
        self.path, self.threads, self.normalize = str(path), threads, normalize
        self.model = bantam.load(self.path, digest=digest)

    def __call__(self, input: Documents) -> Embeddings:
        rows = self.model.encode(list(input), threads=self.threads, normalize_embeddings=self.normalize)
        return [np.asarray(row, dtype=np.float32) for row in rows]

    @staticmethod
    def name() -> str:
        return "bantam"

    def default_space(self) -> Space:
        return "cosine"

    def supported_spaces(self) -> list[Space]:
        return ["cosine", "l2", "ip"]

    def get_config(self) -> dict[str, Any]:
        return {"path": self.path, "threads": self.threads, "normalize": self.normalize, "digest": self.model.digest}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> BantamEmbeddingFunction:
        return BantamEmbeddingFunction(**config)

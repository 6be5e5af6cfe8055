"""BantamEmbedding: LlamaIndex's BaseEmbedding (llama-index-core)."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field, PrivateAttr

import bantam


class BantamEmbedding(BaseEmbedding):
    """`path`: of a file of the task embed."""

    path: str = Field(description="a .bantam file")
    threads: int = Field(default=1, ge=1)
    normalize: bool = Field(default=True)
    digest: str = Field(default="", description="of the file; another file at the path is refused")
    _model: Any = PrivateAttr()

    def __init__(self, path: str, **settings: Any):
        super().__init__(path=str(path), model_name=settings.pop("model_name", str(path)), **settings)
        self._model = bantam.load(self.path, digest=self.digest or None)
        self.digest = self._model.digest

    @classmethod
    def class_name(cls) -> str:
        return "BantamEmbedding"

    def _rows(self, texts: list[str]) -> list[list[float]]:
        rows = self._model.encode(texts, threads=self.threads, normalize_embeddings=self.normalize)
        return [[float(value) for value in row] for row in rows]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._rows([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._rows(texts)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._rows([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

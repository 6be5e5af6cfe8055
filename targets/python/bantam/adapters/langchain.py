"""BantamEmbeddings: LangChain's Embeddings (langchain-core)."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

import bantam


class BantamEmbeddings(Embeddings):
    """`model`: a path, or a bantam.Model of the task embed."""

    def __init__(self, model, threads: int = 1, normalize: bool = True):
        self.model = model if isinstance(model, bantam.Model) else bantam.load(model)
        self.threads = threads
        self.normalize = normalize

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows = self.model.encode_document(list(texts), threads=self.threads, normalize_embeddings=self.normalize)
        return [[float(value) for value in row] for row in rows]

    def embed_query(self, text: str) -> list[float]:
        return [float(value) for value in self.model.encode_query(text, normalize_embeddings=self.normalize)]

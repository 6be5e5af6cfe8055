"""Encoder: what takes a SentenceTransformer (BERTopic, KeyBERT, SetFit's callers ...) takes it. Needs nothing but NumPy."""

from __future__ import annotations

import bantam


class Encoder:
    """`model`: a path, or a bantam.Model of the task embed."""

    similarity_fn_name = "cosine"
    device = "cpu"

    def __init__(self, model, threads: int = 1):
        self.model = model if isinstance(model, bantam.Model) else bantam.load(model)
        self.threads = threads

    @property
    def max_seq_length(self) -> int | None:
        return self.model.max_tokens or None

    def get_sentence_embedding_dimension(self) -> int:
        return len(self.model.encode(""))

    get_embedding_dimension = get_sentence_embedding_dimension

    def encode(self, sentences, prompt_name=None, prompt=None, batch_size=32, show_progress_bar=None, **options):
        """As SentenceTransformer.encode; of options that say where and how torch computes, none matters here."""
        for name in ("output_value", "precision", "device", "convert_to_tensor", "pool", "chunk_size"):
            value = options.pop(name, None)
            if value not in (None, False, "sentence_embedding", "float32", "cpu"):
                raise ValueError(f"{name}={value!r}: a bantam file gives float32 vectors of whole texts")
        options.setdefault("threads", self.threads)
        return self.model.encode(sentences, prompt_name, prompt, batch_size, show_progress_bar, **options)

    def encode_query(self, sentences, prompt_name="query", *args, **options):
        return self.encode(sentences, prompt_name, *args, **options)

    def encode_document(self, sentences, prompt_name="document", *args, **options):
        return self.encode(sentences, prompt_name, *args, **options)

    def similarity(self, first, second):
        return self.model.similarity(first, second)

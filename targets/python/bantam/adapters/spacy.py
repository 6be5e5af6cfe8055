"""The component "bantam" of spaCy's pipelines: doc.cats of files with labels, doc.ents of those that tag, both of joint ones, doc.vector
of those that embed. nlp.add_pipe("bantam", config={"path": "voice.bantam"})."""

from __future__ import annotations

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

import bantam


@Language.factory("bantam", default_config={"threads": 1})
def make_bantam(nlp: Language, name: str, path: str, threads: int):
    return BantamComponent(path, threads)


class BantamComponent:
    def __init__(self, path: str, threads: int = 1):
        self.model = bantam.load(path)
        self.threads = threads

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream, batch_size: int = 128):
        from itertools import islice

        stream = iter(stream)
        while docs := list(islice(stream, batch_size)):
            texts = [doc.text for doc in docs]
            embeds = self.model.task == "embed"
            top = {} if embeds or self.model.task == "tag" else {"top_k": 0}
            answers = self.model.encode(texts, threads=self.threads) if embeds else self.model(
                texts, threads=self.threads, **top
            )  # fmt: skip
            for doc, answer in zip(docs, answers):
                yield self._put(doc, answer)

    def _put(self, doc: Doc, answer) -> Doc:
        if self.model.task == "embed":
            doc._vector = answer
            return doc
        labels = answer["intent"] if self.model.task == "joint" else answer
        spans = answer["slots"] if self.model.task == "joint" else answer
        if self.model.task != "tag":
            doc.cats.update({one["label"]: one["score"] for one in labels})
        if self.model.task in ("tag", "joint"):
            found = (doc.char_span(one["start"], one["end"], one["entity"], alignment_mode="expand") for one in spans)
            doc.set_ents(filter_spans([span for span in found if span is not None]))
        return doc

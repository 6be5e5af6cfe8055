"""Model: a file, from texts to answers."""

from __future__ import annotations

import ctypes
import math
import os

from . import native, quick
from .answers import DECODERS, NEEDS_SECOND, TAKES_SECOND, Item
from .batches import run
from .errors import BantamError, ModelChanged, check
from .file import File
from .sessions import Sessions, options_of
from .texts import Positions, input_of, list_of, utf8
from .tokens import Tokens, decode, tokenize
from .vectors import Rows, Vectors, lists_of, nearest, numpy, sigmoid, similarity, softmax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

_lib = native.library
_MOST = 2**20  # rows or texts of a run
_AHEAD = 8  # batches a thread that are read from an iterator at a time


def load(
    path: str | os.PathLike,
    *,
    mapped: bool = True,
    max_tokens: int | None = None,
    batch_size: int | None = None,
    digest: str | None = None,
) -> Model:
    """Opens and verifies a .bantam file.

    The file is mapped and must not change while it is in use; mapped=False reads it into memory. max_tokens: rows of one run (512, or
    what the file's longest text takes); batch_size: most texts of one run (32). Neither changes an answer. digest: what the
    file's Model.digest must be, else ModelChanged is raised."""
    return Model(path, mapped=mapped, max_tokens=max_tokens, batch_size=batch_size, digest=digest)


class Model:
    """Answers texts; see load(). One for all threads: each call takes a session that is free, or makes one. It may be pickled, which
    keeps the path and the digest and opens the file again, and used by processes that have forked."""

    def __init__(
        self,
        path,
        *,
        mapped: bool = True,
        max_tokens: int | None = None,
        batch_size: int | None = None,
        digest: str | None = None,
    ):
        for name, value in (("max_tokens", max_tokens), ("batch_size", batch_size)):
            if value is not None:
                if _positive(value, name) > _MOST:
                    raise ValueError(f"{name}: {value} is more than {_MOST}")
        self._options = {"mapped": mapped, "max_tokens": max_tokens, "batch_size": batch_size}
        path = os.fspath(path)
        self._file: File | None = File(os.path.abspath(os.fsdecode(path)), mapped)
        if digest is not None and digest != self._file.digest:
            raise ModelChanged(self._file.path, digest, self._file.digest)
        self._sessions = Sessions(self._file, max_tokens, batch_size)
        self._one = quick.answerer(self._sessions)

    def __reduce__(self):
        return (_reload, (self._open().path, {**self._options, "digest": self._open().digest}))

    def __repr__(self) -> str:
        return f"<bantam.Model {self._file.path!r}: {self._file.task}>" if self._file else "<bantam.Model: closed>"

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file and of free sessions; calls that run keep theirs to their end. Later calls raise ValueError."""
        self._file, self._sessions, self._one = None, None, None

    def _open(self) -> File:
        if self._file is None:
            raise ValueError("the model is closed")
        return self._file

    # ------------------------------------------------------------------------------------ what the file is

    @property
    def path(self) -> str:
        return self._open().path

    @property
    def digest(self) -> str:
        """The file's size and checksums, as 32 hexadecimal digits: other files have other ones. It names what a cache holds; it is no
        proof of who wrote the file (`bantam verify --key` is)."""
        return self._open().digest

    @property
    def task(self) -> str:
        """classify, multi_label, regress, choose, tag, joint, answer, embed, fill, next_sentence, generate, find ..."""
        return self._open().task

    @property
    def labels(self) -> list:
        """Names of the labels of texts; of a file that tags words, of its tags."""
        names = self._open().names
        return list(names[0]) if names else []

    @property
    def label_sets(self) -> dict:
        """All label sets: of a joint file "labels" and that of words, and further ones by their names."""
        return self._open().info()["label_sets"]

    @property
    def max_tokens(self) -> int:
        """What texts are cut at, special tokens included; 0: there is no limit."""
        return self._open().max_tokens

    @property
    def prompt(self) -> str:
        """What the file puts before every text that it embeds."""
        return self._open().prompt

    @property
    def info(self) -> dict:
        return self._open().info()

    def arena_bytes(self, tokens: int = 128, sequences: int = 1) -> int:
        """Bytes of a session that runs so many tokens of so many texts at a time."""
        file, options = self._open(), options_of(_positive(tokens, "tokens"), _positive(sequences, "sequences"))
        size = _lib.arena_bytes(file.handle, ctypes.byref(options))
        if size == 0:
            raise ValueError(f"{file.path} takes no runs of {tokens} tokens and {sequences} sequences")
        return size

    def tokenize(
        self, text: str, text_pair: str | None = None, *, add_special_tokens: bool = True, max_tokens: int = 0
    ) -> Tokens:
        file = self._open()
        return tokenize(
            file, text, text_pair, bool(add_special_tokens), _positive(max_tokens, "max_tokens") if max_tokens else 0
        )

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """The text of tokens."""
        return decode(self._open(), ids, skip_special_tokens)

    # ------------------------------------------------------------------------------------------- answers

    def __call__(
        self,
        inputs: Any = None,
        text_pair: str | None = None,
        *,
        top_k: int | None = None,
        batch_size: int | None = None,
        threads: int = 1,
        question: str | None = None,
        context: str | None = None,
        choices: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        threshold: float = 0.0,
        nested: bool = False,
        several: bool = False,
        aggregation: str | None = None,
    ) -> Any:
        """The task's answer to a text, a list of them to a list, an iterator to an iterator (which is read batch by batch).

        An input is a str, a pair of them (tuple), or a dict of text and text_pair, or question and context. top_k: so many labels or
        candidates as a list, 0: all. threads: of a list or iterator, so many runs at once. choices, labels (with threshold, nested,
        several): of files that choose, and that find spans for labels of yours. aggregation: of files that tag words,
        how labels of tokens become entities: none, simple, first, average or max, as transformers'
        aggregation_strategy, or words; None: the file's."""
        if (
            type(inputs) is str
            and text_pair is None
            and top_k is None
            and choices is None
            and labels is None
            and context is None
            and aggregation is None
        ):
            one = self._one
            if one is not None:
                return one(inputs)
        file = self._open()
        if question is not None or context is not None:
            if inputs is not None or question is None or context is None:
                raise TypeError("question goes with context, and without other texts")
            inputs = (question, context)
        if choices is not None or file.task == "choose":
            return self._choose(inputs, choices)
        if labels is not None or file.task == "find":
            return self._find(inputs, labels, threshold, nested, several)
        if aggregation is not None:
            if aggregation not in native.AGGREGATIONS:
                raise ValueError(
                    f"aggregation: {aggregation!r} is not one of none, simple, first, average, max and words"
                )
            if file.task not in ("tag", "joint"):
                raise BantamError(native.NO_SUCH_TASK, file.path, f"it is for {file.task}: leave aggregation out")
        how = native.AGGREGATIONS[aggregation]
        top = None if top_k is None else _positive(top_k, "top_k", zero=True)
        size = self._batch(batch_size)
        threads = _positive(threads, "threads")
        if file.task not in DECODERS:
            raise BantamError(native.NO_SUCH_TASK, file.path, f"of files for {file.task} there are outputs() only")
        if isinstance(inputs, (str, dict, tuple)) or text_pair is not None:
            one = (inputs, text_pair) if text_pair is not None else inputs
            return self._answers([one], top, 1, 1, how, single=True)[0]
        if isinstance(inputs, list):
            return self._answers(inputs, top, size, threads, how)
        if hasattr(inputs, "as_py"):  # a scalar of Arrow
            return self._answers([inputs], top, 1, 1, how, single=True)[0]
        if isinstance(inputs, (bytes, bytearray)) or not hasattr(inputs, "__iter__"):
            raise TypeError(f"a str, a pair, a list or an iterator of them is wanted, not {type(inputs).__name__}")
        if not hasattr(inputs, "__next__"):
            return self._answers(list_of(inputs), top, size, threads, how)  # an array or a column
        return self._stream(inputs, top, size, threads, how)

    def _batch(self, batch_size: int | None) -> int:
        return self._sessions.sequences if batch_size is None else _positive(batch_size, "batch_size")

    def _stream(self, inputs: Iterator, top, size: int, threads: int, aggregation: int):
        from itertools import islice

        while part := list(islice(inputs, _AHEAD * size * threads)):
            yield from self._answers(part, top, size, threads, aggregation)

    def _items(self, inputs: list, single: bool = False, aggregation: int = native.AGGREGATIONS[None]) -> list:
        """Of pairs all or none."""
        file = self._open()
        items = []
        prompt = file.prompt.encode()
        for index, value in enumerate(inputs):
            first, second = input_of(value, None if single else index)
            what = "text" if single else f"text {index}"
            data = prompt + utf8(first, what)
            items.append(Item(first, second, data, b"" if second is None else utf8(second, what), aggregation))
            if second is not None and file.task not in TAKES_SECOND:
                raise TypeError(f"{what}: the file's task, {file.task}, answers one text, not a pair")
            if second is None and file.task in NEEDS_SECOND:
                raise TypeError(
                    f"{what}: the file's task, {file.task}, is about two texts: pass a pair, or question and context"
                )
        return items

    def _answers(self, inputs: list, top, size: int, threads: int, aggregation: int, single: bool = False) -> list:
        items, answers = self._items(inputs, single, aggregation), [None] * len(inputs)
        if self._open().task == "embed":
            return list(self._rows(items, size, threads).take())
        decoder = DECODERS[self._open().task]

        def done(session, sequence, i):
            answers[i] = decoder(session, sequence, items[i], top)

        for pairs in (False, True):
            chosen = [i for i, item in enumerate(items) if (item.second is not None) == pairs]
            data = [(items[i].data, items[i].context) if pairs else (items[i].data,) for i in chosen]
            if data:
                run(self._sessions, data, pairs, size, threads, lambda s, k, i: done(s, k, chosen[i]))
        return answers

    def _choose(self, inputs, choices) -> list:
        file = self._open()
        if file.task != "choose":
            raise BantamError(native.NO_SUCH_TASK, file.path, f"it is for {file.task}: leave choices out")
        if not choices or isinstance(choices, str):
            raise TypeError("choices: a list of texts is wanted, of which the file chooses")
        prompt, second = utf8(inputs), [utf8(one, "choices") for one in choices]
        sessions = self._sessions.for_choices(len(second))
        session = sessions.take()
        try:
            if session.run([text for one in second for text in (prompt, one)], True) != len(second):
                raise BantamError(native.TOO_MANY_TOKENS, file.path, "the choices do not fit one run")
            scores = (native.LabelScore * len(second))()
            check(_lib.choose(session.handle, 0, len(second), scores, len(second), session.count), file.path)
            return [{"label": choices[one.label], "score": one.score, "index": one.label} for one in scores]
        finally:
            sessions.give(session)

    def _find(self, inputs, labels, threshold: float, nested: bool, several: bool) -> Any:
        file = self._open()
        if file.task != "find":
            raise BantamError(native.NO_SUCH_TASK, file.path, f"it is for {file.task}: leave labels out")
        if not labels or isinstance(labels, str):
            raise TypeError("labels: a list of names is wanted, which the file finds spans for")
        if isinstance(inputs, list):
            return [self._find(one, labels, threshold, nested, several) for one in inputs]
        data, names = utf8(inputs), [utf8(one, "labels") for one in labels]
        options = native.FindOptions()
        _lib.find_options_init_sized(ctypes.byref(options), ctypes.sizeof(options))
        options.threshold, options.nested, options.several = threshold, int(nested), int(several)
        held = [ctypes.c_char_p(one) for one in (data, *names)]
        text, *of_labels = (
            native.Text(ctypes.cast(one, ctypes.c_void_p), len(value)) for one, value in zip(held, (data, *names))
        )
        array = (native.Text * len(names))(*of_labels)
        session = self._sessions.take()
        try:
            _lib.session_clear(session.handle)
            check(_lib.session_add_labelled(session.handle, text, array, len(names), None), file.path)
            check(_lib.session_run(session.handle), file.path)
            found = session.entities(
                lambda out, most, n: _lib.find(session.handle, 0, ctypes.byref(options), out, most, n)
            )
        finally:
            self._sessions.give(session)
        positions = Positions(inputs, data)
        return [{"entity": labels[label], "score": score, **positions.span(b, e)} for _, label, b, e, score in found]

    def generate(
        self,
        prompt: str,
        max_new_tokens: int | None = None,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        context: int | None = None,
        stream: bool = False,
        lookup: bool = False,
        draft: Model | None = None,
    ) -> Any:
        """The text that a decoder goes on with: the likeliest tokens, or by chance with a temperature. stream=True: an iterator over the
        text so far. max_new_tokens and penalties: as the file says; context: tokens of prompt and text (what the model has places
        for, up to 2048). lookup and draft give the same text in less time: lookup guesses that the text repeats itself or its prompt,
        and draft, a smaller model with the same tokenizer, guesses tokens."""
        from .generation import generate

        for name, value in (("max_new_tokens", max_new_tokens), ("context", context)):
            if value is not None:
                _positive(value, name)
        settings = {
            "temperature": float(temperature),
            "top_k": _positive(top_k, "top_k", zero=True),
            "top_p": float(top_p),
        }
        settings |= {"min_p": float(min_p), "seed": _positive(seed, "seed", zero=True)}
        utf8(prompt, "prompt")
        if draft is not None and (lookup or not isinstance(draft, Model)):
            raise ValueError("generate: draft is a Model, and excludes lookup")
        guesser = None if draft is None else draft._open()
        texts = generate(self._open(), prompt, max_new_tokens, context, settings, lookup, guesser)
        if stream:
            return texts
        text = ""
        for text in texts:
            pass
        return text

    # ------------------------------------------------------------------------------------------- numbers

    def _rows(self, items: list, size: int, threads: int) -> Rows:
        rows = Rows(len(items))

        def done(session, sequence, i):
            rows.put(i, *session.vector(sequence))

        run(self._sessions, [(item.data,) for item in items], False, size, threads, done, empty=lambda i: None)
        if rows.width == 0 and items:  # no text has a token
            session = self._sessions.take()
            rows.shape(session.width())
            self._sessions.give(session)
        return rows

    def _terms(self, items: list, size: int, threads: int):
        from .sparse import SparseRows

        found: list = [{}] * len(items)

        def done(session, sequence, i):
            found[i] = dict(session.terms(sequence))

        run(self._sessions, [(item.data,) for item in items], False, size, threads, done, empty=lambda i: None)
        return SparseRows(found)

    def encode(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        *,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        threads: int = 1,
        copy: bool = True,
    ) -> Any:
        """Embeddings, as sentence-transformers' encode gives them: float32 rows, or one of a str. Of a file of weights of terms
        SparseRows, or a dict {term: weight} of a str.

        prompt: put before every text, in place of the file's own; prompt_name: "query" or "document", the file's for these. truncate_dim:
        the first numbers of each vector (Matryoshka models), before they are normalized. copy=False: where the texts fit one run, a view of what the run
        wrote, which stays as it is while it is referred to. Without NumPy, or with convert_to_numpy=False: array('f') each."""
        file = self._open()
        sparse = file.task == "sparse_embed"
        if file.task != "embed" and not sparse:
            raise BantamError(native.NO_SUCH_TASK, file.path, f"its task is {file.task}, not embed")
        if sparse and normalize_embeddings:
            raise ValueError("normalize_embeddings: weights of terms are compared as they are")
        if convert_to_tensor:
            raise ValueError("convert_to_tensor: torch.from_numpy(model.encode(...)) has the same memory")
        if prompt_name is not None and prompt is None:
            if prompt_name not in file.prompts:
                raise ValueError(f"prompt_name: the file has no prompt by the name {prompt_name!r}; pass prompt=")
            prompt = file.prompts[prompt_name]
        if truncate_dim is not None:
            _positive(truncate_dim, "truncate_dim")
            if sparse:
                raise ValueError("truncate_dim: of weights of terms all count")
        single = isinstance(sentences, str)
        texts = [sentences] if single else list_of(sentences)
        size, threads = self._batch(batch_size), _positive(threads, "threads")
        before = (file.prompt if prompt is None else prompt).encode()
        items = [Item(text, None, before + utf8(text, f"sentence {i}")) for i, text in enumerate(texts)]
        if sparse:
            rows = self._terms(items, size, threads)
            return rows[0] if single else rows
        if not copy and not normalize_embeddings and items and numpy() is not None:
            view = self._view(items)
            if view is not None:
                view = view[:, :truncate_dim]
                return view[0] if single else view
        rows = self._rows(items, size, threads)
        if truncate_dim is not None:
            rows.truncate(truncate_dim)
        if normalize_embeddings and items:
            rows.normalize()
        out = rows.take() if convert_to_numpy else lists_of(rows)
        return out[0] if single else out

    def _view(self, items: list):
        """Rows where the run wrote them; None: they do not fit one run. The session is free again when nobody holds the view."""
        import weakref

        np, sessions = numpy(), self._sessions
        session = sessions.take()
        try:
            taken = session.run([item.data for item in items], False) if len(items) <= session.sequences else 0
            if taken == len(items):
                data, width = session.vector(0)
                stride = (session.vector(1)[0] - data) // 4 if taken > 1 else width
                memory = (ctypes.c_float * (stride * (taken - 1) + width)).from_address(data)
                view = np.lib.stride_tricks.as_strided(
                    np.frombuffer(memory, np.float32), (taken, width), (4 * stride, 4)
                )
                view.flags.writeable = False
                lease, session = session, None
                weakref.finalize(memory, sessions.give, lease).atexit = False
                return view
        except BantamError:  # a text without a token, or too long a one: by the way that copies
            pass
        finally:
            if session is not None:
                sessions.give(session)
        return None

    def encode_query(self, sentences, **options) -> Any:
        """encode() of queries, with the file's prompt for these."""
        return self.encode(sentences, **{"prompt_name": "query", **options})

    def encode_document(self, sentences, **options) -> Any:
        """encode() of documents, with the file's prompt for these."""
        return self.encode(sentences, **{"prompt_name": "document", **options})

    def similarity(self, first, second) -> Any:
        """Cosines of each of the first vectors with each of the second, or what the model was saved with: products, minus distances; of
        weights of terms sums of products."""
        if self.task == "sparse_embed":
            from . import sparse

            return sparse.similarity(first, second)
        return similarity(first, second, self._open().property("similarity"))

    def search(self, query_vectors, corpus, top_k: int = 10) -> list:
        """For each query the nearest rows of `corpus`, best first: [{"corpus_id", "score"}, ...]. `corpus`: rows, or what vectors() made of
        them once for many searches."""
        prepared = isinstance(corpus, Vectors)
        scores = corpus.similarity(query_vectors) if prepared else self.similarity(query_vectors, corpus)
        return nearest(scores, _positive(top_k, "top_k"))

    def vectors(self, rows) -> Any:
        """Rows prepared for many searches: their lengths are computed here, not in each search()."""
        if self.task == "sparse_embed":
            from . import sparse

            return sparse.rows_of(rows)
        return Vectors(rows, self._open().property("similarity"))

    def logits(self, inputs: Any, *, batch_size: int | None = None, threads: int = 1) -> Any:
        """What scores of labels are made of: a row a text, or one of a str, a number a label."""
        single = isinstance(inputs, (str, dict, tuple))
        items = self._items([inputs] if single else list_of(inputs), single)
        rows = Rows(len(items))
        for pairs in (False, True):
            chosen = [i for i, item in enumerate(items) if (item.second is not None) == pairs]
            data = [(items[i].data, items[i].context) if pairs else (items[i].data,) for i in chosen]
            if data:
                run(
                    self._sessions,
                    data,
                    pairs,
                    self._batch(batch_size),
                    _positive(threads, "threads"),
                    lambda session, k, i: rows.put(chosen[i], *session.label_logits(k, 0)),
                )
        out = rows.take()
        return out[0] if single else out

    def outputs(self, inputs: Any) -> dict:
        """All outputs of the graph for one text or pair, by their names: lists of rows."""
        file = self._open()
        item = self._items([inputs], single=True)[0]
        sessions = self._sessions.of_all_rows()
        session = sessions.take()
        try:
            pair = item.second is not None
            session.run([item.data, item.context] if pair else [item.data], pair)
            found = {}
            for index in range(_lib.model_output_count(file.handle)):
                view = session.output(index, 0)
                rows = Rows(view.rows)
                for row in range(view.rows):
                    rows.put(row, view.data + 4 * row * view.stride, view.width)
                found[view.name.text()] = rows.take()
            return found
        finally:
            sessions.give(session)

    # -------------------------------------------------------------------------------------------- pairs

    def predict(
        self,
        sentences: Any,
        batch_size: int | None = None,
        *,
        activation_fn: Callable | None = None,
        apply_softmax: bool = False,
        threads: int = 1,
    ) -> Any:
        """Scores of pairs, as sentence-transformers' CrossEncoder gives them: of a file of one label its sigmoid (or what the model was
        saved with: Identity, Tanh), else the logits, or with apply_softmax probabilities."""
        single = isinstance(sentences, (tuple, str)) or (
            isinstance(sentences, list) and len(sentences) == 2 and all(isinstance(one, str) for one in sentences)
        )
        if single:
            sentences = [tuple(sentences) if isinstance(sentences, list) else sentences]
        rows = self.logits(sentences, batch_size=batch_size, threads=threads)
        np = numpy()
        values = [[float(x) for x in row] for row in rows]
        if activation_fn is not None:
            scores = activation_fn(np.asarray(values, np.float32) if np is not None else values)
            return scores[0] if single else scores
        if values and len(values[0]) == 1:
            functions = {"Identity": float, "Tanh": math.tanh}
            function = functions.get(self._open().property("score_function"), sigmoid)
            scores = [function(row[0]) for row in values]
        elif apply_softmax:
            scores = [softmax(row) for row in values]
        else:
            scores = values
        if single:
            return scores[0]
        return np.asarray(scores, np.float32) if np is not None else scores

    def rank(
        self, query: str, documents: Sequence[str], top_k: int | None = None, return_documents: bool = False, **options
    ) -> list:
        """Documents by how well they fit the query, best first: [{"corpus_id", "score"}, ...], with "text" where asked. Files that score
        pairs read both texts together; files that embed compare vectors, or weights of terms."""
        documents = list_of(documents)
        if self.task in ("embed", "sparse_embed"):
            vectors = self.encode_document(documents, **options)
            scores = self.similarity(self.encode_query([query]), vectors)[0] if documents else []
        else:
            scores = self.predict([(query, one) for one in documents], **options) if documents else []
            if documents and hasattr(scores[0], "__len__"):
                raise ValueError("rank: the file gives several numbers a pair; predict() has them")
        order = sorted(range(len(documents)), key=lambda i: (-scores[i], i))
        found = [{"corpus_id": i, "score": float(scores[i])} for i in order[: top_k if top_k else None]]
        return [{**one, "text": documents[one["corpus_id"]]} for one in found] if return_documents else found


def _reload(path: str, options: dict) -> Model:
    return Model(path, **options)


def _positive(value, name: str, zero: bool = False) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: a number is wanted, not {type(value).__name__}")
    value = value.__index__()
    if not (0 if zero else 1) <= value < 2**31:
        raise ValueError(f"{name}: {value} is not in [{0 if zero else 1}, 2147483647]")
    return value

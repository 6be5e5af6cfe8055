"""BantamVectorizer and BantamClassifier: a transformer and a classifier of scikit-learn, for pipelines. Both are clones by their
settings; fitted ones pickle with the file's digest."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

import bantam
from bantam.texts import list_of


class _OfFile(BaseEstimator):
    def __init__(self, path=None, threads=1):
        self.path = path
        self.threads = threads

    def _opened(self):
        if getattr(self, "_model", None) is None or self._model_path != self.path:
            self._model, self._model_path = bantam.load(self.path), self.path
        return self._model

    def __sklearn_is_fitted__(self):
        return True  # the file is


class BantamVectorizer(TransformerMixin, _OfFile):
    """Texts to rows of embeddings."""

    def fit(self, X=None, y=None):
        self._opened()
        return self

    def transform(self, X):
        return np.asarray(self._opened().encode(X, threads=self.threads))


class BantamClassifier(ClassifierMixin, _OfFile):
    """Texts to labels of the file, which has learned them: it needs no fit()."""

    @property
    def classes_(self):
        return np.asarray(self._opened().labels)

    def fit(self, X=None, y=None):
        self._opened()
        return self

    def predict_proba(self, X):
        model = self._opened()
        column = {label: i for i, label in enumerate(model.labels)}
        out = np.zeros((len(X), len(column)), np.float32)
        for row, answer in zip(out, model(list_of(X), top_k=0, threads=self.threads)):
            for one in (answer.get("intent") or answer["labels"]) if isinstance(answer, dict) else answer:
                row[column[one["label"]]] = one["score"]
        return out

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)] if len(X) else np.asarray([])

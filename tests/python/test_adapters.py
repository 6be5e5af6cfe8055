"""Each adapter with the library that it is for; those that are not installed are skipped, and named."""

import importlib
import importlib.util
import os
import pickle
import tempfile
import unittest

from support import TEXTS, PackageTest, load, path

EMBED = "sentence-mean"
TEXTS = [text for text in TEXTS if "\0" not in text]


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def floats(rows):
    return [[float(value) for value in row] for row in rows]


@needs("numpy")
class Adapters(PackageTest):
    def setUp(self):
        self.rows = floats(load(EMBED).encode(TEXTS, normalize_embeddings=True))

    def test_sentence_transformers(self):
        from bantam.adapters.sentence_transformers import Encoder

        encoder = Encoder(path(EMBED), threads=2)
        self.assertEqual(floats(encoder.encode(TEXTS, normalize_embeddings=True, device="cpu")), self.rows)
        self.assertEqual(floats(encoder.encode_query(TEXTS, normalize_embeddings=True)), self.rows)
        self.assertEqual(encoder.get_sentence_embedding_dimension(), len(self.rows[0]))
        self.assertEqual(encoder.similarity(self.rows[0], self.rows).shape, (1, len(TEXTS)))
        self.raises(ValueError, lambda: encoder.encode(TEXTS, precision="int8"), "precision")
        self.raises(TypeError, lambda: encoder.encode(TEXTS, unheard_of=1), "unheard_of")

    @needs("langchain_core")
    def test_langchain(self):
        from langchain_core.vectorstores import InMemoryVectorStore

        from bantam.adapters.langchain import BantamEmbeddings

        embeddings = BantamEmbeddings(path(EMBED))
        self.assertEqual(embeddings.embed_documents(TEXTS), self.rows)
        self.assertEqual(embeddings.embed_query(TEXTS[1]), self.rows[1])
        store = InMemoryVectorStore.from_texts(TEXTS, embedding=embeddings)
        self.assertEqual(store.similarity_search(TEXTS[2], k=1)[0].page_content, TEXTS[2])

    @needs("llama_index")
    def test_llama_index(self):
        from bantam.adapters.llama_index import BantamEmbedding

        embedding = BantamEmbedding(path(EMBED))
        self.assertEqual(embedding.get_text_embedding_batch(TEXTS), self.rows)
        self.assertEqual(embedding.get_query_embedding(TEXTS[1]), self.rows[1])
        self.assertEqual(embedding.to_dict()["class_name"], "BantamEmbedding")
        again = pickle.loads(pickle.dumps(embedding))
        self.assertEqual(again.get_text_embedding(TEXTS[0]), self.rows[0])

    @needs("chromadb")
    def test_chroma(self):
        import chromadb

        from bantam.adapters.chroma import BantamEmbeddingFunction

        function = BantamEmbeddingFunction(path(EMBED))
        self.assertEqual(floats(function(TEXTS)), self.rows)
        again = BantamEmbeddingFunction.build_from_config(function.get_config())
        self.assertEqual(floats(again(TEXTS)), self.rows)
        with tempfile.TemporaryDirectory() as folder:
            client = chromadb.PersistentClient(os.path.join(folder, "db"))
            collection = client.create_collection("texts", embedding_function=function)
            collection.add(ids=[str(i) for i in range(len(TEXTS))], documents=TEXTS)
            found = client.get_collection("texts").query(query_texts=[TEXTS[3]], n_results=1)  # by its stored settings
            self.assertEqual(found["ids"], [["3"]])

    @needs("sklearn")
    def test_scikit_learn(self):
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        from bantam.adapters.sklearn import BantamClassifier, BantamVectorizer

        pipeline = make_pipeline(BantamVectorizer(path(EMBED)), LogisticRegression())
        labels = [i % 2 for i in range(len(TEXTS))]
        pipeline.fit(TEXTS, labels)
        said = list(pipeline.predict(TEXTS))
        self.assertEqual(list(pickle.loads(pickle.dumps(clone(pipeline).fit(TEXTS, labels))).predict(TEXTS)), said)
        for name in ("voice", "bert-multi-label"):
            model, classifier = load(name), BantamClassifier(path(name)).fit()
            best = [
                max(one["intent"] if name == "voice" else one, key=lambda x: x["score"])
                for one in model(TEXTS, top_k=0)
            ]
            self.assertEqual(list(classifier.predict(TEXTS)), [one["label"] for one in best])
            self.assertEqual(
                [float(max(row)) for row in classifier.predict_proba(TEXTS)], [one["score"] for one in best]
            )
            self.assertEqual(classifier.get_params(), {"path": path(name), "threads": 1})
            self.assertGreaterEqual(classifier.score(TEXTS, classifier.predict(TEXTS)), 1.0)
            without_fit = BantamClassifier(path(name))
            self.assertEqual(list(without_fit.predict(TEXTS)), list(classifier.predict(TEXTS)))
            self.assertEqual(list(without_fit.classes_), model.labels)
            again = pickle.loads(pickle.dumps(clone(without_fit)))
            self.assertEqual(list(again.predict(TEXTS)), list(classifier.predict(TEXTS)))

    @needs("pyarrow")
    def test_arrays_of_arrow(self):
        import pyarrow

        for array in (pyarrow.array(TEXTS), pyarrow.chunked_array([TEXTS[:1], TEXTS[1:]])):
            self.assertEqual(floats(load(EMBED).encode(array, normalize_embeddings=True)), self.rows)
            self.assertEqual(load("voice")(array), load("voice")(TEXTS))
        self.assertEqual(load("voice")(pyarrow.scalar(TEXTS[1])), load("voice")(TEXTS[1]))
        self.assertEqual(list(load("voice")(iter(pyarrow.array(TEXTS)))), load("voice")(TEXTS))
        self.raises(TypeError, lambda: load("voice")(pyarrow.array(["a", None])), "text 1", "NoneType")

    @needs("spacy")
    def test_spacy(self):
        import spacy

        importlib.import_module("bantam.adapters.spacy")
        nlp = spacy.blank("en")
        nlp.add_pipe("bantam", config={"path": path("voice")})
        (doc,) = nlp.pipe(["play some jazz from the sixties"])
        self.assertEqual(max(doc.cats, key=doc.cats.get), "PlayMusic")
        self.assertEqual([(one.text, one.label_) for one in doc.ents], [("jazz", "genre"), ("sixties", "year")])
        embeds = spacy.blank("en")
        embeds.add_pipe("bantam", config={"path": path(EMBED)})
        self.assertEqual(len(embeds("play jazz").vector), len(self.rows[0]))


if __name__ == "__main__":
    unittest.main()

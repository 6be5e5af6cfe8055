#!/usr/bin/env bash
# sentence-transformers 6.2.0: encode_document() never takes a prompt called "passage" or "corpus", although it looks for
# "document", "passage" and "corpus" in that order.
#
# Guess: a model whose prompts are "query" and "passage", as those of E5, gets "passage" before its documents.
# Seen (sentence-transformers 6.2.0, transformers 5.24.0, torch 2.15.0): every model has an empty prompt "document" from the
# start, which is found first. encode_query() takes its prompt, so that queries and documents are embedded differently.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet sentence-transformers==6.2.0 transformers==5.24.0 torch==2.15.0 tokenizers==0.23.3 numpy==2.4.6
cat >"$work/show.py" <<'PYTHON'
import numpy
import sentence_transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

words = {word: number for number, word in enumerate(["unknown", "text", "query", "passage"])}
tokenizer = Tokenizer(WordLevel(words, unk_token="unknown"))
tokenizer.pre_tokenizer = Whitespace()
table = StaticEmbedding(tokenizer, embedding_weights=numpy.eye(4, dtype="f4"))
model = SentenceTransformer(modules=[table], device="cpu", prompts={"query": "query ", "passage": "passage "})
print("sentence-transformers", sentence_transformers.__version__, "prompts:", model.prompts)
query, document = (made("text").tolist() for made in (model.encode_query, model.encode_document))
print("columns: unknown, text, query, passage")
print("encode_query:   ", query)
print("encode_document:", document)
assert query == [0, 0.5, 0.5, 0]
assert document == [0, 1, 0, 0], "the behaviour has changed"
PYTHON
"$work/venv/bin/python" -W ignore "$work/show.py"

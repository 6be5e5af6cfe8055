#!/usr/bin/env bash
# conformance.sh BUILD_DIR [--quick]: installs the pinned `tokenizers` into BUILD_DIR/conformance-venv and runs
# conformance.py with the vocabulary and the data of ../shared (BANTAM_SHARED). Exits 77 when those are not there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?usage: conformance.sh BUILD_DIR [--quick]}
shift
shared=${BANTAM_SHARED:-$here/../../../shared}
if [ ! -e "$shared/models/minilm-sst2/tokenizer.json" ]; then
  echo "conformance.sh: $shared/models/minilm-sst2 is not there; set BANTAM_SHARED" >&2
  exit 77
fi
cmake --build "$build" --target tokenize_lines
venv=$build/conformance-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet -r "$here/requirements.txt"
if [ -e "$shared/tokenizers/roberta/merges.txt" ]; then
  "$venv/bin/python" "$here/conformance_bpe.py" "$build/tests/text/tokenize_lines" \
    "$shared/tokenizers/roberta/vocab.json" "$shared/tokenizers/roberta/merges.txt" --data "$shared/data" "$@"
fi
if [ -e "$shared/tokenizers/xlmr/tokenizer.json.gz" ]; then
  "$venv/bin/python" "$here/conformance_unigram.py" "$build/tests/text/tokenize_lines" \
    "$shared/tokenizers/xlmr/tokenizer.json.gz" "$shared/tokenizers/t5_small/tokenizer.json" --data "$shared/data" "$@"
fi
if [ -e "$shared/tokenizers/deberta_v3/spm.model" ]; then
  "$venv/bin/python" "$here/conformance_sentencepiece.py" "$build/tests/text/tokenize_lines" \
    "$shared/tokenizers/deberta_v3/spm.model" --data "$shared/data" "$@"
fi
if [ -e "$shared/tokenizers/llama2/tokenizer.model" ]; then
  "$venv/bin/python" "$here/conformance_pieces.py" "$build/tests/text/tokenize_lines" \
    "$shared/tokenizers/llama2/tokenizer.model" --data "$shared/data" "$@"
fi
clip=()
[ ! -e "$shared/tokenizers/clip/tokenizer.json" ] || clip=("$shared/tokenizers/clip/tokenizer.json")
"$venv/bin/python" "$here/conformance_added.py" "$build/tests/text/tokenize_lines" "${clip[@]}" "$@"
"$venv/bin/python" "$here/conformance_words.py" "$build/tests/text/tokenize_lines" "${clip[@]}" --data "$shared/data" "$@"
decoded=("$shared/models/minilm-sst2/tokenizer.json")
for name in roberta t5_small xlmr; do
  for file in "$shared/tokenizers/$name/"tokenizer.json*; do
    [ ! -e "$file" ] || decoded+=("$file")
  done
done
"$venv/bin/python" "$here/conformance_decode.py" "$build/tests/text/tokenize_lines" "${decoded[@]}" --data "$shared/data" "$@"
"$venv/bin/python" "$here/conformance_normal.py" "$build/tests/text/tokenize_lines" --data "$shared/data" "$@"
exec "$venv/bin/python" "$here/conformance.py" "$build/tests/text/tokenize_lines" \
  "$shared/models/minilm-sst2/tokenizer.json" --data "$shared/data" "$@"

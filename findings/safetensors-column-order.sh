#!/usr/bin/env bash
# safetensors 0.8.0 stores a NumPy array in column order as its memory lies, under its shape in row order: another matrix.
#
# Guess: save_file copies such an array into row order first, as 0.7.0 and earlier do, or refuses it.
# Seen (safetensors 0.8.0, numpy 2.4.6): save_file and load_file exchange numbers between rows without a word; 0.7.0 keeps them.
# scikit-learn's coef_ of three classes and more is such an array, so that a classifier saved in this way gives other labels.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/show.py" <<'PYTHON'
import sys

import numpy
import safetensors
from safetensors.numpy import load_file, save_file

rows = numpy.array([[1, 2, 3], [4, 5, 6]], dtype=numpy.float32)
save_file({"rows": rows, "columns": numpy.asfortranarray(rows)}, sys.argv[1])
stored = load_file(sys.argv[1])
print("safetensors", safetensors.__version__, "numpy", numpy.__version__)
print("saved in row order:   ", stored["rows"].tolist())
print("saved in column order:", stored["columns"].tolist())
assert stored["rows"].tolist() == rows.tolist()
wanted = [[1, 4, 2], [5, 3, 6]] if safetensors.__version__ == "0.8.0" else rows.tolist()
assert stored["columns"].tolist() == wanted, "the behaviour has changed"
PYTHON
for version in 0.7.0 0.8.0; do
  python3 -m venv "$work/$version"
  "$work/$version/bin/pip" install --quiet "safetensors==$version" numpy==2.4.6
  "$work/$version/bin/python" "$work/show.py" "$work/$version.safetensors"
done

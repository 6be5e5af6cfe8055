"""Compares `bantam embed` with the library that a directory was made for: model2vec, or sentence-transformers.

Usage: python embedders.py BANTAM DIRECTORY TEXTS...   (files of texts, one per line)
The directory is converted as f32 and as int8. Exit status 1 if a value of the f32 file differs by more than 2e-4 of the
vector's length, or an int8 vector's cosine is below 0.98. Needs model2vec or sentence-transformers; models are not part
of the project: packages that ship one are named in tests/conformance/README.md.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy


def original(directory, texts):
    if (directory / "modules.json").exists():
        import sentence_transformers

        return sentence_transformers.SentenceTransformer(str(directory), device="cpu").encode(texts)
    import model2vec

    return model2vec.StaticModel.from_pretrained(directory).encode(texts)


def ours(bantam, directory, weights, texts, folder):
    file, lines, vectors = folder / "model.bantam", folder / "texts.txt", folder / "vectors.npy"
    lines.write_text("".join(text + "\n" for text in texts))
    subprocess.run(
        [bantam, "convert", directory, "-o", file, "--weights", weights, "--parity", "none"],
        check=True,
        capture_output=True,
    )
    subprocess.run([bantam, "embed", file, "--file", lines, "--output", vectors], check=True, capture_output=True)
    return numpy.load(vectors)


def main():
    bantam, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    texts = [line for name in sys.argv[3:] for line in pathlib.Path(name).read_text().splitlines() if line.strip()]
    expected = numpy.asarray(original(directory, texts), dtype=numpy.float64)
    lengths = numpy.linalg.norm(expected, axis=1)
    failed = False
    for weights in ("f32", "i8"):
        with tempfile.TemporaryDirectory() as folder:
            actual = ours(bantam, directory, weights, texts, pathlib.Path(folder)).astype(numpy.float64)
        scale = numpy.maximum(lengths, 1e-30)
        difference = (numpy.abs(actual - expected).max(axis=1) / scale)[lengths > 0]
        both = lengths * numpy.linalg.norm(actual, axis=1)
        cosine = ((actual * expected).sum(axis=1) / numpy.maximum(both, 1e-30))[lengths > 0]
        worst = int(difference.argmax())
        print(
            json.dumps(
                {
                    "weights": weights,
                    "texts": len(texts),
                    "largest_difference": float(difference.max()),
                    "least_cosine": float(cosine.min()),
                    "of_text": [text for text, length in zip(texts, lengths) if length > 0][worst][:80],
                }
            )
        )
        failed = failed or (difference.max() > 2e-4 if weights == "f32" else cosine.min() < 0.98)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""savers.py COMMAND [CLASS ...]: checks models that the installed releases of libraries save.

For each class, a tiny model with random weights is saved, converted with f32 weights, and run. Ids, names and shapes of
outputs must be the library's, and numbers may differ by at most 1e-4 of the largest. CLASS is a name that this program
prints, or a pattern ("setfit/*"). Prints one line per class (equal, refused, different, not saved) and the counts;
libraries that are missing are named and skipped. Exit status 1 if answers differ, a class outside REFUSED is refused,
or a class outside UNSAVED is not saved; 77 if all libraries are missing.
"""

import fnmatch
import importlib
import pathlib
import sys
import tempfile
import traceback

from saver_checks import LIMIT, Different, Refused

# Module: libraries. Each module has cases(COMMAND): names, and functions that save, convert and compare.
GROUPS = {
    "saved_models": ("transformers",),
    "saved_sentences": ("sentence-transformers", "setfit", "model2vec", "peft"),
    "saved_finders": ("gliner",),
    "saved_graphs": ("torch.onnx", "onnxruntime", "keras"),
    "saved_blocks": ("gguf",),
}
# Models that `bantam convert` refuses, and the reasons.
REFUSED = {
    "transformers/SplinterForPreTraining": "answers for several questions at once",
    "sentence-transformers/Pooling-mean_sqrt_len_tokens": "pooled by cls, mean, max and lasttoken",
    "sentence-transformers/Pooling-weightedmean": "pooled by cls, mean, max and lasttoken",
    "sentence-transformers/Pooling-without-prompt": "texts, queries and documents leave out different numbers of tokens",
    "setfit/OneVsRestClassifier": "a classifier a label",
    "onnxruntime/static-QOperator-*": "activations are integers between operators, too",
    "torch.onnx/xlnet-encoder-torchscript-17": "Einsum, of distances",
    "keras/lstm-torch-onnx": "a loop that the exporter has rolled out, a step a token",
    "keras/lstm-tensorflow-litert": "TensorFlow's own operators; lstm-tensorflow-tflite is what the message says to do",
    "gguf/*-TQ[12]_0": "weights of three values",
}
# Models that the newest releases cannot save, and the reasons.
UNSAVED = {
    "torch.onnx/xlnet-encoder-dynamo-18*": "torch's exporter fails on the model's products of distances",
    "keras/encoder-torch-onnx": "torch's exporter fails on MultiHeadAttention of Keras's torch backend",
}


def known(table, name):
    return next((why for pattern, why in table.items() if fnmatch.fnmatchcase(name, pattern)), None)


def judge(check, command, folder):
    """(state, message) of a class."""
    folder.mkdir()
    try:
        worst = check(command, folder).worst
    except Refused as error:
        return "refused", str(error)[:300]
    except Different as error:
        return "different", str(error)
    except ImportError as error:
        return "skipped", str(error)[:120]
    except Exception as error:  # noqa: BLE001  libraries raise exceptions of any class
        place = traceback.extract_tb(error.__traceback__)[-1]
        return (
            "not saved",
            f"{type(error).__name__}: {' '.join(str(error).split())[-200:]} ({pathlib.Path(place.filename).name}:{place.lineno})",
        )
    return ("equal" if worst <= LIMIT else "different"), f"{worst:.1e}"


def chosen_cases(command, only, skipped):
    libraries = [pattern.split("/")[0] for pattern in only or ["*"]]
    for group, names in GROUPS.items():
        if not any(fnmatch.fnmatchcase(name, library) for name in names for library in libraries):
            continue
        try:
            for name, check in importlib.import_module(group).cases(command):
                if not only or any(fnmatch.fnmatchcase(name, pattern) for pattern in only):
                    yield name, check
        except ImportError as error:
            skipped.append(f"{group}: {error}")


def main():
    command, only = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    counts, failed, skipped = {}, [], []
    with tempfile.TemporaryDirectory() as place:
        for number, (name, check) in enumerate(chosen_cases(command, only, skipped)):
            state, said = judge(check, command, pathlib.Path(place) / str(number))
            why = known(REFUSED, name) if state == "refused" else known(UNSAVED, name) if state == "not saved" else None
            counts[state] = counts.get(state, 0) + 1
            print(f"{state:10} {name:48} {f'{why}: ' if why else ''}{said}", flush=True)
            if state == "different" or (state in ("refused", "not saved") and why is None):
                failed.append(name)
    for line in skipped:
        print("skipped", line)
    print(", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
    if failed:
        sys.exit(f"savers.py: {', '.join(failed)}")
    sys.exit(0 if counts.keys() - {"skipped"} else 77)


if __name__ == "__main__":
    main()

"""`encode` of many sentences with all-MiniLM-L6-v2, one thread: bantam (int8) beside sentence-transformers (torch, f32) and what
fastembed does (ONNX Runtime), in one run.

  PYTHONPATH=targets/python BANTAM_LIBRARY=build/python/libbantam.so python3 tests/bench/python_encode.py \\
      --bantam minilm.bantam --directory all-MiniLM-L6-v2 [--onnx minilm.onnx] --texts sentences.txt

The sentences go in slices, every slice through each system in turn, so that a drift of the machine hits all alike. fastembed itself
fetches its models; its way with a model of one's own is repeated here: batches of 256 in the order of the texts, padded to the
longest, means over the mask, rows of length 1. Cosines to sentence-transformers' rows say that all computed the same.
"""

import argparse
import os
import pathlib
import time

for threads in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np  # noqa: E402

import bantam  # noqa: E402


def bantam_system(options):
    model = bantam.load(options.bantam)
    return lambda texts: model.encode(texts)


def sentence_transformers_system(options):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(options.directory, device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


def fastembed_system(options):
    import onnxruntime
    from tokenizers import Tokenizer

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(options.onnx, settings, providers=["CPUExecutionProvider"])
    names = {one.name for one in session.get_inputs()}
    tokenizer = Tokenizer.from_file(str(pathlib.Path(options.directory) / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")

    def encode(texts):
        rows = []
        for begin in range(0, len(texts), 256):
            batch = tokenizer.encode_batch(texts[begin : begin + 256])
            ids = np.array([one.ids for one in batch], np.int64)
            mask = np.array([one.attention_mask for one in batch], np.int64)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            found = session.run(None, {name: value for name, value in feed.items() if name in names})[0]
            if found.ndim == 3:
                weights = mask[:, :, None].astype(np.float32)
                found = (found * weights).sum(1) / np.clip(weights.sum(1), 1e-9, None)
            rows.append(found / np.linalg.norm(found, axis=1, keepdims=True))
        return np.concatenate(rows)

    return encode


def cosine(a, b):
    return float(np.mean(np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bantam", required=True)
    parser.add_argument("--directory", required=True, help="the model as sentence-transformers has it")
    parser.add_argument("--onnx", help="the model for ONNX Runtime; without: that side is left out")
    parser.add_argument("--texts", required=True, help="a sentence a line")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--slice", type=int, default=1000)
    options = parser.parse_args()
    texts = [line for line in pathlib.Path(options.texts).read_text().splitlines() if line.strip()][: options.count]
    makers = {"bantam": bantam_system, "sentence-transformers": sentence_transformers_system}
    if options.onnx:
        makers["ONNX Runtime as fastembed"] = fastembed_system
    systems = {name: make(options) for name, make in makers.items()}
    spent, rows = dict.fromkeys(systems, 0.0), {name: [] for name in systems}
    for encode in systems.values():
        encode(texts[:64])
    for begin in range(0, len(texts), options.slice):
        for name, encode in systems.items():
            start = time.perf_counter()
            rows[name].append(encode(texts[begin : begin + options.slice]))
            spent[name] += time.perf_counter() - start
    reference = np.concatenate(rows["sentence-transformers"])
    print(f"{len(texts)} sentences, one thread")
    for name, seconds in spent.items():
        ratio, same = spent["bantam"] / seconds, cosine(np.concatenate(rows[name]), reference)
        print(
            f"{name:<28}{seconds:8.2f} s{len(texts) / seconds:9.0f} texts/s   bantam takes {ratio:.2f} of it   cosine {same:.4f}"
        )


if __name__ == "__main__":
    main()

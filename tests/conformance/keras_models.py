#!/usr/bin/env python3
"""keras_models.py NAME FORMAT DIRECTORY: exports one tiny Keras model as onnx or litert, with Keras's answers.

The format "tflite" is LiteRT by TensorFlow's own converter, which bantam's message recommends if it refuses an export.
Writes DIRECTORY/model.onnx or model.tflite, and answers.jsonl: ids and the outputs of Keras. savers.py calls this
program with KERAS_BACKEND in the environment, because a process has one backend.
"""

import json
import pathlib
import sys

import keras
import numpy
from keras import layers

VOCABULARY, TOKENS, WIDTH, LABELS = 61, 16, 24, 3


@keras.saving.register_keras_serializable()
class Places(layers.Layer):
    """Adds a vector for each position to the rows."""

    def build(self, shape):
        self.table = self.add_weight(shape=(TOKENS, shape[-1]), name="table")

    def call(self, rows):
        return rows + self.table


def block(rows):
    """A transformer layer with norms last."""
    seen = layers.MultiHeadAttention(3, WIDTH // 3)(rows, rows)
    rows = layers.LayerNormalization(epsilon=1e-5)(rows + seen)
    inner = layers.Dense(36, activation="gelu")(rows)
    return layers.LayerNormalization(epsilon=1e-5)(rows + layers.Dense(WIDTH)(inner))


def encoder(rows):
    return layers.GlobalAveragePooling1D()(block(block(Places()(rows))))


def convolutions(rows):
    wide = [layers.Conv1D(10, width, padding="same", activation="relu")(rows) for width in (1, 3, 5)]
    return layers.Concatenate()([layers.GlobalMaxPooling1D()(each) for each in wide])


def recurrent(rows):
    return layers.Bidirectional(layers.LSTM(10, unroll=False))(rows)


def average(rows):
    return layers.Dense(WIDTH, activation="relu")(layers.GlobalAveragePooling1D()(rows))


MODELS = {"encoder": encoder, "convolutions": convolutions, "lstm": recurrent, "average": average}


def build(name):
    keras.utils.set_random_seed(4)
    ids = keras.Input(batch_shape=(1, TOKENS), dtype="int32", name="ids")
    rows = layers.Embedding(VOCABULARY, WIDTH)(ids)
    model = keras.Model(ids, layers.Dense(LABELS)(MODELS[name](rows)))
    draw = numpy.random.default_rng(5)
    model.set_weights([w + draw.normal(0, 0.3, w.shape).astype("f4") for w in model.get_weights()])
    return model


def answers(model):
    draw = numpy.random.default_rng(6)
    for _ in range(4):
        ids = draw.integers(1, VOCABULARY, TOKENS)
        logits = keras.ops.convert_to_numpy(model(ids[None].astype("i4"), training=False))[0]
        yield {"ids": ids.tolist(), "logits": logits.astype(float).tolist()}


def main():
    name, kind, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    model = build(name)
    lines = list(answers(model))  # this calls the model, which the exporters require
    if kind == "tflite":
        import tensorflow

        (folder / "model.tflite").write_bytes(tensorflow.lite.TFLiteConverter.from_keras_model(model).convert())
    else:
        model.export(str(folder / ("model.onnx" if kind == "onnx" else "model.tflite")), format=kind, verbose=False)
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Writes tests/golden/tflite: tiny random models as TensorFlow's converter writes them, with the answers of its interpreter.

    TF_USE_LEGACY_KERAS=1 python tests/golden/tflite_models.py [NAME...]

Needs tensorflow and tf_keras, whose LSTM becomes one operator; those of Keras 3 (keras) become loops. Each NAME.tflite has a NAME.jsonl beside
it: ids, segments and what stands in front of the softmax, as `bantam convert --expect` reads them. average-words has metadata and an
archive with words and labels, as TensorFlow's Model Maker writes them.
"""

import argparse
import io
import json
import os
import pathlib
import tempfile
import zipfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import flatbuffers
import keras
import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

OUT = pathlib.Path(__file__).resolve().parent / "tflite"
VOCABULARY, WIDTH, HEADS, TOKENS = 40, 8, 2, 16
WORDS = ["<PAD>", "<START>", "<UNKNOWN>", "the", "film", "is", "isn't", "good", "bad", "not"]
TEXT = [1, 3, 4, 6, 7, 2]  # <START> the film isn't good <UNKNOWN>
LABELS = ["negative", "neutral", "positive"]
layers = tf.keras.layers


def sequential(*more, width=WIDTH):
    """Layers of ids."""
    return tf.keras.Sequential(
        [layers.InputLayer(input_shape=(TOKENS,), dtype=tf.int32), layers.Embedding(VOCABULARY, width), *more]
    )


def loops():
    """Recurrent layers of Keras 3, each a loop over tokens."""
    own = keras.layers

    def model(*more, width=WIDTH):
        ids = own.Input(batch_shape=(1, TOKENS), dtype="int32")
        return keras.Sequential([ids, own.Embedding(VOCABULARY, width), *more])

    def end():
        return own.Dense(3, activation="softmax")

    yield "loop-lstm", model(own.LSTM(8), end()), ["f32", "f16"]
    yield "loop-lstm", model(own.LSTM(16), end(), width=16), ["dynamic"]
    yield "loop-gru", model(own.Bidirectional(own.GRU(6)), end()), ["f32"]
    yield "loop-tags", model(own.Bidirectional(own.LSTM(6, return_sequences=True)), end()), ["f32"]
    masked = own.Embedding(VOCABULARY, WIDTH, mask_zero=True)
    ids = own.Input(batch_shape=(1, TOKENS), dtype="int32")
    yield "loop-masked", keras.Sequential([ids, masked, own.Bidirectional(own.LSTM(8)), end()]), ["f32"]
    yield "loop-gru-tags", model(own.GRU(6, return_sequences=True), own.GRU(5, return_sequences=True), end()), ["f32"]


def labels():
    return layers.Dense(3, activation="softmax")


def windows():
    """Kim, arXiv 1408.5882, without padding."""
    ids = layers.Input((TOKENS,), dtype=tf.int32)
    rows = layers.Embedding(VOCABULARY, WIDTH)(ids)
    found = [layers.GlobalMaxPooling1D()(layers.Conv1D(6, size, activation="relu")(rows)) for size in (1, 2, 3)]
    return tf.keras.Model(ids, labels()(layers.Concatenate()(found)))


class Bert(tf.Module):
    """One layer of BERT (arXiv 1810.04805)."""

    def __init__(self):
        super().__init__()

        def draw(*shape):
            return tf.Variable(tf.random.normal(shape) * 0.3)

        self.words, self.places, self.segments = draw(VOCABULARY, WIDTH), draw(TOKENS, WIDTH), draw(2, WIDTH)
        self.linear = {
            name: (draw(rows, columns), draw(columns))
            for name, rows, columns in (
                ("query", WIDTH, WIDTH),
                ("key", WIDTH, WIDTH),
                ("value", WIDTH, WIDTH),
                ("output", WIDTH, WIDTH),
                ("up", WIDTH, 12),
                ("down", 12, WIDTH),
                ("pooler", WIDTH, WIDTH),
                ("classifier", WIDTH, 3),
            )
        }
        self.norms = [(draw(WIDTH) + 1, draw(WIDTH)) for _ in range(3)]

    def apply(self, name, x):
        weight, bias = self.linear[name]
        return tf.matmul(x, weight) + bias

    def norm(self, i, x):
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6) * self.norms[i][0] + self.norms[i][1]

    def __call__(self, input_word_ids, input_mask, input_type_ids):
        x = tf.gather(self.words, input_word_ids) + self.places[None]
        x = self.norm(0, x + tf.gather(self.segments, input_type_ids))

        def heads(name):
            split = tf.reshape(self.apply(name, x), [1, TOKENS, HEADS, WIDTH // HEADS])
            return tf.transpose(split, [0, 2, 1, 3])

        scores = tf.matmul(heads("query"), heads("key"), transpose_b=True) / (WIDTH / HEADS) ** 0.5
        scores += (1.0 - tf.cast(input_mask, tf.float32))[:, None, None, :] * -1e4
        context = tf.transpose(tf.matmul(tf.nn.softmax(scores), heads("value")), [0, 2, 1, 3])
        x = self.norm(1, x + self.apply("output", tf.reshape(context, [1, TOKENS, WIDTH])))
        x = self.norm(2, x + self.apply("down", tf.nn.gelu(self.apply("up", x), approximate=False)))
        return {"probability": tf.nn.softmax(self.apply("classifier", tf.tanh(self.apply("pooler", x[:, 0]))))}


def models():
    """Names, models, kinds of numbers."""
    mean = layers.GlobalAveragePooling1D
    yield "average", sequential(mean(), layers.Dense(WIDTH, activation="relu"), labels()), ["f32", "f16", "int8"]
    wide = sequential(mean(), layers.Dense(32, activation="relu"), labels(), width=32)
    yield "average", wide, ["dynamic"]
    yield "average-words", sequential(mean(), labels()), ["f32"]
    same = sequential(layers.Conv1D(6, 3, padding="same", activation="relu"), mean(), labels())
    yield "convolution", same, ["f32", "f16", "int8"]
    yield "windows", windows(), ["f32", "int8"]
    yield "lstm", sequential(layers.LSTM(8), labels()), ["f32"]
    both = sequential(layers.Bidirectional(layers.LSTM(6)), layers.Dense(2, activation="sigmoid"))
    yield "lstm-both", both, ["f32"]
    tags = sequential(layers.Bidirectional(layers.LSTM(6, return_sequences=True)), labels())
    yield "lstm-tags", tags, ["f32"]
    yield "bert", Bert(), ["f32", "int8"]
    yield from loops()


def concrete(model):
    """A function of one text."""
    names = ["input_word_ids", "input_mask", "input_type_ids"] if isinstance(model, Bert) else ["ids"]
    return tf.function(
        model, input_signature=[tf.TensorSpec((1, TOKENS), tf.int32, name=name) for name in names]
    ).get_concrete_function()


def feeds(count, seed, whole):
    """Ids, masks and segments; `whole`: texts have all tokens."""
    random = np.random.default_rng(seed)
    for i in range(count):
        length = TOKENS if whole else (1, 2, 7, TOKENS - 1, TOKENS)[i % 5]
        there = np.arange(TOKENS) < length
        ids = np.where(there, random.integers(5, VOCABULARY, TOKENS), 0)
        segments = (np.arange(TOKENS) >= length // 2) & there
        yield length, [x[None].astype(np.int32) for x in (ids, there, segments)]


def convert(model, kind):
    with tempfile.TemporaryDirectory() as directory:
        if isinstance(model, Bert):
            module = tf.Module()
            module.model, module.function = model, concrete(model)
            tf.saved_model.save(module, directory, signatures=module.function)
        elif isinstance(model, keras.Model):
            ids = tf.TensorSpec((1, TOKENS), tf.int32, name="ids")
            model.export(directory, input_signature=[ids], verbose=False)
        else:
            model.save(directory, save_format="tf", signatures=concrete(model))
        converter = tf.lite.TFLiteConverter.from_saved_model(directory)
        if kind != "f32":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if kind == "f16":
            converter.target_spec.supported_types = [tf.float16]
        if kind == "int8":
            inputs = 3 if isinstance(model, Bert) else 1
            converter.representative_dataset = lambda: (feed[:inputs] for _, feed in feeds(32, 5, inputs == 1))
        return converter.convert()


def expected(content, out, text=None, masked=False):
    """The values before the last softmax or logistic, for some texts; `text`: ids of the first one; `masked`: ids of 0 are skipped."""
    interpreter = tf.lite.Interpreter(
        model_content=content,
        experimental_preserve_all_tensors=True,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF,
    )
    interpreter.allocate_tensors()
    inputs = {}
    for one in interpreter.get_input_details():
        kind = 1 if "mask" in one["name"] else 2 if "type" in one["name"] else 0
        inputs[kind] = one["index"]
    last = [op for op in interpreter._get_ops_details() if op["op_name"] in ("SOFTMAX", "LOGISTIC")][-1]
    details = {tensor["index"]: tensor for tensor in interpreter.get_tensor_details()}[last["inputs"][0]]
    lines = []
    texts = list(feeds(5, 3, len(inputs) == 1 and not masked))
    if text:
        texts.insert(0, (TOKENS, [np.array([text + [0] * (TOKENS - len(text))], np.int32)]))
    for length, feed in texts:
        for kind, index in inputs.items():
            interpreter.set_tensor(index, feed[kind])
        interpreter.reset_all_variables()  # states of LSTMs would go on
        interpreter.invoke()
        values = interpreter.get_tensor(details["index"])[0].astype(np.float64)
        scale, zero = details["quantization"]
        if scale:
            values = (values - zero) * scale
        line = {"ids": feed[0][0, :length].tolist()}
        if len(inputs) == 3:
            line["segments"] = feed[2][0, :length].tolist()
        line["logits"] = values.round(7).tolist()
        lines.append(json.dumps(line))
    out.write_text("\n".join(lines) + "\n")


def metadata():
    """ModelMetadata with words of inputs and labels of outputs; fields by their numbers in schemas/tflite_metadata.fbs."""
    builder = flatbuffers.Builder(256)

    def table(fields):
        """fields: number: offset or byte."""
        builder.StartObject(max(fields, default=-1) + 1)
        for number, (kind, value) in fields.items():
            if kind == "byte":
                builder.PrependInt8Slot(number, value, 0)
            elif kind == "ubyte":
                builder.PrependUint8Slot(number, value, 0)
            else:
                builder.PrependUOffsetTRelativeSlot(number, value, 0)
        return builder.EndObject()

    def text(value):
        return ("offset", builder.CreateString(value))

    def vector(*offsets):
        builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
        return ("offset", builder.EndVector())

    words = table({0: text("vocab.txt"), 2: ("byte", 5)})
    pattern = text("[^\\w\\']+")
    options = table({0: pattern, 1: vector(words)})
    unit = table({0: ("ubyte", 6), 1: ("offset", options)})
    ids = table({0: text("input_text"), 4: vector(unit)})
    names = table({0: text("labels.txt"), 2: ("byte", 2)})
    scores = table({0: text("probability"), 6: vector(names)})
    graph = table({2: vector(ids), 3: vector(scores)})
    model = table({0: text("Films"), 1: text("Tells what people think of films."), 3: vector(graph), 5: text("MIT")})
    builder.Finish(model, file_identifier=b"M001")
    return bytes(builder.Output())


def packed(content):
    """The file with metadata, and an archive behind it."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(content, 0))
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(metadata(), np.uint8)
    model.buffers.append(buffer)
    entry = schema.MetadataT()
    entry.name, entry.buffer = "TFLITE_METADATA", len(model.buffers) - 1
    model.metadata = [*(model.metadata or []), entry]
    builder = flatbuffers.Builder(4096)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    stream = io.BytesIO(bytes(builder.Output()))
    with zipfile.ZipFile(stream, "a") as archive:
        for name, lines in (
            ("vocab.txt", [f"{word} {i}" for i, word in enumerate(WORDS)]),
            ("labels.txt", LABELS),
        ):
            archive.writestr(zipfile.ZipInfo(name), "\n".join(lines) + "\n")
    return stream.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    tf.keras.utils.set_random_seed(7)
    for name, model, kinds in models():
        if not isinstance(model, Bert):  # Keras begins with numbers that hardly matter
            for variable in model.trainable_variables:
                variable.assign_add(tf.random.normal(variable.shape) * 0.4)
        for kind in kinds:
            full = f"{name}-{kind}"
            if arguments.names and full not in arguments.names:
                continue
            content = convert(model, kind)
            if name == "average-words":
                content = packed(content)
            (OUT / f"{full}.tflite").write_bytes(content)
            words = TEXT if name == "average-words" else None
            expected(content, OUT / f"{full}.jsonl", words, masked=name == "loop-masked")


if __name__ == "__main__":
    main()

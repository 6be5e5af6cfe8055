"""Writes tests/golden/onnx_forms: one tiny graph for each form that people's own exports have, with the answers of ONNX Runtime.

    python tests/golden/onnx_forms.py [NAME...]

Needs numpy, onnx and onnxruntime. NAME.onnx has NAME.jsonl beside it, as `bantam convert --expect` reads it; options.json has the options that a
file is converted with. A softmax or sigmoid that stands last is left out of what is expected, as it is of what bantam gives.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OUT = pathlib.Path(__file__).resolve().parent / "onnx_forms"
VOCABULARY, WIDTH, LABELS, PLACES, FIXED = 40, 8, 3, 24, 6
FORMS = {}


def form(function):
    FORMS[function.__name__.replace("_", "-")] = function
    return function


class Graph:
    """Nodes that follow each other; constants get names of their own. `x`: the rows of words."""

    def __init__(self, seed, ids="ids", shape=("texts", "tokens"), width=WIDTH):
        self.random, self.nodes, self.constants, self.width = np.random.default_rng(seed), [], [], width
        self.inputs, self.opset, self.last = [], 17, ""
        self.ids = self.input(ids, TensorProto.INT64, shape)

    def input(self, name, kind, shape=("texts", "tokens")):
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def constant(self, values, kind=None):
        name = f"constant_{len(self.constants)}"
        if kind is None:
            self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        else:
            values = np.asarray(values)
            self.constants.append(helper.make_tensor(name, kind, values.shape, values.ravel().tolist()))
        return name

    def some(self, *shape, scale=1.0):
        return self.constant((self.random.normal(size=shape) * scale).astype(np.float32))

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [f"value_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        self.last = names[0]
        return names[0] if outputs == 1 else names

    def words(self):
        return self.add("Gather", self.some(VOCABULARY, self.width), self.ids)

    def tokens(self):
        return self.add("Shape", self.ids, start=1, end=2)

    def mean(self, rows):
        return self.add("ReduceMean", rows, axes=[1], keepdims=0)

    def labels(self, rows, columns=None):
        product = self.add("MatMul", rows, self.some(columns or self.width, LABELS))
        return self.add("Add", product, self.some(LABELS))

    def model(self, outputs):
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs.values()]
        nodes = list(self.nodes)
        for shown, (name, value) in zip(values, outputs.items()):
            nodes.append(helper.make_node("Identity", [value], [name]))
            shown.name = name
        graph = helper.make_graph(nodes, "form", self.inputs, values, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def masked_mean(graph, rows, mask):
    there = graph.add("Unsqueeze", mask, graph.constant([-1]))
    total = graph.add("ReduceSum", graph.add("Mul", rows, there), graph.constant([1]), keepdims=0)
    count = graph.add(
        "Clip", graph.add("ReduceSum", there, graph.constant([1]), keepdims=0), graph.constant(np.float32(1e-9))
    )
    return graph.add("Div", total, count)


# Each form returns the graph, its outputs, and what stands in front of one that is left out at the end.


@form
def other_names():
    graph = Graph(1, "src")
    mask = graph.input("src_mask", TensorProto.INT64)
    return graph, {"logits": graph.labels(masked_mean(graph, graph.words(), graph.add("Cast", mask, to=1)))}


@form
def unclear_names():
    graph = Graph(2, "a")
    mask = graph.add("Cast", graph.input("b", TensorProto.INT64), to=1)
    return graph, {"logits": graph.labels(masked_mean(graph, graph.words(), mask))}


@form
def mask_hides():
    graph = Graph(3, "x")
    hidden = graph.input("padding_mask", TensorProto.BOOL)
    return graph, {
        "logits": graph.labels(masked_mean(graph, graph.words(), graph.add("Cast", graph.add("Not", hidden), to=1)))
    }


@form
def normalized():
    graph = Graph(4)
    mean = graph.mean(graph.words())
    length = graph.add("ReduceL2", mean, axes=[1], keepdims=1)
    least = graph.add("Clip", length, graph.constant(np.float32(1e-12)))
    wide = graph.add("Expand", least, graph.add("Shape", mean))
    return graph, {"sentence_embedding": graph.add("Div", mean, wide)}


@form
def fixed_length():
    graph = Graph(5, shape=(1, FIXED))
    placed = graph.add("Add", graph.words(), graph.some(1, FIXED, WIDTH))
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", placed)))}


@form
def softmax_last():
    graph = Graph(6)
    logits = graph.labels(graph.mean(graph.words()))
    return graph, {"probabilities": graph.add("Softmax", logits, axis=-1)}, logits


@form
def log_softmax_last():
    graph = Graph(7)
    logits = graph.labels(graph.words())
    return graph, {"scores": graph.add("LogSoftmax", logits, axis=-1)}, logits


@form
def sigmoid_last():
    graph = Graph(8)
    logits = graph.labels(graph.mean(graph.words()))
    return graph, {"logits": graph.add("Sigmoid", logits)}, logits


@form
def positional_encoding():
    graph = Graph(9)
    ends, axis = graph.tokens(), graph.constant([1])
    table = graph.add("Slice", graph.some(1, PLACES, WIDTH), graph.constant([0]), ends, axis, axis)
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", graph.add("Add", graph.words(), table))))}


@form
def computed_places():
    graph = Graph(10)
    count = graph.add("Squeeze", graph.tokens(), graph.constant([0]))
    places = graph.add("Cast", graph.add("Range", graph.constant(0), count, graph.constant(1)), to=1)
    frequencies = graph.constant((1 / 10 ** np.linspace(0, 2, WIDTH)).astype(np.float32))
    sines = graph.add("Sin", graph.add("Einsum", places, frequencies, equation="i,j->ij"))
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", graph.add("Add", graph.words(), sines))))}


@form
def attention_pooling():
    graph = Graph(11)
    mask = graph.input("mask", TensorProto.INT64)
    rows = graph.words()
    scores = graph.add(
        "Squeeze", graph.add("MatMul", graph.add("Tanh", rows), graph.some(WIDTH, 1)), graph.constant([-1])
    )
    hidden = graph.add("Equal", mask, graph.constant(0))
    weights = graph.add("Softmax", graph.add("Where", hidden, graph.constant(np.float32(-1e9)), scores), axis=-1)
    weighted = graph.add("Mul", graph.add("Unsqueeze", weights, graph.constant([-1])), rows)
    return graph, {"logits": graph.labels(graph.add("ReduceSum", weighted, graph.constant([1]), keepdims=0))}


@form
def attention_pooling_by_products():
    graph = Graph(12)
    mask = graph.add("Cast", graph.input("mask", TensorProto.INT64), to=1)
    rows = graph.words()
    scores = graph.add("MatMul", rows, graph.some(WIDTH, 1))
    hidden = graph.add("Mul", graph.add("Sub", graph.constant(np.float32(1)), mask), graph.constant(np.float32(-1e4)))
    scores = graph.add("Add", scores, graph.add("Unsqueeze", hidden, graph.constant([-1])))
    weights = graph.add("Transpose", graph.add("Softmax", scores, axis=1), perm=[0, 2, 1])
    pooled = graph.add("Squeeze", graph.add("MatMul", weights, rows), graph.constant([1]))
    return graph, {"logits": graph.labels(pooled)}


@form
def convolution_2d():
    graph = Graph(13)
    image = graph.add("Unsqueeze", graph.words(), graph.constant([1]))
    parts = []
    for size in (2, 3):
        made = graph.add("Conv", image, graph.some(4, 1, size, WIDTH), graph.some(4))
        flat = graph.add("Squeeze", graph.add("Relu", made), graph.constant([3]))
        parts.append(graph.add("ReduceMax", flat, axes=[2], keepdims=0))
    return graph, {"logits": graph.labels(graph.add("Concat", *parts, axis=1))}


@form
def convolution_of_columns():
    """As tf2onnx writes one: columns in front, an axis of 1 behind the tokens."""
    graph = Graph(14)
    turned = graph.add("Unsqueeze", graph.add("Transpose", graph.words(), perm=[0, 2, 1]), graph.constant([3]))
    made = graph.add("Conv", turned, graph.some(WIDTH, WIDTH, 3, 1), auto_pad="SAME_UPPER")
    rows = graph.add("Transpose", graph.add("Squeeze", graph.add("Relu", made), graph.constant([3])), perm=[0, 2, 1])
    return graph, {"logits": graph.labels(rows)}


@form
def convolution_with_gaps():
    graph = Graph(15)
    turned = graph.add("Transpose", graph.words(), perm=[0, 2, 1])
    made = graph.add("Conv", turned, graph.some(WIDTH, WIDTH, 3), graph.some(WIDTH), dilations=[2], pads=[2, 2])
    return graph, {"logits": graph.labels(graph.add("Transpose", graph.add("Relu", made), perm=[0, 2, 1]))}


@form
def pool_of_one_length():
    graph = Graph(16, shape=(1, FIXED))
    turned = graph.add("Transpose", graph.words(), perm=[0, 2, 1])
    largest = graph.add("MaxPool", graph.add("Tanh", turned), kernel_shape=[FIXED])
    return graph, {"logits": graph.labels(graph.add("Squeeze", largest, graph.constant([2])))}


@form
def last_token():
    graph = Graph(17)
    return graph, {
        "logits": graph.labels(graph.add("Gather", graph.add("Tanh", graph.words()), graph.constant(-1), axis=1))
    }


@form
def batch_norm():
    graph = Graph(18)
    variance = graph.constant(graph.random.uniform(0.5, 2, WIDTH).astype(np.float32))
    numbers = graph.some(WIDTH), graph.some(WIDTH), graph.some(WIDTH), variance
    return graph, {
        "logits": graph.labels(graph.add("Tanh", graph.add("BatchNormalization", graph.mean(graph.words()), *numbers)))
    }


@form
def largest_of_several():
    graph = Graph(19)
    rows, axis = graph.words(), graph.constant([3])
    parts = [graph.add("Unsqueeze", graph.add("MatMul", rows, graph.some(WIDTH, WIDTH)), axis) for _ in range(3)]
    stacked = graph.add("Concat", *parts, axis=3)
    return graph, {"logits": graph.labels(graph.add("ReduceMax", stacked, axes=[3], keepdims=0))}


@form
def branch_by_shape():
    graph = Graph(20)
    mean = graph.add("ReduceMean", graph.words(), axes=[1], keepdims=1)
    one = graph.add("Equal", graph.add("Gather", graph.add("Shape", mean), graph.constant(1)), graph.constant(1))
    axes = numpy_helper.from_array(np.array([1]), "axes")
    squeeze = helper.make_node("Squeeze", [mean, "axes"], ["squeezed"])
    keep = helper.make_node("Identity", [mean], ["kept"])
    kind = TensorProto.FLOAT
    then = helper.make_graph([squeeze], "then", [], [helper.make_tensor_value_info("squeezed", kind, None)], [axes])
    otherwise = helper.make_graph([keep], "else", [], [helper.make_tensor_value_info("kept", kind, None)])
    return graph, {"logits": graph.labels(graph.add("If", one, then_branch=then, else_branch=otherwise))}


@form
def one_text_at_a_time():
    """Its inputs are of any number of texts, its shapes of one."""
    graph = Graph(21)
    rows = graph.add("Reshape", graph.words(), graph.constant([-1, WIDTH]))
    return graph, {"logits": graph.add("Reshape", graph.labels(rows), graph.constant([1, -1, LABELS]))}


@form
def tokens_first():
    graph = Graph(22)
    turned = graph.add("Transpose", graph.ids, perm=[1, 0])
    rows = graph.add("Tanh", graph.add("Gather", graph.some(VOCABULARY, WIDTH), turned))
    return graph, {"logits": graph.labels(graph.add("ReduceMean", rows, axes=[0], keepdims=0))}


def integers(graph, low, high, *shape):
    return graph.random.integers(low, high, shape)


@form
def scaled_integers():
    graph = Graph(23, width=32)
    table = graph.add("Cast", graph.constant(integers(graph, -127, 128, VOCABULARY, 32).astype(np.int8)), to=1)
    scales = graph.constant(graph.random.uniform(0.01, 0.02, (VOCABULARY, 1)).astype(np.float32))
    rows = graph.add("Gather", graph.add("Mul", table, scales), graph.ids)
    matrix = graph.add("Cast", graph.constant(integers(graph, 0, 255, 32, 32).astype(np.uint8)), to=1)
    matrix = graph.add("Sub", matrix, graph.constant(np.float32(128)))
    product = graph.add("MatMul", rows, graph.add("Mul", matrix, graph.constant(np.full(32, 0.01, np.float32))))
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", product)), 32)}


def product_of_bits(seed, bits, zeros):
    graph = Graph(seed, width=32)
    packed = graph.constant(integers(graph, 0, 256, 24, 2, 16 * bits // 8).astype(np.uint8))
    scales = graph.constant(graph.random.uniform(0.01, 0.05, (24, 2)).astype(np.float32))
    more = [graph.constant(integers(graph, 0, 256, 24, (2 * bits + 7) // 8).astype(np.uint8))] if zeros else []
    settings = {"domain": "com.microsoft", "K": 32, "N": 24, "bits": bits, "block_size": 16}
    rows = graph.add("MatMulNBits", graph.words(), packed, scales, *more, **settings)
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", rows)), 24)}


@form
def product_of_4_bits():
    return product_of_bits(24, 4, False)


@form
def product_of_4_bits_and_zeros():
    return product_of_bits(25, 4, True)


@form
def product_of_8_bits():
    return product_of_bits(26, 8, True)


@form
def table_of_4_bits():
    graph = Graph(27, width=32)
    table = graph.constant(integers(graph, 0, 16, VOCABULARY, 32), TensorProto.UINT4)
    zeros = graph.constant(integers(graph, 0, 16, VOCABULARY, 2), TensorProto.UINT4)
    scales = graph.constant(graph.random.uniform(0.02, 0.1, (VOCABULARY, 2)).astype(np.float32))
    settings = {"domain": "com.microsoft", "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    graph.opset = 21
    rows = graph.add("GatherBlockQuantized", table, graph.ids, scales, zeros, **settings)
    mean = graph.add("ReduceMean", rows, graph.constant([1]), keepdims=0)
    return graph, {"logits": graph.labels(mean, 32)}


@form
def blocks_of_4_bits():
    graph = Graph(28, width=32)
    graph.opset = 21
    packed = graph.constant(integers(graph, -8, 8, 32, 24), TensorProto.INT4)
    scales = graph.constant(graph.random.uniform(0.01, 0.05, (2, 24)).astype(np.float32))
    matrix = graph.add("DequantizeLinear", packed, scales, axis=0, block_size=16)
    rows = graph.add("Tanh", graph.add("MatMul", graph.words(), matrix))
    return graph, {"logits": graph.labels(graph.add("ReduceMean", rows, graph.constant([1]), keepdims=0), 24)}


@form
def gelu_of_halves():
    """Constants of the GELU in f16; the rest in f32, so that answers can be compared."""
    graph = Graph(29)
    half = lambda value: graph.add("Cast", graph.constant(np.float16(value)), to=1)  # noqa: E731
    x = graph.add("MatMul", graph.words(), graph.some(WIDTH, WIDTH))
    error = graph.add("Add", graph.add("Erf", graph.add("Div", x, half(1.4142135))), half(1))
    gelu = graph.add("Mul", graph.add("Mul", x, error), half(0.5))
    return graph, {"logits": graph.labels(graph.mean(gelu))}


@form
def bias_of_heads():
    """As Keras writes queries: biases behind the regrouping."""
    graph = Graph(31)
    heads = graph.add(
        "Reshape", graph.add("MatMul", graph.words(), graph.some(WIDTH, WIDTH)), graph.constant([0, 0, 2, 4])
    )
    rows = graph.add("Reshape", graph.add("Add", heads, graph.some(2, 4)), graph.constant([0, 0, WIDTH]))
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", rows)))}


@form
def norm_of_keras():
    """x * (gamma / deviation) + (beta - mean * gamma / deviation), the mean by a pool over columns."""
    graph = Graph(32)
    x = graph.words()
    mean = graph.add("GlobalAveragePool", x)
    centred = graph.add("Sub", x, mean)
    variance = graph.add("GlobalAveragePool", graph.add("Mul", centred, centred))
    deviation = graph.add("Sqrt", graph.add("Add", variance, graph.constant(np.float32(1e-5))))
    factor = graph.add("Mul", graph.add("Reciprocal", deviation), graph.some(1, 1, WIDTH))
    shift = graph.add("Add", graph.add("Mul", graph.add("Neg", mean), factor), graph.some(1, 1, WIDTH))
    normed = graph.add("Add", graph.add("Mul", x, factor), shift)
    return graph, {"logits": graph.labels(graph.mean(graph.add("Tanh", normed)))}


@form
def lengths_of_all_tokens():
    graph = Graph(33)
    rows = graph.add("Transpose", graph.words(), perm=[1, 0, 2])
    texts = graph.add("Shape", graph.ids, start=0, end=1)
    lengths = graph.add("Cast", graph.add("Expand", graph.tokens(), texts), to=TensorProto.INT32)
    weights = graph.some(1, 16, WIDTH, scale=0.5), graph.some(1, 16, 4, scale=0.5), graph.some(1, 32)
    names = ["Sigmoid", "Tanh", "Tanh"]
    states = graph.add("LSTM", rows, *weights, lengths, outputs=2, hidden_size=4, activations=names)[1]
    return graph, {"logits": graph.labels(graph.add("Squeeze", states, graph.constant([0])), 4)}


@form
def two_answers():
    graph = Graph(30)
    rows = graph.words()
    return graph, {"tags": graph.labels(rows), "topics": graph.labels(graph.mean(rows))}


HEADS, SHARED, HEAD, ROW = 4, 2, 16, 12


def cache(graph, name):
    return graph.input(f"past_key_values.0.{name}", TensorProto.FLOAT, ("texts", SHARED, "past", HEAD))


def angles(graph):
    turns = np.arange(64)[:, None] / 100.0 ** (np.arange(HEAD // 2) / (HEAD // 2))
    return [graph.constant(function(turns).astype(np.float32)) for function in (np.cos, np.sin)]


def lengths(graph, mask):
    count = graph.add("ReduceSum", mask, graph.constant([1]), keepdims=0)
    last = graph.add("Cast", graph.add("Sub", count, graph.constant(np.int64(1))), to=TensorProto.INT32)
    total = graph.add("Gather", graph.add("Shape", mask), graph.constant(np.int64(1)))
    return last, graph.add("Cast", total, to=TensorProto.INT32)


def next_words(graph, rows, context, width):
    rows = graph.add("Add", rows, graph.add("MatMul", context, graph.some(width, ROW, scale=0.5)))
    return graph.add("MatMul", rows, graph.some(ROW, VOCABULARY, scale=0.2))


def part(graph, rows, heads):
    return graph.add("MatMul", rows, graph.some(ROW, heads * HEAD, scale=0.5))


def answer(graph, rows, context, key, value, width):
    logits = next_words(graph, rows, context, width)
    return graph, {"logits": logits, "present.0.key": key, "present.0.value": value}


def attended(seed, make_parts, turns=True, **attributes):
    """A GroupQueryAttention of what make_parts(graph, rows, tables) gives: queries, keys and values. `turns`: it turns them itself."""
    graph = Graph(seed, "input_ids", width=ROW)
    mask = graph.input("attention_mask", TensorProto.INT64)
    if not turns:
        graph.input("position_ids", TensorProto.INT64)
    rows, caches = graph.words(), [cache(graph, "key"), cache(graph, "value")]
    tables = [] if turns else angles(graph)
    parts = make_parts(graph, rows, tables)
    context, key, value = graph.add(
        *("GroupQueryAttention", *parts, *caches, *lengths(graph, mask), *(angles(graph) if turns else ())),
        **dict(domain="com.microsoft", outputs=3, num_heads=HEADS, kv_num_heads=SHARED),
        **(dict(do_rotary=1) if turns else {}),
        **attributes,
    )
    return answer(graph, rows, context, key, value, HEADS * HEAD)


def plain_parts(graph, rows, _tables):
    return [part(graph, rows, heads) for heads in (HEADS, SHARED, SHARED)]


@form
def grouped_attention():
    return attended(31, plain_parts)


@form
def grouped_attention_in_a_window():
    return attended(32, plain_parts, local_window_size=4)


@form
def grouped_attention_of_joined_rows():
    return attended(33, lambda graph, rows, _: [part(graph, rows, HEADS + 2 * SHARED), "", ""], scale=0.4)


@form
def norms_of_heads_in_rows():
    def parts(graph, rows, _tables):
        def normed(heads):
            split = graph.add("Reshape", part(graph, rows, heads), graph.constant(np.array([0, -1, HEAD])))
            norm = graph.add("SimplifiedLayerNormalization", split, graph.some(HEAD), axis=-1, epsilon=1e-6)
            return graph.add("Reshape", norm, graph.constant(np.array([0, -1, heads * HEAD])))

        return [normed(HEADS), normed(SHARED), part(graph, rows, SHARED)]

    return attended(36, parts)


@form
def turned_by_an_operator():
    def parts(graph, rows, tables):
        def turned(heads):
            inputs = (part(graph, rows, heads), "position_ids", *tables)
            return graph.add("RotaryEmbedding", *inputs, domain="com.microsoft", num_heads=heads)

        return [turned(HEADS), turned(SHARED), part(graph, rows, SHARED)]

    return attended(34, parts, turns=False)


@form
def cache_of_tokens():
    graph = Graph(35, "input_ids", width=ROW)
    rows, caches = graph.words(), [cache(graph, "key"), cache(graph, "value")]
    shape = graph.constant(np.array([0, 0, SHARED, HEAD]))

    def heads():
        return graph.add("Transpose", graph.add("Reshape", part(graph, rows, SHARED), shape), perm=[0, 2, 1, 3])

    queries = heads()
    keys, values = [graph.add("Concat", one, heads(), axis=2) for one in caches]
    before = graph.add("Gather", graph.add("Shape", caches[0]), graph.constant(np.int64(2)))
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    all_tokens = graph.add("Add", before, graph.add("Squeeze", graph.tokens(), graph.constant([0])))
    of_keys = graph.add("Unsqueeze", graph.add("Range", zero, all_tokens, one), graph.constant([0]))
    of_queries = graph.add("Unsqueeze", graph.add("Range", before, all_tokens, one), graph.constant([1]))
    hidden = graph.add(
        "Where", graph.add("LessOrEqual", of_keys, of_queries), *map(graph.constant, map(np.float32, (0, -1e9)))
    )
    scores = graph.add("MatMul", queries, graph.add("Transpose", keys, perm=[0, 1, 3, 2]))
    weights = graph.add(
        "Softmax", graph.add("Add", graph.add("Mul", scores, graph.constant(np.float32(0.5))), hidden), axis=-1
    )
    context = graph.add("Transpose", graph.add("MatMul", weights, values), perm=[0, 2, 1, 3])
    context = graph.add("Reshape", context, graph.constant(np.array([0, 0, SHARED * HEAD])))
    return answer(graph, rows, context, keys, values, SHARED * HEAD)


OPTIONS = {
    "unclear-names": ["--inputs", "ids=a,mask=b"],
    "two-answers": ["--graph-output", "topics", "--task", "classify"],
    **{name: ["--task", "tag"] for name in ("log-softmax-last", "one-text-at-a-time")},
}
# Bantam's name of the output, if it is not "logits".
CALLED = {"normalized": "sentence_embedding"}


def shortened(values):
    """To the digits that f32 has."""
    return [shortened(one) for one in values] if isinstance(values, list) else float(f"{values:.7g}")


def answers(name, graph, outputs, front):
    """The answers for several lengths, or for the one that the graph is for."""
    asked = {"answer": front or outputs.get("topics", next(iter(outputs.values())))}
    # Its optimisers would round what int4 matrices are multiplied with.
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = graph.model(asked).SerializeToString()
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(3)
    fixed = graph.inputs[0].type.tensor_type.shape.dim[1].dim_value
    for length in (fixed,) if fixed else (3, 7, 16, 23):
        ids = random.integers(5, VOCABULARY, (1, length))
        feed = {graph.ids: ids}
        for one in session.get_inputs():
            if one.name == "position_ids":
                feed[one.name] = np.arange(length)[None]
            elif one.name.startswith("past"):
                feed[one.name] = np.zeros((1, SHARED, 0, HEAD), np.float32)
            elif one.name != graph.ids:
                feed[one.name] = np.zeros((1, length), bool) if "bool" in one.type else np.ones((1, length), np.int64)
        (values,) = session.run(None, feed)
        yield json.dumps({"ids": ids[0].tolist(), CALLED.get(name, "logits"): shortened(values[0].tolist())})


def main():
    OUT.mkdir(exist_ok=True)
    for name, make in FORMS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        graph, outputs, *front = make()
        model = graph.model(outputs)
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        onnx.save(model, OUT / f"{name}.onnx")
        (OUT / f"{name}.jsonl").write_text("\n".join(answers(name, graph, outputs, front[0] if front else None)) + "\n")
    (OUT / "options.json").write_text(json.dumps(OPTIONS, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""MiniLM for the peers of peers.py, from the directory that bantam converts: ONNX graphs, OpenVINO's and CTranslate2's.

Each model is made once, in a folder of the build tree. Every function takes the weights as a dict of f32 arrays under
transformers' names.
"""

import json
import pathlib
import struct

import numpy as np

OPSET = 17
CALIBRATION_RUNS = 48
INT4_GROUP = 32


def read_weights(directory):
    """(config, tensors in f32) of a Hugging Face directory with one model.safetensors in f16 or f32."""
    directory = pathlib.Path(directory)
    config = json.loads((directory / "config.json").read_text())
    data = (directory / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        kind = {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]
        values = np.frombuffer(data[8 + size + begin : 8 + size + end], kind)
        tensors[name] = values.astype(np.float32).reshape(entry["shape"])
    return config, tensors


class Graph:
    """An ONNX graph under construction."""

    def __init__(self):
        self.nodes, self.constants, self.names = [], {}, 0

    def constant(self, name, array):
        self.constants.setdefault(name, np.array(array, order="C"))
        return name

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        from onnx import helper

        self.names += 1
        results = [f"{kind.lower()}_{self.names}_{i}" for i in range(outputs)]
        name = f"{kind}_{self.names}"
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=name, domain=domain, **attributes))
        return results[0] if outputs == 1 else results

    def save(self, result, path):
        """Writes the model: three inputs of [batch, tokens], one output."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        self.nodes.append(helper.make_node("Identity", [result], ["logits"], name="result"))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "labels"])
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, "minilm", inputs, [output], constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


class Bert:
    """Makes the graph of a BertForSequenceClassification from ONNX's own operators, or with those that ONNX Runtime's
    transformer optimizer puts in their place (fused)."""

    def __init__(self, config, weights, fused):
        self.config, self.weights, self.fused, self.g = config, weights, fused, Graph()
        self.wide, self.heads = config["hidden_size"], config["num_attention_heads"]

    def weight(self, name):
        return self.g.constant(name, self.weights[name])

    def matrix(self, name):
        return self.g.constant(name + ".t", self.weights[name].T)

    def matmul(self, x, name):
        return self.g.op("MatMul", x, self.matrix(f"{name}.weight"))

    def linear(self, x, name):
        return self.g.op("Add", self.matmul(x, name), self.weight(f"{name}.bias"))

    def norm(self, x, name):
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.g.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=self.config["layer_norm_eps"])

    def add_and_norm(self, product, dense, residual, norm):
        """norm(product + bias + residual)"""
        bias = self.weight(f"{dense}.bias")
        if not self.fused:
            return self.norm(self.g.op("Add", self.g.op("Add", product, bias), residual), norm)
        scale, shift = self.weight(f"{norm}.weight"), self.weight(f"{norm}.bias")
        return self.g.op(
            "SkipLayerNormalization",
            *(product, residual, scale, shift, bias),
            domain="com.microsoft",
            epsilon=self.config["layer_norm_eps"],
        )

    def embed(self):
        g, at = self.g, "bert.embeddings"
        words = g.op("Gather", self.weight(f"{at}.word_embeddings.weight"), "input_ids")
        types = g.op("Gather", self.weight(f"{at}.token_type_embeddings.weight"), "token_type_ids")
        length = g.op("Shape", "input_ids", start=1, end=2)
        scalar = g.op("Squeeze", length)
        zero, one = g.constant("zero", np.array(0, np.int64)), g.constant("one", np.array(1, np.int64))
        places = g.op("Gather", self.weight(f"{at}.position_embeddings.weight"), g.op("Range", zero, scalar, one))
        return self.norm(g.op("Add", g.op("Add", words, types), places), f"{at}.LayerNorm")

    def mask(self):
        """The numbers that attention adds to scores (or, fused, the mask of ones and zeros that it reads)."""
        from onnx import TensorProto

        g = self.g
        if self.fused:
            return g.op("Cast", "attention_mask", to=TensorProto.INT32)
        axes = g.constant("mask_axes", np.array([1, 2], np.int64))
        mask = g.op("Unsqueeze", g.op("Cast", "attention_mask", to=TensorProto.FLOAT), axes)
        hidden = g.op("Sub", g.constant("one_f32", np.array(1, np.float32)), mask)
        return g.op("Mul", hidden, g.constant("lowest", np.array(-10000, np.float32)))

    def split(self, x, name, order):
        g = self.g
        shape = g.constant("split_shape", np.array([0, 0, self.heads, self.wide // self.heads], np.int64))
        return g.op("Transpose", g.op("Reshape", self.linear(x, name), shape), perm=order)

    def attention(self, x, at, mask):
        g = self.g
        parts = [f"{at}.{part}" for part in ("query", "key", "value")]
        if self.fused:
            joined = g.constant(f"{at}.qkv", np.concatenate([self.weights[f"{p}.weight"].T for p in parts], axis=1))
            bias = g.constant(f"{at}.qkv_bias", np.concatenate([self.weights[f"{p}.bias"] for p in parts]))
            return g.op("Attention", x, joined, bias, mask, domain="com.microsoft", num_heads=self.heads)
        q = self.split(x, parts[0], [0, 2, 1, 3])
        k = self.split(x, parts[1], [0, 2, 3, 1])
        v = self.split(x, parts[2], [0, 2, 1, 3])
        root = g.constant("root", np.array((self.wide // self.heads) ** 0.5, np.float32))
        scores = g.op("Add", g.op("Div", g.op("MatMul", q, k), root), mask)
        mixed = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return g.op("Reshape", mixed, g.constant("joined_shape", np.array([0, 0, self.wide], np.int64)))

    def gelu(self, product, bias):
        g = self.g
        if self.fused:
            return g.op("BiasGelu", product, bias, domain="com.microsoft")
        x = g.op("Add", product, bias)
        erf = g.op("Erf", g.op("Div", x, g.constant("root2", np.array(2**0.5, np.float32))))
        sum_ = g.op("Add", erf, g.constant("one_f32", np.array(1, np.float32)))
        return g.op("Mul", g.op("Mul", x, sum_), g.constant("half", np.array(0.5, np.float32)))

    def layer(self, x, at, mask):
        mixed = self.attention(x, f"{at}.attention.self", mask)
        dense = f"{at}.attention.output.dense"
        x = self.add_and_norm(self.matmul(mixed, dense), dense, x, f"{at}.attention.output.LayerNorm")
        inner = f"{at}.intermediate.dense"
        inside = self.gelu(self.matmul(x, inner), self.weight(f"{inner}.bias"))
        dense = f"{at}.output.dense"
        return self.add_and_norm(self.matmul(inside, dense), dense, x, f"{at}.output.LayerNorm")

    def save(self, path):
        x, mask = self.embed(), self.mask()
        for layer in range(self.config["num_hidden_layers"]):
            x = self.layer(x, f"bert.encoder.layer.{layer}", mask)
        first = self.g.op("Gather", x, self.g.constant("zero", np.array(0, np.int64)), axis=1)
        pooled = self.g.op("Tanh", self.linear(first, "bert.pooler.dense"))
        self.g.save(self.linear(pooled, "classifier"), path)


def onnx_f32(source, path, fused):
    config, weights = read_weights(source)
    Bert(config, weights, fused).save(path)


def onnx_int8(f32_path, path, kinds=None):
    """Dynamic int8, one scale an output channel; of these kinds of operators only, where they are given."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # Shape inference does not know the fused operators' types.
    options = {"DefaultTensorType": onnx.TensorProto.FLOAT}
    quantize_dynamic(
        f32_path,
        path,
        per_channel=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=kinds,
        extra_options=options,
    )


def onnx_int4(f32_path, path):
    """Weights of 4 bits; products in int8 (accuracy level 4), the fastest that MatMulNBits has."""
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(
        onnx.load(f32_path), block_size=INT4_GROUP, is_symmetric=True, accuracy_level=4, bits=4
    )
    quantizer.process()
    quantizer.model.save_model_to_file(str(path))


def feed(lengths, vocabulary=30000, seed=0):
    """Random ids padded to the longest sequence, as the inputs of the ONNX graphs."""
    generator = np.random.default_rng([seed, *lengths])
    longest = max(lengths)
    mask = (np.arange(longest)[None, :] < np.array(lengths)[:, None]).astype(np.int64)
    ids = generator.integers(1000, vocabulary, mask.shape).astype(np.int64) * mask
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def openvino_int8(f32_path, path):
    """NNCF's static int8. Calibrated on random ids: speed does not depend on the scales."""
    import nncf
    import openvino

    samples = [feed([8 + 5 * (i % 25)], seed=i) for i in range(CALIBRATION_RUNS)]
    model = openvino.Core().read_model(f32_path)
    quantized = nncf.quantize(
        model, nncf.Dataset(samples), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(samples)
    )
    openvino.save_model(quantized, path, compress_to_fp16=False)


def openvino_int4(f32_path, path):
    """Weights of 4 bits of all layers; OpenVINO makes rows int8 as it runs."""
    import nncf
    import openvino

    model = openvino.Core().read_model(f32_path)
    mode = nncf.CompressWeightsMode.INT4_SYM
    compressed = nncf.compress_weights(model, mode=mode, group_size=INT4_GROUP, ratio=1.0, all_layers=False)
    openvino.save_model(compressed, path, compress_to_fp16=False)


def ctranslate2_model(source, directory, compute_type):
    """The encoder with its pooler. CTranslate2 has no classification head: two dot products of one row fewer."""
    from ctranslate2 import specs

    config, weights = read_weights(source)

    def linear(spec, *names):
        spec.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
        spec.bias = np.concatenate([weights[f"{name}.bias"] for name in names])

    def norm(spec, name):
        spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    encoder = specs.TransformerEncoderSpec(
        config["num_hidden_layers"],
        config["num_attention_heads"],
        pre_norm=False,
        activation=specs.Activation.GELU,
        num_source_embeddings=2,
        embeddings_merge=specs.EmbeddingsMerge.ADD,
        layernorm_embedding=True,
    )
    encoder.scale_embeddings = False
    at = "bert.embeddings"
    encoder.embeddings[0].weight = weights[f"{at}.word_embeddings.weight"]
    encoder.embeddings[1].weight = weights[f"{at}.token_type_embeddings.weight"]
    encoder.position_encodings.encodings = weights[f"{at}.position_embeddings.weight"]
    norm(encoder.layernorm_embedding, f"{at}.LayerNorm")
    for number, layer in enumerate(encoder.layer):
        at = f"bert.encoder.layer.{number}"
        linear(layer.self_attention.linear[0], *(f"{at}.attention.self.{part}" for part in ("query", "key", "value")))
        linear(layer.self_attention.linear[1], f"{at}.attention.output.dense")
        norm(layer.self_attention.layer_norm, f"{at}.attention.output.LayerNorm")
        linear(layer.ffn.linear_0, f"{at}.intermediate.dense")
        linear(layer.ffn.linear_1, f"{at}.output.dense")
        norm(layer.ffn.layer_norm, f"{at}.output.LayerNorm")
    spec = specs.TransformerEncoderModelSpec(encoder, pooling_layer=True, pooling_activation=specs.Activation.Tanh)
    linear(spec.pooler_dense, "bert.pooler.dense")
    spec.register_vocabulary([f"[unused{i}]" if i != 100 else "[UNK]" for i in range(config["vocab_size"])])
    spec.config.unk_token = "[UNK]"
    spec.config.layer_norm_epsilon = config["layer_norm_eps"]
    spec.validate()
    spec.optimize(quantization=compute_type)
    pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
    spec.save(str(directory))

"""Writes tests/golden/onnx: tiny random models as exporters and ONNX Runtime's tools write them, with the answers of ONNX Runtime.

    python tests/golden/onnx_models.py [NAME...]

Needs torch, transformers 4.30 (its graphs can be traced; newer ones, and newer families, with --dynamo), onnx and onnxruntime. Each NAME.onnx has a
NAME.jsonl beside it: ids, segments and outputs, as `bantam convert --expect` reads them.
"""

import argparse
import itertools
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import (
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.transformers import optimizer
from transformers import (
    AlbertConfig,
    AlbertForSequenceClassification,
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForTokenClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

OUT = pathlib.Path(__file__).resolve().parent / "onnx"
VOCABULARY, WIDTH, HEADS, PLACES = 40, 16, 2, 24
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 1,
    "num_attention_heads": HEADS,
    "intermediate_size": 24,
    "max_position_embeddings": PLACES,
}
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


def models():
    """Names, models, how many inputs, outputs."""
    yield (
        "bert-classify",
        BertForSequenceClassification(BertConfig(num_labels=3, **SHAPE)),
        3,
        ["logits"],
    )
    relu = BertConfig(num_labels=3, hidden_act="relu", **SHAPE)
    yield "bert-relu-classify", BertForSequenceClassification(relu), 3, ["logits"]
    yield (
        "bert-encoder",
        BertModel(BertConfig(**SHAPE)),
        3,
        ["last_hidden_state", "pooler_output"],
    )
    yield (
        "bert-answer",
        BertForQuestionAnswering(BertConfig(**SHAPE)),
        3,
        ["start_logits", "end_logits"],
    )
    distil = DistilBertConfig(
        vocab_size=VOCABULARY,
        dim=WIDTH,
        n_layers=1,
        n_heads=HEADS,
        hidden_dim=24,
        max_position_embeddings=PLACES,
        num_labels=5,
    )
    yield "distilbert-tag", DistilBertForTokenClassification(distil), 2, ["logits"]
    roberta = RobertaConfig(num_labels=3, pad_token_id=1, type_vocab_size=1, **SHAPE)
    yield "roberta-classify", RobertaForSequenceClassification(roberta), 2, ["logits"]
    albert = AlbertConfig(embedding_size=8, num_labels=3, **{**SHAPE, "num_hidden_layers": 2})
    yield "albert-classify", AlbertForSequenceClassification(albert), 3, ["logits"]


def newer_models():
    """More models, of families that transformers 4.30 does not have or writes otherwise: rotary places, shared heads, windows, biases."""
    import transformers

    shape = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    modern = transformers.ModernBertConfig(
        num_labels=3,
        global_attn_every_n_layers=2,
        local_attention=4,
        cls_token_id=1,
        sep_token_id=2,
        classifier_pooling="mean",
        **{**SHAPE, "num_hidden_layers": 2},
        **shape,
    )
    modern._attn_implementation = "eager"
    yield (
        "modernbert-classify",
        transformers.ModernBertForSequenceClassification(modern),
        2,
        ["logits"],
    )
    llama = transformers.LlamaConfig(num_key_value_heads=1, use_cache=False, **SHAPE, **shape)
    llama._attn_implementation = "eager"
    yield "llama-generate", transformers.LlamaForCausalLM(llama), 2, ["logits"]
    # Attention as products, keys repeated for their queries, and angles that are those of no base.
    scaled = transformers.LlamaConfig(
        num_key_value_heads=1,
        use_cache=False,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 10000.0,
            "factor": 4.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 12,
        },
        **SHAPE,
        **shape,
    )
    scaled._attn_implementation = "sdpa"
    yield "llama-sdpa-generate", transformers.LlamaForCausalLM(scaled), 2, ["logits"]
    # Norms of queries and keys: of each head, and of all columns.
    qwen = transformers.Qwen3Config(num_key_value_heads=1, head_dim=8, use_cache=False, **SHAPE, **shape)
    qwen._attn_implementation = "sdpa"
    yield "qwen3-generate", transformers.Qwen3ForCausalLM(qwen), 2, ["logits"]
    olmo = transformers.Olmo2Config(num_key_value_heads=1, use_cache=False, **SHAPE, **shape)
    olmo._attn_implementation = "eager"
    yield "olmo2-generate", transformers.Olmo2ForCausalLM(olmo), 2, ["logits"]
    # Scores of places, in buckets that texts of the golden answers go beyond.
    deberta = transformers.DebertaV2Config(
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        position_buckets=4,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        type_vocab_size=0,
        num_labels=3,
        **SHAPE,
    )
    yield "deberta-classify", transformers.DebertaV2ForSequenceClassification(deberta), 2, ["logits"]
    t5 = transformers.T5Config(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        d_kv=8,
        d_ff=24,
        num_layers=1,
        num_heads=HEADS,
        feed_forward_proj="gated-gelu",
    )
    t5._attn_implementation = "eager"
    mobile = transformers.MobileBertConfig(
        embedding_size=8,
        intra_bottleneck_size=8,
        num_feedforward_networks=2,
        num_labels=3,
        **{**SHAPE, "num_attention_heads": 1},
    )
    mobile._attn_implementation = "eager"
    yield (
        "mobilebert-classify",
        transformers.MobileBertForSequenceClassification(mobile),
        3,
        ["logits"],
    )
    yield "t5-encoder", transformers.T5EncoderModel(t5), 2, ["last_hidden_state"]
    bert = transformers.BertConfig(**SHAPE)
    bert._attn_implementation = "eager"
    yield "bert-next-sentence", transformers.BertForNextSentencePrediction(bert), 3, ["logits"]
    names = ["prediction_logits", "seq_relationship_logits"]
    yield "bert-pretraining", transformers.BertForPreTraining(bert), 3, names
    score = transformers.BertConfig(num_labels=1, **SHAPE)
    score._attn_implementation = "eager"
    yield "bert-score", transformers.BertForSequenceClassification(score), 3, ["logits"]
    yield "bert-joint", Joint(transformers.BertModel(bert)), 3, ["intent_logits", "slot_logits"]


class Joint(torch.nn.Module):
    """Labels of a text and of its tokens."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert
        self.intents, self.slots = torch.nn.Linear(WIDTH, 3), torch.nn.Linear(WIDTH, 5)

    def forward(self, **inputs):
        rows = self.bert(**inputs).last_hidden_state
        return {"intents": self.intents(rows[:, 0]), "slots": self.slots(rows)}


class Recurrent(torch.nn.Module):
    """Labels of the last states of both directions, or of each token."""

    def __init__(self, cell, of_tokens):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.rnn = cell(WIDTH, 12, bidirectional=True, batch_first=True)
        self.linear = torch.nn.Linear(24, 3)
        self.of_tokens = of_tokens

    def forward(self, ids):
        rows, state = self.rnn(self.embedding(ids))
        if self.of_tokens:
            return self.linear(rows)
        state = state[0] if isinstance(state, tuple) else state
        return self.linear(torch.cat([state[-2], state[-1]], dim=1))


class Convolutions(torch.nn.Module):
    """Kim, arXiv 1408.5882, padded."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(WIDTH, 8, size, padding=size // 2) for size in (1, 3, 5)
        )
        self.linear = torch.nn.Linear(24, 3)

    def forward(self, ids):
        rows = self.embedding(ids).transpose(1, 2)
        return self.linear(torch.cat([torch.relu(c(rows)).amax(dim=2) for c in self.convolutions], dim=1))


def own_models():
    """Classes of PyTorch alone."""
    yield "lstm-classify", Recurrent(torch.nn.LSTM, False), 1, ["logits"]
    yield "gru-tag", Recurrent(torch.nn.GRU, True), 1, ["logits"]
    yield "textcnn-classify", Convolutions(), 1, ["logits"]


class Positional(torch.nn.Module):
    """A model whose inputs have places instead of names."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        return tuple(self.model(**dict(zip(self.names, values))).values())


def export(model, path, opset, count, outputs, dynamo):
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    ids = torch.randint(5, VOCABULARY, (2, 9))
    arguments = (ids, torch.ones_like(ids), torch.zeros_like(ids))[:count]
    names = INPUTS[:count]
    if dynamo:
        batch, tokens = (
            torch.export.Dim("batch"),
            torch.export.Dim("tokens", max=PLACES),
        )
        model = Positional(model, names)
        shapes = (tuple({0: batch, 1: tokens} for _ in names),)
        options = {"dynamo": True, "dynamic_shapes": shapes, "external_data": False}
    else:
        if hasattr(model, "config"):
            model.config.return_dict = False
        options = {
            "dynamo": False,
            "dynamic_axes": {name: {0: "batch", 1: "tokens"} for name in names + outputs},
        }
    torch.onnx.export(
        model,
        arguments,
        str(path),
        opset_version=opset,
        input_names=names,
        output_names=outputs,
        **options,
    )


def slim(path):
    """Without what is there for people: where nodes come from, shapes of what they make."""
    model = onnx.load(str(path))
    for node in model.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    for field in ("value_info", "metadata_props", "doc_string"):
        model.graph.ClearField(field)
    onnx.save(model, str(path))


def expected(path, out):
    """Answers to texts of several lengths, one at a time."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    random = np.random.default_rng(3)
    lines = []
    for length in (1, 2, 7, 16, 23):
        ids = random.integers(5, VOCABULARY, length)
        segments = (np.arange(length) >= length // 2).astype(np.int64)
        feed = {
            "input_ids": ids[None],
            "attention_mask": np.ones((1, length), np.int64),
            "token_type_ids": segments[None],
        }
        line = {"ids": ids.tolist()}
        if "token_type_ids" in names:
            line["segments"] = segments.tolist()
        for output, values in zip(
            session.get_outputs(),
            session.run(None, {name: feed[name] for name in names}),
        ):
            if output.name == "last_hidden_state":
                mean = values[0].mean(0)
                line["sentence_embedding"] = (mean / np.linalg.norm(mean)).tolist()
            elif output.name != "pooler_output":
                line[output.name] = values[0].tolist()
        lines.append(json.dumps(line))
    out.write_text("\n".join(lines) + "\n")


class Calibration:
    """Texts for static quantisation."""

    def __init__(self, names):
        random = np.random.default_rng(5)
        feeds = []
        for _ in range(8):
            feed = {
                "input_ids": random.integers(5, VOCABULARY, (1, 9)),
                "attention_mask": np.ones((1, 9), np.int64),
            }
            feeds.append({name: feed.get(name, np.zeros((1, 9), np.int64)) for name in names})
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


def quantised_static(source, name):
    names = [i.name for i in onnxruntime.InferenceSession(str(source)).get_inputs()]
    quantize_static(
        source,
        OUT / f"{name}-qdq.onnx",
        Calibration(names),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        weight_type=QuantType.QInt8,
    )
    quantised_operators(source, name)
    return [f"{name}-qdq", f"{name}-qoperator"]


def quantised_operators(source, name):
    """The same with an operator on integers in the place of each three nodes."""
    names = [i.name for i in onnxruntime.InferenceSession(str(source)).get_inputs()]
    out = OUT / f"{name}-qoperator.onnx"
    quantize_static(source, out, Calibration(names), quant_format=QuantFormat.QOperator, weight_type=QuantType.QInt8)


def quantised(source, name):
    """The results of ONNX Runtime's tools for an export."""
    quantize_dynamic(
        source,
        OUT / f"{name}-dynamic.onnx",
        weight_type=QuantType.QInt8,
        per_channel=True,
    )
    quantised_static(source, name)
    fused = optimizer.optimize_model(str(source), model_type="bert", num_heads=HEADS, hidden_size=WIDTH)
    fused.save_model_to_file(str(OUT / f"{name}-fused.onnx"))
    return [f"{name}-{kind}" for kind in ("dynamic", "qdq", "qoperator", "fused")]


def of_layers(source, name):
    """The results of ONNX Runtime's tools for recurrent layers and convolutions: integers, and operators with their activation."""
    quantize_dynamic(source, OUT / f"{name}-dynamic.onnx", weight_type=QuantType.QInt8, per_channel=True)
    made = [f"{name}-dynamic"]
    if name.startswith("textcnn"):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(OUT / f"{name}-fused.onnx")
        onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
        made.append(f"{name}-fused")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dynamo", action="store_true")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    for name, model, count, outputs in itertools.chain(models(), newer_models() if arguments.dynamo else own_models()):
        if arguments.names and name not in arguments.names:
            continue
        torch.manual_seed(len(name))
        made = []
        opsets = (11, 17) if name == "bert-classify" else (17,)
        if arguments.dynamo:  # opset 23 has an operator for attention
            opsets = (18,) if "sdpa" in name else (23,)
        for opset in opsets:
            kind = f"{name}-{'dynamo' if arguments.dynamo else 'torchscript'}{opset}"
            export(model, OUT / f"{kind}.onnx", opset, count, outputs, arguments.dynamo)
            made.append(kind)
        if name == "bert-classify" and not arguments.dynamo:
            made += quantised(OUT / f"{made[-1]}.onnx", name)
        if name in ("lstm-classify", "textcnn-classify"):
            made += of_layers(OUT / f"{made[-1]}.onnx", name)
        if name == "bert-relu-classify":  # the quantiser leaves Relu to QuantizeLinear
            source = OUT / f"{made[-1]}.onnx"
            made = quantised_static(source, name)
            source.unlink()
        for kind in made:
            slim(OUT / f"{kind}.onnx")
            expected(OUT / f"{kind}.onnx", OUT / f"{kind}.jsonl")


if __name__ == "__main__":
    main()

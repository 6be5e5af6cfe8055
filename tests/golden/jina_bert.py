"""A plain reading of Jina BERT of version 2 (arXiv 2310.19923), which transformers lacks; its authors' code is not run.

BERT without positions: scores fall with the distance by a slope a head (arXiv 2108.12409, both ways), feed-forward layers are
gated. Later files ("qk-post-norm") norm queries and keys over all heads, norm what attention adds twice, and name the matrices of the
feed-forward layers otherwise, its two halves in the other order.
"""

import json
import pathlib

import safetensors.torch
import torch


def slopes(heads):
    power = 1
    while 2 * power <= heads:
        power *= 2
    own = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    between = [2 ** (-4 * (2 * i + 1) / power) for i in range(heads - power)]
    return torch.tensor(own + between, dtype=torch.float64)


def shapes(config, code, head):
    """Names and shapes of a checkpoint's tensors; `head`: what stands behind the encoder, "" (nothing) or a class's end."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    all_shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
    }

    def norm(name):
        all_shapes[name + ".weight"] = all_shapes[name + ".bias"] = (hidden,)

    def linear(name, rows, columns, bias=True):
        all_shapes[name + ".weight"] = (rows, columns)
        if bias:
            all_shapes[name + ".bias"] = (rows,)

    norm("embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(layer + "attention.self." + part, hidden, hidden)
        linear(layer + "attention.output.dense", hidden, hidden)
        norm(layer + "attention.output.LayerNorm")
        if code:
            for name in ("attention.self.layer_norm_q", "attention.self.layer_norm_k", "layer_norm_1", "layer_norm_2"):
                norm(layer + name)
            linear(layer + "mlp.up_gated_layer", 2 * inner, hidden, bias=False)
            linear(layer + "mlp.down_layer", hidden, inner)
        else:
            linear(layer + "mlp.gated_layers", 2 * inner, hidden, bias=False)
            linear(layer + "mlp.wo", hidden, inner)
            norm(layer + "mlp.layernorm")
    if head in ("", "ForSequenceClassification"):
        linear("pooler.dense", hidden, hidden)
    if head:
        all_shapes = {"bert." + name: shape for name, shape in all_shapes.items()}
    if head == "ForSequenceClassification":
        linear("classifier", config["num_labels"], hidden)
    if head == "ForMaskedLM":
        linear("cls.predictions.transform.dense", hidden, hidden)
        norm("cls.predictions.transform.LayerNorm")
        all_shapes["cls.predictions.bias"] = (config["vocab_size"],)
    return all_shapes


class JinaBert:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.config = json.loads((directory / "config.json").read_text())
        self.tensors = {
            name.removeprefix("bert."): value.double()
            for name, value in safetensors.torch.load_file(directory / "model.safetensors").items()
        }
        self.code = "encoder.layer.0.mlp.up_gated_layer.weight" in self.tensors

    def linear(self, name, x):
        return torch.nn.functional.linear(x, self.tensors[name + ".weight"], self.tensors.get(name + ".bias"))

    def norm(self, name, x):
        weight, bias = self.tensors[name + ".weight"], self.tensors[name + ".bias"]
        return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, self.config["layer_norm_eps"])

    def attention(self, layer, x):
        heads, (tokens, hidden) = self.config["num_attention_heads"], x.shape
        q, k, v = (self.linear(f"{layer}attention.self.{part}", x) for part in ("query", "key", "value"))
        if self.code:
            q, k = (
                self.norm(layer + "attention.self.layer_norm_q", q),
                self.norm(layer + "attention.self.layer_norm_k", k),
            )
        q, k, v = (part.view(tokens, heads, -1).transpose(0, 1) for part in (q, k, v))
        place = torch.arange(tokens, dtype=torch.float64)
        distance = (place[None, :] - place[:, None]).abs()
        scores = q @ k.transpose(1, 2) / (hidden // heads) ** 0.5 - slopes(heads)[:, None, None] * distance
        context = (scores.softmax(-1) @ v).transpose(0, 1).reshape(tokens, hidden)
        return self.norm(
            layer + "attention.output.LayerNorm", self.linear(layer + "attention.output.dense", context) + x
        )

    def feed_forward(self, layer, x):
        act = {"geglu": torch.nn.functional.gelu, "reglu": torch.nn.functional.relu}[self.config["feed_forward_type"]]
        if self.code:
            up, gated = self.linear(layer + "mlp.up_gated_layer", x).chunk(2, dim=-1)
            return self.norm(layer + "layer_norm_2", x + self.linear(layer + "mlp.down_layer", up * act(gated)))
        gated, up = self.linear(layer + "mlp.gated_layers", x).chunk(2, dim=-1)
        return self.norm(layer + "mlp.layernorm", x + self.linear(layer + "mlp.wo", act(gated) * up))

    def __call__(self, ids, segments=None):
        """Outputs by transformers' names, without a batch dimension."""
        words = self.tensors["embeddings.word_embeddings.weight"]
        types = self.tensors["embeddings.token_type_embeddings.weight"]
        x = self.norm("embeddings.LayerNorm", words[ids] + types[segments or [0] * len(ids)])
        for i in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{i}."
            attended = self.attention(layer, x)
            x = self.feed_forward(layer, self.norm(layer + "layer_norm_1", x + attended) if self.code else attended)
        if "cls.predictions.bias" in self.tensors:
            x = torch.nn.functional.gelu(self.linear("cls.predictions.transform.dense", x))
            x = self.norm("cls.predictions.transform.LayerNorm", x)
            return {"logits": x @ words.T + self.tensors["cls.predictions.bias"]}
        pooled = self.linear("pooler.dense", x[0]).tanh()
        if "classifier.weight" in self.tensors:
            return {"logits": self.linear("classifier", pooled)}
        return {"last_hidden_state": x, "pooler_output": pooled}

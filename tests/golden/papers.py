"""Decoders that no library has, as their papers describe them: PaLM (arXiv 2204.02311) and LaMDA (arXiv 2201.08239).

Tensors are named as docs/models.md says. Everything is computed in double precision, token after token where that is plainest.
"""

import json
import math
import pathlib

import safetensors.torch
import torch

SHAPE = dict(
    vocab_size=61,
    hidden_size=24,
    num_attention_heads=3,
    num_hidden_layers=2,
    intermediate_size=28,
    max_position_embeddings=24,
    bos_token_id=1,
    eos_token_id=2,
)
MODELS = {
    "palm-generate": dict(model_type="palm", architectures=["PaLMForCausalLM"], head_dim=10, **SHAPE),
    "palm-classify": dict(
        model_type="palm", architectures=["PaLMForSequenceClassification"], head_dim=8, rope_theta=100.0, **SHAPE
    ),
    "lamda-generate": dict(model_type="lamda", architectures=["LaMDAForCausalLM"], head_dim=6, **SHAPE),
    "lamda-classify": dict(model_type="lamda", architectures=["LaMDAForSequenceClassification"], head_dim=6, **SHAPE),
}
BUCKETS, MOST = 32, 128
LABELS = 3


def shapes(config):
    hidden, width, inner = config["hidden_size"], config["head_dim"], config["intermediate_size"]
    palm = config["model_type"] == "palm"
    columns = config["num_attention_heads"] * width
    keys = width if palm else columns
    yield "model.embed_tokens.weight", (config["vocab_size"], hidden)
    if not palm:
        yield "model.relative_attention_bias.weight", (BUCKETS, config["num_attention_heads"])
    for layer in range(config["num_hidden_layers"]):
        name = f"model.layers.{layer}."
        yield name + "input_norm.weight", (hidden,)
        if not palm:
            yield name + "mlp_norm.weight", (hidden,)
        yield name + "attn.q_proj.weight", (columns, hidden)
        yield name + "attn.k_proj.weight", (keys, hidden)
        yield name + "attn.v_proj.weight", (keys, hidden)
        yield name + "attn.o_proj.weight", (hidden, columns)
        yield name + "mlp.gate_proj.weight", (inner, hidden)
        yield name + "mlp.up_proj.weight", (inner, hidden)
        yield name + "mlp.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)
    if "Classification" in config["architectures"][0]:
        yield "score.weight", (LABELS, hidden)
    elif not palm:
        yield "lm_head.weight", (config["vocab_size"], hidden)


def make(directory, name, seed):
    config = MODELS[name]
    if "classify" in name:
        config = {**config, "id2label": {str(i): f"LABEL_{i}" for i in range(LABELS)}}
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for tensor, shape in shapes(config):
        values = torch.randn(shape, generator=generator)
        if len(shape) == 1:
            values = values * 0.2 + 1
        elif "embed" not in tensor and "bias" not in tensor:
            values = values * 1.5 / shape[1] ** 0.5
        tensors[tensor] = values.half()
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    safetensors.torch.save_file(tensors, directory / "model.safetensors")


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") in ("palm", "lamda")


def turned(x, place, base):
    """Rotary positions (arXiv 2104.09864): the halves of a head are the coordinates of points."""
    half = len(x) // 2
    angles = torch.tensor([place * base ** (-i / half) for i in range(half)], dtype=torch.float64)
    a, b = x[:half], x[half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()])


def bucket(distance):
    """The bucket of a key that is `distance` places before its query (T5, arXiv 1910.10683, of a decoder)."""
    exact = BUCKETS // 2
    if distance < exact:
        return distance
    beyond = math.log(distance / exact) / math.log(MOST / exact) * (BUCKETS - exact)
    return min(exact + int(beyond), BUCKETS - 1)


class Paper:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.config = json.loads((directory / "config.json").read_text())
        self.tensors = {
            name: values.double()
            for name, values in safetensors.torch.load_file(directory / "model.safetensors").items()
        }
        self.palm = self.config["model_type"] == "palm"

    def of(self, layer, name):
        return self.tensors[f"model.layers.{layer}.{name}.weight"]

    def norm(self, x, gamma):
        if self.palm:  # a layer norm without a bias
            return torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, None, 1e-5)
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gamma

    def attention(self, layer, x):
        heads, width = self.config["num_attention_heads"], self.config["head_dim"]
        tokens = len(x)
        q = (x @ self.of(layer, "attn.q_proj").T).view(tokens, heads, width)
        k = (x @ self.of(layer, "attn.k_proj").T).view(tokens, -1, width)
        v = (x @ self.of(layer, "attn.v_proj").T).view(tokens, -1, width)
        out = torch.zeros_like(q)
        base = self.config.get("rope_theta", 10000.0)
        for head in range(heads):
            shared = 0 if self.palm else head
            for query in range(tokens):
                scores = []
                for key in range(query + 1):
                    if self.palm:
                        a, b = turned(q[query, head], query, base), turned(k[key, shared], key, base)
                        scores.append(a @ b / math.sqrt(width))
                    else:
                        bias = self.tensors["model.relative_attention_bias.weight"][bucket(query - key), head]
                        scores.append(q[query, head] @ k[key, shared] + bias)
                weights = torch.stack(scores).softmax(0)
                out[query, head] = weights @ v[: query + 1, shared]
        return out.view(tokens, -1) @ self.of(layer, "attn.o_proj").T

    def feed_forward(self, layer, x):
        gate, up = x @ self.of(layer, "mlp.gate_proj").T, x @ self.of(layer, "mlp.up_proj").T
        active = torch.nn.functional.silu(gate) if self.palm else torch.nn.functional.gelu(gate, approximate="tanh")
        return (active * up) @ self.of(layer, "mlp.down_proj").T

    @torch.no_grad()
    def __call__(self, ids, segments=None):
        x = self.tensors["model.embed_tokens.weight"][torch.tensor(ids)]
        for layer in range(self.config["num_hidden_layers"]):
            normed = self.norm(x, self.of(layer, "input_norm"))
            if self.palm:  # both parts read the same rows
                x = x + self.feed_forward(layer, normed) + self.attention(layer, normed)
            else:
                x = x + self.attention(layer, normed)
                x = x + self.feed_forward(layer, self.norm(x, self.of(layer, "mlp_norm")))
        x = self.norm(x, self.tensors["model.norm.weight"])
        if "score.weight" in self.tensors:
            return {"logits": x[-1] @ self.tensors["score.weight"].T}
        if self.palm:  # the embeddings again, and logits over the root of their columns (section 5)
            return {"logits": x @ self.tensors["model.embed_tokens.weight"].T / math.sqrt(self.config["hidden_size"])}
        return {"logits": x @ self.tensors["lm_head.weight"].T}

"""Transformer-XL (Dai et al., arXiv 1901.02860) with adaptive inputs (arXiv 1809.10853) and the adaptive softmax (arXiv 1609.04309), in plain
PyTorch: transformers has left it out. Tensors and settings have the names that it gave them; everything is computed in double precision, score
after score.

A text is read token by token, each token with the memory of those in front: what it sees are the last `mem_len` tokens, itself included
with `same_length`.
"""

import json
import math
import pathlib

import safetensors.torch
import torch

SHAPE = dict(
    model_type="transfo-xl",
    vocab_size=61,
    d_model=24,
    n_head=3,
    d_head=10,
    n_layer=2,
    d_inner=28,
    layer_norm_epsilon=1e-5,
    bos_token_id=None,
    eos_token_id=2,
)
GENERATE = ["TransfoXLLMHeadModel"]
MODELS = {
    # As published: narrower rows of rarer words, which are the output layers', too.
    "transfo-xl-generate": dict(
        architectures=GENERATE, d_embed=24, cutoffs=[17, 30, 45], div_val=2, mem_len=9, clamp_len=6, same_length=True
    ),
    # One table, clusters of the same columns; biases of the whole model, and output layers of their own.
    "transfo-xl-generate-table": dict(
        architectures=GENERATE,
        d_embed=16,
        cutoffs=[20, 40],
        div_val=1,
        mem_len=5,
        clamp_len=-1,
        same_length=False,
        untie_r=False,
        tie_word_embeddings=False,
    ),
    "transfo-xl-classify": dict(
        architectures=["TransfoXLForSequenceClassification"],
        d_embed=24,
        cutoffs=[],
        div_val=1,
        mem_len=40,
        clamp_len=12,
        same_length=True,
    ),
    "transfo-xl-encoder": dict(
        architectures=["TransfoXLModel"], d_embed=20, cutoffs=[], div_val=1, mem_len=7, clamp_len=4, same_length=True
    ),
}
LABELS = 3


def clusters(config):
    """(first word, last word + 1, columns) of each."""
    ends = [*config["cutoffs"], config["vocab_size"]]
    begins = [0, *config["cutoffs"]]
    return [
        (b, e, config["d_embed"] // config["div_val"] ** i) for i, (b, e) in enumerate(zip(begins, ends, strict=True))
    ]


def shapes(config):
    hidden, heads, width = config["d_model"], config["n_head"], config["d_head"]
    apart = config["div_val"] != 1
    parts = clusters(config) if apart else [(0, config["vocab_size"], config["d_embed"])]
    projected = apart or config["d_embed"] != hidden
    for i, (begin, end, columns) in enumerate(parts):
        yield f"transformer.word_emb.emb_layers.{i}.weight", (end - begin, columns)
        if projected:
            yield f"transformer.word_emb.emb_projs.{i}", (hidden, columns)
    biases = ["r_w_bias", "r_r_bias"]
    if not config.get("untie_r", True):
        for name in biases:
            yield f"transformer.{name}", (heads, width)
    for layer in range(config["n_layer"]):
        name = f"transformer.layers.{layer}."
        yield name + "dec_attn.qkv_net.weight", (3 * heads * width, hidden)
        yield name + "dec_attn.r_net.weight", (heads * width, hidden)
        yield name + "dec_attn.o_net.weight", (hidden, heads * width)
        for bias in biases if config.get("untie_r", True) else []:
            yield name + "dec_attn." + bias, (heads, width)
        yield name + "dec_attn.layer_norm.weight", (hidden,)
        yield name + "dec_attn.layer_norm.bias", (hidden,)
        yield name + "pos_ff.CoreNet.0.weight", (config["d_inner"], hidden)
        yield name + "pos_ff.CoreNet.0.bias", (config["d_inner"],)
        yield name + "pos_ff.CoreNet.3.weight", (hidden, config["d_inner"])
        yield name + "pos_ff.CoreNet.3.bias", (hidden,)
        yield name + "pos_ff.layer_norm.weight", (hidden,)
        yield name + "pos_ff.layer_norm.bias", (hidden,)
    kind = config["architectures"][0]
    if kind.endswith("Classification"):
        yield "score.weight", (LABELS, hidden)
    if kind not in GENERATE:
        return
    for i, (begin, end, columns) in enumerate(parts):
        if not config.get("tie_word_embeddings", True):
            yield f"crit.out_layers.{i}.weight", (end - begin, columns)
        yield f"crit.out_layers.{i}.bias", (end - begin,)
    if not apart and projected:  # a matrix a cluster, though their tables are one
        for i in range(len(clusters(config))):
            yield f"crit.out_projs.{i}", (hidden, config["d_embed"])
    yield "crit.cluster_weight", (len(config["cutoffs"]), config["d_embed"])
    yield "crit.cluster_bias", (len(config["cutoffs"]),)


def make(directory, name, seed):
    config = {**SHAPE, **MODELS[name]}
    if "classify" in name:
        config["id2label"] = {str(i): f"LABEL_{i}" for i in range(LABELS)}
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for tensor, shape in shapes(config):
        values = torch.randn(shape, generator=generator)
        if tensor.endswith("layer_norm.weight"):
            values = values * 0.2 + 1
        elif tensor.endswith("bias"):
            values = values * (0.5 if "_bias" in tensor else 0.2)
        elif "emb_layers" in tensor:
            values = values * 0.3
        else:
            values = values * 1.5 / shape[1] ** 0.5
        tensors[tensor] = values.half()
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    safetensors.torch.save_file(tensors, directory / "model.safetensors")


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") == "transfo-xl"


class TransformerXl:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.config = json.loads((directory / "config.json").read_text())
        self.tensors = {
            name: values.double()
            for name, values in safetensors.torch.load_file(directory / "model.safetensors").items()
        }

    def of(self, name):
        return self.tensors["transformer." + name]

    def tables(self):
        """Rows of each cluster's words, and what widens them; None: nothing does."""
        for i, (begin, end, _) in enumerate(clusters(self.config)):
            apart = self.config["div_val"] != 1
            table = (
                self.of(f"word_emb.emb_layers.{i}.weight")
                if apart
                else self.of("word_emb.emb_layers.0.weight")[begin:end]
            )
            yield begin, end, table, self.tensors.get(f"transformer.word_emb.emb_projs.{i if apart else 0}")

    def embed(self, word):
        for begin, end, table, widens in self.tables():
            if begin <= word < end:
                row = table[word - begin]
                return (row if widens is None else widens @ row) * math.sqrt(self.config["d_model"])
        raise IndexError(word)

    def place(self, distance):
        """R of a key so far in front of its query: sines, then cosines (section 3.3)."""
        width, clamp = self.config["d_model"], self.config["clamp_len"]
        if clamp > 0:
            distance = min(distance, clamp)
        angles = torch.tensor([distance / 10000 ** (i / width) for i in range(0, width, 2)], dtype=torch.float64)
        return torch.cat([angles.sin(), angles.cos()])

    def attention(self, layer, x):
        heads, width = self.config["n_head"], self.config["d_head"]
        name = f"layers.{layer}.dec_attn."
        u, v = (
            self.of(name + bias) if self.config.get("untie_r", True) else self.of(bias)
            for bias in ("r_w_bias", "r_r_bias")
        )
        q, k, values = (x @ self.of(name + "qkv_net.weight").T).view(len(x), 3, heads, width).unbind(1)
        out = torch.zeros_like(q)
        sees = self.config["mem_len"] + (0 if self.config["same_length"] else 1)
        for query in range(len(x)):
            keys = range(max(0, query + 1 - sees), query + 1)
            places = torch.stack([self.of(name + "r_net.weight") @ self.place(query - key) for key in keys])
            places = places.view(-1, heads, width)
            for head in range(heads):
                # (a) + (c): what the words are to each other; (b) + (d): where they stand.
                scores = [
                    (q[query, head] + u[head]) @ k[key, head] + (q[query, head] + v[head]) @ places[key - keys[0], head]
                    for key in keys
                ]
                weights = (torch.stack(scores) / math.sqrt(width)).softmax(0)
                out[query, head] = weights @ values[keys[0] : query + 1, head]
        return out.reshape(len(x), -1) @ self.of(name + "o_net.weight").T

    def norm(self, name, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.of(name + ".weight"), self.of(name + ".bias"), 1e-5)

    def feed_forward(self, layer, x):
        name = f"layers.{layer}.pos_ff.CoreNet."
        x = (x @ self.of(name + "0.weight").T + self.of(name + "0.bias")).relu()
        return x @ self.of(name + "3.weight").T + self.of(name + "3.bias")

    def words(self, x):
        """Logarithms of the probabilities of all words behind one row."""
        apart = self.config["div_val"] != 1
        parts = list(self.tables())
        scores = []
        for i, (begin, end, table, widens) in enumerate(parts):
            own = self.tensors.get(f"crit.out_layers.{i if apart else 0}.weight")
            if own is not None:
                table = own if apart else own[begin:end]
            bias = self.tensors[f"crit.out_layers.{i if apart else 0}.bias"]
            bias = bias if apart else bias[begin:end]
            narrows = self.tensors.get(f"crit.out_projs.{i}", widens)
            row = x if narrows is None else narrows.T @ x
            if i == 0:
                of_clusters = self.tensors["crit.cluster_weight"] @ row + self.tensors["crit.cluster_bias"]
            scores.append(table @ row + bias)
        front = torch.cat([scores[0], of_clusters]).log_softmax(0)
        out = [front[: len(scores[0])]]
        for i in range(1, len(parts)):
            out.append(front[len(scores[0]) + i - 1] + scores[i].log_softmax(0))
        return torch.cat(out)

    @torch.no_grad()
    def __call__(self, ids, segments=None):
        x = torch.stack([self.embed(word) for word in ids])
        for layer in range(self.config["n_layer"]):
            name = f"layers.{layer}."
            x = self.norm(name + "dec_attn.layer_norm", x + self.attention(layer, x))
            x = self.norm(name + "pos_ff.layer_norm", x + self.feed_forward(layer, x))
        if "score.weight" in self.tensors:
            return {"logits": x[-1] @ self.tensors["score.weight"].T}
        if self.config["architectures"] != GENERATE:
            return {"last_hidden_state": x}
        return {"logits": torch.stack([self.words(row) for row in x])}

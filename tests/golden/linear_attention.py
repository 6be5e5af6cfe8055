"""Plain readings of attention whose cost is linear in tokens, which transformers lacks: Performer (arXiv 2009.14794) and Linformer (arXiv
2006.04768).

All else of the encoder and its heads is transformers' BERT. Files are laid out as docs/linear-attention.md says.
"""

import json
import pathlib

import safetensors.torch
import torch
import transformers
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

# name: what BERT's class is called behind its name, settings beside BERT's
MODELS = {
    "performer-classify": ("ForSequenceClassification", dict(num_labels=3, num_hidden_layers=2, nb_features=14)),
    "performer-tag": ("ForTokenClassification", dict(kernel="relu", nb_features=20)),
    "performer-answer": ("ForQuestionAnswering", dict(nb_features=16, kernel_epsilon=1e-2)),
    "performer-choose": ("ForMultipleChoice", dict(kernel="relu", nb_features=5, kernel_epsilon=0.1)),
    "performer-fill": ("ForMaskedLM", dict(nb_features=33)),
    "performer-pretraining": ("ForPreTraining", dict(nb_features=14, num_hidden_layers=2)),
    "performer-encoder": ("Model", dict(nb_features=24)),
    "linformer-classify": (
        "ForSequenceClassification",
        dict(num_labels=3, num_hidden_layers=2, projected_size=7, sharing="layerwise"),
    ),
    "linformer-tag": ("ForTokenClassification", dict(projected_size=5, sharing="none", num_hidden_layers=2)),
    "linformer-answer": ("ForQuestionAnswering", dict(projected_size=16, sharing="headwise")),
    "linformer-choose": ("ForMultipleChoice", dict(projected_size=1)),
    "linformer-fill": ("ForMaskedLM", dict(projected_size=18, sharing="key-value")),
    "linformer-pretraining": ("ForPreTraining", dict(projected_size=9, sharing="none")),
    "linformer-encoder": ("Model", dict(projected_size=33, sharing="key-value")),
}


def kind(config):
    return getattr(config, "own_type", None)


def layers(model):
    return [module for name, module in model.named_modules() if name.endswith("attention.self")]


def head_width(config):
    return config.hidden_size // config.num_attention_heads


# ------------------------------------------------------------------------------------------ Performer


def orthogonal_vectors(count, width, generator):
    """Section 2.4: rows of one block of `width` are orthogonal to each other, and as long as those of a Gaussian matrix."""
    blocks = []
    for _ in range(-(-count // width)):
        q, _ = torch.linalg.qr(torch.randn(width, width, generator=generator))
        blocks.append(q.T)
    lengths = torch.randn(count, width, generator=generator).norm(dim=1)
    return lengths[:, None] * torch.cat(blocks)[:count]


def epsilon(config):
    return getattr(config, "kernel_epsilon", 1e-3 if getattr(config, "kernel", "") == "relu" else 1e-4)


def positive_features(x, vectors, most_over, epsilon):
    """Lemma 1: exp(w . x - |x|^2 / 2) for each random vector w, / sqrt(m).

    With what the authors' code does to it: the largest product over `most_over` is taken from all, which no quotient notices, and
    epsilon is added, so that none is 0.
    """
    products = torch.einsum("bhld,md->bhlm", x, vectors)
    most = products.amax(dim=most_over, keepdim=True)
    lengths = x.square().sum(dim=-1, keepdim=True) / 2
    return ((products - lengths - most).exp() + epsilon) / vectors.shape[0] ** 0.5


def relu_features(x, vectors, epsilon):
    """Section 2.2 with f = ReLU and h = 1 (generalized attention), as the authors' code has it."""
    return torch.einsum("bhld,md->bhlm", x, vectors).relu() + epsilon


def performer(module, query, key, value, attention_mask, **_):
    """Section 2.2: the attention of phi(Q) phi(K)^T, D^-1 (Q' ((K')^T V)) with D = diag(Q' ((K')^T 1)), never L x L."""
    config, vectors = module.config, module.features.weight
    # The kernel is that of x . y: queries and keys have the root of the scores' scale each.
    query, key = (x / x.shape[-1] ** 0.25 for x in (query, key))
    if getattr(config, "kernel", "softmax") == "relu":
        q, k = (relu_features(x, vectors, epsilon(config)) for x in (query, key))
    else:
        q = positive_features(query, vectors, (-1,), epsilon(config))  # each query by itself
        k = positive_features(key, vectors, (-1, -2), epsilon(config))  # all keys of a text and head
    context = q @ (k.transpose(2, 3) @ value)
    normaliser = q @ k.sum(dim=2)[..., None]
    return (context / normaliser).transpose(1, 2).contiguous(), None


def add_performer(model, generator):
    for layer in layers(model):
        layer.features = torch.nn.Linear(head_width(model.config), model.config.nb_features, bias=False)
        drawn = orthogonal_vectors(model.config.nb_features, head_width(model.config), generator)
        layer.features.weight.data = drawn


# ------------------------------------------------------------------------------------------ Linformer


def linformer(module, query, key, value, attention_mask, **_):
    """Equation 7: softmax(Q (E K)^T / sqrt(d)) F V, with E and F [k, n] of each head, or the same for all.

    Texts are shorter than n: what would stand behind them are rows of zeros, so that only E's and F's first columns count.
    """
    heads, width, missing = (query.shape[1], query.shape[-1], module.config.max_position_embeddings - key.shape[2])
    e, f = (matrix().weight.view(-1, module.config.projected_size, matrix().weight.shape[-1])
            for matrix in (module.of_keys, module.of_values))  # fmt: skip
    assert e.shape[0] in (1, heads) and missing >= 0
    key, value = (torch.nn.functional.pad(x, (0, 0, 0, missing)) for x in (key, value))
    scores = query @ (e @ key).transpose(2, 3) / width**0.5
    return (scores.softmax(dim=-1) @ (f @ value)).transpose(1, 2).contiguous(), None


def add_linformer(model, generator):
    """Section 4: "none" of the matrices are shared; heads share them ("headwise"), keys and values, too ("key-value"), and layers."""
    config = model.config
    sharing = getattr(config, "sharing", "headwise")
    rows = config.projected_size * (config.num_attention_heads if sharing == "none" else 1)

    def matrix():
        return torch.nn.Linear(config.max_position_embeddings, rows, bias=False)

    encoder = model.base_model.encoder
    if sharing == "layerwise":
        encoder.projection = matrix()
    for layer in layers(model):
        if sharing != "layerwise":
            layer.key_projection = matrix()
        if sharing in ("none", "headwise"):
            layer.value_projection = matrix()
        layer.of_keys = lambda layer=layer: getattr(layer, "key_projection", None) or encoder.projection
        layer.of_values = lambda layer=layer: getattr(layer, "value_projection", None) or layer.of_keys()


# ----------------------------------------------------------------------------------------------- files

ATTENTION = {"performer": (performer, add_performer), "linformer": (linformer, add_linformer)}


def is_one(directory):
    path = pathlib.Path(directory) / "config.json"
    return path.exists() and json.loads(path.read_text()).get("model_type") in ATTENTION


def bert_of(own_type, suffix, settings, generator):
    """transformers' class with this attention, of random weights."""
    config = transformers.BertConfig(own_type=own_type, **settings)
    attend, add = ATTENTION[own_type]
    ALL_ATTENTION_FUNCTIONS.register(own_type, attend)
    model = getattr(transformers, "Bert" + suffix)(config)
    model.config._attn_implementation = own_type
    add(model, generator)
    return model


def load(directory):
    directory = pathlib.Path(directory)
    settings = json.loads((directory / "config.json").read_text())
    own_type = settings.pop("model_type")
    suffix = settings.pop("architectures")[0].removeprefix(own_type.capitalize())
    for name in ("transformers_version", "dtype", "own_type"):
        settings.pop(name, None)
    model = bert_of(own_type, suffix, settings, torch.Generator().manual_seed(0)).double()
    stored = safetensors.torch.load_file(directory / "model.safetensors")
    tensors = {
        "bert." * name.startswith(own_type + ".") + name.removeprefix(own_type + "."): value.double()
        for name, value in stored.items()
    }
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert not unexpected and set(missing) <= tied, (missing, unexpected)
    model.tie_weights()
    return model.eval()


def make(directory, name, shape, randomize, seed):
    suffix, settings = MODELS[name]
    own_type = name.split("-")[0]
    generator = torch.Generator().manual_seed(seed + 1)
    settings = {**shape, **settings}
    model = bert_of(own_type, suffix, settings, generator)
    kept = {id(layer): layer.features.weight.data for layer in layers(model)} if own_type == "performer" else {}
    randomize(model, seed)
    for layer in layers(model):
        if id(layer) in kept:
            layer.features.weight.data = kept[id(layer)]
    model.tie_weights()
    directory.mkdir(parents=True)
    config = {"model_type": own_type, "architectures": [own_type.capitalize() + suffix], **settings}
    if "num_labels" in config:
        config["id2label"] = {str(i): f"LABEL_{i}" for i in range(config.pop("num_labels"))}
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tensors = {}
    for tensor, value in model.state_dict().items():
        if tensor.startswith("cls.predictions.decoder.") or tensor.endswith("position_ids"):
            continue  # tied, or counted
        own = own_type + "." + tensor.removeprefix("bert.") if tensor.startswith("bert.") else tensor
        tensors[own] = value.half().contiguous()
    safetensors.torch.save_file(tensors, directory / "model.safetensors")

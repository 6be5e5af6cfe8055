"""Relative positions of Shaw et al. (arXiv 1803.02155) as BERT of transformers 4 had them, which later releases dropped.

BertSelfAttention of release 4 adds to the scores of a query l and a key r, before they are divided by the root of the head's width,
query_l . E[l - r + P - 1] ("position_embedding_type": "relative_key") and also key_r . E[l - r + P - 1] ("relative_key_query"); E is a
table of each layer, the same for all heads, of 2 P - 1 rows for P positions. Nothing is added to embeddings for positions.
"""

import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "shaw"


def is_one(config):
    return str(getattr(config, "position_embedding_type", "")).startswith("relative_key")


def layers(model):
    return [module for name, module in model.named_modules() if name.endswith("attention.self")]


def attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **_):
    config, width, length = module.config, query.shape[-1], query.shape[2]
    places = torch.arange(length)
    distances = places[:, None] - places[None, :] + config.max_position_embeddings - 1
    vectors = module.distance_embedding(distances)
    scores = query @ key.transpose(2, 3) + torch.einsum("bhld,lrd->bhlr", query, vectors)
    if config.position_embedding_type == "relative_key_query":
        scores = scores + torch.einsum("bhrd,lrd->bhlr", key, vectors)
    scores = scores / width**0.5
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = scores.softmax(dim=-1)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def add_vectors(model):
    """The tables, in a model that was made without them."""
    if not is_one(model.config):
        return
    for layer in layers(model):
        width = model.config.hidden_size // model.config.num_attention_heads
        layer.distance_embedding = torch.nn.Embedding(2 * model.config.max_position_embeddings - 1, width)


def load_vectors(model, directory):
    """Makes of a model that transformers loaded what its settings ask."""
    if not is_one(model.config):
        return
    import safetensors.torch

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    model.config._attn_implementation = NAME
    stored = safetensors.torch.load_file(directory / "model.safetensors")
    add_vectors(model)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings"):
            module.weight.data.zero_()
        if name.endswith("distance_embedding"):
            module.weight.data = stored[name + ".weight"].double()

"""Reformer (arXiv 2001.04451), small, with texts that are long to its chunks. Answers are transformers', whose random rotations are drawn
in f32 also where all else is in f64, since the draw is part of what a model is. A text is drawn anew where a query lies so near the border
of two buckets that rounding could decide."""

import contextlib
import json
import random

import torch
import transformers
from transformers.models.reformer import modeling_reformer

import reference

SMALL = dict(
    vocab_size=61,
    hidden_size=18,
    num_attention_heads=3,
    attention_head_size=6,
    feed_forward_size=28,
    max_position_embeddings=80,
    axial_pos_shape=[8, 10],
    axial_pos_embds_dim=[6, 12],
    attn_layers=["local", "lsh"],
    local_attn_chunk_length=4,
    lsh_attn_chunk_length=4,
    num_buckets=4,
    num_hashes=2,
    hash_seed=7,
    pad_token_id=0,
    is_decoder=False,
)

# name: class, settings beside SMALL
MODELS = {
    "reformer-classify": (
        "ReformerForSequenceClassification",
        dict(num_labels=3, attn_layers=["local", "lsh", "lsh"], local_num_chunks_after=1, lsh_num_chunks_after=1),
    ),
    "reformer-answer": (
        "ReformerForQuestionAnswering",
        dict(attn_layers=["local", "local"], local_attn_chunk_length=16, local_num_chunks_before=2),
    ),
    "reformer-fill": (
        "ReformerForMaskedLM",
        dict(attn_layers=["lsh"], axial_pos_embds=False, num_buckets=None, num_hashes=1, attention_head_size=5),
    ),
    # Chunks of two lengths: texts are filled up to multiples of 12.
    "reformer-encoder": (
        "ReformerModel",
        dict(lsh_attn_chunk_length=6, num_buckets=[2, 4], num_hashes=3, hidden_act="gelu", local_num_chunks_before=2),
    ),
    "reformer-generate": (
        "ReformerModelWithLMHead",
        dict(attn_layers=["local", "lsh", "lsh"], is_decoder=True, tie_word_embeddings=False, hash_seed=11),
    ),
}


def is_one(config):
    return config.model_type == "reformer"


@contextlib.contextmanager
def drawn_in_f32():
    """Yields the least part of a query's greatest product that it is greater than the next by."""
    draw, hashes = torch.randn, modeling_reformer.LSHSelfAttention._hash_vectors
    margins = [float("inf")]

    def measured(self, vectors, *arguments, **named):
        rotations = []

        def randn(*shape, dtype=None, **_):
            rotations.append(draw(*shape).to(dtype))
            return rotations[-1]

        torch.randn = randn
        try:
            buckets = hashes(self, vectors, *arguments, **named)
        finally:
            torch.randn = draw
        products = torch.einsum("bmtd,mdhr->bmhtr", vectors, rotations[0])
        counts = [self.num_buckets] if isinstance(self.num_buckets, int) else self.num_buckets
        for part in products.split([count // 2 for count in counts], dim=-1):
            best = torch.cat([part, -part], dim=-1).topk(2).values
            margins.append(float(((best[..., 0] - best[..., 1]) / best[..., 0]).min()))
        return buckets

    modeling_reformer.LSHSelfAttention._hash_vectors = measured
    try:
        yield lambda: min(margins)
    finally:
        modeling_reformer.LSHSelfAttention._hash_vectors = hashes


def run(model, inputs, margin=None):
    """transformers' answers, with as many buckets as suit the longest text where the settings have no number. `margin`: what a query has
    at least, else there is no answer."""
    for layer in model.modules():
        if isinstance(layer, modeling_reformer.LSHSelfAttention) and layer.num_buckets is None:
            layer._set_num_buckets(model.config.max_position_embeddings)
    with drawn_in_f32() as least:
        out = model(**inputs)
        return out if margin is None or least() >= margin else None


def make(directory, randomize, seed):
    kind, settings = MODELS[directory.name]
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**{**SMALL, **settings}))
    randomize(model, seed)
    model.half().save_pretrained(directory)
    answers = reference.Reference(directory)
    draw = random.Random(seed)
    a_token = "fill" in directory.name or "encoder" in directory.name or "generate" in directory.name
    with open(directory / "expected.jsonl", "w") as file, torch.no_grad():
        for count in (1, 4, 5, 23, 48) if a_token else (1, 3, 4, 5, 8, 17, 30, 61, 80):
            for _ in range(1000):
                ids = [draw.randrange(5, SMALL["vocab_size"]) for _ in range(count)]
                with reference.all_in_double():
                    found = run(answers.model, {"input_ids": torch.tensor([ids])}, 1e-3)
                if found is not None:
                    break
            else:
                raise RuntimeError(f"{directory.name}: no text of {count} tokens has queries away from borders")
            file.write(json.dumps({"ids": ids, **answers(ids)}, separators=(",", ":")) + "\n")

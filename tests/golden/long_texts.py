"""Longformer (arXiv 2004.05150) and Big Bird (arXiv 2007.14062), small, with texts that are long to them.

Windows and blocks are smaller than the pages of 16 keys that files have, or as large, or larger. Answers are transformers', but for windows
with gaps ("attention_dilation" of Longformer's authors), which it lacks: `dilated` is a plain reading of section 3.1 of the paper.
"""

import json
import random

import torch
import transformers

import reference
from tags import FIVE_TAGS

SEPARATOR = 2
SMALL = dict(
    vocab_size=61,
    hidden_size=18,
    num_attention_heads=3,
    num_hidden_layers=2,
    intermediate_size=28,
    max_position_embeddings=80,
    type_vocab_size=2,
    pad_token_id=1,
    sep_token_id=SEPARATOR,
)
LONG = dict(max_position_embeddings=82, type_vocab_size=1, layer_norm_eps=1e-5, attention_window=[8, 16])
BIRD = dict(block_size=4, num_random_blocks=1)

# name: class, settings beside SMALL
MODELS = {
    "longformer-classify": ("LongformerForSequenceClassification", dict(**LONG, num_labels=3)),
    "longformer-tag": ("LongformerForTokenClassification", {**LONG, **FIVE_TAGS, "type_vocab_size": 2}),
    "longformer-answer": ("LongformerForQuestionAnswering", LONG),
    "longformer-choose": ("LongformerForMultipleChoice", {**LONG, "attention_window": 4}),
    "longformer-fill": ("LongformerForMaskedLM", {**LONG, "num_hidden_layers": 1, "attention_window": [16]}),
    "longformer-encoder": ("LongformerModel", LONG),
    "longformer-dilated": (
        "LongformerForSequenceClassification",
        {**LONG, "attention_dilation": [3, 2], "num_labels": 3},
    ),
    "big-bird-classify": ("BigBirdForSequenceClassification", dict(**BIRD, num_labels=3)),
    "big-bird-tag": ("BigBirdForTokenClassification", dict(**FIVE_TAGS, block_size=2, num_random_blocks=3)),
    "big-bird-answer": ("BigBirdForQuestionAnswering", dict(**BIRD, hidden_act="gelu")),
    "big-bird-choose": ("BigBirdForMultipleChoice", {**BIRD, "use_bias": False}),
    "big-bird-fill": ("BigBirdForMaskedLM", {**BIRD, "num_hidden_layers": 1}),
    "big-bird-pretraining": ("BigBirdForPreTraining", {**BIRD, "num_hidden_layers": 1, "rescale_embeddings": True}),
    "big-bird-encoder": ("BigBirdModel", dict(block_size=1, num_random_blocks=2)),
    "big-bird-full": ("BigBirdForSequenceClassification", dict(**BIRD, num_labels=3, attention_type="original_full")),
}


def is_one(config):
    return config.model_type in ("longformer", "big_bird")


def dilated(attention, hidden, step):
    """The output of a Longformer's layer for a text [1, tokens, hidden] whose first token is global: each token sees those that are at most
    half a window of steps away, in steps, and the first one; the first one sees all by its own projections."""

    def project(name):
        return getattr(attention, name)(hidden)[0].view(-1, attention.num_heads, attention.head_dim).transpose(0, 1)

    def attend(kind, sees):
        scores = project("query" + kind) @ project("key" + kind).transpose(1, 2) / attention.head_dim**0.5
        weights = scores.masked_fill(~sees, -torch.inf).softmax(dim=-1)
        return (weights @ project("value" + kind)).transpose(0, 1).flatten(1)

    places = torch.arange(hidden.shape[1])
    apart = (places[:, None] - places[None]).abs()
    sees = (apart <= attention.one_sided_attn_window_size * step) & (apart % step == 0)
    sees[:, 0] = True
    local = attend("", sees)
    local[0] = attend("_global", torch.ones_like(sees))[0]
    return local[None]


def run(model, inputs):
    """The answers of transformers' model, of which nothing of an earlier text is left."""
    config = model.config
    if config.model_type == "big_bird":
        # A short text makes the model one of full attention for good.
        model.base_model.set_attention_type(config.attention_type)
    if type(model).__name__ == "BigBirdForQuestionAnswering":
        # With ids it takes a million from the scores of the question's tokens, and chooses segments itself.
        inputs = {**inputs, "inputs_embeds": model.bert.embeddings.word_embeddings(inputs["input_ids"])}
        del inputs["input_ids"]
    steps = getattr(config, "attention_dilation", None)
    if steps is None:
        return model(**inputs)
    encoder = model.base_model
    hidden = encoder.embeddings(inputs["input_ids"])
    for layer, step in zip(encoder.encoder.layer, steps, strict=True):
        hidden = layer.attention.output(dilated(layer.attention.self, hidden, step), hidden)
        hidden = layer.output(layer.intermediate(hidden), hidden)
    return {"logits": model.classifier(hidden)}


def texts(name, seed):
    """Ids and segments: as many tokens as a page has, one more, as many as see all by blocks, one more, and the longest."""
    draw = random.Random(seed)
    pairs = "answer" in name or "choose" in name
    for count in (
        (6, 17, 33, 80) if "fill" in name or "pretraining" in name or "encoder" in name else (6, 16, 28, 29, 61, 80)
    ):
        ids = [draw.randrange(5, SMALL["vocab_size"]) for _ in range(count)]
        first = draw.randrange(1, count - 3) if pairs else count // 3
        if pairs:
            ids[first] = ids[-1] = SEPARATOR
            if "longformer" in name:
                ids[first + 1] = SEPARATOR
        yield ids, [0] * (first + 1) + [1] * (count - first - 1)


def make(directory, randomize, seed):
    kind, settings = MODELS[directory.name]
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**{**SMALL, **settings}))
    randomize(model, seed)
    model.tie_weights()
    model.half().save_pretrained(directory)
    answers = reference.Reference(directory)
    with open(directory / "expected.jsonl", "w") as file:
        for ids, segments in texts(directory.name, seed):
            line = {"ids": ids, **({"segments": segments} if answers.segmented() else {})}
            line.update(answers(ids, segments))
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

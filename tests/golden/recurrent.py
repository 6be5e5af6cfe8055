"""Recurrent layers of torch above words' vectors, in the names of docs/recurrent.md: what they are and small ones to test."""

import json
import pathlib

import torch

import own_layouts
from tags import INTENTS, TAGS, classes, labels_of

VOCABULARY = 61
TAG, CLASSIFY, MODEL, JOINT = classes("Recurrent")
EMBED = "RecurrentForSentenceEmbedding"

# name: class, settings, biases
LAYOUTS = {
    "recurrent-tag": (TAG, dict(cell_type="lstm", hidden_size=16, num_layers=2, bidirectional=True), True),
    "recurrent-tag-crf": (TAG, dict(cell_type="gru", hidden_size=13, bidirectional=True), True),
    "recurrent-classify": (
        CLASSIFY,
        dict(cell_type="lstm", hidden_size=21, bidirectional=True, proj_size=7, num_layers=2),
        True,
    ),
    "recurrent-classify-mean": (CLASSIFY, dict(cell_type="lstm", hidden_size=11, pooling="mean"), True),
    "recurrent-classify-max": (CLASSIFY, dict(cell_type="gru", hidden_size=9, num_layers=2, pooling="max"), False),
    "recurrent-joint": (JOINT, dict(cell_type="gru", hidden_size=10, bidirectional=True), True),
    "recurrent-embed": (EMBED, dict(cell_type="gru", hidden_size=12, bidirectional=True, normalize=True), True),
    "recurrent-embed-max": (EMBED, dict(cell_type="lstm", hidden_size=10, bidirectional=True, pooling="max"), True),
    "recurrent-encoder": (MODEL, dict(cell_type="lstm", hidden_size=17), True),
}


class Recurrent(torch.nn.Module):
    def __init__(self, config, bias):
        super().__init__()
        settings = dict(config)
        cell = settings["cell_type"]
        self.config, self.kind = config, config["architectures"][0]
        self.embedding = torch.nn.Embedding(config["vocab_size"], config["embedding_size"])
        module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
        more = {"proj_size": config["proj_size"]} if "proj_size" in config else {}
        layers = module(
            config["embedding_size"],
            config["hidden_size"],
            num_layers=config.get("num_layers", 1),
            bidirectional=config.get("bidirectional", False),
            bias=bias,
            batch_first=True,
            **more,
        )
        setattr(self, cell, layers)
        state = config.get("proj_size") or config["hidden_size"]
        self.width = state * (2 if config.get("bidirectional") else 1)
        if self.kind == JOINT:
            self.intent_classifier = torch.nn.Linear(self.width, len(INTENTS))
            self.slot_classifier = torch.nn.Linear(self.width, len(TAGS))
        elif self.kind not in (MODEL, EMBED):
            self.classifier = torch.nn.Linear(self.width, len(config["id2label"]))

    def layers(self, ids):
        """The rows of the last layer, and what its directions end with."""
        rows, last = getattr(self, self.config["cell_type"])(self.embedding(torch.tensor([ids])))
        if self.config["cell_type"] == "lstm":
            last = last[0]
        directions = 2 if self.config.get("bidirectional") else 1
        return rows[0], torch.cat(list(last[-directions:, 0]), dim=-1)

    def pooled(self, rows, last):
        pooling = self.config.get("pooling", "last")
        return {"last": last, "mean": rows.mean(dim=0), "max": rows.max(dim=0).values}[pooling]

    def forward(self, ids, segments=None):
        rows, last = self.layers(ids)
        if self.kind == MODEL:
            return {"last_hidden_state": rows}
        if self.kind == EMBED:
            vector = self.pooled(rows, last)
            return {"sentence_embedding": vector / vector.norm() if self.config.get("normalize") else vector}
        if self.kind == JOINT:
            intents = self.intent_classifier(self.pooled(rows, last))
            return {"intent_logits": intents, "slot_logits": self.slot_classifier(rows)}
        if self.kind == CLASSIFY:
            return {"logits": self.classifier(self.pooled(rows, last))}
        scores = self.classifier(rows)
        return {"logits": self.crf(scores) if hasattr(self, "crf") else scores}


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") == "recurrent"


def load(directory, crf):
    import safetensors.torch

    directory = pathlib.Path(directory)
    tensors = safetensors.torch.load_file(directory / "model.safetensors")
    config = json.loads((directory / "config.json").read_text())
    model = Recurrent(config, any("bias_ih" in name for name in tensors))
    if "crf.transitions" in tensors:
        model.crf = crf(len(TAGS))
    model.load_state_dict(tensors)
    return model.double().eval()


def make(directory, crf, randomize, seed):
    kind, settings, bias = LAYOUTS[directory.name]
    directory.mkdir(parents=True)
    config = {
        "model_type": "recurrent",
        "architectures": [kind],
        "vocab_size": VOCABULARY,
        "embedding_size": 18,
        "max_length": 24,
        **settings,
        **labels_of(kind),
    }
    model = Recurrent(config, bias)
    if directory.name.endswith("crf"):
        model.crf = crf(len(TAGS))
    randomize(model, seed)
    own_layouts.write_halves(directory, config, model)
    if directory.name == "recurrent-tag":
        write_tokenizer(directory)


def write_tokenizer(directory):
    """Words between blanks, in lower case; those that are unknown are one token."""
    import tokenizers

    words = ["<pad>", "<unk>", *(a + b for a in "bdklmnrst" for b in ("a", "e", "i", "o", "an", "er"))][:VOCABULARY]
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(directory / "tokenizer.json"))

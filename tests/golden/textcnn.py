"""Convolutions of torch above words' vectors, in the names of docs/textcnn.md: what they are and small ones to test."""

import json
import pathlib

import torch

import own_layouts
from tags import INTENTS, TAGS, classes, labels_of

VOCABULARY = 53
TAG, CLASSIFY, MODEL, JOINT = classes("TextCnn")

# name: class, settings, whether filters are Conv2d's
LAYOUTS = {
    "textcnn-classify": (CLASSIFY, dict(kernel_sizes=[2, 3, 5], num_filters=7), False),
    "textcnn-classify-flat": (CLASSIFY, dict(kernel_sizes=[3, 4, 5], num_filters=5, activation="tanh"), True),
    "textcnn-classify-same": (
        CLASSIFY,
        dict(kernel_sizes=[1, 4], num_filters=9, num_layers=2, padding="same", pooling="mean"),
        False,
    ),
    "textcnn-tag-crf": (TAG, dict(kernel_sizes=[3, 6], num_filters=11, padding="same"), False),
    "textcnn-joint": (JOINT, dict(kernel_sizes=[3], num_filters=13, num_layers=3, padding="same"), False),
    "textcnn-encoder": (MODEL, dict(kernel_sizes=[2, 5], num_filters=8, padding="same"), True),
}


class TextCnn(torch.nn.Module):
    def __init__(self, config, flat):
        super().__init__()
        self.config, self.kind, self.flat = config, config["architectures"][0], flat
        self.embedding = torch.nn.Embedding(config["vocab_size"], config["embedding_size"])
        sizes, filters, layers = config["kernel_sizes"], config["num_filters"], config.get("num_layers", 1)
        width = config["embedding_size"]
        rows = []
        for _ in range(layers):
            if flat:
                convs = [torch.nn.Conv2d(1, filters, (size, width)) for size in sizes]
            else:
                padding = config.get("padding", "valid")
                convs = [torch.nn.Conv1d(width, filters, size, padding=padding) for size in sizes]
            rows.append(torch.nn.ModuleList(convs))
            width = filters * len(sizes)
        self.convs = rows[0] if layers == 1 else torch.nn.ModuleList(rows)
        if self.kind == JOINT:
            self.intent_classifier = torch.nn.Linear(width, len(INTENTS))
            self.slot_classifier = torch.nn.Linear(width, len(TAGS))
        elif self.kind != MODEL:
            self.classifier = torch.nn.Linear(width, len(config["id2label"]))

    def convolved(self, conv, x):
        """[columns, tokens] to [filters, windows]; a text that is shorter than a window has zeros behind it."""
        size = conv.kernel_size[0]
        if self.config.get("padding", "valid") == "valid":
            x = torch.nn.functional.pad(x, (0, max(0, size - x.shape[1])))
        elif self.flat:
            x = torch.nn.functional.pad(x, ((size - 1) // 2, size - 1 - (size - 1) // 2))
        y = conv(x.T[None, None])[0, :, :, 0] if self.flat else conv(x[None])[0]
        activation = self.config.get("activation", "relu")
        return {"relu": torch.relu, "tanh": torch.tanh}[activation](y)

    def forward(self, ids, segments=None):
        x = self.embedding(torch.tensor(ids)).T
        layers = [self.convs] if self.config.get("num_layers", 1) == 1 else list(self.convs)
        for convs in layers:
            found = [self.convolved(conv, x) for conv in convs]
            x = torch.cat(found) if len({one.shape[1] for one in found}) == 1 else None
        if self.kind == MODEL:
            return {"last_hidden_state": x.T}
        if self.kind != TAG:
            mean = self.config.get("pooling", "max") == "mean"
            text = torch.cat([one.mean(dim=1) if mean else one.max(dim=1).values for one in found])
        if self.kind == JOINT:
            return {"intent_logits": self.intent_classifier(text), "slot_logits": self.slot_classifier(x.T)}
        if self.kind == CLASSIFY:
            return {"logits": self.classifier(text)}
        scores = self.classifier(x.T)
        return {"logits": self.crf(scores) if hasattr(self, "crf") else scores}


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") == "textcnn"


def load(directory, crf):
    import safetensors.torch

    directory = pathlib.Path(directory)
    tensors = safetensors.torch.load_file(directory / "model.safetensors")
    config = json.loads((directory / "config.json").read_text())
    model = TextCnn(config, any(name.startswith("convs.") and value.dim() == 4 for name, value in tensors.items()))
    if "crf.transitions" in tensors:
        model.crf = crf(len(TAGS))
    model.load_state_dict(tensors)
    return model.double().eval()


def make(directory, crf, randomize, seed):
    kind, settings, flat = LAYOUTS[directory.name]
    directory.mkdir(parents=True)
    config = {
        "model_type": "textcnn",
        "architectures": [kind],
        "vocab_size": VOCABULARY,
        "embedding_size": 10,
        "max_length": 24,
        **settings,
        **labels_of(kind),
    }
    model = TextCnn(config, flat)
    if directory.name.endswith("crf"):
        model.crf = crf(len(TAGS))
    randomize(model, seed)
    own_layouts.write_halves(directory, config, model)

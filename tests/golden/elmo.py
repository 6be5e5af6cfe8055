"""ELMo (arXiv 1802.05365) in plain torch, in the names of docs/elmo.md: what it is and small ones to test."""

import json
import pathlib

import torch

import own_layouts
from tags import INTENTS, TAGS, classes, labels_of

VOCABULARY = 47
TAG, CLASSIFY, MODEL, JOINT = classes("Elmo")
LETTERS = ["<pad>", "<unk>", "<w>", "</w>", *"abdeiklmnorst"]
BYTES = dict(embedding_size=5, filters=[[1, 4], [2, 7], [3, 9]], max_word_length=9)
LISTED = dict(
    alphabet=LETTERS,
    begin="<w>",
    end="</w>",
    embedding_size=6,
    filters=[[1, 3], [4, 8]],
    max_word_length=7,
    activation="tanh",
)

# name: class, settings, whether layers have biases, whether words and layers are mixed
LAYOUTS = {
    "elmo-tag": (TAG, dict(hidden_size=19, proj_size=9, num_layers=2), True, True),
    "elmo-tag-crf": (TAG, dict(hidden_size=11, num_layers=3, residual=False), False, True),
    "elmo-tag-characters": (TAG, dict(hidden_size=23, proj_size=13, num_layers=2, characters=BYTES), True, True),
    "elmo-classify": (CLASSIFY, dict(hidden_size=21, proj_size=7, num_layers=3), True, True),
    "elmo-classify-mean": (
        CLASSIFY,
        dict(hidden_size=13, num_layers=2, pooling="mean", embedding_size=10),
        True,
        False,
    ),
    "elmo-joint": (JOINT, dict(cell_type="gru", hidden_size=10, num_layers=2, pooling="max"), True, True),
    "elmo-encoder": (MODEL, dict(hidden_size=17, num_layers=1, characters={**LISTED, "highway_layers": 1}), True, True),
}


class Characters(torch.nn.Module):
    """Characters: bytes with bilm-tf's numbers, or those of a list."""

    def __init__(self, settings, width):
        super().__init__()
        self.settings = settings
        self.list = settings.get("alphabet")
        columns = settings["embedding_size"]
        self.embedding = torch.nn.Embedding(len(self.list) if self.list else 262, columns)
        self.convs = torch.nn.ModuleList(torch.nn.Conv1d(columns, count, size) for size, count in settings["filters"])
        found = sum(count for _, count in settings["filters"])
        layers = settings.get("highway_layers", 2)
        self.highway = torch.nn.ModuleList(torch.nn.Linear(found, 2 * found) for _ in range(layers))
        self.projection = torch.nn.Linear(found, width)

    def spell(self, word):
        longest = self.settings["max_word_length"]
        if self.list:
            rows = [self.list.index(letter if letter in self.list else "<unk>") for letter in word][: longest - 2]
            rows = [self.list.index("<w>"), *rows, self.list.index("</w>")]
            padding = self.list.index("<pad>")
        else:
            inner = {"<S>": [257], "</S>": [258]}.get(word, [byte + 1 for byte in word.encode()[: longest - 2]])
            rows = [259, *inner, 260]
            padding = 261
        return rows + [padding] * (longest - len(rows))

    def forward(self, words):
        x = self.embedding(torch.tensor([self.spell(word) for word in words])).transpose(1, 2)
        activation = {"relu": torch.relu, "tanh": torch.tanh}[self.settings.get("activation", "relu")]
        x = torch.cat([activation(conv(x).amax(dim=2)) for conv in self.convs], dim=1)
        for layer in self.highway:
            a, gate = layer(x).chunk(2, dim=1)
            gate = torch.sigmoid(gate)
            x = gate * x + (1 - gate) * torch.relu(a)
        return self.projection(x)


class Mix(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(count))
        self.gamma = torch.nn.Parameter(torch.ones(1))

    def forward(self, rows):
        return self.gamma * sum(share * row for share, row in zip(self.weights.softmax(dim=0), rows, strict=True))


class Elmo(torch.nn.Module):
    def __init__(self, config, words, bias, mixes):
        super().__init__()
        self.config, self.kind, self.words = config, config["architectures"][0], words
        width = config["embedding_size"]
        if "characters" in config:
            self.characters = Characters(config["characters"], width)
        else:
            self.embedding = torch.nn.Embedding(config["vocab_size"], width)
        state = config.get("proj_size") or config["hidden_size"]

        def layers():
            made = []
            for layer in range(config["num_layers"]):
                gru = config.get("cell_type") == "gru"
                more = {} if gru else {"proj_size": config.get("proj_size", 0)}
                module = torch.nn.GRU if gru else torch.nn.LSTM
                made.append(
                    module(state if layer else width, config["hidden_size"], bias=bias, batch_first=True, **more)
                )
            return torch.nn.ModuleList(made)

        self.forward_layers, self.backward_layers = layers(), layers()
        if mixes:
            self.mix = Mix(config["num_layers"] + 1)
        if self.kind == JOINT:
            self.intent_classifier = torch.nn.Linear(2 * state, len(INTENTS))
            self.slot_classifier = torch.nn.Linear(2 * state, len(TAGS))
        elif self.kind != MODEL:
            self.classifier = torch.nn.Linear(2 * state, len(config["id2label"]))

    def one_way(self, modules, x, back):
        """The rows of each layer, in the order of the text."""
        if back:
            x = x.flip(0)
        rows = []
        for module in modules:
            y = module(x[None])[0][0]
            x = y + x if rows and self.config.get("residual", True) else y
            rows.append(x.flip(0) if back else x)
        return rows

    def rows(self, ids):
        if hasattr(self, "characters"):
            words = self.characters([self.words[i] for i in ids])
        else:
            words = self.embedding(torch.tensor(ids))
        ahead = self.one_way(self.forward_layers, words, False)
        back = self.one_way(self.backward_layers, words, True)
        layers = [torch.cat(both, dim=1) for both in zip(ahead, back, strict=True)]
        return self.mix([torch.cat([words, words], dim=1), *layers]) if hasattr(self, "mix") else layers[-1]

    def pooled(self, rows):
        half = rows.shape[1] // 2
        ends = torch.cat([rows[-1, :half], rows[0, half:]])
        return {"last": ends, "mean": rows.mean(dim=0), "max": rows.max(dim=0).values}[
            self.config.get("pooling", "last")
        ]

    def forward(self, ids, segments=None):
        rows = self.rows(ids)
        if self.kind == MODEL:
            return {"last_hidden_state": rows}
        if self.kind == JOINT:
            return {
                "intent_logits": self.intent_classifier(self.pooled(rows)),
                "slot_logits": self.slot_classifier(rows),
            }
        if self.kind == CLASSIFY:
            return {"logits": self.classifier(self.pooled(rows))}
        scores = self.classifier(rows)
        return {"logits": self.crf(scores) if hasattr(self, "crf") else scores}


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") == "elmo"


def words_of(directory):
    """The words of the tokenizer by their numbers."""
    file = directory / "tokenizer.json"
    if not file.exists():
        return None
    vocabulary = json.loads(file.read_text())["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.get)


def load(directory, crf):
    import safetensors.torch

    directory = pathlib.Path(directory)
    tensors = safetensors.torch.load_file(directory / "model.safetensors")
    config = json.loads((directory / "config.json").read_text())
    biased = any(".bias_ih" in name for name in tensors)
    model = Elmo(config, words_of(directory), biased, "mix.weights" in tensors)
    if "crf.transitions" in tensors:
        model.crf = crf(len(TAGS))
    model.load_state_dict(tensors)
    return model.double().eval()


def make(directory, crf, randomize, seed):
    kind, settings, bias, mixes = LAYOUTS[directory.name]
    directory.mkdir(parents=True)
    config = {
        "model_type": "elmo",
        "architectures": [kind],
        "vocab_size": VOCABULARY,
        "embedding_size": settings.get("proj_size") or settings["hidden_size"],
        "max_length": 24,
        **settings,
        **labels_of(kind),
    }
    model = Elmo(config, None, bias, mixes)
    if directory.name.endswith("crf"):
        model.crf = crf(len(TAGS))
    randomize(model, seed)
    if mixes:
        model.mix.weights.data *= 5
        model.mix.gamma.data.fill_(1.3)
    own_layouts.write_halves(directory, config, model)
    if "characters" in settings:
        write_tokenizer(directory)


def write_tokenizer(directory):
    """Words between blanks; those that are unknown are one token. Some have no ASCII, or more characters than are read."""
    import tokenizers

    words = ["<pad>", "<unk>", "<S>", "</S>", "naïve", "Ü", "interminable"]
    words += [a + b for a in "bdklmnrst" for b in ("a", "e", "i", "o", "an", "er")]
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate(words[:VOCABULARY])}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(directory / "tokenizer.json"))

"""The neural probabilistic language model of Bengio et al. (JMLR 3, 2003) in numpy, in the names of docs/nplm.md: what it is and small ones to
test."""

import json
import math
import pathlib
import random

import numpy

WORDS, MODEL, CLASSIFY = "NplmForCausalLM", "NplmModel", "NplmForSequenceClassification"
VOCABULARY = 61
END = 2

# name: class, settings, direct connections, biases
LAYOUTS = {
    "nplm-generate": (WORDS, dict(context_size=4, pad_token_id=0, eos_token_id=END), True, True),
    "nplm-generate-newest": (WORDS, dict(context_size=3, context_order="newest_first", pad_token_id=5), True, False),
    "nplm-generate-zeros": (WORDS, dict(context_size=2, activation="relu"), False, True),
    "nplm-generate-text": (WORDS, dict(context_size=5, pad_token_id=0, eos_token_id=END), True, True),
    "nplm-classify": (CLASSIFY, dict(context_size=3, pooling="mean"), False, True),
    "nplm-encoder": (MODEL, dict(context_size=1), False, True),
}


class Nplm:
    """b + W x + U tanh(d + H x), x the vectors of the words in front of the one that is told."""

    def __init__(self, config, tensors):
        self.config, self.kind = config, config["architectures"][0]
        self.tensors = {name: value.astype(numpy.float64) for name, value in tensors.items()}

    def context(self, ids, place):
        """The context of the word after `place`: the rows of the words in front of it."""
        table, count = self.tensors["embedding.weight"], self.config["context_size"]
        rows = []
        for at in range(place + 1 - count, place + 1):
            padding = self.config.get("pad_token_id")
            missing = numpy.zeros(table.shape[1]) if padding is None else table[padding]
            rows.append(table[ids[at]] if at >= 0 else missing)
        if self.config.get("context_order") == "newest_first":
            rows.reverse()
        return numpy.concatenate(rows)

    def linear(self, name, x):
        y = self.tensors[name + ".weight"] @ x
        return y + self.tensors.get(name + ".bias", 0)

    def rows(self, ids):
        activation = {"tanh": numpy.tanh, "relu": lambda x: numpy.maximum(x, 0)}[self.config.get("activation", "tanh")]
        contexts = [self.context(ids, place) for place in range(len(ids))]
        return contexts, [activation(self.linear("hidden", x)) for x in contexts]

    def logits(self, ids):
        contexts, rows = self.rows(ids)
        out = numpy.stack([self.linear("output", row) for row in rows])
        if "direct.weight" in self.tensors:
            out += numpy.stack(contexts) @ self.tensors["direct.weight"].T
        return out

    def greedy(self, ids, count):
        made = []
        while len(made) < count:
            word = int(self.logits(ids + made)[-1].argmax())
            made.append(word)
            if word == self.config.get("eos_token_id"):
                break
        return made

    def perplexity(self, ids):
        """The perplexity of the words after the first one."""
        logits = self.logits(ids)
        top = logits.max(axis=1, keepdims=True)
        shares = logits - top - numpy.log(numpy.exp(logits - top).sum(axis=1, keepdims=True))
        return math.exp(-numpy.mean([shares[i, ids[i + 1]] for i in range(len(ids) - 1)]))

    def __call__(self, ids):
        if self.kind == WORDS:
            return {"logits": self.logits(ids)}
        rows = numpy.stack(self.rows(ids)[1])
        if self.kind == MODEL:
            return {"last_hidden_state": rows}
        pooling = self.config.get("pooling", "last")
        return {"logits": self.linear("classifier", {"last": rows[-1], "mean": rows.mean(axis=0)}[pooling])}


def load(directory):
    import safetensors.numpy

    directory = pathlib.Path(directory)
    config = json.loads((directory / "config.json").read_text())
    return Nplm(config, safetensors.numpy.load_file(directory / "model.safetensors"))


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") == "nplm"


def make(directory, seed):
    import safetensors.numpy

    kind, settings, direct, biased = LAYOUTS[directory.name]
    directory.mkdir(parents=True)
    config = {
        "model_type": "nplm",
        "architectures": [kind],
        "vocab_size": VOCABULARY,
        "embedding_size": 11,
        "hidden_size": 23,
        "max_length": 24,
        **settings,
    }
    if kind == CLASSIFY:
        config["id2label"] = {str(i): label for i, label in enumerate(["red", "green", "blue"])}
    draw = numpy.random.default_rng(seed)
    tensors = {}

    def linear(name, rows, columns, bias=True):
        tensors[name + ".weight"] = draw.standard_normal((rows, columns)) * 1.5 / math.sqrt(columns)
        if bias and biased:
            tensors[name + ".bias"] = draw.standard_normal(rows) * 0.3

    words = config["context_size"] * config["embedding_size"]
    tensors["embedding.weight"] = draw.standard_normal((VOCABULARY, config["embedding_size"]))
    linear("hidden", config["hidden_size"], words)
    if kind == WORDS:
        linear("output", VOCABULARY, config["hidden_size"])
    if direct:
        linear("direct", VOCABULARY, words, bias=False)
    if kind == CLASSIFY:
        linear("classifier", 3, config["hidden_size"])
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tensors = {name: value.astype(numpy.float16) for name, value in tensors.items()}
    safetensors.numpy.save_file(tensors, directory / "model.safetensors")
    model = load(directory)
    draw = random.Random(seed)

    def ids(count):
        return [draw.randrange(3, VOCABULARY) for _ in range(count)]

    with open(directory / "expected.jsonl", "w") as file:
        for count in (1, 2, 6, 17):
            one = ids(count)
            outputs = {name: numpy.round(value, 8).tolist() for name, value in model(one).items()}
            file.write(json.dumps({"ids": one, **outputs}, separators=(",", ":")) + "\n")
    if kind == WORDS:
        with open(directory / "greedy.jsonl", "w") as file:
            for count in (1, 3, 9):
                prompt = ids(count)
                made = model.greedy(prompt, 12)
                file.write(json.dumps({"prompt": prompt, "ids": made}) + "\n")
    if directory.name == "nplm-generate-text":
        write_texts(directory, model, ids)


def write_texts(directory, model, ids):
    """A tokenizer of words, and what is said of texts."""
    import tokenizers

    words = ["<s>", "<unk>", "</s>", *(a + b for a in "bdklmnrstz" for b in ("a", "e", "i", "o", "an", "er"))][
        :VOCABULARY
    ]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.save(str(directory / "tokenizer.json"))
    with open(directory / "texts.jsonl", "w") as file:
        for count in (2, 5, 14):
            one = ids(count)
            made = [word for word in model.greedy(one, 8) if word != END]
            line = {
                "text": " ".join(words[i] for i in one),
                "continuation": " ".join(words[i] for i in made),
                "perplexity": model.perplexity(one),
            }
            file.write(json.dumps(line) + "\n")

"""GPT-3 as its paper describes it (arXiv 2005.14165, section 2.1): GPT-2, layers of which attend in turn to all tokens in front and to a
band of them. No library has it; tensors and settings are those of transformers' GPT-2, with GPT-Neo's "attention_types" and
"window_size": a token of a local layer sees itself and the window_size - 1 in front of it. In double precision, token after token.
"""

import json
import math
import pathlib
import random

import safetensors.torch
import torch
import transformers

SHAPE = dict(vocab_size=61, n_embd=18, n_head=3, n_positions=24)
MODELS = {
    "gpt3-generate": ("GPT2LMHeadModel", dict(**SHAPE, n_layer=4), [[["global", "local"], 2]], 5),
    "gpt3-classify": (
        "GPT2ForSequenceClassification",
        dict(**SHAPE, n_layer=3, num_labels=3, n_inner=20),
        [[["local"], 2], [["global"], 1]],
        3,
    ),
}


def is_one(directory):
    path = pathlib.Path(directory) / "config.json"
    if not path.exists():
        return False
    config = json.loads(path.read_text())
    return config.get("model_type") == "gpt2" and "attention_types" in config


def make(directory, randomize, seed):
    kind, settings, types, window = MODELS[directory.name]
    model_class = getattr(transformers, kind)
    model = model_class(transformers.GPT2Config(**settings, bos_token_id=1, eos_token_id=2, pad_token_id=0))
    randomize(model, seed)
    model.tie_weights()
    model.half().save_pretrained(directory)
    (directory / "generation_config.json").unlink(missing_ok=True)
    path = directory / "config.json"
    config = {**json.loads(path.read_text()), "attention_types": types, "window_size": window}
    path.write_text(json.dumps(config, indent=1) + "\n")
    if "generate" in directory.name:
        write_greedy(directory, seed)


def write_greedy(directory, seed):
    """Writes the likeliest continuations of a few prompts; those where a choice depends on rounding are left out."""
    model = Gpt3(directory)
    draw = random.Random(seed)
    with open(directory / "greedy.jsonl", "w") as file:
        for count in (1, 2, 3, 5, 8, 13):
            prompt = [draw.randrange(5, model.config["vocab_size"]) for _ in range(count)]
            ids, margin = list(prompt), math.inf
            while len(ids) < count + 10:
                two = model(ids)["logits"][-1].topk(2)
                margin = min(margin, float(two.values[0] - two.values[1]))
                ids.append(int(two.indices[0]))
                if ids[-1] == model.config["eos_token_id"]:
                    break
            if margin >= 1e-3:
                file.write(json.dumps({"prompt": prompt, "ids": ids[count:]}, separators=(",", ":")) + "\n")


class Gpt3:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.config = json.loads((directory / "config.json").read_text())
        stored = safetensors.torch.load_file(directory / "model.safetensors")
        self.tensors = {name: values.double() for name, values in stored.items()}
        self.kinds = [word for words, times in self.config["attention_types"] for _ in range(times) for word in words]
        assert len(self.kinds) == self.config["n_layer"]

    def of(self, layer, name):
        prefix = f"transformer.h.{layer}.{name}."
        return self.tensors[prefix + "weight"], self.tensors[prefix + "bias"]

    def norm(self, x, weight, bias):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_epsilon"])

    def affine(self, x, weight, bias):
        return x @ weight + bias  # matrices have inputs as rows

    def attention(self, layer, x):
        tokens, columns = x.shape
        heads = self.config["n_head"]
        width = columns // heads
        q, k, v = self.affine(x, *self.of(layer, "attn.c_attn")).split(columns, dim=-1)
        out = torch.zeros_like(x)
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            for query in range(tokens):
                first = 0
                if self.kinds[layer] == "local":
                    first = max(0, query - self.config["window_size"] + 1)
                seen = slice(first, query + 1)
                scores = k[seen, part] @ q[query, part] / math.sqrt(width)
                out[query, part] = scores.softmax(0) @ v[seen, part]
        return self.affine(out, *self.of(layer, "attn.c_proj"))

    def feed_forward(self, layer, x):
        wide = self.affine(x, *self.of(layer, "mlp.c_fc"))
        return self.affine(torch.nn.functional.gelu(wide, approximate="tanh"), *self.of(layer, "mlp.c_proj"))

    @torch.no_grad()
    def __call__(self, ids, segments=None):
        words = self.tensors["transformer.wte.weight"]
        x = words[torch.tensor(ids)] + self.tensors["transformer.wpe.weight"][: len(ids)]
        for layer in range(self.config["n_layer"]):
            x = x + self.attention(layer, self.norm(x, *self.of(layer, "ln_1")))
            x = x + self.feed_forward(layer, self.norm(x, *self.of(layer, "ln_2")))
        x = self.norm(x, self.tensors["transformer.ln_f.weight"], self.tensors["transformer.ln_f.bias"])
        if "score.weight" in self.tensors:
            return {"logits": x[-1] @ self.tensors["score.weight"].T}
        return {"logits": x @ words.T}

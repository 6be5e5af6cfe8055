"""A plain reading of ERNIE with entities (arXiv 1905.07129), which transformers lacks; its authors' code is not run.

Tensors are named as in the published checkpoints. `layer_types` says of each layer what it does: "sim" is BERT's; "mix" adds the
vectors of entities to its feed-forward layer, and makes new ones; "norm" lets them attend to each other first. Only tokens with an
entity, and the first one, count among entities: scores of others are 10,000 less, and their rows are 0 where tokens read them.

Also writes the tiny models of tests/golden/models, each with its answers; make_golden.py calls it.
"""

import json
import random

import safetensors.torch
import torch

ENTITIES = 9
SMALL = dict(
    vocab_size=61,
    hidden_size=18,
    num_attention_heads=3,
    num_hidden_layers=4,
    intermediate_size=28,
    max_position_embeddings=24,
    type_vocab_size=2,
    hidden_act="gelu",
)
LABELS = dict(id2label={str(i): f"LABEL_{i}" for i in range(3)})
NAMES = [f"Q{7 * i}" for i in range(ENTITIES)]
# name: settings beside SMALL, the head's tensors, whether entities are files as published, which then are 100 wide with 4 heads
MODELS = {
    "knowledge-ernie-classify": (
        dict(**LABELS, layer_types=["sim", "mix", "norm", "norm"], entity_size=10, entity_heads=2, entity_names=NAMES),
        "classifier",
        False,
    ),
    "knowledge-ernie-encoder": (
        dict(layer_types=["norm", "mix", "sim"], entity_size=15, entity_heads=3, entity_names=NAMES),
        "",
        False,
    ),
    "knowledge-ernie-fill": (dict(layer_types=["mix", "norm"], entity_size=9, entity_heads=1), "cls", False),
    "knowledge-ernie-typing": (dict(layer_types=["sim", "mix", "norm"], num_hidden_layers=3), "typing", True),
}
TYPES = 4  # of entity typing


def shapes(config, head):
    hidden, inner, width = config["hidden_size"], config["intermediate_size"], config.get("entity_size", 100)
    all_shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        "embeddings.entity_embeddings.weight": (ENTITIES, width),
    }

    def norm(name, columns):
        all_shapes[name + ".weight"] = all_shapes[name + ".bias"] = (columns,)

    def linear(name, rows, columns):
        all_shapes[name + ".weight"], all_shapes[name + ".bias"] = (rows, columns), (rows,)

    def attention(layer, mark, columns):
        for part in ("query", "key", "value"):
            linear(f"{layer}attention.self{mark}.{part}", columns, columns)
        linear(f"{layer}attention.output{mark}.dense", columns, columns)
        norm(f"{layer}attention.output{mark}.LayerNorm", columns)

    norm("embeddings.LayerNorm", hidden)
    for i in range(config["num_hidden_layers"]):
        layer, kind = f"encoder.layer.{i}.", kind_of(config, i)
        attention(layer, "", hidden)
        linear(layer + "intermediate.dense", inner, hidden)
        linear(layer + "output.dense", hidden, inner)
        norm(layer + "output.LayerNorm", hidden)
        if kind == "norm":
            attention(layer, "_ent", width)
        if kind != "sim":
            linear(layer + "intermediate.dense_ent", inner, width)
            linear(layer + "output.dense_ent", width, inner)
            norm(layer + "output.LayerNorm_ent", width)
    linear("pooler.dense", hidden, hidden)
    all_shapes = {"bert." + name: shape for name, shape in all_shapes.items()}
    if head == "classifier":
        linear("classifier", 3, hidden)
    if head == "typing":
        all_shapes["typing.weight"] = (TYPES, hidden)
    if head == "cls":
        linear("cls.predictions.transform.dense", hidden, hidden)
        norm("cls.predictions.transform.LayerNorm", hidden)
        all_shapes["cls.predictions.bias"] = (config["vocab_size"],)
        # Pre-training guesses entities, too.
        linear("cls.predictions_ent.transform.dense", width, hidden)
        norm("cls.predictions_ent.transform.LayerNorm", width)
    return all_shapes


def kind_of(config, layer):
    return (config["layer_types"] + ["sim"] * config["num_hidden_layers"])[layer]


class KnowledgeErnie:
    """`tensors`: those of a checkpoint; `entities`: the table of entities, without a row for none."""

    def __init__(self, config, tensors, entities):
        self.config = config
        self.tensors = {name.removeprefix("bert."): value.double() for name, value in tensors.items()}
        self.entities = torch.cat([torch.zeros(1, entities.shape[1]), entities]).double()

    def linear(self, name, x):
        return torch.nn.functional.linear(x, self.tensors[name + ".weight"], self.tensors.get(name + ".bias"))

    def norm(self, name, x):
        return torch.nn.functional.layer_norm(
            x, x.shape[-1:], self.tensors[name + ".weight"], self.tensors[name + ".bias"], 1e-12
        )

    def attention(self, layer, mark, x, heads, added):
        rows, columns = x.shape
        q, k, v = (
            self.linear(f"{layer}attention.self{mark}.{part}", x).view(rows, heads, -1).transpose(0, 1)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(1, 2) / (columns // heads) ** 0.5 + added
        context = (scores.softmax(-1) @ v).transpose(0, 1).reshape(rows, columns)
        name = f"{layer}attention.output{mark}."
        return self.norm(name + "LayerNorm", self.linear(name + "dense", context) + x)

    def __call__(self, ids, segments, marks):
        """Outputs by transformers' names, without a batch dimension. `marks`: numbers of entities from 1 on, 0: none."""
        config, gelu = self.config, torch.nn.functional.gelu
        table = {
            name: self.tensors[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        }
        x = table["word"][ids] + table["position"][: len(ids)] + table["token_type"][segments or [0] * len(ids)]
        x = self.norm("embeddings.LayerNorm", x)
        entities = self.entities[marks]
        counts = torch.tensor([1.0 if mark != 0 or i == 0 else 0.0 for i, mark in enumerate(marks)]).double()
        for i in range(config["num_hidden_layers"]):
            layer, kind = f"encoder.layer.{i}.", kind_of(config, i)
            x = self.attention(layer, "", x, config["num_attention_heads"], 0.0)
            if kind == "norm":
                added = (1 - counts) * -10000
                entities = self.attention(layer, "_ent", entities, config.get("entity_heads", 4), added)
            wide = self.linear(layer + "intermediate.dense", x)
            if kind == "sim":
                wide = gelu(wide)
            else:
                entities = entities * counts[:, None]
                wide = gelu(wide + self.linear(layer + "intermediate.dense_ent", entities))
                made = self.linear(layer + "output.dense_ent", wide)
                entities = self.norm(layer + "output.LayerNorm_ent", made + entities)
            x = self.norm(layer + "output.LayerNorm", self.linear(layer + "output.dense", wide) + x)
        if "cls.predictions.bias" in self.tensors:
            x = self.norm(
                "cls.predictions.transform.LayerNorm", gelu(self.linear("cls.predictions.transform.dense", x))
            )
            return {"logits": x @ table["word"].T + self.tensors["cls.predictions.bias"]}
        pooled = self.linear("pooler.dense", x[0]).tanh()
        for head in ("classifier", "typing"):
            if head + ".weight" in self.tensors:
                return {"logits": self.linear(head, pooled)}
        return {"last_hidden_state": x, "pooler_output": pooled}


def random_tensors(config, head, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, shape in shapes(config, head).items():
        values = torch.randn(shape, generator=generator)
        if "norm" in name.lower():
            values = values * 0.2 + (1.0 if name.endswith("weight") else 0.0)
        elif len(shape) == 1:
            values = values * 0.2
        elif "embeddings" not in name:
            values = values * 1.5 / shape[1] ** 0.5
        tensors[name] = values.half()
    return tensors


def cases(longest, seed):
    """One token without an entity and with one, a few, none in a longer text, a pair, all."""
    draw = random.Random(seed)
    for count, share in ((1, 0.0), (1, 1.0), (6, 0.5), (11, 0.0), (17, 0.3), (longest, 0.4), (longest, 1.0)):
        ids = [draw.randrange(5, SMALL["vocab_size"]) for _ in range(count)]
        marks = [draw.randrange(1, ENTITIES + 1) if draw.random() < share else 0 for _ in range(count)]
        yield ids, [0] * (count // 2) + [1] * (count - count // 2) if count == 17 else None, marks


def write_entities(directory, table):
    """As published: vectors as text, and names with their numbers, in any order."""
    folder = directory / "kg_embed"
    folder.mkdir()
    with open(folder / "entity2vec.vec", "w") as file:
        for row in table.tolist():
            file.write("\t".join(f"{value:.6f}" for value in row) + "\t\n")
    lines = [f"{name}\t{i}" for i, name in enumerate(NAMES)]
    (folder / "entity2id.txt").write_text("\n".join([str(ENTITIES), *reversed(lines)]) + "\n")
    return torch.tensor([[float(f"{value:.6f}") for value in row] for row in table.tolist()])


def make(directory, seed):
    settings, head, published = MODELS[directory.name]
    config = {**SMALL, **settings}
    directory.mkdir(parents=True)
    tensors = random_tensors(config, head, seed)
    entities = tensors["bert.embeddings.entity_embeddings.weight"].float()
    if published:
        del tensors["bert.embeddings.entity_embeddings.weight"]
        entities = write_entities(directory, entities)
    else:
        config["model_type"] = "knowledge_ernie"
    name = "ernie_config.json" if published else "config.json"
    (directory / name).write_text(json.dumps(config, indent=1) + "\n")
    safetensors.torch.save_file(tensors, directory / "model.safetensors")
    model = KnowledgeErnie(config, tensors, entities)
    with open(directory / "expected.jsonl", "w") as file:
        for ids, segments, marks in cases(SMALL["max_position_embeddings"], seed):
            line = {"ids": ids, "marks": marks}
            if segments is not None:
                line["segments"] = segments
            for output, values in model(ids, segments, marks).items():
                line[output] = [
                    [round_all(row) for row in values.tolist()] if values.dim() > 1 else round_all(values.tolist())
                ]
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def round_all(values):
    return [float(f"{value:.7g}") for value in values]

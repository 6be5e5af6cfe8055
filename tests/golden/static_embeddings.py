"""A plain reading of static embeddings: the average of tokens' rows, as model2vec and sentence-transformers compute it."""

import json
import pathlib

import safetensors.torch


def is_one(directory):
    directory = pathlib.Path(directory)
    modules = directory / "modules.json"
    if modules.exists():
        return json.loads(modules.read_text())[0]["type"].endswith(".StaticEmbedding")
    return "model_type" not in json.loads((directory / "config.json").read_text())


class StaticEmbeddings:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        tensors = safetensors.torch.load_file(directory / "model.safetensors")
        table = tensors.get("embedding.weight", tensors.get("embeddings")).double()
        table = table[tensors["mapping"]] if "mapping" in tensors else table
        self.table = table * tensors["weights"].double()[:, None] if "weights" in tensors else table
        tokenizer = json.loads((directory / "tokenizer.json").read_text())
        # model2vec leaves unknown tokens out, sentence-transformers does not.
        own = "embeddings" in tensors
        self.unknown = tokenizer["model"]["vocab"][tokenizer["model"]["unk_token"]] if own else None
        modules = directory / "modules.json"
        self.normalize = (
            any(module["type"].endswith(".Normalize") for module in json.loads(modules.read_text()))
            if modules.exists()
            else json.loads((directory / "config.json").read_text())["normalize"]
        )

    def __call__(self, ids, segments=None):
        mean = self.table[[token for token in ids if token != self.unknown]].mean(dim=0)
        return {"sentence_embedding": mean / mean.norm() if self.normalize else mean}

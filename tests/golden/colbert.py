"""ColBERT (arXiv 2004.12832) in plain PyTorch: a normalised vector a token, queries filled up with masks that no token attends to.

Directories of three layouts: colbert-ir's (a linear layer beside BERT, artifact.metadata), PyLate's (a Dense module, settings beside the
modules) and sentence-transformers' own (settings in the modules).
"""

import json
import pathlib
import string

import safetensors.torch
import tokenizers
import torch
import transformers

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
VOCABULARY += [*"abdeikolmnt.,!?-", *("##" + letter for letter in "abdeikolmnt"), "ba", "di", "ko", "lu", "na", "ti"]
WIDTH, FILLED = 8, 14
QUERY, DOCUMENTS = (
    "ba di ko",
    ["Ba, lu!", "ti", "na ko - di ba. The abba", "ko ko ko ko ko ko ko ko ko ko ko ko ko ko ko"],
)
BERT = dict(pad_token_id=0)
MODERN = dict(pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3, local_attention=8)
# name: model, settings, whether tokens see what fills queries up
LAYOUTS = {
    "colbert": ("BertModel", BERT, False),
    "colbert-pylate": ("ModernBertModel", {**MODERN, "num_hidden_layers": 2}, False),
    "colbert-modules": ("BertModel", BERT, True),
}


def is_one(directory):
    return pathlib.Path(directory).name.startswith("colbert")


class ColBert:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        kind, _, self.attends = LAYOUTS[directory.name]
        config = json.loads((directory / "config.json").read_text())
        weights = safetensors.torch.load_file(directory / "model.safetensors")
        if directory.name == "colbert":
            linear = weights.pop("linear.weight")
            weights = {name.removeprefix("bert."): value for name, value in weights.items()}
        else:
            linear = safetensors.torch.load_file(directory / "1_Dense" / "model.safetensors")["linear.weight"]
        self.model = getattr(transformers, kind)(getattr(transformers, kind).config_class(**config))
        self.model.load_state_dict(weights)
        self.model, self.linear = self.model.double().eval(), linear.double()

    @torch.no_grad()
    def __call__(self, ids, segments=None):
        """Vectors of all tokens; masks at the end fill a query up."""
        own, filler = len(ids), VOCABULARY.index("[MASK]")
        while own > 1 and ids[own - 1] == filler:
            own -= 1
        mask = torch.ones(1, len(ids), dtype=torch.long)
        if not self.attends:
            mask[:, own:] = 0
        hidden = self.model(input_ids=torch.tensor([ids]), attention_mask=mask).last_hidden_state[0]
        return {"token_embeddings": torch.nn.functional.normalize(hidden @ self.linear.T, dim=-1)}


def write(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def write_tokenizer(directory):
    if directory.name != "colbert-pylate":
        (directory / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        return write(directory / "tokenizer_config.json", {"do_lower_case": True, "tokenizer_class": "BertTokenizer"})
    tokenizer = tokenizers.BertWordPieceTokenizer({word: i for i, word in enumerate(VOCABULARY)}, lowercase=True)
    tokenizer.save(str(directory / "tokenizer.json"))
    names = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    settings = {f"{name}_token": token for name, token in names.items()}
    write(directory / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **settings})


def write_settings(directory, filled=FILLED):
    """Writes the files that the three programs write beside the weights."""
    name, _, attends = directory.name, None, LAYOUTS[directory.name][2]
    marks = list(string.punctuation)
    if name == "colbert":
        settings = {
            "query_token_id": "[unused0]",
            "doc_token_id": "[unused1]",
            "query_maxlen": filled,
            "doc_maxlen": 12,
        }
        settings |= {"dim": WIDTH, "similarity": "cosine", "mask_punctuation": True, "attend_to_mask_tokens": attends}
        return write(directory / "artifact.metadata", settings)
    dense = {"in_features": 18, "out_features": WIDTH, "bias": False}
    dense["activation_function"] = "torch.nn.modules.linear.Identity"
    if name == "colbert-pylate":
        types = {"": "sentence_transformers.models.Transformer.Transformer", "1_Dense": "pylate.models.Dense.Dense"}
        settings = {"model_type": "ColBERT", "query_prefix": "[unused0]", "document_prefix": "[unused1]", "prompts": {}}
        settings |= {"query_length": filled, "document_length": 12, "attend_to_expansion_tokens": attends}
        settings |= {"skiplist_words": marks, "similarity_fn_name": "MaxSim"}
        write(directory / "sentence_bert_config.json", {"max_seq_length": 11, "do_lower_case": False})
    else:
        base = "sentence_transformers.base.modules."
        mask = "sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask"
        types = {"": base + "transformer.Transformer", "1_Dense": base + "dense.Dense", "2_MultiVectorMask": mask}
        types["3_Normalize"] = base + "normalize.Normalize"
        tokens = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
        dense |= tokens
        settings = {"model_type": "MultiVectorEncoder", "prompts": {"query": "na: ", "document": "ti: "}}
        expansion = {"strategy": "fixed", "attend": attends, "token": None, "length": filled}
        write(directory / "sentence_bert_config.json", {"document_length": 12, "query_expansion": expansion})
        write(directory / "2_MultiVectorMask" / "config.json", {"skiplist_words": marks})
        write(directory / "3_Normalize" / "config.json", tokens)
    write(directory / "1_Dense" / "config.json", dense)
    write(directory / "config_sentence_transformers.json", settings)
    modules = [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(types.items())]
    write(directory / "modules.json", modules)


def make(directory, shape, randomize, seed):
    """Weights and settings; "scores.json" has sentence-transformers' own scores of texts. Returns ids of queries and documents."""
    import sentence_transformers

    kind, settings, _ = LAYOUTS[directory.name]
    shape = {**shape, "vocab_size": len(VOCABULARY)}
    model = getattr(transformers, kind)(getattr(transformers, kind).config_class(**{**shape, **settings}))
    randomize(model, seed)
    linear = torch.randn(WIDTH, 18, generator=torch.Generator().manual_seed(seed)).half()
    if directory.name == "colbert":
        model.half().save_pretrained(directory)
        weights = safetensors.torch.load_file(directory / "model.safetensors")
        weights = {"bert." + tensor: value for tensor, value in weights.items()}
        safetensors.torch.save_file({**weights, "linear.weight": linear}, directory / "model.safetensors")
        config = json.loads((directory / "config.json").read_text())
        write(directory / "config.json", {**config, "architectures": ["HF_ColBERT"]})
    else:
        model.half().save_pretrained(directory)
        (directory / "1_Dense").mkdir()
        safetensors.torch.save_file({"linear.weight": linear}, directory / "1_Dense" / "model.safetensors")
    write_tokenizer(directory)
    write_settings(directory)
    encoder = sentence_transformers.MultiVectorEncoder(str(directory), device="cpu").double()
    query = encoder.encode_query([QUERY], convert_to_numpy=False)
    documents = encoder.encode_document(DOCUMENTS, convert_to_numpy=False)
    scores = [float(f"{x:.8g}") for x in encoder.similarity(query, documents)[0].tolist()]
    counts = [len(vectors) for vectors in documents]
    write(directory / "scores.json", {"query": QUERY, "texts": DOCUMENTS, "scores": scores, "vectors": counts})

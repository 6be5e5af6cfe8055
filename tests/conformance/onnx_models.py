"""Writes one tiny random model as ONNX in exporters' spellings; onnx_files.py runs it with several interpreters.

Usage: python onnx_models.py MODEL SPELLING[,SPELLING...] DIRECTORY
Makes DIRECTORY/SPELLING/model.onnx with config.json and tokenizer.json beside it and, where transformers has the
family, DIRECTORY/SPELLING/source with the checkpoint. If a spelling cannot be exported, DIRECTORY/SPELLING/problem has
the reason. Seeds are fixed: all spellings of a model have the same weights with one version of transformers.
"""

import json
import pathlib
import sys

import torch
import transformers

VOCABULARY = 97
LABELS = {index: f"label-{index}" for index in range(5)}
SHAPE = dict(
    vocab_size=VOCABULARY,
    hidden_size=32,
    num_attention_heads=4,
    num_hidden_layers=2,
    intermediate_size=48,
    max_position_embeddings=40,
    id2label=LABELS,
    label2id={name: index for index, name in LABELS.items()},
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
MODERN = dict(
    global_attn_every_n_layers=2,
    local_attention=8,
    cls_token_id=1,
    sep_token_id=2,
    classifier_pooling="mean",
    reference_compile=False,
)
# name: class, settings beside SHAPE, inputs of the graph
MODELS = {
    "bert-classify": (
        "BertForSequenceClassification",
        {},
        ("input_ids", "attention_mask", "token_type_ids"),
    ),
    "bert-encoder": (
        "BertModel",
        {},
        ("input_ids", "attention_mask", "token_type_ids"),
    ),
    "distilbert-tag": (
        "DistilBertForTokenClassification",
        dict(dim=32, n_heads=4, n_layers=2, hidden_dim=48),
        ("input_ids", "attention_mask"),
    ),
    "roberta-classify": (
        "RobertaForSequenceClassification",
        dict(pad_token_id=1, type_vocab_size=1),
        ("input_ids", "attention_mask"),
    ),
    "electra-tag": (
        "ElectraForTokenClassification",
        dict(embedding_size=16),
        ("input_ids", "attention_mask", "token_type_ids"),
    ),
    "albert-classify": (
        "AlbertForSequenceClassification",
        dict(embedding_size=16),
        ("input_ids", "attention_mask", "token_type_ids"),
    ),
    "mobilebert-classify": (
        "MobileBertForSequenceClassification",
        dict(embedding_size=16, intra_bottleneck_size=24, num_feedforward_networks=2),
        ("input_ids", "attention_mask", "token_type_ids"),
    ),
    "deberta-v2-classify": (
        "DebertaV2ForSequenceClassification",
        dict(
            relative_attention=True,
            pos_att_type=["c2p", "p2c"],
            position_biased_input=False,
            position_buckets=8,
            share_att_key=True,
            norm_rel_ebd="layer_norm",
            type_vocab_size=0,
        ),
        ("input_ids", "attention_mask"),
    ),
    "mpnet-encoder": (
        "MPNetModel",
        dict(pad_token_id=1),
        ("input_ids", "attention_mask"),
    ),
    "modernbert-classify": (
        "ModernBertForSequenceClassification",
        MODERN,
        ("input_ids", "attention_mask"),
    ),
    "gpt2-classify": (
        "GPT2ForTokenClassification",
        dict(n_embd=32, n_head=4, n_layer=2, n_positions=40, n_inner=48, use_cache=False),
        ("input_ids", "attention_mask"),
    ),
    "llama-generate": (
        "LlamaForCausalLM",
        dict(num_key_value_heads=2, use_cache=False),
        ("input_ids", "attention_mask"),
    ),
    "llama-scaled-generate": (
        "LlamaForCausalLM",
        dict(
            num_key_value_heads=2,
            use_cache=False,
            rope_parameters=dict(
                rope_type="llama3",
                rope_theta=10000.0,
                factor=4.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=16,
            ),
        ),
        ("input_ids", "attention_mask"),
    ),
    "qwen3-generate": (
        "Qwen3ForCausalLM",
        dict(num_key_value_heads=2, head_dim=8, use_cache=False),
        ("input_ids", "attention_mask"),
    ),
    "olmo2-generate": (
        "Olmo2ForCausalLM",
        dict(num_key_value_heads=2, use_cache=False),
        ("input_ids", "attention_mask"),
    ),
    "t5-encoder": (
        "T5EncoderModel",
        dict(
            d_model=32,
            d_kv=8,
            d_ff=48,
            num_layers=2,
            num_heads=4,
            feed_forward_proj="gated-gelu",
        ),
        ("input_ids", "attention_mask"),
    ),
    "xlnet-encoder": (
        "XLNetModel",
        dict(d_model=32, n_head=4, n_layer=2, d_inner=48),
        ("input_ids", "attention_mask"),
    ),
    "lstm-tag": (None, dict(cell="lstm"), ("input_ids",)),
    "gru-tag": (None, dict(cell="gru"), ("input_ids",)),
    "textcnn-classify": (None, dict(cell="convolutions"), ("input_ids",)),
}
LENGTH = 9  # of the example input; both axes are dynamic in the file


class Recurrent(torch.nn.Module):
    """Two bidirectional layers over embeddings, and a label for each token."""

    def __init__(self, cell):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, 24)
        kind = torch.nn.LSTM if cell == "lstm" else torch.nn.GRU
        self.rnn = kind(24, 20, num_layers=2, bidirectional=True, batch_first=True)
        self.linear = torch.nn.Linear(40, len(LABELS))

    def forward(self, input_ids):
        return self.linear(self.rnn(self.embedding(input_ids))[0])


class TextCnn(torch.nn.Module):
    """Kim, arXiv 1408.5882: convolutions of three widths and max pooling; padded, so that one token is enough."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, 24)
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(24, 16, width, padding=width // 2) for width in (1, 3, 5)
        )
        self.linear = torch.nn.Linear(48, len(LABELS))

    def forward(self, input_ids):
        rows = self.embedding(input_ids).transpose(1, 2)
        return self.linear(torch.cat([torch.relu(c(rows)).amax(dim=2) for c in self.convolutions], dim=1))


def spread(model):
    """Scales weights to the size of trained ones, so that attention and labels depend on the text."""
    torch.manual_seed(11)
    with torch.no_grad():
        for name, value in sorted(model.named_parameters()):
            if value.dim() > 1:
                value.normal_(0, (1.6 / value.shape[-1]) ** 0.5 if "embed" not in name else 1.0)
            elif "weight" in name:
                value.uniform_(0.7, 1.3)
            else:
                value.normal_(0, 0.1)


def build(name, attention):
    kind, settings, inputs = MODELS[name]
    torch.manual_seed(3)
    if kind is None:
        cell = settings["cell"]
        model = TextCnn() if cell == "convolutions" else Recurrent(cell)
    else:
        known = getattr(transformers, kind)
        shape = {**SHAPE, **settings}
        if kind.startswith("XLNet"):  # its texts have any length
            del shape["max_position_embeddings"]
        config = known.config_class(**shape)
        if attention and hasattr(config, "_attn_implementation"):
            config._attn_implementation = attention
        model = known(config)
        config.architectures = [kind]
    spread(model)
    return model.eval(), inputs


class First(torch.nn.Module):
    """Returns only the model's first output, because exporters treat classes of outputs differently."""

    def __init__(self, model, inputs):
        super().__init__()
        self.model, self.inputs = model, inputs

    def forward(self, *values):
        made = self.model(**dict(zip(self.inputs, values)))
        return made if isinstance(made, torch.Tensor) else made[0]


def export(model, inputs, spelling, path):
    kind, opset = spelling.split("-")[0], int(spelling.split("-")[1])
    example = {"input_ids": torch.arange(2 * LENGTH).reshape(2, LENGTH) + 5}
    example["attention_mask"] = torch.ones(2, LENGTH, dtype=torch.int64)
    example["token_type_ids"] = torch.zeros(2, LENGTH, dtype=torch.int64)
    values = tuple(example[name] for name in inputs)
    rows = model(*values[:1], **dict(zip(inputs[1:], values[1:])))
    shape = (rows if isinstance(rows, torch.Tensor) else rows[0]).shape
    output = "logits" if shape[-1] == len(LABELS) else "last_hidden_state"
    wrapped = First(model, inputs).eval()
    axes = {name: {0: "batch", 1: "sequence"} for name in inputs}
    if kind == "torchscript":
        axes[output] = {0: "batch", 1: "sequence"} if len(shape) == 3 else {0: "batch"}
        torch.onnx.export(
            wrapped,
            values,
            str(path),
            input_names=list(inputs),
            output_names=[output],
            dynamic_axes=axes,
            opset_version=opset,
            do_constant_folding=True,
            dynamo=False,
        )
        return
    batch, sequence = torch.export.Dim("batch"), torch.export.Dim("sequence", max=40)
    torch.onnx.export(
        wrapped,
        values,
        str(path),
        input_names=list(inputs),
        output_names=[output],
        dynamic_shapes=(tuple({0: batch, 1: sequence} for _ in inputs),),
        opset_version=opset,
        dynamo=True,
        external_data=spelling.endswith("external"),
    )


def write_tokenizer(directory, with_sep):
    """Writes a WordPiece tokenizer of words w5, w6, ...; the test only needs a file next to the graph."""
    words = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "[MASK]": 4}
    words.update({f"w{index}": index for index in range(5, VOCABULARY)})
    special = [
        dict(
            id=index,
            content=word,
            special=True,
            single_word=False,
            lstrip=False,
            rstrip=False,
            normalized=False,
        )
        for word, index in words.items()
        if word.startswith("[")
    ]
    processor = dict(type="BertProcessing", sep=["[SEP]", 2], cls=["[CLS]", 1]) if with_sep else None
    model = dict(
        type="WordPiece",
        unk_token="[UNK]",
        continuing_subword_prefix="##",
        max_input_chars_per_word=100,
        vocab=words,
    )
    file = dict(
        version="1.0",
        truncation=None,
        padding=None,
        added_tokens=special,
        normalizer=dict(
            type="BertNormalizer",
            clean_text=True,
            handle_chinese_chars=True,
            strip_accents=None,
            lowercase=True,
        ),
        pre_tokenizer=dict(type="BertPreTokenizer"),
        post_processor=processor,
        decoder=None,
        model=model,
    )
    (directory / "tokenizer.json").write_text(json.dumps(file))


def make(name, spelling, directory):
    directory.mkdir(parents=True, exist_ok=True)
    model, inputs = build(name, "sdpa" if "sdpa" in spelling else "eager")
    if MODELS[name][0] is not None:
        model.config.save_pretrained(directory)
        model.save_pretrained(directory / "source", safe_serialization=True)
        write_tokenizer(directory / "source", True)
    write_tokenizer(directory, MODELS[name][0] is not None)
    with torch.no_grad():
        export(model, inputs, spelling, directory / "model.onnx")


def main():
    name, spellings, directory = sys.argv[1], sys.argv[2].split(","), pathlib.Path(sys.argv[3])
    for spelling in spellings:
        problem = directory / spelling / "problem"
        problem.unlink(missing_ok=True)
        try:
            make(name, spelling, directory / spelling)
        except Exception as error:  # exporters fail in many ways; the other spellings continue
            problem.write_text(" ".join(str(error).split())[-200:] or repr(error))


if __name__ == "__main__":
    main()

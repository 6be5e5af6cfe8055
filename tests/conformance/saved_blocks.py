"""Checks GGUF files that the `gguf` package quantizes and writes: a tiny Llama and BERT in each supported type."""

import functools
import random

from saver_checks import Converted, golden, listed

# 256 columns, the size of the widest blocks.
SHAPE = dict(
    vocab_size=64, hidden_size=256, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=32,
)  # fmt: skip
KINDS = {
    "llama": ("LlamaForCausalLM", dict(num_key_value_heads=4, tie_word_embeddings=True)),
    "bert": ("BertModel", dict(type_vocab_size=2)),
}


def types():
    """The types that the installed package can quantize to."""
    import gguf
    import numpy

    able = []
    for kind in gguf.GGMLQuantizationType:
        try:
            gguf.quantize(numpy.ones((1, 256), "f4"), kind)
            able.append(kind.name)
        except NotImplementedError:
            continue
    return able


def tiny_model(arch):
    import torch
    import transformers

    kind, settings = KINDS[arch]
    torch.manual_seed(13)
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**{**SHAPE, **settings})).eval()
    with torch.no_grad():
        for name, value in sorted(model.named_parameters()):
            if value.dim() > 1:
                value.normal_(0, 0.1)
            elif name.endswith("bias"):
                value.normal_(0, 0.1)
            else:
                value.uniform_(0.5, 1.5)
    return model


def write(arch, kind, path):
    """Writes the file, and returns the model with the file's dequantized numbers."""
    import gguf

    gguf_files = golden("gguf_files")
    import torch

    model = tiny_model(arch)
    config = {**model.config.to_dict(), **SHAPE}
    writer = gguf.GGUFWriter(path, arch)
    gguf_files.add_settings(writer, config, arch)
    number = next(one for one, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    names = gguf.get_tensor_name_map(number, SHAPE["num_hidden_layers"])
    state = {}
    for name, parameter in sorted(model.named_parameters()):
        values = parameter.detach().numpy()
        if "pooler" in name:
            continue
        made = names.get_name(name, try_suffixes=(".weight", ".bias"))
        heads = SHAPE["num_attention_heads"] if arch == "llama" and made.split(".")[-2] in ("attn_q", "attn_k") else 0
        rows = gguf_files.interleaved(values, heads) if heads else values
        if values.ndim == 1 or "token_types" in made or "position_embd" in made:
            writer.add_tensor(made, rows)
            state[name] = torch.from_numpy(values.copy())
            continue
        state[name] = torch.from_numpy(gguf_files.add_blocks(writer, made, rows, kind, heads))
    gguf_files.finish(writer)
    model.load_state_dict(state, strict=False)
    return model


def check(arch, kind, command, folder):
    import gguf
    import torch

    path = folder / f"{arch}.gguf"
    model = write(arch, gguf.GGMLQuantizationType[kind], path)
    converted = Converted(command, path, ids_only=True)
    draw = random.Random(14)
    for count in (1, 6, 17):
        ids = [draw.randrange(SHAPE["vocab_size"]) for _ in range(count)]
        with torch.no_grad():
            answer = model(torch.tensor([ids]))
        if arch == "bert":  # pooling_type mean; length 1, as in llama.cpp
            expected = torch.nn.functional.normalize(answer.last_hidden_state.mean(1), dim=-1)
        else:
            expected = answer.logits
        converted.compare({"expected": expected.numpy()}, converted.outputs("--ids", listed(ids)))
    return converted


def cases(command):
    for arch in KINDS:
        for kind in types():
            yield f"gguf/{arch}-{kind}", functools.partial(check, arch, kind)

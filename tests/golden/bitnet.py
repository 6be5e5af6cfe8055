#!/usr/bin/env python3
"""bitnet.py FOLDER: tiny decoders with ternary weights (BitNet b1.58), as transformers saves and loads them, and its answers.

Writes FOLDER/NAME for each way in which such weights are stored: config.json, model.safetensors and expected.jsonl: ids, logits of every
token, and the same without rounding activations (exact). "online": the weights of training, which every pass rounds; "packed": four weights a byte, times weight_scale; "divided": the
same of a Llama, whose sums are divided by weight_scale ("bitlinear"). Activations are rounded to int8 by transformers, too.
Needs torch, transformers, safetensors and accelerate; with TORCHDYNAMO_DISABLE=1 nothing is compiled.
"""

import contextlib
import json
import pathlib
import random
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers.integrations import bitnet
from transformers.integrations.bitnet import WeightQuant, pack_weights

SHAPE = dict(
    vocab_size=61,
    hidden_size=24,
    num_attention_heads=4,
    num_key_value_heads=2,
    num_hidden_layers=2,
    intermediate_size=36,
    max_position_embeddings=24,
    tie_word_embeddings=False,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
MODELS = {
    "online": ("BitNet", dict(linear_class="autobitlinear", quantization_mode="online")),
    "packed": ("BitNet", dict(linear_class="autobitlinear", quantization_mode="offline")),
    "divided": ("Llama", dict(modules_to_not_convert=["lm_head"])),
}


def tensors_of(model, settings):
    """The tensors to save: of linear layers but the head the weights of training, or packed ones and their scale."""
    tensors = {name: value.clone() for name, value in model.state_dict().items()}
    for name, module in model.named_modules():
        if (
            not isinstance(module, torch.nn.Linear)
            or name == "lm_head"
            or settings.get("quantization_mode") == "online"
        ):
            continue
        rounded = WeightQuant.apply(module.weight.detach())
        scale = rounded.abs().max()
        tensors[f"{name}.weight"] = pack_weights((rounded / scale).round())
        divides = settings.get("linear_class") != "autobitlinear"
        tensors[f"{name}.weight_scale"] = (1 / scale if divides else scale).reshape(1)
    return tensors


@contextlib.contextmanager
def exact_activations():
    rounds, divides = bitnet.ActQuant, bitnet.BitLinear.activation_quant
    bitnet.ActQuant = type("Same", (), {"apply": staticmethod(lambda x: x)})
    bitnet.BitLinear.activation_quant = lambda self, x, num_bits=8: (x, torch.ones(()))
    try:
        yield
    finally:
        bitnet.ActQuant, bitnet.BitLinear.activation_quant = rounds, divides


def write(directory, family, settings, seed):
    torch.manual_seed(seed)
    config = getattr(transformers, f"{family}Config")(**SHAPE)
    model = getattr(transformers, f"{family}ForCausalLM")(config).float().eval()
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, 1.0 if "norm" in name else 0.0, 0.2 if "norm" in name else 0.3)
    directory.mkdir(parents=True, exist_ok=True)
    save_file(tensors_of(model, settings), directory / "model.safetensors", metadata={"format": "pt"})
    whole = config.to_dict()
    whole |= dict(architectures=[f"{family}ForCausalLM"], dtype="float32")
    whole["quantization_config"] = dict(quant_method="bitnet", **settings)
    (directory / "config.json").write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n")
    loaded = getattr(transformers, f"{family}ForCausalLM").from_pretrained(directory, dtype=torch.float32).eval()
    choose = random.Random(seed)

    def logits(ids):
        with torch.no_grad():
            rows = loaded(input_ids=torch.tensor([ids])).logits[0].tolist()
        return [[float(f"{value:.6g}") for value in row] for row in rows]

    with open(directory / "expected.jsonl", "w") as file:
        for length in (1, 2, 9):
            ids = [choose.randrange(3, SHAPE["vocab_size"]) for _ in range(length)]
            line = dict(ids=ids, logits=logits(ids))
            with exact_activations():
                line["exact"] = logits(ids)
            file.write(json.dumps(line).replace(" ", "") + "\n")


def main():
    for seed, (name, (family, settings)) in enumerate(MODELS.items()):
        write(pathlib.Path(sys.argv[1]) / name, family, settings, seed + 1)


if __name__ == "__main__":
    main()

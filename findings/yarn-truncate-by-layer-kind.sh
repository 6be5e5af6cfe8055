#!/usr/bin/env bash
# transformers 5.24.0: YaRN ignores "truncate" where rope_parameters are given by kind of layer.
#
# Guess: {"full_attention": {"rope_type": "yarn", "truncate": false, ...}, ...} obeys each key in it. The flat
# table of other models does, and gpt-oss sets truncate to false there.
# Seen (transformers 5.24.0, torch 2.15.0): Gemma 3 obeys beta_fast in the inner table, but not truncate. It looks for
# truncate beside the kinds of layers, where validation doesn't look. Nothing warns, and the range is rounded as before.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet transformers==5.24.0 torch==2.15.0
cat >"$work/show.py" <<'PYTHON'
import torch
import transformers
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM

SIZES = dict(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=2, head_dim=32, max_position_embeddings=2048, initializer_range=0.2)
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 512}


def flat(**settings):
    return LlamaForCausalLM, LlamaConfig(**SIZES, rope_parameters=YARN | settings)


def by_kind(beside, **settings):
    rope = {"full_attention": YARN | settings, "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
    kinds = ["sliding_attention", "full_attention"]
    return Gemma3ForCausalLM, Gemma3TextConfig(**SIZES, layer_types=kinds, rope_parameters=rope | beside)


def logits(model, config):
    torch.manual_seed(0)
    with torch.no_grad():
        return model(config).eval()(torch.arange(3, 63)[None]).logits


def change(says, plain, other):
    changed = (logits(*plain) - logits(*other)).abs().max().item()
    print(f"{says}: the logits change by {changed:.3g}")
    return changed


print("transformers", transformers.__version__, "torch", torch.__version__)
assert change("Llama, truncate false in the flat table", flat(), flat(truncate=False)) > 0.01
assert change("Gemma 3, beta_fast 8 in the inner table", by_kind({}), by_kind({}, beta_fast=8)) > 0.01
inner = change("Gemma 3, truncate false in the inner table", by_kind({}), by_kind({}, truncate=False))
beside = change("Gemma 3, truncate false beside the kinds", by_kind({}), by_kind({"truncate": False}))
assert inner == 0 and beside > 0.01, "the behaviour has changed"
PYTHON
"$work/venv/bin/python" "$work/show.py"

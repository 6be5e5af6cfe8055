#!/usr/bin/env bash
# transformers 5.24.0: NLLB's mixture of experts sends every token through experts 0 and 1, however many there are.
#
# Guess: the router chooses two experts for each token, so that the weights of every chosen expert matter.
# Seen (transformers 5.24.0, torch 2.15.0): with 8 experts, setting those of numbers 2 to 7 to zero changes no output,
# though the router gives them tokens. The layer makes a one-hot encoding of the router's mask, whose zeros and ones it
# takes for numbers of experts. transformers 4.57.1 with the same weights does use them. Nothing warns.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
cat >"$work/show.py" <<'PYTHON'
import sys

import torch
import transformers
from transformers import NllbMoeConfig, NllbMoeForConditionalGeneration

torch.manual_seed(0)
config = NllbMoeConfig(vocab_size=40, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32,
                       num_experts=8, encoder_sparse_step=1, decoder_sparse_step=1, init_std=0.5,
                       decoder_start_token_id=2)
model = NllbMoeForConditionalGeneration(config).eval()
ids = torch.tensor([[5, 6, 7, 8, 9, 10, 2]])


def scores():
    with torch.no_grad():
        return model(input_ids=ids, decoder_input_ids=ids).logits


before = scores()
changed = 0
for name, weights in model.named_parameters():
    if any(f".expert_{number}." in name for number in range(2, 8)):
        torch.nn.init.zeros_(weights)
        changed += 1
assert changed > 0
change = (scores() - before).abs().max().item()
print(f"transformers {transformers.__version__}: zeros in experts 2 to 7 change scores by {change:.3g}")
assert (change == 0) == (sys.argv[1] == "ignored"), "the behaviour has changed"
PYTHON
for version in "5.24.0 ignored" "4.57.1 used"; do
  read -r number expected <<<"$version"
  "$work/venv/bin/pip" install --quiet "transformers==$number" torch==2.15.0
  "$work/venv/bin/python" "$work/show.py" "$expected"
done

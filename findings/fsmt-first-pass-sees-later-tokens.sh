#!/usr/bin/env bash
# transformers 5.24.0: FSMT's decoder sees later tokens where it is given several and use_cache is not set.
#
# Guess: a causal decoder's scores of a token do not depend on the tokens behind it, with a cache and without.
# Seen (transformers 5.24.0, torch 2.15.0): with use_cache=False they do not. With use_cache=True, which is the default,
# the causal mask is left out whatever the number of decoder ids, as if each call had one id. generate() gives one id a
# call and is right; scoring a whole target in one call is not, and nothing warns.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet transformers==5.24.0 torch==2.15.0
cat >"$work/show.py" <<'PYTHON'
import torch
import transformers
from transformers import FSMTConfig, FSMTForConditionalGeneration

torch.manual_seed(0)
config = FSMTConfig(langs=["en", "de"], src_vocab_size=40, tgt_vocab_size=40, d_model=16, encoder_layers=1,
                    decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
                    decoder_ffn_dim=16, max_position_embeddings=32, init_std=0.5)
model = FSMTForConditionalGeneration(config).eval()
source = torch.tensor([[5, 6, 7, 2]])
SAME_BEGINNING = (torch.tensor([[2, 11, 12, 13]]), torch.tensor([[2, 11, 30, 31]]))


def change(**options):
    with torch.no_grad():
        first, second = (model(input_ids=source, decoder_input_ids=ids, **options).logits[0, :2] for ids in SAME_BEGINNING)
    changed = (first - second).abs().max().item()
    print(f"{options or 'default'}: scores of the first two tokens change by {changed:.3g} with the tokens behind them")
    return changed


print("transformers", transformers.__version__, "torch", torch.__version__)
assert change(use_cache=False) == 0
assert change(use_cache=True) > 0.01 and change() > 0.01, "the behaviour has changed"
PYTHON
"$work/venv/bin/python" "$work/show.py"

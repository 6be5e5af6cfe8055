#!/usr/bin/env bash
# transformers 5.24.0: Llama, Mistral and Qwen 3 accept partial_rotary_factor and rotate whole heads all the same.
#
# Guess: rope_parameters mean the same in each class, and 0.5 rotates half of each head, as in StableLM and GPT-NeoX.
# These settings are documented once for all classes, and validation takes this factor as known to every rope_type.
# Seen (transformers 5.24.0, torch 2.15.0): with rope_type "default" rope_parameters keep the factor, nothing warns and
# the logits stay the same to the last bit. With rope_type "proportional" the Llama obeys it. A converter that reads
# the factor for every class rotates half of what transformers rotates.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet transformers==5.24.0 torch==2.15.0
cat >"$work/show.py" <<'PYTHON'
import torch
import transformers

SIZES = dict(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=4, max_position_embeddings=128, pad_token_id=None, initializer_range=0.2)


def change(name, rope_type):
    found = []
    for factor in (1.0, 0.5):
        rope = {"rope_type": rope_type, "rope_theta": 10000.0, "partial_rotary_factor": factor}
        config = getattr(transformers, name + "Config")(**SIZES, rope_parameters=rope)
        assert config.rope_parameters["partial_rotary_factor"] == factor
        torch.manual_seed(0)
        with torch.no_grad():
            found.append(getattr(transformers, name + "ForCausalLM")(config).eval()(torch.arange(3, 27)[None]).logits)
    changed = (found[0] - found[1]).abs().max().item()
    print(f"{name}, {rope_type}: from factor 1.0 to 0.5 the logits change by {changed:.3g}")
    return changed


print("transformers", transformers.__version__, "torch", torch.__version__)
assert all(change(name, "default") > 0.01 for name in ("StableLm", "GPTNeoX"))
assert change("Llama", "proportional") > 0.01
assert not any([change(name, "default") for name in ("Llama", "Mistral", "Qwen3")]), "the behaviour has changed"
PYTHON
"$work/venv/bin/python" "$work/show.py"

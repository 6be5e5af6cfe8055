"""Writes expected.jsonl: rotary positions by transformers' own functions, for settings as they are published and lengths of texts.

Usage: python make_expected.py. Last run with transformers 5.23.0.
"""

import json
import pathlib

import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

SHAPE = dict(model_type="llama", vocab_size=32, hidden_size=256, intermediate_size=64, num_hidden_layers=1)
HEADS = dict(num_attention_heads=4, num_key_value_heads=2)
SHORT = [1 + i / 20 for i in range(32)]
LONG = [1.5 + i * i / 10 for i in range(32)]
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0)
# rope_parameters, positions of the model, lengths of texts
CASES = [
    (dict(rope_type="default", rope_theta=10000.0), 4096, [512]),
    (dict(rope_type="linear", rope_theta=10000.0, factor=4.0), 4096, [512]),
    (dict(rope_type="dynamic", rope_theta=10000.0, factor=4.0), 4096, [512, 4096]),
    (dict(rope_theta=500000.0, original_max_position_embeddings=8192, **LLAMA3), 131072, [512]),
    (dict(rope_theta=500000.0, original_max_position_embeddings=256, **{**LLAMA3, "factor": 32.0}), 8192, [512]),
    (dict(rope_type="yarn", rope_theta=1e6, factor=4.0, original_max_position_embeddings=32768), 131072, [512]),
    (dict(rope_type="yarn", rope_theta=10000.0, factor=16.0, original_max_position_embeddings=512), 8192, [700]),
    (
        dict(
            rope_type="yarn",
            rope_theta=10000.0,
            factor=40.0,
            original_max_position_embeddings=4096,
            beta_fast=20,
            beta_slow=2,
            mscale=0.7,
            mscale_all_dim=1.1,
            truncate=False,
        ),
        8192,
        [700],
    ),
    (
        dict(
            rope_type="yarn",
            rope_theta=10000.0,
            factor=2.0,
            original_max_position_embeddings=64,
            attention_factor=1.25,
        ),
        128,
        [128],
    ),
    (
        dict(
            rope_type="longrope",
            rope_theta=10000.0,
            short_factor=SHORT,
            long_factor=LONG,
            original_max_position_embeddings=256,
        ),
        4096,
        [64, 256, 300, 1000],
    ),
]
PARTS = [
    (dict(rope_type="linear", rope_theta=10000.0, factor=2.0, partial_rotary_factor=0.25), 2048, [512]),
    (
        dict(
            rope_type="yarn",
            rope_theta=10000.0,
            factor=8.0,
            original_max_position_embeddings=128,
            partial_rotary_factor=0.5,
        ),
        1024,
        [512],
    ),
]


def main():
    path = pathlib.Path(__file__).parent / "expected.jsonl"
    with open(path, "w") as file:
        for parameters, positions, lengths in CASES + PARTS:
            # Llama always rotates whole heads, so another model type is used.
            kind = {"model_type": "phi3"} if "partial_rotary_factor" in parameters else {}
            settings = {**SHAPE, **kind, **HEADS, "max_position_embeddings": positions, "rope_parameters": parameters}
            config = transformers.LlamaConfig(**json.loads(json.dumps(settings)))
            for length in lengths:
                if parameters["rope_type"] == "default":
                    width = config.hidden_size // config.num_attention_heads
                    steps = 1.0 / parameters["rope_theta"] ** (torch.arange(0, width, 2).float() / width)
                    amplitude = 1.0
                else:
                    steps, amplitude = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, seq_len=length)
                line = {"config": settings, "length": length, "steps": steps.tolist(), "amplitude": amplitude}
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()

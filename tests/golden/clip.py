#!/usr/bin/env python3
"""clip.py FOLDER PHOTO: a tiny CLIP of transformers with random weights and a tokenizer of its kind, and what it makes of texts and PHOTO.

Writes FOLDER: both towers as transformers saves a CLIPModel, tokenizer.json, preprocessor_config.json and expected.json: ids and vectors
(of length 1) of texts, the photo's pixels and vector, and the probabilities of LABELS by transformers' own product of the two.
Needs torch, transformers, tokenizers and Pillow.
"""

import json
import pathlib
import sys
import tempfile

import numpy
import torch
import transformers
from PIL import Image
from tokenizers.pre_tokenizers import ByteLevel

TEXTS = ["A photo of a cat.", "the  dog's 12 trams", "Ünïcode, 猫!", "", "cat " * 30]
LABELS = ["a cat", "a dog", "a tram"]
MERGES = ["c a", "ca t</w>", "d o", "do g</w>", "t h", "th e</w>", "o f</w>", "p h", "ph o", "pho t", "phot o</w>"]
TOWER = dict(hidden_size=20, num_hidden_layers=2, num_attention_heads=2, projection_dim=12)


def tokenizer(folder):
    """CLIP's byte pairs: letters, then letters that end a word, then what MERGES join, then the two that stand around a text."""
    letters = sorted(ByteLevel.alphabet())
    tokens = [*letters, *(letter + "</w>" for letter in letters), *(merge.replace(" ", "") for merge in MERGES)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place)
        (path / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
        (path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n", encoding="utf-8")
        made = transformers.CLIPTokenizerFast.from_pretrained(path, model_max_length=16)
    made.save_pretrained(folder)
    return made, vocabulary


def rounded(values):
    return values.flatten().numpy().astype(float).round(7).tolist()


def main():
    folder, photo = pathlib.Path(sys.argv[1]), Image.open(sys.argv[2]).convert("RGB")
    folder.mkdir(parents=True, exist_ok=True)
    words, vocabulary = tokenizer(folder)
    end = vocabulary["<|endoftext|>"]
    config = transformers.CLIPConfig(
        text_config=dict(
            vocab_size=len(vocabulary),
            intermediate_size=28,
            max_position_embeddings=16,
            bos_token_id=vocabulary["<|startoftext|>"],
            eos_token_id=end,
            pad_token_id=end,
            **TOWER,
        ),
        vision_config=dict(intermediate_size=24, image_size=12, patch_size=4, **TOWER),
        projection_dim=12,
    )
    torch.manual_seed(600)
    model = transformers.CLIPModel(config).eval()
    for key, parameter in model.named_parameters():
        if key != "logit_scale":
            parameter.data.normal_(0, 0.25)
        if "norm" in key and key.endswith("weight"):
            parameter.data.add_(1)
    model.save_pretrained(folder)
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 14}, crop_size={"height": 12, "width": 12}, do_center_crop=True, resample=3
    )
    processor.save_pretrained(folder)
    pixels = processor(photo, return_tensors="pt")["pixel_values"]

    def vector(text):
        ids = words(text, truncation=True, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            made = model.get_text_features(input_ids=ids)
        made = getattr(made, "pooler_output", made)
        return ids.flatten().tolist(), torch.nn.functional.normalize(made, dim=-1)

    with torch.no_grad():
        seen = model.get_image_features(pixel_values=pixels)
        seen = torch.nn.functional.normalize(getattr(seen, "pooler_output", seen), dim=-1)
        scores = torch.cat([vector(label)[1] for label in LABELS]) @ seen[0] * model.logit_scale.exp()
    texts = [{"text": text, "ids": vector(text)[0], "vector": rounded(vector(text)[1])} for text in TEXTS]
    expected = {
        "texts": texts,
        "pixels": numpy.round(pixels.flatten().numpy().astype(float), 6).tolist(),
        "image": rounded(seen),
        "labels": {label: float(p) for label, p in zip(LABELS, rounded(scores.softmax(0)))},
    }
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

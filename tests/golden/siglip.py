#!/usr/bin/env python3
"""siglip.py FOLDER PHOTO: a tiny SigLIP of transformers with random weights and a tokenizer of its kind, and what it makes of texts and PHOTO.

Writes FOLDER: both towers as transformers saves a SiglipModel, spiece.model and tokenizer_config.json, preprocessor_config.json and
expected.json: ids (as many as the model has positions, what fills texts up included) and vectors (of length 1) of texts, the photo's pixels and vector, and
the scores of LABELS by transformers' zero-shot pipeline. Needs torch, transformers, sentencepiece and Pillow.
"""

import json
import pathlib
import sys
import tempfile

import numpy
import sentencepiece
import torch
import transformers
from PIL import Image

TEXTS = [
    "A photo of a cat.",
    "the  dog's 12 trams, (and) 3 CATS!",
    "  Ünïcode, \t猫!\n",
    "",
    "?!",
    "x\u3000y ﬁve \u2581low",
    "cat " * 50,
]
LABELS = ["cat", "dog", "yellow tram"]
PLACES = 24
RULES = {"ﬁ": "fi", "\u3000": " "}  # of the model's own normaliser
CORPUS = [
    "this is a photo of a cat",
    "this is a photo of a dog",
    "a photo of the yellow tram and of two cats",
    "the dog and the cat look at five trams",
    "low and slow trams follow the yellow line 1 2 3 4 5",
]
TOWER = dict(hidden_size=20, num_hidden_layers=2, num_attention_heads=2)


def tokenizer(folder):
    """Pieces of CORPUS by SentencePiece's unigram model; numbers 0 to 2 are <pad>, </s> and <unk>, as SigLIP's are."""
    with tempfile.TemporaryDirectory() as place:
        rules = pathlib.Path(place) / "rules.tsv"
        rules.write_text("".join(f"{ord(c):X}\t{' '.join(f'{ord(o):X}' for o in out)}\n" for c, out in RULES.items()))
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS * 20),
            model_prefix=f"{place}/spiece",
            vocab_size=72,
            hard_vocab_limit=False,
            model_type="unigram",
            pad_id=0,
            eos_id=1,
            unk_id=2,
            bos_id=-1,
            normalization_rule_tsv=str(rules),
            minloglevel=2,
        )
        (folder / "spiece.model").write_bytes(pathlib.Path(f"{place}/spiece.model").read_bytes())
    settings = {"tokenizer_class": "SiglipTokenizer", "do_lower_case": True, "model_max_length": PLACES}
    settings |= {"model_input_names": ["input_ids"], "pad_token": "</s>", "eos_token": "</s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    return transformers.SiglipTokenizer.from_pretrained(folder)


def rounded(values):
    return values.flatten().numpy().astype(float).round(7).tolist()


def main():
    folder, photo = pathlib.Path(sys.argv[1]), Image.open(sys.argv[2]).convert("RGB")
    folder.mkdir(parents=True, exist_ok=True)
    words = tokenizer(folder)
    config = transformers.SiglipConfig(
        text_config=dict(
            vocab_size=len(words),
            intermediate_size=28,
            max_position_embeddings=PLACES,
            projection_size=20,
            bos_token_id=None,
            eos_token_id=1,
            pad_token_id=1,
            **TOWER,
        ),
        vision_config=dict(intermediate_size=24, image_size=12, patch_size=4, **TOWER),
    )
    torch.manual_seed(610)
    model = transformers.SiglipModel(config).eval()
    for key, parameter in model.named_parameters():
        parameter.data.normal_(0, 0.25)
        if "norm" in key and key.endswith("weight"):
            parameter.data.add_(1)
    model.logit_scale.data.fill_(2.5)
    model.logit_bias.data.fill_(-1.25)
    model.save_pretrained(folder)
    processor = transformers.SiglipImageProcessorPil(size={"height": 12, "width": 12}, resample=3)
    processor.save_pretrained(folder)
    pixels = processor(photo, return_tensors="pt")["pixel_values"]

    def vector(text):
        ids = words(text, padding="max_length", max_length=PLACES, truncation=True, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            made = model.get_text_features(input_ids=ids).pooler_output
        return ids.flatten().tolist(), torch.nn.functional.normalize(made, dim=-1)

    with torch.no_grad():
        seen = torch.nn.functional.normalize(model.get_image_features(pixel_values=pixels).pooler_output, dim=-1)
        hypotheses = [f"This is a photo of {label}." for label in LABELS]
        ids = words(hypotheses, padding="max_length", max_length=PLACES, truncation=True, return_tensors="pt")[
            "input_ids"
        ]
        logits = model(input_ids=ids, pixel_values=pixels).logits_per_image[0]
    texts = [{"text": text, "ids": vector(text)[0], "vector": rounded(vector(text)[1])} for text in TEXTS]
    expected = {
        "texts": texts,
        "pixels": numpy.round(pixels.flatten().numpy().astype(float), 6).tolist(),
        "image": rounded(seen),
        "labels": {label: float(p) for label, p in zip(LABELS, rounded(logits.sigmoid()))},
    }
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

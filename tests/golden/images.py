#!/usr/bin/env python3
"""images.py FOLDER: tiny vision transformers of transformers with random weights, and what they make of FOLDER/photo.ppm.

Writes FOLDER/NAME/ for each of LAYOUTS: config.json, model.safetensors, preprocessor_config.json and expected.json: the pixels that
the processor makes of the photo, in transformers' order [channels][rows][columns], and the outputs of the model. Needs torch, transformers and
Pillow; `photo.ppm` and `photo.jpg` are drawn here, too.
"""

import json
import math
import pathlib
import sys

import numpy
import torch
import transformers
from PIL import Image, ImageDraw

SMALL = dict(hidden_size=20, num_hidden_layers=2, num_attention_heads=2, image_size=12, patch_size=4)
NAMES = dict(id2label={0: "cat", 1: "dog", 2: "tram"}, label2id={"cat": 0, "dog": 1, "tram": 2})
STRETCHED = dict(size={"height": 12, "width": 12}, resample=2)
CUT = dict(
    size={"shortest_edge": 14},
    crop_size={"height": 12, "width": 12},
    do_center_crop=True,
    resample=3,
    image_mean=[0.485, 0.456, 0.406],
    image_std=[0.229, 0.224, 0.225],
)
# name: class, configuration, processor's settings, outputs by bantam's names
LAYOUTS = {
    "vit-classify": (
        transformers.ViTForImageClassification,
        transformers.ViTConfig(intermediate_size=24, **SMALL, **NAMES),
        STRETCHED,
        ["logits"],
    ),
    "vit-encoder": (
        transformers.ViTModel,
        transformers.ViTConfig(intermediate_size=28, **{**SMALL, "image_size": (8, 12), "qkv_bias": False}),
        dict(size={"height": 8, "width": 12}, resample=1, do_normalize=False),
        ["last_hidden_state", "pooler_output"],
    ),
    "deit-classify": (
        transformers.DeiTForImageClassification,
        transformers.DeiTConfig(intermediate_size=24, **SMALL, **NAMES),
        CUT,
        ["logits"],
    ),
    "deit-teacher": (
        transformers.DeiTForImageClassificationWithTeacher,
        transformers.DeiTConfig(intermediate_size=24, **SMALL, **NAMES),
        CUT,
        ["logits"],
    ),
    "dinov2-classify": (
        transformers.Dinov2ForImageClassification,
        transformers.Dinov2Config(mlp_ratio=4, **SMALL, **NAMES),
        CUT,
        ["logits"],
    ),
    "dinov2-encoder": (
        transformers.Dinov2Model,
        transformers.Dinov2Config(mlp_ratio=4, **SMALL),
        CUT,
        ["last_hidden_state"],
    ),
}


def photo():
    image = Image.new("RGB", (37, 29))
    pixels = image.load()
    for y in range(29):
        for x in range(37):
            pixels[x, y] = (7 * x % 256, 255 - 8 * y, int(127 + 120 * math.sin(x * y / 40)))
    draw = ImageDraw.Draw(image)
    draw.ellipse((5, 4, 21, 19), fill=(240, 30, 90))
    draw.rectangle((22, 12, 33, 26), fill=(10, 200, 60))
    return image


def make(folder, name, seed):
    model_class, config, settings, outputs = LAYOUTS[name]
    torch.manual_seed(seed)
    model = model_class(config).eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.25)
    for key, parameter in model.named_parameters():
        if "norm" in key and key.endswith("weight"):
            parameter.data.add_(1)
    directory = folder / name
    model.save_pretrained(directory)
    processor = transformers.ViTImageProcessorPil(**settings)
    processor.save_pretrained(directory)
    pixels = processor(Image.open(folder / "photo.ppm").convert("RGB"), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        answer = model(pixel_values=pixels)
    expected = {
        "pixels": numpy.round(pixels.flatten().numpy().astype(float), 6).tolist(),
        "outputs": {key: getattr(answer, key).flatten().numpy().astype(float).round(7).tolist() for key in outputs},
    }
    (directory / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    photo().save(folder / "photo.ppm")
    photo().save(folder / "photo.jpg", quality=90)
    Image.open(folder / "photo.jpg").save(folder / "photo_of_jpg.ppm")
    for seed, name in enumerate(LAYOUTS, start=500):
        make(folder, name, seed)


if __name__ == "__main__":
    main()

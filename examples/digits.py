#!/usr/bin/env python3
"""digits.py DATA FOLDER: trains a vision transformer of 0.14 million weights to read handwritten digits of 8 by 8 pixels.

DATA holds train.jsonl and test.jsonl, an image a line: {"label": 7, "pixels": [0, 0, 5, 13, ...]} with 64 shades from 0 to 16, row by row (the
digits of UCI's "Optical Recognition of Handwritten Digits", as scikit-learn has them). Writes

  FOLDER/model       the model as transformers saves it, to be converted with `bantam convert FOLDER/model -o digits.bantam`
  FOLDER/images      the test images as PGM files
  FOLDER/test.jsonl  their names and labels, for `bantam eval digits.bantam FOLDER/test.jsonl`

Needs torch and transformers; a minute on one core. --epochs, --seed: how long and from which weights. The same seed gives the same model on the same machine.
"""

import argparse
import json
import pathlib

import torch
import transformers

SIDE, SHADES = 8, 16
MODEL = dict(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128, patch_size=2)
SPREAD = 0.1  # of first weights: with transformers' 0.02 so narrow a model learns slowly


def read(path):
    """Images [count, 1, 8, 8] of shades from 0 to 255, as the files have them, and labels."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    shades = torch.tensor([line["pixels"] for line in lines], dtype=torch.float32) * (255 / SHADES)
    return shades.round().reshape(-1, 1, SIDE, SIDE), torch.tensor([line["label"] for line in lines])


def numbers(shades):
    """What preprocessor_config.json has made of them: from -1 to 1."""
    return shades / 127.5 - 1


def moved(shades, generator):
    """Each image moved by up to one pixel, a little lighter or darker."""
    count = len(shades)
    padded = torch.nn.functional.pad(shades, (1, 1, 1, 1))
    x, y = (torch.randint(0, 3, (count,), generator=generator) for _ in range(2))
    rows = y[:, None, None] + torch.arange(SIDE)[None, :, None]
    columns = x[:, None, None] + torch.arange(SIDE)[None, None, :]
    cut = padded[torch.arange(count)[:, None, None], 0, rows, columns].unsqueeze(1)
    return (cut * (0.8 + 0.4 * torch.rand((count, 1, 1, 1), generator=generator))).clamp(0, 255)


def train(shades, labels, epochs, seed):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    names = {number: str(number) for number in range(10)}
    numbered = {name: number for number, name in names.items()}
    config = transformers.ViTConfig(
        image_size=SIDE, num_channels=1, initializer_range=SPREAD, id2label=names, label2id=numbered, **MODEL
    )
    model = transformers.ViTForImageClassification(config)
    batch, steps = 64, epochs * -(-len(shades) // 64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for chosen in torch.randperm(len(shades), generator=generator).split(batch):
            logits = model(pixel_values=numbers(moved(shades[chosen], generator))).logits
            loss = torch.nn.functional.cross_entropy(logits, labels[chosen], label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(chosen)
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1}: loss {total / len(shades):.4f}", flush=True)
    return model.eval()


def write(folder, model, shades, labels):
    model.save_pretrained(folder / "model")
    processor = {
        "image_processor_type": "ViTImageProcessor",
        "size": {"height": SIDE, "width": SIDE},
        "image_mean": [0.5],
        "image_std": [0.5],
        "rescale_factor": 1 / 255,
        "resample": 2,
    }
    (folder / "model" / "preprocessor_config.json").write_text(json.dumps(processor, indent=2) + "\n", encoding="utf-8")
    (folder / "images").mkdir(exist_ok=True)
    lines = []
    for number, (image, label) in enumerate(zip(shades, labels)):
        path = folder / "images" / f"{number:03}.pgm"
        path.write_bytes(f"P5 {SIDE} {SIDE} 255\n".encode() + bytes(image.flatten().to(torch.uint8).tolist()))
        lines.append(json.dumps({"text": str(path.resolve()), "label": str(int(label))}))
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    shades, labels = read(asked.data / "train.jsonl")
    model = train(shades, labels, asked.epochs, asked.seed)
    shades, labels = read(asked.data / "test.jsonl")
    with torch.no_grad():
        right = model(pixel_values=numbers(shades)).logits.argmax(-1) == labels
    print(f"accuracy {100 * right.float().mean():.2f} of {len(labels)} test images, {model.num_parameters()} weights")
    asked.folder.mkdir(parents=True, exist_ok=True)
    write(asked.folder, model, shades, labels)


if __name__ == "__main__":
    main()

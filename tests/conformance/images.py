#!/usr/bin/env python3
"""images.py COMMAND: compares pixels of image files with those of transformers' processors.

Draws images of many sizes and kinds (odd, tiny, long, gray, palettes, transparent, interlaced, 16 bits, EXIF
orientations, JPEG with each subsampling), and compares the output of `bantam run FILE IMAGE --frame` for each file with
that of the processors of ViT, DeiT, CLIP, SigLIP and BiT after transformers' load_image: with Pillow, and with
torchvision, which transformers 5 uses if installed. Fails if more than one value in a thousand differs by more than 1
of 255. Needs torch, transformers and Pillow, and uses torchvision if installed. Exit status 77 if they are missing.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy
    import torch
    import transformers
    from PIL import Image
    from transformers.image_utils import load_image
except ImportError as error:
    print(f"images.py: {error}; pip install -r tests/conformance/requirements.txt")
    sys.exit(77)

SIDE = 224
NEAR, SHARE = 1.01, 0.001
SIZES = [(37, 29), (640, 480), (333, 481), (SIDE, SIDE), (12, 12), (3, 2), (1, 1), (5, 300), (1000, 31), (1200, 900)]
FAMILIES = {
    "ViT": ("vit", {}),
    "DeiT": ("deit", {}),
    "CLIP": ("clip", {}),
    "Siglip": ("siglip", {}),
    "Bit": ("bit", {"size": {"shortest_edge": 256}}),
}


def picture(random, width, height):
    y, x = numpy.mgrid[0:height, 0:width]
    colours = numpy.stack([(7 * x + 3 * y) % 256, 255 - (8 * y) % 256, 127 + 120 * numpy.sin(x * y / 40)], -1)
    colours = colours + random.normal(0, 20, colours.shape)
    colours[height // 4 : height // 2, width // 4 : width // 2] = random.integers(0, 256, 3)
    return Image.fromarray(numpy.clip(colours, 0, 255).astype("uint8"))


def wide_png(path, values, colour):
    """Writes a PNG of 16 bits per channel, which Pillow cannot write."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = values.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    body = chunk(b"IHDR", header) + chunk(b"gAMA", struct.pack(">I", 60000)) + chunk(b"IDAT", zlib.compress(rows))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b""))


def draw(folder):
    random = numpy.random.default_rng(1)
    for width, height in SIZES:
        picture(random, width, height).save(folder / f"{width}x{height}.png")
    base = picture(random, 123, 77)
    for mode in ("L", "1", "LA"):
        base.convert(mode).save(folder / f"mode-{mode}.png")
    clear = base.copy()
    clear.putalpha(Image.fromarray(random.integers(0, 256, (77, 123)).astype("uint8")))
    clear.save(folder / "mode-RGBA.png")
    palette = base.convert("P", palette=Image.Palette.ADAPTIVE, colors=37)
    palette.save(folder / "palette.png")
    palette.save(folder / "palette-clear.png", transparency=3)
    palette.save(folder / "palette-alpha.png", transparency=bytes(range(0, 256, 8)))
    base.save(folder / "one-clear.png", transparency=(7, 255, 127))
    wide_png(folder / "wide.png", random.integers(0, 65536, (45, 61, 3)), 2)
    wide_png(folder / "wide-alpha.png", random.integers(0, 65536, (45, 61, 4)), 6)
    for direction in range(1, 9):
        exif = Image.Exif()
        exif[0x112] = direction
        base.save(folder / f"direction-{direction}.jpg", exif=exif, quality=92)
    exif[0x112] = 6
    base.save(folder / "direction-6.png", exif=exif)
    base.convert("L").save(folder / "grey.jpg", quality=88)
    for sampling in range(3):
        picture(random, 321, 217).save(folder / f"sampling-{sampling}.jpg", quality=80, subsampling=sampling)
    picture(random, 321, 217).save(folder / "progressive.jpg", quality=75, progressive=True)
    base.save(folder / "photo.ppm")
    return sorted(path for path in folder.iterdir())


def processors(name, settings):
    """The processors with Pillow, and with torchvision."""
    module, settings = settings
    made = {}
    for backend, ending in (("Pillow", "Pil"), ("torchvision", "")):
        package = f"transformers.models.{module}.image_processing_{'pil_' if ending else ''}{module}"
        try:
            found = getattr(__import__(package, fromlist=["x"]), f"{name}ImageProcessor{ending}")
            made[backend] = found(**settings)
        except ImportError as error:
            print(f"{name}: not compared with {backend}: {error}")
    return made


def loaded(path):
    image = load_image(str(path))
    # load_image has dropped transparency; processors that found its color again would paint it white.
    image.info.pop("transparency", None)
    return image


def pixels(processor, image):
    values = numpy.asarray(processor(image, return_tensors="pt")["pixel_values"][0]).transpose(1, 2, 0)
    return (values * numpy.array(processor.image_std) + numpy.array(processor.image_mean)) * 255


def main():
    command = sys.argv[1]
    torch.manual_seed(1)
    config = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, image_size=SIDE, patch_size=16
    )
    model = transformers.ViTModel(config)
    worst, compared, failures = 0.0, 0, 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "images").mkdir()
        files = draw(folder / "images")
        for name, settings in FAMILIES.items():
            made = processors(name, settings)
            model.save_pretrained(folder / name)
            next(iter(made.values())).save_pretrained(folder / name)
            file = folder / f"{name}.bantam"
            options = ["--task", "embed", "--parity", "none", "--weights", "f32"]
            subprocess.run([command, "convert", folder / name, "-o", file, *options], check=True, capture_output=True)
            for path in files:
                done = subprocess.run([command, "run", file, path, "--frame"], capture_output=True, text=True)
                if "this build reads no" in done.stderr:
                    continue
                if done.returncode != 0:
                    sys.exit(f"{path.name}: {done.stderr}")
                found = numpy.frombuffer(bytes.fromhex(done.stdout), "uint8").reshape(SIDE, SIDE, 3)
                image = loaded(path)
                for backend, processor in made.items():
                    # Pillow 13 resizes tall images vertically first, which is less work, and rounds in between: its
                    # overshoots differ from those of torchvision and of older Pillow.
                    if backend == "Pillow" and image.height > image.width:
                        continue
                    away = numpy.abs(pixels(processor, image) - found)
                    share = float((away > NEAR).mean())
                    worst, compared = max(worst, share), compared + 1
                    if share > SHARE:
                        failures += 1
                        print(f"{name}, {backend}, {path.name}: {share:.2%} of values are further than 1 away")
    print(f"{compared} comparisons; at most {worst:.4%} of values are further than 1 of 255 away")
    if failures or compared == 0:
        sys.exit(f"{failures} comparisons failed")


if __name__ == "__main__":
    main()

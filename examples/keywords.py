#!/usr/bin/env python3
"""keywords.py DATA: synthetic speech of ten keywords and an untrained transformer for it, as docs/audio.md trains and measures it.

Everything is made by espeak-ng (and, for one test, by flite): no person has spoken, and scores say nothing of people's voices. DATA gets

  train, valid, test   WAV files of a second, 16 kHz, and their .jsonl for `bantam distill` and `bantam eval`. Voices of each are in none of
                       the others, and other words than keywords ("_unknown_") are other ones in each
  flite                the same of another synthesiser's voices, where flite is installed
  untrained            a directory of transformers with random weights: ViTForImageClassification, whose picture is 1 high, 49 wide and has
                       40 channels: the rows of bantam/sound.h

A clip is a word at a random place, speed and pitch, half of them in a room (decaying echoes), with noise (white, pink, hum or other words)
5 to 30 dB below it, at a random loudness; "_silence_" is noise alone. Needs numpy, espeak-ng. The same seed gives the same files.
"""

import argparse
import io
import json
import pathlib
import shutil
import struct
import subprocess
import wave

import numpy

RATE, LENGTH, ROWS, BANDS = 16000, 16000, 49, 40
KEYWORDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
SILENCE, UNKNOWN = "_silence_", "_unknown_"
LABELS = [SILENCE, UNKNOWN, *KEYWORDS]
ACCENTS = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-us-nyc", "en-gb-x-gbclan", "en-gb-x-gbcwmd"]
VOICES = {
    "train": "m1 m2 m4 m5 m6 m8 f1 f2 f5 adam Alex Andrea Andy anika antonio belinda boris caleb david Denis ed edward "
    "gustave iven iven2 Jacky john klatt klatt2 klatt4 Lee linda marcelo Marco michel miguel Mike norbert pablo "
    "paul quincy rob sandro shelby steph steph2 travis zac croak Storm Tweaky",
    "valid": "m7 f3 Annie benjamin edward2 klatt3 Mario pedro victor max",
    "test": "m3 f4 Alicia aunty Diogo Gene grandma grandpa Hugo kaukovalta klatt5 Michael Nguyen robert steph3",
}
OTHERS = {
    "train": "cat dog house tree bird happy wow bed zero one two three four five seven nine table window water music "
    "light lamp garden paper monday kitchen yellow orange listen number ticket summer river doctor button camera "
    "coffee silver market letter network people planet robot season travel under voice winter yard",
    "valid": "six eight marvin sheila green apple bottle carpet finger hammer island jacket little mirror pencil",
    "test": "backward forward follow learn visual basket candle desert engine father guitar hotel insect jungle kettle "
    "lemon mother needle office pocket rabbit school thunder uncle valley",
}
FLITE = ["kal16", "awb", "rms", "slt"]
COUNTS = {"train": 500, "valid": 40, "test": 80, "flite": 60}  # clips a keyword; three times as many of other words
MODEL = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 128}


def read_wave(data):
    """Samples from -1 to 1, at 16 kHz."""
    with wave.open(io.BytesIO(data)) as file:
        rate, frames = file.getframerate(), file.readframes(file.getnframes())
    samples = numpy.frombuffer(frames[: len(frames) // 2 * 2], "<i2") / 32768
    count = int(len(samples) * RATE / rate)
    spectrum = numpy.fft.rfft(samples)[: count // 2 + 1]  # band-limited: what lies above half of the new rate goes
    return numpy.fft.irfft(spectrum, count) * (count / max(1, len(samples)))


class Speaker:
    def __init__(self, part, random):
        self.part, self.random = part, random
        self.flite = part == "flite"
        self.voices = FLITE if self.flite else VOICES[part].split()
        self.others = OTHERS["test" if self.flite else part].split()

    def say(self, word):
        """The word, without the silence around it."""
        random, voice = self.random, self.random.choice(self.voices)
        if self.flite:
            stretch = random.uniform(0.8, 1.2)
            command = ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch:.2f}", "-t", word, "/dev/stdout"]
        else:
            accent = random.choice(ACCENTS)
            command = ["espeak-ng", "-v", f"{accent}+{voice}", "-s", str(random.integers(120, 230))]
            command += ["-p", str(random.integers(15, 85)), "--stdout", word]
        sound = read_wave(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        loud = numpy.flatnonzero(numpy.abs(sound) > 0.01 * numpy.abs(sound).max(initial=1e-9))
        return sound[loud[0] : loud[-1] + 1] if len(loud) else sound

    def noise(self):
        random, kind = self.random, self.random.integers(4)
        white = random.standard_normal(LENGTH)
        if kind == 1:  # as loud in each octave
            spectrum = numpy.fft.rfft(white)
            white = numpy.fft.irfft(spectrum / numpy.sqrt(numpy.maximum(1, numpy.arange(len(spectrum)))), LENGTH)
        if kind == 2:
            time = numpy.arange(LENGTH) / RATE
            hum = sum(numpy.sin(2 * numpy.pi * 50 * k * time + random.uniform(0, 6.28)) / k for k in (1, 2, 3, 5))
            white = hum + 0.3 * white
        if kind == 3:
            white *= 0.01
            for _ in range(4):
                white += placed(self.say(random.choice(self.others)), random)
        return white / max(1e-9, numpy.sqrt(numpy.mean(white**2)))

    def clip(self, label):
        random = self.random
        sound = numpy.zeros(LENGTH)
        if label != SILENCE:
            word = random.choice(self.others) if label == UNKNOWN else label
            spoken = self.say(word)
            if random.integers(2):
                decay = numpy.exp(-numpy.arange(RATE // 4) / RATE * 6.9 / random.uniform(0.05, 0.4))
                room = decay * random.standard_normal(len(decay)) * random.uniform(0.02, 0.1)
                room[0] = 1
                size = len(spoken) + len(room)
                spoken = numpy.fft.irfft(numpy.fft.rfft(spoken, size) * numpy.fft.rfft(room, size), size)
            sound = placed(spoken, random)
        level = numpy.sqrt(numpy.mean(sound**2)) if label != SILENCE else 0.02
        sound = sound + self.noise() * level * 10 ** (-random.uniform(5, 30) / 20)
        sound *= 10 ** (-random.uniform(2, 26) / 20) / max(1e-9, numpy.abs(sound).max())
        return numpy.round(sound * 32767).astype("<i2")


def placed(spoken, random):
    """A second with the word at a random place; of a longer one the middle."""
    out = numpy.zeros(LENGTH)
    if len(spoken) >= LENGTH:
        first = (len(spoken) - LENGTH) // 2
        return spoken[first : first + LENGTH].copy()
    at = random.integers(LENGTH - len(spoken) + 1)
    out[at : at + len(spoken)] = spoken
    return out


def write_part(folder, part, count, seed):
    speaker = Speaker(part, numpy.random.default_rng([seed, sorted(COUNTS).index(part)]))
    (folder / part).mkdir(parents=True, exist_ok=True)
    lines = []
    for label in LABELS:
        for number in range(3 * count if label == UNKNOWN else count):
            path = folder / part / f"{label.strip('_')}-{number:04}.wav"
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE)
                file.writeframes(speaker.clip(label).tobytes())
            lines.append(json.dumps({"text": str(path.resolve()), "label": label}))
    (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{part}: {len(lines)} clips, {len(speaker.voices)} voices", flush=True)


def random_tensors(settings, seed):
    """Weights as Glorot and Bengio have them, in the names of ViTForImageClassification."""
    random, tensors = numpy.random.default_rng(seed), {}
    hidden, inner = settings["hidden_size"], settings["intermediate_size"]

    def linear(name, rows, columns, shape=None):
        spread = (2 / (rows + columns)) ** 0.5
        tensors[f"{name}.weight"] = (random.standard_normal((rows, columns)) * spread).reshape(shape or (rows, columns))
        tensors[f"{name}.bias"] = numpy.zeros(rows)

    def norm(name):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = numpy.ones(hidden), numpy.zeros(hidden)

    columns = settings["num_channels"]
    tokens = settings["image_size"][1]
    tensors["vit.embeddings.cls_token"] = random.standard_normal((1, 1, hidden)) / 10
    tensors["vit.embeddings.position_embeddings"] = random.standard_normal((1, tokens + 1, hidden)) / 10
    linear("vit.embeddings.patch_embeddings.projection", hidden, columns, (hidden, columns, 1, 1))
    for number in range(settings["num_hidden_layers"]):
        layer = f"vit.encoder.layer.{number}."
        for name in ("query", "key", "value"):
            linear(f"{layer}attention.attention.{name}", hidden, hidden)
        linear(f"{layer}attention.output.dense", hidden, hidden)
        linear(f"{layer}intermediate.dense", inner, hidden)
        linear(f"{layer}output.dense", hidden, inner)
        norm(f"{layer}layernorm_before")
        norm(f"{layer}layernorm_after")
    norm("vit.layernorm")
    linear("classifier", len(settings["id2label"]), hidden)
    return tensors


def write_untrained(folder, labels, rows, columns, model, processor, seed):
    """config.json, preprocessor_config.json and model.safetensors of a transformer over `rows` of `columns` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_act": "gelu", **model}
    config |= {"image_size": [1, rows], "patch_size": 1, "num_channels": columns, "layer_norm_eps": 1e-6}
    config["id2label"] = {str(number): label for number, label in enumerate(labels)}
    config["label2id"] = {label: number for number, label in enumerate(labels)}
    processor = {"do_resize": False, "rescale_factor": 1 / 255, **processor}
    for name, content in (("config.json", config), ("preprocessor_config.json", processor)):
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    header, body = {}, b""
    for name, values in sorted(random_tensors(config, seed).items()):
        data = values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--share", type=float, default=1, help="of the clips that are made otherwise (for a quick look)"
    )
    asked = parser.parse_args()
    for part, count in COUNTS.items():
        if part != "flite" or shutil.which("flite"):
            write_part(asked.data, part, max(1, int(count * asked.share)), asked.seed)
    filters = {"sampling_rate": RATE, "win_length": 480, "hop_length": 320, "n_fft": 512, "num_mel_bins": BANDS}
    processor = {"feature_extractor_type": "FilterBank", **filters, "image_mean": 0.4, "image_std": 0.25}
    write_untrained(asked.data / "untrained", LABELS, ROWS, BANDS, MODEL, processor, asked.seed)


if __name__ == "__main__":
    main()

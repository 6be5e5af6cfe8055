"""Students of Marian (Bergamot's) in its own binary format: a reader and a writer of that format, the network in plain NumPy (encoder layers with
norms behind their parts, decoder layers with SSRU cells: Kim et al., "From Research to Production and Back", WNGT 2019), and small random ones.

As a program it compares a published student with itself: marian.py DIRECTORY FILE prints what the reference makes of each line, greedily.
"""

import json
import pathlib
import random
import struct
import sys

import numpy
import sentencepiece

ALIGNMENT = 256
TYPES = {"f32": 0x404, "intgemm8": 0x4101, "i8": 0x101}
END = 0
UNKNOWN = 1

WORDS = "the a cat dog sun rain runs sings sees likes and or when far near old new caf\u00e9".split()
FOREIGN = "der ein Katze Hund Sonne l\u00e4uft singt sieht mag und oder wenn fern nah alt neu \u00fcber".split()
COMMON = {"dim-emb": 20, "transformer-heads": 4, "transformer-dim-ffn": 28, "enc-depth": 2, "dec-depth": 2}
LAYOUTS = {
    # One table for both sides; f32, as Marian trains it.
    "marian-ssru": {
        "type": "f32",
        "apart": False,
        "activation": "relu",
        "end": 5.0,
        "settings": {"tied-embeddings-all": "true"},
    },
    # Integers; a table and a vocabulary of each side, in which bytes stand for what has no piece.
    "marian-ssru-apart": {
        "type": "intgemm8",
        "apart": True,
        "activation": "swish",
        "end": 5.0,
        "settings": {
            "tied-embeddings-all": "false",
            "tied-embeddings": "true",
            "transformer-decoder-dim-ffn": "20",
        },
    },
}


def read(path):
    """Items by name: (number of the type, shape, bytes)."""
    data = pathlib.Path(path).read_bytes()
    version, count = struct.unpack_from("<QQ", data)
    assert version == 1
    heads = [struct.unpack_from("<QQQQ", data, 16 + 32 * i) for i in range(count)]
    at = 16 + 32 * count
    names, shapes = [], []
    for length, _, _, _ in heads:
        names.append(data[at : at + length - 1].decode())
        at += length
    for _, _, extents, _ in heads:
        shapes.append(struct.unpack_from(f"<{extents}i", data, at))
        at += 4 * extents
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    items = {}
    for name, shape, (_, kind, _, size) in zip(names, shapes, heads, strict=True):
        items[name] = (kind, shape, data[at : at + size])
        at += size
    return items


def write(path, items):
    """The same back; bytes are filled up to a multiple of 256."""
    names = [name.encode() + b"\0" for name in items]
    padded = [data + bytes(-len(data) % ALIGNMENT) for _, _, data in items.values()]
    out = struct.pack("<QQ", 1, len(items))
    for name, (kind, shape, _), data in zip(names, items.values(), padded, strict=True):
        out += struct.pack("<QQQQ", len(name), kind, len(shape), len(data))
    out += b"".join(names)
    for _, shape, _ in items.values():
        out += struct.pack(f"<{len(shape)}i", *shape)
    gap = -(len(out) + 8) % ALIGNMENT
    pathlib.Path(path).write_bytes(out + struct.pack("<Q", gap) + bytes(gap) + b"".join(padded))


def is_table(name):
    return name.endswith("Wemb")


def stored(name, values, kind):
    """A tensor as an item: integers of 8 bits have one factor, and matrices of them are turned."""
    if kind == "f32" or "_W" not in "_" + name or "_ln_" in name:
        return TYPES["f32"], values.shape, values.astype("<f4").tobytes()
    factor = numpy.float32(127 / numpy.abs(values).max())
    integers = numpy.rint(numpy.clip(values * factor, -127, 127)).astype("i1")
    order = integers if is_table(name) else integers.T
    return TYPES["intgemm8"], values.shape, order.tobytes() + struct.pack("<f", factor)


def loaded(items):
    """Tensors as Marian multiplies with them, in double precision of f32 values."""
    tensors = {}
    for name, (kind, shape, data) in items.items():
        count = int(numpy.prod(shape))
        if kind == TYPES["f32"]:
            tensors[name] = numpy.frombuffer(data, "<f4", count).reshape(shape)
        elif kind == TYPES["intgemm8"] and not name.endswith("_QuantMultA"):
            factor = numpy.frombuffer(data, "<f4", 1, count)[0]
            values = numpy.frombuffer(data, "i1", count).astype("<f4") / factor
            tensors[name] = values.reshape(shape) if is_table(name) else values.reshape(shape[::-1]).T
    return {name: values.astype("f8") for name, values in tensors.items()}


def settings_of(items):
    lines = items["special:model.yml"][2].split(b"\0")[0].decode().splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


LISTS_KIND = 0xF11A48D5013417F5
MULTIPLE = 8


def combined(data):
    """Marian's checksum: boost's combination of hashes of the u64 in it."""
    total = 0
    for (value,) in struct.iter_unpack("<Q", data[: len(data) // 8 * 8]):
        total ^= value + 0x9E3779B9 + (total << 6 & 2**64 - 1) + (total >> 2) & 2**64 - 1
    return total


def write_shortlist(path, first, lists):
    begins = numpy.cumsum([0, *map(len, lists)])
    summed = struct.pack("<QQQQ", first, max(map(len, lists)), len(begins), begins[-1])
    summed += struct.pack(f"<{len(begins)}Q", *begins) + numpy.concatenate(lists).astype("<u4").tobytes()
    pathlib.Path(path).write_bytes(struct.pack("<QQ", LISTS_KIND, combined(summed)) + summed)


class Shortlist:
    """Which words texts may have, by a file that write_shortlist or Marian has written. `shared`: one vocabulary for both sides."""

    def __init__(self, path, shared):
        data = pathlib.Path(path).read_bytes()
        kind, checksum, self.first, _, begins, words = struct.unpack_from("<6Q", data)
        assert kind == LISTS_KIND and checksum == combined(data[16:])
        self.begins = struct.unpack_from(f"<{begins}Q", data, 48)
        self.words = struct.unpack_from(f"<{words}I", data, 48 + 8 * begins)
        self.shared = shared

    def allowed(self, ids, vocabulary):
        found = set(range(min(self.first, vocabulary)))
        for own in ids:
            found |= {own} if self.shared else set()
            found |= set(self.words[self.begins[own] : self.begins[own + 1]])
        for further in range(self.first, vocabulary):
            if len(found) % MULTIPLE != 0:
                found.add(further)
        return sorted(found)


class Student:
    def __init__(self, path):
        items = read(path)
        settings = settings_of(items)
        self.tensors = loaded(items)
        self.width = int(settings["dim-emb"])
        self.heads = int(settings["transformer-heads"])
        self.layers = int(settings["enc-depth"]), int(settings["dec-depth"])
        self.activation = settings["transformer-ffn-activation"]
        shared = "Wemb" in self.tensors
        self.source_table = self.tensors["Wemb" if shared else "encoder_Wemb"]
        self.table = self.tensors["Wemb" if shared else "decoder_Wemb"]
        self.start = len(self.table)

    def places(self, count):
        half = self.width // 2
        angles = numpy.arange(count)[:, None] * numpy.exp(numpy.arange(half) * (-numpy.log(10000.0) / (half - 1)))
        return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=1)

    def norm(self, name, x):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / numpy.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-9)
        return x * self.tensors[name + "_ln_scale"][0] + self.tensors[name + "_ln_bias"][0]

    def linear(self, name, number, x):
        return x @ self.tensors[f"{name}_W{number}"] + self.tensors[f"{name}_b{number}"]

    def attention(self, name, x, rows):
        def heads(values):
            return values.reshape(len(values), self.heads, -1).transpose(1, 0, 2)

        q, k, v = (heads(self.linear(name, part, y)) for part, y in (("q", x), ("k", rows), ("v", rows)))
        scores = q @ k.transpose(0, 2, 1) / numpy.sqrt(self.width // self.heads)
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        context = (shares @ v).transpose(1, 0, 2).reshape(len(x), self.width)
        return self.norm(name + "_Wo", x + self.linear(name, "o", context))

    def feed_forward(self, name, x):
        wide = self.linear(name, 1, x)
        wide = numpy.maximum(wide, 0) if self.activation == "relu" else wide / (1 + numpy.exp(-wide))
        return self.norm(name + "_ffn", x + self.linear(name, 2, wide))

    def cells(self, name, x):
        forget = 1 / (1 + numpy.exp(-self.linear(name, "f", x)))
        candidate = x @ self.tensors[name + "_W"]
        state, states = numpy.zeros(self.width), []
        for f, value in zip(forget, candidate, strict=True):
            state = f * state + (1 - f) * value
            states.append(numpy.maximum(state, 0))
        return self.norm(name + "_ffn", x + numpy.array(states))

    def encode(self, ids):
        x = self.source_table[ids] * numpy.sqrt(self.width) + self.places(len(ids))
        for layer in range(1, self.layers[0] + 1):
            x = self.attention(f"encoder_l{layer}_self", x, x)
            x = self.feed_forward(f"encoder_l{layer}_ffn", x)
        return x

    def scores(self, rows, decoder_ids):
        """`decoder_ids`: `start`, whose row is zeros, and the text so far. Scores of all tokens, and 0 of `start`, behind each."""
        x = numpy.concatenate([self.table, numpy.zeros((1, self.width))])[decoder_ids] * numpy.sqrt(self.width)
        x = x + self.places(len(decoder_ids))
        for layer in range(1, self.layers[1] + 1):
            x = self.cells(f"decoder_l{layer}_rnn", x)
            x = self.attention(f"decoder_l{layer}_context", x, rows)
            x = self.feed_forward(f"decoder_l{layer}_ffn", x)
        scores = x @ self.table.T + self.tensors["decoder_ff_logit_out_b"][0]
        return numpy.concatenate([scores, numpy.zeros((len(scores), 1))], axis=1)

    def greedy(self, ids, most, allowed):
        """The continuation of these words, the logarithms of its probabilities, and the least margin by which a token is the best."""
        rows, made, logs, margin = self.encode(ids), [], [], numpy.inf
        while len(made) < most and (not made or made[-1] != END):
            listed = self.scores(rows, [self.start, *made])[-1][allowed]
            scores = numpy.full(self.start, -numpy.inf)
            scores[allowed] = listed - numpy.log(numpy.exp(listed).sum())
            scores[UNKNOWN] = -numpy.inf
            made.append(int(scores.argmax()))
            logs.append(float(scores.max()))
            margin = min(margin, scores.max() - numpy.partition(scores, -2)[-2])
        return made, logs, margin


def train(words, seed, path, of_bytes):
    draw = random.Random(seed)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(draw.choices(words, k=12)) for _ in range(400)]),
        model_prefix=str(path.with_suffix("")),
        vocab_size=38 + (250 if of_bytes else 0),
        byte_fallback=of_bytes,
        normalization_rule_name="identity",
        eos_id=END,
        unk_id=UNKNOWN,
        bos_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    path.with_suffix(".model").rename(path)
    path.with_suffix(".vocab").unlink()
    return sentencepiece.SentencePieceProcessor(str(path))


def random_items(layout, rows, draw):
    settings = {**COMMON, **layout["settings"]}
    width, ffn = int(settings["dim-emb"]), int(settings["transformer-dim-ffn"])
    items = {}

    def put(name, *shape, deviation=None, mean=0.0):
        deviation = shape[0] ** -0.5 if deviation is None else deviation
        values = (mean + deviation * draw.standard_normal(shape)).astype("f4")
        items[name] = stored(name, values, layout["type"])

    def norm(name):
        # The last one turns its rows away from the token that they are of, which would follow itself otherwise.
        last = name == f"decoder_l{settings['dec-depth']}_ffn_ffn"
        put(
            name + "_ln_scale",
            1,
            width,
            deviation=1.0 if last else 0.2,
            mean=0.0 if last else 1.0,
        )
        put(name + "_ln_bias", 1, width, deviation=0.2)

    def attention(name):
        for part in "qkvo":
            put(f"{name}_W{part}", width, width, deviation=1.6 * width**-0.5)
            put(f"{name}_b{part}", 1, width, deviation=0.2)
        norm(name + "_Wo")

    def feed_forward(name, wide):
        put(name + "_W1", width, wide)
        put(name + "_b1", 1, wide, deviation=0.2)
        put(name + "_W2", wide, width)
        put(name + "_b2", 1, width, deviation=0.2)
        norm(name + "_ffn")

    for table, count in rows.items():
        put(table, count, width, deviation=0.7)
    count = list(rows.values())[-1]
    bias = 0.3 * draw.standard_normal((1, count))
    bias[0, END] += layout["end"]
    if layout["apart"]:  # texts of more than bytes
        bias[0, 2:258] -= 8
    items["decoder_ff_logit_out_b"] = stored("decoder_ff_logit_out_b", bias, "f32")
    for layer in range(1, int(settings["enc-depth"]) + 1):
        attention(f"encoder_l{layer}_self")
        feed_forward(f"encoder_l{layer}_ffn", ffn)
    for layer in range(1, int(settings["dec-depth"]) + 1):
        name = f"decoder_l{layer}_rnn"
        put(name + "_W", width, width, deviation=2 * width**-0.5)
        put(name + "_Wf", width, width)
        put(name + "_bf", 1, width, deviation=0.5)
        norm(name + "_ffn")
        attention(f"decoder_l{layer}_context")
        feed_forward(
            f"decoder_l{layer}_ffn",
            int(settings.get("transformer-decoder-dim-ffn", ffn)),
        )
    if layout["type"] != "f32":
        items["none_QuantMultA"] = (TYPES["f32"], (1, 1), struct.pack("<f", 9.5))
    settings |= {
        "type": "transformer",
        "dec-cell": "ssru",
        "transformer-decoder-autoreg": "rnn",
        "transformer-preprocess": '""',
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-ffn-depth": "2",
        "transformer-ffn-activation": layout["activation"],
        "transformer-tied-layers": "[]",
        "version": "v1.9.56",
    }
    counts = list(rows.values())
    text = "".join(f"{key}: {value}\n" for key, value in sorted(settings.items()))
    text += f"dim-vocabs:\n  - {counts[0]}\n  - {counts[-1]}\n"
    data = text.encode() + b"\0"
    items["special:model.yml"] = (TYPES["i8"], (len(data),), data)
    return items


def make(directory, seed):
    directory.mkdir(parents=True)
    layout = LAYOUTS[directory.name]
    draw = numpy.random.default_rng(seed)
    names = ("srcvocab.spm", "trgvocab.spm") if layout["apart"] else ("vocab.spm",)
    words = (WORDS, FOREIGN) if layout["apart"] else (WORDS + FOREIGN,)
    vocabularies = [
        train(own, i + 1, directory / name, layout["apart"])
        for i, (own, name) in enumerate(zip(words, names, strict=True))
    ]
    tables = ("encoder_Wemb", "decoder_Wemb") if layout["apart"] else ("Wemb",)
    rows = {table: vocabulary.get_piece_size() for table, vocabulary in zip(tables, vocabularies, strict=True)}
    path = directory / ("model.bin" if layout["type"] == "f32" else "model.intgemm.alphas.bin")
    write(path, random_items(layout, rows, draw))
    if not layout["apart"]:
        runs = {
            "models": [path.name],
            "vocabs": ["vocab.spm", "vocab.spm"],
            "shortlist": ["lex.bin", "false"],
        }
        lines = [f"{key}:\n" + "".join(f"  - {value}\n" for value in values) for key, values in runs.items()]
        (directory / "config.yml").write_text("".join(lines) + "beam-size: 1\nnormalize: 1.0\nword-penalty: 0\n")
    student = Student(path)
    counts = list(rows.values())
    lists = [random_list(draw, counts[-1], layout["apart"]) for _ in range(counts[0])]
    lists[3] = lists[-1] = numpy.zeros(0, "i8")
    write_shortlist(directory / "lex.bin", 7, lists)
    write_expected(directory, student, seed)
    write_generated(directory, student, vocabularies[0], vocabularies[-1])


def random_list(draw, vocabulary, of_bytes):
    """Words of a list, few of them bytes."""
    choice = range(250 if of_bytes else 0, vocabulary)
    return numpy.sort(draw.choice(choice, draw.integers(2, 7), replace=False))


def write_expected(directory, student, seed):
    draw = random.Random(seed)
    with open(directory / "expected.jsonl", "w") as file:
        long = ((1, 1), (6, 3), (11, 9), (17, 4), (24, 12))
        for source, target in ((3, 1), (6, 2), (24, 3)) if student.start > 100 else long:
            ids = [
                *(draw.randrange(2, len(student.source_table)) for _ in range(source - 1)),
                END,
            ]
            decoder_ids = [
                student.start,
                *(draw.randrange(2, student.start) for _ in range(target - 1)),
            ]
            scores = student.scores(student.encode(ids), decoder_ids)
            rows = [[float(f"{value:.7e}") for value in row] for row in scores]
            file.write(
                json.dumps(
                    {"ids": ids, "decoder_ids": decoder_ids, "logits": rows},
                    separators=(",", ":"),
                )
                + "\n"
            )


def write_generated(directory, student, source, target):
    """With the shortlist beside the model, and ("all") without. What hangs on rounding is left out."""
    draw = random.Random(5)
    shortlist = Shortlist(directory / "lex.bin", not LAYOUTS[directory.name]["apart"])
    words = WORDS + (["\u2603", "\u00fc\u00fc"] if LAYOUTS[directory.name]["apart"] else FOREIGN)
    kept = ended = others = 0
    with open(directory / "generate.jsonl", "w") as file:
        while kept < 50:
            text = " ".join(draw.choices(words, k=draw.randrange(1, 9)))
            ids = [*source.encode(text), END]
            of_all, _, margin_of_all = student.greedy(ids, 20, range(student.start))
            made, logs, margin = student.greedy(ids, 20, shortlist.allowed(ids, student.start))
            blank = target.id_to_piece(made[0]) == "\u2581"  # of several in front SentencePiece drops all, bantam one
            if blank or min(margin, margin_of_all) < 1e-3:
                continue
            line = {
                "text": text,
                "source_ids": ids,
                "ids": made,
                "generated": target.decode(made),
                "all": of_all,
            }
            line["logs"] = [round(log, 6) for log in logs]
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
            kept += 1
            ended += made[-1] == END
            others += made != of_all
    print(directory.name, kept, ended, others)
    assert ended > 5 and others > 5, (ended, others)


def main():
    directory = pathlib.Path(sys.argv[1])
    student = Student(next(directory.glob("model*.bin")))
    names = sorted(directory.glob("*.spm"))
    lists = [Shortlist(path, len(names) == 1) for path in directory.glob("lex*.bin")]
    source, target = (sentencepiece.SentencePieceProcessor(str(name)) for name in (names[0], names[-1]))
    for line in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines():
        ids = [*source.encode(line), END]
        allowed = lists[0].allowed(ids, student.start) if lists else range(student.start)
        made, _, _ = student.greedy(ids, int(2.5 * len(ids)), allowed)
        print(target.decode(made))


if __name__ == "__main__":
    main()

"""The Evolved Transformer (So et al., arXiv 1901.11117, figure 3) in plain torch, in the names of docs/evolved-transformer.md: what it is, small
ones to test, and what greedy generation makes of texts. Dropout is left out; what the figure calls a layer norm stands in front of
each branch, every sum is with what the branch's norm reads, and one more norm stands behind the last cell."""

import json
import math
import pathlib
import random

import torch

import own_layouts

GENERATE, ENCODER, TAG = (
    "EvolvedTransformer" + end for end in ("ForConditionalGeneration", "EncoderModel", "ForTokenClassification")
)
VOCABULARY, LONGEST, PAD, START, END = 61, 24, 0, 1, 2
LABELS = ["O", "B-room", "I-room"]

# name: class, settings, modules whose biases are left out
LAYOUTS = {
    "evolved-generate": (GENERATE, dict(scale_embedding=True), ()),
    "evolved-meena": (GENERATE, dict(decoder_layers=3, tie_word_embeddings=False), ("_proj",)),  # as tensor2tensor
    "evolved-text": (GENERATE, dict(hidden_size=32, num_attention_heads=4, tie_word_embeddings=False), ("_proj",)),
    "evolved-encoder": (ENCODER, dict(encoder_layers=2, scale_embedding=True), ()),
    "evolved-tag": (TAG, dict(encoder_layers=2), ("_proj", "glu_", "pointwise")),
}


def sinusoids(count, width):
    """Sines, then cosines, whose wavelengths go from 2 pi to 10000 * 2 pi: the timing signal of the authors' library."""
    steps = width // 2
    rates = torch.tensor([10000 ** (-i / (steps - 1)) for i in range(steps)], dtype=torch.float64)
    angles = torch.arange(count, dtype=torch.float64)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Separable(torch.nn.Module):
    """A depthwise convolution over tokens and a layer of each token: `before` rows of zeros in front, `after` behind."""

    def __init__(self, columns, out, before, after):
        super().__init__()
        self.around = (before, after)
        self.depthwise = torch.nn.Conv1d(columns, columns, before + 1 + after, groups=columns, bias=False)
        self.pointwise = torch.nn.Linear(columns, out)

    def forward(self, x):
        padded = torch.nn.functional.pad(x.T, self.around)
        return self.pointwise(self.depthwise(padded[None])[0].T)


class Attention(torch.nn.Module):
    """Dot products of `heads` heads, divided by the root of their width (Vaswani et al., arXiv 1706.03762, section 3.2)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, torch.nn.Linear(width, width))

    def forward(self, x, rows, causal=False):
        def split(module, of):
            return module(of).view(len(of), self.heads, -1).transpose(0, 1)

        q, k, v = split(self.q_proj, x), split(self.k_proj, rows), split(self.v_proj, rows)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if causal:
            behind = torch.ones(len(x), len(rows)).triu(1).bool()
            scores = scores.masked_fill(behind, -torch.inf)
        return self.out_proj((scores.softmax(-1) @ v).transpose(0, 1).reshape(len(x), -1))


def widened(x, width):
    """x with columns of zeros behind its own."""
    return torch.nn.functional.pad(x, (0, width - x.shape[1]))


class EncoderCell(torch.nn.Module):
    """The right of figure 3: four parts, each behind its norm and added to what it reads."""

    def __init__(self, width, heads, epsilon):
        super().__init__()
        self.glu_norm = torch.nn.LayerNorm(width, epsilon)
        self.glu_values = torch.nn.Linear(width, width)
        self.glu_gates = torch.nn.Linear(width, width)
        self.branch_norm = torch.nn.LayerNorm(width, epsilon)
        self.left = torch.nn.Linear(width, 4 * width)  # a convolution 1 x 1
        self.right = torch.nn.Conv1d(width, width // 2, 3, padding=1)
        self.convolution_norm = torch.nn.LayerNorm(4 * width, epsilon)
        self.convolution = Separable(4 * width, width // 2, 4, 4)
        self.self_attn_norm = torch.nn.LayerNorm(width, epsilon)
        self.self_attn = Attention(width, heads)
        self.ffn_norm = torch.nn.LayerNorm(width, epsilon)
        self.fc1 = torch.nn.Linear(width, 4 * width)
        self.fc2 = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        width = x.shape[1]
        # Gated linear unit.
        h = self.glu_norm(x)
        x = x + self.glu_values(h) * torch.sigmoid(self.glu_gates(h))
        # Conv 1x1 : 4 d, ReLU beside conv 3x1 : d / 2, ReLU; their sum, normed; sep conv 9x1 : d / 2.
        h = self.branch_norm(x)
        left = torch.relu(self.left(h))
        right = torch.relu(self.right(h.T[None])[0].T)
        h = self.convolution_norm(left + widened(right, 4 * width))
        x = x + widened(self.convolution(h), width)
        # Self attention, 8 heads.
        h = self.self_attn_norm(x)
        x = x + self.self_attn(h, h)
        # Conv 1x1 : 4 d, ReLU; conv 1x1 : d.
        return x + self.fc2(torch.relu(self.fc1(self.ffn_norm(x))))


class DecoderCell(torch.nn.Module):
    """The cell of a decoder: a token sees only the tokens before it."""

    def __init__(self, width, heads, wide_heads, epsilon, between):
        super().__init__()
        self.attention_norm = torch.nn.LayerNorm(width, epsilon)
        self.wide_attn = Attention(width, wide_heads)
        self.first_encoder_attn = Attention(width, heads)
        self.branch_norm = torch.nn.LayerNorm(width, epsilon)
        self.left = Separable(width, 2 * width, 10, 0)
        self.right = Separable(width, width // 2, 6, 0)
        self.convolution_norm = torch.nn.LayerNorm(2 * width, epsilon)
        self.convolution = Separable(2 * width, width, 6, 0)
        self.self_attn_norm = torch.nn.LayerNorm(width, epsilon)
        self.self_attn = Attention(width, heads)
        self.encoder_attn_norm = torch.nn.LayerNorm(width, epsilon)
        self.encoder_attn = Attention(width, heads)
        self.ffn_norm = torch.nn.LayerNorm(width, epsilon)
        self.fc1 = torch.nn.Linear(width, 4 * width)
        self.fc1_norm = torch.nn.LayerNorm(4 * width, epsilon) if between else None
        self.fc2 = torch.nn.Linear(4 * width, width)

    def forward(self, x, source):
        width = x.shape[1]
        # Self attention, 16 heads, beside attention to the encoder, 8 heads.
        h = self.attention_norm(x)
        x = x + self.wide_attn(h, h, causal=True) + self.first_encoder_attn(h, source)
        # Sep conv 11x1 : 2 d, ReLU beside sep conv 7x1 : d / 2; their sum, normed; sep conv 7x1 : d.
        h = self.branch_norm(x)
        left, right = torch.relu(self.left(h)), self.right(h)
        x = x + self.convolution(self.convolution_norm(left + widened(right, 2 * width)))
        # Self attention, 8 heads; attention to the encoder, 8 heads.
        h = self.self_attn_norm(x)
        x = x + self.self_attn(h, h, causal=True)
        x = x + self.encoder_attn(self.encoder_attn_norm(x), source)
        # Conv 1x1 : 4 d, Swish; conv 1x1 : d. The authors' library has a norm in between, the figure has none.
        h = self.fc1(self.ffn_norm(x))
        h = h * torch.sigmoid(h)
        return x + self.fc2(self.fc1_norm(h) if self.fc1_norm else h)


class EvolvedTransformer(torch.nn.Module):
    """Call it with ids of a source and, of a whole one, of the decoder's text."""

    def __init__(self, config, between=False):
        super().__init__()
        self.config, self.kind = config, config["architectures"][0]
        width, heads, epsilon = config["hidden_size"], config["num_attention_heads"], config.get("layer_norm_eps", 1e-6)
        wide = config.get("wide_attention_heads", max(min(2 * heads, 16), heads))
        self.model = torch.nn.Module()
        self.model.shared = torch.nn.Embedding(config["vocab_size"], width)

        def stack(cells):
            side = torch.nn.Module()
            side.layers, side.norm = torch.nn.ModuleList(cells), torch.nn.LayerNorm(width, epsilon)
            return side

        self.model.encoder = stack(EncoderCell(width, heads, epsilon) for _ in range(config["encoder_layers"]))
        if self.kind == GENERATE:
            layers = config["decoder_layers"]
            self.model.decoder = stack(DecoderCell(width, heads, wide, epsilon, between) for _ in range(layers))
            if not config.get("tie_word_embeddings", True):
                self.lm_head = torch.nn.Linear(width, config["vocab_size"])
        if self.kind == TAG:
            self.classifier = torch.nn.Linear(width, len(LABELS))

    def embed(self, ids):
        width = self.config["hidden_size"]
        factor = math.sqrt(width) if self.config.get("scale_embedding") else 1
        return self.model.shared(torch.tensor(ids)) * factor + sinusoids(len(ids), width)

    def encode(self, ids):
        x = self.embed(ids)
        for cell in self.model.encoder.layers:
            x = cell(x)
        return self.model.encoder.norm(x)

    def forward(self, ids, decoder_ids=None):
        source = self.encode(ids)
        if self.kind == ENCODER:
            return {"last_hidden_state": source}
        if self.kind == TAG:
            return {"logits": self.classifier(source)}
        x = self.embed(decoder_ids)
        for cell in self.model.decoder.layers:
            x = cell(x, source)
        x = self.model.decoder.norm(x)
        tied = self.config.get("tie_word_embeddings", True)
        return {"logits": x @ self.model.shared.weight.T if tied else self.lm_head(x)}

    def greedy(self, ids, count):
        made = [START]
        while len(made) <= count and made[-1] != END:
            made.append(int(self(ids, made)["logits"][-1].argmax()))
        return made[1:]


def load(directory):
    import safetensors.torch

    directory = pathlib.Path(directory)
    tensors = safetensors.torch.load_file(directory / "model.safetensors")
    between = any("fc1_norm" in name for name in tensors)
    model = EvolvedTransformer(json.loads((directory / "config.json").read_text()), between)
    for name, module in model.named_modules():
        if getattr(module, "bias", None) is not None and f"{name}.bias" not in tensors:
            module.bias = None
    model.load_state_dict(tensors)
    return model.double().eval()


def is_one(directory):
    config = pathlib.Path(directory) / "config.json"
    return config.exists() and json.loads(config.read_text()).get("model_type") == "evolved_transformer"


def make(directory, randomize, seed):
    kind, settings, bare = LAYOUTS[directory.name]
    directory.mkdir(parents=True)
    config = {
        "model_type": "evolved_transformer",
        "architectures": [kind],
        "vocab_size": VOCABULARY,
        "hidden_size": 24,
        "num_attention_heads": 3,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "max_position_embeddings": LONGEST,
        "decoder_start_token_id": START,
        "eos_token_id": END,
        "pad_token_id": PAD,
        **settings,
    }
    if directory.name == "evolved-text":
        config["wide_attention_heads"] = 16
    if kind == TAG:
        config["id2label"] = dict(enumerate(LABELS))
    model = EvolvedTransformer(config, between=directory.name == "evolved-meena")
    texts = directory.name == "evolved-text"
    randomize(model, seed, gain=2.5 if texts else 1.5)  # so that texts depend on their sources
    if texts:
        model.lm_head.bias.data[END] += 3
    for name, parameter in model.named_parameters():
        if "depthwise" in name:
            parameter.data = parameter.data * 0.5
        if "shared" in name and config.get("scale_embedding"):
            parameter.data = parameter.data / 2
    own_layouts.write_halves(directory, config, model, bare)
    write_expected(directory, seed)
    if texts:
        write_texts(directory, seed)


def write_expected(directory, seed):
    model, draw = load(directory), random.Random(seed)
    with torch.no_grad(), open(directory / "expected.jsonl", "w") as file:
        for source, target in ((1, 1), (6, 3), (11, 13), (17, 4), (LONGEST, LONGEST)):
            ids = [*(draw.randrange(3, VOCABULARY) for _ in range(source - 1)), END]
            line = {"ids": ids}
            if model.kind == GENERATE:
                line["decoder_ids"] = [START, *(draw.randrange(3, VOCABULARY) for _ in range(target - 1))]
            outputs = model(ids, line.get("decoder_ids"))
            line.update({name: [[round(v, 8) for v in row] for row in rows.tolist()] for name, rows in outputs.items()})
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def write_texts(directory, seed):
    """A tokenizer of words, and what is made of texts. What hangs on rounding is left out."""
    import tokenizers

    words = ["<pad>", "<s>", "</s>", *(a + b for a in "bdklmnrstz" for b in ("a", "e", "i", "o", "an", "er"))]
    words = words[:VOCABULARY]
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<pad>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(words[:3])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", END)]
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    model, draw = load(directory), random.Random(seed)
    said, ended = {}, 0
    with torch.no_grad():
        while len(said) < 8:
            ids = [draw.randrange(3, VOCABULARY) for _ in range(draw.randrange(1, 15))]
            made = model.greedy([*ids, END], 10)
            top = model([*ids, END], [START, *made[:-1]])["logits"].topk(2).values
            if (top[:, 0] - top[:, 1]).min() < 0.1:
                continue
            said[" ".join(words[i] for i in made if i > END)] = " ".join(words[i] for i in ids)
            ended += made[-1] == END
    assert ended > 2, ended
    with open(directory / "texts.jsonl", "w") as file:
        for generated, text in said.items():
            file.write(json.dumps({"text": text, "generated": generated}) + "\n")

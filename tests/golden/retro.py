"""RETRO (Borgeaud et al. 2021, "Improving language models by retrieving from trillions of tokens", arXiv 2112.04426) in plain torch, in the
names of docs/retro.md: Algorithm 1, line by line, what it is built of, small models to test, and what greedy generation makes of texts.

A text of n tokens has chunks C_u of m tokens, u from 1 on; what stands behind the last whole chunk is in none. RET(C_u) are lists of tokens,
up to r each, that may be shorter than r, or fewer than k. Norms are RMS norms in front of each part, as section 2.5 says; dropout is left out."""

import json
import math
import pathlib
import random

import torch

import own_layouts

VOCABULARY, LONGEST, UNKNOWN, START, END = 61, 24, 0, 1, 2

# name: settings, modules whose biases are left out
LAYOUTS = {
    "retro-generate": (dict(), ("_proj", "up", "down")),
    "retro-shared": (
        dict(
            share_embeddings=True,
            encoder_hidden_size=18,
            encoder_num_attention_heads=3,
            encoder_intermediate_size=14,
            encoder_retrieval_layers=[],
            cross_positions="none",
            tie_word_embeddings=True,
            retrieval_layers=[1],
            chunk_size=1,
            num_neighbours=3,
            neighbour_size=4,
        ),
        (),
    ),
    "retro-wide": (dict(encoder_head_dim=8, head_dim=8, encoder_num_hidden_layers=1, chunk_size=6), ("q_proj",)),
    "retro-text": (
        dict(
            hidden_size=32,
            num_attention_heads=4,
            encoder_hidden_size=24,
            encoder_num_attention_heads=3,
            chunk_size=4,
            neighbour_size=8,
            max_position_embeddings=48,
        ),
        ("_proj", "up", "down"),
    ),
}


def waves(distances, width):
    """The sinusoids of distances (Dai et al., arXiv 1901.02860, and Vaswani et al., arXiv 1706.03762): sines, then cosines."""
    rates = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = distances[..., None].double() * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Norm(torch.nn.Module):
    """RMSNorm (Zhang and Sennrich, arXiv 1910.07467)."""

    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + self.epsilon).sqrt() * self.weight


class Heads(torch.nn.Module):
    """Queries of `width`, keys and values of `other` columns, and what becomes of heads."""

    def __init__(self, width, other, heads, head):
        super().__init__()
        self.heads, self.head = heads, head
        self.q_proj = torch.nn.Linear(width, heads * head)
        self.k_proj = torch.nn.Linear(other, heads * head)
        self.v_proj = torch.nn.Linear(other, heads * head)

    def split(self, rows):
        return rows.view(len(rows), self.heads, self.head).transpose(0, 1)  # [heads, rows, head]

    def joined(self, rows):
        return rows.transpose(0, 1).reshape(rows.shape[1], -1)


class SelfAttention(Heads):
    """ATTN without its residual: Transformer-XL's scores, equation (5) of section 3.3 of arXiv 1901.02860 (its terms a to d), between
    all tokens, or those in front."""

    def __init__(self, width, heads, head):
        super().__init__(width, width, heads, head)
        self.out_proj = torch.nn.Linear(heads * head, width)
        self.positions = torch.nn.Linear(width, heads * head, bias=False)  # W_{k, R}
        self.content_bias = torch.nn.Parameter(torch.zeros(heads, head))  # u
        self.position_bias = torch.nn.Parameter(torch.zeros(heads, head))  # v

    def forward(self, x, causal):
        q, k, v = (self.split(module(x)) for module in (self.q_proj, self.k_proj, self.v_proj))
        at = torch.arange(len(x))
        distances = at[:, None] - at[None, :]  # i - j
        width = self.positions.weight.shape[1]
        places = self.positions(waves(distances, width)).view(len(x), len(x), self.heads, self.head)
        content = (q + self.content_bias[:, None]) @ k.transpose(1, 2)
        position = torch.einsum("hid,ijhd->hij", q + self.position_bias[:, None], places)
        scores = (content + position) / math.sqrt(self.head)
        if causal:
            scores = scores.masked_fill(distances < 0, -torch.inf)
        return self.out_proj(self.joined(scores.softmax(-1) @ v))


class CrossAttention(Heads):
    """CA without its residual, equation (4), of several heads: softmax(Y K Q^T h) Y V, scores divided by the root of a head's width.
    Section B.1.2: "Positional logits are obtained as a linear transform of a cosine vector computed from d(i, i'), and are added to
    content logits": a number a head and distance."""

    def __init__(self, width, other, heads, head, placed):
        super().__init__(width, other, heads, head)
        self.out_proj = torch.nn.Linear(heads * head, width, bias=False)
        if placed:
            self.positions = torch.nn.Linear(width, heads, bias=False)
        self.placed = placed

    def forward(self, h, y, distances):
        q, k, v = self.split(self.q_proj(h)), self.split(self.k_proj(y)), self.split(self.v_proj(y))
        logits = q @ k.transpose(1, 2) / math.sqrt(self.head)
        if self.placed:
            logits = logits + self.positions(waves(distances, self.positions.weight.shape[1])).permute(2, 0, 1)
        return self.out_proj(self.joined(logits.softmax(-1) @ v))


class FeedForward(torch.nn.Module):
    """FFW without its residual."""

    def __init__(self, width, columns):
        super().__init__()
        self.up = torch.nn.Linear(width, columns)
        self.down = torch.nn.Linear(columns, width)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x), approximate="tanh"))  # Radford et al. 2019


class Layer(torch.nn.Module):
    """The parts of a layer of either stack, each behind its norm; `other`: columns of what it attends to, None where it does not."""

    def __init__(self, width, heads, head, columns, other, placed, epsilon):
        super().__init__()
        self.attn_norm = Norm(width, epsilon)
        self.attn = SelfAttention(width, heads, head)
        if other is not None:
            self.cross_norm = Norm(width, epsilon)
            self.cross = CrossAttention(width, other, heads, head, placed)
        self.ffw_norm = Norm(width, epsilon)
        self.ffw = FeedForward(width, columns)


class Retro(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        width, inner = config["hidden_size"], config["encoder_hidden_size"]
        heads, inner_heads = config["num_attention_heads"], config["encoder_num_attention_heads"]
        head, inner_head = config.get("head_dim", width // heads), config.get("encoder_head_dim", inner // inner_heads)
        placed, epsilon = config.get("cross_positions", "linear") == "linear", config.get("rms_norm_eps", 1e-6)
        self.model = torch.nn.Module()
        decoder, encoder = torch.nn.Module(), torch.nn.Module()
        self.model.decoder, self.model.encoder = decoder, encoder
        decoder.embeddings = torch.nn.Embedding(config["vocab_size"], width)
        if not config.get("share_embeddings", False):
            encoder.embeddings = torch.nn.Embedding(config["vocab_size"], inner)
        # P and P_enc count layers from 1 on.
        crossed = [p in config["retrieval_layers"] for p in range(1, config["num_hidden_layers"] + 1)]
        decoder.layers = torch.nn.ModuleList(
            Layer(width, heads, head, config["intermediate_size"], inner if cross else None, placed, epsilon)
            for cross in crossed
        )
        crossed = [p in config["encoder_retrieval_layers"] for p in range(1, config["encoder_num_hidden_layers"] + 1)]
        encoder.layers = torch.nn.ModuleList(
            Layer(
                inner,
                inner_heads,
                inner_head,
                config["encoder_intermediate_size"],
                width if cross else None,
                placed,
                epsilon,
            )
            for cross in crossed
        )
        decoder.norm = Norm(width, epsilon)
        if not config["tie_word_embeddings"]:
            self.lm_head = torch.nn.Linear(width, config["vocab_size"], bias=False)

    def encode(self, neighbour, chunk):
        """ENCODER(RET(C_u)^j, H_u) for one neighbour."""
        encoder = self.model.encoder
        shared = self.config.get("share_embeddings", False)
        words = self.model.decoder.embeddings if shared else encoder.embeddings
        e = words(torch.tensor(neighbour))  # E_u^j <- EMB_enc(RET(C_u)^j)
        for layer in encoder.layers:  # for p' in [1, L_enc] do
            e = e + layer.attn(layer.attn_norm(e), causal=False)  # E_u^j <- ATTN_enc(E_u^j), bi-directional
            if hasattr(layer, "cross"):  # if p' in P_enc then
                at = torch.arange(len(neighbour))[:, None] - torch.arange(len(chunk))[None, :]  # (7): i' - i
                e = e + layer.cross(layer.cross_norm(e), chunk, at)  # E_u^j <- CA_enc(E_u^j, H_u)
            e = e + layer.ffw(layer.ffw_norm(e))  # E_u^j <- FFW_enc(E_u^j)
        return e

    def chunked_cross_attention(self, layer, h, encoded):
        """CCA(H, E), equation (3) and Listing 1. `encoded`: E_u of each chunk, a list of its neighbours'."""
        m, out = self.config["chunk_size"], []
        normed = layer.cross_norm(h)
        # The identity for the first m - 1 tokens.
        out.append(h[: m - 1])
        for u, neighbours in enumerate(encoded, start=1):
            begin, end = (
                u * m - 1,
                min(u * m - 1 + m, len(h)),
            )  # H_u^+: token u m of the text, from 1 on, and m - 1 behind it
            rows = h[begin:end]
            if neighbours:
                # Across time and neighbours at once; each neighbour's places begin anew.
                places = torch.cat([torch.arange(len(e)) for e in neighbours])
                at = torch.arange(len(rows))[:, None] - places[None, :] + m - 1  # (6): i - i' + m - 1
                rows = rows + layer.cross(normed[begin:end], torch.cat(neighbours), at)
            out.append(rows)
        return torch.cat(out)

    def forward(self, ids, neighbours=()):
        """`neighbours`: of each chunk a list of RET(C_u)^j. Without any CCA is the identity: Retro[Off]."""
        m, decoder = self.config["chunk_size"], self.model.decoder
        chunks = len(ids) // m
        retrieved = [*neighbours, *([[]] * chunks)][:chunks]
        h = decoder.embeddings(torch.tensor(ids))  # H <- EMB(X)
        encoded = chunk_rows = None
        for layer in decoder.layers:  # for p in [1, L] do
            h = h + layer.attn(layer.attn_norm(h), causal=True)  # H <- ATTN(H)
            if hasattr(layer, "cross") and encoded is None:  # if p = min(P) then
                chunk_rows = h
                # E = ENCODER(RET(C_u), H); SPLIT(H) gives the chunks' H_u
                encoded = [
                    [self.encode(one, h[u * m : (u + 1) * m]) for one in of_chunk]
                    for u, of_chunk in enumerate(retrieved)
                ]
            if hasattr(layer, "cross"):  # if p in P then
                h = self.chunked_cross_attention(layer, h, encoded)  # H <- CCA(H, E)
            h = h + layer.ffw(layer.ffw_norm(h))  # H <- FFW(H)
        h = decoder.norm(h)  # O <- READ(H)
        tied = self.config["tie_word_embeddings"]
        return {"logits": h @ decoder.embeddings.weight.T if tied else self.lm_head(h), "chunk_state": chunk_rows}

    def greedy(self, ids, count, retrieve=None):
        """Sampling, section 2.4: neighbours of a chunk are looked up when it is whole."""
        m, made, neighbours = self.config["chunk_size"], list(ids), []
        while len(made) < len(ids) + count and made[-1] != END:
            while retrieve is not None and (len(neighbours) + 1) * m <= len(made):
                neighbours.append(retrieve(made[len(neighbours) * m : (len(neighbours) + 1) * m]))
            made.append(int(self(made, neighbours)["logits"][-1].argmax()))
        return made[len(ids) :]


def load(directory):
    import safetensors.torch

    directory = pathlib.Path(directory)
    model = Retro(json.loads((directory / "config.json").read_text()))
    tensors = safetensors.torch.load_file(directory / "model.safetensors")
    for name, module in model.named_modules():
        if getattr(module, "bias", None) is not None and f"{name}.bias" not in tensors:
            module.bias = None
    model.load_state_dict(tensors)
    return model.double().eval()


def make(directory, randomize, seed):
    settings, bare = LAYOUTS[directory.name]
    directory.mkdir(parents=True)
    config = {
        "model_type": "retro",
        "architectures": ["RetroForCausalLM"],
        "vocab_size": VOCABULARY,
        "hidden_size": 18,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "intermediate_size": 22,
        "hidden_act": "gelu_new",
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": LONGEST,
        "retrieval_layers": [2, 3],
        "chunk_size": 5,
        "num_neighbours": 2,
        "neighbour_size": 9,
        "encoder_hidden_size": 12,
        "encoder_num_hidden_layers": 2,
        "encoder_num_attention_heads": 2,
        "encoder_intermediate_size": 16,
        "encoder_retrieval_layers": [1],
        "tie_word_embeddings": False,
        "eos_token_id": END,
        **settings,
    }
    model = Retro(config)
    randomize(model, seed)
    own_layouts.write_halves(directory, config, model, bare)
    write_expected(directory, seed)
    if directory.name == "retro-text":
        write_texts(directory, seed)


def as_rows(matrix):
    return [[round(v, 8) for v in row] for row in matrix.tolist()]


def write_expected(directory, seed):
    """Texts of less than a chunk, one chunk, several and a part of one; neighbours of all, some and no tokens."""
    model, draw = load(directory), random.Random(seed)
    m, r, k = (model.config[key] for key in ("chunk_size", "neighbour_size", "num_neighbours"))

    def tokens(count):
        return [draw.randrange(3, VOCABULARY) for _ in range(count)]

    lines = []
    for count in (max(m - 1, 1), m, m + 1, 2 * m, 3 * m + 2):
        lines.append({"ids": tokens(count), "neighbours": [[tokens(r) for _ in range(k)] for _ in range(count // m)]})
    shorter = [[tokens(draw.randrange(1, r + 1)) for _ in range(draw.randrange(k + 1))] for _ in range(LONGEST // m)]
    lines.append({"ids": tokens(LONGEST), "neighbours": shorter})
    lines.append({"ids": tokens(2 * m + 1)})
    with torch.no_grad(), open(directory / "expected.jsonl", "w") as file:
        for line in lines:
            outputs = model(line["ids"], line.get("neighbours", ()))
            line.update({name: as_rows(rows) for name, rows in outputs.items()})
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def write_texts(directory, seed):
    """A tokenizer of words; a database of two texts, which are thus the neighbours of every chunk, whatever finds them and in any order; how
    likely texts are with them and without (perplexity), and what greedy generation makes. What hangs on rounding is left out."""
    import tokenizers

    words = ["<unk>", "<s>", "</s>", *(a + b for a in "bdklmnrstz" for b in ("a", "e", "i", "o", "an", "er"))]
    words = words[:VOCABULARY]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.save(str(directory / "tokenizer.json"))
    model, draw = load(directory), random.Random(seed)
    r = model.config["neighbour_size"]
    database = [[draw.randrange(3, VOCABULARY) for _ in range(count)] for count in (5, 11)]
    # A line goes on with the one behind it.
    found = [(database[0] + database[1])[:r], database[1][:r]]

    def said(ids):
        return " ".join(words[i] for i in ids)

    def perplexity(ids, neighbours):
        logs = model(ids[:-1], neighbours)["logits"].log_softmax(-1)
        return math.exp(-sum(float(logs[i, token]) for i, token in enumerate(ids[1:])) / (len(ids) - 1))

    def margin(ids, made, neighbours):
        top = model([*ids, *made], neighbours)["logits"][len(ids) - 1 : -1].topk(2).values
        return float((top[:, 0] - top[:, 1]).min())

    (directory / "database.txt").write_text("".join(said(line) + "\n" for line in database))
    lines = []
    with torch.no_grad():
        while len(lines) < 4:
            ids = [draw.randrange(3, VOCABULARY) for _ in range((3, 4, 10, 17)[len(lines)])]
            line = {"text": said(ids)}
            for key, neighbours in (("", found), ("_off", [])):
                made = model.greedy(ids, 9, lambda chunk, neighbours=neighbours: neighbours)
                all_neighbours = [neighbours] * LONGEST
                if margin(ids, made, all_neighbours) < 0.05 or START in made or UNKNOWN in made:
                    break
                line["generated" + key] = said(token for token in made if token != END)
                line["perplexity" + key] = perplexity(ids, all_neighbours)
            else:
                lines.append(line)
    with open(directory / "texts.jsonl", "w") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")

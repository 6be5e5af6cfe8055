"""Trains a small RETRO (docs/retro.md) on a text and writes what shows whether it reads what is found for it.

python3 examples/retro.py TEXT FOLDER [STEPS]: FOLDER/model is the directory to convert; FOLDER/held.txt are the chunks of the text's last tenth, a
line each, other.txt those of its beginning, and texts.txt is held-out texts, of which held.txt has all. In training a chunk's neighbours are
chunks by chance, or the chunk itself with what follows it. Needs torch, tokenizers and safetensors; two minutes on one core."""

import collections
import json
import math
import pathlib
import sys

import safetensors.torch
import tokenizers
import torch
from torch import nn
from torch.nn import functional

CHUNK, NEIGHBOUR, NEIGHBOURS, CHUNKS, BATCH, WORDS = 16, 32, 2, 5, 8, 1500
CONFIG = {
    "model_type": "retro",
    "architectures": ["RetroForCausalLM"],
    "hidden_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "max_position_embeddings": 256,
    "retrieval_layers": [2, 3],
    "chunk_size": CHUNK,
    "num_neighbours": NEIGHBOURS,
    "neighbour_size": NEIGHBOUR,
    "encoder_hidden_size": 64,
    "encoder_num_hidden_layers": 1,
    "encoder_num_attention_heads": 4,
    "encoder_intermediate_size": 128,
    "encoder_retrieval_layers": [1],
    "tie_word_embeddings": True,
}


def waves(distances, width):
    angles = distances[..., None] * 10000 ** (-torch.arange(0, width, 2) / width)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Attention(nn.Module):
    """Of rows x [batch, rows, width] to `other`, themselves where there is none."""

    def __init__(self, width, other, heads):
        super().__init__()
        self.heads, self.head, crossed = heads, width // heads, other is not None
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(other or width, width, bias=False)
        self.v_proj = nn.Linear(other or width, width, bias=False)
        self.out_proj = nn.Linear(width, width, bias=False)
        self.positions = nn.Linear(width, heads if crossed else width, bias=False)
        if not crossed:
            self.content_bias = nn.Parameter(torch.zeros(heads, self.head))
            self.position_bias = nn.Parameter(torch.zeros(heads, self.head))

    def split(self, rows):
        return rows.view(*rows.shape[:2], self.heads, self.head).transpose(1, 2)

    def forward(self, x, other=None, distances=None, causal=False):
        rows = x if other is None else other
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(rows)), self.split(self.v_proj(rows))
        width = self.positions.weight.shape[1]
        if other is None:
            count = x.shape[1]
            places = self.positions(waves(torch.arange(1 - count, count), width)).view(-1, self.heads, self.head)
            at = torch.arange(count)[:, None] - torch.arange(count) + count - 1
            by_place = torch.einsum("bhid,rhd->bhir", q + self.position_bias[:, None], places)
            by_place = by_place.gather(3, at.expand(*q.shape[:2], count, count))
            scores = ((q + self.content_bias[:, None]) @ k.transpose(2, 3) + by_place) / math.sqrt(self.head)
            if causal:
                scores = scores.masked_fill(at < count - 1, -torch.inf)
        else:
            scores = q @ k.transpose(2, 3) / math.sqrt(self.head)
            scores = scores + self.positions(waves(distances, width)).permute(2, 0, 1)
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * self.weight


class FeedForward(nn.Module):
    def __init__(self, width, columns):
        super().__init__()
        self.up, self.down = nn.Linear(width, columns), nn.Linear(columns, width)

    def forward(self, x):
        return self.down(functional.gelu(self.up(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, width, heads, columns, other):
        super().__init__()
        self.attn_norm, self.attn = Norm(width), Attention(width, None, heads)
        if other is not None:
            self.cross_norm, self.cross = Norm(width), Attention(width, other, heads)
        self.ffw_norm, self.ffw = Norm(width), FeedForward(width, columns)


class Stack(nn.Module):
    def __init__(self, words, prefix, layers, other):
        super().__init__()
        sizes = [CONFIG[prefix + key] for key in ("hidden_size", "num_attention_heads", "intermediate_size")]
        self.embeddings = nn.Embedding(words, sizes[0])
        count = CONFIG[prefix + "num_hidden_layers"]
        self.layers = nn.ModuleList(Layer(*sizes, other if i + 1 in layers else None) for i in range(count))


class Retro(nn.Module):
    def __init__(self, words):
        super().__init__()
        width, inner = CONFIG["hidden_size"], CONFIG["encoder_hidden_size"]
        self.decoder = Stack(words, "", CONFIG["retrieval_layers"], inner)
        self.encoder = Stack(words, "encoder_", CONFIG["encoder_retrieval_layers"], width)
        self.decoder.norm = Norm(width)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and "bias" not in name:
                spread = 0.02 if "embeddings" in name else 0.7 / math.sqrt(parameter.shape[-1])
                nn.init.normal_(parameter, std=spread)

    def encode(self, neighbours, rows):
        """neighbours [texts, NEIGHBOUR], rows [texts, CHUNK, width] of the chunks that they are of."""
        e = self.encoder.embeddings(neighbours)
        distances = torch.arange(NEIGHBOUR)[:, None] - torch.arange(CHUNK)
        for layer in self.encoder.layers:
            e = e + layer.attn(layer.attn_norm(e))
            e = e + layer.cross(layer.cross_norm(e), rows, distances)
            e = e + layer.ffw(layer.ffw_norm(e))
        return e

    def forward(self, ids, neighbours):
        """ids [batch, tokens], of whole chunks; neighbours [batch, chunks, NEIGHBOURS, NEIGHBOUR], or None."""
        h, encoded = self.decoder.embeddings(ids), None
        batch, tokens, width = h.shape
        distances = torch.arange(CHUNK)[:, None] - torch.arange(NEIGHBOUR).repeat(NEIGHBOURS) + CHUNK - 1
        for layer in self.decoder.layers:
            h = h + layer.attn(layer.attn_norm(h), causal=True)
            if hasattr(layer, "cross") and neighbours is not None:
                if encoded is None:
                    rows = h.view(-1, 1, CHUNK, width).expand(-1, NEIGHBOURS, -1, -1).reshape(-1, CHUNK, width)
                    encoded = self.encode(neighbours.reshape(-1, NEIGHBOUR), rows)
                    encoded = encoded.view(-1, NEIGHBOURS * NEIGHBOUR, encoded.shape[-1])
                attending = functional.pad(layer.cross_norm(h)[:, CHUNK - 1 :], (0, 0, 0, CHUNK - 1))
                made = layer.cross(attending.reshape(-1, CHUNK, width), encoded, distances).view(batch, tokens, width)
                h = h + functional.pad(made, (0, 0, CHUNK - 1, 0))[:, :tokens]
            h = h + layer.ffw(layer.ffw_norm(h))
        return self.decoder.norm(h) @ self.decoder.embeddings.weight.T


def train(model, chunks, words, steps):
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01, betas=(0.9, 0.98))
    texts = torch.cat([chunks, chunks.roll(-1, 0)], 1)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, step / 100) * 0.5 * (1 + math.cos(math.pi * step / steps)) + 1e-5
        at = torch.randint(0, len(chunks) - CHUNKS, (BATCH, 1)) + torch.arange(CHUNKS)
        ids = chunks[at].flatten(1)
        found = torch.randint(0, len(chunks), (BATCH, CHUNKS, NEIGHBOURS))
        place = torch.randint(0, NEIGHBOURS, (BATCH, CHUNKS, 1))
        itself = torch.where(torch.rand(BATCH, CHUNKS, 1) < 0.6, at[..., None], found.gather(2, place))
        neighbours = None if torch.rand(()) < 0.15 else texts[found.scatter(2, place, itself)]
        logits = model(ids, neighbours)
        loss = functional.cross_entropy(logits[:, :-1].reshape(-1, words), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: {loss.item():.3f}{' without neighbours' if neighbours is None else ''}", flush=True)


def main():
    text, folder = pathlib.Path(sys.argv[1]).read_text().split(), pathlib.Path(sys.argv[2])
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1400
    torch.manual_seed(0)
    split = len(text) * 9 // 10 // CHUNK * CHUNK
    counted = collections.Counter(text[:split]).most_common(WORDS)
    words = ["<unk>", *(word for word, _ in counted if word != "<unk>")]
    numbers = {word: number for number, word in enumerate(words)}
    ids = torch.tensor([numbers.get(word, 0) for word in text])
    known = [words[number] for number in ids.tolist()]
    lines = [" ".join(known[at : at + CHUNK]) for at in range(0, len(known) - CHUNK + 1, CHUNK)]
    model = Retro(len(words))
    train(model, ids[:split].view(-1, CHUNK), len(words), steps)
    (folder / "model").mkdir(parents=True, exist_ok=True)
    config = {**CONFIG, "vocab_size": len(words)}
    (folder / "model" / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tensors = {f"model.{name}": value.contiguous() for name, value in model.state_dict().items()}
    safetensors.torch.save_file(tensors, folder / "model" / "model.safetensors")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "model" / "tokenizer.json"))
    held = lines[split // CHUNK :]
    (folder / "held.txt").write_text("".join(f"{line}\n" for line in held))
    (folder / "other.txt").write_text("".join(f"{line}\n" for line in lines[:2000]))
    whole = [" ".join(held[at : at + 8]) for at in range(0, len(held) - 8, 40)]
    (folder / "texts.txt").write_text("".join(f"{line}\n" for line in whole))


if __name__ == "__main__":
    main()

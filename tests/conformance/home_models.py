"""Models as people write them in PyTorch: wrappers, tutorials, services. home_made.py exports and compares them.

MODELS: name -> (function that makes the model, its inputs, options of `bantam convert`). Weights are random, with a
fixed seed.
"""

import math

import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

VOCABULARY, WIDTH, HEADS, LABELS, PLACES = 97, 32, 4, 3, 64
IDS, MASKED = ("input_ids",), ("input_ids", "attention_mask")
CLASSIFY, TAG, GENERATE, EMBED = (("--task", task) for task in ("classify", "tag", "generate", "embed"))


def small_bert():
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        num_hidden_layers=2,
        intermediate_size=48,
        max_position_embeddings=PLACES,
        attn_implementation="eager",
    )
    return BertModel(config)


def mean_of(rows, mask):
    there = mask.unsqueeze(-1).to(rows.dtype)
    return (rows * there).sum(1) / torch.clamp(there.sum(1), min=1e-9)


def largest_of(rows, mask):
    return rows.masked_fill(mask.unsqueeze(-1) == 0, -1e9).max(1).values


class Wrapped(nn.Module):
    """A BERT, and `head` over its output and the mask."""

    def __init__(self, head, columns=0, hidden_states=False):
        super().__init__()
        self.bert, self.head, self.hidden_states = small_bert(), head, hidden_states
        if columns:
            self.out = nn.Linear(columns, LABELS)

    def forward(self, input_ids, attention_mask):
        output = self.bert(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=self.hidden_states)
        return self.head(self, output, attention_mask)


def mean(model, output, mask):
    return mean_of(output.last_hidden_state, mask)


def mean_normalized(model, output, mask):
    return functional.normalize(mean(model, output, mask), p=2, dim=1)


def mean_cut_normalized(model, output, mask):
    return functional.normalize(mean(model, output, mask)[:, :16], dim=1)


def first(model, output, mask):
    return output.last_hidden_state[:, 0]


def first_normalized(model, output, mask):
    return functional.normalize(first(model, output, mask), dim=-1)


def largest(model, output, mask):
    return largest_of(output.last_hidden_state, mask)


def mean_and_largest(model, output, mask):
    return model.out(torch.cat([mean(model, output, mask), largest(model, output, mask)], 1))


def four_layers(model, output, mask):
    states = output.hidden_states
    return model.out(torch.cat([states[i][:, 0] for i in (-1, -2, -1, -3)], -1))


def pooled(model, output, mask):
    return model.out(output.pooler_output)


def pooled_sigmoid(model, output, mask):
    return torch.sigmoid(pooled(model, output, mask))


def of_texts_and_tokens(model, output, mask):
    return model.out(output.pooler_output), model.out(output.last_hidden_state)


class WeightedLayers(nn.Module):
    """A learned mix of a BERT's layers, averaged over tokens."""

    def __init__(self):
        super().__init__()
        self.bert, self.weights, self.out = small_bert(), nn.Parameter(torch.zeros(3)), nn.Linear(WIDTH, LABELS)

    def forward(self, input_ids, attention_mask):
        states = self.bert(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        weights = torch.softmax(self.weights, 0)
        mixed = sum(weights[i] * state for i, state in enumerate(states))
        return self.out(mean_of(mixed, attention_mask))


class AttentionPooled(nn.Module):
    """A BERT, and a weighted mean of its tokens: the weights are a softmax over a score per token."""

    def __init__(self):
        super().__init__()
        self.bert, self.score, self.out = small_bert(), nn.Linear(WIDTH, 1), nn.Linear(WIDTH, LABELS)

    def forward(self, input_ids, attention_mask):
        rows = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        scores = self.score(torch.tanh(rows)).squeeze(-1).masked_fill(attention_mask == 0, -1e9)
        return self.out((torch.softmax(scores, -1).unsqueeze(-1) * rows).sum(1))


class BertLstm(nn.Module):
    """Tags from an LSTM after a BERT."""

    def __init__(self):
        super().__init__()
        self.bert, self.lstm = small_bert(), nn.LSTM(WIDTH, 16, bidirectional=True, batch_first=True)
        self.out = nn.Linear(32, LABELS)

    def forward(self, input_ids, attention_mask):
        rows = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return self.out(self.lstm(rows)[0])


class SelfAttention(nn.Module):
    """Attention as in minimal GPTs: one matrix for queries, keys and values."""

    def __init__(self, fused):
        super().__init__()
        self.fused, self.qkv, self.out = fused, nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("seen", torch.tril(torch.ones(PLACES, PLACES)).view(1, 1, PLACES, PLACES))

    def forward(self, x):
        texts, tokens, columns = x.size()
        parts = self.qkv(x).split(columns, dim=2)
        q, k, v = (part.view(texts, tokens, HEADS, columns // HEADS).transpose(1, 2) for part in parts)
        if self.fused:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.seen[:, :, :tokens, :tokens] == 0, float("-inf"))
            y = torch.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).contiguous().view(texts, tokens, columns))


class GptBlock(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.before, self.attention, self.between = nn.LayerNorm(WIDTH), SelfAttention(fused), nn.LayerNorm(WIDTH)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.layers(self.between(x))


class MinimalGpt(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.blocks, self.last = nn.ModuleList(GptBlock(fused) for _ in range(2)), nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.out.weight = self.words.weight

    def forward(self, input_ids):
        x = self.words(input_ids) + self.places(torch.arange(input_ids.size(1), device=input_ids.device))
        for block in self.blocks:
            x = block(x)
        return self.out(self.last(x))


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class SmallLlama(nn.Module):
    """Handwritten rotary positions of halves, RMS norms and a gated feed-forward layer."""

    def __init__(self):
        super().__init__()
        self.words, self.before, self.between, self.last = (
            nn.Embedding(VOCABULARY, WIDTH),
            RmsNorm(),
            RmsNorm(),
            RmsNorm(),
        )
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(WIDTH, 48), nn.Linear(WIDTH, 48), nn.Linear(48, WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY, bias=False)
        angles = 1.0 / 10000 ** (torch.arange(0, WIDTH // HEADS, 2).float() / (WIDTH // HEADS))
        self.register_buffer("angles", angles)

    def turned(self, x):
        angles = torch.outer(torch.arange(x.size(2), device=x.device).float(), self.angles)
        angles = torch.cat([angles, angles], -1)
        a, b = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-b, a], -1) * angles.sin()

    def forward(self, input_ids):
        x = self.words(input_ids)
        texts, tokens, columns = x.shape
        y = self.before(x)
        q, k, v = (m(y).view(texts, tokens, HEADS, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
        y = functional.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(texts, tokens, columns))
        y = self.between(x)
        x = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return self.out(self.last(x))


class PositionalEncoding(nn.Module):
    """The tutorial's sinusoids: a buffer [1, positions, columns], or [positions, 1, columns] if tokens are axis 0."""

    def __init__(self, tokens_first=False, places=PLACES):
        super().__init__()
        self.dropout, self.tokens_first = nn.Dropout(0.1), tokens_first
        position = torch.arange(places).unsqueeze(1)
        steps = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table = torch.zeros(places, WIDTH)
        table[:, 0::2], table[:, 1::2] = torch.sin(position * steps), torch.cos(position * steps)
        self.register_buffer("pe", table.unsqueeze(1 if tokens_first else 0))

    def forward(self, x):
        if self.tokens_first:
            return self.dropout(x + self.pe[: x.size(0)])
        return self.dropout(x + self.pe[:, : x.size(1)])


def torch_encoder(batch_first=True, **settings):
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=batch_first, **settings)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


class TutorialTransformer(nn.Module):
    """The tutorial's positions, nn.TransformerEncoder, and the mean over tokens."""

    def __init__(self, places=PLACES):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), PositionalEncoding(places=places)
        self.encoder, self.out = torch_encoder(), nn.Linear(WIDTH, LABELS)

    def forward(self, input_ids):
        x = self.places(self.words(input_ids) * math.sqrt(WIDTH))
        return self.out(self.encoder(x).mean(1))


class TutorialLanguageModel(nn.Module):
    """The tutorial's first form: axes [tokens, texts], and a causal mask."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), PositionalEncoding(tokens_first=True)
        self.encoder, self.out = torch_encoder(batch_first=False), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, src):
        x = self.places(self.words(src.transpose(0, 1)) * math.sqrt(WIDTH))
        seen = torch.full((x.size(0), x.size(0)), float("-inf")).triu(1)
        return self.out(self.encoder(x, seen, is_causal=True)).transpose(0, 1)


class PaddedTransformer(nn.Module):
    """Learned positions, the padding mask of nn.TransformerEncoder, and the mean of the tokens that are not padding."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.encoder, self.out = torch_encoder(activation="gelu", norm_first=True), nn.Linear(WIDTH, LABELS)

    def forward(self, src, src_mask):
        x = self.words(src) + self.places(torch.arange(src.size(1), device=src.device))
        rows = self.encoder(x, src_key_padding_mask=src_mask == 0)
        return self.out(mean_of(rows, src_mask))


class LstmAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = (
            nn.Embedding(VOCABULARY, WIDTH),
            nn.LSTM(WIDTH, 16, bidirectional=True, batch_first=True),
        )
        self.score, self.out = nn.Linear(32, 1), nn.Linear(32, LABELS)

    def forward(self, input_ids):
        rows, _ = self.lstm(self.words(input_ids))
        weights = torch.softmax(self.score(torch.tanh(rows)), dim=1)
        return self.out((weights * rows).sum(dim=1))


class LstmState(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0), nn.LSTM(WIDTH, 16, batch_first=True)
        self.dropout, self.out = nn.Dropout(0.5), nn.Linear(16, LABELS)

    def forward(self, text):
        _, (state, _) = self.lstm(self.words(text))
        return self.out(self.dropout(state[-1]))


class LstmLastOutput(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(VOCABULARY, WIDTH), nn.LSTM(WIDTH, 16, num_layers=2, batch_first=True)
        self.out = nn.Linear(16, LABELS)

    def forward(self, x):
        rows, _ = self.lstm(self.words(x))
        return self.out(rows[:, -1, :])


class GruTags(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.gru = nn.Embedding(VOCABULARY, WIDTH), nn.GRU(WIDTH, 16, bidirectional=True, batch_first=True)
        self.out = nn.Linear(32, LABELS)

    def forward(self, sentence):
        return self.out(self.gru(self.words(sentence))[0])


class CharacterRnn(nn.Module):
    """The tutorial's classifier of names with an LSTM: log probabilities from the last state."""

    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(VOCABULARY, WIDTH), nn.LSTM(WIDTH, 16)
        self.out, self.softmax = nn.Linear(16, LABELS), nn.LogSoftmax(dim=1)

    def forward(self, line):
        _, (state, _) = self.lstm(self.words(line.t()))
        return self.softmax(self.out(state[0]))


class TextCnn2d(nn.Module):
    """Kim's TextCNN in its usual form."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.convolutions = nn.ModuleList(nn.Conv2d(1, 8, (size, WIDTH)) for size in (2, 3, 4))
        self.dropout, self.out = nn.Dropout(0.5), nn.Linear(24, LABELS)

    def forward(self, x):
        x = self.words(x).unsqueeze(1)
        x = [functional.relu(convolution(x)).squeeze(3) for convolution in self.convolutions]
        x = [functional.max_pool1d(one, one.size(2)).squeeze(2) for one in x]
        return self.out(self.dropout(torch.cat(x, 1)))


class TextCnn1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.convolutions = nn.ModuleList(nn.Conv1d(WIDTH, 8, size, padding=size // 2) for size in (3, 5))
        self.out = nn.Linear(16, LABELS)

    def forward(self, input_ids):
        x = self.words(input_ids).transpose(1, 2)
        return self.out(torch.cat([torch.relu(one(x)).max(dim=2)[0] for one in self.convolutions], 1))


class DilatedCnn(nn.Module):
    """Tags from dilated convolutions."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Conv1d(24, LABELS, 1)
        self.a = nn.Conv1d(WIDTH, 24, 3, padding=1)
        self.b = nn.Conv1d(24, 24, 3, padding=2, dilation=2)

    def forward(self, chars):
        x = self.words(chars).transpose(1, 2)
        return self.out(torch.relu(self.b(torch.relu(self.a(x))))).transpose(1, 2)


class WordAverage(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, LABELS)

    def forward(self, tokens):
        return self.out(self.words(tokens).mean(dim=1))


class BagOfWords(nn.Module):
    """The tutorial's nn.EmbeddingBag."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.EmbeddingBag(VOCABULARY, WIDTH, mode="mean"), nn.Linear(WIDTH, LABELS)

    def forward(self, text):
        return self.out(self.words(text))


class AverageWithBatchNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(VOCABULARY, WIDTH), nn.BatchNorm1d(WIDTH)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, LABELS))

    def forward(self, input_ids, attention_mask):
        return self.layers(self.norm(mean_of(self.words(input_ids), attention_mask)))


class Probabilities(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, LABELS)

    def forward(self, input_ids, attention_mask):
        there = attention_mask.unsqueeze(-1).float()
        return functional.softmax(self.out((self.words(input_ids) * there).sum(1) / there.sum(1)), dim=-1)


class CrossEncoder(nn.Module):
    """One score for a pair of texts with segments."""

    def __init__(self):
        super().__init__()
        self.bert, self.out = small_bert(), nn.Linear(WIDTH, 1)

    def forward(self, input_ids, attention_mask, token_type_ids):
        output = self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return torch.sigmoid(self.out(output.pooler_output)).squeeze(-1)


SEGMENTED = (*MASKED, "token_type_ids")
MODELS = {
    "bert-mean": (lambda: Wrapped(mean), MASKED, EMBED),
    "bert-mean-normalized": (lambda: Wrapped(mean_normalized), MASKED, EMBED),
    "bert-mean-cut-normalized": (lambda: Wrapped(mean_cut_normalized), MASKED, EMBED),
    "bert-first": (lambda: Wrapped(first), MASKED, EMBED),
    "bert-first-normalized": (lambda: Wrapped(first_normalized), MASKED, EMBED),
    "bert-largest": (lambda: Wrapped(largest), MASKED, EMBED),
    "bert-mean-and-largest": (lambda: Wrapped(mean_and_largest, 2 * WIDTH), MASKED, CLASSIFY),
    "bert-four-layers": (lambda: Wrapped(four_layers, 4 * WIDTH, True), MASKED, CLASSIFY),
    "bert-pooled": (lambda: Wrapped(pooled, WIDTH), MASKED, CLASSIFY),
    "bert-sigmoid": (lambda: Wrapped(pooled_sigmoid, WIDTH), MASKED, ("--task", "multi-label")),
    "bert-texts-and-tokens": (lambda: Wrapped(of_texts_and_tokens, WIDTH), MASKED, ("--task", "encoder")),
    "bert-weighted-layers": (WeightedLayers, MASKED, CLASSIFY),
    "bert-attention-pooled": (AttentionPooled, MASKED, CLASSIFY),
    "bert-lstm-tags": (BertLstm, MASKED, TAG),
    "cross-encoder": (CrossEncoder, SEGMENTED, ("--task", "regress")),
    "gpt-fused": (lambda: MinimalGpt(True), IDS, GENERATE),
    "gpt-by-hand": (lambda: MinimalGpt(False), IDS, GENERATE),
    "llama-by-hand": (SmallLlama, IDS, GENERATE),
    "tutorial-transformer": (TutorialTransformer, IDS, CLASSIFY),
    "tutorial-transformer-long": (lambda: TutorialTransformer(5000), IDS, CLASSIFY),
    "tutorial-language-model": (TutorialLanguageModel, ("src",), GENERATE),
    "padded-transformer": (PaddedTransformer, ("src", "src_mask"), CLASSIFY),
    "lstm-attention": (LstmAttention, IDS, CLASSIFY),
    "lstm-state": (LstmState, ("text",), CLASSIFY),
    "lstm-last-output": (LstmLastOutput, ("x",), CLASSIFY),
    "gru-tags": (GruTags, ("sentence",), TAG),
    "character-rnn": (CharacterRnn, ("line",), CLASSIFY),
    "text-cnn-2d": (TextCnn2d, ("x",), CLASSIFY),
    "text-cnn-1d": (TextCnn1d, IDS, CLASSIFY),
    "dilated-cnn-tags": (DilatedCnn, ("chars",), TAG),
    "word-average": (WordAverage, ("tokens",), CLASSIFY),
    "bag-of-words": (BagOfWords, ("text",), CLASSIFY),
    "average-batch-norm": (AverageWithBatchNorm, MASKED, CLASSIFY),
    "probabilities": (Probabilities, MASKED, CLASSIFY),
    "tagger-of-hidden-rows": (lambda: Wrapped(lambda m, o, _: m.out(o.last_hidden_state), WIDTH), MASKED, TAG),
}

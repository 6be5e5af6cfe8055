"""Recurrent encoder-decoders of torch in the names of docs/recurrent.md: what they are, small ones to test, and what generate() of
transformers makes with them, greedily and by beams."""

import json
import pathlib
import random

import torch
import transformers
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

import own_layouts
import reference
from generation import Shake

SOURCE, TARGET = 41, 37
END, START, LAST = 2, 2, 3  # of sources; of targets
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = {"seq2seq-gru": 50, "seq2seq-bahdanau": 12, "seq2seq-feeding": 12}  # made by each way of generating

# name: settings
LAYOUTS = {
    "seq2seq-gru": dict(model_type="seq2seq-gru", hidden_size=29),
    "seq2seq-lstm": dict(
        cell_type="lstm",
        embedding_size=10,
        hidden_size=9,
        decoder_hidden_size=18,
        num_layers=2,
        bidirectional=True,
        context="steps",
    ),
    "seq2seq-bridge": dict(
        cell_type="gru",
        encoder_embedding_size=10,
        decoder_embedding_size=12,
        hidden_size=17,
        decoder_hidden_size=11,
        num_layers=2,
        bidirectional=True,
        state_join="sum",
        bridge="tanh",
    ),
    "seq2seq-last": dict(
        cell_type="lstm",
        embedding_size=15,
        hidden_size=14,
        encoder_layers=2,
        decoder_layers=3,
        bidirectional=True,
        state_join="mean",
        first_state="last",
        bridge="linear",
        context="steps",
    ),
    "seq2seq-zeros": dict(
        cell_type="gru",
        embedding_size=16,
        hidden_size=16,
        bidirectional=True,
        state_join="reverse",
        first_state="zeros",
        context="steps",
    ),
    "seq2seq-general": dict(
        cell_type="gru",
        embedding_size=10,
        hidden_size=9,
        decoder_hidden_size=13,
        bidirectional=True,
        bridge="tanh",
        attention=dict(score="general", size=11),
    ),
    "seq2seq-dot": dict(
        cell_type="lstm",
        embedding_size=12,
        hidden_size=14,
        num_layers=2,
        attention=dict(score="scaled_dot"),
    ),
    "seq2seq-plain-dot": dict(
        cell_type="gru",
        embedding_size=12,
        hidden_size=7,
        decoder_hidden_size=14,
        bidirectional=True,
        attention=dict(score="dot", size=19, activation="none"),
    ),
    "seq2seq-bahdanau": dict(
        cell_type="gru",
        embedding_size=12,
        hidden_size=14,
        decoder_hidden_size=18,
        bidirectional=True,
        state_join="reverse",
        bridge="tanh",
        attention=dict(score="additive", state="previous", readout="maxout", score_size=11, size=26),
    ),
    "seq2seq-feeding": dict(
        cell_type="lstm",
        embedding_size=12,
        hidden_size=15,
        num_layers=2,
        attention=dict(score="general", input_feeding=True, window="local-p", window_size=4, size=13, position_size=9),
    ),
    "seq2seq-local": dict(
        cell_type="lstm",
        embedding_size=12,
        hidden_size=7,
        decoder_hidden_size=14,
        bidirectional=True,
        first_state="zeros",
        attention=dict(score="scaled_dot", window="local-m", window_size=2),
    ),
    "seq2seq-tutorial": dict(
        cell_type="gru",
        embedding_size=10,
        hidden_size=17,
        encoder_layers=1,
        decoder_layers=2,
        first_state="last",
        attention=dict(score="additive", state="previous", readout="none"),
    ),
    "seq2seq-all": dict(
        cell_type="lstm",
        embedding_size=9,
        hidden_size=10,
        decoder_hidden_size=12,
        num_layers=2,
        bidirectional=True,
        bridge="linear",
        context="steps",
        attention=dict(
            score="additive",
            state="previous",
            input_feeding=True,
            window="local-p",
            window_size=3,
            readout="maxout",
            readout_state="current",
        ),
    ),
}  # fmt: skip


class Attention(torch.nn.Module):
    """How a decoder's state looks at the rows of a source, and what the output layer reads: Luong et al. (arXiv 1508.04025, equation
    numbers with L), Bahdanau et al. (arXiv 1409.0473, with B)."""

    def __init__(self, settings, states, rows, words):
        super().__init__()
        self.settings = settings
        self.score, self.window = settings["score"], settings.get("window", "global")
        self.readout = settings.get("readout", "combine")
        if self.score == "general":
            self.weight = torch.nn.Parameter(torch.empty(states, rows))
        if self.score == "additive":
            size = settings.get("score_size", states)
            self.query = torch.nn.Linear(states, size, bias=self.readout == "none")
            self.key = torch.nn.Linear(rows, size, bias=self.readout == "none")
            self.energy = torch.nn.Linear(size, 1, bias=self.readout == "none")
        if self.window == "local-p":
            size = settings.get("position_size", states)
            self.position = torch.nn.Linear(states, size, bias=False)
            self.position_energy = torch.nn.Linear(size, 1, bias=False)
        if self.readout == "combine":
            self.combine = torch.nn.Linear(rows + states, settings.get("size", states))
        if self.readout == "maxout":
            self.maxout = torch.nn.Linear(states + words + rows, settings.get("size", 2 * states))

    def width(self, states):
        if self.readout == "none":
            return states
        return self.combine.out_features if self.readout == "combine" else self.maxout.out_features // 2

    def scores(self, state, rows):
        """L8 and, additive, B A.1.2."""
        if self.score == "additive":
            return self.energy(torch.tanh(self.query(state) + self.key(rows)))[:, 0]
        if self.score == "general":
            return rows @ (state @ self.weight)
        return rows @ state / (len(state) ** 0.5 if self.score == "scaled_dot" else 1)

    def context(self, state, rows, token):
        """L section 3.2: token number t looks around row t (local-m), or around S sigmoid(v tanh(W h)) (local-p)."""
        scores, at = self.scores(state, rows), torch.arange(len(rows), dtype=rows.dtype)
        if self.window == "global":
            return scores.softmax(dim=0) @ rows
        around, window = torch.tensor(token, dtype=rows.dtype), self.settings["window_size"]
        if self.window == "local-p":
            around = len(rows) * torch.sigmoid(self.position_energy(torch.tanh(self.position(state))))  # L9
        seen = (at - around).abs() <= window
        if not seen.any():
            return torch.zeros_like(rows[0])
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=0)
        if self.window == "local-p":
            weights = weights * torch.exp(-((at - around) ** 2) / (2 * (window / 2) ** 2))  # L10
        return weights @ rows

    def read(self, state, word, context):
        if self.readout == "none":
            return state
        if self.readout == "combine":  # L5
            combined = self.combine(torch.cat([context, state]))
            return combined if self.settings.get("activation") == "none" else torch.tanh(combined)
        return self.maxout(torch.cat([state, word, context])).view(-1, 2).amax(dim=1)  # B A.2.2


class Seq2Seq(torch.nn.Module):
    """Call it with ids of a source and of the decoder's text: scores of what follows each token."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        hidden = config["hidden_size"]
        self.gru = config["model_type"].endswith("gru") or config.get("cell_type") == "gru"
        self.both = config.get("bidirectional", False)
        module = torch.nn.GRU if self.gru else torch.nn.LSTM

        def stack(side, words, beside):
            part = torch.nn.Module()
            columns = config.get(side + "_embedding_size", config.get("embedding_size", hidden))
            part.embedding = torch.nn.Embedding(words, columns)
            cells = config.get(side + "_hidden_size", hidden)
            layers = config.get(side + "_layers", config.get("num_layers", 1))
            both = self.both and side == "encoder"
            part.rnn = module(columns + beside, cells, num_layers=layers, bidirectional=both, batch_first=True)
            return part, cells

        join = config.get("state_join", "concat")
        self.encoder, cells = stack("encoder", SOURCE, 0)
        joined = 2 * cells if self.both and join == "concat" else cells
        attention, rows = config.get("attention", {}), cells * (2 if self.both else 1)
        beside = joined if config.get("context") == "steps" else 0
        if attention.get("state") == "previous":
            beside += rows
        if attention.get("input_feeding"):
            width = config.get("decoder_hidden_size", hidden)
            maxout = attention.get("readout") == "maxout"
            beside += attention.get("size", 2 * width) // 2 if maxout else attention.get("size", width)
        self.decoder, width = stack("decoder", TARGET, beside)
        if config.get("bridge", "none") != "none":
            self.bridge = torch.nn.Linear(joined, width)
            if not self.gru:
                self.bridge_cells = torch.nn.Linear(joined, width, bias=False)
        if "attention" in config:
            self.attention = Attention(attention, width, rows, self.decoder.embedding.embedding_dim)
            width = self.attention.width(width)
        self.output = torch.nn.Linear(width, TARGET)

    def join(self, last):
        """[layers, joined] of what torch returns, [layers * directions, 1, cells]."""
        if not self.both:
            return last[:, 0]
        ahead, back = last[0::2, 0], last[1::2, 0]
        join = self.config.get("state_join", "concat")
        if join == "concat":
            return torch.cat([ahead, back], dim=-1)
        return {"sum": ahead + back, "mean": (ahead + back) / 2, "forward": ahead, "reverse": back}[join]

    def first(self, left, bridge):
        begins = self.config.get("first_state", "layers")
        layers = self.decoder.rnn.num_layers
        if begins == "zeros":
            return torch.zeros(layers, 1, self.decoder.rnn.hidden_size, dtype=left.dtype)
        left = left[-1:].repeat(layers, 1) if begins == "last" else left
        if bridge is not None:
            left = bridge(left)
        return (torch.tanh(left) if self.config.get("bridge") == "tanh" else left)[:, None]

    def forward(self, ids, decoder_ids):
        rows, last = self.encoder.rnn(self.encoder.embedding(torch.tensor([ids])))
        states = self.join(last if self.gru else last[0])
        begins = self.first(states, getattr(self, "bridge", None))
        if not self.gru:
            begins = (begins, self.first(self.join(last[1]), getattr(self, "bridge_cells", None)))
        x = self.decoder.embedding(torch.tensor([decoder_ids]))
        whole = [states[-1]] if self.config.get("context") == "steps" else []
        if "attention" in self.config:
            return self.output(self.attend(x[0], whole, begins, rows[0])[None])
        x = torch.cat([x, *(row.expand(1, len(decoder_ids), -1) for row in whole)], dim=-1)
        return self.output(self.decoder.rnn(x, begins)[0])

    def attend(self, words, whole, known, rows):
        """The rows that the output layer reads for each token, one after the other."""
        attention, settings = self.attention, self.config["attention"]
        previous, feeding = settings.get("state") == "previous", settings.get("input_feeding", False)
        of_previous = settings.get("readout_state", "previous" if attention.readout == "maxout" and previous else "")
        fed, made = torch.zeros(self.output.in_features, dtype=words.dtype), []
        for token, word in enumerate(words):
            before = (known if self.gru else known[0])[-1, 0]
            x = [word, *whole]
            if previous:
                context = attention.context(before, rows, token)  # B A.1.2: c_i of s_{i-1}
                x.append(context)
            if feeding:
                x.append(fed)  # L section 3.3
            out, known = self.decoder.rnn(torch.cat(x)[None, None], known)
            if not previous:
                context = attention.context(out[0, 0], rows, token)
            fed = attention.read(before if of_previous == "previous" else out[0, 0], word, context)
            made.append(fed)
        return torch.stack(made)


class Ids(torch.nn.Module):
    def forward(self, input_ids=None, **_):
        return BaseModelOutput(last_hidden_state=input_ids[:, :, None].double())


class Generating(transformers.PreTrainedModel, transformers.GenerationMixin):
    """The same for transformers' generate(), which runs all that there is at each step. "Encoder" states are ids."""

    config_class = transformers.PretrainedConfig
    main_input_name = "input_ids"

    def __init__(self, model):
        super().__init__(transformers.PretrainedConfig(is_encoder_decoder=True, vocab_size=TARGET))
        self.post_init()  # which gives modules that are there already other weights
        self.model = model

    def get_encoder(self, *_, **__):
        return Ids()

    def prepare_inputs_for_generation(self, ids, encoder_outputs=None, **_):
        return {"encoder_outputs": encoder_outputs, "decoder_input_ids": ids}

    def forward(self, encoder_outputs=None, decoder_input_ids=None, **_):
        rows = zip(encoder_outputs[0][:, :, 0].long().tolist(), decoder_input_ids.tolist())
        return Seq2SeqLMOutput(logits=torch.cat([self.model(source, target)[:, -1:] for source, target in rows]))

    @property
    def device(self):
        return torch.device("cpu")


def is_one(directory):
    config = json.loads((pathlib.Path(directory) / "config.json").read_text())
    return config.get("model_type", "").startswith("seq2seq")


def load(directory):
    import safetensors.torch

    directory = pathlib.Path(directory)
    model = Seq2Seq(json.loads((directory / "config.json").read_text()))
    model.load_state_dict(safetensors.torch.load_file(directory / "model.safetensors"))
    return model.double().eval()


def vocabularies():
    source = ["<pad>", "<unk>", "</s>", *LETTERS, *"äéñøß0123456"]
    target = ["<pad>", "<unk>", "<s>", "</s>", *(a.upper() + b for a in "bdklmnrst" for b in ("a", "e", "oo", ""))]
    return source[:SOURCE], target[:TARGET]


def make(directory, randomize, seed):
    directory.mkdir(parents=True)
    config = {"model_type": "seq2seq", **LAYOUTS[directory.name]}
    if directory.name in TEXTS:
        source, target = vocabularies()
        assert (len(source), len(target)) == (SOURCE, TARGET)
        config.update(source_vocab=source, target_vocab=target, max_length=12)
        config.update(source_eos="</s>", decoder_start="<s>", decoder_eos="</s>")
    else:
        config.update(source_vocab_size=SOURCE, target_vocab_size=TARGET, max_target_length=24, max_source_length=24)
        config.update(decoder_start_token_id=START, eos_token_id=LAST)
    model = Seq2Seq(config)
    randomize(model, seed, gain=2.5)  # so that texts depend on their sources
    model.output.bias.data[LAST] += 2.7 if config.get("attention", {}).get("readout") == "maxout" else 1.5
    own_layouts.write_halves(directory, config, model)
    write_expected(directory, seed)
    if directory.name in TEXTS:
        write_generated(directory)


def write_expected(directory, seed):
    model, draw = load(directory), random.Random(seed)
    with torch.no_grad(), open(directory / "expected.jsonl", "w") as file:
        beyond = [(2, 9)] if "window" in model.config.get("attention", {}) else []
        for source, target in ((1, 1), (6, 3), (11, 9), (17, 4), (24, 12), *beyond):
            ids = [*(draw.randrange(4, SOURCE) for _ in range(source - 1)), END]
            decoder_ids = [START, *(draw.randrange(4, TARGET) for _ in range(target - 1))]
            line = {"ids": ids, "decoder_ids": decoder_ids}
            line["logits"] = reference.as_lists(model(ids, decoder_ids))
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def write_generated(directory):
    """Writes generated texts; sources whose result depends on rounding are left out."""
    model = Generating(load(directory))
    source, target = vocabularies()
    draw = random.Random(5)

    def made_of(ids, beams, processors=()):
        made = model.generate(
            torch.tensor([ids]),
            decoder_start_token_id=START,
            eos_token_id=LAST,
            pad_token_id=0,
            do_sample=False,
            use_cache=False,
            num_beams=beams,
            max_new_tokens=12,
            logits_processor=transformers.LogitsProcessorList(processors),
            return_dict_in_generate=True,
            output_scores=True,
        )
        score = made.sequences_scores[0].item() if "sequences_scores" in made else None
        return made.sequences[0, 1:].tolist(), score

    with torch.no_grad(), open(directory / "generate.jsonl", "w") as file:
        for kind, beams in (("greedy", 1), ("beams", 4)):
            kept = ended = 0
            while kept < TEXTS[directory.name]:
                text = "".join(draw.choice(source[3:]) for _ in range(draw.randrange(1, 15)))
                ids = [*(source.index(c) for c in text), END]
                made, score = made_of(ids, beams)
                if any(made_of(ids, beams, [Shake(at, 4e-3)])[0] != made for at in range(2)):
                    continue
                words = " ".join(target[i] for i in made if i not in (0, START, LAST))
                line = {"kind": kind, "text": text, "ids": made, "generated": words}
                if score is not None:
                    line["score"] = score
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                kept += 1
                ended += made[-1] == LAST
            print(kind, kept, ended)
            assert ended * 10 >= kept, (kind, ended)

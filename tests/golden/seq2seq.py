"""Recurrent encoder-decoders of torch in the names of docs/recurrent.md: what they are, small ones to test, and what generate() of
transformers makes with them, greedily and by beams."""

import json
import pathlib
import random

import torch
import transformers
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

import reference
from generation import Shake

SOURCE, TARGET = 41, 37
END, START, LAST = 2, 2, 3  # of sources; of targets
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = "seq2seq-gru"

# name: settings
LAYOUTS = {
    TEXTS: dict(model_type="seq2seq-gru", hidden_size=29),
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
}  # fmt: skip


class Attention(torch.nn.Module):
    """Global attention of Luong et al. (arXiv 1508.04025)."""

    def __init__(self, settings, states, rows):
        super().__init__()
        self.settings = settings
        if settings["score"] == "general":
            self.weight = torch.nn.Parameter(torch.empty(states, rows))
        self.combine = torch.nn.Linear(rows + states, settings.get("size", states))

    def forward(self, states, rows):
        keys = rows @ self.weight.T if self.settings["score"] == "general" else rows
        scale = states.shape[-1] ** -0.5 if self.settings["score"] == "scaled_dot" else 1
        shares = (states @ keys.transpose(1, 2) * scale).softmax(dim=-1)
        combined = self.combine(torch.cat([shares @ rows, states], dim=-1))
        return combined if self.settings.get("activation") == "none" else torch.tanh(combined)


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
        self.decoder, width = stack("decoder", TARGET, joined if config.get("context") == "steps" else 0)
        if config.get("bridge", "none") != "none":
            self.bridge = torch.nn.Linear(joined, width)
            if not self.gru:
                self.bridge_cells = torch.nn.Linear(joined, width, bias=False)
        if "attention" in config:
            self.attention = Attention(config["attention"], width, cells * (2 if self.both else 1))
            width = self.attention.combine.out_features
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
        if self.config.get("context") == "steps":
            x = torch.cat([x, states[-1].expand(1, len(decoder_ids), -1)], dim=-1)
        made = self.decoder.rnn(x, begins)[0]
        return self.output(self.attention(made, rows) if hasattr(self, "attention") else made)


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
    import safetensors.torch

    directory.mkdir(parents=True)
    config = {"model_type": "seq2seq", **LAYOUTS[directory.name]}
    if directory.name == TEXTS:
        source, target = vocabularies()
        assert (len(source), len(target)) == (SOURCE, TARGET)
        config.update(source_vocab=source, target_vocab=target, max_length=12)
        config.update(source_eos="</s>", decoder_start="<s>", decoder_eos="</s>")
    else:
        config.update(source_vocab_size=SOURCE, target_vocab_size=TARGET, max_target_length=24, max_source_length=24)
        config.update(decoder_start_token_id=START, eos_token_id=LAST)
    model = Seq2Seq(config)
    randomize(model, seed, gain=2.5)  # so that texts depend on their sources
    model.output.bias.data[LAST] += 1.5
    (directory / "config.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n")
    tensors = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    safetensors.torch.save_file(tensors, directory / "model.safetensors")
    write_expected(directory, seed)
    if directory.name == TEXTS:
        write_generated(directory)


def write_expected(directory, seed):
    model, draw = load(directory), random.Random(seed)
    with torch.no_grad(), open(directory / "expected.jsonl", "w") as file:
        for source, target in ((1, 1), (6, 3), (11, 9), (17, 4), (24, 12)):
            ids = [*(draw.randrange(4, SOURCE) for _ in range(source - 1)), END]
            decoder_ids = [START, *(draw.randrange(4, TARGET) for _ in range(target - 1))]
            line = {"ids": ids, "decoder_ids": decoder_ids}
            line["logits"] = reference.as_lists(model(ids, decoder_ids))
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def write_generated(directory):
    """What hangs on rounding is left out."""
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
            while kept < 50:
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
            assert ended > 5, (kind, ended)

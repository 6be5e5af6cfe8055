"""Answers of the original libraries: loads a Hugging Face directory and runs token ids through it in f64.

f64, because a reference should not carry rounding of its own: transformers in f32 differs from it by about 1e-6.
"""

import contextlib
import json
import pathlib

import torch
import transformers

import colbert
import elmo
import gpt3
import jina_bert
import linear_attention
import long_texts
import papers
import recurrent
import reformer
import shaw
import splade
import static_embeddings
import textcnn
import transfo_xl

OUTPUTS = (
    "logits",
    "start_logits",
    "end_logits",
    "prediction_logits",
    "seq_relationship_logits",
    "sop_logits",
    "last_hidden_state",
    "pooler_output",
)


class JointBertForIntentAndSlots(transformers.BertPreTrainedModel):
    """Intent of the sentence from token 0 of the last hidden state, a slot for each token."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        self.intent_classifier = torch.nn.Linear(config.hidden_size, len(config.intent_labels))
        self.slot_classifier = torch.nn.Linear(config.hidden_size, len(config.slot_labels))
        self.post_init()

    def forward(self, input_ids, token_type_ids=None):
        hidden = self.bert(input_ids=input_ids, token_type_ids=token_type_ids).last_hidden_state
        return {"intent_logits": self.intent_classifier(hidden[:, 0]), "slot_logits": self.slot_classifier(hidden)}


class Crf(torch.nn.Module):
    """A linear-chain conditional random field in the names of pytorch-crf: transitions go from row to column."""

    def __init__(self, tags):
        super().__init__()
        self.start_transitions = torch.nn.Parameter(torch.empty(tags))
        self.end_transitions = torch.nn.Parameter(torch.empty(tags))
        self.transitions = torch.nn.Parameter(torch.empty(tags, tags))

    def best(self, scores):
        """Score of the best of all chains."""
        total = self.start_transitions + scores[0]
        for row in scores[1:]:
            total = (total[:, None] + self.transitions).max(dim=0).values + row
        return (total + self.end_transitions).max()

    def forward(self, scores):
        """For each token and tag the best chain with this tag there, less the best of all: each by itself, by definition."""
        found = torch.empty_like(scores)
        for token in range(scores.shape[0]):
            for tag in range(scores.shape[1]):
                forced = scores.clone()
                forced[token] = -torch.inf
                forced[token, tag] = scores[token, tag]
                found[token, tag] = self.best(forced)
        return found - self.best(scores)


class BertCrfForTokenClassification(transformers.BertPreTrainedModel):
    """A tag for each token, of the best chain of tags of all tokens."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        self.classifier = torch.nn.Linear(config.hidden_size, config.num_labels)
        self.crf = Crf(config.num_labels)
        self.post_init()

    def forward(self, input_ids, token_type_ids=None):
        hidden = self.bert(input_ids=input_ids, token_type_ids=token_type_ids).last_hidden_state
        return {"logits": self.crf(self.classifier(hidden)[0])[None]}


OWN = {own.__name__: own for own in (JointBertForIntentAndSlots, BertCrfForTokenClassification)}


def model_class(directory):
    config = json.loads((pathlib.Path(directory) / "config.json").read_text())
    name = (config.get("architectures") or ["AutoModel"])[0]
    return OWN[name] if name in OWN else getattr(transformers, name)


def load(directory):
    """The model of a directory in f64, experts one after the other: grouped products know no f64."""
    model = model_class(directory).from_pretrained(directory, dtype=torch.float64).double().eval()
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")
    return model


def as_lists(value):
    """Without the batch dimension; eight significant digits are finer than an f32."""
    return json.loads(json.dumps(value[0].tolist()), parse_float=lambda digits: float(f"{float(digits):.8g}"))


def setfit_scores(head, vector):
    """The scores that SetFit's logistic regression takes the softmax of; of two labels the first has the score 0."""
    import safetensors.torch

    weights = safetensors.torch.load_file(head)
    scores = vector @ weights["coef"].T + weights["intercept"]
    return as_lists(torch.cat([torch.zeros_like(scores), scores], dim=-1) if scores.shape[-1] == 1 else scores)


def unilm_mask(config, ids, segments):
    """Which keys each query sees (arXiv 1905.03197), as numbers that are added to scores."""
    tokens = len(ids)
    sees = torch.ones(tokens, tokens, dtype=torch.bool)
    if config["unilm_mask"] != "bidirectional":
        sees = sees.tril()
    if config["unilm_mask"] == "seq2seq":
        sees = sees | (torch.tensor(segments or [0] * tokens) == 0)[None]
    return torch.zeros(tokens, tokens, dtype=torch.float64).masked_fill(~sees, -1e30)[None, None]


@contextlib.contextmanager
def all_in_double():
    """Norms, softmax and sums of some classes go down to f32 by themselves, which is not part of what they compute."""
    to, down, softmax, zeros = torch.Tensor.to, torch.Tensor.float, torch.nn.functional.softmax, torch.zeros_like

    def stay(self, *arguments, **named):
        down_to_f32 = torch.float32 in (*arguments, named.get("dtype"))
        return self if self.dtype is torch.float64 and down_to_f32 else to(self, *arguments, **named)

    torch.Tensor.to = stay
    torch.Tensor.float = lambda self: self if self.dtype is torch.float64 else down(self)
    torch.nn.functional.softmax = lambda x, dim=None, **_: softmax(x, dim=dim)
    torch.zeros_like = lambda x, **named: (
        zeros(x) if x.dtype is torch.float64 and named.get("dtype") is torch.float32 else zeros(x, **named)
    )
    try:
        yield
    finally:
        torch.Tensor.to, torch.Tensor.float, torch.nn.functional.softmax, torch.zeros_like = to, down, softmax, zeros


def searched_scores(model, inputs, out):
    """The scores of XLNet's search: scores of beginnings, and scores of ends behind each of the best beginnings. `out`, which has the best
    alone, must agree with them."""
    with all_in_double():
        hidden = model.transformer(**inputs).last_hidden_state
        start = model.start_logits(hidden)
        ranked = start.argsort(dim=-1, descending=True, stable=True)
        rows = [ranked[:, min(rank, ranked.shape[-1] - 1)] for rank in range(model.config.start_n_top)]
        ends = [model.end_logits(hidden, start_positions=row) for row in rows]
        share = start.softmax(dim=-1)
        none = model.answer_class(hidden, start_states=torch.einsum("blh,bl->bh", hidden, share))
    if out is not None:
        assert torch.allclose(share.gather(1, out.start_top_index), out.start_top_log_probs)
        best = torch.stack([end.softmax(dim=-1).topk(model.config.end_n_top).values for end in ends], dim=-1)
        assert torch.allclose(best.flatten(1), out.end_top_log_probs) and torch.allclose(none, out.cls_logits)
    names = ["end_logits"] + ["end_%d_logits" % rank for rank in range(1, len(ends))]
    return {"start_logits": start, **dict(zip(names, ends)), "cls_logits": none[:, None]}


class Reference:
    """Call it with ids and segments; the answer is {output name: nested lists} in transformers' shapes."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.sentence = (self.directory / "modules.json").exists()
        self.plain = None
        if static_embeddings.is_one(self.directory):
            self.plain = static_embeddings.StaticEmbeddings(self.directory)
        elif papers.is_one(self.directory):
            self.plain = papers.Paper(self.directory)
        elif gpt3.is_one(self.directory):
            self.plain = gpt3.Gpt3(self.directory)
        elif transfo_xl.is_one(self.directory):
            self.plain = transfo_xl.TransformerXl(self.directory)
        elif recurrent.is_one(self.directory):
            self.plain = recurrent.load(self.directory, Crf)
        elif elmo.is_one(self.directory):
            self.plain = elmo.load(self.directory, Crf)
        elif textcnn.is_one(self.directory):
            self.plain = textcnn.load(self.directory, Crf)
        elif (
            self.directory.joinpath("config.json").exists()
            and self.settings().get("position_embedding_type") == "alibi"
        ):
            self.plain = jina_bert.JinaBert(self.directory)
        elif colbert.is_one(self.directory):
            self.plain = colbert.ColBert(self.directory)
        elif splade.is_one(self.directory):
            self.model = splade.load(self.directory)
        elif self.sentence:
            import sentence_transformers

            self.model = sentence_transformers.SentenceTransformer(str(directory), device="cpu").double().eval()
        elif linear_attention.is_one(self.directory):
            self.model = linear_attention.load(self.directory)
        else:
            self.model = load(directory)
            shaw.load_vectors(self.model, self.directory)

    def settings(self):
        return json.loads((self.directory / "config.json").read_text())

    def segmented(self):
        if self.plain:
            return isinstance(self.plain, jina_bert.JinaBert)
        if not self.sentence and self.settings().get("unilm_mask") == "left-to-right":
            return False
        config = self.model[0].auto_model.config if self.sentence else self.model.config
        return getattr(config, "type_vocab_size", 0) > 1 or config.model_type == "xlnet"

    @torch.no_grad()
    def __call__(self, ids, segments=None):
        if self.plain:
            return {name: as_lists(value[None]) for name, value in self.plain(ids, segments).items()}
        inputs = {"input_ids": torch.tensor([ids])}
        if segments is not None and self.segmented():
            inputs["token_type_ids"] = torch.tensor([segments])
        if self.sentence:
            inputs["attention_mask"] = torch.ones(1, len(ids), dtype=torch.long)
            vector = self.model(inputs)["sentence_embedding"]
            head = self.directory / "model_head.safetensors"
            return (
                {"logits": setfit_scores(head, vector)} if head.exists() else {"sentence_embedding": as_lists(vector)}
            )
        if self.settings().get("model_type") == "unilm":
            segments = segments if self.segmented() else None
            inputs["attention_mask"] = unilm_mask(self.settings(), ids, segments)
            if self.settings()["type_vocab_size"] == 6:
                first = {"seq2seq": 4, "left-to-right": 2}.get(self.settings()["unilm_mask"], 0)
                inputs["token_type_ids"] = first + torch.tensor([segments or [0] * len(ids)])
        if type(self.model).__name__.endswith("ForMultipleChoice"):
            inputs = {name: value[None] for name, value in inputs.items()}
        with all_in_double():
            # XLNet's search has no answer for texts of less tokens than it has beams.
            short = len(ids) < max(getattr(self.model.config, name, 0) for name in ("start_n_top", "end_n_top"))
            searches = type(self.model).__name__ == "XLNetForQuestionAnswering"
            own = next((own for own in (long_texts, reformer) if own.is_one(self.model.config)), None)
            call = (lambda model, given: model(**given)) if own is None else own.run
            out = None if searches and short else call(self.model, inputs)
        if type(self.model).__name__ == "ElectraForPreTraining":
            # One score a token that it was replaced, which a file has as scores of two labels.
            out["logits"] = torch.stack([torch.zeros_like(out["logits"]), out["logits"]], dim=-1)
        if type(self.model).__name__ == "XLNetForQuestionAnswering":
            out = searched_scores(self.model, inputs, out)
            return {name: as_lists(value) for name, value in out.items()}
        names = [name for name in (*OUTPUTS, "intent_logits", "slot_logits") if out.get(name) is not None]
        return {name: as_lists(out[name]) for name in names}

"""Tiny random encoder-decoders of transformers, and what their decoders answer to given tokens."""

import json
import random

import torch
import transformers
from transformers.models.fsmt import modeling_fsmt

import nllb_experts  # noqa: F401
import reference

# FSMT's own function converts to f32, which cannot hold the minimum of f64.
modeling_fsmt.fill_with_neg_inf = lambda x: torch.full_like(x, torch.finfo(x.dtype).min)


WORDS = 61
T5 = {
    "vocab_size": WORDS,
    "d_model": 18,
    "d_kv": 6,
    "d_ff": 26,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 20,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}
# With a router's biases, and experts that texts of the longest samples overflow.
SWITCH = {
    **T5,
    "num_experts": 4,
    "expert_capacity": 4,
    "num_sparse_encoder_layers": 1,
    "num_sparse_decoder_layers": 1,
    "router_bias": True,
}
# Layers of both stacks, as BART's configuration names them.
LAYERS = {
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 26,
    "decoder_ffn_dim": 28,
}
BART = {
    "vocab_size": WORDS,
    "d_model": 18,
    **LAYERS,
    "max_position_embeddings": 24,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
MARIAN = {**BART, "pad_token_id": 60, "decoder_start_token_id": 60, "eos_token_id": 0, "bos_token_id": 3}
APART = {"decoder_vocab_size": 53, "share_encoder_decoder_embeddings": False, "tie_word_embeddings": False}
LABELS = {"num_labels": 3}

MODELS = {
    "t5-generate": ("T5ForConditionalGeneration", T5),
    "t5-untied": ("T5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    "t5-classify": ("T5ForSequenceClassification", {**T5, **LABELS}),
    "t5-answer": ("T5ForQuestionAnswering", T5),
    "t5-encoder": ("T5EncoderModel", T5),
    "t5-tag": ("T5ForTokenClassification", {**T5, "num_labels": 5}),
    "mt5-generate": ("MT5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    "bart-generate": ("BartForConditionalGeneration", BART),
    "bart-scaled": ("BartForConditionalGeneration", {**BART, "scale_embedding": True, "activation_function": "relu"}),
    "bart-classify": ("BartForSequenceClassification", {**BART, **LABELS}),
    "bart-answer": ("BartForQuestionAnswering", BART),
    "bart-model": ("BartModel", BART),
    "mbart-generate": ("MBartForConditionalGeneration", {**BART, "scale_embedding": True}),
    "mbart-classify": ("MBartForSequenceClassification", {**BART, **LABELS}),
    "marian-translate": ("MarianMTModel", {**MARIAN, "scale_embedding": True, "activation_function": "swish"}),
    "marian-apart": ("MarianMTModel", {**MARIAN, **APART, "pad_token_id": 50, "decoder_start_token_id": 50}),
    "m2m-translate": ("M2M100ForConditionalGeneration", {**BART, "scale_embedding": True}),
    "pegasus-summarise": ("PegasusForConditionalGeneration", {**BART, "pad_token_id": 0, "eos_token_id": 1,
                                                              "decoder_start_token_id": 0, "scale_embedding": True}),
    "blenderbot-generate": ("BlenderbotForConditionalGeneration", BART),
    "blenderbot-small-generate": ("BlenderbotSmallForConditionalGeneration", BART),
    "switch-generate": ("SwitchTransformersForConditionalGeneration", SWITCH),
    "switch-untied": ("SwitchTransformersForConditionalGeneration", {**SWITCH, "tie_word_embeddings": False,
                                                                     "dense_act_fn": "gelu_new", "router_bias": False,
                                                                     "num_sparse_decoder_layers": 0}),
    "switch-encoder": ("SwitchTransformersEncoderModel", {**SWITCH, "num_sparse_encoder_layers": 2}),
    "umt5-generate": ("UMT5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu"}),
    "mvp-classify": ("MvpForSequenceClassification", {**BART, **LABELS}),
    "plbart-generate": ("PLBartForConditionalGeneration", BART),
    "longt5-generate": ("LongT5ForConditionalGeneration", {**T5, "local_radius": 5}),
    "fsmt-translate": ("FSMTForConditionalGeneration", {**BART, "langs": ["en", "de"], "src_vocab_size": 53,
                                                        "tgt_vocab_size": WORDS, "tie_word_embeddings": False}),
    "bigbird-pegasus-answer": ("BigBirdPegasusForQuestionAnswering", {**BART, "attention_type": "original_full"}),
    "bigbird-pegasus-generate": ("BigBirdPegasusForConditionalGeneration", {**BART, "use_bias": True}),
    "led-generate": ("LEDForConditionalGeneration", {**BART, "max_encoder_position_embeddings": 40,
                                                     "max_decoder_position_embeddings": 24, "attention_window": 4}),
    "seamless-translate": ("SeamlessM4TForTextToText", {**BART, "hidden_size": 18}),
    "nllb-moe-translate": ("NllbMoeForConditionalGeneration", {**BART, "num_experts": 5, "encoder_sparse_step": 2,
                                                               "decoder_sparse_step": 1, "router_bias": True}),
}  # fmt: skip


def shifted(ids, start):
    return [start, *ids[:-1]]


class Pairs:
    """Call it with ids of a source and of the decoder's text; nothing is masked."""

    def __init__(self, directory):
        self.model = reference.load(directory)
        self.kind = type(self.model).__name__

    def goes_on(self):
        """The decoder reads tokens of its own."""
        return (
            self.kind.endswith(("ForConditionalGeneration", "ForTextToText", "Model")) and not self.reads_source_alone()
        )

    def reads_source_alone(self):
        return self.kind in ("T5EncoderModel", "T5ForTokenClassification", "SwitchTransformersEncoderModel")

    @torch.no_grad()
    def __call__(self, ids, decoder_ids, **more):
        inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long), **more}
        if not self.reads_source_alone():
            inputs["decoder_input_ids"] = torch.tensor([decoder_ids])
        out = self.model(**inputs, use_cache=False) if not self.reads_source_alone() else self.model(**inputs)
        names = [name for name in reference.OUTPUTS if out.get(name) is not None]
        return {name: reference.as_lists(out[name]) for name in names}


def make(directory, randomize, seed):
    kind, settings = MODELS[directory.name]
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**settings))
    # Scores that nothing divides stay small in trained models, too.
    randomize(model, seed, gain=0.8 if "relative_attention_num_buckets" in settings else 1.5)
    model.tie_weights()
    generator = torch.Generator().manual_seed(seed + 1)
    if hasattr(model, "final_logits_bias"):
        model.final_logits_bias = torch.randn(model.final_logits_bias.shape, generator=generator) * 0.2
    model.half().save_pretrained(directory)
    (directory / "generation_config.json").unlink(missing_ok=True)
    write_expected(directory, seed)
    if directory.name == "switch-generate":
        write_steps(directory, seed)
    if directory.name == "led-generate":
        write_globals(directory, seed)


def write_globals(directory, seed):
    """Writes answers for sources whose first token is global."""
    pairs, draw = Pairs(directory), random.Random(seed + 1)
    with open(directory / "globals.jsonl", "w") as file:
        for count, own in ((1, 1), (6, 3), (11, 2), (24, 5)):
            ids, decoder_ids = ([draw.randrange(4, WORDS) for _ in range(n)] for n in (count, own))
            marks = torch.tensor([[1] + [0] * (count - 1)])
            line = {"ids": ids, "decoder_ids": decoder_ids, **pairs(ids, decoder_ids, global_attention_mask=marks)}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def write_steps(directory, seed):
    """Writes the tokens that generate() makes from a few sources, one by one: each has the whole capacity of its experts. Sources where a
    choice depends on rounding are left out."""
    model = reference.load(directory)
    draw = random.Random(seed)
    with open(directory / "steps.jsonl", "w") as file, reference.all_in_double():
        for count in (1, 2, 5, 9, 16, 24):
            ids = [draw.randrange(4, 50) for _ in range(count)]
            made = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, count, dtype=torch.long),
                # generate()'s own has as many layers as the encoder.
                past_key_values=transformers.EncoderDecoderCache(
                    transformers.DynamicCache(), transformers.DynamicCache()
                ),
                max_new_tokens=12,
                do_sample=False,
                return_dict_in_generate=True,
                output_scores=True,
            )
            best = [scores[0].topk(2).values for scores in made.scores]
            if min(float(two[0] - two[1]) for two in best) < 1e-3:
                continue
            line = {"source": ids, "ids": made.sequences[0].tolist()}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def write_expected(directory, seed):
    pairs = Pairs(directory)
    draw = random.Random(seed)
    config = pairs.model.config
    own = getattr(config, "decoder_vocab_size", None) or config.vocab_size

    def tokens(count, limit):
        return [draw.randrange(4, min(limit, 50)) for _ in range(count)]

    with open(directory / "expected.jsonl", "w") as file:
        for source, target in ((1, 1), (6, 3), (11, 9), (17, 4), (24, 17)):
            # One end at each source's end: classifiers take the row of the last one.
            ids = [*tokens(source - 1, config.vocab_size), config.eos_token_id]
            if pairs.goes_on():
                decoder_ids = shifted([*tokens(target, own), 0], config.decoder_start_token_id)
            else:
                decoder_ids = shifted(ids, config.decoder_start_token_id)
            line = {"ids": ids}
            if pairs.goes_on():
                line["decoder_ids"] = decoder_ids
            line.update(pairs(ids, decoder_ids))
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

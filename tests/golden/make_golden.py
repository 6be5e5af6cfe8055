"""Writes tests/golden/models: tiny random models of every head, each with the answers of transformers.

Usage: python make_golden.py [OUTPUT_DIRECTORY [PATTERN ...]]   (names of models; without a pattern all)
Needs torch, transformers, safetensors and sentence-transformers (README.md has the versions). The output is
committed; run this again only to add a model. Seeds are fixed; weights are stored as f16 unless said.
"""

import fnmatch
import json
import pathlib
import random
import shutil
import sys

import tokenizers
import torch
import transformers

import aggregation
import colbert
import elmo
import encoder_decoders
import evolved
import generation
import gpt3
import pair_generation
import jina_bert
import knowledge_ernie
import linear_attention
import long_texts
import marian
import multilingual
import nplm
import papers
import recurrent
import reference
import reformer
import retro
import seq2seq
import shaw
import splade
import textcnn
import transfo_xl
import translation
from decoders import DECODER_MODELS, TOKENS
from tags import FIVE_TAGS, INTENTS, TAGS

VOCABULARY = 211
POSITIONS = 40
SHAPE = dict(
    vocab_size=VOCABULARY,
    hidden_size=40,
    num_attention_heads=5,
    num_hidden_layers=2,
    intermediate_size=72,
    max_position_embeddings=POSITIONS,
    type_vocab_size=2,
)
DISTIL_SHAPE = dict(
    vocab_size=VOCABULARY, dim=40, n_heads=5, n_layers=2, hidden_dim=72, max_position_embeddings=POSITIONS
)
# The other families: smaller, heads of 6 columns; ids only, and none of the first five, which are special.
SMALL = dict(
    vocab_size=61,
    hidden_size=18,
    num_attention_heads=3,
    num_hidden_layers=1,
    intermediate_size=28,
    max_position_embeddings=24,
    type_vocab_size=2,
)
XLNET = dict(vocab_size=61, d_model=18, n_head=3, n_layer=1, d_inner=28)

# name: class, settings beside the shape, stored type, most tokens whose answers are committed
MODELS = {
    "bert-classify": (
        "BertForSequenceClassification",
        dict(hidden_act="relu", num_labels=3, num_hidden_layers=3),
        torch.float16,
        POSITIONS,
    ),
    "bert-multi-label": (
        "BertForSequenceClassification",
        dict(
            hidden_act="gelu_new",
            num_labels=4,
            problem_type="multi_label_classification",
            id2label={0: "joy", 1: "anger", 2: "fear", 3: "calm"},
        ),
        torch.bfloat16,
        POSITIONS,
    ),
    "bert-regress": (
        "BertForSequenceClassification",
        dict(num_labels=1, num_hidden_layers=1),
        torch.float16,
        POSITIONS,
    ),
    "bert-tag": (
        "BertForTokenClassification",
        dict(hidden_act="gelu_new", id2label=dict(enumerate(TAGS))),
        torch.float16,
        POSITIONS,
    ),
    "bert-answer": ("BertForQuestionAnswering", dict(), torch.float16, POSITIONS),
    "bert-choose": ("BertForMultipleChoice", dict(hidden_act="silu", num_hidden_layers=1), torch.float16, POSITIONS),
    "bert-fill": ("BertForMaskedLM", dict(num_hidden_layers=1), torch.float16, 11),
    "bert-next-sentence": (
        "BertForNextSentencePrediction",
        dict(hidden_act="tanh", num_hidden_layers=1),
        torch.float16,
        POSITIONS,
    ),
    "bert-pretraining": ("BertForPreTraining", dict(tie_word_embeddings=False, num_hidden_layers=1), torch.float16, 11),
    "bert-encoder": ("BertModel", dict(layer_norm_eps=1e-5, num_hidden_layers=1), torch.float32, 11),
    "bert-joint": (
        "JointBertForIntentAndSlots",
        dict(intent_labels=INTENTS, slot_labels=TAGS),
        torch.float16,
        POSITIONS,
    ),
    "distilbert-classify": ("DistilBertForSequenceClassification", dict(num_labels=2), torch.float16, POSITIONS),
    "distilbert-tag": (
        "DistilBertForTokenClassification",
        dict(activation="relu", id2label=dict(enumerate(TAGS))),
        torch.float16,
        POSITIONS,
    ),
    "distilbert-answer": ("DistilBertForQuestionAnswering", dict(n_layers=1), torch.float16, POSITIONS),
    "distilbert-choose": ("DistilBertForMultipleChoice", dict(n_layers=1), torch.float16, POSITIONS),
    "distilbert-fill": ("DistilBertForMaskedLM", dict(n_layers=1), torch.float16, 11),
    "distilbert-encoder": ("DistilBertModel", dict(n_layers=1), torch.float16, 11),
    "bert-tag-crf": (
        "BertCrfForTokenClassification",
        dict(num_labels=5, num_hidden_layers=1),
        torch.float16,
        24,
    ),
}

ROBERTA = dict(type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5, max_position_embeddings=26)
ELECTRA = dict(embedding_size=10)
ERNIE = dict(use_task_id=True, task_type_vocab_size=3)
ALBERT = dict(embedding_size=10)
MODERNBERT = dict(
    type_vocab_size=0,
    num_hidden_layers=3,
    local_attention=8,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    cls_token_id=1,
    sep_token_id=2,
)
BIASES = dict(attention_bias=True, mlp_bias=True, norm_bias=True, classifier_bias=True)
MPNET = dict(type_vocab_size=0, pad_token_id=1, layer_norm_eps=1e-5, max_position_embeddings=26)
MOBILE = dict(embedding_size=10, intra_bottleneck_size=12, num_feedforward_networks=3, num_attention_heads=2)
DEBERTA = dict(
    relative_attention=True, pos_att_type="c2p|p2c", position_biased_input=False, type_vocab_size=0, pad_token_id=0
)
DEBERTA3 = dict(**DEBERTA, position_buckets=6, share_att_key=True, norm_rel_ebd="layer_norm")
GATED = dict(num_hidden_layers=2, pad_token_id=0)
LONE = dict(type_vocab_size=1, pad_token_id=1)
SQUEEZED = dict(
    embedding_size=18,
    q_groups=3,
    k_groups=3,
    v_groups=3,
    post_attention_groups=2,
    intermediate_groups=2,
    output_groups=2,
)
EUROBERT = dict(
    type_vocab_size=0,
    num_key_value_heads=1,
    head_dim=6,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    mask_token_id=3,
)
ESM = dict(type_vocab_size=0, pad_token_id=1, mask_token_id=3, max_position_embeddings=26)
XLM = dict(type_vocab_size=0, emb_dim=18, n_heads=3, n_layers=1, pad_token_id=2)
# Turns of a dialogue are numbered where other models number segments.
ROLES = {**ERNIE, "type_vocab_size": 4}

# name: class, settings beside SMALL; stored as f16
ULTRABERT = dict(
    type_vocab_size=0,
    num_hidden_layers=2,
    num_key_value_heads=1,
    sliding_window=3,
    layer_types=["sliding_attention", "full_attention"],
)
SMALL_MODELS = {
    "roberta-classify": ("RobertaForSequenceClassification", dict(**ROBERTA, num_labels=3, num_hidden_layers=2)),
    "roberta-tag": ("RobertaForTokenClassification", dict(**ROBERTA, **FIVE_TAGS)),
    "roberta-answer": ("RobertaForQuestionAnswering", {**ROBERTA, "type_vocab_size": 2}),
    "roberta-choose": ("RobertaForMultipleChoice", ROBERTA),
    "roberta-fill": ("RobertaForMaskedLM", ROBERTA),
    "roberta-encoder": ("RobertaModel", ROBERTA),
    "xlm-roberta-regress": ("XLMRobertaForSequenceClassification", dict(**ROBERTA, num_labels=1)),
    "camembert-tag": ("CamembertForTokenClassification", dict(**ROBERTA, **FIVE_TAGS)),
    "electra-classify": ("ElectraForSequenceClassification", dict(**ELECTRA, num_labels=3, num_hidden_layers=2)),
    "electra-tag": ("ElectraForTokenClassification", dict(embedding_size=18, **FIVE_TAGS)),
    "electra-answer": ("ElectraForQuestionAnswering", ELECTRA),
    "electra-choose": ("ElectraForMultipleChoice", ELECTRA),
    "electra-fill": ("ElectraForMaskedLM", ELECTRA),
    "electra-replaced": ("ElectraForPreTraining", dict(**ELECTRA, hidden_act="gelu_new")),
    "electra-encoder": ("ElectraModel", ELECTRA),
    "ernie-classify": ("ErnieForSequenceClassification", dict(**ERNIE, num_labels=3, num_hidden_layers=2)),
    "ernie-pretraining": ("ErnieForPreTraining", ERNIE),
    "ernie-encoder": ("ErnieModel", dict(use_task_id=False)),
    "albert-classify": (
        "AlbertForSequenceClassification",
        dict(**ALBERT, num_labels=3, num_hidden_layers=5, num_hidden_groups=2, inner_group_num=2),
    ),
    "albert-tag": ("AlbertForTokenClassification", dict(**ALBERT, **FIVE_TAGS, num_hidden_layers=2)),
    "albert-answer": ("AlbertForQuestionAnswering", dict(embedding_size=18, hidden_act="relu")),
    "albert-choose": ("AlbertForMultipleChoice", ALBERT),
    "albert-fill": ("AlbertForMaskedLM", ALBERT),
    "albert-pretraining": ("AlbertForPreTraining", ALBERT),
    "albert-encoder": ("AlbertModel", ALBERT),
    "mpnet-classify": (
        "MPNetForSequenceClassification",
        dict(**MPNET, num_labels=3, num_hidden_layers=2),
    ),
    "mpnet-tag": ("MPNetForTokenClassification", dict(**MPNET, **FIVE_TAGS)),
    "mpnet-answer": ("MPNetForQuestionAnswering", MPNET),
    "mpnet-choose": ("MPNetForMultipleChoice", MPNET),
    "mpnet-fill": ("MPNetForMaskedLM", MPNET),
    "mpnet-encoder": ("MPNetModel", MPNET),
    "modernbert-classify": (
        "ModernBertForSequenceClassification",
        dict(**{**MODERNBERT, "num_hidden_layers": 4}, num_labels=3, classifier_pooling="mean"),
    ),
    "modernbert-tag": ("ModernBertForTokenClassification", dict(**MODERNBERT, **FIVE_TAGS)),
    "modernbert-answer": ("ModernBertForQuestionAnswering", dict(**MODERNBERT, **BIASES)),
    "modernbert-choose": ("ModernBertForMultipleChoice", MODERNBERT),
    "modernbert-fill": ("ModernBertForMaskedLM", dict(**MODERNBERT, **BIASES, hidden_activation="silu")),
    "modernbert-encoder": ("ModernBertModel", MODERNBERT),
    "nomic-classify": ("NomicBertForSequenceClassification", dict(**GATED, num_labels=3)),
    "nomic-tag": ("NomicBertForTokenClassification", dict(**GATED, **FIVE_TAGS)),
    "nomic-fill": ("NomicBertForMaskedLM", GATED),
    "nomic-encoder": ("NomicBertModel", GATED),
    "gte-classify": ("GteForSequenceClassification", {**GATED, "num_labels": 3, "type_vocab_size": 1}),
    "gte-tag": ("GteForTokenClassification", dict(**GATED, **FIVE_TAGS)),
    "gte-fill": ("GteForMaskedLM", {**GATED, "type_vocab_size": 0}),
    "gte-encoder": ("GteModel", GATED),
    "mobilebert-classify": ("MobileBertForSequenceClassification", dict(**MOBILE, num_labels=3, num_hidden_layers=2)),
    "mobilebert-tag": ("MobileBertForTokenClassification", dict(**MOBILE, **FIVE_TAGS, use_bottleneck_attention=True)),
    "mobilebert-answer": ("MobileBertForQuestionAnswering", dict(**MOBILE, trigram_input=False)),
    "mobilebert-choose": ("MobileBertForMultipleChoice", dict(**MOBILE, classifier_activation=False)),
    "mobilebert-fill": ("MobileBertForMaskedLM", {**MOBILE, "num_feedforward_networks": 1}),
    "mobilebert-pretraining": (
        "MobileBertForPreTraining",
        dict(embedding_size=18, use_bottleneck=False, trigram_input=False, num_feedforward_networks=2),
    ),
    "mobilebert-next-sentence": ("MobileBertForNextSentencePrediction", MOBILE),
    "mobilebert-encoder": ("MobileBertModel", {**MOBILE, "hidden_act": "gelu"}),
    "deberta-classify": ("DebertaForSequenceClassification", dict(**DEBERTA, num_labels=3, num_hidden_layers=2)),
    "deberta-tag": (
        "DebertaForTokenClassification",
        {**DEBERTA, **FIVE_TAGS, "pos_att_type": ["c2p"], "max_relative_positions": 5},
    ),
    "deberta-answer": (
        "DebertaForQuestionAnswering",
        {**DEBERTA, "pos_att_type": ["p2c"], "position_biased_input": True, "type_vocab_size": 2},
    ),
    "deberta-fill": ("DebertaForMaskedLM", dict(**DEBERTA, legacy=False)),
    "deberta-encoder": ("DebertaModel", {**DEBERTA, "relative_attention": False}),
    "deberta-v3-classify": ("DebertaV2ForSequenceClassification", dict(**DEBERTA3, num_labels=3, num_hidden_layers=2)),
    "deberta-v3-tag": ("DebertaV2ForTokenClassification", {**DEBERTA3, **FIVE_TAGS, "share_att_key": False}),
    "deberta-v3-answer": ("DebertaV2ForQuestionAnswering", {**DEBERTA3, "pos_att_type": "p2c", "position_buckets": 4}),
    "deberta-v3-choose": ("DebertaV2ForMultipleChoice", {**DEBERTA3, "pos_att_type": "c2p", "type_vocab_size": 2}),
    "deberta-v3-fill": ("DebertaV2ForMaskedLM", DEBERTA3),
    "deberta-v3-fill-new": ("DebertaV2ForMaskedLM", dict(**DEBERTA3, legacy=False)),
    "deberta-v3-encoder": ("DebertaV2Model", {**DEBERTA3, "position_buckets": -1, "max_relative_positions": 7}),
    "ernie-roles": ("ErnieForSequenceClassification", dict(**ROLES, num_labels=3)),
    "deberta-v2-convolution": (
        "DebertaV2ForSequenceClassification",
        dict(**DEBERTA3, num_labels=3, num_hidden_layers=2, conv_kernel_size=3, conv_act="gelu"),
    ),
    "deberta-v2-narrow": ("DebertaV2ForMaskedLM", dict(**DEBERTA3, embedding_size=10, conv_kernel_size=5)),
    "deberta-narrow": (
        "DebertaForTokenClassification",
        {**DEBERTA, **FIVE_TAGS, "embedding_size": 10, "position_biased_input": True, "type_vocab_size": 2},
    ),
    "xlnet-classify": ("XLNetForSequenceClassification", dict(num_labels=3, n_layer=2)),
    "xlnet-regress": (
        "XLNetForSequenceClassification",
        dict(num_labels=1, summary_type="mean", summary_use_proj=False),
    ),
    "xlnet-tag": ("XLNetForTokenClassification", dict(**FIVE_TAGS, clamp_len=5)),
    "xlnet-answer": ("XLNetForQuestionAnsweringSimple", dict(ff_activation="relu")),
    "xlnet-choose": ("XLNetForMultipleChoice", dict(summary_type="first", summary_activation="relu")),
    "xlnet-fill": ("XLNetLMHeadModel", dict()),
    "xlnet-encoder": ("XLNetModel", dict(n_layer=2)),
    "shaw-classify": (
        "BertForSequenceClassification",
        dict(position_embedding_type="relative_key", num_labels=3, num_hidden_layers=2),
    ),
    "shaw-tag": (
        "RobertaForTokenClassification",
        dict(**ROBERTA, **FIVE_TAGS, position_embedding_type="relative_key_query"),
    ),
    "shaw-fill": (
        "ElectraForMaskedLM",
        dict(**ELECTRA, position_embedding_type="relative_key_query"),
    ),
    "xlnet-search": ("XLNetForQuestionAnswering", dict(n_layer=2, start_n_top=3, end_n_top=4)),
    "data2vec-classify": ("Data2VecTextForSequenceClassification", dict(**ROBERTA, num_labels=3)),
    "ibert-classify": ("IBertForSequenceClassification", dict(**ROBERTA, num_labels=3)),
    "roberta-prelayernorm-classify": ("RobertaPreLayerNormForSequenceClassification", dict(**ROBERTA, num_labels=3)),
    "xlm-roberta-xl-classify": ("XLMRobertaXLForSequenceClassification", dict(**ROBERTA, num_labels=3)),
    "jina-embeddings-v3-classify": ("JinaEmbeddingsV3ForSequenceClassification", {**LONE, "num_labels": 3}),
    "bert-generation-fill": ("BertGenerationDecoder", dict(type_vocab_size=0)),
    "megatron-bert-classify": ("MegatronBertForSequenceClassification", dict(num_labels=3)),
    "rembert-fill": ("RemBertForMaskedLM", dict(input_embedding_size=10, output_embedding_size=22)),
    "roformer-classify": ("RoFormerForSequenceClassification", dict(embedding_size=10, num_labels=3)),
    "squeezebert-classify": ("SqueezeBertForSequenceClassification", dict(**SQUEEZED, num_labels=3)),
    "eurobert-classify": ("EuroBertForSequenceClassification", dict(**EUROBERT, num_labels=3)),
    "esm-classify": ("EsmForSequenceClassification", dict(**ESM, num_labels=3)),
    "xlm-classify": ("XLMForSequenceClassification", dict(**XLM, num_labels=3)),
    "flaubert-classify": ("FlaubertForSequenceClassification", dict(**XLM, num_labels=3)),
    "ultrabert-classify": (
        "UltrabertForSequenceClassification",
        dict(**ULTRABERT, classifier_pooling="mean", num_labels=3),
    ),
    "ultrabert-fill": ("UltrabertForMaskedLM", dict(**ULTRABERT, prediction_head_size=14)),
    "nystromformer-classify": ("NystromformerForSequenceClassification", dict(num_labels=3, conv_kernel_size=5)),
    "nystromformer-fill": ("NystromformerForMaskedLM", dict(conv_kernel_size=3)),
    "convbert-classify": (
        "ConvBertForSequenceClassification",
        dict(embedding_size=10, num_attention_heads=6, conv_kernel_size=3, hidden_act="relu", num_labels=3),
    ),
    "convbert-fill": ("ConvBertForMaskedLM", dict(embedding_size=10, num_attention_heads=3, head_ratio=1)),
    "splinter-answer": ("SplinterForQuestionAnswering", dict(question_token_id=50)),
    "fnet-classify": ("FNetForSequenceClassification", dict(num_labels=3, num_hidden_layers=2)),
    "fnet-tag": ("FNetForTokenClassification", dict(**FIVE_TAGS, hidden_size=15, type_vocab_size=4)),
    "fnet-fill": ("FNetForMaskedLM", dict(hidden_act="relu")),
}


# name: class, settings beside SMALL, whether it is of the later kind
JINA_MODELS = {
    "jina-encoder": ("Model", dict(num_hidden_layers=2), False),
    "jina-rank": ("ForSequenceClassification", dict(num_labels=1, feed_forward_type="reglu"), False),
    "jina-fill": ("ForMaskedLM", dict(), False),
    "jina-code-encoder": ("Model", dict(num_hidden_layers=2), True),
    "jina-code-rank": ("ForSequenceClassification", dict(num_labels=1), True),
}


def vocabulary():
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words += [*letters, *("##" + letter for letter in letters), *".,;:!?'-()"]
    syllables = [a + b for a in "bdklmnrst" for b in ("a", "e", "i", "o", "an", "er", "in", "on", "ing", "ed")]
    words += syllables
    words += ["##" + syllable for syllable in syllables]
    return words[:VOCABULARY]


def write_tokenizer(directory):
    (directory / "vocab.txt").write_text("\n".join(vocabulary()) + "\n")
    settings = {"do_lower_case": True, "model_max_length": POSITIONS, "tokenizer_class": "BertTokenizer"}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")


def randomize(model, seed, gain=1.5):
    """Weights that make every part matter: attention with contrast, norms away from 1 and 0, biases away from 0."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        values = torch.randn(parameter.shape, generator=generator)
        if any(word in name.lower() for word in ("norm", ".ln", "pre_ln")):
            values = values * 0.2 + (1.0 if name.endswith("weight") else 0.0)
        elif parameter.dim() == 1:
            values = values * 0.2
        elif "embeddings" not in name:
            inputs = 1
            if parameter.dim() == 3 and "rel_attn" in name:
                inputs = 0
            elif parameter.dim() == 3 and "experts" in name:
                inputs = 2
            values = values * gain / parameter.shape[inputs] ** 0.5
        parameter.data = values
    # The bias by which experts are chosen, in addition to their scores.
    for name, buffer in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            buffer.copy_(torch.randn(buffer.shape, generator=generator) * 0.3)


def inputs(longest, seed, first=0, vocabulary=VOCABULARY):
    """Ids and segments: one token, a few, a pair, one more than a page of 16, the longest."""
    draw = random.Random(seed)

    def ids(count):
        return [draw.randrange(first, vocabulary) for _ in range(count)]

    yield ids(1), None
    yield ids(6), None
    yield ids(11), [0] * 4 + [1] * 7
    if longest >= 17:
        yield ids(17), None
    if longest >= 24:
        yield ids(longest), [0] * 23 + [1] * (longest - 23)


def write_expected(directory, longest, seed, first=0, vocabulary=VOCABULARY):
    model = reference.Reference(directory)
    with open(directory / "expected.jsonl", "w") as file:
        for ids, segments in inputs(longest, seed, first, vocabulary):
            line = {"ids": ids}
            if "roles" in directory.name:
                segments = [i % 4 for i in range(len(ids))]
            if "xlnet" in directory.name and segments is not None:
                segments[-1] = 2
            if segments is not None and model.segmented():
                line["segments"] = segments
            line.update(model(ids, segments))
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def make(root, name, seed):
    kind, settings, dtype, longest = MODELS[name]
    shape = DISTIL_SHAPE if kind.startswith("DistilBert") else SHAPE
    family = transformers.DistilBertConfig if kind.startswith("DistilBert") else transformers.BertConfig
    model_class = reference.OWN[kind] if kind in reference.OWN else getattr(transformers, kind)
    model = model_class(family(**{**shape, **settings}))
    randomize(model, seed)
    model.tie_weights()
    directory = root / name
    # One model in shards, as large ones come.
    model.to(dtype).save_pretrained(directory, max_shard_size="20KB" if name == "bert-choose" else "5GB")
    write_tokenizer(directory)
    write_expected(directory, longest, seed)


def make_small(root, name, seed):
    kind, settings = SMALL_MODELS[name]
    model_class = getattr(transformers, kind)
    shape = XLNET if name.startswith("xlnet") else SMALL
    model = model_class(model_class.config_class(**{**shape, **settings}))
    shaw.add_vectors(model)
    # Without statistics in norms nothing keeps what grows in bounds.
    randomize(model, seed, gain=0.6 if name.startswith("mobilebert") else 1.5)
    model.tie_weights()
    directory = root / name
    model.half().save_pretrained(directory)
    outputs_a_token = any(word in name for word in ("fill", "pretraining", "encoder"))
    write_expected(directory, 11 if outputs_a_token else 24, seed, first=5, vocabulary=SMALL["vocab_size"])


def write_greedy(directory, seed):
    """Writes the continuations by generate() of a few prompts; those where a choice depends on rounding are left out."""
    model = reference.load(directory)
    draw = random.Random(seed)
    with open(directory / "greedy.jsonl", "w") as file, reference.all_in_double():
        for count in (1, 2, 3, 5, 8, 13):
            ids = [draw.randrange(5, model.config.vocab_size) for _ in range(count)]
            given = torch.tensor([ids])
            made = model.generate(
                given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=10,
                do_sample=False,
                pad_token_id=0,
                return_dict_in_generate=True,
                output_scores=True,
            )
            best = [scores[0].topk(2).values for scores in made.scores]
            if min(float(two[0] - two[1]) for two in best) < 1e-3:
                continue
            line = {"prompt": ids, "ids": made.sequences[0, count:].tolist()}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def make_decoder(root, name, seed):
    kind, settings = DECODER_MODELS[name]
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**{**settings, **TOKENS}))
    randomize(model, seed)
    model.tie_weights()
    directory = root / name
    model.half().save_pretrained(directory)
    (directory / "generation_config.json").unlink(missing_ok=True)
    generates = kind.endswith(("ForCausalLM", "LMHeadModel"))
    if generates:
        write_greedy(directory, seed)
    outputs_a_token = generates or "encoder" in name
    write_expected(directory, 11 if outputs_a_token else 24, seed, first=5, vocabulary=settings["vocab_size"])


def make_pair(root, name, seed):
    encoder_decoders.make(root / name, randomize, seed)


def make_text_decoder(root, name, seed):
    generation.make(root / name, randomize, seed)


def make_other_text_decoder(root, name, seed):
    generation.make_other(root / name, name, randomize, seed)
    # Random recurrences enlarge what is rounded: longer texts are those of generate.jsonl.
    draw, model = random.Random(seed), reference.Reference(root / name)
    with open(root / name / "expected.jsonl", "w") as file:
        for count in (1, 1, 2):
            ids = [draw.randrange(5, model.model.config.vocab_size) for _ in range(count)]
            file.write(json.dumps({"ids": ids, **model(ids, None)}, separators=(",", ":")) + "\n")


def make_text_pair(root, name, seed):
    pair_generation.make(root / name, randomize, seed)
    encoder_decoders.write_expected(root / name, seed)


def make_translator(root, name, seed):
    translation.make(root / name, randomize, seed)
    encoder_decoders.write_expected(root / name, seed)


# name: mask, settings beside SMALL
UNILM_MODELS = {
    "unilm-seq2seq": ("seq2seq", dict(num_hidden_layers=2)),
    "unilm-seq2seq-segments": ("seq2seq", dict(type_vocab_size=6)),
    "unilm-left": ("left-to-right", dict(type_vocab_size=6)),
    "unilm-both": ("bidirectional", dict()),
}


def make_unilm(root, name, seed):
    mask, settings = UNILM_MODELS[name]
    model = transformers.BertForMaskedLM(transformers.BertConfig(**{**SMALL, **settings}))
    randomize(model, seed)
    model.tie_weights()
    model.half().save_pretrained(root / name)
    path = root / name / "config.json"
    config = {**json.loads(path.read_text()), "model_type": "unilm", "unilm_mask": mask}
    path.write_text(json.dumps(config, indent=1) + "\n")
    write_expected(root / name, 17, seed, first=5, vocabulary=SMALL["vocab_size"])


def make_paper(root, name, seed):
    papers.make(root / name, name, seed)
    write_expected(root / name, 11 if "generate" in name else 24, seed, first=5, vocabulary=61)


def make_gpt3(root, name, seed):
    gpt3.make(root / name, randomize, seed)
    write_expected(root / name, 11 if "generate" in name else 24, seed, first=5, vocabulary=61)


def make_transfo_xl(root, name, seed):
    transfo_xl.make(root / name, name, seed)
    write_expected(root / name, 24 if "classify" in name else 17, seed, first=3, vocabulary=61)


def make_jina(root, name, seed):
    """As published: the settings' model_type is BERT's, and the code they name is nowhere."""
    import safetensors.torch

    kind, settings, later = JINA_MODELS[name]
    config = {
        "model_type": "bert",
        "architectures": ["JinaBert" + kind],
        "auto_map": {"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"},
        **SMALL,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "position_embedding_type": "alibi",
        "feed_forward_type": "geglu",
        "pad_token_id": 0,
        **settings,
    }
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for tensor, shape in jina_bert.shapes(config, later, kind.removeprefix("Model")).items():
        values = torch.randn(shape, generator=generator)
        if "norm" in tensor.lower():
            values = values * 0.2 + (1.0 if tensor.endswith("weight") else 0.0)
        elif len(shape) == 1:
            values = values * 0.2
        elif "embeddings" not in tensor:
            values = values * 1.5 / shape[1] ** 0.5
        tensors[tensor] = values.half()
    directory = root / name
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    safetensors.torch.save_file(tensors, directory / "model.safetensors")
    longest = 24 if kind == "ForSequenceClassification" else 11
    write_expected(directory, longest, seed, first=5, vocabulary=SMALL["vocab_size"])


def make_linear_attention(root, name, seed):
    linear_attention.make(root / name, name, SMALL, randomize, seed)
    outputs_a_token = any(word in name for word in ("fill", "pretraining", "encoder"))
    write_expected(root / name, 17 if outputs_a_token else 24, seed, first=5, vocabulary=SMALL["vocab_size"])


def make_aggregation(root, name, seed):
    aggregation.make(root / name, name, seed)
    aggregation.write_expected(root / name)
    vocabulary = json.loads((root / name / "config.json").read_text())["vocab_size"]
    write_expected(root / name, 24, seed, first=5, vocabulary=vocabulary)


def make_knowledge_ernie(root, name, seed):
    knowledge_ernie.make(root / name, seed)


def make_static(root, name, seed):
    """A table with a row a token; "static-mapped" as model2vec makes it smaller: whole numbers, places and weights of tokens."""
    import safetensors.torch

    directory = root / name
    directory.mkdir(parents=True)
    generator = torch.Generator().manual_seed(seed)
    width, words = 22, vocabulary()
    tokenizer = tokenizers.BertWordPieceTokenizer({word: i for i, word in enumerate(words)}, lowercase=True)
    tokenizer.save(str(directory / "tokenizer.json"))
    if name == "static-mapped":
        tensors = {
            "embeddings": torch.randint(-127, 128, (50, width), generator=generator, dtype=torch.int8),
            "mapping": torch.randint(0, 50, (len(words),), generator=generator),
            "weights": torch.rand(len(words), generator=generator) + 0.1,
        }
        settings = {"normalize": True, "embedding_dtype": "int8", "vocabulary_quantization": 50}
        (directory / "config.json").write_text(json.dumps(settings, indent=1) + "\n")
    else:
        tensors = {"embedding.weight": torch.randn(len(words), width, generator=generator).half()}
        kinds = {"": "StaticEmbedding", "1_Normalize": "Normalize"}
        modules = [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(kinds.items())
        ]
        (directory / "modules.json").write_text(json.dumps(modules, indent=1) + "\n")
    safetensors.torch.save_file(tensors, directory / "model.safetensors")
    write_expected(directory, POSITIONS, seed)


def make_sentence_transformer(root, name, seed):
    """As the library itself writes it: mean pooling, normalised."""
    from sentence_transformers import SentenceTransformer, models

    directory, bare = root / name, root / "bare"
    model = transformers.BertModel(transformers.BertConfig(**{**SHAPE, "num_hidden_layers": 1}))
    randomize(model, seed)
    model.half().save_pretrained(bare)
    write_tokenizer(bare)
    transformer = models.Transformer(str(bare), max_seq_length=32)
    pipeline = SentenceTransformer(
        modules=[transformer, models.Pooling(40, pooling_mode="mean"), models.Normalize()],
        prompts={"query": "find: "},
        device="cpu",
    )
    pipeline.half().save(str(directory), create_model_card=False)
    shutil.rmtree(bare)
    write_expected(directory, POSITIONS, seed)


def make_setfit(root, name, seed):
    """A sentence-transformers directory with the weights of a logistic regression, of two labels or of several."""
    import safetensors.torch
    from sentence_transformers import SentenceTransformer, models

    directory, bare = root / name, root / "bare"
    model = transformers.BertModel(transformers.BertConfig(**SMALL))
    randomize(model, seed)
    model.half().save_pretrained(bare)
    write_tokenizer(bare)
    (bare / "vocab.txt").write_text("\n".join(vocabulary()[: SMALL["vocab_size"]]) + "\n")
    transformer = models.Transformer(str(bare), max_seq_length=24)
    pipeline = SentenceTransformer(modules=[transformer, models.Pooling(18, pooling_mode="mean")], device="cpu")
    pipeline.half().save(str(directory), create_model_card=False)
    shutil.rmtree(bare)
    labels = ["calm", "angry"] if name == "setfit-two" else ["red", "green", "blue"]
    rows = len(labels) if len(labels) > 2 else 1
    generator = torch.Generator().manual_seed(seed + 1)
    head = {
        "coef": torch.randn(rows, 18, generator=generator, dtype=torch.float64),
        "intercept": torch.randn(rows, generator=generator, dtype=torch.float64),
    }
    classes = json.dumps(list(range(len(labels))))  # scikit-learn's, of models that were trained with numbers
    safetensors.torch.save_file(head, directory / "model_head.safetensors", metadata={"classes": classes})
    settings = {"normalize_embeddings": False, "labels": labels}
    (directory / "config_setfit.json").write_text(json.dumps(settings, indent=1) + "\n")
    write_expected(directory, 24, seed, first=5, vocabulary=SMALL["vocab_size"])


def make_old_sentence_transformer(root, name, seed):
    """The layout of older releases: the transformer in a folder of its own, then cls pooling and a Dense module."""
    import safetensors.torch

    directory = root / name
    model = transformers.BertModel(transformers.BertConfig(**{**SHAPE, "num_hidden_layers": 1}))
    randomize(model, seed)
    model.half().save_pretrained(directory / "0_Transformer")
    write_tokenizer(directory / "0_Transformer")
    generator = torch.Generator().manual_seed(seed + 1)
    folders = {"0_Transformer": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    for folder in folders:
        (directory / folder).mkdir(exist_ok=True)

    def write(path, value):
        (directory / path).write_text(json.dumps(value, indent=1) + "\n")

    write(
        "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(folders.items())
        ],
    )
    write("0_Transformer/sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    write(
        "1_Pooling/config.json",
        {
            "word_embedding_dimension": 40,
            "pooling_mode_cls_token": True,
            "pooling_mode_mean_tokens": False,
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    )
    write(
        "2_Dense/config.json",
        {
            "in_features": 40,
            "out_features": 24,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        },
    )
    dense = {
        "linear.weight": (torch.randn(24, 40, generator=generator) * 0.3).half(),
        "linear.bias": (torch.randn(24, generator=generator) * 0.2).half(),
    }
    safetensors.torch.save_file(dense, directory / "2_Dense" / "model.safetensors")
    write_expected(directory, POSITIONS, seed)


def make_multilingual(root, name, seed):
    multilingual.make(root / name, SMALL, randomize, seed)


def make_colbert(root, name, seed):
    colbert.make(root / name, SMALL, randomize, seed)
    model = colbert.ColBert(root / name)
    draw = random.Random(seed)
    with open(root / name / "expected.jsonl", "w") as file:
        # Queries that are filled up, by one token and by many; documents; a mask that is no filler.
        for own, filled in ((1, 0), (4, 10), (13, 1), (17, 0), (24, 0), (1, 5)):
            ids = [draw.randrange(5, len(colbert.VOCABULARY)) for _ in range(own)]
            ids = [4 if own == 17 and i == 9 else x for i, x in enumerate(ids)] + [4] * filled
            vectors = {output: reference.as_lists(value[None]) for output, value in model(ids).items()}
            file.write(json.dumps({"ids": ids, **vectors}, separators=(",", ":")) + "\n")


def make_splade(root, name, seed):
    splade.make(root / name, SMALL, randomize, seed)
    write_expected(root / name, 24, seed, first=5, vocabulary=len(splade.VOCABULARY))


def make_recurrent(root, name, seed):
    recurrent.make(root / name, reference.Crf, randomize, seed)
    write_expected(root / name, 24 if "classify" in name else 17, seed, vocabulary=recurrent.VOCABULARY)


def make_elmo(root, name, seed):
    elmo.make(root / name, reference.Crf, randomize, seed)
    write_expected(root / name, 24 if "classify" in name else 17, seed, vocabulary=elmo.VOCABULARY)


def make_nplm(root, name, seed):
    nplm.make(root / name, seed)


def make_textcnn(root, name, seed):
    textcnn.make(root / name, reference.Crf, randomize, seed)
    write_expected(root / name, 24 if "classify" in name else 17, seed, vocabulary=textcnn.VOCABULARY)


def make_long(root, name, seed):
    long_texts.make(root / name, randomize, seed)


def make_reformer(root, name, seed):
    reformer.make(root / name, randomize, seed)


def make_seq2seq(root, name, seed):
    seq2seq.make(root / name, randomize, seed)


def make_evolved(root, name, seed):
    evolved.make(root / name, randomize, seed)


def make_retro(root, name, seed):
    retro.make(root / name, randomize, seed)


def make_student(root, name, seed):
    marian.make(root / name, seed)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "models")
    root.mkdir(parents=True, exist_ok=True)
    makers = [(name, make, seed) for seed, name in enumerate(MODELS, start=20)]
    makers += [("sentence-mean", make_sentence_transformer, 90)]
    makers += [("sentence-cls-dense", make_old_sentence_transformer, 91)]
    # With 69 the best beginnings of the search stand apart, so that int8 gives them the same order.
    seeds = {"xlnet-search": 69}
    makers += [(name, make_small, seeds.get(name, seed)) for seed, name in enumerate(SMALL_MODELS, start=100)]
    makers += [(name, make_jina, seed) for seed, name in enumerate(JINA_MODELS, start=300)]
    makers += [(name, make_linear_attention, seed) for seed, name in enumerate(linear_attention.MODELS, start=540)]
    makers += [(name, make_setfit, seed) for seed, name in enumerate(("setfit-two", "setfit-several"), start=330)]
    makers += [(name, make_decoder, seed) for seed, name in enumerate(DECODER_MODELS, start=400)]
    makers += [(name, make_paper, seed) for seed, name in enumerate(papers.MODELS, start=480)]
    makers += [(name, make_gpt3, seed) for seed, name in enumerate(gpt3.MODELS, start=540)]
    makers += [(name, make_transfo_xl, seed) for seed, name in enumerate(transfo_xl.MODELS, start=540)]
    makers += [(name, make_unilm, seed) for seed, name in enumerate(UNILM_MODELS, start=490)]
    makers += [(generation.NAME, make_text_decoder, 450)]
    makers += [(name, make_other_text_decoder, seed) for seed, name in enumerate(generation.OTHERS, start=720)]
    makers += [(pair_generation.NAME, make_text_pair, 451)]
    makers += [(translation.NAME, make_translator, 452)]
    makers += [(name, make_pair, seed) for seed, name in enumerate(encoder_decoders.MODELS, start=460)]
    makers += [(name, make_colbert, seed) for seed, name in enumerate(colbert.LAYOUTS, start=350)]
    makers += [(name, make_splade, seed) for seed, name in enumerate(splade.LAYOUTS, start=640)]
    makers += [("minilm-multilingual", make_multilingual, 340)]
    makers += [(name, make_static, seed) for seed, name in enumerate(("static-plain", "static-mapped"), start=320)]
    makers += [(name, make_knowledge_ernie, seed) for seed, name in enumerate(knowledge_ernie.MODELS, start=370)]
    makers += [(name, make_recurrent, seed) for seed, name in enumerate(recurrent.LAYOUTS, start=360)]
    makers += [(name, make_textcnn, seed) for seed, name in enumerate(textcnn.LAYOUTS, start=380)]
    makers += [(name, make_elmo, seed) for seed, name in enumerate(elmo.LAYOUTS, start=390)]
    makers += [(name, make_nplm, seed) for seed, name in enumerate(nplm.LAYOUTS, start=530)]
    makers += [(name, make_seq2seq, seed) for seed, name in enumerate(seq2seq.LAYOUTS, start=370)]
    makers += [(name, make_evolved, seed) for seed, name in enumerate(evolved.LAYOUTS, start=610)]
    makers += [(name, make_retro, seed) for seed, name in enumerate(retro.LAYOUTS, start=620)]
    makers += [(name, make_long, seed) for seed, name in enumerate(long_texts.MODELS, start=550)]
    makers += [(name, make_aggregation, seed) for seed, name in enumerate(aggregation.MODELS, start=700)]
    makers += [(name, make_reformer, seed) for seed, name in enumerate(reformer.MODELS, start=630)]
    # With these texts neither end at once nor go on for ever.
    makers += [(name, make_student, seed) for name, seed in zip(marian.LAYOUTS, (506, 516), strict=True)]
    for name, maker, seed in makers:
        if not any(fnmatch.fnmatch(name, pattern) for pattern in sys.argv[2:] or ["*"]):
            continue
        shutil.rmtree(root / name, ignore_errors=True)
        maker(root, name, seed)
    # git keeps no empty folders, and nothing reads this one.
    for leftover in [*root.rglob("README.md"), *root.rglob(".gitattributes")]:
        leftover.unlink()
    for path in sorted(root.iterdir()):
        print(path.name, sum(file.stat().st_size for file in path.rglob("*") if file.is_file()))


if __name__ == "__main__":
    main()

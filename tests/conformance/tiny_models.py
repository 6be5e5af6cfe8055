"""Makes tiny random models of transformers' text classes, and compares bantam's answers with transformers'.

A model has its class's default settings with small sizes (SMALL). Its weights are drawn so that every part affects the
answers: attention is not uniform, norms differ from 1 and biases from 0. families.py makes one model for each type and
head, flips.py one for each changed setting.
"""

import collections
import contextlib
import functools
import inspect
import json
import logging
import math
import subprocess
import typing
import warnings

import numpy

from saver_checks import Converted, Different, Refused, golden, listed

with contextlib.suppress(ImportError):
    import torch
    import transformers
    from transformers.models.auto import modeling_auto

LIMIT = 3e-4  # relative to the largest value of an output, or to 0.1 if all are smaller
MOST_PARAMETERS = 3_000_000
MASKED = 1e5  # Big Bird subtracts about this much from scores where no answer is allowed
TOO_LONG = "the model takes at most"  # the message of `bantam run` for texts beyond the limit
LENGTH, DECODED = 19, 7  # tokens of a text, and tokens that a decoder reads
# Heads by task, and the names of transformers' tables of their classes.
HEADS = {
    "classify": "SEQUENCE_CLASSIFICATION",
    "tag": "TOKEN_CLASSIFICATION",
    "answer": "QUESTION_ANSWERING",
    "fill": "MASKED_LM",
    "generate": "CAUSAL_LM",
    "translate": "SEQ_TO_SEQ_CAUSAL_LM",
}
# The ends of the names of these classes.
CLASSES = {
    "classify": "SequenceClassification",
    "tag": "TokenClassification",
    "answer": "QuestionAnswering",
    "fill": "MaskedLM",
    "generate": "CausalLM",
    "translate": "ConditionalGeneration",
}
# Sizes, with all names that configurations use for them.
SIZES = {
    48: "hidden_size n_embd d_model dim emb_dim embedding_size word_embed_proj_dim embed_dim input_embedding_size output_embedding_size",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers num_encoder_layers"
    " num_key_value_heads num_experts_per_tok moe_k",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_encoder_attention_heads"
    " num_decoder_attention_heads num_experts num_local_experts n_routed_experts moe_num_experts",
    80: "intermediate_size d_ff n_inner ffn_dim encoder_ffn_dim decoder_ffn_dim hidden_dim dim_feedforward ffn_hidden_size intermediate_dim"
    " d_inner feed_forward_size",
    12: "head_dim d_kv d_head attention_head_size rotary_dim",
    128: "max_position_embeddings context_length n_positions n_ctx max_seq_len",
    8: "sliding_window local_attention window_size",
    40: "moe_intermediate_size shared_expert_intermediate_size expert_ffn_size",
    24: "projection_dim intra_bottleneck_size true_hidden_size",
    211: "vocab_size",
}
SMALL = {name: size for size, names in SIZES.items() for name in names.split()}
SMALL |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "num_labels": 3}
# Further settings of types that small sizes, or transformers itself, require.
OWN = {
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "recurrent_gemma": {"block_types": ["recurrent", "attention"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "stablelm": {"partial_rotary_factor": 0.5},
    "glm4": {"partial_rotary_factor": 0.5},
    "t5": {"decoder_start_token_id": 0},
    "nllb-moe": {"encoder_sparse_step": 2, "decoder_sparse_step": 2},
    "marian": {"decoder_start_token_id": 2},
    "mbart": {"decoder_start_token_id": 2},
    "plbart": {"decoder_start_token_id": 2},
    "longformer": {"attention_window": 8},
    "deberta": {"relative_attention": True, "max_relative_positions": 8, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False},
    "deberta-v2": {
        "relative_attention": True, "position_buckets": 8, "max_relative_positions": 16, "pos_att_type": ["c2p", "p2c"],
        "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False, "conv_kernel_size": 3, "conv_act": "gelu",
    },
    "mobilebert": {"embedding_size": 16, "true_hidden_size": 24, "intra_bottleneck_size": 24, "intermediate_size": 80},
    "reformer": {
        "axial_pos_embds_dim": [16, 32], "axial_pos_shape": [8, 16], "attn_layers": ["local", "lsh"], "hash_seed": 3,
        "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4, "feed_forward_size": 80, "num_hashes": 2, "num_buckets": 4,
    },
}  # fmt: skip


class Unmade(Exception):
    """The reason why transformers cannot make a model."""


@functools.cache
def prepared():
    """Silences transformers once, and limits torch to one thread, so that many such programs can run in parallel."""
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    golden("nllb_experts")


def known_types(command):
    """The model types that bantam converts."""
    listed = subprocess.run(
        [command, "version", "--families", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [family["model_type"] for family in json.loads(listed.stdout)["families"]]


def classes(only=None):
    """{model type: {head: class}} of the text models in the installed transformers, or of the types in `only`.

    The type is the model_type of the class's files; some entries of transformers' tables are other names of it.
    """
    found = collections.defaultdict(dict)
    for head, table in HEADS.items():
        for entry, names in getattr(modeling_auto, f"MODEL_FOR_{table}_MAPPING_NAMES").items():
            name = names if isinstance(names, str) else names[0]
            if not hasattr(transformers, name) or (only is not None and entry not in only):
                continue
            config_class = getattr(getattr(transformers, name), "config_class", None)
            found[getattr(config_class, "model_type", entry)].setdefault(head, name)
    for heads in found.values():  # a class of encoder-decoders may be in two tables
        if heads.get("fill") is not None and heads.get("fill") == heads.get("translate"):
            del heads["fill"]
    return found


@contextlib.contextmanager
def unmade():
    """Turns any exception of a library into Unmade."""
    try:
        yield
    except Unmade:
        raise
    except Exception as error:  # libraries raise exceptions of any class
        raise Unmade(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}") from error


def configure(name, changes):
    """A small configuration of a class; `changes` override its settings."""
    config_class = getattr(transformers, name).config_class
    takes = config_class().to_dict()
    settings = {key: value for key, value in SMALL.items() if key in takes}
    settings |= OWN.get(config_class.model_type, {})
    if "layer_types" in takes:
        settings.setdefault("layer_types", None)
    try:
        return config_class(**{**settings, **changes})
    except Exception:  # as above
        settings.pop("layer_types", None)
        if "num_hidden_layers" in settings:  # some kinds of layers occur at every fourth layer only
            settings["num_hidden_layers"] = 4
        return config_class(**{**settings, **changes})


def draw_weights(model, seed):
    """Draws random weights, scaled by the number of inputs of each layer."""
    draw = torch.Generator().manual_seed(seed)
    gain = (
        0.6
        if model.config.model_type == "mobilebert"
        else 0.8
        if hasattr(model.config, "relative_attention_num_buckets")
        else 1.5
    )
    inputs = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            kind = type(module).__name__
            axis = None if kind.endswith("Embedding") else -1 if kind == "Linear" else 0 if kind == "Conv1D" else 1
            inputs[parameter] = (axis, "norm" in kind.lower() or "norm" in name.lower())
    with torch.no_grad():
        for parameter, (axis, norm) in inputs.items():
            values = torch.randn(parameter.shape, generator=draw)
            if parameter.dim() < 2:
                # Parameters of norms vary around their initial 1 or 0.
                values = (parameter.mean() if norm and parameter.numel() else 0) + values * 0.2
            elif axis is not None:
                values *= gain / math.sqrt(parameter.shape[axis])
            parameter.copy_(values)
        model.tie_weights()
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape, generator=draw) * 0.2)


def make(name, changes=None, seed=5):
    """A random small model of a class; `changes` override its settings."""
    prepared()
    with unmade():
        model_class, config = (
            getattr(transformers, name),
            configure(name, changes or {}),
        )
        if changes is None:  # changes hardly affect the size
            with torch.device("meta"):
                count = sum(parameter.numel() for parameter in model_class._from_config(config).parameters())
            if count > MOST_PARAMETERS:
                raise Unmade(f"{count} parameters")
        torch.manual_seed(seed)
        model = model_class._from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
        if hasattr(model, "set_experts_implementation"):
            model.set_experts_implementation("eager")
        draw_weights(model, seed)
        return model


def first_number(value, otherwise):
    value = value[0] if isinstance(value, list) else value
    return value if isinstance(value, int) and value >= 0 else otherwise


class Asked(typing.NamedTuple):
    """Ids of a text, ids that a decoder reads, and segments; None: the model has no such input."""

    ids: list
    decoder_ids: list | None = None
    segments: list | None = None

    def words(self):
        """The options of `bantam run`."""
        named = (
            ("--ids", self.ids),
            ("--decoder-ids", self.decoder_ids),
            ("--segments", self.segments),
        )
        return [word for name, ids in named if ids for word in (name, listed(ids))]

    def tensors(self):
        named = (
            ("input_ids", self.ids),
            ("decoder_input_ids", self.decoder_ids),
            ("token_type_ids", self.segments),
        )
        return {name: torch.tensor([ids]) for name, ids in named if ids} | {
            "attention_mask": torch.ones(1, len(self.ids), dtype=torch.long)
        }


def ask(model, head, seed=5):
    """A random text without padding, with the end and separator tokens that the head needs."""
    config = model.config
    vocabulary = min(
        getattr(config, "vocab_size", 200),
        getattr(config, "decoder_vocab_size", None) or 200,
        200,
    )
    special = {
        first_number(getattr(config, f"{name}_token_id", None), -1) for name in ("pad", "bos", "eos", "sep", "mask")
    }
    ids = torch.randint(5, vocabulary, (LENGTH,), generator=torch.Generator().manual_seed(seed)).tolist()
    ids = [
        (number if number not in special else next(n for n in range(5, vocabulary) if n not in special))
        for number in ids
    ]
    pair = hasattr(model, "get_decoder") and "decoder_input_ids" in inspect.signature(model.forward).parameters
    if pair:
        ids[-1] = first_number(config.eos_token_id, 2)
    segments = None
    if config.model_type in ("longformer", "big_bird") and head == "answer":  # a separator ends the question
        ids[6] = ids[7] = ids[-1] = first_number(config.sep_token_id, 2)
        if config.model_type == "big_bird":
            segments = [0] * 7 + [1] * (LENGTH - 7)
    return Asked(ids, ids[:DECODED] if pair and head in ("fill", "translate") else None, segments)


def answers(model, asked):
    """{name: values} of the outputs of transformers, without the batch axis."""
    with unmade():
        with torch.no_grad():
            out = model(**asked.tensors())
        found = {
            name: value[0].float().numpy()
            for name, value in out.items()
            if name in ("logits", "start_logits", "end_logits") and torch.is_tensor(value)
        }
        if not found:
            raise Unmade("no logits")
        if not all(numpy.isfinite(values).all() for values in found.values()):
            raise Unmade("its answers are not finite")
        return found


def distance(expected, actual):
    """The largest difference of two answers, relative to the largest value; `actual` may have the last tokens only."""
    worst = 0.0
    for name, values in expected.items():
        if name not in actual:
            raise Different(f"there is no output {name}, but {', '.join(actual)}")
        ours, theirs = (
            numpy.asarray(actual[name], "f8").flatten(),
            numpy.asarray(values, "f8").flatten(),
        )
        if ours.size == 0 or theirs.size % ours.size != 0:
            raise Different(f"{name} has {ours.size} values of {theirs.size}")
        theirs = theirs[-ours.size :]
        seen = numpy.abs(theirs) < MASKED
        ours, theirs = ours[seen], theirs[seen]
        worst = max(
            worst,
            float(numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 0.1)),
        )
    return worst


class Verdict:
    """The result for a model. `state`: "right", "refused", "wrong" or "crash"; `said`: a message or the difference."""

    def __init__(self, state, said):
        self.state, self.said = state, said


def beginnings(model, asked):
    """The answers of a decoder that reads its start token alone, as in transformers' generate(); of mBART's kind, those
    of one that reads the source's last token alone."""
    if model.config.model_type in ("mbart", "plbart"):
        return answers(model, asked._replace(decoder_ids=asked.ids[-1:]))
    config = model.generation_config
    start = first_number(config.decoder_start_token_id, None)
    start = first_number(config.bos_token_id, None) if start is None else start
    if start is None or start >= model.config.vocab_size:
        raise Unmade("no token begins texts")
    return answers(model, asked._replace(decoder_ids=[start]))


def expect(model, asked, begins):
    return [answers(model, asked), *([beginnings(model, asked)] if begins else [])]


def judge(command, model, head, folder, edit=None, begins=False):
    """Saves, converts and runs a model, and compares its answers.

    `edit(settings)` changes the saved config.json, which transformers then reads again. `begins`: decoders also run
    without decoder ids, so that they begin with their own start token.
    """
    with unmade():
        asked = ask(model, head)
    begins = begins and asked.decoder_ids is not None
    expected = expect(model, asked, begins)
    with unmade():
        model.save_pretrained(folder)
    if edit is not None:
        path = folder / "config.json"
        settings = json.loads(path.read_text())
        edit(settings)
        path.write_text(json.dumps(settings))
        (folder / "generation_config.json").unlink(missing_ok=True)
    try:
        converted = Converted(command, folder, ids_only=True)
        texts = [asked, *([asked._replace(decoder_ids=None)] if begins else [])]
        actual = [converted.outputs("--raw", *text.words()) for text in texts]
        # Without ids a decoder reads the source's behind its start token, whose answer comes first.
        actual[1:] = [
            {
                name: numpy.asarray(values).flatten()[: theirs[name].size]
                for name, values in own.items()
                if name in theirs
            }
            for own, theirs in zip(actual[1:], expected[1:], strict=True)
        ]
        worst = max(map(distance, expected, actual))
    except Refused as error:
        return Verdict("refused" if error.status in (4, 5) else "crash", str(error))
    except Different as error:
        return Verdict("refused" if TOO_LONG in str(error) else "wrong", str(error))
    if worst <= LIMIT and edit is None:
        return Verdict("right", f"{worst:.1e}")
    # The reference is what transformers reads from the directory; it may differ from the model that it saved.
    with unmade():
        again = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    reread = max(map(distance, expect(again, asked, begins), actual))
    if reread > LIMIT:  # perhaps by f32 rounding in transformers: Reformer's causal hashes
        try:
            reread = min(reread, max(map(distance, expect(again.double(), asked, begins), actual)))
        except Unmade:
            pass  # some classes do not support f64
    before = f", {worst:.1e} before it was saved" if edit is None else ""
    return Verdict("right" if reread <= LIMIT else "wrong", f"{reread:.1e}{before}")

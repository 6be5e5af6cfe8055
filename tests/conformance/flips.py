#!/usr/bin/env python3
"""Changes the settings of every text model type that bantam converts, one at a time.

Usage: flips.py COMMAND [--types TYPE ...] [--part I/N] [--all]

A tiny model (tiny_models.py) is made for each changed setting: token ids, sizes, numbers, flags, words with other known
values, rotary scalings, other names of keys, and defaults left out of config.json. Its answers must be right, or it
must be refused with a message that names the setting. Prints one line per failure, and a table of counts. A type's
first head is tested with every setting, the other heads with the settings that their own layers read. Settings that
transformers rejects or ignores are counted separately. Exit status 1 if an answer is wrong, the command crashes, or a
refusal does not name the setting; 77 if transformers is not installed.
"""

import argparse
import collections
import functools
import inspect
import itertools
import pathlib
import re
import shutil
import sys
import tempfile
import typing

try:
    import tiny_models
    import transformers
    from transformers.activations import ACT2FN
except ImportError as error:
    print(f"flips.py: skipped, {error}")
    sys.exit(77)

MAIN_HEADS = ("fill", "generate", "translate", "classify", "tag", "answer")
ACTIVATIONS = (
    "gelu",
    "relu",
    "silu",
    "gelu_new",
    "quick_gelu",
    "tanh",
    "gelu_pytorch_tanh",
    "relu2",
    "sigmoid",
    "mish",
    "linear",
)
# Values of settings in addition to the words that transformers' modeling source compares them with.
WORDS = {
    "feed_forward_proj": (
        "relu",
        "gelu",
        "silu",
        "gated-gelu",
        "gated-silu",
        "gated-relu",
        "gelu_new",
    ),
    "position_embedding_type": (
        "absolute",
        "relative_key",
        "relative_key_query",
        "alibi",
        "rope",
    ),
    "summary_type": ("last", "first", "mean", "cls_index"),
    "summary_activation": ("tanh", "relu"),
    "classifier_pooling": ("cls", "mean", "last"),
    "norm_rel_ebd": ("layer_norm", "none"),
    "normalization_type": ("layer_norm", "no_norm"),
    "encoder_attention_type": ("local", "transient-global"),
}
LISTS = {
    "pos_att_type": (["c2p"], ["p2c"], ["c2p", "p2c"], [], None),
    "layer_types": (
        ["sliding_attention"] * 2,
        ["full_attention"] * 2,
        ["sliding_attention", "full_attention"],
    ),
    "attention_types": (
        [[["global"], 2]],
        [[["local"], 2]],
        [[["local", "global"], 1]],
    ),
    "mlp_only_layers": ([0], [1], [0, 1]),
    "moe_layers": ([0], [1], []),
    "no_rope_layers": ([1, 0], [0, 0], [1, 1], [0, 1]),
    "attention_window": ([4, 8],),
    "attn_layers": (["lsh", "lsh"], ["local", "local"]),
}
# Non-default settings that other settings depend on: flags and words are changed once more together with these.
WINDOWED = {"use_sliding_window": True, "max_window_layers": 1, "layer_types": None}
VARIANTS = {
    "qwen2": [WINDOWED],
    "qwen3": [WINDOWED],
    "smollm3": [{"use_sliding_window": True, "layer_types": None}],
    "falcon": [
        {"new_decoder_architecture": True},
        {"parallel_attn": False, "multi_query": False, "bias": True},
    ],
    "t5": [{"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}],
    "big_bird": [{"attention_type": "block_sparse", "block_size": 2, "num_random_blocks": 1}],
    "stablelm": [{"use_parallel_residual": True, "use_qkv_bias": True}],
    "gpt_neox": [{"use_parallel_residual": False, "attention_bias": False}],
    "gemma3_text": [{"use_bidirectional_attention": True}],
    "albert": [{"num_hidden_groups": 2, "inner_group_num": 2}],
}
TOKENS = {
    "pad_token_id": 201,
    "bos_token_id": 202,
    "eos_token_id": 203,
    "decoder_start_token_id": 204,
    "sep_token_id": 205,
    "mask_token_id": 206,
}
# Settings of training, which do not change answers; and a seed, without which transformers draws new hashes each time.
NUMBERS_OF_TRAINING = re.compile(
    r"hash_seed|drop|initializer|init_|_std$|loss|jitter|aux_|_coef|layerscale|mask_time|mask_feature"
)
SCALED = {
    "linear": {"factor": 2.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 32},
    "yarn, stated": {
        "factor": 4.0,
        "original_max_position_embeddings": 32,
        "beta_fast": 8.0,
        "beta_slow": 2.0,
        "attention_factor": 1.3,
    },
    "yarn, mscale": {
        "factor": 4.0,
        "original_max_position_embeddings": 32,
        "mscale": 0.7,
        "mscale_all_dim": 0.5,
        "truncate": False,
    },
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "proportional": {"factor": 2.0},
}


TOO_LONG = tiny_models.TOO_LONG  # a limit of the file; `bantam run` names it
# Other words by which refusals name a setting.
ALSO_SAID = {
    "relative_attention_num_buckets": ("relative_attention_bias",),
    "relative_attention_max_distance": ("relative_attention_num_buckets",),
    "head_dim": ("rotary positions turn",),
    "hidden_size": ("do not divide", "word_embed_proj_dim", "rotary positions turn"),
    "num_attention_heads": ("rotary positions turn",),
    "position_embedding_type": ("position_embeddings",),
    "num_hidden_groups": ("groups",),
    "decoder_vocab_size": ("model.shared.weight",),
    "pad_token_id": ("decoder_start_token_id",),
    "eos_token_id": ("decoder_start_token_id",),
}


class Flip(typing.NamedTuple):
    """A changed setting; `said` describes it. `changes` go to the configuration class; `edit` changes config.json."""

    key: str
    said: str
    changes: dict
    edit: typing.Callable | None = None
    names: tuple = ()  # a refusal must contain one of these


def numbers(value):
    return [number for number in dict.fromkeys((1, value + 1, 0)) if number != value]


def values(key, value, hint, source):
    """Other values to test for a setting."""
    if key in LISTS:
        return [other for other in LISTS[key] if other != value]
    if key in TOKENS:
        return [TOKENS[key], [TOKENS[key], 7], None]
    said = str(hint)
    words = re.findall(rf"\b{key}\b\s*(?:==|!=)\s*[\"']([\w.-]+)[\"']", source)
    for found in re.findall(rf"\b{key}\b\s*(?:not )?in\s*[\[({{]([^\])}}]*)", source):
        words += re.findall(r"[\"']([\w.-]+)[\"']", found)
    literals = [word for word in typing.get_args(hint) if isinstance(word, str)]
    others = ()
    if isinstance(value, bool) or (value is None and "bool" in said):
        others = [not value]
    elif isinstance(value, str) or (value is None and ("str" in said or words)):
        acts = ACTIVATIONS if value in ACT2FN or (value is None and "act" in key and key not in WORDS) else ()
        others = [*WORDS.get(key, ()), *words, *literals, *acts]
    elif isinstance(value, float) or (value is None and "float" in said):
        if not NUMBERS_OF_TRAINING.search(key):
            others = [
                value * 0.5 if value else 0.25,
                *([value * 2] if value and value >= 1 else []),
            ]
    elif isinstance(value, int):
        own = {
            48: (36, 40),
            12: (10, 20),
            4: (1, 3),
            2: (1, 3, 4),
            128: (24,),
        }  # for sizes that tiny_models.py sets
        others = (
            [223]
            if "vocab_size" in key and value > 200
            else own.get(value, numbers(value))
            if key in tiny_models.SMALL
            else numbers(value)
        )
    elif value is None and "int" in said:
        others = [1, 2, 5]
    if value is not None and "None" in said and not NUMBERS_OF_TRAINING.search(key):
        others = [*others, None]
    return [other for other in dict.fromkeys(others) if other != value or type(other) is not type(value)]


def rotary(parameters):
    """Other rotary settings to test, for all layers or for each kind of layer."""
    kinds = [kind for kind, inner in parameters.items() if isinstance(inner, dict)]

    def changed(change):
        if kinds:
            return {kind: {**parameters[kind], **change} for kind in kinds}
        return {**parameters, **change}

    for name, change in SCALED.items():
        yield (
            f"rope_type={name}",
            changed({"rope_type": name.split(",")[0], **change}),
            ("rope_type", "truncate"),
        )
    yield "rope_theta", changed({"rope_theta": 321.0}), ("rope_theta",)
    for part in (0.5, 0.34, 1.0):
        yield (
            f"partial_rotary_factor={part}",
            changed({"partial_rotary_factor": part}),
            ("partial_rotary_factor", "rotary positions turn"),
        )
    width = sum(1 for _ in range(6))
    longer = {
        "rope_type": "longrope",
        "factor": 2.0,
        "short_factor": [1.0 + 0.1 * i for i in range(width)],
        "long_factor": [2.0] * width,
    }
    yield (
        "rope_type=longrope",
        changed({**longer, "original_max_position_embeddings": 64}),
        ("rope_type", "short_factor", "long_factor"),
    )


def old_rotary(settings):
    """Rewrites config.json as in transformers 4: rope_theta and rope_scaling are separate top-level keys."""
    parameters = settings.pop("rope_parameters")
    settings["rope_theta"] = parameters.pop("rope_theta")
    part = parameters.pop("partial_rotary_factor", None)
    if part is not None:
        settings["partial_rotary_factor"] = part
    settings["rope_scaling"] = parameters if parameters.get("rope_type", "default") != "default" else None


def nested(config):
    """Yields (key, value, type hint) of a configuration's settings."""
    hints = {}
    for base in reversed(type(config).__mro__):
        hints |= getattr(base, "__annotations__", {}) if base is not transformers.PreTrainedConfig else {}
    for key in (
        *hints,
        "tie_word_embeddings",
        "is_decoder",
        "add_cross_attention",
        "chunk_size_feed_forward",
    ):
        if hasattr(config, key) and not key.startswith("_"):
            yield key, getattr(config, key), hints.get(key, bool)


def flips(name, base, source):
    """Yields all flips of a class."""
    config, seen = base.config, set()
    aliases = collections.defaultdict(list)
    for alias, key in config.attribute_map.items():
        aliases[key].append(alias)
        aliases[alias].append(key)
    for key, value, hint in nested(config):
        if key in seen or key in (
            "rope_parameters",
            "id2label",
            "label2id",
            "dtype",
            "transformers_version",
            "architectures",
        ):
            continue
        seen.add(key)
        if isinstance(value, transformers.PreTrainedConfig):
            for inner, own, own_hint in nested(value):
                for other in values(inner, own, own_hint, source):
                    yield Flip(
                        key,
                        f"{key}.{inner}={other}",
                        {key: {**value.to_dict(), inner: other}},
                        names=(inner,),
                    )
            continue
        for other in values(key, value, hint, source):
            yield Flip(
                key,
                f"{key}={other}",
                {key: other},
                names=(key, *aliases[key], *ALSO_SAID.get(key, ())),
            )
    for labels in (1, 2):
        yield Flip(
            "num_labels",
            f"num_labels={labels}",
            {"num_labels": labels},
            names=("labels",),
        )
    parameters = getattr(config, "rope_parameters", None)
    if isinstance(parameters, dict) and parameters:
        for said, change, names in rotary(parameters):
            yield Flip("rope_parameters", said, {"rope_parameters": change}, names=names)
            if not any(isinstance(inner, dict) for inner in parameters.values()):
                yield Flip(
                    "rope_parameters",
                    f"{said}, as rope_scaling",
                    {"rope_parameters": change},
                    old_rotary,
                    names=(*names, "type", "rope_scaling"),
                )
    yield Flip(
        "defaults",
        "no settings that are defaults",
        {},
        without_defaults(type(config)),
        names=("",),
    )
    for alias, key in config.attribute_map.items():
        yield Flip(key, f"{key} as {alias}", {}, renamed(key, alias), names=("",))


def without_defaults(config_class):
    default = config_class().to_dict()

    def edit(settings):
        for key in [key for key, value in settings.items() if key in default and default[key] == value]:
            if key not in ("model_type", "architectures"):
                del settings[key]

    return edit


def renamed(key, alias):
    def edit(settings):
        if key in settings:
            settings[alias] = settings.pop(key)

    return edit


def sources_of(model):
    """Returns the source of the class's module, and the source of the layers that belong to the head."""
    module = inspect.getsource(sys.modules[type(model).__module__])
    inner = model.base_model
    own = {type(layer) for path, layer in model.named_modules() if layer is not inner and not is_inside(path, model)}
    own = {kind for kind in own if kind.__module__.startswith("transformers")}
    return module, "\n".join(inspect.getsource(kind) for kind in own)


def is_inside(path, model):
    return model.base_model is not model and (path + ".").startswith(model.base_model_prefix + ".")


def mentioned(flip, source, config):
    names = [
        flip.key,
        *(alias for alias, key in config.attribute_map.items() if key == flip.key),
    ]
    return any(re.search(rf"\b{name}\b", source) for name in names)


ALWAYS = (
    "rope_parameters",
    "defaults",
    "tie_word_embeddings",
    "is_decoder",
    "add_cross_attention",
    "num_labels",
    *TOKENS,
)
OF_HEADS = ("tie_word_embeddings", "num_labels", "pad_token_id", "eos_token_id")


def chosen(name, head, is_main):
    """Yields the flips of a head; for a type's first head all of them, also in combination with VARIANTS."""
    yield from chosen_beside(name, head, is_main, None)
    for variant in VARIANTS.get(getattr(transformers, name).config_class.model_type, ()) if is_main else ():
        for base, flip in chosen_beside(name, head, True, variant):
            value = getattr(base.config, flip.key, None)
            if flip.changes and flip.key not in variant and isinstance(value, bool | str):
                yield (
                    base,
                    flip._replace(
                        changes={**variant, **flip.changes},
                        said=f"{flip.said} beside {variant}",
                        names=(*flip.names, *variant),
                    ),
                )


def chosen_beside(name, head, is_main, variant):
    base = tiny_models.make(name, variant)
    module, own = sources_of(base)
    for flip in flips(name, base, module):
        if flip.key == "num_labels" and head not in ("classify", "tag"):
            continue
        if is_main:
            if (
                flip.key in ALWAYS
                or " as " in flip.said
                or mentioned(flip, module, base.config)
                or isinstance(getattr(base.config, flip.key, None), bool)
            ):
                yield base, flip
        elif flip.key in OF_HEADS or (mentioned(flip, own, base.config) and " as " not in flip.said):
            yield base, flip


def took(config, flip):
    """False if the configuration changed the given value."""
    return all(
        isinstance(value, dict) or key in ("num_labels", "layer_types") or getattr(config, key, None) == value
        for key, value in flip.changes.items()
    )


@functools.lru_cache(1)
def answers_of(base, head):
    return tiny_models.answers(base, tiny_models.ask(base, head))


def is_same(base, model, head):
    """True if the setting does not change the answers."""
    try:
        after = tiny_models.answers(model, tiny_models.ask(base, head))
        return tiny_models.distance(answers_of(base, head), after) < 1e-6
    except (tiny_models.Unmade, tiny_models.Different):
        return False


def judge(command, name, head, base, flip, folder):
    try:
        model = tiny_models.make(name, flip.changes)
        if not took(model.config, flip):
            return tiny_models.Verdict("ignored", "")
        verdict = tiny_models.judge(command, model, head, folder, flip.edit, begins=flip.key in (*TOKENS, "defaults"))
    except tiny_models.Unmade as error:
        return tiny_models.Verdict("not made", str(error))
    if verdict.state == "refused" and not any(part in verdict.said for part in (*flip.names, TOO_LONG)):
        verdict.state = "unnamed"
    if verdict.state == "right" and flip.changes and is_same(base, model, head):
        verdict.state = "without effect"
    return verdict


BAD = ("wrong", "crash", "unnamed")
STATES = ("right", "without effect", "refused", "ignored", "not made", *BAD)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("--types", nargs="*", default=[])
    parser.add_argument("--part", default="1/1", help="I/N: the I-th of N parts of the types")
    parser.add_argument("--all", action="store_true", help="print a line for each flip")
    options = parser.parse_args()
    command = options.command.resolve()
    part, parts = (int(number) for number in options.part.split("/"))
    known = set(tiny_models.known_types(command))
    types = [(one, heads) for one, heads in sorted(tiny_models.classes(known).items()) if one in known]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        number = itertools.count()
        for model_type, heads in types[part - 1 :: parts]:
            if options.types and model_type not in options.types:
                continue
            own = collections.Counter()
            main_head = min(heads, key=MAIN_HEADS.index)
            for head, name in heads.items():
                try:
                    cases = list(chosen(name, head, head == main_head))
                except tiny_models.Unmade as error:
                    print(f"not made {model_type} {head}: {error}", flush=True)
                    continue
                for base, flip in cases:
                    folder = pathlib.Path(place) / str(next(number))
                    verdict = judge(command, name, head, base, flip, folder)
                    own[verdict.state] += 1
                    if options.all or verdict.state in BAD:
                        print(
                            f"{verdict.state:8} {model_type} {head} {flip.said}: {verdict.said[-400:]}",
                            flush=True,
                        )
                    shutil.rmtree(folder, ignore_errors=True)
                    folder.with_name(folder.name + ".bantam").unlink(missing_ok=True)
            counts += own
            print(
                f"{model_type:26} {', '.join(f'{own[state]} {state}' for state in STATES if own[state])}",
                flush=True,
            )
    print(
        f"transformers {transformers.__version__}, {sum(counts.values())} flips: {', '.join(f'{counts[state]} {state}' for state in STATES)}"
    )
    if any(counts[state] for state in BAD):
        sys.exit("flips.py: some are wrong, crash, or are refused without their name")


if __name__ == "__main__":
    main()

"""Checks transformers' classes of the families that bantam converts, with every head of the installed release.

Shapes are those of the golden models. A class without a golden model uses the shape of its family's first one, so heads
of new releases are tested, too.
"""

import contextlib
import functools
import io
import random
import subprocess
import sys

from saver_checks import Converted, golden, listed

# transformers' tables of the classes that are tested.
MAPPINGS = (
    "MODEL", "MODEL_FOR_PRETRAINING", "MODEL_FOR_CAUSAL_LM", "MODEL_FOR_MASKED_LM", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM",
    "MODEL_FOR_SEQUENCE_CLASSIFICATION", "MODEL_FOR_TOKEN_CLASSIFICATION", "MODEL_FOR_QUESTION_ANSWERING",
    "MODEL_FOR_MULTIPLE_CHOICE", "MODEL_FOR_NEXT_SENTENCE_PREDICTION", "MODEL_FOR_TEXT_ENCODING",
)  # fmt: skip
# Families that transformers does not write, and the origin of their files.
NOT_SAVED = {
    "structbert": "BERT's files", "unilm": "its authors' files", "knowledge_ernie": "its authors' files", "gte": "its authors' code",
    "new": "its authors' code", "jina_bert": "its authors' code", "jina_bert_code": "its authors' code",
    "performer": "no library's", "linformer": "no library's", "transfo-xl": "transformers up to 4.35",
    "marian_ssru": "Marian's files", "palm": "no library's", "lamda": "no library's", "model2vec": "the class model2vec/StaticModel",
    "word-vectors": "word2vec's and fastText's files", "recurrent": "PyTorch's layers", "textcnn": "PyTorch's layers",
    "elmo": "AllenNLP's files", "nplm": "no library's", "seq2seq": "PyTorch's layers", "seq2seq-gru": "PyTorch's layers",
    "evolved_transformer": "no library's", "retro": "no library's",
}  # fmt: skip
# Families whose files are another family's with another setting.
SAME_FAMILY = {"falcon_two_norms": "falcon", "opt_350m": "opt", "glm4_moe_normed": "glm4_moe"}
LENGTHS = (1, 6, 11, 17)


def families(command):
    listed_ones = subprocess.run([command, "version", "--families"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed_ones.splitlines() if line.strip()]


def golden_shapes():
    """{class: settings} of the first golden model that each class of transformers made."""
    make_golden = golden("make_golden")
    decoders, pairs = golden("decoders"), golden("encoder_decoders")

    shapes = {}
    for kind, settings, *_ in make_golden.MODELS.values():
        shape = make_golden.DISTIL_SHAPE if kind.startswith("DistilBert") else make_golden.SHAPE
        shapes.setdefault(kind, {**shape, **settings})
    for name, (kind, settings) in make_golden.SMALL_MODELS.items():
        if not name.startswith("shaw"):  # transformers 5 no longer has these vectors
            shapes.setdefault(
                kind, {**(make_golden.XLNET if name.startswith("xlnet") else make_golden.SMALL), **settings}
            )
    for kind, settings in decoders.DECODER_MODELS.values():
        shapes.setdefault(kind, {**settings, **decoders.TOKENS})
    for kind, settings in pairs.MODELS.values():
        shapes.setdefault(kind, settings)
    for module in (golden("long_texts"), golden("reformer")):
        for name, (kind, settings) in module.MODELS.items():
            if not name.endswith("dilated"):  # transformers ignores dilation
                shapes.setdefault(kind, {**module.SMALL, **settings})
    return shapes


def classes_of(model_type):
    import transformers
    from transformers.models.auto import modeling_auto

    found = []
    for mapping in MAPPINGS:
        names = getattr(modeling_auto, f"{mapping}_MAPPING_NAMES", {}).get(model_type, ())
        for name in [names] if isinstance(names, str) else names:
            if name not in found and hasattr(transformers, name):
                found.append(name)
    return found


def shape_of_family(settings, kind):
    """The settings of another class of the family, with labels if the class has some."""
    settings = {key: value for key, value in settings.items() if key not in ("id2label", "label2id", "num_labels")}
    return (
        {**settings, "num_labels": 3} if kind.endswith(("SequenceClassification", "TokenClassification")) else settings
    )


def make(kind, settings, folder, seed):
    make_golden = golden("make_golden")
    import torch
    import transformers

    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**settings))
    gain = 0.6 if kind.startswith("MobileBert") else 0.8 if "relative_attention_num_buckets" in settings else 1.5
    make_golden.randomize(model, seed, gain=gain)
    model.tie_weights()
    if hasattr(model, "final_logits_bias"):
        model.final_logits_bias = torch.randn(model.final_logits_bias.shape) * 0.2
    model.save_pretrained(folder)
    return model.config


def compare_encoder(converted, folder, config, seed):
    long_texts = golden("long_texts")
    reference = golden("reference")

    answers, draw = reference.Reference(folder), random.Random(seed)
    words = (
        ("answer", "choose")
        if long_texts.is_one(config) and config.architectures[0].endswith(("Answering", "Choice"))
        else ()
    )
    for count in LENGTHS:
        ids = [draw.randrange(5, config.vocab_size) for _ in range(count)]
        first = count // 3
        if words:  # a separator ends the question
            if count < 6:
                continue
            ids[first] = ids[-1] = config.sep_token_id
            ids[first + 1] = config.sep_token_id if config.model_type == "longformer" else ids[first + 1]
        segments = [0] * (first + 1) + [1] * (count - first - 1) if answers.segmented() and count > 3 else None
        expected = answers(ids, segments)
        asked = ["--segments", listed(segments)] if segments else []
        converted.compare(expected, converted.outputs("--ids", listed(ids), *asked))


def compare_pair(converted, folder, config, seed):
    encoder_decoders = golden("encoder_decoders")

    pairs, draw = encoder_decoders.Pairs(folder), random.Random(seed)
    own = getattr(config, "decoder_vocab_size", None) or config.vocab_size
    for count in LENGTHS:
        # One end at the source's end: classifiers take the row of the last one.
        ids = [draw.randrange(4, 50) for _ in range(count - 1)] + [config.eos_token_id]
        asked = []
        if pairs.goes_on():
            target = [draw.randrange(4, min(own, 50)) for _ in range(count // 2 + 1)]
            decoder_ids = encoder_decoders.shifted(target, config.decoder_start_token_id)
            asked = ["--decoder-ids", listed(decoder_ids)]
        else:
            decoder_ids = encoder_decoders.shifted(ids, config.decoder_start_token_id)
        converted.compare(pairs(ids, decoder_ids), converted.outputs("--ids", listed(ids), *asked))


def check(kind, settings, seed, command, folder):
    config = make(kind, settings, folder, seed)
    converted = Converted(command, folder, ids_only=True)
    compare = compare_pair if config.is_encoder_decoder else compare_encoder
    compare(converted, folder, config, seed)
    return converted


def check_towers(name, tower, command, folder):
    """Checks one tower of CLIP or SigLIP: vectors of texts, or of the photo."""
    import json

    maker = golden(name)
    write_photo(folder)
    given, sys.argv = sys.argv, [name, str(folder / "saved"), str(folder / "photo.ppm")]
    try:
        maker.main()
    finally:
        sys.argv = given
    expected = json.loads((folder / "saved" / "expected.json").read_text())
    converted = Converted(command, folder / "saved", "--tower", tower)
    if tower == "vision":
        answer = converted.ask("embed", folder / "photo.ppm", "--json")["embedding"]
        converted.compare_values("embedding", expected["image"], answer)
        return converted
    for one in expected["texts"]:
        answer = converted.ask("run", one["text"], "--raw")
        if answer["ids"] != one["ids"]:
            raise ValueError(f"ids of {one['text']!a} differ")
        converted.compare_values("vector", one["vector"], next(iter(answer["outputs"].values()))["data"])
    return converted


def write_photo(folder):
    images = golden("images")

    folder.mkdir(parents=True, exist_ok=True)
    images.photo().save(folder / "photo.ppm")


def check_image(name, seed, command, folder):
    import json

    images = golden("images")

    write_photo(folder)
    images.make(folder, name, seed)
    expected = json.loads((folder / name / "expected.json").read_text())["outputs"]
    converted = Converted(command, folder / name)
    actual = converted.outputs(folder / "photo.ppm", "--raw")
    converted.compare({key: value for key, value in expected.items()}, {k: v.flatten() for k, v in actual.items()})
    return converted


def cases(command):
    """(name, function that checks it) of every class."""
    with contextlib.redirect_stderr(io.StringIO()):
        import transformers

        shapes = golden_shapes()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    kinds = {}
    for kind in shapes:
        if hasattr(transformers, kind):
            kinds.setdefault(getattr(transformers, kind).config_class.model_type, []).append(kind)
    seed = 700
    for model_type in families(command):
        if model_type in NOT_SAVED or model_type in SAME_FAMILY or model_type.startswith(("clip", "siglip")):
            continue
        if model_type in ("vit", "deit", "dinov2"):
            continue
        known = kinds.get(model_type, [])
        for kind in dict.fromkeys([*known, *classes_of(model_type)]) if known else ():
            seed += 1
            settings = shapes.get(kind) or shape_of_family(shapes[known[0]], kind)
            yield f"transformers/{kind}", functools.partial(check, kind, settings, seed)
        if not known:
            yield f"transformers/{model_type}", functools.partial(no_shape, model_type)
    images = golden("images")

    for seed, name in enumerate(images.LAYOUTS, start=500):
        yield f"transformers/{images.LAYOUTS[name][0].__name__}-{name}", functools.partial(check_image, name, seed)
    for name in ("clip", "siglip"):
        for tower in ("text", "vision"):
            yield f"transformers/{name}-{tower}", functools.partial(check_towers, name, tower)


def no_shape(model_type, command, folder):
    raise ValueError(
        f"no golden model of {model_type} has a shape for it; make one, or say in NOT_SAVED whose files it reads"
    )

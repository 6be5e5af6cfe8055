"""Checks GLiNER models that the library `gliner` saves: spans of texts for labels, and their scores."""

import functools

from saver_checks import Converted, Different, golden


def check(name, seed, command, folder):
    import gliner

    make_gliner = golden("make_gliner")
    encoder, head, kind = make_gliner.MODELS[name]
    bare = folder / "encoder"
    bare.mkdir()
    encoder = dict(encoder, vocab_size=make_gliner.write_tokenizer(kind, bare), pad_token_id=0)
    config = dict(model_name=str(bare), encoder_config=encoder, max_types=5, dropout=0.0, **head)
    model = gliner.GLiNER.from_config(config, backbone_from_pretrained=False)
    make_gliner.randomize(model.model, seed)
    model.save_pretrained(folder / "saved", safe_serialization=True)
    model.model.eval()
    converted = Converted(command, folder / "saved")
    for text, labels in make_gliner.TEXTS:
        for options, asked in (({}, []), (dict(flat_ner=False, threshold=0.3), ["--nested", "--threshold", "0.3"])):
            expected = model.predict_entities(text, labels, **options)
            answer = converted.ask("tag", text, "--labels", ",".join(labels), "--offsets", "chars", "--json", *asked)
            found = [(one["start"], one["end"], one["label"]) for one in answer["entities"]]
            wanted = [(one["start"], one["end"], one["label"]) for one in expected]
            if found != wanted:
                raise Different(f"spans of {text[:30]!a} are {found}, not {wanted}")
            if found:
                scores = ([one["score"] for one in given] for given in (expected, answer["entities"]))
                converted.compare_values("scores", *scores)
    return converted


def cases(command):
    import gliner  # noqa: F401

    for seed, name in enumerate(golden("make_gliner").MODELS, start=40):
        yield f"gliner/{name.removeprefix('gliner-')}", functools.partial(check, name, seed)

"""Checks models that sentence-transformers, SetFit, model2vec and peft save: ids, vectors and scores of texts."""

import functools
import random

from saver_checks import Converted, golden

TEXTS = ("bat sat", "Ba, la!  ein", "d", "on and on 12 (sing) er?", "red noted in ten", "\u00e9t\u00e9 mal n\u00e0in")
WIDTH = 18
SHAPE = dict(
    vocab_size=211, hidden_size=WIDTH, num_attention_heads=3, num_hidden_layers=2, intermediate_size=28,
    max_position_embeddings=64, type_vocab_size=2, pad_token_id=0,
)  # fmt: skip


def write_encoder(kind, folder, seed, **settings):
    """A tiny transformer with a WordPiece tokenizer."""
    make_golden = golden("make_golden")
    import transformers

    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**{**SHAPE, **settings}))
    make_golden.randomize(model, seed)
    model.tie_weights()
    model.save_pretrained(folder)
    make_golden.write_tokenizer(folder)
    transformers.BertTokenizer.from_pretrained(folder, model_max_length=48).save_pretrained(folder)
    return folder


def sentence_model(folder, *modules, **settings):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Transformer

    bare = write_encoder("BertModel", folder / "bare", 31)
    return SentenceTransformer(modules=[Transformer(str(bare), max_seq_length=40), *modules], device="cpu", **settings)


def compare_vectors(converted, model, ids=True):
    for text in TEXTS:
        if ids:
            converted.compare_ids(text, model.tokenize([text])["input_ids"][0].tolist())
        answer = converted.ask("embed", text, "--json")["embedding"]
        converted.compare_values("embedding", model.encode(text), answer)


def check_pooling(mode, command, folder):
    from sentence_transformers.sentence_transformer.modules import Pooling

    model = sentence_model(folder, Pooling(WIDTH, pooling_mode=mode))
    model.save(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    compare_vectors(converted, model)
    return converted


def check_modules(command, folder):
    """Pooling, Dense with an activation, and Normalize; with prompts and truncated vectors."""
    import torch
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

    torch.manual_seed(5)
    dense = Dense(WIDTH, 12, activation_function=torch.nn.Tanh())
    prompts = {"query": "on: ", "document": "er - "}
    model = sentence_model(folder, Pooling(WIDTH), dense, Normalize(), prompts=prompts)
    model.save_pretrained(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    compare_vectors(converted, model)
    for text in TEXTS:
        for option, encode in (("--query", model.encode_query), ("--document", model.encode_document)):
            answer = converted.ask("embed", text, option, "--json")["embedding"]
            converted.compare_values(f"embedding {option}", encode(text), answer)
    return converted


def check_prompt_outside(command, folder):
    """`include_prompt` false: tokens attend to the prompt's tokens, but the mean excludes them."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    model = sentence_model(folder, Pooling(WIDTH, include_prompt=False), prompts={"query": "on er ", "document": ""})
    model.save(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    for text in TEXTS:
        answer = converted.ask("embed", text, "--query", "--json")["embedding"]
        converted.compare_values("embedding --query", model.encode_query(text), answer)
    return converted


def check_static(command, folder):
    make_golden = golden("make_golden")
    import tokenizers
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    words = make_golden.vocabulary()
    tokenizer = tokenizers.BertWordPieceTokenizer({word: i for i, word in enumerate(words)}, lowercase=True)
    weights = torch.randn(len(words), WIDTH, generator=torch.Generator().manual_seed(6)).numpy()
    model = SentenceTransformer(
        modules=[StaticEmbedding(tokenizer._tokenizer, embedding_weights=weights)], device="cpu"
    )
    model.save(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    compare_vectors(converted, model, ids=False)
    return converted


def check_cross(labels, command, folder):
    from sentence_transformers import CrossEncoder

    bare = write_encoder("BertForSequenceClassification", folder / "bare", 32, num_labels=labels)
    model = CrossEncoder(str(bare), max_length=40, device="cpu")
    model.save_pretrained(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    for first, second in zip(TEXTS, TEXTS[1:], strict=False):
        ids = model.tokenizer(first, second)["input_ids"]
        answer = converted.ask("run", first, "--pair", second, "--raw")
        if answer["ids"] != ids:
            raise ValueError(f"ids of a pair are {answer['ids']}, not {ids}")
        import torch

        logits = model.predict([(first, second)], activation_fn=torch.nn.Identity())[0]
        converted.compare_values("logits", logits, answer["outputs"]["logits"]["data"])
    return converted


def check_sparse(command, folder):
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    bare = write_encoder("BertForMaskedLM", folder / "bare", 33)
    transformer = Transformer(str(bare), transformer_task="fill-mask", max_seq_length=40)
    model = SparseEncoder(modules=[transformer, SpladePooling(pooling_strategy="max")], device="cpu")
    model.save(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    for text in TEXTS:
        expected = model.encode(text, convert_to_sparse_tensor=False).cpu().numpy()
        answer = converted.ask("embed", text, "--raw")["outputs"]
        converted.compare_values("terms", expected, next(iter(answer.values()))["data"])
    return converted


def check_multi_vector(command, folder):
    """ColBERT: one vector per token, of padded queries and of documents."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.sentence_transformer.modules import Transformer

    torch.manual_seed(7)
    bare = write_encoder("BertModel", folder / "bare", 34)
    transformer = Transformer(str(bare), max_seq_length=40)
    model = MultiVectorEncoder(modules=[transformer, *multi_vector_modules()], device="cpu")
    model.save_pretrained(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    for text in TEXTS:
        for option, encode in (("--query", model.encode_query), ("--document", model.encode_document)):
            rows = converted.ask("embed", text, option, "--json")
            expected = encode(text)
            converted.compare_values(
                f"vectors {option}",
                torch.as_tensor(expected).cpu().numpy(),
                [token["embedding"] for token in rows["tokens"]],
            )
    return converted


def multi_vector_modules():
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize
    import torch

    tokens = dict(module_input_name="token_embeddings", module_output_name="token_embeddings")
    return [
        Dense(WIDTH, 8, bias=False, activation_function=torch.nn.Identity(), **tokens),
        MultiVectorMask(),
        Normalize(**tokens),
    ]


def setfit_model(folder, head, **settings):
    from sentence_transformers.sentence_transformer.modules import Pooling
    from setfit import SetFitModel

    return SetFitModel(model_body=sentence_model(folder, Pooling(WIDTH)), model_head=head, **settings)


def convert_setfit(command, model, folder):
    """Follows the message: the head is a pickle, and the printed program saves its weights next to it."""
    import advice

    model.save_pretrained(str(folder / "saved"))
    advice.run_python(advice.printed(command, folder / "saved", folder), folder / "saved")
    return Converted(command, folder / "saved")


def compare_labels(converted, model):
    import numpy

    for text in TEXTS:
        answer = converted.ask("run", text, "--json", "--top", "0")
        given = {one["label"]: one["score"] for one in answer["labels"]}
        expected = numpy.asarray(model.predict_proba(text), "f8")
        names = [str(name) for name in model.labels]
        converted.compare_values("probabilities", expected, [given[name] for name in names])


def check_setfit_sklearn(labels, command, folder):
    import numpy
    from sklearn.linear_model import LogisticRegression

    generator = numpy.random.default_rng(9)
    head = LogisticRegression().fit(generator.normal(size=(60, WIDTH)), [i % labels for i in range(60)])
    model = setfit_model(folder, head, labels=["no", "yes", "maybe"][:labels])
    converted = convert_setfit(command, model, folder)
    compare_labels(converted, model)
    return converted


def check_setfit_torch(command, folder):
    import torch
    from setfit import SetFitHead

    torch.manual_seed(8)
    head = SetFitHead(in_features=WIDTH, out_features=3, temperature=0.7, device="cpu")
    model = setfit_model(folder, head, labels=["no", "yes", "maybe"])
    converted = convert_setfit(command, model, folder)
    compare_labels(converted, model)
    return converted


def check_setfit_multi(command, folder):
    """Several labels per text, with one logistic regression each."""
    import numpy
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    generator = numpy.random.default_rng(9)
    rows = generator.normal(size=(60, WIDTH))
    head = OneVsRestClassifier(LogisticRegression()).fit(rows, (rows[:, :3] > 0).astype(int))
    model = setfit_model(folder, head, labels=["a", "b", "c"], multi_target_strategy="one-vs-rest")
    model.save_pretrained(str(folder / "saved"))
    converted = Converted(command, folder / "saved")
    compare_labels(converted, model)
    return converted


def check_model2vec(quantized, command, folder):
    make_golden = golden("make_golden")
    import numpy
    import tokenizers
    from model2vec import StaticModel

    words = make_golden.vocabulary()
    tokenizer = tokenizers.BertWordPieceTokenizer({word: i for i, word in enumerate(words)}, lowercase=True)
    generator = numpy.random.default_rng(10)
    extra = {}
    if quantized:  # fewer vectors than tokens, and one weight per token
        extra = dict(weights=generator.uniform(0.1, 1, len(words)), token_mapping=generator.integers(0, 50, len(words)))
    vectors = generator.normal(size=(50 if quantized else len(words), WIDTH)).astype("f4")
    model = StaticModel(vectors, tokenizer._tokenizer, normalize=True, **extra)
    model.save_pretrained(folder / "saved")
    model = StaticModel.from_pretrained(folder / "saved")
    converted = Converted(command, folder / "saved")
    for text in TEXTS:
        answer = converted.ask("embed", text, "--json")["embedding"]
        converted.compare_values("embedding", model.encode([text])[0], answer)
    return converted


def check_lora(kind, settings, command, folder):
    """An adapter that peft saves next to its model."""
    import peft
    import torch
    import transformers

    bare = write_encoder(kind, folder / "saved", 35, **({"num_labels": 3} if "Sequence" in kind else {}))
    model = getattr(transformers, kind).from_pretrained(bare)
    config = peft.LoraConfig(r=3, lora_alpha=5, target_modules=["query", "value", "dense"], **settings)
    torch.manual_seed(11)
    model = peft.get_peft_model(model, config)
    generator = torch.Generator().manual_seed(12)
    for name, value in model.named_parameters():
        if "lora_" in name:
            value.data += torch.randn(value.shape, generator=generator) * 0.2
    model.save_pretrained(bare)
    model.eval()
    converted = Converted(command, bare, ids_only=True)
    for count in (1, 6, 17):
        ids = random.Random(count).choices(range(5, SHAPE["vocab_size"]), k=count)
        with torch.no_grad():
            answer = model(input_ids=torch.tensor([ids]))
        names = [name for name in ("logits", "last_hidden_state", "pooler_output") if answer.get(name) is not None]
        actual = converted.outputs("--ids", ",".join(map(str, ids)))
        converted.compare({name: answer[name].numpy() for name in names}, actual)
    return converted


def cases(command):
    import sentence_transformers  # noqa: F401

    for mode in ("mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean"):
        yield f"sentence-transformers/Pooling-{mode}", functools.partial(check_pooling, mode)
    yield "sentence-transformers/Dense-Normalize-prompts", check_modules
    yield "sentence-transformers/Pooling-without-prompt", check_prompt_outside
    yield "sentence-transformers/StaticEmbedding", check_static
    for labels in (1, 3):
        yield f"sentence-transformers/CrossEncoder-{labels}", functools.partial(check_cross, labels)
    yield "sentence-transformers/SparseEncoder", check_sparse
    yield "sentence-transformers/MultiVectorEncoder", check_multi_vector
    for labels in (2, 3):
        yield f"setfit/LogisticRegression-{labels}", functools.partial(check_setfit_sklearn, labels)
    yield "setfit/SetFitHead", check_setfit_torch
    yield "setfit/OneVsRestClassifier", check_setfit_multi
    for quantized in (False, True):
        yield f"model2vec/StaticModel{'-quantized' if quantized else ''}", functools.partial(check_model2vec, quantized)
    lora = {"LoRA": {}, "rsLoRA": {"use_rslora": True}, "DoRA": {"use_dora": True}}
    for name, settings in lora.items():
        yield f"peft/{name}", functools.partial(check_lora, "BertModel", settings)
    yield "peft/LoRA-head", functools.partial(check_lora, "BertForSequenceClassification", {"task_type": "SEQ_CLS"})

"""Tiny taggers whose entities transformers' token-classification pipeline gives under each of its aggregation
strategies, and texts in which words touch punctuation, quotes, CJK characters and odd blanks. make_golden.py and
tests/conformance/aggregation.py use them."""

import json
import random

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

STRATEGIES = ("none", "simple", "first", "average", "max")
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
# Without prefixes, or with what only looks like one.
PLAIN_TAGS = ["O", "PER", "I-PER", "LOC", "small-town", "B-O"]
SHAPE = dict(
    hidden_size=24, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=130
)
DISTIL = dict(dim=24, hidden_dim=32, n_layers=1, n_heads=2, max_position_embeddings=130)

NAMES = ["Paris", "New York", "Zoë", "Ann-Lee", "O'Hare", "Jürgen", "北京", "上海", "東京", "İzmir", "São Paulo", "ﬁlm"]
WORDS = [
    "rain",
    "in",
    "is",
    "it's",
    "don't",
    "we",
    "going",
    "to",
    "unbelievable",
    "我们去",
    "ありがとう",
    "xyzzy",
    "3.14",
    "x:y",
]
MARKS = [
    ".",
    ",",
    "?",
    "!",
    "...",
    ";",
    " - ",
    "/",
    "—",
    "。",
    "、",
    "'s",
    ")",
    "”",
    '"',
    "»",
    "🙂",
    "\u00ad",
    "\u200b",
    "☃",
]
OPENING = ["(", "[", '"', "“", "«", "'", "¿", "", "", "", "", ""]
BLANKS = [" ", " ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u3000", ""]

TEXTS = [
    "rain in (paris)?",
    "Rain in (Paris)?",
    '"Paris" is good.',
    "Paris, New York",
    "new york/paris rain",
    "Ann-Lee is in Paris.",
    "Paris's rain",
    "don't go to O'Hare, it's unbelievable!",
    "我们去北京",
    "我们去上海,北京。",
    "我们 去 北京",
    "東京へ ありがとう",
    "x:paris",
    "  Paris  \t in\nNew\u00a0York ",
    "“Zoë” and «Jürgen»",
    "São Paulo... İzmir?!",
    "ﬁlm in New\u00adYork\u200bis",
    "🙂 Paris🙂🙂 is ☃ good",
    "unbelievablexyzzy (unbelievable)",
    "[UNK] Paris<unk>is [SEP] </s>York",
    "Paris <mask> is[MASK]rain",
    "3.14 is 3,14 - or $3.14/3€",
    ".",
    "?!",
    "a",
    "",
]


def draw_texts(count, seed):
    """So many texts of words and names with marks around them."""
    draw = random.Random(seed)
    texts = list(TEXTS[:-1])
    while len(texts) < count:
        text = ""
        for _ in range(draw.randrange(1, 10)):
            text += draw.choice(BLANKS) if text else draw.choice(["", "", "", " "])
            text += draw.choice(OPENING) + draw.choice(NAMES + WORDS)
            if draw.random() < 0.4:
                text += draw.choice(MARKS)
        texts.append(text.lower() if draw.random() < 0.2 else text)
    return texts[:count]


def vocabulary_texts():
    return draw_texts(400, 1)


def wordpiece(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=125, limit_alphabet=110, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([text for text in vocabulary_texts() if "☃" not in text], trainer)
    return tokenizer.get_vocab()


def bert_tokenizer(lowercase):
    return transformers.BertTokenizerFast(vocab=wordpiece(lowercase), do_lower_case=lowercase, model_max_length=64)


def roberta_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(vocabulary_texts(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(merge) for merge in model["merges"]]
    return transformers.RobertaTokenizerFast(vocab=model["vocab"], merges=merges, model_max_length=64)


def xlm_roberta_tokenizer():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=170, special_tokens=special, unk_token="<unk>", show_progress=False, max_piece_length=6
    )
    tokenizer.train_from_iterator([text for text in vocabulary_texts() if "☃" not in text], trainer)
    vocabulary = [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    return transformers.XLMRobertaTokenizerFast(vocab=[*vocabulary, ("<mask>", 0.0)], model_max_length=64)


# name: class of the model, its settings, its tags, tokenizer
MODELS = {
    "aggregation-bert": ("BertForTokenClassification", SHAPE, TAGS, lambda: bert_tokenizer(True)),
    "aggregation-distilbert": ("DistilBertForTokenClassification", DISTIL, PLAIN_TAGS, lambda: bert_tokenizer(False)),
    "aggregation-roberta": ("RobertaForTokenClassification", SHAPE, TAGS, roberta_tokenizer),
    "aggregation-xlm-roberta": ("XLMRobertaForTokenClassification", SHAPE, TAGS, xlm_roberta_tokenizer),
}


def randomize(model, seed):
    """Weights with which each token's label hangs on the token and on its neighbours."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        values = torch.randn(parameter.shape, generator=generator)
        if "norm" in name.lower():
            values = values * 0.1 + (1.0 if name.endswith("weight") else 0.0)
        elif name.startswith("classifier"):
            values = values * (0.8 if name.endswith("weight") else 0.0)
        elif "embeddings" not in name:
            values = values * 0.2
        parameter.data = values


def make(directory, name, seed):
    kind, settings, tags, tokenizer_of = MODELS[name]
    tokenizer = tokenizer_of()
    model_class = getattr(transformers, kind)
    labels = dict(id2label=dict(enumerate(tags)), label2id={tag: i for i, tag in enumerate(tags)})
    pads = dict(pad_token_id=tokenizer.pad_token_id)
    model = model_class(model_class.config_class(**settings, **labels, **pads, vocab_size=len(tokenizer)))
    randomize(model, seed)
    model.half().save_pretrained(directory)
    tokenizer.save_pretrained(directory)


def answers(directory, texts, strategy):
    """For each text its entities as [name, first code point, the one behind the last, score]."""
    model = transformers.AutoModelForTokenClassification.from_pretrained(directory, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    pipeline = transformers.pipeline("ner", model=model, tokenizer=tokenizer, aggregation_strategy=strategy)
    key = "entity" if strategy == "none" else "entity_group"
    return [[[e[key], e["start"], e["end"], float(e["score"])] for e in pipeline(text)] for text in texts]


def write_expected(directory):
    """Writes a line for each text that has tokens: the entities under each strategy."""
    texts = draw_texts(44, 2)
    found = {strategy: answers(directory, texts, strategy) for strategy in STRATEGIES}
    with open(directory / "entities.jsonl", "w") as file:
        for i, text in enumerate(texts):
            line = {"text": text}
            for strategy in STRATEGIES:
                line[strategy] = [[*entity[:3], float(f"{entity[3]:.6f}")] for entity in found[strategy][i]]
            file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")

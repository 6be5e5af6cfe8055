"""Writes word_vectors/fasttext-*: small models that fastText itself trains, and what it says of texts. Needs fasttext-wheel."""

import json
import pathlib
import tempfile

import fasttext

HERE = pathlib.Path(__file__).parent / "word_vectors"
ROWS = (
    ("greeting", "hello there friend"),
    ("greeting", "good morning to you"),
    ("greeting", "hi how are you today"),
    ("food", "I would like some bread and cheese"),
    ("food", "the soup is too hot"),
    ("food", "Käse und Brot bitte"),
    ("travel", "the train leaves at nine"),
    ("travel", "where is the station"),
    ("travel", "поезд уходит в девять"),
    ("weather", "it is raining today"),
    ("weather", "the sun shines on the station"),
    ("weather", "今日は 雨 です"),
    ("food", "паста с сыром"),
    ("greeting", "привет мой друг"),
    ("greeting", "bonjour mon ami"),
    ("travel", "le train part à neuf heures"),
)
# Words that are known, or in part, or not; what ends texts; what looks like labels; all white space.
TEXTS = (
    "hello friend",
    "the train leaves today",
    "Käse",
    "some unknownword here",
    "raining on the station </s> hello hello",
    "",
    "   ",
    "a\tb\x0bc",
    "__label__food bread",
    "__label__nothing bread",
    "привет",
    "今日は 雨",
    "naïve résumé 🙂 test",
    "x",
    "the the the the",
    "hello</s>",
    "one two three four five six seven eight nine ten",
)
MODELS = {
    "softmax": ({"loss": "softmax", "bucket": 0}, None),
    "grams": (
        {"loss": "softmax", "bucket": 120, "minn": 2, "maxn": 4, "wordNgrams": 3},
        None,
    ),
    "tree": ({"loss": "hs", "bucket": 90, "minn": 1, "maxn": 3, "wordNgrams": 2}, None),
    "each": ({"loss": "ova", "bucket": 50, "minn": 3, "maxn": 5}, None),
    "pruned": (
        {"loss": "softmax", "bucket": 1500, "minn": 2, "maxn": 3, "wordNgrams": 2},
        {"cutoff": 260, "qnorm": True, "retrain": False, "dsub": 2},
    ),
    "quantized": (
        {"loss": "hs", "bucket": 400, "minn": 2, "maxn": 3},
        {"dsub": 4, "qnorm": False},
    ),
}


def write(name, data, settings, quantized):
    model = fasttext.train_supervised(data, dim=6, epoch=60, lr=0.6, thread=1, verbose=0, minCount=1, **settings)
    if quantized:
        model.quantize(input=data, **quantized)
    directory = HERE / f"fasttext-{name}"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / ("model.ftz" if quantized else "model.bin")
    model.save_model(str(path))
    model = fasttext.load_model(str(path))
    texts = []
    for text in TEXTS:
        found = model.f.predict(text + "\n", len(model.labels), 0.0, "strict")
        vector = [float(x) for x in model.get_sentence_vector(text)]
        labels = {label.removeprefix("__label__"): score for score, label in found}
        texts.append({"text": text, "labels": labels, "vector": vector})
    (directory / "expected.json").write_text(json.dumps({"texts": texts}, ensure_ascii=False, indent=0))


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as data:
        data.write("".join(f"__label__{label} {text}\n" for label, text in ROWS) * 3)
        data.flush()
        for name, (settings, quantized) in MODELS.items():
            write(name, data.name, settings, quantized)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""saved_tokenizers.py COMMAND [CLASS ...]: checks tokenizers that the installed transformers saves.

Each class gets a small vocabulary trained here, is saved, converted, and compared with the original: ids and byte
offsets of odd texts. Prints one line per class and the counts; fails if answers differ or a class outside REFUSED is
refused. Exit status 77 if transformers or sentencepiece is missing.
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Classes of the library that are not tested: those that read words and boxes or markup instead of texts (LayoutLMv2,
# LayoutLMv3, LayoutXLM, MarkupLM, Udop), words of a Chinese dictionary (RoFormer), those that tokenize in Python and
# save no tokenizer.json, and RemBert, whose class adds a template that its file lacks.
# Tokenizers that `bantam convert` refuses, and the reasons.
REFUSED = {"FNetTokenizer": "its normaliser looks for blanks and marks at both ends of a text"}
TEXTS = [
    "", " ", "a", "Hello  world\n\nx", "  lead and trail  ", "It\u2019s \u201cx\u201d\u2026 \ufb01ne x\u00b2 a\u00a0b", "12,000, 9,000,",
    "I'M SURE they'll say DON'T 'tis", "camelCase HTTPServer x=1234567890; y=0x1F3a", "\tdef f(x):\r\n\t\treturn x**2  # ok\n",
    "\u0661\u0662\u0663 \uff11\uff12 \u2460\u00bd \u4e00\u4e8c", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0939\u093f\u0928\u094d\u0926\u0940",
    "\ud55c\uad6d\uc5b4 \u65e5\u672c\u8a9e\u3001\u30ab\u30bf \uff8a\uff9d\uff76\uff78", "\u4e2d\u6587\uff0c\u6807\u70b9\uff1b",
    "\u0130stanbul Stra\u00dfe \u0394\u03a3 \u01c5", "e\u0301 \u00e9 a\u0300", "\U0001f468\u200d\U0001f469 \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea",
    "<s> </s> <unk> <pad> <mask> [CLS] [SEP] [MASK] <|endoftext|>", "a <mask> b [MASK] c", "a\u200bb\ufeff\u00adc\x01\x7f",
    "https://x.org/a?b=%20#c user@example.com", "!!!???...''\"\"``--==__", "x_y-z (a) [b] {c}", "\u2581\u2581a \u2581", "long " * 60,
]  # fmt: skip


def corpus():
    names = ("README.md", "docs/converter.md", "docs/models.md", "CONTRIBUTING.md", "runtime/text/README.md")
    lines = [line for name in names for line in (SOURCE / name).read_text(encoding="utf-8").splitlines()]
    return [line[i : i + 400] for line in lines for i in range(0, len(line), 400)] + TEXTS * 3


def train_pieces(folder):
    """Trains SentencePiece models; returns them by name."""
    import sentencepiece

    data = folder / "corpus.txt"
    data.write_text("\n".join(line.replace("\n", " ") for line in corpus() if line.strip()), encoding="utf-8")
    kinds = {
        "t5": dict(model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1),
        "xlmr": dict(model_type="unigram"),
        "albert": dict(
            model_type="unigram", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, pad_piece="<pad>", control_symbols="[CLS],[SEP],[MASK]"
        ),
        "deberta": dict(
            model_type="unigram", pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
            unk_piece="[UNK]",
        ),
        "xlnet": dict(model_type="unigram", control_symbols="<cls>,<sep>,<pad>,<mask>,<eod>,<eop>"),
        "llama": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False),
        "gemma": dict(
            model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
            add_dummy_prefix=False, pad_id=0, eos_id=1, bos_id=2, unk_id=3,
        ),
    }  # fmt: skip
    for name, options in kinds.items():
        sentencepiece.SentencePieceTrainer.train(
            input=str(data), model_prefix=str(folder / name), vocab_size=1200, minloglevel=2, num_threads=1,
            hard_vocab_limit=False, character_coverage=0.995, **options,
        )  # fmt: skip
    return {name: folder / f"{name}.model" for name in kinds}


def train_merges(specials, suffix):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(**(dict(end_of_word_suffix=suffix, unk_token=specials[0]) if suffix else {})))
    tokenizer.pre_tokenizer = (
        pre_tokenizers.WhitespaceSplit() if suffix else pre_tokenizers.ByteLevel(add_prefix_space=False)
    )
    alphabet = [] if suffix else pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=specials,
        initial_alphabet=alphabet,
        end_of_word_suffix=suffix or "",
        show_progress=False,
    )
    tokenizer.train_from_iterator([line.lower() if suffix else line for line in corpus()], trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [" ".join(merge) for merge in model["merges"]]


def write_weights(folder, rows):
    """Writes the config.json of a tiny BERT with this vocabulary."""
    width, inner = 4, 8
    shapes = {"embeddings.word_embeddings.weight": (rows, width), "embeddings.position_embeddings.weight": (512, width)}
    shapes["embeddings.token_type_embeddings.weight"] = (4, width)
    norms = ["embeddings.LayerNorm"]
    layer = "encoder.layer.0."
    linear = {f"attention.self.{q}": (width, width) for q in ("query", "key", "value")}
    linear |= {
        "attention.output.dense": (width, width),
        "intermediate.dense": (inner, width),
        "output.dense": (width, inner),
    }
    for name, shape in linear.items():
        shapes[layer + name + ".weight"], shapes[layer + name + ".bias"] = shape, shape[:1]
    for name in norms + [layer + "attention.output.LayerNorm", layer + "output.LayerNorm"]:
        shapes[name + ".weight"] = shapes[name + ".bias"] = (width,)
    head, at, body = {}, 0, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        body += struct.pack("<f", 0.5) * count
        head[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + 4 * count]}
        at += 4 * count
    text = json.dumps(head).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
    config = dict(
        model_type="bert", architectures=["BertModel"], vocab_size=rows, hidden_size=width, num_hidden_layers=1,
        num_attention_heads=1, intermediate_size=inner, max_position_embeddings=512, type_vocab_size=4,
    )  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))


def classes(pieces):
    """(class, function that writes its files, settings)."""
    roberta, gpt = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], ["<|endoftext|>"]
    merges = {}

    def piece(model, name):
        return lambda folder: shutil.copy(pieces[model], folder / name)

    def bpe(specials, suffix=None):
        key = (tuple(specials), suffix)

        def write(folder):
            if key not in merges:
                merges[key] = train_merges(specials, suffix)
            vocabulary, list_of_merges = merges[key]
            (folder / "vocab.json").write_text(json.dumps(vocabulary))
            (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(list_of_merges) + "\n", encoding="utf-8")

        return write

    def words(specials, last=()):
        letters = [chr(c) for c in range(0x21, 0x7F)] + ["\u4e2d", "\u6587", "\u00e9", "\u00df"]
        inner = ["##" + letter for letter in letters] + ["##ing", "##ed", "the", "hello", "world", "Hello"]
        return lambda folder: (folder / "vocab.txt").write_text(
            "\n".join([*specials, *letters, *inner, *last]) + "\n", encoding="utf-8"
        )

    def entities(folder):
        names = ["[PAD]", "[UNK]", "[MASK]", "[MASK2]", "<pad>", "<unk>"]
        (folder / "entity_vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))

    def all_of(*writers):
        return lambda folder: [write(folder) for write in writers]

    def saved_by(name, write):
        """Writes the files that another class saves."""

        def save(folder):
            import transformers

            tokenizer_class = getattr(transformers, name)
            if write:
                write(folder)
            tokenizer = tokenizer_class.from_pretrained(folder) if write else tokenizer_class()
            tokenizer.save_pretrained(folder)

        return save

    bert = words(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    xlmr, spiece = "sentencepiece.bpe.model", "spiece.model"
    return [
        *[
            (name, bert, {})
            for name in ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer")
        ],
        *[(name, bert, {}) for name in ("DPRContextEncoderTokenizer", "DPRReaderTokenizer")],
        *[(name, bert, {}) for name in ("LayoutLMTokenizer", "ConvBertTokenizer", "SplinterTokenizer")],
        *[(name, bert, {}) for name in ("SqueezeBertTokenizer", "LxmertTokenizer", "DPRQuestionEncoderTokenizer")],
        ("MPNetTokenizer", words(["<s>", "<pad>", "</s>", "[UNK]", "<unk>"], ["<mask>"]), {}),
        ("FunnelTokenizer", words(["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"]), {}),
        ("T5Tokenizer", piece("t5", spiece), {"extra_ids": 2}),
        ("PegasusTokenizer", piece("t5", spiece), {}),
        *[
            (name, piece("xlmr", xlmr), {})
            for name in ("XLMRobertaTokenizer", "CamembertTokenizer", "BarthezTokenizer")
        ],
        *[(name, piece("xlmr", xlmr), {"src_lang": "en_XX"}) for name in ("MBartTokenizer", "MBart50Tokenizer")],
        ("NllbTokenizer", piece("xlmr", xlmr), {"src_lang": "eng_Latn"}),
        ("BigBirdTokenizer", piece("xlmr", spiece), {}),
        ("XGLMTokenizer", saved_by("XLMRobertaTokenizer", piece("xlmr", xlmr)), {}),
        ("MLukeTokenizer", all_of(piece("xlmr", xlmr), entities), {}),
        ("SeamlessM4TTokenizer", piece("llama", xlmr), {}),
        ("AlbertTokenizer", piece("albert", spiece), {}),
        ("FNetTokenizer", piece("albert", spiece), {}),
        *[(name, piece("t5", spiece), {}) for name in ("LasrTokenizer", "VideoPrismTokenizer")],
        ("ParakeetTokenizer", saved_by("LasrTokenizer", piece("t5", spiece)), {}),
        ("XLNetTokenizer", piece("xlnet", spiece), {}),
        ("DebertaV2Tokenizer", piece("deberta", "spm.model"), {}),
        ("ReformerTokenizer", piece("llama", spiece), {}),
        ("LlamaTokenizer", piece("llama", "tokenizer.model"), {}),
        ("CodeLlamaTokenizer", piece("llama", "tokenizer.model"), {}),
        ("Tipsv2Tokenizer", piece("llama", "tokenizer.model"), {}),
        ("GemmaTokenizer", piece("gemma", "tokenizer.model"), {}),
        ("Siglip2Tokenizer", saved_by("GemmaTokenizer", piece("gemma", "tokenizer.model")), {}),
        *[
            (name, bpe(roberta), {})
            for name in ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer")
        ],
        *[
            (name, bpe(roberta), {})
            for name in ("BlenderbotTokenizer", "MvpTokenizer", "CohereTokenizer", "NougatTokenizer")
        ],
        *[(name, bpe(gpt), {}) for name in ("GPT2Tokenizer", "Qwen2Tokenizer", "CodeGenTokenizer", "WhisperTokenizer")],
        *[(name, bpe(gpt), {}) for name in ("GPTNeoXTokenizer",)],
        ("Qwen3_5Tokenizer", saved_by("Qwen2Tokenizer", bpe(gpt)), {}),
        ("LukeTokenizer", all_of(bpe(roberta), entities), {}),
        ("EsmcTokenizer", saved_by("EsmcTokenizer", None), {}),
        ("DebertaTokenizer", bpe(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]), {}),
        ("CLIPTokenizer", bpe(["<|endoftext|>", "<|startoftext|>"], "</w>"), {}),
        ("OpenAIGPTTokenizer", bpe(["<unk>"], "</w>"), {}),
        ("HerbertTokenizer", bpe(roberta, "</w>"), {}),
    ]


def bytes_of(text, offsets):
    at = [0]
    for letter in text:
        at.append(at[-1] + len(letter.encode()))
    return [[at[begin], at[end]] for begin, end in offsets]


def compare(command, folder, backend):
    """Texts with different answers; (None, reason) if the tokenizer is refused."""
    out = folder / "out.bantam"
    done = subprocess.run([command, "convert", folder, "-o", out, "--parity", "none"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[0][-200:]
    lines = folder / "texts.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    done = subprocess.run(
        [command, "tokenize", out, "--file", lines, "--json"], capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert len(answers) == len(TEXTS)
    backend.no_truncation()
    backend.no_padding()
    wrong = []
    for text, answer in zip(TEXTS, answers):
        expected = backend.encode(text)
        same = [list(o) for o in answer["offsets"]] == bytes_of(text, expected.offsets)
        if answer["ids"] != expected.ids or not same:
            wrong.append(
                f"{text[:30]!a}: {answer['tokens'][:8]!a} {answer['offsets']}, {expected.tokens[:8]!a} {expected.offsets}"
            )
    return wrong, ""


def main():
    try:
        import sentencepiece  # noqa: F401
        import transformers
    except ImportError as error:
        print(f"saved_tokenizers.py: {error}; pip install -r tests/conformance/requirements.txt")
        sys.exit(77)
    transformers.logging.set_verbosity_error()
    print("transformers", transformers.__version__)
    command, only = sys.argv[1], sys.argv[2:]
    counts = {"equal": 0, "refused": 0, "different": 0, "not saved": 0}
    failed = []
    with tempfile.TemporaryDirectory() as place:
        pieces = train_pieces(pathlib.Path(place))
        for name, write, settings in classes(pieces):
            if only and name not in only:
                continue
            source, folder = pathlib.Path(place) / "source", pathlib.Path(place) / name
            shutil.rmtree(source, ignore_errors=True)
            source.mkdir()
            folder.mkdir()
            write(source)
            try:
                getattr(transformers, name).from_pretrained(source, **settings).save_pretrained(folder)
                saved = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer
                saved.encode("".join(TEXTS))
            except Exception as error:  # noqa: BLE001 - this release of transformers cannot save it
                counts["not saved"] += 1
                print("not saved", name, str(error)[:120].replace("\n", " "))
                continue
            write_weights(folder, max(saved.get_vocab().values()) + 1)
            wrong, why = compare(command, folder, saved)
            state = "refused" if wrong is None else "different" if wrong else "equal"
            counts[state] += 1
            print(state, name, why, *(wrong or [])[:2], sep="  ")
            if state == "different" or (state == "refused" and name not in REFUSED):
                failed.append(name)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    sys.exit(f"saved_tokenizers.py: {', '.join(failed)}" if failed else 0)


main()

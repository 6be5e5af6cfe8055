"""A decoder with a tokenizer of bytes, and what transformers' generate() goes on with from fifty prompts.

Where chance decides, the numbers are those of runtime/include/bantam/sampling.h (SplitMix64 of seed and count of tokens), and the
token is the first up to which the probabilities of transformers' own processors reach the number.
"""

import json
import random

import tokenizers
import torch
import transformers

NAME = "gpt2-text"
# Decoders of other kinds have fewer texts and settings.
FEW = {"greedy": 12, "top_p": 6, "answers": 6, "beams": 12}
SHAPE = dict(hidden_size=24, max_position_embeddings=96, bos_token_id=0, eos_token_id=0, pad_token_id=0)
OTHERS = {
    "lfm2-text": (
        "Lfm2ForCausalLM",
        dict(
            **SHAPE,
            intermediate_size=28,
            block_multiple_of=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            num_hidden_layers=3,
            layer_types=["conv", "full_attention", "conv"],
        ),
    ),
    "mamba-text": (
        "MambaForCausalLM",
        dict(hidden_size=24, state_size=6, num_hidden_layers=2, bos_token_id=0, eos_token_id=0, pad_token_id=0),
    ),
    # Without a cache: generate() does not reorder RWKV's states with beams.
    "rwkv-text": (
        "RwkvForCausalLM",
        dict(
            hidden_size=24,
            num_hidden_layers=2,
            rescale_every=1,
            context_length=96,
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
            use_cache=False,
        ),
    ),
}
LENGTH = 20
# A choice that hangs on less is left out: f32 and f64 may differ in it.
MARGIN = 2e-3
WORDS = "the a cat dog sun rain runs sings sees likes and or when café naïve Zürich 東京 🙂 1999 don't ,".split()
SETTINGS = {
    "greedy": {},
    "penalty": {"repetition_penalty": 1.4},
    "ngram": {"no_repeat_ngram_size": 2},
    "minimum": {"min_new_tokens": 12},
    "temperature": {"temperature": 0.9},
    "top_k": {"temperature": 1.3, "top_k": 9},
    "top_p": {"temperature": 1.1, "top_p": 0.8},
    "min_p": {"temperature": 1.5, "min_p": 0.1},
    "all": {
        "temperature": 1.2,
        "top_k": 40,
        "top_p": 0.9,
        "min_p": 0.01,
        "repetition_penalty": 1.2,
        "no_repeat_ngram_size": 3,
    },
    "answers": {"answers": True},
    "answers_top_p": {"answers": True, "temperature": 1.4, "top_p": 0.9},
    "answers_beams": {"answers": True, "num_beams": 4, "length_penalty": 0.7},
    "beams": {"num_beams": 4, "early_stopping": True, "length_penalty": 0.8},
    "beams_rules": {"num_beams": 3, "min_new_tokens": 5, "repetition_penalty": 1.2, "no_repeat_ngram_size": 3},
}
# Two begin alike, one begins with another, one is in letters of several bytes.
ANSWERS = [" the cat", " the cat runs", " a dog", " sees", " rain", " 東京"]


class OneOf:
    """The tokens that texts may go on with (transformers' prefix_allowed_tokens_fn) to become an answer behind a prompt."""

    def __init__(self, words, prompt):
        self.first = len(words.encode(prompt).ids)
        self.rows = [words.encode(prompt + answer).ids[self.first :] + [0] for answer in ANSWERS]

    def __call__(self, batch, ids):
        made = ids.tolist()[self.first :]
        # Beams for which nothing is left go on with what ends them.
        return sorted({row[len(made)] for row in self.rows if row[: len(made)] == made and len(row) > len(made)}) or [0]

    def scores(self, model, ids):
        """The logarithm of each answer's probability, without the token behind it."""
        found = []
        for row in self.rows:
            with torch.no_grad():
                logs = model(torch.tensor([ids + row[:-1]])).logits[0].log_softmax(-1)
            found.append(sum(float(logs[self.first - 1 + i, token]) for i, token in enumerate(row[:-1])))
        return found


def tokenizer():
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    draw = random.Random(1)
    made.train_from_iterator([" ".join(draw.choices(WORDS, k=12)) for _ in range(200)], trainer)
    return made


def prompts():
    draw = random.Random(2)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(1, 9))) for _ in range(200)]


def number(seed, count):
    mask = (1 << 64) - 1
    z = (seed + (count + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 40) / (1 << 24)


def sampled(model, ids, seed, settings):
    """Tokens by chance; None where a choice hangs on rounding."""
    processors = transformers.LogitsProcessorList()
    if "prefix_allowed_tokens_fn" in settings:
        processors.append(transformers.PrefixConstrainedLogitsProcessor(settings["prefix_allowed_tokens_fn"], 1))
    if "repetition_penalty" in settings:
        processors.append(transformers.RepetitionPenaltyLogitsProcessor(settings["repetition_penalty"]))
    if "no_repeat_ngram_size" in settings:
        processors.append(transformers.NoRepeatNGramLogitsProcessor(settings["no_repeat_ngram_size"]))
    processors.append(transformers.TemperatureLogitsWarper(settings["temperature"]))
    for key, kind in (
        ("top_k", transformers.TopKLogitsWarper),
        ("top_p", transformers.TopPLogitsWarper),
        ("min_p", transformers.MinPLogitsWarper),
    ):
        if key in settings:
            processors.append(kind(settings[key]))
    ids = list(ids)
    first = len(ids)
    for _ in range(LENGTH):
        given = torch.tensor([ids])
        with torch.no_grad():
            scores = model(given).logits[:, -1]
        shares = processors(given, scores).softmax(-1)[0]
        # The set of excluded tokens must not depend on rounding, either.
        moved = processors(given, scores * (1 + 1e-6)).softmax(-1)[0]
        if ((shares == 0) != (moved == 0)).any():
            return None
        sums = shares.cumsum(0)
        wanted = number(seed, len(ids))
        if (sums - wanted)[shares != 0].abs().min() < 1e-4 and (shares != 0).sum() > 1:
            return None
        ids.append(int((sums > wanted).nonzero()[0]))
        if ids[-1] == model.config.eos_token_id:
            break
    return ids[first:]


def passed(settings):
    """The settings that generate() takes."""
    return {key: value for key, value in settings.items() if key != "answers"}


class Shake(transformers.LogitsProcessor):
    """Scores as another machine might round them, and some more."""

    def __init__(self, seed, width=MARGIN):
        self.generator = torch.Generator().manual_seed(seed)
        self.width = width

    def __call__(self, input_ids, scores):
        return scores + (torch.rand(scores.shape, generator=self.generator, dtype=scores.dtype) - 0.5) * self.width


def searched(model, ids, settings):
    """Tokens by beams; None where they hang on rounding."""
    given = torch.tensor([ids])

    def made(*processors):
        return model.generate(
            given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=LENGTH,
            do_sample=False,
            pad_token_id=0,
            logits_processor=transformers.LogitsProcessorList(processors),
            **passed(settings),
        )[0, len(ids) :].tolist()

    found = made()
    return found if all(made(Shake(seed)) == found for seed in range(2)) else None


def deterministic(model, ids, settings):
    given = torch.tensor([ids])
    made = model.generate(
        given,
        attention_mask=torch.ones_like(given),
        max_new_tokens=LENGTH,
        do_sample=False,
        pad_token_id=0,
        return_dict_in_generate=True,
        output_scores=True,
        **passed(settings),
    )
    for scores in made.scores:
        best = scores[0].topk(2).values
        if best[0] - best[1] < MARGIN:
            return None
    return made.sequences[0, len(ids) :].tolist()


def make_other(directory, name, randomize, seed):
    kind, settings = OTHERS[name]
    words = tokenizer()
    model = getattr(transformers, kind)
    make_texts(
        directory, words, model(model.config_class(vocab_size=words.get_vocab_size(), **settings)), randomize, seed, FEW
    )


def make(directory, randomize, seed):
    words = tokenizer()
    config = transformers.GPT2Config(
        vocab_size=words.get_vocab_size(),
        n_embd=18,
        n_head=3,
        n_layer=2,
        n_positions=96,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )
    make_texts(directory, words, transformers.GPT2LMHeadModel(config), randomize, seed, dict.fromkeys(SETTINGS, 50))


def make_texts(directory, words, model, randomize, seed, counts):
    """counts: how many texts of which settings."""
    randomize(model, seed)
    model.tie_weights()
    model.half().save_pretrained(directory)
    (directory / "generation_config.json").unlink(missing_ok=True)
    words.save(str(directory / "tokenizer.json"))
    model = model.double().eval()
    with open(directory / "generate.jsonl", "w") as file:
        for name, count in counts.items():
            settings = SETTINGS[name]
            kept = 0
            for at, prompt in enumerate(prompts()):
                ids = words.encode(prompt).ids
                one_of = OneOf(words, prompt) if "answers" in settings else None
                if one_of is not None:
                    said = {key: value for key, value in SETTINGS[name].items() if key != "answers"}
                    settings = {"answers": True, "prefix_allowed_tokens_fn": one_of, **said}
                if "temperature" in settings:
                    made = sampled(model, ids, at, settings)
                elif "num_beams" in settings:
                    made = searched(model, ids, settings)
                else:
                    made = deterministic(model, ids, settings)
                if made is None:
                    continue
                text = words.decode(ids + made)[len(words.decode(ids)) :]
                line = {"kind": name, "prompt": prompt, "seed": at, "ids": made, "text": text}
                if name == "answers":
                    line["scores"] = one_of.scores(model, ids)
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                kept += 1
                if kept == count:
                    break
            assert kept == count, (name, kept)

"""An encoder-decoder with a tokenizer, and what transformers' generate() makes of fifty texts by beams and without.

The settings that the directory states are those of kind "file"; a text before which "say: " stands, with the settings of
task_specific_params, is kind "summarization".
"""

import json
import random

import tokenizers
import torch
import transformers

from encoder_decoders import LAYERS
from generation import Shake

NAME = "bart-text"
WORDS = "the a cat dog sun rain runs sings sees likes and or when far near old new".split()
STATED = {
    "max_length": 20,
    "num_beams": 3,
    "early_stopping": True,
    "length_penalty": 1.5,
    "no_repeat_ngram_size": 3,
    "forced_eos_token_id": 2,
}
WAYS = {"summarization": {"prefix": "say: ", "num_beams": 2, "max_length": 9, "min_length": 4, "length_penalty": 2.0}}
SETTINGS = {
    "file": {},
    "greedy": {"num_beams": 1, "early_stopping": False},
    "no": {"num_beams": 4, "early_stopping": False, "length_penalty": 1.0},
    "never": {"num_beams": 4, "early_stopping": "never", "length_penalty": 0.6},
    "short": {"num_beams": 3, "early_stopping": False, "length_penalty": -1.0},
    "rules": {"num_beams": 4, "min_new_tokens": 6, "repetition_penalty": 1.3, "no_repeat_ngram_size": 2},
    "summarization": {k: v for k, v in WAYS["summarization"].items() if k != "prefix"},
}


# Settings of generation_config.json that no option gives, each for beams and without.
STRICT = {
    "source": {"encoder_no_repeat_ngram_size": 1},
    "begin": {"begin_suppress_tokens": [22, 2], "suppress_tokens": [9]},
    "both": {"encoder_no_repeat_ngram_size": 1, "begin_suppress_tokens": [9, 28]},
}


SMALL = {
    "d_model": 24,
    **LAYERS,
    "max_position_embeddings": 64,
}
# Scores are shaken by this much.
WIDTH = 4e-3


def tokenizer():
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.decoder = tokenizers.decoders.Metaspace()
    draw = random.Random(1)
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=80, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator([" ".join(draw.choices(WORDS, k=12)) + " say:" for _ in range(400)], trainer)
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return made


def texts():
    draw = random.Random(2)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(1, 9))) for _ in range(400)]


def generated(model, ids, settings, processors=()):
    given = torch.tensor([ids])
    with torch.no_grad():
        made = model.generate(
            given,
            attention_mask=torch.ones_like(given),
            do_sample=False,
            logits_processor=transformers.LogitsProcessorList(processors),
            return_dict_in_generate=True,
            output_scores=True,
            **settings,
        )
    score = made.sequences_scores[0].item() if "sequences_scores" in made else None
    return made.sequences[0, 1:].tolist(), score


def hangs_on_rounding(model, ids, settings, made):
    return any(generated(model, ids, settings, [Shake(at, WIDTH)])[0] != made for at in range(2))


def randomize_pair(model, randomize, seed):
    """Weights and biases of tokens by which texts differ, and end."""
    randomize(model, seed, gain=1.2)
    model.tie_weights()
    generator = torch.Generator().manual_seed(seed + 1)
    model.final_logits_bias = torch.randn(model.final_logits_bias.shape, generator=generator) * 0.5
    model.final_logits_bias[0, model.config.eos_token_id] += 2.5


def make_strict(directory):
    """strict.jsonl: texts under the settings of STRICT, by the model of the directory."""
    model = transformers.BartForConditionalGeneration.from_pretrained(directory, dtype=torch.float64).eval()
    words = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    with open(directory / "strict.jsonl", "w") as file:
        for name, strict in STRICT.items():
            for beams in (1, 3):
                kept = changed = 0
                for text in texts():
                    ids = words.encode(text).ids
                    settings = {**strict, "num_beams": beams, "early_stopping": beams > 1, "no_repeat_ngram_size": 0}
                    made, _ = generated(model, ids, settings)
                    if hangs_on_rounding(model, ids, settings, made):
                        continue
                    plain = dict.fromkeys(strict, None)
                    changed += made != generated(model, ids, {**settings, **plain})[0]
                    line = {"kind": name, "beams": beams, "text": text, "ids": made}
                    file.write(json.dumps(line, separators=(",", ":")) + "\n")
                    kept += 1
                    if kept == 12:
                        break
                print(name, beams, kept, changed)
                assert kept == 12 and changed > 3, (name, beams, kept, changed)


def make(directory, randomize, seed):
    words = tokenizer()
    config = transformers.BartConfig(
        vocab_size=words.get_vocab_size(),
        **SMALL,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    model = transformers.BartForConditionalGeneration(config)
    randomize_pair(model, randomize, seed)
    model.generation_config = transformers.GenerationConfig(
        bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2, **STATED
    )
    model.half().save_pretrained(directory)
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "task_specific_params": WAYS}, indent=2) + "\n")
    words.save(str(directory / "tokenizer.json"))
    model = model.double().eval()
    with open(directory / "generate.jsonl", "w") as file:
        for name, settings in SETTINGS.items():
            kept = ended = 0
            for text in texts():
                ids = words.encode(WAYS.get(name, {}).get("prefix", "") + text).ids
                made, score = generated(model, ids, settings)
                if hangs_on_rounding(model, ids, settings, made):
                    continue
                line = {"kind": name, "text": text, "ids": made, "generated": words.decode(made)}
                if score is not None:
                    line["score"] = score
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                kept += 1
                ended += len(made) < settings.get("max_length", STATED["max_length"]) - 1
                if kept == 50:
                    break
            print(name, kept, ended)
            assert kept == 50 and (ended > 5 or name == "rules"), (name, kept, ended)
    make_strict(directory)

"""Writes expected.jsonl: what transformers makes of conversations by templates in the forms that tokenizers publish (NAME.jinja here).

Usage: python make_expected.py. Last run with transformers 5.24.0.
"""

import json
import pathlib

import jinja2
from transformers.utils.chat_template_utils import _compile_jinja_template

HERE = pathlib.Path(__file__).parent
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "", "unk_token": ""}


def conversations():
    """One to three turns of the user, with a system or without; texts with lines, marks and blanks at their ends."""
    for system in ("", "Be brief.\nBe kind."):
        for turns in (1, 2, 3):
            for blank in ("",) if system else ("", " ", "\n\t"):
                messages = [{"role": "system", "content": system}] if system else []
                for i in range(turns):
                    if i > 0:
                        messages.append(
                            {"role": "assistant", "content": f"{blank}Answer {i}: {{{{ é }}}} '東京'{blank}"}
                        )
                    messages.append({"role": "user", "content": f"{blank}Question {i}?\n\n- <b>{blank}"})
                yield messages
    for thoughts in ("<think>\nWell.\n</think>\n\n", "<think>a</think> \nb</think>", "Well.</think>", "<think>"):
        answers = [{"role": "assistant", "content": f"{thoughts}Answer {i}.\n"} for i in range(2)]
        questions = [{"role": "user", "content": f"Question {i}?"} for i in range(3)]
        yield [questions[0], answers[0], questions[1], answers[1], questions[2]]


def main():
    with open(HERE / "expected.jsonl", "w", encoding="utf-8") as file:
        for path in sorted(HERE.glob("*.jinja")):
            template = _compile_jinja_template(path.read_text(encoding="utf-8"))
            cases = []
            for messages in conversations():
                try:
                    text = template.render(messages=messages, add_generation_prompt=True, **TOKENS)
                except jinja2.TemplateError:  # it refuses systems
                    text = None
                if (
                    messages[0]["content"]
                    and messages[0]["role"] == "system"
                    and messages[0]["content"] not in (text or "")
                ):
                    text = None  # or leaves them out
                cases.append({"messages": messages, "text": text})
            file.write(json.dumps({"name": path.stem, "cases": cases}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

"""Every command of README.md, docs/ and the help texts, run as it stands, in a folder that holds the files they name; of
transcripts also the output, in which "..." stands for what is left out."""

import doctest
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import documented
from support import COMMAND, GOLDEN, SHARED, SOURCE, CommandTest, bantam, model

# The models, made by convert_models.py, that stand for the file names in the documents.
MODELS = {
    "voice": "voice",
    "int8": "voice",
    "int4": "voice-int4",
    "f32": "voice-f32",
    "model": "bert-classify",
    "sentiment": "bert-classify",
    "reranker": "bert-regress",
    "colbert": "colbert",
    "splade": "splade",
    "gliner": "gliner-find",
    "topics": "bert-classify",
    "nli": "bert-classify",
    "qa": "bert-answer",
    "swag": "bert-choose",
    "ner": "bert-tag",
    "bert": "bert-fill",
    "minilm": "sentence-mean",
    "stories": "gpt2-text",
    "small": "gpt2-text",
    "retro": "retro-text",
    "en-de": "marian-text",
    "en-pt": "marian-ssru",
    "bart": "bart-text",
    "g2p": "seq2seq-gru",
    "clip-text": "clip-text",
    "clip-vision": "clip-vision",
}
# Where another model is meant by the same name: longer texts, other tasks.
MODELS_OF = {
    "bantam bench --help": {"minilm": "voice"},
    "bantam run --help": {"model": "voice"},
    "bantam tag --help": {"ner": "voice"},
    "README.md": {"model": "voice"},
    "evaluation.md": {"model": "voice"},
}
# Directories, from the source tree or from ../shared.
DIRECTORIES = {
    "models/voice-commands": SOURCE / "models" / "voice-commands",
    "my-model": GOLDEN / "bert-classify",
    "minilm-sst2": SHARED / "models" / "minilm-sst2",
    "minilm-snips": SHARED / "models" / "minilm-snips-joint",
    "minilm-snips-joint": SHARED / "models" / "minilm-snips-joint",
    "stories260k": SHARED / "models" / "stories260k",
    "g2p-gru": SHARED / "models" / "g2p-gru",
    "llama.gguf": GOLDEN.parent / "gguf" / "llama-blocks-q8_0.gguf",
    "retro-directory": GOLDEN / "retro-text",
    "enpt": GOLDEN / "marian-ssru",
    "clip": GOLDEN.parent / "clip",
    "vit-base": GOLDEN.parent / "images" / "vit-classify",
    "dinov2-base": GOLDEN.parent / "images" / "dinov2-encoder",
    "cat.jpg": GOLDEN.parent / "images" / "photo.ppm",  # which every build reads, by its first bytes
    "dog.png": GOLDEN.parent / "images" / "photo.ppm",
}
TEXTS = [
    "lines.txt",
    "texts.txt",
    "train.txt",
    "sentences.txt",
    "letters.txt",
    "book.txt",
    "paragraphs.txt",
    "queries.txt",
    "more.txt",
    "prompts.txt",
    "beginnings.txt",
    "articles.txt",
    "article.txt",
]
# Commands that fail today, with their exit codes: delete a line as soon as its command succeeds.
FAILING = {
    # The gate's built-in texts are not in the model's language.
    "bantam convert models/voice-commands -o voice.bantam --activations static --calibrate sentences.txt": 6,
}
# Sources that are not golden models: a golden model with other files.
CHANGED = {
    # Languages on both sides.
    "nllb": (
        "bart-text",
        "tokenizer.json",
        lambda text: text.replace('"<s>"', '"eng_Latn"').replace('"<pad>"', '"deu_Latn"'),
    ),
    # A way of generating for each two languages.
    "t5": ("bart-text", "config.json", lambda text: text.replace('"summarization"', '"translation_en_to_de"')),
    # Conversations.
    "assistant": (
        "gpt2-text",
        "chat_template.jinja",
        lambda _: (
            "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}"
        ),
    ),
}
APPS = (pathlib.Path(COMMAND).resolve().parent / "bantam-app").exists()
with tempfile.TemporaryDirectory() as keys:
    SIGNS = bantam("sign", "--new-keys", pathlib.Path(keys) / "k").returncode == 0
LONG = os.environ.get("BANTAM_EXHAUSTIVE", "") != ""


class DocumentedCommands(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.changed = {}
        for name, (golden, file, change) in CHANGED.items():
            source = pathlib.Path(temporary.name) / name
            shutil.copytree(GOLDEN / golden, source)
            path = source / file
            path.write_text(change(path.read_text() if path.exists() else ""))
            cls.changed[name] = pathlib.Path(temporary.name) / f"{name}.bantam"
            done = bantam("convert", source, "-o", cls.changed[name], "--weights", "f32", "--parity", "none")
            assert done.returncode == 0, done.stderr

    def folder(self, where):
        """A folder with every file that the documents name, and `bantam` on the path."""
        folder = self.directory / where.replace("/", " ")
        (folder / "bin").mkdir(parents=True)
        (folder / "models").mkdir()
        (folder / "src").mkdir()
        (folder / "bin" / "bantam").symlink_to(os.path.abspath(COMMAND))
        for name, file in {**MODELS, **MODELS_OF.get(where.split(",")[0], {})}.items():
            shutil.copy(model(file), folder / f"{name}.bantam")
        for name, file in self.changed.items():
            shutil.copy(file, folder / f"{name}.bantam")
        for name, directory in DIRECTORIES.items():
            if directory.exists():
                (folder / name).symlink_to(directory)
        self.onnx_directory(folder / "minilm")
        spoken = (DIRECTORIES["models/voice-commands"] / "commands.txt").read_text().splitlines()
        for name in TEXTS:
            (folder / name).write_text("\n".join(spoken) + "\n")
        if where.startswith(("bantam translate", "generate.md")):  # whose models take few tokens
            (folder / "lines.txt").write_text("the cat\na dog sings\n")
        (folder / "reviews.txt").write_text("the cat\na dog sings\n")
        (folder / "labels.txt").write_text("sun\nrain\n")
        tickets = [f"T-{i},{spoken[i % len(spoken)]},{('billing', 'care')[i % 2]},2024" for i in range(20)]
        (folder / "tickets.csv").write_text("\n".join(["id,text,team,year", *tickets]) + "\n")
        of_index = ("bantam search", "bantam ask", "search.md", "bantam generate", "bantam perplexity")
        if where.startswith(of_index):  # whose help takes an index to be there
            done = bantam("index", model("sentence-mean"), folder / "lines.txt", "-o", folder / "lines.index")
            self.assertEqual(done.returncode, 0, done.stderr)
            options = ("-o", folder / "tickets.index", "--id", "id", "--keep", "team,year")
            done = bantam("index", model("sentence-mean"), folder / "tickets.csv", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
        (folder / "questions.txt").write_text("Who wrote it?\n")
        lines = [{"text": text, "intent": "PlayMusic"} for text in spoken]
        for name in ("test.jsonl", "data.jsonl", "dev.jsonl", "train.jsonl", "valid.jsonl"):
            (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        if where.startswith("bantam verify") and SIGNS:
            self.assertEqual(bantam("sign", "--new-keys", folder / "release").returncode, 0)
            signed = bantam("sign", folder / "voice.bantam", "--key", folder / "release.key")
            self.assertEqual(signed.returncode, 0, signed.stderr)
        if where.startswith("images.md"):
            (folder / "paths.txt").write_text("cat.jpg\ndog.png\n")
            labels = json.loads((DIRECTORIES["vit-base"] / "config.json").read_text())["id2label"]
            (folder / "test.jsonl").write_text(json.dumps({"text": "cat.jpg", "label": labels["0"]}) + "\n")
        table = ["utterance,intent", *(f'"{text}",PlayMusic' for text in spoken)]
        (folder / "data.csv").write_text("".join(f"{line}\n" for line in table))
        (folder / "pairs.jsonl").write_text('{"text": "the cat", "target": "die Katze"}\n')
        (folder / "conversations.jsonl").write_text('[{"role": "user", "content": "the cat"}]\n')
        (folder / "recipe.json").write_text('{"layers": 3}\n')
        return folder

    def onnx_directory(self, folder):
        """A graph as the hub has them, with its tokenizer in the directory above."""
        (folder / "onnx").mkdir(parents=True)
        shutil.copy(GOLDEN.parent / "onnx" / "bert-classify-torchscript17.onnx", folder / "onnx" / "model.onnx")
        for name in ("config.json", "tokenizer_config.json"):
            shutil.copy(GOLDEN / "bert-classify" / name, folder / name)
        words = (GOLDEN / "bert-classify" / "vocab.txt").read_text().splitlines()[:40]  # so many rows the graph has
        (folder / "vocab.txt").write_text("\n".join(words) + "\n")

    def skipped(self, command):
        reason = documented.reason_to_skip(command)
        if reason:
            return reason
        if not SIGNS and ("bantam sign" in command or "--key" in command):
            return "this build has no libsodium"
        if not APPS and ("bantam bundle" in command or "./" in command):
            return "this build makes no apps"
        for name, directory in DIRECTORIES.items():
            if SHARED in directory.parents and name in command.split():
                if not directory.exists():
                    return f"needs {name}, which ../shared has"
                if not LONG:
                    return f"takes long with {name}: ./dev test all runs it"
        return None

    def call(self, folder, command):
        return subprocess.run(
            ["bash", "-ec", command],
            cwd=folder,
            env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )

    def run_block(self, where, block):
        folder = self.folder(where)
        count = 0
        for command in documented.commands_of(block):
            reason = self.skipped(command)
            if reason:
                print(f"skipped: {command}: {reason}")
                continue
            with self.subTest(where=where, command=command):
                done = self.call(folder, command)
                self.assertEqual(done.returncode, FAILING.get(command, 0), done.stdout.decode(errors="replace"))
            count += 1
        return count

    def run_transcript(self, where, steps):
        folder = self.folder(where)
        self.assertTrue(steps, f"{where}: no line begins with $")
        count = 0
        for command, expected in steps:
            reason = self.skipped(command)
            if reason:
                print(f"skipped: {command}: {reason}")
                continue
            with self.subTest(where=where, command=command):
                done = self.call(folder, command)
                output = done.stdout.decode()
                self.assertEqual(done.returncode, 0, output)
                same = doctest.OutputChecker().check_output(expected, output, doctest.ELLIPSIS)
                self.assertTrue(same, f"the document has\n{expected}\nthe command prints\n{output}")
            count += 1
        return count

    def test_markdown(self):
        blocks = [b for path in documented.markdown_files(SOURCE) for b in documented.blocks_of_markdown(path)]
        self.assertTrue(blocks)
        self.assertGreater(sum(self.run_block(*block) for block in blocks), 0)

    def test_transcripts(self):
        found = [t for path in documented.markdown_files(SOURCE) for t in documented.transcripts_of_markdown(path)]
        self.assertGreater(sum(self.run_transcript(*transcript) for transcript in found), 5)

    def test_every_family_is_in_the_documents(self):
        text = (SOURCE / "docs" / "models.md").read_text(encoding="utf-8")
        table = "".join(line for line in text.splitlines() if line.startswith("|"))
        for family in json.loads(bantam("version", "--families", "--json").stdout)["families"]:
            self.assertIn(f"`{family['model_type']}`", table)

    def test_every_type_of_the_table_is_known(self):
        """The table that tests/conformance/families.py writes."""
        text = (SOURCE / "docs" / "models.md").read_text(encoding="utf-8")
        table = text.partition("--write: begin -->")[2].partition("<!-- families.py --write: end")[0]
        named = {
            name for line in table.splitlines() if line.startswith("| `") for name in re.findall("`([^`]+)`", line)
        }
        known = json.loads(bantam("version", "--families", "--json").stdout)["families"]
        self.assertGreater(len(named), 80)
        self.assertEqual(named - {"model_type", *(family["model_type"] for family in known)}, set())

    def test_help(self):
        overview = bantam("--help").stdout.decode()
        names = documented.command_names(overview)
        self.assertIn("convert", names)
        self.assertIn("version", names)
        count = 0
        for name in ["", *names]:
            text = bantam(*name.split(), "--help").stdout.decode()
            blocks = list(documented.blocks_of_help(text, name))
            self.assertTrue(blocks or name in ("help", "completion", "man"), f"bantam {name} --help has no Examples")
            count += sum(self.run_block(*block) for block in blocks)
        self.assertGreater(count, len(names))


if __name__ == "__main__":
    unittest.main()

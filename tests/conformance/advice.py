"""Commands that bantam prints or documents for other tools, run with the installed libraries: advice.py COMMAND.

SetFit's heads and word-vector classifiers of scikit-learn (whose matrices may lie by columns), and torch files saved again.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "models"


def printed(command, source, folder):
    """The Python program in the message with which converting `source` fails."""
    words = [command, "convert", source, "-o", folder / "out.bantam", "--parity", "none"]
    message = subprocess.run(words, capture_output=True, text=True).stderr
    found = re.search(r'python -c "(.*?)"', message, re.DOTALL)
    assert found, message
    return found.group(1)


def run_python(program, folder):
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)


def check_setfit(command, folder):
    import joblib
    import numpy
    from safetensors.numpy import load_file
    from sklearn.linear_model import LogisticRegression

    random = numpy.random.default_rng(3)
    texts, labels = random.normal(size=(90, 18)), [name for name in ("red", "green", "blue") for _ in range(30)]
    head = LogisticRegression().fit(texts, labels)
    source = folder / "setfit"
    shutil.copytree(GOLDEN / "setfit-several", source)
    (source / "model_head.safetensors").unlink()
    joblib.dump(head, source / "model_head.pkl")
    run_python(printed(command, source, folder), source)
    stored = load_file(source / "model_head.safetensors")
    assert numpy.array_equal(stored["coef"], head.coef_), "the command writes other weights than the head has"
    subprocess.run([command, "convert", source, "-o", folder / "head.bantam", "--parity", "none", "-q"], check=True)
    shown = subprocess.run([command, "inspect", folder / "head.bantam", "--json"], capture_output=True, check=True)
    labels = json.loads(shown.stdout)["label_sets"][0]["labels"]
    assert labels == ["blue", "green", "red"], labels  # scikit-learn's order


def check_word_vectors(folder):
    import numpy
    import safetensors.numpy
    import sklearn.linear_model

    document = (SOURCE / "docs" / "wordvectors.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", document.split("## classifier.safetensors")[1], re.DOTALL)[:1]
    random = numpy.random.default_rng(5)
    vectors = {word: random.normal(size=7) for word in "abcdef"}
    texts = [" ".join(random.choice(list(vectors), 4)) for _ in range(80)]
    labels = [text.split()[0] for text in texts]
    (folder / "sorter").mkdir()
    program = program.replace('"sorter/', f'"{folder}/sorter/')
    given = {"numpy": numpy, "sklearn": sklearn, "safetensors": safetensors, "vectors": vectors}
    given |= {"texts": texts, "labels": labels}
    exec(program, given)  # noqa: S102
    stored = safetensors.numpy.load_file(folder / "sorter" / "classifier.safetensors")
    wanted = given["sorter"].coef_.astype("f4")
    assert numpy.array_equal(stored["weight"], wanted), "the documented program writes other weights"


def check_torch_file(command, folder):
    import torch
    from safetensors.torch import load_file

    source = folder / "old"
    shutil.copytree(GOLDEN / "bert-classify", source)
    tensors = load_file(source / "model.safetensors")
    (source / "model.safetensors").unlink()
    torch.save(tensors, source / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    run_python(printed(command, source, folder), source)
    subprocess.run([command, "convert", source, "-o", folder / "torch.bantam", "--parity", "none", "-q"], check=True)


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        check_setfit(command, folder)
        check_word_vectors(folder)
        check_torch_file(command, folder)
    import safetensors
    import sklearn
    import torch

    versions = {module.__name__: module.__version__ for module in (safetensors, sklearn, torch)}
    print("advice.py: 3 commands right;", ", ".join(f"{name} {version}" for name, version in versions.items()))


if __name__ == "__main__":
    main()

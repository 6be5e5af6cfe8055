"""LSTM and GRU layers, 256 wide, 20 steps, one thread: bantam's int8 against ONNX Runtime's dynamic int8 LSTM and f32 GRU.

Usage: python peers_recurrent.py COMMAND [ROUNDS]
Needs torch, safetensors, onnx and onnxruntime (requirements-peers.txt). bantam's time is that of a file with embeddings, input and
layer (`bantam bench --seq 20 --plain`), ONNX Runtime's that of the layer. Rounds take turns; medians are printed.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
import safetensors.torch
import torch
from onnx import TensorProto, helper, numpy_helper

WIDTH, STEPS, WORDS = 256, 20, 1000
# ONNX's order of gates among PyTorch's.
ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}


def write_bantam(kind, module, directory):
    directory.mkdir()
    settings = {
        "model_type": "recurrent",
        "architectures": ["RecurrentModel"],
        "cell_type": kind,
        "vocab_size": WORDS,
        "embedding_size": WIDTH,
        "hidden_size": WIDTH,
    }
    (directory / "config.json").write_text(json.dumps(settings))
    tensors = {"embedding.weight": torch.randn(WORDS, WIDTH)}
    tensors.update({f"{kind}.{name}": value.contiguous() for name, value in module.state_dict().items()})
    safetensors.torch.save_file(tensors, directory / "model.safetensors")


def write_onnx(kind, module, path):
    def gates(tensor):
        parts = tensor.detach().numpy().reshape(len(ORDER[kind]), WIDTH, -1)
        return numpy.ascontiguousarray(parts[list(ORDER[kind])].reshape(1, -1, parts.shape[2]))

    biases = [gates(getattr(module, f"bias_{part}_l0"))[:, :, 0] for part in ("ih", "hh")]
    constants = {
        "W": gates(module.weight_ih_l0),
        "R": gates(module.weight_hh_l0),
        "B": numpy.concatenate(biases, axis=1),
    }
    settings = {"linear_before_reset": 1} if kind == "gru" else {}
    node = helper.make_node(kind.upper(), ["X", *constants], ["Y"], hidden_size=WIDTH, **settings)
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [STEPS, 1, WIDTH])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [STEPS, 1, 1, WIDTH])
    initial = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    model = helper.make_model(
        helper.make_graph([node], kind, [x], [y], initial), opset_imports=[helper.make_opsetid("", 17)], ir_version=9
    )
    onnx.save(model, path)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def milliseconds(run):
    times = []
    end = time.perf_counter() + 0.7
    while time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def main():
    command, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for kind, layer in (("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU)):
            module = layer(WIDTH, WIDTH)
            write_bantam(kind, module, folder / kind)
            write_onnx(kind, module, folder / f"{kind}.onnx")
            file = folder / f"{kind}.bantam"
            convert = [command, "convert", folder / kind, "-o", file, "--ids-only", "--parity", "none", "--json"]
            subprocess.run(convert, check=True, stdout=subprocess.DEVNULL)
            peers = {"f32": session(folder / f"{kind}.onnx")}
            if kind == "lstm":
                from onnxruntime.quantization import quantize_dynamic

                quantize_dynamic(folder / "lstm.onnx", folder / "lstm-int8.onnx")
                peers["int8"] = session(folder / "lstm-int8.onnx")
            x = numpy.random.default_rng(1).standard_normal((STEPS, 1, WIDTH)).astype(numpy.float32)
            expected = module(torch.from_numpy(x))[0].detach().numpy()
            for name, peer in peers.items():
                found = peer.run(None, {"X": x})[0][:, 0]
                print(kind, f"ONNX Runtime {name}: within {numpy.abs(found - expected).max():.5f} of PyTorch")
            times = {name: [] for name in ("bantam", *peers)}
            for _ in range(rounds):
                plain = [command, "bench", file, "--seq", str(STEPS), "--plain"]
                times["bantam"].append(float(subprocess.run(plain, check=True, capture_output=True).stdout))
                for name, peer in peers.items():
                    times[name].append(milliseconds(lambda peer=peer: peer.run(None, {"X": x})))
            own = statistics.median(times["bantam"])
            print(kind, f"bantam int8 {own:.3f} ms")
            for name in peers:
                median = statistics.median(times[name])
                print(kind, f"ONNX Runtime {name} {median:.3f} ms: bantam takes {own / median:.2f} of it")


if __name__ == "__main__":
    main()

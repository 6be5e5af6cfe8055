#!/usr/bin/env python3
"""Measures what `bantam convert` takes of memory for a large ONNX file, beyond what it writes.

Usage: onnx_memory.py BANTAM [--layers N] [--vocabulary N] [--work DIRECTORY] [--weights KIND...] [--most MB]

Writes a BERT-like graph with random f32 weights (500 MB where nothing else is said), once as one file and once with its tensors in external data, converts both
and prints the peak of the command's resident memory, the size of what it wrote and the difference. Pages of the mapped source count
as far as they are in memory. Exit status 1 where the difference is more than --most. Needs onnx and numpy.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, PLACES = 768, 12, 512
OPSET = 17


class Writer:
    """Nodes and initializers of a graph, by names of tensors."""

    def __init__(self, seed):
        self.nodes, self.tensors, self.random = [], [], numpy.random.default_rng(seed)

    def constant(self, name, values):
        self.tensors.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, name, *shape):
        values = self.random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.05)
        return self.constant(name, values)

    def node(self, op, inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def linear(self, x, name, columns, outputs):
        product = self.node("MatMul", [x, self.weight(f"{name}.weight", columns, outputs)])
        return self.node("Add", [product, self.weight(f"{name}.bias", outputs)])

    def norm(self, x, name):
        gamma = self.constant(f"{name}.weight", numpy.ones(HIDDEN, numpy.float32))
        return self.node(
            "LayerNormalization",
            [x, gamma, self.weight(f"{name}.bias", HIDDEN)],
            epsilon=1e-12,
        )

    def heads(self, x, order):
        return self.node("Transpose", [self.node("Reshape", [x, "by_heads"])], perm=order)

    def layer(self, x, name):
        query, key, value = (self.linear(x, f"{name}.{part}", HIDDEN, HIDDEN) for part in ("query", "key", "value"))
        scores = self.node("MatMul", [self.heads(query, [0, 2, 1, 3]), self.heads(key, [0, 2, 3, 1])])
        scaled = self.node("Add", [self.node("Div", [scores, "root"]), "hidden"])
        seen = self.node(
            "MatMul",
            [self.node("Softmax", [scaled], axis=-1), self.heads(value, [0, 2, 1, 3])],
        )
        rows = self.node("Reshape", [self.node("Transpose", [seen], perm=[0, 2, 1, 3]), "whole"])
        x = self.norm(
            self.node("Add", [self.linear(rows, f"{name}.output", HIDDEN, HIDDEN), x]),
            f"{name}.norm",
        )
        up = self.linear(x, f"{name}.up", HIDDEN, 4 * HIDDEN)
        down = self.linear(self.node("Relu", [up]), f"{name}.down", 4 * HIDDEN, HIDDEN)
        return self.norm(self.node("Add", [down, x]), f"{name}.down.norm")


def build(layers, vocabulary):
    """A model of so many layers."""
    graph = Writer(7)
    graph.constant("by_heads", numpy.array([0, 0, HEADS, HIDDEN // HEADS]))
    graph.constant("whole", numpy.array([0, 0, HIDDEN]))
    graph.constant("root", numpy.array(numpy.sqrt(HIDDEN / HEADS), numpy.float32))
    for name, number in (("one", 1), ("small", -10000)):
        graph.constant(name, numpy.array(number, numpy.float32))
    graph.constant("axes", numpy.array([1, 2]))
    mask = graph.node(
        "Unsqueeze",
        [graph.node("Cast", ["attention_mask"], to=TensorProto.FLOAT), "axes"],
    )
    missing = graph.node("Mul", [graph.node("Sub", ["one", mask]), "small"])
    graph.nodes[-1].output[0] = "hidden"
    assert missing
    words = graph.node("Gather", [graph.weight("words.weight", vocabulary, HIDDEN), "input_ids"])
    places = graph.node("Gather", [graph.weight("places.weight", PLACES, HIDDEN), "position_ids"])
    x = graph.norm(graph.node("Add", [words, places]), "embeddings.norm")
    for layer in range(layers):
        x = graph.layer(x, f"layer.{layer}")
    graph.nodes[-1].output[0] = "last_hidden_state"
    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "position_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, HIDDEN])
    made = helper.make_graph(graph.nodes, "bert-like", inputs, [output], graph.tensors)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def peak_of(command):
    """The largest resident memory of a command, in bytes; ends the program where the command fails."""
    child = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"onnx_memory.py: {' '.join(command)} failed")
    return usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bantam", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=14)
    parser.add_argument("--vocabulary", type=int, default=30522)
    parser.add_argument("--weights", nargs="+", default=["f32", "int8"])
    parser.add_argument("--most", type=float, default=50, help="MB beyond the output")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--write-external", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write or arguments.write_external:
        path = arguments.write or arguments.write_external
        external = arguments.write_external is not None
        onnx.save(
            build(arguments.layers, arguments.vocabulary),
            path,
            save_as_external_data=external,
            location="data",
        )
        return 0
    over = False
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        work = pathlib.Path(folder)
        for kind in ("one file", "external data"):
            path = work / kind.split()[0] / "model.onnx"
            path.parent.mkdir()
            # By a process of its own: what a child is said to have held is at least what its parent held when it was started.
            shape = [
                "--layers",
                str(arguments.layers),
                "--vocabulary",
                str(arguments.vocabulary),
            ]
            write = ["--write-external" if kind != "one file" else "--write", str(path)]
            subprocess.run([sys.executable, __file__, arguments.bantam, *shape, *write], check=True)
            size = sum(part.stat().st_size for part in path.parent.iterdir())
            for weights in arguments.weights:
                out = work / "out.bantam"
                command = [
                    str(arguments.bantam.resolve()),
                    "convert",
                    str(path),
                    "-o",
                    str(out),
                    "--ids-only",
                ]
                peak = peak_of([*command, "--weights", weights, "--parity", "none"])
                written = out.stat().st_size
                beyond = (peak - written) / 1e6
                over = over or beyond > arguments.most
                print(
                    f"{kind:13} {size / 1e6:6.0f} MB, {weights:4}: peak {peak / 1e6:6.0f} MB, "
                    f"written {written / 1e6:6.0f} MB, beyond that {beyond:6.0f} MB",
                    flush=True,
                )
            for part in path.parent.iterdir():
                part.unlink()
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())

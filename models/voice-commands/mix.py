#!/usr/bin/env python3
"""Averages the f16 weights of two models of one layout: mix.py A.safetensors SHARE_OF_A B.safetensors OUT.safetensors

Between a model and its fine-tuned copy lie models that keep more of what the first knew (arXiv 2109.01903).
"""

import json
import pathlib
import struct
import sys


def read(path):
    """The bytes in front of the weights, and the weights by name: places in the file, and values."""
    content = pathlib.Path(path).read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, tensor in json.loads(content[8:begin]).items():
        if name == "__metadata__":
            continue
        if tensor["dtype"] != "F16":
            sys.exit(f"{path}: {name} is {tensor['dtype']}, not F16: train with --save-as f16")
        first, last = tensor["data_offsets"]
        values = struct.unpack(f"<{(last - first) // 2}e", content[begin + first : begin + last])
        tensors[name] = (begin + first, values)
    return content, tensors


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    share = float(sys.argv[2])
    content, first = read(sys.argv[1])
    _, second = read(sys.argv[3])
    mixed = bytearray(content)
    for name, (place, values) in first.items():
        means = (share * a + (1 - share) * b for a, b in zip(values, second[name][1], strict=True))
        struct.pack_into(f"<{len(values)}e", mixed, place, *means)
    pathlib.Path(sys.argv[4]).write_bytes(mixed)


if __name__ == "__main__":
    main()

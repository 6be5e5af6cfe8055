"""Writes pytorch_model.bin as torch.save does, with Python's own pickle: no torch is needed, or run."""

import collections
import io
import json
import math
import pickle
import struct
import sys
import types
import zipfile

STORAGES = {
    "F32": "FloatStorage",
    "F16": "HalfStorage",
    "BF16": "BFloat16Storage",
    "I64": "LongStorage",
}
WIDTHS = {"F32": 4, "F16": 2, "BF16": 2, "I64": 8}


def _named(module, name):
    """Something that pickles as module.name."""
    for part in (module.split(".")[0], module):
        sys.modules.setdefault(part, types.ModuleType(part))
    if hasattr(sys.modules[module], name):
        return getattr(sys.modules[module], name)
    made = type(name, (), {"__module__": module, "__qualname__": name})
    setattr(sys.modules[module], name, made)
    return made


class Storage:
    """The storage that tensors are views of: `key` names its file in the archive."""

    def __init__(self, dtype, key, content):
        self.dtype, self.key, self.content = dtype, key, content

    def identity(self):
        kind = _named("torch", STORAGES[self.dtype])
        return (
            "storage",
            kind,
            self.key,
            "cpu",
            len(self.content) // WIDTHS[self.dtype],
        )


class Tensor:
    def __init__(self, storage, shape, offset=0, strides=None, parameter=False):
        self.storage, self.shape, self.offset, self.parameter = (
            storage,
            tuple(shape),
            offset,
            parameter,
        )
        self.strides = strides or tuple(math.prod(self.shape[place + 1 :]) for place in range(len(self.shape)))

    def __reduce__(self):
        rebuild = _named("torch._utils", "_rebuild_tensor_v2")
        arguments = (
            self.storage,
            self.offset,
            self.shape,
            self.strides,
            False,
            collections.OrderedDict(),
        )
        if not self.parameter:
            return (rebuild, arguments)
        inner = Tensor(self.storage, self.shape, self.offset, self.strides)
        return (
            _named("torch._utils", "_rebuild_parameter"),
            (inner, True, collections.OrderedDict()),
        )


class Pickler(pickle._Pickler):  # the one in Python, whose save_reduce takes our classes for functions
    def persistent_id(self, obj):
        return obj.identity() if isinstance(obj, Storage) else None


def pickled(state, protocol=2):
    out = io.BytesIO()
    Pickler(out, protocol).dump(state)
    return out.getvalue()


def archive(pickle_bytes, storages, compression=zipfile.ZIP_STORED, extra=()):
    """The archive of a pickle and {key: content}; the same bytes at any time: converted files hold their sha256."""
    entries = [("data.pkl", pickle_bytes), *((f"data/{key}", content) for key, content in storages.items())]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in [*entries, ("version", "3\n"), *extra]:
            file.writestr(zipfile.ZipInfo(f"archive/{name}"), content, compression)
    return out.getvalue()


def read_safetensors(path):
    """{name: (dtype, shape, content)}."""
    content = path.read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + size])
    data = content[8 + size :]
    return {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def write_safetensors(path, tensors):
    """Writes the tensors {name: (dtype, shape, content)}."""
    header, body = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def save(tensors, **options):
    """As torch.save writes {name: (dtype, shape, content)}."""
    state, storages = collections.OrderedDict(), {}
    for number, (name, (dtype, shape, content)) in enumerate(tensors.items()):
        storages[str(number)] = content
        state[name] = Tensor(Storage(dtype, str(number), content), shape)
    return archive(pickled(state, **options), storages)

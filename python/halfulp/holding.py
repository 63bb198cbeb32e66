# SPDX-License-Identifier: Apache-2.0
# Holds what a test computes to what it computed at the last commit, for pytest_plugin.py. What may differ is decided by
# `halfulp check`.
"""Tensors of one test, and the file that they are held to."""
import hashlib
import json
import os
import re
import struct
import tempfile

from . import program

DTYPES = {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u8": "U64", "u4": "U32",
          "u2": "U16", "u1": "U8", "b1": "BOOL"}


def as_bytes(x, kept=None):
    """dtype of safetensors, shape and bytes of an array. A lone float64 that float32 holds exactly, as loss.item() of a
    float32 loss is, is a float32 value and held as one; kept: the dtype that the baseline has for it."""
    import numpy

    if hasattr(x, "detach"):  # torch
        x = x.detach().cpu().contiguous()
        if str(x.dtype) == "torch.bfloat16":
            import torch

            return "BF16", list(x.shape), x.view(torch.int16).numpy().tobytes()
        x = x.numpy()
    x = numpy.asarray(x)
    if x.dtype == numpy.float64 and not x.shape:
        with numpy.errstate(over="ignore"):
            single = x.astype(numpy.float32)
        same = single == x or (single != single and x != x)
        x = single if kept == "F32" or (same and kept is None) else x
    x = numpy.ascontiguousarray(x).reshape(x.shape)
    name = x.dtype.str[1:]
    if name not in DTYPES:
        raise TypeError("%s cannot be held: a number, an array or a torch tensor is needed" % x.dtype)
    return DTYPES[name], list(x.shape), x.astype(x.dtype.newbyteorder("<")).tobytes()


def dtypes_of(path):
    """The dtypes of a safetensors file by name; none where it cannot be read."""
    try:
        with open(path, "rb") as f:
            head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        return {k: v["dtype"] for k, v in head.items() if k != "__metadata__"}
    except (OSError, ValueError, KeyError, struct.error):
        return {}


def write(path, tensors, kept):
    """The safetensors file of {name: array}; whole or not at all."""
    header, data = {}, b""
    for name in sorted(tensors):
        dtype, shape, raw = as_bytes(tensors[name], kept.get(name))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path + ".part", "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + data)
    os.replace(path + ".part", path)


def file_of(nodeid):
    """A file's name for a test, by module, class, name and parameters: no two tests have the same."""
    inner = nodeid.split("/")[-1]
    plain = re.sub("[^A-Za-z0-9_.-]+", "_", inner.replace(".py::", ".").replace("::", ".")).strip("_")
    exact = re.fullmatch(r"[A-Za-z0-9_]+\.py(::[A-Za-z0-9_]+)+", inner)
    return plain + ("" if exact else "-" + hashlib.sha256(inner.encode()).hexdigest()[:6]) + ".safetensors"


class Numerics:
    """What one test computed. path: the file that it is held to; record: write that file instead of comparing."""

    def __init__(self, path, record=False):
        self.path, self.record, self.tensors, self.rules = path, record, {}, []

    def __call__(self, name, x):
        if name in self.tensors:
            raise ValueError("%r was given twice in one test: names must differ" % name)
        self.tensors[name] = x

    def rule(self, text):
        self.rules += ["--rule", text]

    def verdict(self):
        """"" where all hold, else what to tell the reader."""
        if not self.tensors:
            return ""
        if self.record:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            write(self.path, self.tensors, {})
            return ""
        if not os.path.exists(self.path):
            why = "%s is not there: where the test is right, pytest --numerics-update writes it"
            return why % os.path.relpath(self.path)
        with tempfile.TemporaryDirectory(prefix="halfulp-pytest-") as folder:
            obtained = os.path.join(folder, "obtained.safetensors")
            write(obtained, self.tensors, dtypes_of(self.path))
            try:
                done = program.run("check", obtained, "--baseline", self.path, *self.rules)
            except program.ProgramError as why:
                return str(why)
        if not done.returncode:
            return ""
        return "\n".join(x for x in done.stdout.splitlines() if not x.startswith(("ok ", "1..")))

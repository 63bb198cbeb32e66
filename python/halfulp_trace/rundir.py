# SPDX-License-Identifier: Apache-2.0
"""The files of a run directory."""
import ctypes
import json
import os
import struct

import torch

from .formats import DTYPES, FORMATS


METRICS = """step epoch loss accuracy eval_loss eval_accuracy eval_precision eval_recall loss_scale skipped
    overflow_call overflow_tensor overflow_count grad_norm ms samples_per_s joules joules_per_sample watts utilisation
    digest""".split()


def write(path, data):
    """Writes a file whole or not at all."""
    with open(path + ".part", "wb") as f:
        for piece in data:
            f.write(piece)
    os.replace(path + ".part", path)


def safetensors(values, program):
    """The bytes of a safetensors file of these values, by the program's tensor; wider formats come first."""
    order = sorted(values, key=lambda i: (-values[i].element_size(), i))
    header, at = {}, 0
    for i in order:
        t, n = values[i], values[i].numel() * values[i].element_size()
        header[program.tensors[i]["name"]] = {"dtype": DTYPES[FORMATS[t.dtype]], "shape": list(t.shape),
                "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for i in order:
        t = values[i].contiguous()
        yield ctypes.string_at(t.data_ptr(), t.numel() * t.element_size())


def signed(x):
    return x - (1 << 64) if x >> 63 else x


def digest(program, values):
    """The digest of the state behind a step, as doc/formats.md defines it: the sum of mix64(FNV-1a64(name) xor
    (index * 0x9e3779b97f4a7c15 + code)) over all elements of the state, modulo 2^64."""
    def xor_shifted(z, k):                       # a logical shift: torch's own is an arithmetic one
        return z ^ ((z >> k) & ((1 << (64 - k)) - 1))
    total = 0
    for t in program.tensors:
        v = values.get(t.get("next"), values.get(t["id"])) if t.get("state") else None
        if v is None:
            continue
        name = 0xcbf29ce484222325
        for c in t["name"].encode():
            name = (name ^ c) * 0x100000001b3 % (1 << 64)
        bits = 8 * v.element_size()
        code = v.reshape(-1).view({8: torch.uint8, 16: torch.int16, 32: torch.int32,
                64: torch.int64}[bits]).to(torch.int64)
        code = code & ((1 << bits) - 1) if bits < 64 else code
        z = (torch.arange(len(code)) * signed(0x9e3779b97f4a7c15) + code) ^ signed(name)
        z = xor_shifted(xor_shifted(z, 30) * signed(0xbf58476d1ce4e5b9), 27) * signed(0x94d049bb133111eb)
        total += int(xor_shifted(z, 31).sum())
    return "0x%016x" % (total % (1 << 64))

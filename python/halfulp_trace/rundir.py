# SPDX-License-Identifier: Apache-2.0
"""The files of a run directory."""
import functools
import json
import os
import struct

import torch

from .arena import SEGMENT, in_memory
from .formats import DTYPES, FORMATS
from .laid import rename, sync


METRICS = """step epoch loss accuracy eval_loss eval_accuracy eval_precision eval_recall loss_scale skipped
    overflow_call overflow_tensor overflow_count grad_norm ms samples_per_s joules joules_per_sample watts utilisation
    digest""".split()


def put(f, data):
    while data:
        data = data[f.write(data):]


def copy(f, arena, at, count, last):
    """Appends bytes of the arena's file, within the kernel where it can do that. `last` says that nothing else wants
    them."""
    file, begin, size = arena.file.fileno(), at, count
    while count > 0:
        try:
            n = os.copy_file_range(file, f.fileno(), count, at)
        except OSError:
            n = 0
        if n == 0:
            data = os.pread(file, min(count, 1 << 24), at)
            if not data:
                raise OSError("a file of copies ended early")
            n = len(data)
            put(f, memoryview(data))
        at, count = at + n, count - n
    if last:
        arena.drop(begin, size)


def write(path, data):
    """Writes a file whole or not at all, also where the machine stops: its bytes are on the disk before it has its
    name. A piece is bytes, or an arena with a place in its file, a number of bytes, and whether these are wanted no
    more."""
    with open(path + ".part", "wb", buffering=0) as f:
        for piece in data:
            if isinstance(piece, tuple):
                copy(f, *piece)
            else:
                put(f, memoryview(piece).cast("B"))
        sync(f.fileno())
    rename(path + ".part", path)


def layout(values, program):
    """The head of a safetensors file of these values, by the program's tensor; and in the order of the file the place
    of each, and its tensor of the program. Wider formats come first."""
    order = sorted(values, key=lambda i: (-values[i].element_size(), i))
    header, places, at = {}, [], 0
    for i in order:
        t, n = values[i], values[i].numel() * values[i].element_size()
        header[program.tensors[i]["name"]] = {"dtype": DTYPES[FORMATS[t.dtype]], "shape": list(t.shape),
                "data_offsets": [at, at + n]}
        places.append((at, i))
        at += n
    text = json.dumps(header, separators=(",", ":")).encode()
    # to a multiple of a sixteenth to an eighth of it, so that names of other lengths seldom move the tensors
    text += b" " * (-len(text) % max(8, 1 << max(len(text).bit_length() - 4, 0)))
    head = struct.pack("<Q", len(text)) + text
    return head, [(len(head) + at, i) for at, i in places]


def safetensors(values, program, arena=None):
    """The pieces of a safetensors file of these values. A piece is bytes, or a part of the arena as write() takes
    it."""
    head, places = layout(values, program)
    yield head
    shared = overlapping(arena, values) if arena is not None else set()
    for _, i in places:
        t = values[i].contiguous()
        at = arena.where(t) if arena is not None else None
        yield in_memory(t) if at is None else (arena, at, t.numel() * t.element_size(), i not in shared)


def overlapping(arena, values):
    """Which of these values share bytes of the arena's file with others."""
    places = []
    for i, t in values.items():
        at = arena.where(t) if t.numel() else None
        if at is not None:
            span = 1 + sum((n - 1) * k for n, k in zip(t.size(), t.stride()))
            places.append((at, at + span * t.element_size(), i))
    out, end, last = set(), 0, None
    for first, behind, i in sorted(places):
        if first < end:
            out |= {i, last}
        if behind > end:
            end, last = behind, i
    return out


def signed(x):
    return x - (1 << 64) if x >> 63 else x


CHUNK = 1 << 16          # elements whose 64-bit words a core's cache holds


def digest(program, values, trim):
    """The digest of the state behind a step, as doc/formats.md defines it: the sum of mix64(FNV-1a64(name) xor
    (index * 0x9e3779b97f4a7c15 + code)) over all elements of the state, modulo 2^64. trim() gives back the memory of
    what was read."""
    total = fresh = 0
    for t in program.tensors:
        v = values.get(t.get("next"), values.get(t["id"])) if t.get("state") else None
        if v is None:
            continue
        total += digest_of(t["name"], v)
        fresh += v.numel() * v.element_size()
        if fresh > SEGMENT:
            trim()
            fresh = 0
    return "0x%016x" % (total % (1 << 64))


def digest_of(name, v):
    """What a state of this name and these values adds to the digest."""
    golden, total = 0x9e3779b97f4a7c15, 0
    places, z, shifted = workspace()
    of = 0xcbf29ce484222325
    for c in name.encode():
        of = (of ^ c) * 0x100000001b3 % (1 << 64)
    bits = 8 * v.element_size()
    codes = v.reshape(-1).view({8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[bits])
    for at in range(0, len(codes), CHUNK):
        n = min(CHUNK, len(codes) - at)
        x, y = z[:n], shifted[:n]
        x.copy_(codes[at:at + n])
        if bits < 64:
            x.bitwise_and_((1 << bits) - 1)
        x.add_(places[:n]).add_(signed(at * golden % (1 << 64))).bitwise_xor_(signed(of))
        for shift, factor in ((30, 0xbf58476d1ce4e5b9), (27, 0x94d049bb133111eb), (31, 1)):
            # a logical shift: torch's own is an arithmetic one
            torch.bitwise_right_shift(x, shift, out=y)
            x.bitwise_xor_(y.bitwise_and_((1 << (64 - shift)) - 1))
            if factor != 1:
                x.mul_(signed(factor))
        total += int(x.sum())
    return total


@functools.cache
def workspace():
    """The multiples of the golden ratio's fraction by place, and room for as many words, twice."""
    return (torch.arange(CHUNK) * signed(0x9e3779b97f4a7c15), torch.empty(CHUNK, dtype=torch.int64),
            torch.empty(CHUNK, dtype=torch.int64))

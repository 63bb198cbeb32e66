#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How fast `diff` compares two files of which nearly every element differs, beside reading both (cat), for fp32, fp16
# and bf16. Both take turns in one run. Seconds are the processor's, user and system, so that a busy machine does not
# count; with T threads a comparison lasts that divided by T at best. Resident memory is that of pages of the files at
# most.
#   python3 bench/pairs.py [--mb 1024] [--times 5]
import argparse
import array
import json
import os
import resource
import struct
import subprocess
import tempfile

arguments = argparse.ArgumentParser()
arguments.add_argument('--mb', type=int, default=1024)
arguments.add_argument('--times', type=int, default=5)
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
TILE = 1 << 18
values = [((i * 2654435761) % 65521 - 32760) / 4096 for i in range(TILE)]


def bits(dtype, v):
    """The codes of these values: fp32, fp16, or the upper halves of fp32."""
    if dtype == 'F16':
        return struct.pack('<%de' % len(v), *v)
    raw = array.array('f', v).tobytes()
    return raw if dtype == 'F32' else b''.join(raw[i + 2 : i + 4] for i in range(0, len(raw), 4))


def write(path, dtype, v):
    tile = bits(dtype, v)
    times = args.mb * 2**20 // len(tile)
    size = times * len(tile)
    item = 4 if dtype == 'F32' else 2
    head = json.dumps({'w': {'dtype': dtype, 'shape': [size // item], 'data_offsets': [0, size]}}).encode()
    head += b' ' * (-len(head) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(head)) + head)
        for _ in range(times):
            f.write(tile)
    return size


def seconds(*line):
    """Of the processor, and the most memory that any child has had."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


print('| dtype | GB | cat, GB/s | one thread, GB/s | share of reading | with 2 threads | with 4 | resident, MB |')
print('| --- | --- | --- | --- | --- | --- | --- | --- |')
with tempfile.TemporaryDirectory(prefix='halfulp-pairs-') as home:
    a, b = home + '/a.safetensors', home + '/b.safetensors'
    for dtype in ('F32', 'F16', 'BF16'):
        size = write(a, dtype, values) + write(b, dtype, [x * (1 + 2.0**-7) for x in values])
        seconds('cat', a, b)
        taken = [(seconds('cat', a, b)[0], *seconds(HALFULP, 'diff', a, b)) for _ in range(args.times)]
        read, work, peak = (min(t[i] for t in taken) for i in range(3))
        shares = [100 * read * t / work for t in (1, 2, 4)]
        print(
            '| %s | %.2f | %.1f | %.1f | %.0f %% | %.0f %% | %.0f %% | %.0f |'
            % (dtype, size / 1e9, size / read / 1e9, size / work / 1e9, *shares, peak / 1024),
            flush=True,
        )

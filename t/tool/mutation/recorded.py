# SPDX-License-Identifier: Apache-2.0
# What two runs recorded, byte by byte, without the program: what differs first.
import glob
import json
import os
import struct

CLOCKS = {'ms', 'wait_ms', 'samples_per_s', 'joules', 'joules_per_sample', 'watts', 'utilisation'}


def tensors(path):
    raw = open(path, 'rb').read()
    n = struct.unpack('<Q', raw[:8])[0]
    head = json.loads(raw[8 : 8 + n])
    return {
        k: (v['dtype'], v['shape'], raw[8 + n + v['data_offsets'][0] : 8 + n + v['data_offsets'][1]])
        for k, v in head.items()
        if k != '__metadata__'
    }


def table(path):
    rows = [l.rstrip('\n').split('\t') for l in open(path) if not l.startswith('#')]
    kept = [i for i, c in enumerate(rows[0]) if c not in CLOCKS]
    return [[r[i] for i in kept] for r in rows]


def first_call(old, new):
    """Of a traced step: the name of an input that differs, or the number of the first call whose output does; None."""
    a, b = tensors(old), tensors(new)
    calls = json.load(open(os.path.dirname(os.path.dirname(old)) + '/program-train.json'))
    name = {t['id']: t['name'] for t in calls['tensors']}
    made = {name[t] for c in calls['calls'] for t in c['out']}
    for t in sorted(a):
        if t not in made and a[t] != b.get(t):
            return t
    for c in calls['calls']:
        if any(a.get(name[t]) != b.get(name[t]) for t in c['out']):
            return c['id']
    return None


def effect(old, new):
    """What differs first in what two runs recorded: '' where nothing does."""
    for name in ('program-train.json', 'program-eval.json'):
        if json.load(open(old + '/' + name)) != json.load(open(new + '/' + name)):
            return name
    for path in sorted(glob.glob(old + '/trace/*.safetensors')):
        other = new + path[len(old) :]
        if not os.path.exists(other):
            return 'trace'
        first = first_call(path, other)
        if first is not None:
            return '%s %s' % (
                os.path.basename(path)[5:11].lstrip('0') or '0',
                'call %d' % first if isinstance(first, int) else 'input ' + first,
            )
    for path in sorted(
        glob.glob(old + '/*.tsv')
        + glob.glob(old + '/checkpoint/*')
        + glob.glob(old + '/exercise/*.tsv')
        + glob.glob(old + '/exercise/*.json')
        + glob.glob(old + '/exercise/checkpoint/*')
    ):
        other = new + path[len(old) :]
        if path.endswith('manifest.json'):
            continue
        if not os.path.exists(other):
            return path[len(old) + 1 :]
        same = (
            table(path) == table(other)
            if path.endswith('.tsv')
            else open(path, 'rb').read() == open(other, 'rb').read()
        )
        if not same:
            return path[len(old) + 1 :]
    return ''

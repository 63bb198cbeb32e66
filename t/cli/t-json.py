#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What --json prints keeps one contract, on inputs that are well and on those that are not (NaN, infinities, nothing at
# all): it is JSON without the words NaN and Infinity; a number that is not finite is the string nan, inf or -inf; rows
# of one array have the same keys, and an input that is not well has those of one that is; standard output that cannot
# be written is exit 4. Every command of commands.def that has --json is here.
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

known = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
os.chdir(tap.home())
nan, inf = float('nan'), float('inf')


def npy(name, values, shape=None):
    shape = shape or (len(values),)
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ''.join('%d, ' % n for n in shape)).ljust(117) + '\n'
    with open(name, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack('<%df' % len(values), *values))


npy('well.npy', [1, 2.5, -3, 0.1, 4, 5, 6, 7], (2, 4))
npy('ill.npy', [nan, inf, -inf, 0.1, 3e38, -3e38, 1e-45, 0], (2, 4))
npy('zero.npy', [0] * 8, (2, 4))
npy('none.npy', [], (0,))
SMALL = '--model mlp:width=0.03125 --data size=8,train=40,eval=8 --batch 8 --steps 3 --quiet'.split()
for run, more in (('well', []), ('ill', ['--optimizer', 'lr=1e30']), ('moved', ['--optimizer', 'lr=0.5'])):
    tap.halfulp('train', *SMALL, *more, run)
    tap.halfulp('analyze', run)
# Of moved the record says another state after the last step than the training has.
manifest, rows = json.load(open('moved/manifest.json')), open('moved/metrics.tsv').read().split('\n')
del manifest['files']['metrics.tsv']
json.dump(manifest, open('moved/manifest.json', 'w'))
rows[-2] = re.sub('0x[0-9a-f]{16}', '0x0123456789abcdef', rows[-2])
open('moved/metrics.tsv', 'w').write('\n'.join(rows))
# Names that one file has alone, steps that one lacks, texts, what is ignored; a run that holds and one that does not.
open('m1.tsv', 'w').write('step\tloss\tword\tgone\n1\t2.5\tx\t1\n2\t2\ty\t1\n')
open('m2.tsv', 'w').write('step\tloss\tword\tnew\n1\tnan\tx\t1\n3\t2\tz\t1\n2\t2\t5\t1\n')
tap.halfulp('baseline', 'well', '-o', 'base.tsv', '--reason', 'it is well')
seeds, orders = [], []
for seed in '1', '2', '3':
    tap.halfulp('train', *SMALL, '--seed', seed, 's' + seed)
    tap.halfulp('train', *SMALL, '--seed', seed, '--accumulate', 'chunk:8', 'o' + seed)
    for run in 's' + seed, 'o' + seed:
        tap.halfulp('analyze', run)
    seeds.append('s' + seed)
    orders += ['s' + seed, 'o' + seed]
tap.halfulp('baseline', *orders, '-o', 'statistics.tsv', '--reason', 'they are well', '--statistics')
tap.halfulp('baseline', *seeds, '-o', 'score.tsv', '--reason', 'they are well', '--score', 'loss')
DIGITS = [tap.TOP + '/examples/digits.onnx', '--data', tap.TOP + '/examples/digits.npz', '--policy', 'fp16,int8']
# The lines of a command, the first one of inputs that are well.
LINES = {
    'accumulate': ['--terms well.npy --format fp16,bf16', '--terms ill.npy --format fp16,bf16', '--terms zero.npy --format e4m3,fp16'],
    'advise': [tap.TOP + '/examples/digits.onnx --data ' + tap.TOP + '/examples/digits.npz --accept flips<=1% --format int8,fp16 --out advised'],
    'allreduce': ['well.npy --ranks 2..4', 'ill.npy --ranks 2..4', 'zero.npy --ranks 2..4'],
    'bench': ['why --device v100', 'why --device t4 --by call --policy float32', 'train --published'],
    'calc': ['1+2 1/3', '1/0 0/0 -- -1/0', '1e400'],
    'check': [
        'well.npy --baseline well.npy', 'ill.npy --baseline well.npy', 'well.npy --baseline ill.npy',
        'ill.npy --baseline ill.npy', 'moved --baseline base.tsv', 'm1.tsv --baseline m1.tsv', 'm2.tsv --baseline m1.tsv',
        'm2.tsv --baseline m1.tsv --rule gone:optional --rule w*:ignore', 'well --baseline base.tsv',
        'ill --baseline base.tsv', 'well --baseline statistics.tsv', 'ill --baseline statistics.tsv',
        'well ill --baseline score.tsv', 's1 s2 --baseline score.tsv', 'none --baseline none.tsv'],
    'compare': ['--policy float32,float16 --seeds 1 %s w' % ' '.join(SMALL[:-1]), '--policy float32,float16 --seeds 1 --optimizer lr=1e30 %s i' % ' '.join(SMALL[:-1])],
    'analyze': ['well', 'ill'],
    'diff': ['well ill', 'ill well', 'ill ill', 'well well', 'well moved', 'm1.tsv m2.tsv', 'well.npy ill.npy'],
    'formats': ['', 'nan inf', 'fp16 e8m0 e2m1'],
    'inspect': ['well.npy', 'ill.npy', 'zero.npy', 'none.npy', '--best-scale ill.npy'],
    'judge': ['relu --in x=well.npy --got well.npy', 'relu --in x=ill.npy --got ill.npy', 'relu --in x=zero.npy --got zero.npy'],
    'op': ['relu --in a=well.npy', 'relu --in a=ill.npy', 'list', 'relu --in a=well.npy --got ill.npy', 'relu --in a=ill.npy --as bound'],
    'plan': ['--by call --model width=0.1 --data size=9 --batch 3', '--model width=0.1 --data size=9 --batch 3 --device t4 --ranks 1', '--policy'],
    'probe': ['--model tc:hopper', '--model tc:volta', '--model tc:hopper,in=e4m3'],
    'round': ['0.1 1 --format fp16,mxfp4', 'nan inf --format fp16,mxfp4 -- -inf', '1e400 --format fp64,e8m0'],
    'tree': ['--backend cpu --n 4', '--backend cpu --n 1'],
    'validate': [' '.join(DIGITS)],
    'verify': ['well', 'ill', 'moved'],
    'train': [' '.join(SMALL[:-1]) + ' t', ' '.join(SMALL[:-1]) + ' --optimizer lr=1e30 u'],
    'report': ['well', 'ill'],
    'figures': ['--list'],
    'engines': ['well.npy ill.npy'],
    'merge': ['well.npy'],
    'doctor': [''],
}
WORDS = ('nan', 'inf', '-inf')


def refuse(word):
    raise ValueError('the bare word ' + word)


def kinds(value, at, found):
    """The keys of every object, by the path to it; FOUND[path] is a list of sets, one an object."""
    if isinstance(value, dict):
        found.setdefault(at, []).append(frozenset(value))
        for k, v in value.items():
            kinds(v, at + '.' + k, found)
    elif isinstance(value, list):
        for v in value:
            kinds(v, at + '[]', found)


NOT_NUMBERS = ('above_max',) # what rounding gives for a value that is far too large: inf, NaN or max


def words(value, found, key=''):
    if isinstance(value, str) and key not in NOT_NUMBERS:
        if re.fullmatch(r'[+-]?(nan|inf|infinity)', value, re.I) and value not in WORDS:
            found.append(value)
    for k, v in value.items() if isinstance(value, dict) else [(key, v) for v in value] if isinstance(value, list) else ():
        words(v, found, k)


def mode(line):
    """A line without the names of its inputs: lines of one mode print the same keys, whatever was found."""
    return re.sub(r'\b(well|ill|zero|none|moved|m[12]|s[12])\b', 'X', line)


has, first = [], {}
for c in known:
    if not re.search(r'^  --json\b', tap.halfulp('help', c, '--all').stdout, re.M):
        continue
    has.append(c)
    for line in LINES.get(c, []):
        ran = tap.halfulp(c, *line.split(' -- ')[0].split(), '--json', *(['--', *line.split(' -- ')[1].split()] if ' -- ' in line else []))
        what = '%s %s' % (c, line.replace(tap.TOP + '/', ''))
        if not ran.stdout:
            tap.ok(ran.returncode > 1 and ran.stderr.count('\n') == 1, '%s: refused in one line' % what, [str(ran.returncode), ran.stderr])
            continue
        try:
            told = json.loads(ran.stdout, parse_constant=refuse)
        except ValueError as why:
            tap.ok(False, what + ': JSON', str(why))
            continue
        bad, paths = [], {}
        words(told, bad)
        kinds(told, '', paths)
        bad += ['%s: keys %s are not in all rows' % (p, sorted(frozenset.union(*sets) - frozenset.intersection(*sets))) for p, sets in paths.items() if len(set(sets)) > 1]
        for p, sets in paths.items() if 'error' not in told else ():
            before = first.setdefault((c, mode(line), p), (line, sets[0]))
            if before[1] != sets[0]:
                bad.append('%s: keys %s are not those of %s' % (p, sorted(before[1] ^ sets[0]), before[0]))
        tap.none(bad, what + ': words and keys')
tap.none([c for c in has if c not in LINES], 'every command that has --json is here')
full = open('/dev/full', 'w')
for c in ('calc', 'inspect', 'formats', 'plan', 'op', 'probe', 'allreduce'):
    line = LINES[c][0].split()
    p = subprocess.run([tap.HALFULP, c, *line, '--json'], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True)
    tap.ok(p.returncode == 4 and p.stderr.count('\n') == 1, '%s: a full output is exit 4' % c, [str(p.returncode), p.stderr])
tap.finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# analyze says which tensors' errors have one direction: a cast that was chopped where it is declared to round to
# nearest is called biased, with any number of threads, and nothing else of the run is; chopping that the program
# declares is no alarm.
import json
import os
import struct
import sys

TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
NAME = 'dense1.w@bf16'
TRAIN = ['train', '--model', 'mlp', '--policy', 'mixed_bfloat16', '--data', 'digits:train=200', '--steps', '2',
         '--trace', 'steps=1', '--quiet']


def rewrite(path, change, tensor):
    """Replaces a recorded tensor's bytes by those that change() makes of the file's and of where tensors lie in it."""
    file = 'trace/step-000001.safetensors'
    name = os.path.join(path, file)
    raw = bytearray(open(name, 'rb').read())
    head = struct.unpack('<Q', raw[:8])[0]
    about = json.loads(raw[8:8 + head])

    def where(t):
        return slice(*(8 + head + x for x in about[t]['data_offsets']))

    raw[where(tensor)] = change(bytes(raw), where)
    open(name, 'wb').write(raw)
    manifest = json.load(open(path + '/manifest.json'))
    manifest['files'].pop(file)
    json.dump(manifest, open(path + '/manifest.json', 'w'))


def chop(path):
    """The cast tensor's codes become the upper halves of what was cast."""
    rewrite(path, lambda raw, where: b''.join(x[2:] for x, in struct.iter_unpack('4s', raw[where('dense1.w')])), NAME)


def rows(path):
    lines = [x.rstrip('\n').split('\t') for x in open(path + '/analysis/replay.tsv') if not x.startswith('#')]
    return {x[lines[0].index('tensor')]: dict(zip(lines[0], x)) for x in lines[1:]}


def biased(found):
    return sorted(k for k, x in found.items() if x['biased'] != '0')


halfulp(*TRAIN, 'sound')
halfulp('analyze', '--only', 'replay', 'sound')
sound = rows('sound')
ok(len(sound) > 50 and not biased(sound), 'no tensor of a run that rounds to nearest is biased', biased(sound))
ok(abs(float(sound[NAME]['outward_ulp_mean'])) < 0.02, 'the mean error of a cast is near 0', sound[NAME])

halfulp(*TRAIN, 'chopped')
chop('chopped')
said = halfulp('analyze', '--only', 'replay', 'chopped')
found = rows('chopped')
x = found[NAME]
ok(biased(found) == [NAME], 'the chopped cast is biased, and nothing else', biased(found))
ok(-0.52 < float(x['outward_ulp_mean']) < -0.48, 'towards zero, by half an ulp on the mean', x['outward_ulp_mean'])
ok(abs(float(x['signed_ulp_mean'])) < 0.02, 'and not to one side, since weights have both signs', x['signed_ulp_mean'])
ok(float(x['bias_t']) > 6.07 and float(x['bias_t_declared']) > 6.07, 'both statistics are above the alarm', x)
ok('errors of 1 tensor have one direction' in said.stdout, 'analyze says so', said.stdout)
whole = open('chopped/analysis/replay.tsv').read()
halfulp('analyze', '--only', 'replay', '--threads', '1', 'chopped')
ok(open('chopped/analysis/replay.tsv').read() == whole, 'one thread gives the same bytes')
halfulp('analyze', '--only', 'replay', '--sample', '2000', 'chopped')
ok(biased(rows('chopped')) == [NAME], 'a sample of 2000 shows it too', rows('chopped')[NAME])

# and so are differences between the runs
said = halfulp('diff', 'sound', 'chopped')
ok('tensor %s: ' % NAME in said.stdout and 'differences have one direction' in said.stdout, 'diff says so',
   said.stdout)
x = json.loads(halfulp('diff', '--json', 'sound', 'chopped').stdout)['tensors'][0]
ok(x['tensor'] == NAME and -0.55 < x['outward_ulp_mean'] < -0.45 and x['bias_t'] > 6.07 and
   abs(x['signed_ulp_mean']) < 0.05, 'towards zero, half an ulp of the second run on the mean', x)

# chopping that the program declares
program = json.load(open('chopped/program-train.json'))
number = next(t['id'] for t in program['tensors'] if t['name'] == NAME) if 'id' in program['tensors'][0] else \
    [t['name'] for t in program['tensors']].index(NAME)
for c in program['calls']:
    if number in c['out']:
        c['mode'] = 'RZ'
json.dump(program, open('chopped/program-train.json', 'w'))
manifest = json.load(open('chopped/manifest.json'))
manifest['files'].pop('program-train.json', None)
json.dump(manifest, open('chopped/manifest.json', 'w'))
halfulp('analyze', '--only', 'replay', 'chopped')
x = rows('chopped')[NAME]
ok(x['biased'] == '0' and float(x['outward_ulp_mean']) < -0.48,
   'declared chopping is no alarm, although errors have one direction', x)

# a product of which every result is four ulps too small: its own sums are done again
SUM = 'dense1.xw'
halfulp(*TRAIN, 'lowered')


def lowered(raw, where):
    codes = [code for code, in struct.iter_unpack('<H', raw[where(SUM)])]
    return struct.pack('<%dH' % len(codes), *(max(c & 0x7fff, 4) - 4 | c & 0x8000 for c in codes))


rewrite('lowered', lowered, SUM)
halfulp('analyze', '--only', 'replay', 'lowered')
x = rows('lowered')[SUM]
ok(x['biased'] == '1' and -4.1 < float(x['outward_ulp_mean']) < -3.9, 'a product four ulps too small is biased', x)
ok(min(float(x['bias_t']), float(x['bias_t_declared'])) > 6.07, 'beside its exact value and beside its own sums', x)
halfulp('analyze', '--only', 'replay', '--sample', 'all', 'lowered')
x = rows('lowered')[SUM]
ok(x['biased'] == '1' and float(x['bias_t_declared']) > 6.07, 'so it is where every element is judged', x)
finish()

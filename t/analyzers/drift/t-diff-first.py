# SPDX-License-Identifier: Apache-2.0
# The first line of diff and verify of a run that was changed on purpose, what verify says of the changed element, and
# which calls can be executed again: computed again from the files of the runs.
import json
import math
import os
import re
import shutil
import struct
import sys

from diff_runs import at, halfulp, real, train

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, none  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

single = train('single', '--policy', 'float32', '--steps', '4', '--trace', 'steps=0,2')
# verify: a changed element of one output, and calls whose operands were not recorded
path = at('changed')
shutil.copytree(single.path, path)
file = os.path.join(path, 'trace', 'step-000002.safetensors')
raw = bytearray(open(file, 'rb').read())
size = struct.unpack('<Q', raw[:8])[0]
head = json.loads(raw[8:8 + size])
place = 8 + size + head['dense2.xw']['data_offsets'][0] + 4 * 7
before = struct.unpack('<I', raw[place:place + 4])[0]
raw[place:place + 4] = struct.pack('<I', before ^ 1)
open(file, 'wb').write(raw)
m = json.load(open(os.path.join(path, 'manifest.json')))
m['files'].pop('trace/step-000002.safetensors')
json.dump(m, open(os.path.join(path, 'manifest.json'), 'w'))
r = halfulp('verify', '--trace', path)
call = next(c for c in single.calls if c['out'] and single.tensors[c['out'][0]]['name'] == 'dense2.xw')
rows = [x.split() for x in r.stdout.splitlines() if re.match(' *2 ', x)]
want = [
    '2', str(call['id']), 'matmul', 'dense2.xw', '7', '%.9g' % real(before ^ 1, 'fp32'),
    '%.9g' % real(before, 'fp32'), '0x%x' % (before ^ 1), '0x%x' % before, 'no'
]
elements = sum(math.prod(single.tensors[t]['shape']) for c in single.calls for t in c['out'])
last = '%s: %d calls of 2 steps executed again, %d elements compared, ' % (path, 2 * len(single.calls), 2 * elements)
none([r.stdout, r.stderr] if r.returncode != 1 or want not in rows or last not in r.stdout else [],
     'verify --trace: the changed element, its bits and those of the call; %d elements compared' % (2 * elements))

# The first line of diff and verify. One weight, one ulp off, in the last checkpoint; then in the state that a traced
# step began with


def first(*args):
    r = halfulp(*args)
    return r.returncode, (r.stdout.splitlines() or [''])[0]


def bend(run, name, tensor, number):
    """The last bit of one fp32 element of a file of the run; both values."""
    file = os.path.join(run, name)
    raw = bytearray(open(file, 'rb').read())
    head = json.loads(raw[8:8 + struct.unpack('<Q', raw[:8])[0]])
    at = 8 + struct.unpack('<Q', raw[:8])[0] + head[tensor]['data_offsets'][0] + 4 * number
    old = struct.unpack('<I', raw[at:at + 4])[0]
    raw[at:at + 4] = struct.pack('<I', old ^ 1)
    open(file, 'wb').write(raw)
    m = json.load(open(os.path.join(run, 'manifest.json')))
    m['files'].pop(name, None)
    json.dump(m, open(os.path.join(run, 'manifest.json'), 'w'))
    return struct.unpack('<f', struct.pack('<I', old))[0], struct.unpack('<f', struct.pack('<I', old ^ 1))[0]


def says(line, start, pair, end):
    """The line begins and ends so, and between them stand these two values."""
    m = re.fullmatch(re.escape(start) + r'(\S+) -> (\S+) \(relative \S+\)' + re.escape(end), line)
    return ([] if m and all(math.isclose(float(m.group(i + 1)), pair[i], rel_tol=1e-6) for i in (0, 1))
            and m.group(1) != m.group(2) else [line, start, end, pair])


weights = math.prod(next(t for t in single.tensors if t['name'] == 'dense2.w')['shape'])
path = at('state')
shutil.copytree(single.path, path)
pair = bend(path, 'checkpoint/step-000004.safetensors', 'dense2.w', 9)
bend(path, 'checkpoint/step-000004.safetensors', 'dense1.w_m', 3)  # moments follow from weights, which are told first
code, line1 = first('diff', single.path, path)
none(says(line1, 'checkpoint before step 4, tensor dense2.w: one element of %d, number 9, is one ulp of fp32 off: '
          % weights, pair,
          '. Most likely cause: the arithmetic of a call, or other weights to begin with, since settings and programs'
          ' are the same; traces of one step in both runs would say which') + [x for x in (code,) if x != 1],
     'diff: one weight of a checkpoint, one ulp off, in the first line')
# With another version or machine that is the cause, and with a setting as well it is the setting
for name, value in (
    ('halfulp_version', '9.9'),
    ('compiler', 'cc 1'),
    ('simd', 'none'),
    ('backend', 'cuda'),
    ('device', 'a GPU'),
    ('lr', 0.5),
):
    other = at('other-' + name)
    shutil.copytree(path, other)
    m = json.load(open(other + '/manifest.json'))
    for place in (m, m['config']):
        if name in place or name == 'device' and place is m:
            place[name] = value
    json.dump(m, open(other + '/manifest.json', 'w'))
    code, line1 = first('diff', single.path, other)
    shown = 'optimizer:lr' if name == 'lr' else name
    want = '. Most likely cause: another %s: %s' % ('setting' if name == 'lr' else 'version or machine', shown)
    none([line1, want] if want not in line1 or code != 1 else [], 'diff: %s is another one' % name)
path = at('began')
shutil.copytree(single.path, path)
pair = bend(path, 'trace/step-000000.safetensors', 'dense2.w', 9)
code, line1 = first('diff', single.path, path)
none(
    says(
        line1, 'step 0, tensor dense2.w: one element of %d, number 9, is one ulp of fp32 off: ' % weights, pair,
        '. Most likely cause: other weights to begin with, since settings and programs are the same'
    )
    + [x for x in (code,) if x != 1],
    'diff: one weight that a training began with',
)


def wrong_digest(run, step):
    """Another digest in metrics.tsv behind a step."""
    name = os.path.join(run, 'metrics.tsv')
    rows = open(name).read().split('\n')
    column = next(r for r in rows if r.startswith('step')).split('\t').index('digest')
    for i, row in enumerate(rows):
        if row.split('\t')[0] == str(step):
            cells = row.split('\t')
            cells[column] = '0x0123456789abcdef'
            rows[i] = '\t'.join(cells)
    open(name, 'w').write('\n'.join(rows))
    m = json.load(open(os.path.join(run, 'manifest.json')))
    m['files'].pop('metrics.tsv')
    json.dump(m, open(os.path.join(run, 'manifest.json'), 'w'))


traced = Tensors(os.path.join(single.path, 'trace/step-000002.safetensors'))
dot = next(i for i, x in enumerate(traced['input.x']) if x)  # a pixel that is not black
off = 'step 2, tensor %s: one element of %%d, number %d, is one ulp of fp32 off: '
for name, step, file, tensor, start, end in (
    (
        'verify0', 0, 'trace/step-000000.safetensors', 'dense2.w',
        'step 0, tensor dense2.w: one element of %d, number 9, is one ulp of fp32 off: ' % weights,
        ': the training began with other weights than were recorded'
    ),
    (
        'verify2',
        2,
        'trace/step-000002.safetensors',
        'dense2.xw',
        'step 2, call %d (matmul, layer dense2), tensor dense2.xw: one element of %%d, number 9, is one ulp of fp32'
        ' off: '
        % next(c for c in single.calls if single.tensors[c['out'][0]]['name'] == 'dense2.xw')['id'],
        '; all that the call read is as recorded, so its arithmetic is another one',
    ),
    (
        'verify4', 2, 'trace/step-000002.safetensors', 'dense2.w', off % ('dense2.w', 9),
        ': the step began with another state'
    ),
    (
        'verify5', 2, 'trace/step-000002.safetensors', 'input.x', off % ('input.x', dot),
        ': the step read other input data than were recorded'
    ),
    (
        'verify3', 3, 'checkpoint/step-000004.safetensors', 'dense2.w',
        'step 3, tensor dense2.w: one element of %d, number 9, is one ulp of fp32 off: ' % weights,
        ' in the state behind step 3; that step was not traced, and a run with --trace steps=3 names the call'
    ),
):
    path = at(name)
    shutil.copytree(single.path, path)
    pair = bend(path, file, tensor, dot if tensor == 'input.x' else 9)
    wrong_digest(path, step)
    n = math.prod(next(t for t in single.tensors if t['name'] == tensor)['shape'])
    code, line1 = first('verify', path)
    none(says(line1, start % n if '%d' in start else start, pair[::1], end) + [x for x in (code,) if x != 1],
         'verify: the first line, %s of step %d' % (tensor, step))
path = at('verify1')
shutil.copytree(single.path, path)
wrong_digest(path, 1)
code, line1 = first('verify', path)
want = (
    'step 1 is the first that differs, and it was not traced: a run with --trace steps=1 names the call; %s runs the'
    ' same program now, so the arithmetic of a call is another one' % path
)
none([line1, want] if line1 != want or code != 1 else [], 'verify: a step that was not traced, and how to trace it')

some = train('some', '--policy', 'float32', '--steps', '2', '--trace', 'steps=1', '--trace', 'dense2.*,relu1.*')
there = some.trace(1)
whole = [c for c in some.calls if all(some.tensors[t]['name'] in there for t in c['in'] + c['out'])]
n = sum(math.prod(some.tensors[t]['shape']) for c in whole for t in c['out'])
r = halfulp('verify', '--trace', some.path)
want = '%d calls of 1 steps executed again, %d elements compared, 0 differ; %d calls were not recorded whole' % (
    len(whole), n, len(some.calls) - len(whole)
)
none(
    [r.stdout, r.stderr, want] if r.returncode or want not in r.stdout or not whole else [],
    'and only calls are executed again whose operands and results were recorded: %d of %d'
    % (len(whole), len(some.calls)),
)
finish()

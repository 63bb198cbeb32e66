#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# check and diff on metrics of anyone's, what they write for CI, constants of ONNX models, two runs, and their memory.
import json
import os
import struct
import sys
import xml.etree.ElementTree

sys.path[1:1] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool')]
import onnxfile  # noqa: E402
from file_measures import agrees, check, f32, measure, refused, run, safetensors  # noqa: E402
from tap import HALFULP, finish, ok  # noqa: E402

safetensors('o.safetensors', {'w': f32(4, 2, 1), 'grad.a': f32(1, 1, 1), 'grad.b': f32(1, 1, 1),
    'ids': ('I64', [2], [3, 4])})
safetensors('n.safetensors', {'w': f32(4, 2, 1.5), 'grad.a': f32(1, 1, 1 + 2 ** -10),
    'grad.b': f32(1, 1, 1 + 2 ** -9), 'ids': ('I64', [2], [3, 4])})

# Metrics
series = [(s, 1 / (s + 1), ('a', 'b')[s % 2]) for s in range(8)]
open('m.csv', 'w').write('Step,loss,"the ""tag"""\n' + ''.join('%d,%r,"%s"\n' % x for x in series))
open('m.tsv', 'w').write('# note\nstep\tloss\tthe "tag"\n' + ''.join('%d\t%r\t%s\n' % x for x in reversed(series)))
open('m.jsonl', 'w').write(''.join(json.dumps({'step': s, 'loss': v, 'the "tag"': t}) + '\n' for s, v, t in series))
open('long.csv', 'w').write('name,step,value\r\n' + ''.join('loss,%d,%r\r\n"the ""tag""",%d,%s\r\n' % (s, v, s, t)
    for s, v, t in series))
for other in ('m.tsv', 'm.jsonl', 'long.csv'):
    got = run('diff', 'm.csv', other)
    ok(got[0] == 0 and 'in 2 names' in got[1], 'metrics: %s is the same as the CSV' % other, got)
moved_by = {3: 1e-4, 6: 1e-3}
open('n.jsonl', 'w').write(''.join(json.dumps({'step': s, 'loss': v + moved_by.get(s, 0),
    'the "tag"': 'z' if s == 5 else t}) + '\n' for s, v, t in series))
got = run('diff', 'm.jsonl', 'n.jsonl', '--json')
rows = {r['name']: r for r in json.loads(got[1])['rows']}
want = measure([v for _, v, _ in series], [v + moved_by.get(s, 0) for s, v, _ in series], 'F64')
ok(not agrees(rows['loss'], want) and rows['loss']['step'] == '6', 'a series has every measure, and its worst step',
    (rows['loss'], agrees(rows['loss'], want)))
ok(rows['the "tag"']['differ'] == 1 and rows['the "tag"']['step'] == '5' and rows['the "tag"']['new'] == 'z'
    and rows['the "tag"']['rel'] is None, 'of a series of texts those that differ', rows)
ok(check('loss: rel <= 1.001e-3', '*: ignore', old='m.jsonl', new='n.jsonl')[0] == 0
    and check('loss: rel <= 0.999e-3', '*: ignore', old='m.jsonl', new='n.jsonl')[0] == 1, 'rules hold of series')
ok(check('*: rel <= 1', old='m.jsonl', new='n.jsonl')[0] == 1, 'a number says nothing of texts')
open('short.jsonl', 'w').write(''.join(open('m.jsonl').readlines()[:-2]))
got = check(old='m.jsonl', new='short.jsonl')
ok(got[0] == 1 and '2 steps are missing and 0 are new, 6 among them' in got[1][0], 'steps that are missing', got[2])
ok(check('*: optional, exact', old='m.jsonl', new='short.jsonl')[0] == 0, 'which a rule may allow')
open('nan.jsonl', 'w').write(''.join('{"step": %d, "loss": %s, "the \\"tag\\"": "%s"}\n'
    % (s, 'NaN' if s == 4 else repr(v), t) for s, v, t in series))
got = check('loss: rel <= 1', old='m.jsonl', new='nan.jsonl')
ok(got[0] == 1 and 'not finite' in got[1][0] and 'at step 4' in got[2] and check(old='nan.jsonl',
    new='nan.jsonl')[0] == 0, "Python's NaN in JSON lines", got[2])
open('twice.csv', 'w').write('step,loss\n1,2\n1,3\n')
refused(3, 'rows 1 and 2 both have loss at step 1', 'one name twice at one step', 'diff', 'twice.csv', 'm.csv')
open('runs.csv', 'w').write('step,seen,loss\n1,10,2\n1,20,3\n')
ok(run('diff', 'runs.csv', 'runs.csv', '--step', 'seen')[0] == 0, '--step names another column')
refused(3, "has no sean, which --step names", 'which has to be there', 'diff', 'runs.csv', 'runs.csv', '--step', 'sean')
refused(2, '--step has no effect', '--step between tensors', 'diff', 'o.safetensors', 'n.safetensors', '--step', 'x')
for name, text, why in (('cells', 'step,loss\n1,2\n2\n', 'row 2 has 1 cells and the header 2'),
    ('much', 'step,loss\n1,2,3\n', 'more cells'), ('names', 'a,a\n1,2\n', 'the name a twice'),
        ('quote', 'a,b\n"1,2\n', 'not closed'), ('empty', '', 'no row in it'), ('json', '{"step": 1\n', 'row 1'),
            ('header', 'step,loss\n', 'no value in it')):
    open('bad-' + name, 'w').write(text)
    refused(3, why, 'metrics: ' + name, 'diff', 'bad-' + name, 'm.csv')

# For CI
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--format', 'junit')
tree = xml.etree.ElementTree.fromstring(out)
ok(code == 1 and tree.get('tests') == '4' and tree.get('failures') == '3'
    and len(tree.findall('testcase/failure')) == 3 and tree.find('testcase').get('name') == 'w', '--format junit', out)
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--json')
j = json.loads(out)
ok(code == 1 and j['failed'] == 3 and [r['ok'] for r in j['rows']] == [False] * 3 + [True]
    and j['rows'][0]['abs'] == .5 and 'bound' not in j, '--json', out)
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--format', 'github')
lines = out.splitlines()
ok(code == 1 and len(lines) == 5 and lines[0].startswith('::error title=halfulp check::w, [')
    and '; 3 of 4 names failed' in lines[0] and lines[1].startswith('::error title=w::l2 0.109109, and not <= ')
        and '%0AF32[3]: 1 of 3 values differ' in lines[1]
            and lines[4].startswith('::notice title=halfulp check::3 of 4 names failed'), '--format github', out)
safetensors('u1.safetensors', {'w': f32(1, 2, 3)})
safetensors('u2.safetensors', {'w': f32(1, 2 + 2.0 ** -22, 3)})
code, out, _ = run('check', 'u2.safetensors', '--baseline', 'u1.safetensors', '--rule', '*: exact')
ok(code == 1
    and out.splitlines()[0].startswith('# w, [1]: one value of 3 is one ulp of fp32 off, 2 -> 2.00000024 (rel '
        '7.95e-08): ') and out.splitlines()[0].endswith('; 1 of 1 names failed'),
            'one weight, one ulp off, is named as that in the first line', out)


# ONNX: constants by name, those of Constant nodes too; the second of one name in a graph inside gets a number
def model(path, w, c, inner=(1.0,)):
    g = onnxfile.Graph(onnxfile.graph([onnxfile.node('Constant', '', 'c',
        value=onnxfile.floats('c', [len(inner)], list(inner)))], [], [], [onnxfile.value('c')]))
    onnxfile.write(path, onnxfile.graph([onnxfile.node('Gemm', 'x w', 'y'),
        onnxfile.node('Constant', '', 'c', value=onnxfile.floats('c', [2], c)),
            onnxfile.node('If', 'b', 'z', then_branch=g)],
                                        [onnxfile.floats('w', [2, 2], w), onnxfile.ints('n', [2], [3, 4])],
                                            [onnxfile.value('x'), onnxfile.value('b')], [onnxfile.value('y')]))


model('m1.onnx', [1, 2, 3, 4], [0.5, 0.25])
model('m2.onnx', [1, 2, 3, 4 + 2.0 ** -21], [0.5, 0.25])
model('m3.onnx', [1, 2, 3, 4], [0.5, 0.25], (2.0,))
code, out, err = run('check', 'm1.onnx', '--baseline', 'm1.onnx', '--json')
ok(code == 0 and [(r['name'], r['old_dtype'], r['shape']) for r in sorted(json.loads(out)['rows'],
    key=lambda r: r['name'])] == [('c', 'F32', [2]), ('c#2', 'F32', [1]), ('n', 'I64', [2]), ('w', 'F32', [2, 2])],
        'the constants of an ONNX model', out + err)
code, out, err = run('check', 'm2.onnx', '--baseline', 'm1.onnx', '--rule', '*: exact')
ok(code == 1
    and out.splitlines()[0].startswith('# w, [1,1]: one value of 4 is one ulp of fp32 off, 4 -> 4.00000048 '),
        'one weight of a model', out + err)
code, out, err = run('diff', 'm1.onnx', 'm3.onnx', '--json')
ok(code == 1 and [(r['name'], r['old'], r['new']) for r in json.loads(out)['rows']
    if r['differ']] == [('c#2', 1.0, 2.0)], 'a constant of a graph inside', out + err)
open('bad.onnx', 'wb').write(open('m1.onnx', 'rb').read()[:-9])
refused(3, 'bad.onnx', 'a model that is cut short', 'check', 'bad.onnx', '--baseline', 'm1.onnx')
many = {'a%%b:c,%d' % i: f32(1) for i in range(14)}
safetensors('y1.safetensors', many)
safetensors('y2.safetensors', {k: f32(2) for k in many})
lines = run('check', 'y2.safetensors', '--baseline', 'y1.safetensors', '--format', 'github')[1].splitlines()
ok(len(lines) == 11 and lines[1].startswith('::error title=a%25b%3Ac%2C0::')
    and lines[9] == '::error title=halfulp check::6 more failed, the worst of which are above',
        'ten annotations, and none is cut off by what is in a name', lines)
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--format', 'gitlab')
j = json.loads(out)
ok(code == 1 and len(j) == 4 and j[0]['severity'] == 'critical' and all(set(x) == {'description', 'check_name',
    'fingerprint', 'severity', 'location'} and x['location'] == {'path': 'n.safetensors', 'lines': {'begin': 1}}
        and x['severity'] in ('major', 'critical') for x in j) and len({x['fingerprint'] for x in j}) == 4
            and j[1]['description'].startswith('w: l2 ') and j[0]['description'].startswith('w, ['),
                '--format gitlab', out)
ok(json.loads(run('check', 'o.safetensors', '--baseline', 'o.safetensors', '--format', 'gitlab')[1]) == [],
    'which is an empty list where nothing failed')
refused(2, '--format', 'a format that is none', 'check', 'n.safetensors', '--baseline', 'o.safetensors', '--format',
    'yaml')
refused(2, "unknown or ambiguous option '--bless'", 'check --bless',
    'check', 'n.safetensors', '--baseline', 'o.safetensors', '--bless')

# Two runs by their checkpoints, traces and metrics
for name, seed in (('r1', '1'), ('r1b', '1'), ('r2', '2')):
    run('train', '--model', 'mlp:width=0.05', '--data', 'size=8,train=48,eval=16', '--batch', '16',
        '--steps', '3', '--trace', 'steps=2', '--quiet', '--seed', seed, name)
ok(check(old='r1', new='r1b')[0] == 0, 'two runs of one seed hold, whatever time they took')
got = check('metrics/loss: rel <= 0.5', 'trace/*: ignore', 'checkpoint/*: ignore', 'metrics/digest: ignore',
    'metrics/*: rel <= 9', old='r1', new='r2')
ok(got[0] == 0 and check(old='r1', new='r2')[0] == 1, 'two runs of two seeds do by rules alone', got[2])
run('analyze', 'r1')
refused(3, 'no halfulp baseline', 'a run against a table that is no baseline', 'check', 'r1', '--baseline', 'm.csv')
run('baseline', 'r1', '-o', 'base.tsv', '--reason', 'x')
refused(3, 'is the baseline of a run', "a file against a run's baseline", 'check', 'm.csv', '--baseline', 'base.tsv')
refused(2, '--rule has no effect', "--rule beside a run's baseline", 'check', 'r1', '--baseline', 'base.tsv',
    '--rule', '*: exact')

# Memory: what is read does not stay
def large(path, last):
    head = json.dumps({'x': {'dtype': 'F32', 'shape': [1 << 25], 'data_offsets': [0, 1 << 27]}}).encode()
    head += b' ' * (-len(head) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(head)) + head)
        for i in range(127):
            f.write(struct.pack('<f', 1 + i) * (1 << 18))
        f.write(struct.pack('<f', last) * (1 << 18))


large('l1.safetensors', 1)
large('l2.safetensors', 2)
for two, want in (('l1.safetensors', 0), ('l2.safetensors', 1)):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open('large.out', os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.execv(HALFULP, [HALFULP, 'diff', 'l1.safetensors', two])
    _, status, usage = os.wait4(pid, 0)
    asan = os.environ.get('ASAN_OPTIONS') or b'__asan_init' in open(HALFULP, 'rb').read()
    ok(os.waitstatus_to_exitcode(status) == want and (asan or usage.ru_maxrss < 90000),
        'two files of 128 MiB in %d KB of memory' % usage.ru_maxrss, open('large.out').read())
ok('  262144  ' in open('large.out').read(), 'of which the last 2^18 values differ', open('large.out').read())
finish()

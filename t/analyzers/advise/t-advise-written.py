#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The model that advise writes is read again and computes what the policy file predicts; with onnxruntime the file runs
# there too, input by input; then what is refused, and modules of PyTorch by their names. HALFULP names the program.
import json, os, re

from advised_model import *

# The written models compute what their policies predict, here and elsewhere
try:
    import numpy, onnxruntime
except ImportError:
    onnxruntime = None
vnni = os.path.exists('/proc/cpuinfo') and 'vnni' in open('/proc/cpuinfo').read()
# what another code may change
STEP = {
    'int8': 2e-2,
    'int8:biases': 2e-2,
    'int8:sym:tensor': 2e-2,
    'bf16': 1e-2,
    'fp16': 2e-3,
    'e4m3:static': 0.1,
    'int4:g8,int8': 2e-2,
}
FILES = ['advice.json', 'block_list.txt', 'keep.py', 'model.onnx', 'policy.json', 'trtexec.txt']
TENSORRT = {
    'float32': 'fp32',
    'fp16': 'fp16',
    'bf16': 'bf16',
    'int8': 'int8',
    'int8:biases': 'int8',
    'int8:sym:tensor': 'int8',
}
for formats, step in STEP.items():
    out, calibration = formats.replace(':', '-').replace(',', '-'), (
        [] if formats in ('bf16', 'fp16') else ['--calibrate', 'a.npz']
    )
    got = tap.halfulp(
        'advise',
        'm.onnx',
        '--data',
        'x.npz',
        '--accept',
        'rel_l2<=0.04' if ',' in formats else 'rel_l2<=1',
        '--format',
        formats,
        '--out',
        out,
        '--json',
        *calibration
    )
    if not tap.ok(got.returncode == 0 and sorted(os.listdir(out)) == FILES, '%s: its files' % formats, got.stderr):
        continue
    schemes = {n['node']: n['scheme'] for n in json.loads(got.stdout)['nodes']}
    with open(out + '/policy.json') as file:
        written = json.load(file)
    lists = {}
    with open(out + '/block_list.txt') as file:
        exec(file.read(), lists)
    with open(out + '/keep.py') as file:
        compile(file.read(), 'keep.py', 'exec')
    with open(out + '/advice.json') as file, open(out + '/trtexec.txt') as lines:
        tap.ok(file.read() == got.stdout.rstrip('\n'), '%s: advice.json is what --json prints' % formats)
        said = [line.rstrip() for line in lines if not line.startswith('#')]
    layers = ','.join('%s:%s' % (n, TENSORRT[s]) for n, s in schemes.items() if s in TENSORRT)
    used = [f for f in ('fp16', 'bf16', 'int8') if any(TENSORRT.get(s) == f for s in schemes.values())]
    rest = '--precisionConstraints=obey --layerPrecisions=*:fp32' + (',' + layers if layers else '')
    want = ' '.join(['--' + f for f in used] + [rest])
    tap.ok(said == [want], "%s: trtexec's options" % formats, said)
    low = {n: s for n, s in schemes.items() if s != 'float32'}
    with open(out + '/advice.json') as file:
        proven = json.load(file)
    block, quantised = proven['block_list'], proven['nodes_to_quantize']
    asked = [formats == 'fp16', 'int8' in formats]
    tap.ok(written['nodes'] == low and [b is not None for b in (block, quantised)] == asked,
           '%s: the policy names the nodes, and lists of the tools that were asked for are proven' % formats, proven)
    told = lambda v, plan: v['nodes'] if v and v['keeps'] else None if v else plan
    tap.ok(lists.get('nodes') == told(quantised, [n for n in schemes if n in low]),
           '%s: nodes_to_quantize is defined where it keeps the budget, or where no tool was tried' % formats, lists)
    tap.ok(lists.get('block_list') == told(block, [n for n in schemes if n not in low]),
           '%s: and so is block_list' % formats, lists)
    got = tap.halfulp(
        'validate',
        'm.onnx',
        '--data',
        'x.npz',
        '--policy',
        './%s/policy.json' % out,
        '--exact',
        '0',
        '--outputs',
        out + '/o',
        *calibration
    )
    name = next(n for n in os.listdir(out + '/o') if 'policy' in n)
    want, base = outputs(out + '/o/' + name)['y'][1], outputs(out + '/o/float32.npz')['y'][1]
    decided = lambda y: [max(range(5), key=lambda j: (y[i * 5 + j], -j)) for i in range(N)]

    def compare(y, who, most):
        """Decisions are those predicted; one at most may differ, where its margin is less than the two computations
        are apart."""
        apart = max(abs(a - b) for a, b in zip(y, want))
        near = []
        for i, (a, b) in enumerate(zip(decided(y), decided(want))):
            if a != b:
                near.append('input %d: margin %.3g' % (i, abs(want[i * 5 + b] - want[i * 5 + a])))
        close = all(float(line.split()[-1]) <= 2 * apart for line in near)
        tap.ok(
            apart <= most and len(near) <= 1 and close,
            '%s: %s decides as predicted on %d of %d inputs; largest difference %.2g'
            % (formats, who, N - len(near), N, apart),
            near,
        )

    got = tap.halfulp(
        'validate',
        out + '/model.onnx',
        '--data',
        'x.npz',
        '--policy',
        'float32',
        '--exact',
        '0',
        '--outputs',
        out + '/r',
    )
    if tap.ok(got.returncode == 0, '%s: the written model is read again' % formats, got.stderr):
        own = [n for n in os.listdir(out + '/r') if 'typed' in n] or ['float32.npz']
        compare(outputs(out + '/r/' + own[0])['y'][1], 'the written model', 1e-6 if formats[0] != 'e' else 1e-5)
    if not onnxruntime:
        tap.skip('%s: the written model in onnxruntime' % formats, 'onnxruntime is not installed')
        continue
    level = onnxruntime.GraphOptimizationLevel
    for graph_level, said in ((level.ORT_DISABLE_ALL, 'off'), (level.ORT_ENABLE_ALL, 'on'))[
        : 2 if 'biases' in formats else 1
    ]:
        if said == 'on' and not vnni:
            tap.skip('%s: onnxruntime, graph optimisations on' % formats,
                     'without VNNI its products of codes saturate, as pairs16 says')
            continue
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = graph_level
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(out + '/model.onnx', options, providers=['CPUExecutionProvider'])
        y = session.run(None, {'x': numpy.array(x, dtype=numpy.float32).reshape(N, 2, 4, 4)})[0]
        compare([float(v) for v in y.reshape(-1)], 'onnxruntime, graph optimisations %s,' % said, step)

npz('one.npz', x=([1, 2, 4, 4], x[:32]))
write(
    'loose.onnx',
    graph([node('MatMul', 'x w2', 'y')], [floats('w2', [4, 5], draw(20, 1))], [value('x', ['n', 4])], [value('y')]),
    opset=19,
)
npz('loose.npz', x=([6, 4], draw(24, 1)))
write(
    'old.onnx',
    graph(
        [node('MatMul', 'x w2', 'y', name='fc')],
        [floats('w2', [4, 5], draw(20, 1))],
        [value('x', ['n', 4])],
        [value('y')],
    ),
    opset=12,
)
write('none.onnx', graph([node('Relu', 'x', 'y', name='r')], [], [value('x', ['n', 4])], [value('y')]))
for what, args, code, pattern in (
    ('time of no device', ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--by', 'time'], 2, '--device'),
    ('a device without time', ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--device', 't4'], 2, '--by'),
    ('a cost that is none', ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--by', 'love'], 2, 'bytes or time'),
    ('no budget', ['m.onnx', '--data', 'x.npz'], 2, '--accept'),
    ('no data', ['m.onnx', '--accept', 'sqnr>=3'], 2, '--data'),
    ('no model', ['--data', 'x.npz'], 2, 'one model'),
    (
        'float32 beside itself',
        ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--format', 'float32'],
        2,
        'float32',
    ),
    (
        'dynamic scales',
        ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--format', 'int8:dynamic'],
        2,
        'dynamic',
    ),
    ('fp8 without a word', ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--format', 'fp8'], 2, 'fp8:static'),
    ('a format that is none', ['m.onnx', '--data', 'x.npz', '--accept', 'sqnr>=3', '--format', 'int9'], 2, 'int9'),
    ('one input', ['m.onnx', '--data', 'one.npz', '--accept', 'sqnr>=3'], 3, 'two inputs'),
    ('nothing to decide', ['none.onnx', '--data', 'loose.npz', '--accept', 'sqnr>=3'], 4, 'nothing to decide'),
    (
        'operators that are too old',
        ['old.onnx', '--data', 'loose.npz', '--accept', 'sqnr>=3', '--format', 'int8', '--out', 'old'],
        4,
        'version 13',
    ),
):
    got = tap.halfulp('advise', *args)
    tap.ok(got.returncode == code and not got.stdout and got.stderr.count('\n') == 1 and pattern in got.stderr,
           '%s: exit %d, one line' % (what, code), '%d %s %s' % (got.returncode, got.stderr, got.stdout))
tap.ok(not (os.path.exists('old') and os.listdir('old')), 'and nothing is half written')
got = tap.halfulp(
    'advise', 'loose.onnx', '--data', 'loose.npz', '--accept', 'sqnr>=3', '--format', 'bf16', '--out', 'loose'
)
read = tap.halfulp('validate', 'loose/model.onnx', '--data', 'loose.npz', '--policy', 'fp16', '--exact', '0')
tap.ok(
    got.returncode == read.returncode == 0,
    'a node without a name goes by that of its first output',
    got.stderr + read.stderr,
)
# Modules of PyTorch, by the names that its exporter gives nodes
names = ['/layer1/fc/MatMul', 'head/MatMul', '/MatMul_1', 'plain']
write(
    'named.onnx',
    graph(
        [node('MatMul', '%s w2' % a, b, name=n) for n, a, b in zip(names, 'xabc', 'abcy')],
        [floats('w2', [4, 4], draw(16, 1))],
        [value('x', ['n', 4])],
        [value('y', ['n', 4])],
    ),
    opset=19,
)
got = tap.halfulp(
    'advise',
    'named.onnx',
    '--data',
    'loose.npz',
    '--accept',
    'rel_l2<=0',
    '--format',
    'bf16',
    '--out',
    'named',
    '--json',
)
with open('named/keep.py') as file:
    modules = re.findall('^    "([^"]*)",$', file.read(), re.M)
tap.ok(modules == ['layer1.fc', 'head', 'MatMul_1', 'plain'], 'modules that stay in float32: %s' % modules, got.stderr)
tap.finish()

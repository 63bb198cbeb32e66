#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The lists that advise writes, given to the tools that read them: a feed-forward block of T5 whose residual leaves
# float16's range, products that share their weights, and a chain of products. The converter's file, run by ONNX's
# reference evaluator, and the quantizer's, run by onnxruntime, keep the budget on the inputs held apart; where no list
# does, none is defined. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    from onnxconverter_common import float16 as occ
    from onnx.reference import ReferenceEvaluator
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
r = numpy.random.default_rng(39)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT


def sqnr(a, b):
    return -20 * numpy.log10(max(rel(a, b), 1e-30)) if numpy.isfinite(a).all() else -numpy.inf


# x² leaves float16's range, and the mean of the squares brings it back: Pow and ReduceMean help only together.
norm = [
    N('MatMul', ['x', 'A'], ['h'], name='up'),
    N('Mul', ['h', 'k'], ['g'], name='scale'),
    N('Pow', ['g', 'two'], ['p'], name='square'),
    N('ReduceMean', ['p'], ['v'], name='mean', axes=[-1], keepdims=1),
    N('Add', ['v', 'eps'], ['w'], name='eps'),
    N('Sqrt', ['w'], ['s'], name='root'),
    N('Div', ['g', 's'], ['n'], name='norm'),
    N('MatMul', ['n', 'B'], ['y'], name='down'),
]
tied = [
    N('MatMul', ['x', 'A'], ['h'], name='m0'),
    N('Relu', ['h'], ['t'], name='act'),
    N('MatMul', ['t', 'A'], ['u'], name='m1'),
    N('MatMul', ['u', 'B'], ['y'], name='head'),
]
# Codes of weights are the largest there are, and sums of two products saturate on a processor without VNNI.
even = [
    N('MatMul', ['x', 'A'], ['h'], name='m0'),
    N('Relu', ['h'], ['t'], name='act'),
    N('MatMul', ['t', 'B'], ['u'], name='m1'),
    N('MatMul', ['u', 'D'], ['y'], name='head'),
]
signs = lambda *s: numpy.where(R(*s) > -0.5, 1, -1).astype(f32) / 8
weights = {'A': R(16, 64), 'B': signs(64, 64), 'D': R(64, 5)}
CASES = {
    'a norm whose squares overflow': (
        norm,
        {'A': R(16, 16), 'B': R(16, 5), 'k': f32(300), 'two': f32(2), 'eps': f32(1e-5)},
    ),
    'products with the same weights': (tied, {'A': R(16, 16) / 4, 'B': R(16, 5)}),
    'products of even weights': (even, weights),
    'products of even weights and a wide budget': (even, weights),
}
for name, (nodes, held) in CASES.items():
    LEAST = 20 if 'wide' in name else 30  # dB
    model(nodes, {'x': (FLOAT, ['n', 16])}, ['y'], held)
    data = {'x': R(32, 16)}
    numpy.savez('data.npz', **data)
    out = name.split()[1]
    got = tap.halfulp(
        *'advise float.onnx --data data.npz --format int8,fp16 --json --out'.split(),
        out,
        *('--accept', 'sqnr>=%d' % LEAST, '--accept', 'nonfinite<=0'),
    )
    if not tap.ok(got.returncode == 0, name + ': advise finds a plan', got.stderr):
        continue
    said = json.loads(got.stdout)
    lists = {}
    with open(out + '/block_list.txt') as f:
        exec(f.read(), lists)
    apart = {'x': data['x'][16:]}
    float32 = run('float.onnx', [apart])['y']
    for level in ('ORT_DISABLE_ALL', 'ORT_ENABLE_ALL'):
        y = run(out + '/model.onnx', [apart], level)['y']
        tap.ok(sqnr(y, float32) >= LEAST, '%s: model.onnx keeps the budget, %s' % (name, level), sqnr(y, float32))
    block, quantised = said['block_list'], said['nodes_to_quantize']
    tap.ok(block['keeps'] and lists['block_list'] == block['nodes'], name + ': there is a block_list', block)
    m = quiet(occ.convert_float_to_float16, onnx.load('float.onnx'), node_block_list=lists['block_list'])
    y = ReferenceEvaluator(m).run(None, {'x': apart['x'].astype(numpy.float16)})[0].astype(numpy.float64)
    told = block['held_apart']['sqnr_db']
    tap.ok(
        sqnr(y, float32) >= LEAST and abs(sqnr(y, float32) - told) < 3,
        name + ": the converter's file keeps the budget with it",
        '%.1f dB, and %.1f were promised' % (sqnr(y, float32), told),
    )
    plain = quiet(occ.convert_float_to_float16, onnx.load('float.onnx'))
    y = ReferenceEvaluator(plain).run(None, {'x': apart['x'].astype(numpy.float16)})[0].astype(numpy.float64)
    if 'overflow' in name:
        tap.ok(sqnr(y, float32) < LEAST, name + ': without it the file breaks the budget', sqnr(y, float32))
        tap.ok(
            {'square', 'mean'} <= set(lists['block_list']) and len(lists['block_list']) < 8,
            name + ': the list has the square and its mean, and not everything',
            lists['block_list'],
        )
    elif 'same' in name:
        row = said['nodes'][0]
        tap.ok(row['node'] == 'm0' and row['tied'] == ['m1'], name + ': they are one decision', row)
        a = [n for n in said['nodes'] if n['scheme'] != 'float32']
        tap.ok(said['bytes'] <= said['float32_bytes'] / 2, name + ': shared bytes are saved once', said)
    tap.ok(quantised['keeps'] == ('nodes' in lists), name + ': a list that breaks the budget is not defined', quantised)
    if 'even' in name:
        few = len(lists.get('nodes', [])) < (3 if SATURATES and 'wide' not in name else 4)
        tap.ok(few and quantised['keeps'] >= ('wide' in name), name + ': those that saturate are left out', quantised)
    if quantised['keeps']:
        feeds = [{'x': data['x'][:16]}]
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), nodes_to_quantize=lists['nodes'])
        y = run('tool.onnx', [apart])['y']
        told = quantised['held_apart']['sqnr_db']
        tap.ok(
            sqnr(y, float32) >= LEAST and abs(sqnr(y, float32) - told) < 1,
            name + ": the quantizer's file keeps the budget with its list",
            '%.1f dB, and %.1f were promised' % (sqnr(y, float32), told),
        )
        y = run('tool.onnx', [apart], 'ORT_ENABLE_ALL')['y']
        says = '%.1f dB' % sqnr(y, float32)
        tap.ok(sqnr(y, float32) >= LEAST, name + ': and so it does with all optimisations: ' + says)

# What no file can be written for is refused before the search; external data are taken.
model(tied, {'x': (FLOAT, ['n', 16])}, ['y'], CASES['products with the same weights'][1], 12)
got = tap.halfulp(*'advise float.onnx --data data.npz --accept sqnr>=30 --out old'.split())
tap.ok(got.returncode == 4 and 'version 13' in got.stderr, 'an old version is refused before the search', got.stderr)
model(tied, {'x': (FLOAT, ['n', 16])}, ['y'], {'A': R(64, 16)[:16], 'B': R(16, 5)})
onnx.save(onnx.load('float.onnx'), 'apart.onnx', save_as_external_data=True, location='apart.bin', size_threshold=0)
got = tap.halfulp(*'advise apart.onnx --data data.npz --accept sqnr>=30 --out ext --format fp16'.split())
tap.ok(got.returncode == 0, 'constants in a file of their own are taken', got.stderr)
if got.returncode == 0:
    y = run('ext/model.onnx', [{'x': data['x']}])['y']
    tap.ok(sqnr(y, run('apart.onnx', [{'x': data['x']}])['y']) >= 30, 'and the model that is written runs alone')
tap.finish()

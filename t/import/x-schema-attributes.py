#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Every attribute that ONNX's schema has for an operator known here is given values that are not its default, in node
# tests that pass: those that other tests of that operator give it, and, of a number, others of its type. What validate
# then computes is what onnxruntime or ONNX's reference evaluator computes, or it refuses. Needs the packages onnx and
# onnxruntime. With words as arguments, these operators alone, and each refusal is printed.
import collections
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
    os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool')]
import nodetests
import tap

if not nodetests.names():
    tap.skip_all('no Python package onnx')
try:
    import onnxruntime
except ImportError:
    tap.skip_all('no Python package onnxruntime')
import numpy
import onnx
from onnx import AttributeProto, helper
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
os.chdir(tap.home())
dir = tempfile.mkdtemp(dir='.')
with open(os.path.join(tap.TOP, 'lib/import/operators.def'), encoding='utf-8') as f:
    rows = set(re.findall(r'^OPERATOR\((\w+),', f.read(), re.M))
# Values that no other test has. Of an attribute that chooses what is computed, all that its text lists.
WORDS = {
    'auto_pad': ['SAME_UPPER', 'SAME_LOWER', 'VALID', 'NOTSET'], 'mode': ['nearest', 'linear', 'cubic', 'bilinear',
    'bicubic', 'constant', 'reflect', 'edge', 'wrap', 'avg', 'max', 'DCR', 'CRD'], 'reduction': ['none', 'sum', 'mean',
    'add', 'mul', 'max', 'min'], 'approximate': ['none', 'tanh'], 'padding_mode': ['zeros', 'border', 'reflection'],
    'coordinate_transformation_mode': ['half_pixel', 'asymmetric', 'align_corners', 'pytorch_half_pixel',
    'half_pixel_symmetric', 'tf_half_pixel_for_nn', 'output_half_pixel', 'tf_crop_and_resize'],
    'nearest_mode': ['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'], 'direction': ['forward', 'reverse',
    'bidirectional', 'LEFT', 'RIGHT'], 'keep_aspect_ratio_policy': ['stretch', 'not_larger', 'not_smaller'],
    'round_mode': ['up', 'down', 'nearest'], 'equation': [],
}
TESTS = 8  # of an operator, at most, whose attributes are changed


def value(a):
    return helper.get_attribute_value(a)


def candidates(name, kind, now, seen):
    """Values for attribute NAME of a schema's KIND: what tests have it as, and others."""
    list = [v for v in seen]
    A = onnx.defs.OpSchema.AttrType
    if kind == A.INT:
        list += [0, 1, -1, 2, 3]
    elif kind == A.FLOAT:
        list += [0.0, 0.37, 1.9, -0.6]
    elif kind == A.STRING:
        list += [w.encode() for w in WORDS.get(name, [])]
    elif kind == A.INTS:
        n = len(now) if now is not None else 2
        list += [[1] * n, [2] * n, [0] * n, [1, 2, 0][:n] if n < 4 else [2, 1] * (n // 2)]
    elif kind == A.FLOATS:
        n = len(now) if now is not None else 1
        list += [[0.4] * n, [0.1, 1.3, 0.7][:n]]
    out = []
    for v in list:
        if v != now and v not in out:
            out.append(v)
    return out


def fits(wants, names, got):
    """Whether all outputs are those of an oracle."""
    if any(n not in got or got[n].size != x.size or x.dtype.kind in 'OSUc' for n, x in zip(names, wants)):
        return False
    return all(nodetests.fits(x, got[n].reshape(x.shape)) for n, x in zip(names, wants))


def oracles(model, feeds):
    """What onnxruntime and the reference evaluator make of the model; None where they fail."""
    made = [None, None]
    m = onnx.ModelProto()
    m.CopyFrom(model)
    with warnings.catch_warnings(), numpy.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        try:
            made[0] = [numpy.asarray(v) for v in ReferenceEvaluator(m).run(None, feeds)]
            names = [o.name for o in m.graph.output]
            del m.graph.output[:]
            m.graph.output.extend(helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), None)
                for n, v in zip(names, made[0]))
        except Exception:
            made[0] = None
            for o in m.graph.output:
                o.type.tensor_type.ClearField('shape')
        try:
            s = onnxruntime.InferenceSession(m.SerializeToString(), providers=['CPUExecutionProvider'])
            made[1] = s.run(None, feeds)
        except Exception:
            pass
    return m, made


def work(pipe):
    while True:
        pipe.send(oracles(*pipe.recv()))


class Worker:
    """A process of its own for the oracles: some values end onnxruntime."""
    def __init__(self):
        self.process = None

    def ask(self, *what):
        if self.process is None:
            self.pipe, other = multiprocessing.Pipe()
            self.process = multiprocessing.get_context('fork').Process(target=work, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send(what)
            if not self.pipe.poll(60):
                raise EOFError
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.kill()
            self.process.join()
            self.process = None
            return what[0], [None, None]


def attributes(node):
    return {a.name: a for a in node.attribute}


of, seen = collections.defaultdict(list), collections.defaultdict(list)
for name in nodetests.names():
    nodes = nodetests.model(name).graph.node
    for n in nodes:
        for a in n.attribute:
            if a.type not in (AttributeProto.GRAPH, AttributeProto.TENSOR) and value(a) not in seen[n.op_type, a.name]:
                seen[n.op_type, a.name].append(value(a))
    if len(nodes) == 1 and nodes[0].op_type in rows and nodes[0].domain in ('', 'ai.onnx'):
        of[nodes[0].op_type].append(name)


def another(t, name, v):
    """The test's model with attribute NAME being V."""
    m = onnx.ModelProto()
    m.CopyFrom(t.model)
    node = m.graph.node[0]
    keep = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend(keep + [helper.make_attribute(name, v)])
    return m


worker = Worker()
wrong, refused, equal = [], collections.Counter(), collections.Counter()
for op in sorted(of):
    if sys.argv[1:] and op not in sys.argv[1:]:
        continue
    print('# ' + op, flush=True)
    for name in of[op][:: max(1, len(of[op]) // TESTS)][:TESTS]:
        t = nodetests.load(name)
        if isinstance(t, str) or any(not v.size for v in list(t.inputs.values()) + t.wants):
            continue
        # Of 16 bits steps are rounded one by one or not; targets beyond the classes are what that test ignores.
        if any(v.dtype.name in ('float16', 'bfloat16') for v in t.inputs.values()) or '_negative_ii' in name:
            continue
        if op in ('Cast', 'CastLike'):  # other numbers have no whole number or code that ONNX says
            t.inputs = {k: numpy.clip(numpy.nan_to_num(v.astype(numpy.float32)), 0, 1).astype(v.dtype)
                for k, v in t.inputs.items()}
            t.wants = []
        feeds, before = dict(t.inputs), onnx.ModelProto()
        before.CopyFrom(t.model)
        names = [o.name for o in t.model.graph.output]
        # Who knows the node as it is.
        known = [w is not None and (not t.wants or fits(t.wants, names, dict(zip(names, w))))
            for w in worker.ask(t.model, feeds)[1]]
        try:
            schema = onnx.defs.get_schema(op, t.model.opset_import[0].version, '')
        except Exception:
            continue
        now = attributes(t.model.graph.node[0])
        for key, a in schema.attributes.items():
            had = value(now[key]) if key in now else None
            for v in candidates(key, a.type, had, seen[op, key]):
                try:
                    t.model, t.inputs = another(t, key, v), dict(feeds)
                except Exception:
                    continue
                t.model, wants = worker.ask(t.model, feeds)
                wants = [w for w, good in zip(wants, known) if good and w is not None]
                if not wants:
                    t.model = before
                    continue
                try:
                    why = nodetests.run(t, dir)
                except subprocess.TimeoutExpired:
                    why = 'WRONG: takes longer than a minute'
                what = '%s %s=%s (%s)' % (op, key, str(v)[:60], name)
                if why is None:
                    got = nodetests.outputs(dir)
                    if any(fits(w, names, got) for w in wants):
                        equal[op, key] += 1
                    else:
                        wrong.append(what)
                        print('# wrong: ' + what, flush=True)
                elif why.startswith('WRONG'):
                    wrong.append(what + ': ' + why)
                else:
                    refused[op, key] += 1
                    if sys.argv[1:]:
                        print('# %s: %s' % (what, why[:150]))
                t.model = before
tap.none(wrong, '%d values of %d attributes are computed, and %d refused: none is wrong' % (sum(equal.values()),
    len(equal), sum(refused.values())))
shutil.rmtree(dir)
tap.finish()

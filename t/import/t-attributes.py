#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# An attribute that no code looks at would change a node's meaning in silence: one node test of each operator of ONNX's,
# which passes, is refused by the attribute's name when such an attribute is added; and attributes of a wrong type are
# refused, while a number that a writer of the newer syntax left out because it is 0 is that. Needs the package onnx.
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
    os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool')]
import nodetests
import tap

if not nodetests.names():
    tap.skip_all('no Python package onnx')
import onnx
from onnx import helper

os.chdir(tap.home())
dir = tempfile.mkdtemp(dir='.')
with open(os.path.join(tap.TOP, 'lib/import/operators.def'), encoding='utf-8') as f:
    rows = re.findall(r'^OPERATOR\((\w+),', f.read(), re.M)
# Operators that no node test of one node has, or none with tensors alone.
WITHOUT = {'Scatter', 'Upsample', 'ConstantOfShape', 'NonZero', 'Scan', 'SimplifiedLayerNormalization', 'SequenceAt',
    'SequenceConstruct', 'SequenceEmpty', 'SequenceErase', 'SequenceInsert', 'SequenceLength', 'SplitToSequence',
    'ConcatFromSequence', 'Constant', 'Loop'}
of = {}
for name in nodetests.names():
    nodes = nodetests.model(name).graph.node
    if len(nodes) == 1 and nodes[0].op_type in rows and nodes[0].domain in ('', 'ai.onnx'):
        of.setdefault(nodes[0].op_type, []).append(name)
wrong, tried = [], set()
for op in sorted(of):
    for name in of[op][:12]:
        t = nodetests.load(name)
        if isinstance(t, str) or nodetests.run(t, dir):
            continue
        t.model.graph.node[0].attribute.append(helper.make_attribute('drawn_alpha', 3))
        why = nodetests.run(t, dir) or ''
        text = nodetests.once(t, dir, '0')
        if text.returncode != 4 or "attribute 'drawn_alpha'" not in text.stderr:
            # values without elements are made without the operator's code
            if all(v.size for v in list(t.inputs.values()) + t.wants):
                wrong.append('%s (%s): %d %s' % (op, name, text.returncode, text.stderr.strip()[:120]))
            continue
        tried.add(op)
        break
tap.none(wrong, 'an attribute that no code knows is refused by name')
tap.none(sorted(set(rows) - tried - WITHOUT), '%d of %d operators were tried' % (len(tried), len(rows)))
tap.ok(len(tried) > 130, 'more than 130 operators were tried', [str(len(tried))])

# Types of attributes.
x = helper.make_tensor_value_info('x', 1, [2, 3])
y = helper.make_tensor_value_info('y', 1, [2, 3])


def softmax(attribute):
    n = helper.make_node('Softmax', ['x'], ['y'])
    n.attribute.append(attribute)
    t = nodetests.load(of['Softmax'][0])
    t.model = helper.make_model(helper.make_graph([n], 'g', [x], [y]), opset_imports=[helper.make_opsetid('', 13)])
    t.inputs = {'x': nodetests.numpy.arange(6, dtype='f4').reshape(2, 3)}
    return nodetests.once(t, dir, '0')


p = softmax(helper.make_attribute('axis', 0.5))
tap.ok(p.returncode == 3 and "attribute 'axis' is no whole number" in p.stderr, 'a real number for an axis is refused',
    [p.stderr])
zero = onnx.AttributeProto()
zero.name, zero.type = 'axis', onnx.AttributeProto.INT # as protobuf's newer syntax writes axis = 0
p = softmax(zero)
tap.ok(p.returncode == 0, 'a number that was left out runs', [p.stderr])
got = nodetests.outputs(dir)['y'].reshape(2, 3)
tap.ok(abs(got.sum(axis=0) - 1).max() < 1e-6, 'and is 0')
shutil.rmtree(dir)
tap.finish()

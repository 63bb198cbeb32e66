#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Batch invariance: a row's logits alone and in batches of 2 to 256 rows. Those of this program are the same bits under
# every summation model. Of torch's and onnxruntime's matrix products on this processor those rows are counted that
# differ, and halfulp engines counts the same ones.
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import HALFULP, finish, home, none, ok, skip  # noqa: E402

where = home()
os.chdir(where)
K, V = 96, 40
BATCHES = (2, 3, 5, 8, 16, 33, 64, 256)


def halfulp(*words):
    done = subprocess.run([HALFULP, *words], capture_output=True, text=True)
    if done.returncode:
        ok(False, ' '.join(words), done.stderr)
        finish()
    return done.stdout


def write(name, shape, values):
    open(name, 'wb').write(npy(shape, values))


def read(name, n):
    return open(name, 'rb').read()[-4 * n :]


random.seed(3)
rows = [random.gauss(0, 1) for _ in range(256 * K)]
write('w.npy', (K, V), [random.gauss(0, 1) for _ in range(K * V)])
for model, form in (('fma', 'fp32'), ('sequential,acc=fp16', 'fp16'), ('pairwise', 'fp32'), ('chunk:16', 'fp32'),
                    ('splitk:4', 'fp32'), ('tc:hopper,in=bf16', 'bf16')):  # fmt: skip
    wrong = []
    for b in (1, *BATCHES):
        write('a.npy', (b, K), rows[: b * K])
        halfulp('op', 'matmul', '--in', 'a=a.npy', '--in', 'b=w.npy', '--sum', model, '--set', 'in=' + form, '--out',
                'y%d.npy' % b)  # fmt: skip
        if read('y%d.npy' % b, b * V)[: 4 * V] != read('y1.npy', V):
            wrong.append('a batch of %d' % b)
    none(wrong, '%s: a row has the same bits alone and in batches of 2 to 256' % model)

TORCH = '''
import json, numpy, torch
torch.manual_seed(0)
a, w = torch.randn(256, 512), torch.randn(512, 300)
found = {}
for name, kind in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
    x, y = a.to(kind), w.to(kind)
    alone = torch.cat([x[i : i + 1] @ y for i in range(256)]).float().numpy()
    for b in (2, 8, 64, 256):
        batch = torch.cat([x[i : i + b] @ y for i in range(0, 256, b)]).float().numpy()
        numpy.save("torch-%s-1.npy" % name, alone)
        numpy.save("torch-%s-%d.npy" % (name, b), batch)
        found["torch-%s-%d.npy" % (name, b)] = int((alone == batch).all(axis=1).sum())
print(json.dumps(found))
'''
ORT = '''
import json, numpy, onnx, onnxruntime
from onnx import TensorProto as T, helper as h
rng = numpy.random.default_rng(0)
a, w = (rng.standard_normal(s).astype("float32") for s in ((256, 512), (512, 300)))
g = h.make_graph([h.make_node("MatMul", ["x", "w"], ["y"])], "g", [h.make_tensor_value_info("x", T.FLOAT, ["n", 512])],
    [h.make_tensor_value_info("y", T.FLOAT, ["n", 300])], [onnx.numpy_helper.from_array(w, "w")])
m = h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
s = onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
run = lambda b: numpy.concatenate([s.run(None, {"x": a[i : i + b]})[0] for i in range(0, 256, b)])
found = {}
numpy.save("ort-float32-1.npy", run(1))
for b in (2, 8, 64, 256):
    name = "ort-float32-%d.npy" % b
    numpy.save(name, run(b))
    found[name] = int((numpy.load("ort-float32-1.npy") == numpy.load(name)).all(axis=1).sum())
print(json.dumps(found))
'''
for library, script in (('torch', TORCH), ('onnxruntime', ORT)):
    python = os.environ.get('PYTHON', sys.executable)
    p = subprocess.run([python, '-c', script], capture_output=True, text=True)
    if p.returncode:
        skip('rows of %s alone and in batches' % library, 'this Python has no %s' % library)
        continue
    wrong, told = [], []
    for name, same in json.loads(p.stdout.strip().split('\n')[-1]).items():
        alone = '-'.join(name.split('-')[:2]) + '-1.npy'
        got = json.loads(halfulp('engines', alone, name, '--json'))
        told.append('%s %d rows differ, %d greedy tokens, KL %.2g' % (name[:-4], 256 - same, got['greedy_differ'],
                                                                    got['kl_mean']))  # fmt: skip
        if got['identical'] != same or (same == 256) != (got['log_ratio_max'] == 0 and got['identical'] == 256):
            wrong.append('%s: %d, not %d' % (name, got['identical'], same))
    none(wrong, '%s: rows that differ, as it counts them itself' % library)
    print('# ' + '\n# '.join(told))
finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ONNX's own node tests as kernels: judge is handed each test's model and inputs, and as the kernel's results what the
# test expects, which is right. Printed are the nodes that are right, those whose operator has no radius, by name, and
# those that are called wrong: each is a false condemnation or an expected output that float64 does not give.
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [os.path.join(TOP, 't/tool'), os.path.join(TOP, 't/import')]
import nodetests
import tap

if not nodetests.names():
    tap.skip_all('no Python package onnx')
import numpy
import onnx

# Whose expected outputs are written out in four digits.
ROUNDED = {'test_averagepool_2d_ceil_last_window_starts_on_pad',
           'test_roialign_aligned_false', 'test_roialign_aligned_true'}


def node(name, dir):
    """The verdict of judge on a node test's expected outputs, or why there is none."""
    t = nodetests.load(name)
    if isinstance(t, str):
        return t
    wants = [(v.name, w) for v, w in zip(t.model.graph.output, t.wants) if w.dtype.kind == 'f' and w.size]
    if not wants:
        return 'no results of floating point'
    for _ in range(len(t.ports) + 1):
        if not t.inputs:
            t.count()
        onnx.save(t.model, dir + '/m.onnx')
        numpy.savez(dir + '/x.npz', **{k: v if v.dtype.str[1:] in nodetests.PLAIN else v.astype(numpy.float32)
                                       for k, v in t.inputs.items()})
        numpy.savez(dir + '/y.npz', **{'o%d' % i: w if w.dtype.str[1:] in ('f2', 'f4', 'f8') else
                                       w.astype(numpy.float32) for i, (_, w) in enumerate(wants)})
        words = []
        for i, (k, _) in enumerate(wants):
            words += ['--got', '%s=%s/y.npz:o%d' % (k, dir, i)]
        p = subprocess.run([nodetests.PROGRAM, 'judge', dir + '/m.onnx', '--data', dir + '/x.npz', '--no-culprit',
                            '--json'] + words, capture_output=True, text=True, timeout=60)
        m = re.search(r"'([^']*)' must be a constant here", p.stderr)
        if not m or m.group(1) not in t.inputs:
            break
        t.fix(m.group(1))
    if p.returncode < 0:
        return 'WRONG: signal %d' % -p.returncode
    if p.returncode > 1:
        return re.sub(r"'[^']*'", "'…'", re.sub(r'^halfulp judge: (\S*m\.onnx: )?', '', p.stderr.strip()))
    verdict = json.loads(p.stdout)['verdict']
    return None if verdict == 'right' else 'WRONG: ' + verdict if p.returncode else 'softly: ' + verdict


def main():
    dir = tempfile.mkdtemp(dir=tap.home())
    reasons, wrong, right, n = collections.Counter(), [], 0, 0
    only = sys.argv[1:]
    for name in nodetests.names():
        if only and not any(o in name for o in only):
            continue
        n += 1
        why = node(name, dir)
        right += not why
        if why and why.startswith('WRONG') and name not in ROUNDED:
            wrong.append('%s: %s' % (name, why))
        elif why:
            m = re.search(r'operators? (that are not known: )?(\w+)', why)
            reasons[m.group(0) if m else re.sub(r'\d+', 'N', why)[:110]] += 1
    print('# %d node tests: %d right, %d called wrong' % (n, right, len(wrong)))
    for why, k in reasons.most_common():
        print('# %5d %s' % (k, why))
    for w in wrong:
        print('# ' + w)
    tap.ok(not wrong, 'no expected output is called wrong')
    tap.finish()


main()

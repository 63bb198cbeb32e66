#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Names of schemes, formats, policies and devices are read in any case: what they do is the same, and tables have the
# names as halfulp writes them. HALFULP names the program.
import json, os, random, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap

os.chdir(tap.home())
random.seed(1)
MODEL = [TOP + '/examples/digits.onnx', '--data', TOP + '/examples/digits.npz']
mixed = lambda s: ''.join(random.choice((c.upper(), c.lower())) for c in s)


def same(small, large, what):
    ran = [tap.halfulp(*words) for words in (small, large)]
    said = [json.loads(r.stdout) if r.stdout.startswith('{') else r.stdout for r in ran]
    for o in said:
        if isinstance(o, dict):
            o.pop('command', None)
    tap.ok(ran[0].returncode == ran[1].returncode == 0 and said[0] == said[1] and said[0],
           '%s: %s' % (what, ' '.join(large[-3:])), ran[1].stderr or [str(s)[:200] for s in said])


schemes = 'int8,fp16,bf16,int4:g128,int8:dynamic,nvfp4,mxfp8,e4m3:static'
for make in (str.upper, mixed):
    same(['validate', *MODEL, '--exact', '0', '--json', '--policy', schemes],
         ['validate', *MODEL, '--exact', '0', '--json', '--policy', make(schemes)], 'schemes')
    same(['advise', *MODEL, '--accept', 'flips<=2%', '--json', '--format', 'int8,fp16'],
         ['advise', *MODEL, '--accept', 'flips<=2%', '--json', '--format', make('int8,fp16')], 'formats of advise')
    for name in ('fp16', 'bf16', 'e4m3', 'fp32'):
        same(['round', '--format', name, '0.1'], ['round', '--format', make(name), '0.1'], 'a format')
    for name in ('cpu', 't4', 'l4', 'a10', 'a100', 'h100', 'h200', 'b200', '3090', '4090', '5090', 'rtx_4090'):
        words = ['plan', '--model', 'mlp:width=0.05', '--data', 'size=8', '--json', '--device']
        if name != 'cpu':
            same(words + [name], words + [make(name)], 'a device')
        else:
            ran = [tap.halfulp(*words, x) for x in ('here', make(name))]
            device = [json.loads(r.stdout)[0] if r.returncode == 0 else {} for r in ran]
            tap.ok(device[0] and device[0].keys() == device[1].keys(), 'cpu is this machine', ran[1].stderr)
tap.finish()

# SPDX-License-Identifier: Apache-2.0
# What a run's folder says of itself: every key of the manifest beside the options of its training, the files that it
# lists beside those that are there, and the lines that train prints.
import json
import math
import os
import re
import struct
import subprocess
import sys

from recorded_runs import SMALL, at, doctor, train

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, none  # noqa: E402


def processor():
    names = (re.findall(r'^model name\s*: (.*)$', open('/proc/cpuinfo').read(), re.M)
             if os.path.exists('/proc/cpuinfo') else [])
    return names[0] if names else 'unknown processor'


BASE = {
    'backend': 'cpu',
    'data': 'digits',
    'data-seed': 0,
    'epochs': 3,
    'fuse': 'on',
    'gemm': 'auto',
    'graph': 'on',
    'loss-weight': 1.0,
    'seed': 1,
    'trace': '*',
    'trace-cap': 2.0**30,
    'beta1': 0.9,
    'beta2': 0.999,
    'eps': 1e-7,
    'momentum': 0.0,
    'schedule': 'constant',
    'label-smoothing': 0.0,
    'dropout': 0.0,
    'balance': 0.0,
}


def manifest(name, m, config, expected, tables, checkpoints):
    """Problems of run NAME's manifest M. CONFIG: options beside the defaults; EXPECTED: other keys; CHECKPOINTS:
    steps of the last two."""
    config = {**BASE, **config}
    steps, traced = expected['steps'], expected['trace_steps']
    size = config['size']
    u = os.uname()
    program = json.load(open(at(name, 'program-train.json')))
    files = {
        'metrics.tsv', 'program-train.json', 'program-eval.json', *(t + '.tsv' for t in tables),
        *('checkpoint/step-%06d.safetensors' % s for s in checkpoints),
        *('trace/step-%06d.safetensors' % s for s in traced)
    }
    there = {os.path.relpath(os.path.join(d, f), at(name)) for d, _, names in os.walk(at(name))
             for f in names} - {'manifest.json'}
    each = (-(-config['train'] // config['batch']) if config['train'] % config['batch'] == 0
            else config['train'] // config['batch'])
    want = {
        'config': config,
        'backend': config['backend'],
        'batch': config['batch'],
        'model': config['model'],
        'seed': config['seed'],
        'loss_weight': config['loss-weight'],
        'steps_done': steps,
        'finished': True,
        'steps_per_epoch': each,
        'epochs': math.ceil(steps / each),
        'device': processor(),
        'host': '%s %s %s' % (u.sysname, u.release, u.machine),
        'run_version': 1,
        'parameters': sum(math.prod(t['shape']) for t in program['tensors'] if t.get('trainable')),
        **expected,
    }
    wrong = ['%s is %r there, %r here' % (k, m.get(k), v) for k, v in want.items() if m.get(k) != v]
    wrong += ['config: %s is %r there, %r here' % (k, m['config'].get(k), config.get(k))
              for k in sorted({*m['config'], *config}) if m['config'].get(k) != config.get(k)]
    if set(m['files']) != files or there != files:
        wrong.append('files: listed %s, there %s, here %s' % (sorted(m['files']), sorted(there), sorted(files)))
    wrong += ['%s: %d bytes there, listed %s' % (f, os.path.getsize(at(name, f)), v) for f, v in m['files'].items()
              if os.path.getsize(at(name, f)) != v['bytes'] or not re.fullmatch('[0-9a-f]{16}', v['xxh3'])]
    for f, v in m['files'].items():
        has = {'bytes', 'xxh3', *['header'] * f.endswith('.safetensors')}
        wrong += ['%s: %s' % (f, v)] * (set(v) != has or not re.fullmatch('[0-9a-f]{16}', v.get('header', '0' * 16)))
    d = dict(m['dataset'])
    if not re.fullmatch('0x[0-9a-f]{16}', d.pop('digest')) or d != {
        'name': 'digits',
        'train': config['train'],
        'eval': config['eval'],
        'height': size,
        'width': size,
        'channels': config.get('channels', 1),
        'classes': 10,
    }:
        wrong.append('dataset: %s' % m['dataset'])
    for s in traced:  # bytes of one step's tensors
        raw = open(at(name, 'trace/step-%06d.safetensors' % s), 'rb').read()
        if m['trace_bytes'] != len(raw) - 8 - struct.unpack('<Q', raw[:8])[0]:
            wrong.append('trace_bytes %s' % m['trace_bytes'])
    known = set(want) | {'files', 'dataset', 'trace_bytes', 'command', 'compiler', 'energy', 'halfulp_version',
                         'memory_bytes', 'simd', 'threads', 'gemm'}
    wrong += ['%s is checked by nothing' % k for k in m if k not in known]
    if m['command'][:2] != ['halfulp', 'train'] or m['command'][-1] != at(name):
        wrong.append('command: %s' % m['command'])
    simds, version = (
        doctor('processor'),
        subprocess.run([HALFULP, '--version'], stdout=subprocess.PIPE, universal_newlines=True).stdout.split(),
    )
    if (
        m['halfulp_version'] not in version
        or simds
        and m['simd'] not in re.search(r'this build uses (.*) here', simds[1])[1]
    ):
        wrong.append('version %s, simd %s' % (m['halfulp_version'], m['simd']))
    return wrong


m, out = train('plain', '--model', 'mlp', *SMALL, '--data', 'train=43', '--batch', '8', '--steps', '7', '--trace',
               'steps=0,3', '--policy', 'mixed_float16', '--count', '*')
config = {
    'model': 'mlp',
    'width': 0.03125,
    'size': 8,
    'train': 43,
    'eval': 8,
    'batch': 8,
    'steps': 7,
    'trace-steps': '0,3',
    'optimizer': 'adamw',
    'lr': 0.001,
    'weight-decay': 0.01,
    'count': '*',
    'meter': 'none',
}
expected = {
    'steps': 7,
    'trace_steps': [0, 3],
    'accumulate': 'fma,acc=fp32',
    'optimizer': {'name': 'adamw', 'lr': 0.001, 'beta1': 0.9, 'beta2': 0.999, 'eps': 1e-7, 'weight_decay': 0.01},
    'loss_scaling': {
        'rule': 'pytorch',
        'init': 65536.0,
        'growth': 2.0,
        'backoff': 0.5,
        'interval': 2000,
        'floor': 0.0,
        'cap': 0.0,
        'hysteresis': 1,
    },
    'policy': {
        'name': 'mixed_float16',
        'compute': 'float16',
        'variable': 'float32',
        'grad': 'fp16',
        'scaling': 'dynamic',
        'constants': 'double',
        'list': 'keras',
        'layers': {},
    },
}
none(manifest('plain', m, {k: v for k, v in config.items() if k in m['config'] or k not in ('count', 'meter')},
              expected, ['grads', 'updates', 'exponents', 'casts'], [5, 7]),
     'the manifest of an mlp, loss scale and all')

policy = {
    'name': 'mine',
    'compute': 'float16',
    'variable': 'float32',
    'layers': {'dense1': 'float32', 'dense3': 'bfloat16'},
}
json.dump(policy, open(at('p.json'), 'w'))
m, out = train('layers', '--model', 'mlp', *SMALL, '--data', 'train=40', '--batch', '8', '--steps', '4', '--trace',
               'steps=none', '--policy', at('p.json'), '--optimizer', 'adam:beta1=0.8,beta2=0.99,eps=1e-5',
               '--loss-scale', 'deepspeed', '--loss-scale', 'init=4096,hysteresis=3,floor=2,cap=8192,interval=7',
               '--seed', '5', '--data', 'seed=3', '--accumulate', 'chunk:16')
config = {
    'model': 'mlp',
    'width': 0.03125,
    'size': 8,
    'train': 40,
    'eval': 8,
    'batch': 8,
    'steps': 4,
    'trace-steps': 'none',
    'optimizer': 'adam',
    'lr': 0.001,
    'weight-decay': 0.0,
    'beta1': 0.8,
    'beta2': 0.99,
    'eps': 1e-5,
    'seed': 5,
    'data-seed': 3,
    'loss-scale': 'deepspeed',
    'init-scale': 4096.0,
    'hysteresis': 3.0,
    'scale-floor': 2.0,
    'scale-cap': 8192.0,
    'growth-interval': 7.0,
    'accumulate': 'chunk:16',
    'meter': 'none',
}
expected = {
    'steps': 4,
    'trace_steps': [],
    'accumulate': 'chunk:16',
    'optimizer': {'name': 'adam', 'lr': 0.001, 'beta1': 0.8, 'beta2': 0.99, 'eps': 1e-5, 'weight_decay': 0.0},
    'loss_scaling': {
        'rule': 'deepspeed',
        'init': 4096.0,
        'growth': 2.0,
        'backoff': 0.5,
        'interval': 7,
        'floor': 2.0,
        'cap': 8192.0,
        'hysteresis': 3,
    },
    'policy': {
        'name': 'mine',
        'compute': 'float16',
        'variable': 'float32',
        'grad': 'fp16',
        'scaling': 'dynamic',
        'constants': 'double',
        'list': 'autocast',
        'layers': {'dense1': 'fp32', 'dense3': 'bf16'},
    },
}
none(
    manifest(
        'layers', m, {k: v for k, v in config.items() if k in m['config'] or k != 'meter'}, expected,
        ['grads', 'updates'], [4]
    ),
    'of a policy by layers, with every option of a loss scale',
)
said = [x.split() for x in out.splitlines() if x.startswith('  layers ')]
none(([out] if said != [['layers', k + ':', v] for k, v in policy['layers'].items()]
      or 'Compute dtype: float16\nVariable dtype: float32\n' not in out else []),
     'and train says the dtypes of each layer that has its own')

m, out = train('conv', '--model', 'convnet', *SMALL, '--data', 'channels=3,train=24', '--batch', '4', '--epochs', '2',
               '--trace', 'steps=1', '--policy', 'float32', '--optimizer', 'sgd:momentum=0.9', '--optimizer',
               'lr=0.05', '--optimizer', 'weight_decay=0.001', '--loss-scale', 'static:1024', '--loss', 'weight=4',
               '--checkpoint-every', '5')
config = {
    'model': 'convnet',
    'width': 0.03125,
    'size': 8,
    'channels': 3,
    'train': 24,
    'eval': 8,
    'batch': 4,
    'epochs': 2,
    'trace-steps': '1',
    'optimizer': 'sgd',
    'lr': 0.05,
    'weight-decay': 0.001,
    'momentum': 0.9,
    'loss-scale': 'static:1024',
    'loss-weight': 4.0,
    'checkpoint-every': 5,
    'meter': 'none',
}
expected = {
    'steps': 12,
    'trace_steps': [1],
    'accumulate': 'fma,acc=fp32',
    'optimizer': {'name': 'sgd', 'lr': 0.05, 'momentum': 0.9, 'weight_decay': 0.001},
    'loss_scaling': {'rule': 'static', 'init': 1024.0},
    'policy': {
        'name': 'float32',
        'compute': 'float32',
        'variable': 'float32',
        'grad': 'fp32',
        'scaling': 'none',
        'constants': 'double',
        'list': 'all',
        'layers': {},
    },
}
none(
    manifest(
        'conv', m, {k: v for k, v in config.items() if k in m['config'] or k != 'meter'}, expected,
        ['grads', 'updates'], [10, 12]
    ),
    'of a convnet with sgd, a fixed loss scale and a checkpoint every five steps',
)

none(
    (
        [out]
        if ' says' in out
        or ' says'
        not in train(
            'mixed', '--model', 'mlp', *SMALL, '--data', 'train=16', '--batch', '4', '--steps', '1', '--policy',
            'mixed_bfloat16'
        )[1]
        else []
    ),
    'of a policy with two dtypes train says how it will run here, of one with one it does not',
)
finish()

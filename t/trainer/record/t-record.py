# SPDX-License-Identifier: Apache-2.0
# What a run's folder says of itself: every key of the manifest beside the options of its training, the files that it
# lists beside those that are there, the lines that train prints, what a device's passes cover (kernels.tsv) beside the
# program's calls, and joules beside a counter that rises by 5 J at a time.
import json
import math
import os
import re
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, bail_out, finish, home, none  # noqa: E402

folder = home()
at = lambda *names: os.path.join(folder, *names)  # noqa: E731


def table(path):
    lines = [x.split('\t') for x in open(path).read().splitlines() if not x.startswith('#')]
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def train(name, *words, env=None):
    r = subprocess.run([HALFULP, 'train', *words, at(name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True, env=dict(os.environ, **(env or {})))
    if r.returncode:
        bail_out('train %s: %s' % (name, r.stderr))
    return json.load(open(at(name, 'manifest.json'))), r.stdout


def processor():
    names = (re.findall(r'^model name\s*: (.*)$', open('/proc/cpuinfo').read(), re.M)
             if os.path.exists('/proc/cpuinfo') else [])
    return names[0] if names else 'unknown processor'


def doctor(key):
    return re.search(
        '^%s +(.*)$' % key, subprocess.run([HALFULP, 'doctor'], stdout=subprocess.PIPE, universal_newlines=True).stdout,
        re.M
    )


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


small = ['--model', 'width=0.03125', '--data', 'size=8,eval=8', '--meter', 'none']
m, out = train('plain', '--model', 'mlp', *small, '--data', 'train=43', '--batch', '8', '--steps', '7', '--trace',
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
m, out = train('layers', '--model', 'mlp', *small, '--data', 'train=40', '--batch', '8', '--steps', '4', '--trace',
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

m, out = train('conv', '--model', 'convnet', *small, '--data', 'channels=3,train=24', '--batch', '4', '--epochs', '2',
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
            'mixed', '--model', 'mlp', *small, '--data', 'train=16', '--batch', '4', '--steps', '1', '--policy',
            'mixed_bfloat16'
        )[1]
        else []
    ),
    'of a policy with two dtypes train says how it will run here, of one with one it does not',
)


def kernels(name):
    """Problems of kernels.tsv: each call in one pass, whose row says what its calls have in common."""
    calls, rows, wrong, seen = (
        json.load(open(at(name, 'program-train.json')))['calls'],
        table(at(name, 'kernels.tsv')),
        [],
        [],
    )
    said = json.load(open(at(name, 'manifest.json')))['gemm']['calls']
    ran = {c['call']: c['ran'] for c in said}
    wrong += ['%s, which is %s of %s' % (c, calls[c['call']]['op'], calls[c['call']]['layer']) for c in said
              if (c['op'], c['layer']) != (calls[c['call']]['op'], calls[c['call']]['layer'])]
    products = [c['id'] for c in calls if c['op'] in ('matmul', 'conv2d', 'conv2d_dx', 'conv2d_dw')]
    wrong += ['products: %s there, %s here' % (sorted(ran), products)] if sorted(ran) != products else []
    launches = moved = 0
    for r in rows[:-1]:
        launches, moved = launches + int(r['launches']), moved + int(r['bytes'])
        if r['calls'] == '0':
            if (r['call'], r['layer'], r['phase'], r['op'], r['covers']) != ('-', 'statistics', '-', '-', '-'):
                wrong.append(r)
            continue
        covers = [
            n for part in r['covers'].split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)
        ]
        runs = [g for g in re.findall(r'\d+-\d+|\d+', r['covers'])]
        shortest = sum(b - 1 not in covers for b in covers)
        mine = [calls[n] for n in covers]
        ops = list(dict.fromkeys(c['op'] for c in mine))
        layers, phases = {c['layer'] for c in mine}, {c['phase'] for c in mine}
        layer = mine[0]['layer'] if r['pass'] == 'chain' else layers.pop() if len(layers) == 1 else 'several'
        want = {
            'call': str(covers[0]),
            'layer': layer,
            'phase': phases.pop() if len(phases) == 1 else 'several',
            'op': '+'.join(ops),
            'calls': str(len(covers)),
            'ran': next((ran[n] for n in reversed(covers) if n in ran), '-'),
        }
        wrong += ['%s: %s is %s there, %s here' % (r['covers'], k, r[k], v) for k, v in want.items() if r[k] != v]
        if (
            covers != sorted(set(covers))
            or len(runs) != shortest
            or (r['pass'] == '-') != (len(covers) == 1)
            or not int(r['launches']) > 0
            or not int(r['bytes']) > 0
        ):
            wrong.append(r)
        seen += covers
    last = rows[-1]
    if sorted(seen) != list(range(len(calls))) or (
        last['layer'], last['calls'], int(last['launches']), int(last['bytes'])
    ) != ('all', str(len(calls)), launches, moved):
        wrong.append('%d calls seen, %s' % (len(seen), last))
    return wrong


if re.search('shim', (doctor('back ends') or ['', ''])[1]):
    for model, policy, more in (
        ('mlp', 'mixed_float16', ['--accumulate', 'tc:hopper']),
        ('convnet', 'mixed_float16', []),
        ('mlp', 'float32', ['--backend', 'fuse=off']),
    ):
        name = 'device-%s-%s' % (model, policy)
        m, out = train(name, '--model', model, *small, '--data', 'train=16', '--batch', '4', '--steps', '2',
                       '--trace', 'steps=none', '--policy', policy, '--backend', 'shim', *more)
        none(
            kernels(name),
            '%s, %s: kernels.tsv covers each call once, with its layer, phase and operators' % (model, policy),
        )
else:
    print('# the launch shim is not in this build')

# A counter that somebody else moves on by 5 J again and again; between its ticks a step has its share by time
zone = at('powercap', 'intel-rapl:0')
os.makedirs(zone)
for key, value in (('name', 'package-0'), ('max_energy_range_uj', '262143328850'), ('energy_uj', '1000')):
    open(os.path.join(zone, key), 'w').write(value + '\n')
stop = threading.Event()


def count():
    number = 1000
    while not stop.is_set():
        number += 5000000
        open(os.path.join(zone, 'next'), 'w').write('%d\n' % number)
        os.replace(os.path.join(zone, 'next'), os.path.join(zone, 'energy_uj'))


counter = threading.Thread(target=count, daemon=True)
counter.start()
m, out = train('energy', '--model', 'mlp', '--data', 'size=8,eval=8,train=64', '--batch', '16', '--steps', '12',
               '--trace', 'steps=none', '--policy', 'float32', '--meter', 'rapl', '--meter', 'grid=250',
               env={'HALFULP_POWERCAP': at('powercap'), 'OMP_NUM_THREADS': '1'})
stop.set()
counter.join()
wrong, all_of_it = [], 0
for r in table(at('energy', 'metrics.tsv')):
    joules = math.nan if r['joules'] == '-' else float(r['joules'])
    all_of_it += joules
    if not (
        joules >= 0
        and math.isclose(float(r['joules_per_sample']), joules / 16, rel_tol=1e-6)
        and math.isclose(float(r['watts']) * float(r['ms']), 1e3 * joules, rel_tol=1e-4, abs_tol=1e-6)
    ):
        wrong.append(
            'step %s: %s joules, %s an image, %s watts of %s ms'
            % (r['step'], r['joules'], r['joules_per_sample'], r['watts'], r['ms'])
        )
none(wrong + (['no joule'] if not all_of_it > 0 else []),
     'every step has its joules, and joules an image and watts follow')
e = m['energy']
used = [float(r['utilisation']) for r in table(at('energy', 'metrics.tsv')) if r['utilisation'] != '-']
cores = os.sysconf('SC_NPROCESSORS_ONLN')
none(([used] if not used or not all(0 <= u <= 1 for u in used) or sum(used) / len(used) > 1.3 / cores and cores > 1
      else []), 'one thread uses its share of %d processors' % cores)
accuracy = float(table(at('energy', 'metrics.tsv'))[-1]['eval_accuracy'])
each = ', %.4g g a percentage point of accuracy' % (e['grams_co2'] / accuracy / 100) if accuracy else 'Energy'
none(([e, out, accuracy] if accuracy and not math.isclose(e['grams_co2_per_accuracy'], e['grams_co2'] / accuracy)
      or accuracy and not math.isclose(e['watt_hours_per_accuracy'], e['watt_hours'] / accuracy) or each not in out
      else []), 'CO2 and energy over the accuracy')
none(([e] if not (e.get('joules', 0) >= all_of_it * (1 - 1e-9) and math.isclose(e['watt_hours'], e['joules'] / 3600)
                  and math.isclose(e['grams_co2'], e['joules'] / 3.6e6 * 250) and e['grams_co2_per_kwh'] == 250
                  and 'RAPL, 1 counter ' in e['meter'] and 'Energy: %.4g Wh in all' % e['watt_hours'] in out
                  and '%.4g g of CO2 at 250 g a kWh' % e['grams_co2'] in out) else []),
     'and the whole run at least theirs; watt-hours and CO2 follow')
finish()

# SPDX-License-Identifier: Apache-2.0
"""What a recording holds, read from its files, for tests of the recorder."""
import json
import os
import struct
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, halfulp, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

torch.set_num_threads(1)
TYPES = {'F64': torch.float64, 'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16}


def net(dtype=torch.float32):
    """Two linear layers, the same ones each time."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to(dtype)


def loss(model, dtype=torch.float32, rows=4):
    return model(torch.randn(rows, 8).to(dtype)).float().square().mean()


def record(run, model, train, steps=1, **how):
    """Records `train(step)` as the steps of `run`, any failure of the recorder being one of the test; returns Run."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        recorder = halfulp_trace.record(model, run, strict=True, **how)
        for step in range(steps):
            with recorder:
                train(step)
    return Run(run, recorder)


class Run:
    def __init__(self, path, recorder=None):
        self.path, self.recorder = path, recorder
        with open(path + '/program-train.json') as f:
            program = json.load(f)
        self.calls, self.steps = program['calls'], program['steps']
        self.names = [t['name'] for t in program['tensors']]
        self.tensors = {t['name']: t for t in program['tensors']}
        self.maker = {i: c for c in self.calls for i in c['out']}

    def id(self, name):
        return self.tensors[name]['id']

    def next(self, step, name):
        """The name of what a state becomes in a step; None where it stays."""
        i = self.steps[step]['next'].get(str(self.id(name)))
        return None if i is None else self.names[i]

    def grad(self, step, name):
        i = self.steps[step]['grad'].get(str(self.id(name)))
        return None if i is None else self.names[i]

    def opaque(self):
        """How many opaque calls there are of each name."""
        names = [c['opaque']['name'] for c in self.calls if c['op'] == 'opaque']
        return {n: names.count(n) for n in names}

    def made_of(self, name):
        """The names of all tensors that a tensor depends on."""
        found, at = set(), [self.id(name)]
        while at:
            call = self.maker.get(at.pop())
            new = [i for i in (call['in'] if call else []) if i not in found]
            found.update(new)
            at += new
        return {self.names[i] for i in found}

    def judged_by(self, name):
        """The names of the opaque calls that a tensor depends on."""
        line = self.made_of(name) | {name}
        return {self.maker[self.id(n)]['opaque']['name'] for n in line
                if self.id(n) in self.maker and self.maker[self.id(n)]['op'] == 'opaque'}

    def values(self, step):
        """The tensors of a step's trace by name."""
        with open('%s/trace/step-%06d.safetensors' % (self.path, step), 'rb') as f:
            b = f.read()
        n = struct.unpack('<Q', b[:8])[0]
        out = {}
        for name, e in json.loads(b[8:8 + n]).items():
            data = bytearray(b[8 + n + e['data_offsets'][0]:8 + n + e['data_offsets'][1]])
            if e['dtype'] in TYPES:
                out[name] = torch.frombuffer(data, dtype=TYPES[e['dtype']]).reshape(e['shape'])
        return out

    def analyzed(self, *options):
        """What analyze says: its exit code, its text, and how many outputs lie outside their bounds."""
        p = halfulp('analyze', self.path, '--threads', '1', *options)
        text = p.stdout + p.stderr
        outside = text.split(' outside their call')[0].split(';')[-1] if ' outside their call' in text else None
        return p.returncode, text, None if outside is None else int(outside)


def judged(run, what, words=()):
    """A test: no output of a recording is outside its bound, and only operators of these names are opaque."""
    code, text, outside = run.analyzed('--sample', 'all')
    ok(code in (0, 1) and outside == 0 and sorted(run.opaque()) == sorted(words),
       what + ': no output is outside its bound, and opaque is %s' % (', '.join(words) or 'nothing'),
       text + str(run.opaque()))


def trained(name, model, opt, dtype=torch.float32, steps=2, **how):
    """A recording of steps of an optimizer."""
    def train(step):
        opt.zero_grad()
        loss(model, dtype).backward()
        opt.step()
    return record(name, model, train, steps, optimizer=opt, **how)

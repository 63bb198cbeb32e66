# SPDX-License-Identifier: Apache-2.0
"""halfulp_trace records PyTorch's own training steps: an image classifier with SGD in bf16, and an encoder with
AdamW, autocast to fp16 and a GradScaler whose first step overflows. What it records are PyTorch's bits, recording
changes none of them, every call is judged, and errors in ulps are those that Python's exact sums find."""
import contextlib
import copy
import io
import json
import math
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, none, ok, skip, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

torch.set_num_threads(1)
os.chdir(home())
nn, F = torch.nn, torch.nn.functional
print('# PyTorch %s on %s' % (torch.__version__, torch.backends.cpu.get_cpu_capability()))


def block(n):
    try:
        from torchvision.models.resnet import BasicBlock
        return BasicBlock(n, n)
    except (ImportError, RuntimeError):
        return nn.Sequential(nn.Conv2d(n, n, 3, padding=1, bias=False), nn.BatchNorm2d(n), nn.ReLU(inplace=True))


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm, self.block = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), block(8)
        self.pool, self.mean, self.deep = nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2), nn.Conv2d(8, 8, 3, 2, 1, groups=8,
                bias=False)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.pool(F.relu(self.norm(self.stem(x)), inplace=True))
        return self.head(self.deep(self.mean(self.block(x))).flatten(2).mean(2))


class Words(nn.Module):
    """An encoder of one block, with attention written out."""

    def __init__(self):
        super().__init__()
        self.embed, self.first, self.second = nn.Embedding(20, 16), nn.LayerNorm(16), nn.LayerNorm(16)
        self.qkv, self.out, self.up, self.down = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(32,
                16)
        self.drop, self.head = nn.Dropout(0.25), nn.Linear(16, 5)

    def forward(self, x):
        x = self.embed(x)
        n, t, _ = x.shape
        q, k, v = (y.view(n, t, 2, 8).transpose(1, 2) for y in self.qkv(self.first(x)).split(16, 2))
        a = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(8), -1)
        x = x + self.out((a @ v).transpose(1, 2).reshape(n, t, 16))
        x = x + self.drop(self.down(F.gelu(self.up(self.second(x)))))
        return self.head(x[:, 0])


def train(kind, run, lr=0.1, steps=2):
    """Trains, recording into `run` where that is one. Returns the model, and what was captured beside the recorder."""
    torch.manual_seed(3)
    images = kind is Images
    model, dtype = kind(), torch.bfloat16 if images else torch.float16
    if images:
        opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-3)
    else:
        opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler('cpu', init_scale=2.0 ** 30, enabled=not images)
    recorder = halfulp_trace.record(model, run, optimizer=opt) if run else None
    seen = []
    for step in range(steps if images else 16):
        x = torch.randn(3, 3, 12, 12) if images else torch.randint(0, 20, (3, 6))
        y = torch.randint(0, 5, (3,))
        # of the encoder the first step, which overflows, and the last one are recorded
        record = recorder if recorder and (images or step in (0, 15)) else None
        own, hooks = {'before': copy.deepcopy(model.state_dict()), 'outputs': {}}, []
        if record:
            for name, m in model.named_modules():
                if name and not list(m.children()):
                    hooks.append(m.register_forward_hook(lambda m, x, y,
                            name=name: own['outputs'].update({name: y.detach().clone()})))
            record.__enter__()
        opt.zero_grad()
        with torch.autocast('cpu', dtype=dtype):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        own['gradients'] = {n: p.grad.clone() for n, p in model.named_parameters()}
        scaler.step(opt)
        scaler.update()
        if record:
            record.loss(loss)
            record.__exit__(None, None, None)
        own['after'] = copy.deepcopy(model.state_dict())
        if record:
            [h.remove() for h in hooks]
            seen.append(own)
    return model, seen, recorder


def trace(run, step):
    """The tensors of a trace by name, as (dtype, shape, bytes)."""
    b = open('%s/trace/step-%06d.safetensors' % (run, step), 'rb').read()
    n = struct.unpack('<Q', b[:8])[0]
    return {k: (e['dtype'], e['shape'], b[8 + n + e['data_offsets'][0]:8 + n + e['data_offsets'][1]]) for k,
            e in json.loads(b[8:8 + n]).items()}


TYPES = {'F64': torch.float64, 'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16}


def array(t):
    return torch.frombuffer(bytearray(t[2]), dtype=TYPES[t[0]]).reshape(t[1])


def bits(t):
    return halfulp_trace.snapshot(t).view(torch.uint8 if t.dim() else t.dtype).numpy().tobytes() if t.dtype != torch.bfloat16 else \
        halfulp_trace.snapshot(t).view(torch.int16).numpy().tobytes()


def rows(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


def strokes(name):
    return halfulp_trace.tensor_name(name)


# --- the bits are PyTorch's -------------------------------------------------------------------------------------------
recorders = {}
for kind, run in ((Images, 'images'), (Words, 'words')):
    plain, _, _ = train(kind, None)
    model, seen, recorders[run] = train(kind, run)
    none([n for (n, a), (_, b) in zip(plain.state_dict().items(), model.state_dict().items()) if not torch.equal(a, b)],
         '%s: recording changes no bit of the training' % run)
    wrong, compared = [], 0
    for step, own in enumerate(seen):
        t = trace(run, step)
        for name, w in own['before'].items():
            if w.dtype.is_floating_point:
                wrong += [name] * (bits(w) != t[strokes(name)][2])
        for name, g in own['gradients'].items():
            at, _, role = strokes(name).rpartition('.')
            wrong += ['gradient of ' + name] * (bits(g) != t['%s.d%s' % (at, role)][2])
            if strokes(name) + '_next' in t:
                wrong += [name + ' updated'] * (bits(own['after'][name]) != t[strokes(name) + '_next'][2])
                compared += 1
        for name, y in own['outputs'].items():
            layouts = [bits(y)] + ([bits(y.permute(0, 2, 3, 1))] if y.dim() == 4 else [])
            wrong += ['output of ' + name] * (not any(d in layouts for _, _, d in t.values()))
            compared += 1
    none(wrong,
            '%s: weights, outputs, gradients and updated weights in the traces are PyTorch\'s bits (%d outputs and updates)' % (run, compared))
manifest = json.load(open('words/manifest.json'))
skips = [r['skipped'] for r in rows('words/metrics.tsv')]
ok(skips == ['1', '0'], 'the scaler\'s first step is known for a skipped one', skips)

# --- every call is judged ---------------------------------------------------------------------------------------------
p = halfulp('analyze', 'images', '--sample', 'all')
judged = rows('images/analysis/replay.tsv')
kinds = {r['op'] for r in judged}
ok(p.returncode == 0 and sum(int(r['over_bound']) for r in judged) == 0 and len(judged) > 100 and ' weight updates swamped' in p.stdout,
   'images: of %d outputs of %d kinds of calls none is outside its bound' % (sum(int(r['sampled']) for r in judged),
           len(kinds)), p.stdout + p.stderr)
none(sorted({'conv2d', 'conv2d_dx', 'conv2d_dw', 'batchnorm', 'batchnorm_dx', 'relu', 'relu_dx', 'maxpool',
        'maxpool_dx', 'avgpool2d',
             'avgpool2d_dx', 'matmul', 'log_softmax', 'log_softmax_dx', 'cast', 'sgd', 'bias_db'} - kinds), 'images: every kind of call is among them')
p = halfulp('analyze', 'words', '--sample', 'all')
judged_words = rows('words/analysis/replay.tsv')
kinds = {r['op'] for r in judged_words}
none(sorted({'gather', 'gather_dx', 'layernorm', 'layernorm_dx', 'softmax', 'softmax_dx', 'gelu', 'gelu_dx', 'matmul',
        'finite_check', 'unscale',
             'scale_update', 'adamw', 'concat', 'add', 'mul'} - kinds), 'words: every kind of call is among them')
ok(p.returncode == 0 and sum(int(r['over_bound']) for r in judged_words) == 0,
   'words: of %d outputs none is outside its bound' % sum(int(r['sampled']) for r in judged_words), p.stdout + p.stderr)
ok('loss-scale' in p.stdout and 'safe for every gradient' in p.stdout, 'words: the loss scales that are safe are told',
        p.stdout + p.stderr)


# --- ulps by Python's exact sums --------------------------------------------------------------------------------------
def ulp(x, digits, emin):
    e = max(math.frexp(abs(x))[1] - 1, emin) if x else emin
    return 2.0 ** (e - digits + 1)


FORMAT = {'bf16': (8, -126), 'fp16': (11, -14), 'fp32': (24, -126)}
program = json.load(open('images/program-train.json'))
t = trace('images', 1)
name_of = [x['name'] for x in program['tensors']]


def error(row, exact):
    got = array(t[row['tensor']]).double().flatten().tolist()
    return max(abs(g - x) / ulp(x, *FORMAT[row['format']]) for g, x in zip(got, exact))


def product(call, row):
    a, b = (array(t[name_of[i]]).double() for i in call['in'])
    a, b = (a.T if call['attr']['ta'] else a), (b.T if call['attr']['tb'] else b)
    return [math.fsum(x * y for x, y in zip(r, c)) for r in a.tolist() for c in b.T.tolist()]


def convolution_dw(call, row):
    """The depthwise convolution's, straight from PyTorch's NCHW operands: the layouts are recomputed too."""
    x, dy = (array(t[name_of[i]]).double().permute(0, 3, 1, 2) for i in call['in'])
    x = F.pad(x, (1, 1, 1, 1))
    n, c, h, w = dy.shape
    taps = {(i, j, k): math.fsum(float(x[m, k, 2 * r + i, 2 * s + j]) * float(dy[m, k, r,
            s]) for m in range(n) for r in range(h) for s in range(w))
            for i in range(3) for j in range(3) for k in range(c)}
    return [taps[i, j, k] for i in range(3) for j in range(3) for k in range(c)]


def mean(call, row):
    x = array(t[name_of[call['in'][0]]]).double().reshape(-1, call_columns(call))
    return [math.fsum(r) / len(r) for r in x.tolist()]


def call_columns(call):
    shape = program['tensors'][call['in'][0]]['shape']
    return math.prod(shape[call['attr'].get('axis', 0):])


checked, off = set(), []
for row in judged:
    call = program['calls'][int(row['call'])]
    how = {'matmul': product, 'conv2d_dw': convolution_dw if call['attr'].get('groups') == 8 else None,
            'reduce_mean': mean}.get(row['op'])
    if row['step'] == '1' and how:
        want, got = error(row, how(call, row)), float(row['ulp_max'])
        checked.add(row['op'])
        if not abs(got - want) <= 1e-6 * want + 1e-6:
            off.append('%s %s: %r, recomputed %r' % (row['op'], row['tensor'], got, want))
none(off, 'the largest errors in ulps are those that exact sums in Python find')
none({'matmul', 'conv2d_dw', 'reduce_mean'} - checked, 'of products, a convolution\'s gradient and means')

# --- what a wrong result looks like -----------------------------------------------------------------------------------
product_of = next(r for r in judged if r['op'] == 'conv2d' and r['step'] == '1')
path = 'images/trace/step-000001.safetensors'
whole = open(path, 'rb').read()
n = struct.unpack('<Q', whole[:8])[0]
at = 8 + n + json.loads(whole[8:8 + n])[product_of['tensor']]['data_offsets'][0]
array_of = array(t[product_of['tensor']])
big = int(array_of.abs().flatten().argmax())
bad = bytearray(whole)
bad[at + 2 * big] ^= 4                                  # 4 units in the last place of a bf16
open('bad.safetensors', 'wb').write(bad)
p = halfulp('analyze', 'images/program-train.json', 'bad.safetensors', '--only', 'replay', '--no-propagate',
        '--sample', 'all')
faults = rows('bad/analysis/faults.tsv')
ok(p.returncode == 1 and any(f['tensor'] == product_of['tensor'] and int(f['element']) == big for f in faults),
        'an element of a convolution that is 4 units off is outside its bound', p.stdout + p.stderr)

# --- the other commands -----------------------------------------------------------------------------------------------
for run in ('images', 'words'):
    p = halfulp('verify', run, '--trace')
    ok(p.returncode == 0 and ', 0 differ; ' in p.stdout and 'computed by a library' in p.stdout,
            run + ': casts, moves and single operations repeat bit for bit', p.stdout + p.stderr)
train(Images, 'again')
train(Images, 'other', lr=0.125)
p = halfulp('diff', 'images', 'again')
ok(p.returncode == 0 and 'the same in every recorded bit' in p.stdout,
        'a second recording of the same training has the same bits', p.stdout + p.stderr)
p = halfulp('diff', 'images', 'other')
ok(p.returncode == 1 and 'lr 0.1 -> 0.125' in p.stdout, 'diff: another learning rate is named', p.stdout + p.stderr)
for run in ('again', 'other'):
    halfulp('analyze', run, '--sample', 'all')
p = halfulp('baseline', 'images', '-o', 'base.tsv', '--reason', 'test')
q = halfulp('check', 'again', '--baseline', 'base.tsv')
r = halfulp('check', 'other', '--baseline', 'base.tsv')
ok((p.returncode, q.returncode, r.returncode) == (0, 0, 1) and 'lr 0.1 -> 0.125' in r.stdout,
        'check: the same training holds, another learning rate does not, and is named',
   '%s %s %s\n%s' % (p.returncode, q.returncode, r.returncode, p.stderr + q.stderr + r.stderr))
p = halfulp('report', 'words')
if 'gnuplot' in p.stderr and p.returncode:
    skip('report makes a page', 'no gnuplot')
else:
    ok(p.returncode == 0 and 'the run has no accuracy' in open('words/report/loss.svg').read(), 'report makes a page',
            p.stdout + p.stderr)


# --- the guide's script ---------------------------------------------------------------------------------------------
guide = open(os.path.join(TOP, 'doc', 'torch.md')).read()
script = guide.split('those with `recorder`:\n\n')[1].split('\n\nand then')[0]
said = io.StringIO()
with contextlib.redirect_stdout(said):
    exec('\n'.join(line[4:] for line in script.split('\n')), {'__name__': 'guide'})
p = halfulp('analyze', 'run', '--sample', 'all')
ok(said.getvalue() in guide.replace('\n    ', '\n') and p.returncode in (0, 1), 'the script of doc/torch.md runs and says what stands there',
   said.getvalue() + p.stderr)


def untimed(text):
    """The text without its numbers, which depend on the processor and on what else it does."""
    return re.sub(r' +', ' ', re.sub(r'\d+(\.\d+)?(e[+-]\d+)?', '#', text))


block = guide[guide.index('\n    replay  ') : guide.index('\nThese 768 are')]
shown = [untimed(line[4:]) for line in block.split('\n') if line.strip() not in ('', '...')]
q = halfulp('analyze', 'run')
printed = [untimed(line) for line in (q.stdout + q.stderr).split('\n') if line]
none([line for line in shown if line not in printed], 'what it shows below `halfulp analyze run` is printed')
left_out = [line for line in printed if re.match('[a-z-]+ .*s\)$', line) and line not in shown]
none(left_out, 'and no analyzer that prints is missing there')
q = halfulp('verify', 'run', '--trace')
told = re.search(r'^ +(run: .*); \.\.\.$', guide, re.M)[1]
ok(q.returncode == 0 and q.stdout.startswith(told), 'so is what it shows of verify', q.stdout + q.stderr)
judged = rows('run/analysis/replay.tsv')
over = {r['tensor'] for r in judged if int(r['over_bound'])}
none(sorted(over - {'1.dweight', '1.dbias'}), 'outside their bounds are at most the layer norm\'s gradients, as the guide has it')
program, t = json.load(open('run/program-train.json')), trace('run', 2)
name_of = [x['name'] for x in program['tensors']]
row = next(r for r in judged if r['tensor'] == '1.dbias' and r['step'] == '2')
dy = array(t[name_of[program['calls'][int(row['call'])]['in'][4]]]).double()
found = error(row, [math.fsum(c) for c in dy.T.tolist()])
ok(abs(found - float(row['ulp_max'])) <= 1e-6 * found + 1e-6, 'the error of its bias\'s gradient, %s ulps, is that which exact sums in Python find' % row['ulp_max'], found)

# --- what it does not know --------------------------------------------------------------------------------------------
class Opaque(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        y = self.a(x)
        y[:, 0] = 0.5
        return torch.lgamma(y * 1.5).exp().sum()


def unforeseen(s, a, out):
    raise KeyError('unforeseen')


model, kept = Opaque(), halfulp_trace.OPERATORS['sum']
recorder = halfulp_trace.record(model, 'opaque')
halfulp_trace.OPERATORS['sum'] = unforeseen
with recorder:
    model(torch.randn(3, 4)).backward()
halfulp_trace.OPERATORS['sum'] = kept
ok(model.a.weight.grad is not None and any("since KeyError: 'unforeseen'" in k for k in recorder.opaque), 'what the recorder does not foresee stops no training, and is told', recorder.summary())
half = {n for n, x in trace('opaque', 0).items() if x[1] == [3, 4] and (array(x)[:, 0] == 0.5).all()}
p = halfulp('analyze', 'opaque', '--only', 'replay')
program = json.load(open('opaque/program-train.json'))
names = {x['name']: i for i, x in enumerate(program['tensors'])}
made = {i for c in program['calls'] for i in c['out']}
ok(half and {names[n] for n in half} <= made, 'what a view wrote is put together of what was there and what was written', recorder.summary())
ok('aten.lgamma (' in recorder.summary() and json.load(open('opaque/manifest.json'))['opaque']['aten.lgamma'] >= 1,
        'an operator that is not known is counted', recorder.summary())
own = next(c for c in program['calls'] if names['model.lgamma'] in c['out'])
why = {'name': 'aten.lgamma', 'reason': 'halfulp has no such operator'}
read = any(names['model.lgamma'] in c['in'] and c['op'] == 'exp' for c in program['calls'])
ok(p.returncode == 0 and own['op'] == 'opaque' and own['opaque'] == why and read,
   'it is an opaque call, whose result the next call has', p.stderr)
try:
    halfulp_trace.record(model, 'opaque')
    ok(False, 'a directory that has something is not written to')
except FileExistsError as why:
    ok('opaque' in str(why), 'a directory that has something is not written to')
finish()

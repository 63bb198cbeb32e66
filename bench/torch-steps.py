#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The time of a training step beside PyTorch's on the same processor: our float32 and mixed_float16, and PyTorch's
# float32, from the same weights, with shapes, batch and threads alike. Each has a process of its own, and they take
# turns, a few steps each, so that a machine's busy minutes fall on all of them; the first turns are not timed. ms and
# cpu_ms are medians of a step's wall clock and of all its threads' processor time; a ratio is ours over PyTorch's, of
# mixed ours over our own float32. floor_ms is the least that the roofline of this processor allows (bench why). The
# losses of the first step have to agree, which shows that all of them compute the same. Exit code 1: they do not.
# --device cuda: on the GPU, ours with cuBLAS, PyTorch with cuDNN's choice of the fastest algorithm, channels last, and
# graphs off. Its TF32 and AMP (autocast to float16 and GradScaler) stand beside our tf32 and mixed_float16, and each
# ratio is ours over theirs. Our steps fetch each batch from the host; theirs use one that lies in the GPU's memory.
#   python3 bench/torch-steps.py [--device cuda] [--threads 1] [--rounds 5] [--steps 2] [MODEL...]
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, 't', 'trainer', 'model'))
MODELS = {
    'convnet': '--model convnet',
    'resnet18': '--model resnet --data scenes:size=64 --model stem=cifar --batch 8',
    'resnet18-imagenet': '--model resnet --data scenes:size=64 --model stem=imagenet --batch 32',
    'bert': '--model bert:layers=4,hidden=256',
    'ncf': '--model ncf',
    'ncf-large': '--model ncf:hidden=64,layers=4 --data users=4000,items=2000 --batch 4096',
    'unet': '--model unet',
    'gpt': '--model gpt',
    'mlp': '--model mlp',
    'resnet1d': '--model resnet1d',
    'convnet-published': '--model convnet --data size=256,channels=3 --batch 32',
    'resnet50': (
        '--model resnet:depth=50 --data scenes:size=224 --model stem=imagenet --batch 64 --data train=640,eval=64'
    ),
}
LARGE = 'convnet-published', 'resnet50'  # on a processor only where they are named
# Ours, whose steps it stands beside, and how far the first losses may be apart.
CPU = (('PyTorch', None, 0), ('float32', 'PyTorch', 1e-4), ('mixed_float16', 'float32', 1e-2))
GPU = (
    ('PyTorch', None, 0),
    ('PyTorch TF32', 'PyTorch', 1e-2),
    ('PyTorch AMP', 'PyTorch', 1e-2),
    ('float32', 'PyTorch', 1e-4),
    ('tf32', 'PyTorch TF32', 1e-2),
    ('mixed_float16', 'PyTorch AMP', 1e-2),
)
arguments = argparse.ArgumentParser()
arguments.add_argument('--device', choices=('cpu', 'cuda'), default='cpu')
arguments.add_argument('--precision', choices=('PyTorch', 'PyTorch TF32', 'PyTorch AMP'), default='PyTorch')
arguments.add_argument('--threads', type=int, default=1)
arguments.add_argument('--rounds', type=int, default=5)
arguments.add_argument('--steps', type=int, default=2, help='steps of a turn')
arguments.add_argument('--theirs', metavar='TRACE', help="take PyTorch's steps from this traced step on")
arguments.add_argument('models', nargs='*', metavar='MODEL', help=' '.join(MODELS))
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
TURNS = os.environ.get('TURNS', os.path.join(os.path.dirname(HALFULP), 'bench', 'tool', 'turns'))
if not os.path.exists(TURNS):
    sys.exit('%s is not there: `make -C build bench/tool/turns` builds it' % TURNS)
ROWS = GPU if args.device == 'cuda' else CPU
POLICIES = [who for who, _, _ in ROWS if 'PyTorch' not in who]
ALL = [m for m in MODELS if args.device == 'cuda' or m not in LARGE]
BACKEND = ['--backend', 'cuda', '--backend', 'gemm=cublas'] if args.device == 'cuda' else []


def option(model, name, default):
    said = re.search(r'\b%s=(\d+)' % name, MODELS[model])
    return int(said[1]) if said else default


def prepare(model, traced):
    """PyTorch's step of the model: a function that takes one and returns its loss."""
    import torch
    import torchnets
    from torch.nn import functional

    torch.set_num_threads(args.threads)
    device = torch.device(args.device)
    amp = args.precision == 'PyTorch AMP'
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == 'PyTorch TF32'
    torch.backends.cudnn.benchmark = True
    t = {name: torch.from_numpy(a.copy()).to(device) for name, a in traced.items()}
    inputs = {name: a for name, a in t.items() if name.startswith('input.')}
    labels = inputs.get('input.labels', inputs.get('input.mask')).long()
    net, family = None, model.split('-')[0]
    if family == 'bert':

        def forward():
            return functional.cross_entropy(torchnets.bert(p, inputs, option(model, 'layers', 2), 4), labels)
    elif family == 'gpt':

        def forward():
            logits = torchnets.gpt(p, inputs, option(model, 'layers', 2), 4)
            return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    elif family == 'mlp':

        def forward():
            return functional.cross_entropy(torchnets.mlp(p, inputs), labels)
    elif family == 'ncf':

        def forward():
            logits = torchnets.ncf(p, inputs, option(model, 'layers', 3))
            return functional.binary_cross_entropy_with_logits(logits, labels.float())
    else:
        x = torchnets.images(traced['input.x']).to(device)
        classes = {name: a.shape[-1] for name, a in traced.items()}
        if family == 'resnet18':
            net = torchnets.ResNet(64, (2, 2, 2, 2), False, classes['fc.w'], model.endswith('imagenet'))
        elif family == 'resnet50':
            net = torchnets.ResNet(64, (3, 4, 6, 3), True, classes['fc.w'], True)
        elif family == 'unet':
            net = torchnets.UNet(16, 3, classes['out.w'])
        elif family == 'resnet1d':
            net = torchnets.ResNet1d(64, x.shape[1], classes['fc2.w'])
        else:
            net = torchnets.ConvNet(1, x.shape[1], classes['dense1.w'])
        torchnets.init(net, traced).train().to(device)
        if args.device == 'cuda':
            net, x = (o.to(memory_format=torch.channels_last) for o in (net, x))

        def forward():
            return functional.cross_entropy(net(x), labels)

    p = {name: a.requires_grad_() for name, a in t.items() if name not in inputs}
    weights = list(net.parameters() if net else p.values())
    if family.startswith('resnet'):
        optimizer = torch.optim.SGD(weights, 0.05, 0.9)
    else:
        optimizer = (torch.optim.Adam if family in ('ncf', 'convnet') else torch.optim.AdamW)(weights, 1e-3)

    scaler = torch.amp.GradScaler(args.device, enabled=amp)

    def step():
        optimizer.zero_grad()
        with torch.autocast(args.device, torch.float16, enabled=amp):
            loss = forward()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if args.device == 'cuda':
            torch.cuda.synchronize()
        return loss.item()

    return step


def theirs(model, path):
    """Takes steps as bench/tool/turns does."""
    import torchnets

    step = prepare(model, torchnets.load(path))
    for line in sys.stdin:
        for _ in range(int(line)):
            start, used = time.perf_counter(), time.process_time()
            loss = step()
            print('%.4f\t%.4f\t%.9g' % (1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - used), loss))
        sys.stdout.flush()


def turn(process, steps):
    process.stdin.write('%d\n' % steps)
    process.stdin.flush()
    return [[float(x) for x in process.stdout.readline().split('\t')] for _ in range(steps)]


def floors(options, env):
    line = [HALFULP, 'bench', 'why', *options, *BACKEND[:2], '--policy', ','.join(POLICIES)]
    line += ['--steps', '1', '--steps', 'warm=0', '--json']
    rows = json.loads(subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout)
    return {r['policy']: r['predicted_ms'] for r in rows if r['layer'] == 'all'}


def measure(model, home):
    options = MODELS[model].split()
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads)) # how threads wait is each program's own default
    run = os.path.join(home, model)
    names = 'input.*,*.w,*.b' + ('' if model.startswith(('ncf', 'mlp')) else ',*.gamma,*.beta')
    shown = ['--steps', '1', '--trace', 'steps=0', '--trace', names, '--quiet', run]
    subprocess.run([HALFULP, 'train', *options, *BACKEND, *shown], env=env, check=True)
    floor = floors(options, env)
    trace = run + '/trace/step-000000.safetensors'
    lines = {p: [TURNS, *options, *BACKEND, '--policy', p] for p in POLICIES}
    own = [sys.executable, __file__, '--device', args.device, '--threads', str(args.threads), '--theirs', trace, model]
    for who in [who for who, _, _ in ROWS if who not in POLICIES]:
        lines[who] = [*own, '--precision', who]
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}
    process = {who: subprocess.Popen(line, env=env, **pipes) for who, line in lines.items()}
    loss = {who: turn(p, 2 if args.device == 'cpu' else 10)[0][2] for who, p in process.items()}
    if args.device == 'cpu': # the first steps were taken while other processes started
        for p in process.values():
            turn(p, 12)
    taken = {who: [] for who in process}
    for _ in range(args.rounds):
        for who, p in process.items():
            taken[who] += turn(p, args.steps)
    for p in process.values():
        p.stdin.close()
        p.wait()
    ms, cpu = ({who: statistics.median(t[k] for t in steps) for who, steps in taken.items()} for k in (0, 1))
    wrong = []
    for who, beside, most in ROWS:
        ratio = ['%.2f' % (t[who] / t[beside]) if beside else '-' for t in (ms, cpu)]
        row = [model, who, '%.2f' % ms[who], '%.2f' % cpu[who], *ratio]
        row += ['%.2f' % floor[who] if who in floor else '-', '%.6f' % loss[who]]
        print('\t'.join(row), flush=True)
        if beside and not abs(loss[who] - loss[beside]) <= most * abs(loss[beside]):
            wrong.append('%s: the first loss of %s is %g, of %s %g' % (model, who, loss[who], beside, loss[beside]))
    return wrong


try:
    import torch  # noqa: F401
except (ImportError, OSError) as why:
    print('torch-steps: skipped, since Python has no torch: %s' % str(why).splitlines()[0])
    sys.exit(0)
unknown = [m for m in args.models if m not in MODELS]
if unknown:
    arguments.error('no model %s' % unknown[0])
if args.theirs:
    theirs(args.models[0], args.theirs)
    sys.exit(0)
print('model\twho\tms\tcpu_ms\tms_ratio\tcpu_ratio\tfloor_ms\tfirst_loss', flush=True)
with tempfile.TemporaryDirectory(prefix='halfulp-steps-') as folder:
    wrong = [line for m in args.models or ALL for line in measure(m, folder)]
print('\n'.join(wrong), end='\n' if wrong else '', file=sys.stderr)
sys.exit(1 if wrong else 0)

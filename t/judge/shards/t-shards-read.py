# SPDX-License-Identifier: Apache-2.0
# What a shard reads of a run, by the program's own calls and the headers of its files: it compares with their checksums
# the tensors that it judges, finds the same whatever all others are, and refuses any byte of its own that was changed;
# merge refuses changes of what nobody judges, and one process those of any byte.
import json
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import forget, trained  # noqa: E402
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

os.chdir(home())
dice = random.Random(int(os.environ.get('HALFULP_SEED', '20261127')))
TAKEN, LEFT = (0, 2), 4  # steps that are analyzed, and one that is traced too
trained('run', '--steps', '6', '--trace', 'steps=0,2,4', '--checkpoint-every', '3', '--policy', 'mixed_float16')
CHECKPOINT = 'checkpoint/step-000006.safetensors'
manifest = json.load(open('run/manifest.json'))
program = json.load(open('run/program-train.json'))
name = {t['id']: t['name'] for t in program['tensors']}
made = {t for c in program['calls'] for t in c['out']}


def trace(step):
    return 'trace/step-%06d.safetensors' % step


class File(Tensors):
    """A tensor file: .at[name] is the range of its bytes, .header their beginning."""

    def __init__(self, path):
        super().__init__(path)
        self.meta = self.head.pop('__metadata__')
        self.header = os.path.getsize(path) - len(self.body)
        self.at = {k: [self.header + x for x in v['data_offsets']] for k, v in self.head.items()}


files = {step: File('run/' + trace(step)) for step in (*TAKEN, LEFT)}
checks = {name[c['out'][0]] for c in program['calls'] if c['op'] == 'finite_check'}


becomes = {t[k] for t in program['tensors'] if t.get('trainable') for k in ('next', 'grad') if t.get(k) is not None}


def judged(part, options):
    """The tensors that the units of a part are of, as pairs of a step and a name."""
    units = [line.split('\t')[0].split('.') for line in open(part) if line[0] not in '#u']
    found = {(step, t) for step in TAKEN for t in checks}
    for step, call, *_ in units:
        if call != 'all':
            c = program['calls'][int(call)]
            found |= {(int(step), name[t]) for t in c['in'] + c['out']}
        # without an exact execution the step's own: what no call computes, what weights become, and their gradients
        else:
            found |= {(int(step), t) for k, t in name.items()
                      if '--no-propagate' not in options or k not in made or k in becomes}
    return {(step, t) for step, t in found if t in files[step].head}


def bytes_of(tensors):
    """What a shard of these tensors compares: them, the headers of all steps, and the programs."""
    n = sum(files[s].at[t][1] - files[s].at[t][0] for s, t in tensors) + sum(files[s].header for s in TAKEN)
    return n + sum(os.path.getsize('run/' + f) for f in manifest['files'] if f.startswith('program-'))


def found(part):
    """The units of a part, without their times."""
    return [line.split('\t')[:1] + line.split('\t')[3:] for line in open(part) if line[0] not in '#u']


def changed(run, file, ranges):
    """Makes RUN a copy with every byte of these ranges of a file another one."""
    if not os.path.exists(run):
        shutil.copytree('run', run)
    raw = bytearray(open('run/' + file if not os.path.exists(run + '/' + file) else run + '/' + file, 'rb').read())
    for first, last in ranges:
        for k in range(first, last):
            raw[k] ^= dice.randrange(1, 256)
    open(run + '/' + file, 'wb').write(raw)


def one_byte(run, file, first, last):
    shutil.rmtree(run, ignore_errors=True)
    k = dice.randrange(first, last)
    changed(run, file, [(k, k + 1)])


def shard(i, n, options, run):
    return halfulp('analyze', '--shard', '%d/%d:part=a.part' % (i, n), '--json', *options, run)


def problem(p, *texts):
    """Why this is no refusal in one line that has these texts; '' where it is one."""
    fine = p.returncode == 3 and p.stderr.count('\n') == 1 and all(t in p.stderr for t in texts)
    return '' if fine else 'exit %d: %s' % (p.returncode, p.stderr[:300])


N = 4
NARROW = ['--no-propagate', '--sample', '12', '--steps', '0,2', '--accumulate', 'fma,acc=fp16']
WHOLE = ['--sample', '12', '--steps', '0,2']
parts = {}
for options in (NARROW, WHOLE):
    wrong, every, said = [], set(), []
    for i in range(1, N + 1):
        p = shard(i, N, options, 'run')
        if p.returncode:
            bail_out(p.stderr)
        mine = judged('a.part', options)
        every |= mine
        parts[options[0], i] = mine, found('a.part')
        os.remove('a.part')
        said.append(json.loads(p.stdout)['checked_bytes'])
        if said[-1] != bytes_of(mine):
            wrong.append('shard %d: %d bytes, here %d' % (i, said[-1], bytes_of(mine)))
    none(wrong, '%s: %d shards compare %s bytes, those of the tensors that they judge' % (options[0], N, said))
    lacks = {(s, t) for s in TAKEN for t in files[s].head} - every
    none(sorted(lacks), '%s: each of %d tensors is judged by a shard' % (options[0], len(every)))
whole = {(s, t) for s in TAKEN for t in files[s].head}
ok(
    all(len(parts[NARROW[0], i][0]) < 0.75 * len(whole) for i in range(1, N + 1)),
    'no shard judges three quarters of the %d tensors' % len(whole),
    [len(parts[NARROW[0], i][0]) for i in range(1, N + 1)],
)

# Everything that a shard does not judge is noise: it finds what it found
for options in (NARROW, WHOLE):
    for i in range(1, N + 1):
        mine, before = parts[options[0], i]
        shutil.rmtree('noise', ignore_errors=True)
        for step in TAKEN:
            changed('noise', trace(step), [r for t, r in files[step].at.items() if (step, t) not in mine])
        for file in manifest['files']:
            if not file.startswith(('program-', 'trace/')) or file == trace(LEFT):
                changed('noise', file, [(0, os.path.getsize('run/' + file))])
        p = shard(i, N, options, 'noise')
        ok(
            p.returncode == 0 and found('a.part') == before,
            '%s: shard %d finds the same where all else is noise: %d of %d tensors, other steps, checkpoints, tables'
            % (options[0], i, len(whole - mine), len(whole)),
            p.stderr[:300],
        )
        if os.path.exists('a.part'):
            os.remove('a.part')

# A byte of a tensor that was changed is refused by each shard that judges it, and by no other
wrong, refusals = [], 0
for step, t in dice.sample(sorted(whole), 10) + [(2, 'dense1.w')]:
    one_byte('bad', trace(step), *files[step].at[t])
    for i in range(1, N + 1):
        p = shard(i, N, NARROW, 'bad')
        if (step, t) in parts[NARROW[0], i][0]:
            why = problem(p, 'bad/' + trace(step), 'tensor %s, bytes %d to %d' % (t, *files[step].at[t]), 'restore it')
            refusals += 1
        else:
            why = '' if p.returncode == 0 else 'exit %d: %s' % (p.returncode, p.stderr[:200])
        wrong += ['shard %d, step %d, %s: %s' % (i, step, t, why)] * bool(why)
        if os.path.exists('a.part'):
            os.remove('a.part')
none(wrong, 'a byte of 11 tensors: refused by the shards that judge them, %d times, and by no other' % refusals)

# A byte of the header, or one too few or too many, is refused by all
wrong = []
for k in (0, 3, 8, files[0].header // 2, files[0].header - 1, -1, -2):
    one_byte('bad', trace(0), max(k, 0), max(k, 0) + 1)
    raw = open('run/' + trace(0), 'rb').read()
    if k < 0:
        open('bad/' + trace(0), 'wb').write(raw[:-1] if k == -1 else raw + b'\0')
    for i in (1, N):
        text = 'the header' if k >= 0 else 'bytes, the manifest says'
        why = problem(shard(i, N, NARROW, 'bad'), 'bad/' + trace(0), text)
        wrong += ['shard %d, byte %d: %s' % (i, k, why)] * bool(why)
none(wrong, 'a byte of the header, one byte too few, one too many: every shard refuses them')

# What no shard judges: merge looks at it, once all parts are there
forget('run')
for i in range(1, N + 1):
    halfulp('analyze', '--shard', '%d/%d' % (i, N), *NARROW, 'run')
wrong = []
for file in (trace(LEFT), CHECKPOINT, 'metrics.tsv', 'grads.tsv', trace(0) + ' header'):
    path = file.split()[0]
    last = os.path.getsize('run/' + path)
    one_byte('bad', path, *((last // 2, last) if path == file else (0, files[0].header)))
    for words in (['merge', 'bad'], ['merge', '--list', 'bad']):
        why = problem(halfulp(*words), 'bad/' + path, 'its checksum is')
        why = why or 'a table' * os.path.exists('bad/analysis/replay.tsv')
        wrong += ['%s, %s: %s' % (words, file, why)] * bool(why)
none(wrong, 'a byte of what no shard judges is refused by merge')
one_byte('bad', trace(0), *files[0].at['dense1.w'])
p = halfulp('merge', 'bad')
ok(p.returncode == 0, 'merge does not read again what shards have judged', p.stderr[:300])

# One process reads all of the run, and every command refuses what it refused, now by the tensor's name
wrong = []
ALONE = (
    ['analyze', 'bad'],
    ['analyze', '--steps', '0', 'bad'],
    ['analyze', '--resume', *NARROW, 'bad'],
    ['verify', 'bad'],
    ['verify', '--trace', 'bad'],
    ['check', 'bad', '--baseline', 'none.tsv'],
    ['diff', 'run', 'bad'],
    ['train', '--resume', 'bad'],
)
there = File('run/' + CHECKPOINT)
BYTES = (
    (trace(0), 'tensor dense2.w', *files[0].at['dense2.w']),
    (trace(LEFT), 'tensor input.x', *files[LEFT].at['input.x']),
    (CHECKPOINT, 'tensor dense3.b', *there.at['dense3.b']),
    (trace(2), 'the header', 0, files[2].header),
    ('metrics.tsv', 'its checksum', 0, 100),
)
for file, t, first, last in BYTES:
    one_byte('bad', file, first, last)
    for words in ALONE:
        why = problem(halfulp(*words), 'bad/' + file + ':', t, 'the file was changed; train again or restore it')
        wrong += ['%s, %s: %s' % (' '.join(words), file, why)] * bool(why)
none(wrong, '%d commands of one process refuse a byte of a tensor, of a header and of a table' % len(ALONE))

# Manifests that say too little, or nonsense
wrong = []
NONSENSE = (
    ({'header': 5}, 'the manifest says nothing'),
    ({'header': 'x' * 999}, 'the manifest says xxxx'),
    ({'header': None}, 'the manifest says nothing'),
    ({'bytes': 'many'}, 'the manifest says 0'),
)
for change, text in NONSENSE:
    shutil.rmtree('bad')
    shutil.copytree('run', 'bad')
    m = json.load(open('bad/manifest.json'))
    m['files'][trace(0)].update(change)
    json.dump(m, open('bad/manifest.json', 'w'))
    why = problem(shard(1, N, NARROW, 'bad'), 'bad/' + trace(0), text)
    wrong += ['%s: %s' % (change, why)] * bool(why)
none(wrong, 'an entry of the manifest that is nonsense')

# A run of an older version, whose manifest has checksums of whole files alone: every shard compares all of a step
shutil.rmtree('bad')
shutil.copytree('run', 'bad')
shutil.rmtree('bad/analysis')
m = json.load(open('bad/manifest.json'))
for entry in m['files'].values():
    entry.pop('header', None)
json.dump(m, open('bad/manifest.json', 'w'))
shutil.copytree('bad', 'old')
every = [f for f in manifest['files'] if f.startswith('program-') or f in (trace(0), trace(2))]
every = sum(os.path.getsize('run/' + f) for f in every)
p = shard(1, N, NARROW, 'old')
ok(
    p.returncode == 0 and json.loads(p.stdout)['checked_bytes'] == every and found('a.part') == parts[NARROW[0], 1][1],
    'of an older run a shard compares both whole steps, %d bytes, and finds the same' % every,
    p.stdout + p.stderr,
)
os.remove('a.part')
wrong = []
others = sorted(whole - parts[NARROW[0], 1][0])
for step, t in [others[0], others[-1]]:
    shutil.copy('old/' + trace(0), 'bad/' + trace(0))
    shutil.copy('old/' + trace(2), 'bad/' + trace(2))
    changed('bad', trace(step), [(files[step].at[t][0], files[step].at[t][0] + 1)])
    why = problem(shard(1, N, NARROW, 'bad'), 'bad/' + trace(step) + ': its checksum is')
    wrong += [t + ': ' + why] * bool(why)
none(wrong, 'and refuses a byte of any tensor of them')
finish()

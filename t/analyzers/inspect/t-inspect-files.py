#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# inspect on several files and on a checkpoint in shards: which rows there are, their totals, order and choice, rules
# and their exit codes; casts to fp16 are made here by Python's own packing. Then blocks along another axis. HALFULP
# names the program.
import json, math, os, random, re, struct, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, none, ok  # noqa: E402


def write(path, tensors):
    head, body = {}, b''
    for name, (shape, values) in tensors.items():
        head[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [len(body), len(body) + 4 * len(values)]}
        body += struct.pack('<%df' % len(values), *values)
    text = json.dumps(head).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + body)


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def half(x):
    return struct.unpack('<e', struct.pack('<e', x))[0]


def index(weight_map, name='model.safetensors.index.json'):
    with open(name, 'w') as f:
        json.dump({'metadata': {'total_size': 1}, 'weight_map': weight_map}, f)
    return name


def rows(*words):
    ran = halfulp('inspect', *words, '--json')
    return json.loads(ran.stdout) if ran.returncode in (0, 1) and ran.stdout else []


def figures(values):
    """What casting to fp16 does to finite values within its range."""
    pairs = [(x, half(x)) for x in values]
    norm, errors = math.fsum(x * x for x in values), [abs(y - x) for x, y in pairs]
    tiny = [(x, y) for x, y in pairs if x and abs(y) < 2**-14]
    rel = math.sqrt(math.fsum(e * e for e in errors) / norm)
    return {
        'elements': len(values),
        'nonzeros': sum(x != 0 for x in values),
        'became_zero': sum(y == 0 for x, y in tiny),
        'ftz': len(tiny),
        'became_subnormal': sum(y != 0 for x, y in tiny),
        'lost_bits': sum(0 < abs(x) < 2**-14 and x != y for x, y in pairs),
        'rel_l2': rel,
        'sqnr_db': -20 * math.log10(rel),
        'max_error': max(errors),
        'mean_error': math.fsum(errors) / len(values),
        'amax': max(map(abs, values)),
        'smallest_nonzero': min(abs(x) for x in values if x),
        'overflow': 0,
        'saturated': 0,
        'nonfinite': 0,
        'l2_share_lost': math.sqrt(math.fsum(x * x for x, y in pairs if y == 0) / norm),
        'cosine': math.fsum(x * y for x, y in pairs) / math.sqrt(norm * math.fsum(y * y for x, y in pairs)),
    }


def wrong(row, want):
    return [
        '%s of %s: %r, not %r' % (k, row['tensor'], row[k], v)
        for k, v in want.items()
        if not (row[k] == v or isinstance(v, float) and abs(row[k] - v) <= 1e-12 * abs(v))
    ]


os.chdir(home())
r = random.Random(11)
draw = lambda n, low, high: [f32(r.gauss(0, 1) * 10 ** r.uniform(low, high)) for _ in range(n)]
first = {'a.weight': ([3, 7000], draw(21000, -3, 0)), 'a.bias': ([7], draw(7, -8, -6))}
second = {'b.weight': ([40, 50], draw(2000, -9, -6)), 'c.weight': ([64], draw(64, 0, 2))}
write('model-1.safetensors', first)
write('model-2.safetensors', second)
every = {**first, **second}
shards = {n: 'model-1.safetensors' if n in first else 'model-2.safetensors' for n in every}
index(shards)

got = rows('model-1.safetensors', 'model-2.safetensors', '--to', 'fp16', '--totals')
ok([g['tensor'] for g in got] == ['all', *first, *second], 'the total, then the tensors of both files')
bad = [w for g in got[1:] for w in wrong(g, figures(every[g['tensor']][1]))]
none(bad + wrong(got[0], figures([x for _, v in every.values() for x in v])),
     'figures of each tensor and of all together')
ok([g['file'] for g in got] == [None] + ['model-1.safetensors'] * 2 + ['model-2.safetensors'] * 2
   and got[0]['max_error_at'] is None and got[0]['shape'] is None,
   'each row names its file; the total has none, and no place')
ok(rows('model.safetensors.index.json', '--to', 'fp16', '--totals') == got, 'an index stands for its shards')
table = halfulp('inspect', 'model.safetensors.index.json').stdout.splitlines()
ok(table[0].split()[-1] == 'file' and table[1].split()[-1] == 'model-1.safetensors',
   'the table has the file where there are several')
got = rows('model.safetensors.index.json', '--to', 'fp16,bf16', '--sort', 'sqnr_db')
ok(len(got) == 8 and [g['sqnr_db'] for g in got] == sorted(g['sqnr_db'] for g in got),
   'sorted from the smallest number')
down = rows('model.safetensors.index.json', '--to', 'fp16,bf16', '--sort', 'tensor:reverse')
ok([g['tensor'] for g in down] == sorted((g['tensor'] for g in got), reverse=True), 'sorted by a text, from the last')
some = rows('model.safetensors.index.json', '--to', 'fp16,bf16', '--tensors', 'b.*,*.bias', '--totals')
ok([g['tensor'] for g in some] == ['all', 'all', 'a.bias', 'a.bias', 'b.weight', 'b.weight'] and some[0]['elements']
   == 2007, 'tensors by pattern, and the total of these')
said = halfulp('inspect', 'model.safetensors.index.json', '--tensors', '*.bias').stdout
ok('3 of other names were passed over' in said, 'how many were passed over is said')
low = rows('model.safetensors.index.json', '--to', 'fp16,bf16', '--show', 'sqnr<30', '--show', 'zeroed>1%')
ok(
    [(g['tensor'], g['to']) for g in low]
    == [
        (g['tensor'], g['to'])
        for g in rows('model.safetensors.index.json', '--to', 'fp16,bf16')
        if g['sqnr_db'] < 30 and g['became_zero'] > 0.01 * g['elements']
    ]
    != [],
    'rows of which both rules are true',
)

ran = halfulp('inspect', 'model.safetensors.index.json', '--to', 'fp16,bf16', '--fail-if', 'sqnr<30')
told = [re.match(r'failed: (\S+) in (\S+): sqnr_db is (\S+) \(sqnr<30\)$', l) for l in ran.stdout.splitlines()
        if l.startswith('failed')]
failing = [
    (g['tensor'], g['to'], '%.4g' % g['sqnr_db'])
    for g in rows('model.safetensors.index.json', '--to', 'fp16,bf16')
    if g['sqnr_db'] < 30
]
ok(ran.returncode == 1 and failing and [m and m.groups() for m in told] == failing,
   'exit 1, and a line for each tensor that fails', ran.stdout)
ok(halfulp('inspect', 'model-1.safetensors', '--fail-if', 'elements<3').returncode == 0, 'exit 0 where none does')
ran = halfulp('inspect', 'model-1.safetensors', '--to', 'fp16', '--fail-if', 'rel_l2>1e-3', '--fail-if',
              'overflow>=1', '--tap')
lines = ran.stdout.splitlines()
ok(
    ran.returncode == 1
    and '1..4' in lines
    and sum(l.startswith('not ok') for l in lines) == 1
    and sum(l.startswith('ok') for l in lines) == 3
    and any(l.startswith('not ok') and 'a.bias in fp16: not rel_l2>1e-3' in l for l in lines),
    'TAP, a line for each tensor and rule',
    lines,
)
got = rows('model-1.safetensors', '--to', 'fp16', '--fail-if', 'rel_l2>1e-3')
ok([g['failed'] for g in got] == [[], ['rel_l2>1e-3']], 'JSON says which rules are true of a row')
write('odd.safetensors', {'n': ([2], [math.nan, math.inf]), 'z': ([2], [0.0, 0.0])})
ran = halfulp('inspect', 'odd.safetensors', '--to', 'fp16', '--fail-if', 'sqnr<30', '--fail-if', 'cosine<0.9')
ok(ran.returncode == 1 and ran.stdout.count('failed: n in fp16: no element is finite') == 2
   and 'failed: z' not in ran.stdout, 'where nothing is finite every rule on errors is true; zeros keep them')
ran = halfulp('inspect', 'odd.safetensors', '--to', 'mxfp4', '--fail-if', 'ftz>=0')
ok(ran.returncode == 0, 'a column that does not apply satisfies no rule')

# Along axis 0 of a matrix blocks are those along the last axis of its transpose
k, n = 70, 30
m = [f32(r.gauss(0, 1) * 10 ** r.uniform(-2, 1)) for _ in range(k * n)]
write('m.safetensors', {'w': ([k, n], m)})
write('t.safetensors', {'w': ([n, k], [m[i * n + j] for j in range(n) for i in range(k)])})
for to in ('mxfp4', 'nvfp4', 'int4x16'):
    (a,), (b,) = rows('m.safetensors', '--to', to, '--axis', '0'), rows('t.safetensors', '--to', to)
    place = a['max_error_at'] % n * k + a['max_error_at'] // n
    same = all(a[c] == b[c] for c in a if c not in ('axis', 'shape', 'file', 'max_error_at'))
    ok(same and place == b['max_error_at'] and a['axis'] == 0, '%s along axis 0' % to, [a, b])
    ok(rows('m.safetensors', '--to', to, '--axis', '-1')[0] == {**rows('m.safetensors', '--to', to)[0], 'axis': 1},
       '%s along axis -1' % to)

# Formats without a scale for each block have no axis, and alone they leave --axis without an effect
got = rows('m.safetensors', '--to', 'fp16,mxfp4,int8', '--axis', '0')
ok([g['axis'] for g in got] == [None, 0, None], 'the axis of the format that scales along one', got)
for to in ('fp16', 'bf16,int8'):
    ran = halfulp('inspect', 'm.safetensors', '--to', to, '--axis', '0')
    ok(ran.returncode == 2 and '--axis has no effect' in ran.stderr, '--axis with %s' % to, ran.stderr)

# A gate over no tensor could not fail
for more in ((), ('--tap',), ('--totals',)):
    for names in ('typo', 'w,typo', ''):
        ran = halfulp('inspect', 'm.safetensors', '--tensors', names, '--fail-if', 'sqnr<300', *more)
        ok(ran.returncode == 2 and not ran.stdout and "the pattern '%s'" % names.split(',')[-1] in ran.stderr,
           '--tensors %s %s fits nothing' % (names, ' '.join(more)), ran.stderr)

write('model-3.safetensors', {'d': ([1], [1.0])})
for what, path, text in (
    ('a tensor that its shard lacks', index({**shards, 'x': 'model-2.safetensors'}, 'x.index.json'), 'tensor x'),
    (
        'a tensor that the index lacks',
        index({n: f for n, f in shards.items() if n != 'a.bias'}, 'y.index.json'),
        'it has 2 tensors',
    ),
    (
        'a shard outside of the folder',
        index({'d': '../model-3.safetensors'}, 'z.index.json'),
        "'../model-3.safetensors'",
    ),
    ('a shard that is absent', index({'d': 'none.safetensors'}, 'v.index.json'), 'No such file'),
    ('no file name', index({'d': 3}, 'u.index.json'), "weight_map's d"),
    ('no weight_map', index({}, 't.index.json'), 'no weight_map'),
):
    ran = halfulp('inspect', path)
    ok(ran.returncode == 3 and text in ran.stderr and ran.stderr.count('\n') == 1 and not ran.stdout,
       'an index with %s: exit 3, one line' % what, ran.stderr)
with open('s.index.json', 'w') as f:
    f.write('{"weight_map": ')
ok(halfulp('inspect', 's.index.json').returncode == 3, 'an index cut short: exit 3')
counts = 'elements nonfinite nonzeros became_zero became_subnormal lost_bits ftz overflow saturated'.split()
columns = [c for c in rows('m.safetensors')[0] if c != 'note']
shares = [c for c in columns if halfulp('inspect', 'm.safetensors', '--fail-if', c + '<0%').returncode == 0]
ok(shares == counts, 'columns that count elements have a share of them, and no others', shares)
# Every column orders rows, those that it does not apply to last, and those that are equal as they stand in the file
write(
    'order.safetensors',
    {
        n: ([len(v)], v)
        for n, v in {
            'big': [1e5, 3, 70000, -2],
            'small': [1e-6, 2e-8, 5e-8, 1e-40],
            'odd': [math.nan, math.inf],
            'z': [0.0] * 3,
            'one': [1.1, 2.3, -1.7],
            'again': [1.1, 2.3, -1.7],
            'w_v': [1e-9, 2e-3, 3e-5],
            'huge': [1e38 if i == 3 else 2.0**i / 3 for i in range(9)],
        }.items()
    },
)
asked = ['order.safetensors', '--to', 'fp16,e4m3,mxfp4']
all_, wrong = rows(*asked), []
number = lambda v: float(v) if isinstance(v, str) else v
ERRORS = ('rel_l2', 'sqnr_db', 'max_error', 'mean_error', 'l2_share_lost', 'cosine')
words = ('tensor', 'dtype', 'to', 'shape', 'file')
for c in columns:
    for down in (False, True):
        real = [g for g in all_ if g[c] is not None]
        want = sorted(real, key=lambda g: g[c] if c in words else number(g[c]), reverse=down)
        want += [g for g in all_ if g[c] is None]
        got = rows(*asked, '--sort', c + ':reverse' * down)
        wrong += [(c, down)] if [(g['tensor'], g['to']) for g in got] != [(g['tensor'], g['to']) for g in want] else []
none(wrong, '%d columns order %d rows' % (len(columns), len(all_)))
rules, want = [], {}
for c in columns:
    for op in ('<', '<=', '>', '>=') if c not in words and any(g[c] is not None for g in all_) else ():
        for share in ('', '%') if c in counts else ('',):
            of = lambda g: 100 * g[c] / g['elements'] if share else number(g[c])
            limits = sorted({of(g) for g in all_ if g[c] is not None})
            limit = limits[len(limits) // 2]
            rules.append('%s%s%r%s' % (c, op, limit, share))
            for g in all_:
                void = c in ERRORS and g['elements'] and g['max_error'] is None
                holds = (
                    void
                    if g[c] is None
                    else (of(g) < limit if '<' in op else of(g) > limit) or ('=' in op and of(g) == limit)
                )
                said = ('is %.4g%s' % (of(g), share) if g[c] is not None else 'no element is finite' if void
                        else 'does not apply')
                want[g['tensor'], g['to'], rules[-1]] = 'not ok' if holds else 'ok', said
ran = halfulp('inspect', *asked, *(w for r in rules for w in ('--fail-if', r)), '--tap')
told = {m.groups()[1:4]: m for m in (re.match(r'(ok|not ok) \d+ - (\S+) in (\S+): not ([^:]+): (.*)', l)
                                     for l in ran.stdout.splitlines()) if m}
none(
    [
        '%s: %s' % (k, told[k].group(0) if k in told else 'not there')
        for k, (verdict, said) in want.items()
        if k not in told or told[k][1] != verdict or said not in told[k][5]
    ]
    + ([] if len(told) == len(want) > 1000 and ran.returncode == 1 else [len(told), len(want)]),
    '%d rules of every column and sign on %d rows' % (len(rules), len(all_)),
)
for rule in ('sqnr', 'sqnr=3', 'tensor<3', 'snr<3', 'sqnr<x', 'sqnr<3%', '<3', 'sqnr<', 'sqnr<nan'):
    ran = halfulp('inspect', 'm.safetensors', '--fail-if', rule)
    ok(ran.returncode == 2 and ran.stderr.count('\n') == 1, 'rule %s: exit 2: %s' % (rule, ran.stderr.strip()))
finish()

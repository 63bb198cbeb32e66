#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# inspect --best-scale: the scales and their errors against every candidate's, computed here one by one. Powers of two
# are tried far to both sides of the best, so that nothing is taken from the program's reasons for stopping.
import json, math, os, random, struct, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, ok  # noqa: E402

FILE = os.path.join(home(), 't.safetensors')
fl32 = lambda x: struct.unpack('<f', struct.pack('<f', x))[0]
floats = lambda v: struct.unpack('<%df' % len(v), struct.pack('<%df' % len(v), *v))
# precision, least exponent, largest, whether larger values become it
FLOAT = {'e4m3': (4, -6, 448.0, False), 'fp16': (11, -14, 65504.0, False), 'e2m1': (2, 0, 6.0, True)}


def write(tensors):
    head, body = {}, b''
    for name, (kind, values) in tensors.items():
        data = struct.pack('<%d%s' % (len(values), {'F32': 'f', 'F64': 'd'}[kind]), *values)
        head[name] = {'dtype': kind, 'shape': [len(values)], 'data_offsets': [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    with open(FILE, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + body)


def cast(x, to):
    """The nearest value of the format, ties to even; None beyond the range."""
    p, emin, top, saturates = FLOAT[to]
    if x == 0:
        return 0.0
    unit = math.ldexp(1, max(math.frexp(abs(x))[1] - 1, emin) - p + 1)
    y = round(abs(x) / unit) * unit
    if y > top:
        if not saturates:
            return None
        y = top
    return math.copysign(y, x)


def sqnr(x, got):
    m = max(map(abs, x))
    e2, x2 = math.fsum(((a - b) / m) ** 2 for a, b in zip(x, got)), math.fsum((a / m) ** 2 for a in x)
    return math.inf if e2 == 0 else 10 * math.log10(x2 / e2)


def best_power(x, to):
    """Of the powers that err least the one with the smallest scale."""
    middle = math.frexp(FLOAT[to][2])[1] - math.frexp(max(map(abs, x)))[1]
    tried = []
    for k in range(middle - 5, middle + 12):
        got = [cast(math.ldexp(a, k), to) for a in x]
        if None not in got:
            tried.append((sqnr(x, [math.ldexp(g, -k) for g in got]), k))
    most = max(q for q, k in tried)
    return math.ldexp(1, -max(k for q, k in tried if q == most)), most


def integers(x, low, high, bits, zp):
    """Integer codes that follow from a range, and their scale."""
    if zp:
        low, high, top, least = min(low, 0), max(high, 0), (1 << bits) - 1, 0
        s = fl32((high - low) / top)
        z = min(round(-low / s), top)
    else:
        top = (1 << bits - 1) - 1
        least, z = -top, 0
        s = fl32(max(-low, high) / top)
    return s, floats([s * (min(max(round(a / s) + z, least), top) - z) for a in x])


def mx(x, amax):
    s = math.ldexp(1, math.frexp(amax)[1] - 1 - 2)
    return s, [s * cast(a / s, 'e2m1') for a in x]


def best_range(x, of, first=0):
    tried = []
    for i in range(first, 16 * 5):
        s, got = of(x, *(fl32(e * 2 ** (-i / 16)) for e in (min(x), max(x), max(map(abs, x)))))
        tried.append((sqnr(x, got), s, got))
    best = max(t[0] for t in tried)
    return next(t for t in tried if t[0] == best)


def in_blocks(x, size, of, first=0):
    got = [g for at in range(0, len(x), size) for g in best_range(x[at : at + size], of, first)[2]]
    return None, sqnr(x, got)


symmetric = lambda bits: lambda x, low, high, amax: integers(x, low, high, bits, False)
affine = lambda bits: lambda x, low, high, amax: integers(x, low, high, bits, True)
WANT = {
    'int8': lambda x: best_range(x, symmetric(8)),
    'int4': lambda x: best_range(x, symmetric(4)),
    'int4zp': lambda x: best_range(x, affine(4)),
    'int4x32': lambda x: in_blocks(x, 32, symmetric(4)),
    'mxfp4': lambda x: in_blocks(x, 32, lambda x, low, high, amax: mx(x, amax), -16),
}
WANT.update({to: lambda x, to=to: best_power(x, to) for to in FLOAT})

r = random.Random(11)
normal = lambda n, s: [fl32(r.gauss(0, s)) for i in range(n)]
tensors = {
    'weights': ('F32', normal(200, 0.02)),
    'outlier': ('F32', normal(150, 1) + [fl32(97.7)]),
    'one side': ('F32', [fl32(abs(a) + 0.5) for a in normal(64, 1)]),
    'tiny': ('F32', normal(40, 1e-7)),
    'large': ('F32', normal(40, 1e7)),
    'spread': ('F32', [fl32(r.gauss(0, 1) * 10 ** r.uniform(-7, 0)) for i in range(96)]),
    'far outlier': ('F32', [fl32(r.choice((-1, 1)) * r.uniform(0.6, 1)) for i in range(900)] + [16.0]),
    'doubles': ('F64', [r.gauss(0, 1e-200) for i in range(50)]),
    'beyond fp32': ('F64', [r.gauss(0, 1e100) for i in range(50)]),  # integers and blocks, which fp32 scales, have none
}
write(tensors)
ran = subprocess.run([HALFULP, 'inspect', FILE, '--best-scale', '--json', '--totals', '--to', ','.join(WANT)],
                     capture_output=True, text=True)
rows = {(o['tensor'], o['to']): o for o in json.loads(ran.stdout)} if ran.returncode == 0 else {}
ok(len(rows) == (len(tensors) + 1) * len(WANT), 'a row for each tensor and format %s' % ran.stderr.strip())
for to, want in WANT.items():
    wrong, gains = [], 0
    for name, (kind, x) in tensors.items():
        if kind == 'F64' and to not in FLOAT:
            continue
        w, got = want(x), rows[name, to]
        q, s = (w[0], w[1]) if to not in FLOAT and w[0] is not None else (w[1], w[0])
        near = abs(float(got['best_sqnr_db']) - q) <= 1e-9 * abs(q) or float(got['best_sqnr_db']) == q
        if not near or got['best_scale'] != s:
            wrong.append('%s: %r %r, not %r %r' % (name, got['best_scale'], got['best_sqnr_db'], s, q))
        gains += float(got['best_sqnr_db']) > float(got['sqnr_db'] or 0) + 0.01
    ok(
        not wrong and (gains or to == 'int8'),
        '%s: the best of all scales tried here, %s%s'
        % (
            to,
            'and better than none in %d tensors' % gains if gains else 'none much better than none',
            ''.join('\n# ' + w for w in wrong),
        ),
    )
ok(
    all(o['best_scale'] is None for (name, to), o in rows.items() if name == 'all')
    and rows['all', 'e4m3']['best_sqnr_db'] > 25,
    'all tensors together have an error, and no scale',
)

plain = subprocess.run([HALFULP, 'inspect', FILE, '--json'], capture_output=True, text=True).stdout
ok('best' not in plain, 'without the option there is no such column')
run = lambda *a: subprocess.run([HALFULP, 'inspect', FILE, *a], capture_output=True, text=True)
refused = [
    run('--to', 'e4m3', option, 'best_sqnr_db' + limit)
    for option, limit in (('--sort', ''), ('--fail-if', '<3'), ('--show', '<3'))
]
ok(all(p.returncode == 2 and 'is empty without --best-scale' in p.stderr for p in refused),
   'and nothing can be asked of it')
p = run('--to', 'e4m3', '--fail-if', 'sqnr<3', '--fail-if', 'best_sqnr_db<3')
ok(p.returncode == 2 and '--fail-if: column best_sqnr_db is empty without --best-scale' in p.stderr,
   'nor by a second rule', p.stderr)
worst, name = min((o['best_sqnr_db'], name) for (name, to), o in rows.items() if to == 'e2m1' and name != 'all')
limit = 'best_sqnr_db<%.3f' % (worst + 0.001)
p = run('--to', 'e4m3,e2m1', '--best-scale', '--fail-if', limit, '-o', FILE + '.tsv', '--sort', 'best_sqnr_db')
ok(p.returncode == 1 and 'failed: %s in e2m1: best_sqnr_db is %.4g (%s)' % (name, worst, limit) in p.stdout,
   '--fail-if takes it')
table = [l.split('\t') for l in open(FILE + '.tsv') if l[0] != '#']
ok(float(table[1][table[0].index('best_sqnr_db')]) == worst, '-o and --sort too')
finish()

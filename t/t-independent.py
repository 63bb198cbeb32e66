# SPDX-License-Identifier: Apache-2.0
# The independent judge: 1000 random outputs of a real traced convnet step, and
# some of an mlp's, computed again outside the program from trace/*.safetensors
# and program-train.json, by exact rationals or enclosures of more than 400 bits.
# The errors in ulps that replay reports must agree exactly, and so must swamped
# additions of products and the underflow counts of casts.
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction as Q

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from independent import FORMATS, Exact, Ideal, NotFinite, Safetensors, error_ulps, fl, iv, log2floor, pow2  # noqa: E402

HALFULP = os.environ.get('HALFULP', './halfulp')
tests = failures = 0


def ok(passed, text, why=''):
    global tests, failures
    tests += 1
    failures += not passed
    print('%s %d - %s' % ('ok' if passed else 'not ok', tests, text))
    for line in str(why).splitlines() if not passed else []:
        print('# ' + line)
    sys.stdout.flush()


def run(*words):
    r = subprocess.run([HALFULP, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if r.returncode:
        print('Bail out! halfulp %s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr.strip()))
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(255)


def table(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def pick(rows, n, dice):
    """N rows, the same share of each operator as far as it has that many."""
    by_op = {}
    for row in rows:
        by_op.setdefault(calls[int(row['call'])]['op'], []).append(row)
    chosen = []
    for op in by_op:
        dice.shuffle(by_op[op])
    while len(chosen) < n and any(by_op.values()):
        for op in sorted(by_op):
            if by_op[op] and len(chosen) < n:
                chosen.append(by_op[op].pop())
    return chosen


def near(x, lo, hi):
    """A reference of 200 bits or more of a value between lo and hi."""
    if lo == hi == x:
        return True
    if lo == 0 or hi == 0:
        return False
    slack = pow2(log2floor(lo) - 198)
    return lo - slack <= x <= hi + slack


def parse_hex(text):
    """A hex float of any precision as a Fraction."""
    sign = -1 if text.startswith('-') else 1
    mantissa, _, exponent = text.lstrip('-').lower()[2:].partition('p')
    whole, _, part = mantissa.partition('.')
    return sign * Q(int(whole + part, 16)) * pow2(int(exponent or 0) - 4 * len(part))


def judge_errors(exact, rows):
    wrong, seen, skipped = [], {}, 0
    for row in rows:
        call = calls[int(row['call'])]
        k = [program['tensors'][t]['name'] for t in call['out']].index(row['tensor'])
        i = int(row['element'])
        out = exact.t[call['out'][k]]
        try:
            value = exact.value(call, k, i)
            got = out[i]
        except NotFinite:
            skipped += 1
            continue
        if value is None:
            wrong.append('no rule for operator ' + call['op'])
            continue
        value = iv(value)
        mine, theirs = error_ulps(got, value, out.format), float(row['error_ulps'])
        seen[call['op']] = seen.get(call['op'], 0) + 1
        if mine != theirs or not near(parse_hex(row['exact_hex']), value.lo, value.hi):
            wrong.append('%s %s[%d]: %r here, %r there; exact %r here, %s there' % (call['op'], row['tensor'], i, mine, theirs, float(value.lo), row['exact_hex'][:40]))
    return wrong, seen, skipped


def judge_swamping(exact, rows, n, dice):
    wrong, done = [], 0
    rows = [r for r in rows if calls[int(r['call'])]['op'] in ('matmul', 'conv2d', 'conv2d_dx', 'conv2d_dw') and calls[int(r['call'])]['sum'].startswith('fma')]
    dice.shuffle(rows)
    for row in rows[:n]:
        call = calls[int(row['call'])]
        try:
            count, swamped, sums = exact.swamped(call, 0, int(row['element']))
        except NotFinite:
            continue
        done += 1
        if (count, swamped) != (int(row['additions']), int(row['swamped'])):
            wrong.append('%s[%s]: %d of %d here, %s of %s there' % (row['tensor'], row['element'], swamped, count, row['swamped'], row['additions']))
    return wrong, done


def judge_underflow(exact, rows):
    wrong, done, zeros = [], 0, 0
    for row in rows:
        if row['call'] == '-' or calls[int(row['call'])]['op'] != 'cast' or row['from'] == 'exact':
            continue
        call = calls[int(row['call'])]
        x, y = exact.t[call['in'][0]], exact.t[call['out'][0]]
        emin = FORMATS[row['to']][3]
        counts = [0, 0, 0, 0, 0]
        for i in range(x.n):
            try:
                a, b = x[i], y[i]
            except NotFinite:
                break
            if a == 0:
                continue
            zero, sub = b == 0, 0 < abs(b) < pow2(emin)
            counts[0] += 1
            counts[1] += zero
            counts[2] += sub
            counts[3] += abs(a) < pow2(emin) and a != b
            counts[4] += zero or sub
        else:
            done += 1
            zeros += counts[1]
            theirs = [int(row[c]) for c in ('nonzeros', 'became_zero', 'became_subnormal', 'lost_bits', 'ftz')]
            if counts != theirs or int(row['elements']) != x.n:
                wrong.append('%s: %r here, %r there' % (row['tensor'], counts, theirs))
    return wrong, done, zeros


def judge_results(exact, rows, elements, n, dice):
    """Underflow of results rounded to a narrower format, on the sampled elements of N tensors."""
    wrong, done = [], 0
    rows = [r for r in rows if r['call'] != '-' and r['from'] != 'exact' and calls[int(r['call'])]['op'] != 'cast']
    dice.shuffle(rows)
    for row in rows[:n]:
        call = calls[int(row['call'])]
        k = [program['tensors'][t]['name'] for t in call['out']].index(row['tensor'])
        emin, counts = FORMATS[row['to']][3], [0, 0, 0, 0, 0]
        sample = [int(e['element']) for e in elements if e['tensor'] == row['tensor']]
        try:
            for i in sample:
                a, b = iv(exact.value(call, k, i)), exact.t[call['out'][k]][i]
                if a.lo == a.hi == 0:
                    continue
                zero, sub = b == 0, 0 < abs(b) < pow2(emin)
                tiny = max(abs(a.lo), abs(a.hi)) < pow2(emin)
                counts[0] += 1
                counts[1] += zero
                counts[2] += sub
                counts[3] += tiny and not a.lo == a.hi == b
                counts[4] += zero or sub
        except NotFinite:
            continue
        done += 1
        theirs = [int(row[c]) for c in ('nonzeros', 'became_zero', 'became_subnormal', 'lost_bits', 'ftz')]
        if counts != theirs or int(row['elements']) != len(sample):
            wrong.append('%s: %r of %d here, %r there' % (row['tensor'], counts, len(sample), theirs))
    return wrong, done


def judge_updates(exact, rows, n, dice):
    """Swamped weight updates of a tensor small enough to take whole."""
    wrong, done = [], 0
    for row in rows:
        if row['kind'] != 'update' or row['tensor'] == 'all' or int(row['outputs']) > n:
            continue
        call = calls[int(row['call'])]
        w, after = exact.t[call['in'][0]], exact.t[call['out'][0]]
        moved = swamped = 0
        for i in range(w.n):
            d = iv(exact.value(call, 0, i)) - w[i]
            if d.lo == d.hi == 0:
                continue
            moved += 1
            swamped += after[i] == w[i]
        done += 1
        if (moved, swamped) != (int(row['additions']), int(row['swamped'])):
            wrong.append('%s: %d of %d here, %s of %s there' % (row['tensor'], swamped, moved, row['swamped'], row['additions']))
    return wrong, done


def rounding():
    """The judge's own rounding on values with known answers."""
    known = [(Q(1) + pow2(-11), 'fp16', Q(1)), (Q(1) + 3 * pow2(-11), 'fp16', Q(1) + pow2(-9)), (Q(65519), 'fp16', Q(65504)), (Q(65520), 'fp16', 'inf'),
             (pow2(-25), 'fp16', Q(0)), (3 * pow2(-26), 'fp16', pow2(-24)), (Q(464), 'e4m3', Q(448)), (Q(465), 'e4m3', 'nan'), (pow2(-10), 'e4m3', Q(0))]
    ok(all(fl(x, f) == y for x, f, y in known), 'rounding of known values')


def close(mine, theirs):
    """fp64 rounds the exact step in replay: an error of the recorded tensor is known to 2^-53 of its values, 2^-20 of itself."""
    return theirs == '-' or abs(mine - float(theirs)) <= 1e-6 * max(mine, 1e-30)


def propagated():
    """The exact step of a small mlp, the whole of it in intervals."""
    path = os.path.join(folder, 'small')
    run('train', '--model', 'mlp', '--width', '0.03125', '--size', '8', '--train', '40', '--eval', '8', '--batch', '8', '--steps', '3', '--trace-steps', '2', '--policy', 'mixed_float16', '--quiet', path)
    run('analyze', '--only', 'replay', path)
    program = json.load(open(os.path.join(path, 'program-train.json')))
    ideal = Ideal(program, Safetensors(os.path.join(path, 'trace', 'step-000002.safetensors')))
    rows = table(os.path.join(path, 'analysis', 'replay.tsv'))
    wrong, told = [], 0
    for row in rows:
        t = [x['id'] for x in program['tensors'] if x['name'] == row['tensor']][0]
        mine = ideal.distance(t)
        theirs = [row['propagated_' + c] for c in ('ulp_max', 'ulp_mean', 'rel_normwise')]
        told += theirs[2] not in ('-', '0')
        if not all(close(a, b) for a, b in zip(mine, theirs)) or (theirs[2] == '-' and row['format'] != 'fp64'):
            wrong.append('%s: %r here, %r there' % (row['tensor'], mine, theirs))
    ok(told >= 40 and not wrong, 'the propagated errors of %d tensors of a whole step agree' % told, '\n'.join(wrong[:12]))


def one_run(name, train, outputs, must_have):
    global program, calls
    dice = random.Random(20240607)
    path = os.path.join(folder, name)
    run('train', *train, '--quiet', path)
    elements = os.path.join(folder, name + '.elements')
    run('analyze', '--only', 'replay,swamping,underflow', '--sample', '60', '--elements', elements, path)
    program = json.load(open(os.path.join(path, 'program-train.json')))
    calls = program['calls']
    step = max(int(f[5:-12]) for f in os.listdir(os.path.join(path, 'trace')))
    exact = Exact(program, Safetensors(os.path.join(path, 'trace', 'step-%06d.safetensors' % step)))
    this = lambda rows: [r for r in rows if int(r['step']) == step]  # noqa: E731
    rows = pick(this(table(elements)), outputs, dice)
    wrong, seen, skipped = judge_errors(exact, rows)
    judged = sum(seen.values())
    ok(judged >= 0.9 * outputs, '%s: %d random outputs recomputed (%d not finite)' % (name, judged, skipped), 'of %d asked for' % outputs)
    ok(not wrong, '%s: every error in ulps is exactly the one reported' % name, '%d of %d differ\n' % (len(wrong), judged) + '\n'.join(wrong[:12]))
    ok(set(must_have) <= set(seen), '%s: the operators judged are %s' % (name, ' '.join('%s:%d' % s for s in sorted(seen.items()))), 'missing: %s' % (set(must_have) - set(seen)))
    wrong, done = judge_swamping(exact, this(table(elements + '.swamping')), 200, dice)
    ok(done >= 40 and not wrong, '%s: swamped additions agree in %d sums' % (name, done), '\n'.join(wrong[:12]))
    analysis = os.path.join(path, 'analysis')
    wrong, done, zeros = judge_underflow(exact, this(table(os.path.join(analysis, 'underflow.tsv'))))
    ok(done > 0 and not wrong, '%s: underflow counts agree for %d casts (%d values zeroed)' % (name, done, zeros), '\n'.join(wrong[:12]))
    wrong, done = judge_results(exact, this(table(os.path.join(analysis, 'underflow.tsv'))), this(table(elements)), 10, dice)
    ok(done >= 8 and not wrong, '%s: and for the sampled results of %d tensors' % (name, done), '\n'.join(wrong[:12]))
    wrong, done = judge_updates(exact, this(table(os.path.join(analysis, 'swamping.tsv'))), 700, dice)
    ok(done > 0 and not wrong, '%s: swamped updates agree for %d parameters' % (name, done), '\n'.join(wrong[:12]))


folder = tempfile.mkdtemp(prefix='halfulp-test-')
rounding()
propagated()
one_run('convnet', ['--model', 'convnet', '--width', '0.125', '--size', '16', '--train', '96', '--eval', '16', '--batch', '16', '--steps', '4', '--trace-steps', '3', '--policy', 'mixed_float16', '--optimizer', 'sgd', '--momentum', '0.9', '--weight-decay', '1e-4'],
        1000, ['conv2d', 'conv2d_dx', 'conv2d_dw', 'matmul', 'bias', 'bias_db', 'relu', 'relu_dx', 'avgpool', 'avgpool_dx', 'cast', 'unscale', 'sgd', 'batchnorm', 'batchnorm_dx', 'softmax_xent', 'softmax_xent_dx'])
one_run('mlp', ['--model', 'mlp', '--width', '0.125', '--size', '12', '--train', '96', '--eval', '16', '--batch', '16', '--steps', '4', '--trace-steps', '3', '--policy', 'float16', '--eps', '1e-4', '--loss-scale', 'static:1024'],
        300, ['matmul', 'adamw', 'adam_clock', 'cast'])
one_run('adam', ['--model', 'mlp', '--optimizer', 'adam', '--width', '0.0625', '--size', '8', '--train', '96', '--eval', '16', '--batch', '16', '--steps', '4', '--trace-steps', '3', '--policy', 'mixed_bfloat16', '--eps', '1e-5'],
        300, ['matmul', 'adam', 'adam_clock', 'cast'])
print('1..%d' % tests)
if failures:
    print('# files kept in ' + folder)
else:
    shutil.rmtree(folder)
sys.exit(failures > 0)

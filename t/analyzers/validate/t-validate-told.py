#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What validate prints is what it says under --json, whose figures other tests compute again: every line of the table,
# of decisions that changed, of the exact network, of budgets, of sensitivity by node and of TAP, written once more from
# the JSON. Then models without classes, values that are not finite, and arrays that the data lack.
import json, math, os, random, re, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(11)
N, I, H, C = 36, 10, 12, 5
AGREE = 40  # bits below float32's own error where a bound is lowered (lib/judge/propagate.h)
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
x = draw(N * I, 1)
npz('x.npz', x=([N, I], x), y=([N], [random.randrange(C) for _ in range(N)], '<i8'))
npz('c.npz', x=([20, I], x[: 20 * I]))


def mlp(name, classes, scale, first='first'):
    weights = [floats('w1', [I, H], draw(I * H, 0.4)), floats('w2', [H, classes], draw(H * classes, scale))]
    nodes = [
        node('MatMul', 'x w1', 'h', name=first),
        node('Relu', 'h', 'r', name='relu'),
        node('MatMul', 'r w2', 'y', name='second'),
    ]
    write(name, graph(nodes, weights, [value('x', ['n', I])], [value('y', ['n', classes])]))


def run(code, *words):
    r = tap.halfulp('validate', *words)
    if r.returncode != code:
        tap.bail_out('%s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr))
    return r.stdout


def cell(pattern, v):
    return '-' if v is None else pattern % v


# Each column of the table, whether its texts stand at the left, and which columns a table that is wider than the
# terminal loses first: the largest number; 0 is never lost.
COLUMNS = [
    ('verdict', True, 0),
    ('policy', True, 0),
    ('flips', False, 0),
    ('flips %, 95 %', False, 2),
    ('open', False, 4),
    ('right %', False, 1),
    ('rel_l2', False, 5),
    ('sqnr dB', False, 1),
    ('max_error', False, 3),
    ('kl', False, 6),
    ('nonfinite', False, 1),
    ('weights MB', False, 1),
]


def table(told, width):
    """The lines of the table of policies."""
    decides = told['output'] is not None
    some = any(r['nonfinite'] for r in told['policies'])
    rows = [
        [
            r['verdict'],
            r['policy'],
            cell('%d', r['flips']),
            '%.2f..%.2f' % (100 * r['flips_low'], 100 * r['flips_high']) if decides else '-',
            '-' if r['open'] is None else '%d/%d' % (r['open'], r['told']),
            '-' if r['accuracy'] is None else '%.2f' % (100 * r['accuracy']),
            cell('%.3g', r['rel_l2']),
            cell('%.1f', r['sqnr_db']) if r['rel_l2'] else 'inf',
            cell('%.3g', r['max_error']),
            cell('%.3g', r['kl']),
            '%d' % r['nonfinite'] if some else '-',
            '%.4g' % (r['weight_bytes'] / 1e6),
        ]
        for r in told['policies']
    ]
    kept = [i for i, (_, _, rank) in enumerate(COLUMNS) if not rank or any(row[i] != '-' for row in rows)]
    wide = lambda i: max(len(row[i]) for row in [[c[0] for c in COLUMNS]] + rows)
    while sum(wide(i) + 2 for i in kept) - 2 > width and any(COLUMNS[i][2] for i in kept):
        kept.remove(max(reversed(kept), key=lambda i: COLUMNS[i][2]))
    line = lambda row: '  '.join((row[i].ljust if COLUMNS[i][1] else row[i].rjust)(wide(i)) for i in kept).rstrip()
    return [line([c[0] for c in COLUMNS])] + [line(row) for row in rows]


def shown(row, rule, form):
    """What the inputs show of a rule on a share (t-confidence computes it again); an empty text for other rules."""
    said = next(r['shown'] for r in row['rules'] if r['rule'] == rule)
    return form % said if said else ''


def decision(told):
    """The last line: which policy keeps every rule with the fewest bytes of weights."""
    base, *rest = told['policies']
    if not told['accept']:
        return "No budget was named: with --accept 'flips<=1%' halfulp decides."
    if not rest:
        return 'No policy beside float32 was run, so nothing is decided.'
    keeps = [r for r in rest if r['verdict'] == 'pass']
    if not keeps:
        return 'No policy keeps %s.' % ' and '.join(told['accept'])
    best = min(keeps, key=lambda r: r['weight_bytes'])
    figures = {'rel_l2': 'rel_l2', 'sqnr': 'sqnr_db', 'nonfinite': 'nonfinite', 'max_error': 'max_error'}
    said = []
    for rule in told['accept']:
        name = re.match(r'\w+', rule)[0]
        said.append(
            '%s (%s)' % (rule, next(r['shown'] for r in best['rules'] if r['rule'] == rule))
            if name == 'flips'
            else '%s (%.4g)' % (rule, best[figures[name]])
        )
    times = base['weight_bytes'] / best['weight_bytes']
    smaller = ', %.1f times smaller' % times if times > 1.05 else ''
    return '%s keeps %s on these inputs%s.' % (best['policy'], ' and '.join(said), smaller)


def words(told):
    """The sentences below the table."""
    rows, lines = told['policies'], []
    if told['output']:
        lines += [
            '',
            "A flip is an input whose decision, the largest of the %d values along the last axis of output '%s', "
            "differs from float32's." % (told['classes'], told['output']),
        ]
    else:
        lines += [
            '',
            'No output has two classes or more along its last axis: nothing is decided, only distances are told.',
        ]
    for r in rows:
        one = [
            "%d from %d to %d (by %s, float32's margin %.3g)"
            % (c['input'], c['was'], c['is'], 'nan' if c['margin'] is None else '%.3g' % c['margin'], c['margin32'])
            for c in r['changed'] or []
        ]
        if one:
            lines.append(
                '%s changes input %s%s.'
                % (
                    r['policy'],
                    '; '.join(one[:4]),
                    '; %d more, which --json lists' % (len(one) - 4) if len(one) > 4 else '',
                )
            )
    lines += [
        '%s: %d of %d products of Conv, Gemm and MatMul nodes are quantised.'
        % (r['policy'], r['quantised'], r['products'])
        for r in rows
        if r['quantised']
    ]
    c = told.get('calibration')
    if c and c['data'] == told['data']:
        lines.append('Static scales were measured on the first %d inputs of the data themselves.' % c['inputs'])
    elif c:
        lines.append('Static scales were measured on %d inputs of %s.' % (c['inputs'], c['data']))
    for r in rows:
        if r['first_nonfinite']:
            layer = r['first_nonfinite']
            lines.append('%s: the first value that is not finite comes from layer %s (cast).' % (r['policy'], layer))
        for lost in r['lost_constants']:
            where = (r['policy'], lost['was'], lost['layer'], lost['is'] or '0', lost['format'])
            if lost['elements'] == lost['of']:
                lines.append('%s: on the way there the constant %.6g of layer %s is %s in %s.' % where)
            else:
                lines.append('%s: on the way there %d of %d elements of a constant of layer %s are infinite in %s, of '
                    'which the largest is %.6g.' % (r['policy'], lost['elements'], lost['of'], lost['layer'],
                    lost['format'], lost['was']))
    x = told.get('exact')
    if x:
        lines += [
            '',
            "The exact network, on %d input%s: float32 is at most %.3g off, %.3g of the output's largest magnitude."
            % (x['inputs'], 's' * (x['inputs'] != 1), x['max_error'], x['relative']),
        ]
        if told['output']:
            lines.append(
                re.compile(
                    r"float32 decides otherwise than it on %d; on \d+ float32's margin is no larger than its own"
                    r" error\." % x['changed']
                )
            )
        if x['untold']:
            lines.append(
                'Of %d more input%s nothing is told, because the bounds on the exact values leave a decision or a'
                ' distance open.' % (x['untold'], 's' * (x['untold'] != 1))
            )
        if x['agreed']:
            lines.append(
                "On %d input%s running bounds were too wide somewhere, and bounds of 2^-%d of float32's own error"
                " took their place." % (x['agreed'], 's' * (x['agreed'] != 1), AGREE)
            )
    for r in rows:
        for f in r['fails']:
            lines.append(
                '%s fails %s: it is %.4g%s%s.'
                % (r['policy'], f['rule'], f['is'], ' %' * f['rule'].endswith('%'), shown(r, f['rule'], ' (%s)'))
            )
    return lines


def fitted(table, ranks, left, columns):
    """TABLE's lines, of at most COLUMNS columns: names count as 24 at most, the largest rank goes first."""
    width = [max(len(r[i]) for r in table) for i in range(len(ranks))]
    keep = [i for i, k in enumerate(ranks) if columns >= 1000 or not k or any(r[i] != '-' for r in table[1:])]
    most = lambda i: min(width[i], 24) if i < left else width[i]
    hidden = 0
    while sum(most(i) + 2 for i in keep) - 2 > columns:
        keep.remove(max(keep, key=lambda i: (ranks[i], i)))
        hidden += 1
    while sum(width[i] + 2 for i in keep) - 2 > columns:
        width[max(range(left), key=lambda i: (width[i] if i in keep else 0, -i))] -= 1
    short = lambda c, w: c if len(c) <= w else c[: (w - 1) // 2] + '…' + c[len(c) - (w - 1 - (w - 1) // 2) :]
    line = lambda r: '  '.join(
        short(r[i], width[i]).ljust(width[i]) if i < left else r[i].rjust(width[i]) for i in keep
    )
    told = '%d column%s left out to fit %d: --json has all.' % (hidden, 's are' if hidden > 1 else ' is', columns)
    return [line(r).rstrip() for r in table] + [told] * (hidden > 0)


def sensitivity(told, columns):
    lines, part = [], lambda n, key: 100 * n[key] / n['operands'] if n['operands'] else None
    for r in told['policies']:
        s = r.get('sensitivity')
        if not s:
            continue
        lines += [
            '',
            '%s, node by node, on %d input%s: low, the node alone; high, all but it; local, its own results'
            % (r['policy'], s['inputs'], 's' * (s['inputs'] != 1)),
            "amax, p99.9 and outliers are of the node's results in float32; zeroed and saturated of its operands "
            'that are no constants.',
        ]
        heads = 'node operator low flips local amplified high flips amax p99.9 outliers zeroed_% saturated_%'.split()
        table = [[h.replace('_', ' ') for h in heads]]
        for n in s['nodes'][:24]:
            table.append(
                [
                    n['node'],
                    n['operator'],
                    '%.3g' % n['low_rel_l2'],
                    '%d' % n['low_flips'],
                    '%.3g' % n['local_rel_l2'],
                    cell('%.3g', n['amplification']),
                    '%.3g' % n['high_rel_l2'],
                    '%d' % n['high_flips'],
                    '%.3g' % n['amax'],
                    '%.3g' % n['p99_9'],
                    '%d' % n['outlier_channels'],
                    cell('%.3g', part(n, 'zeroed')),
                    cell('%.3g', part(n, 'saturated')),
                ]
            )
        lines += fitted(table, (0, 3, 0, 2, 4, 5, 1, 7, 6, 9, 8, 6, 6), 2, columns)
        if len(s['nodes']) > 24:
            lines.append('%d more nodes do less; --json lists all.' % (len(s['nodes']) - 24))
        lines.append(
            "The squares of the nodes' errors add up to (%.3g)^2; all of them together make %.3g, %s times as much."
            % (
                s['additive_rel_l2'],
                s['joint_rel_l2'],
                cell('%.3g', s['joint_rel_l2'] / s['additive_rel_l2'] if s['additive_rel_l2'] else None),
            )
        )
    return lines


def compare(what, code, *line):
    told = json.loads(run(code, *line, '--json'))
    got = run(code, *line).split('\n')
    os.environ['COLUMNS'] = '80'
    narrow = run(code, *line).split('\n')
    del os.environ['COLUMNS']
    head = r'%s: %d nodes, \d+ calls, on %d inputs in batches of %d' % (
        told['model'],
        told['nodes'],
        told['policies'][0]['inputs'],
        told['batch'],
    )
    plain = lambda line: re.sub(r' -?inf', lambda m: ' ' * (len(m[0]) - 1) + '-', line)  # JSON has null for both
    same = lambda a, b: b.fullmatch(a) if isinstance(b, re.Pattern) else plain(a) == plain(b)
    for got, width, where in ((got, 1000, ''), (narrow, 80, ', where a line has 80 columns')):
        rows = table(told, width)
        want = [re.compile(head), ''] + rows + words(told) + sensitivity(told, width) + ['', decision(told), '']
        wrong = [(a, b) for a, b in zip(got, want) if not same(a, b)] or (
            [] if len(got) == len(want) else [(len(got), len(want))]
        )
        tap.ok(not wrong, '%s: %d lines as --json has them%s' % (what, len(want), where), '%s' % wrong[:2])
        most = max(map(len, rows))
        tap.ok(most <= width, '%s: the table has at most %d columns' % (what, width), most)
    return told


mlp('m.onnx', C, 0.3, 'a/name/that/is/longer/than/the/column/of/nodes/which/has/48/letters')
told = compare(
    'decisions, budgets and nodes',
    1,
    'm.onnx',
    '--data',
    'x.npz',
    '--labels',
    'x.npz:y',
    '--policy',
    'float16,e4m3,mxfp4,int8',
    '--sensitivity',
    '--sensitivity-inputs',
    '5',
    '--exact',
    '3',
    '--accept',
    'flips<=1%',
    '--accept',
    'rel_l2<=0.01',
)
fails = [len(r['fails']) for r in told['policies']]
tap.ok(
    max(len(r['changed']) for r in told['policies']) > 4 and min(fails) == 0 and max(fails) == 2,
    'more decisions change than are listed; budgets are kept and broken',
    fails,
)
told = compare(
    'one input',
    0,
    'm.onnx',
    '--data',
    'x.npz',
    '--policy',
    'int8',
    '--calibrate',
    'c.npz',
    '--calibrate-inputs',
    '8',
    '--batch',
    '4',
    '--sensitivity',
    '--sensitivity-inputs',
    '1',
    '--exact',
    '1',
)
DEEP = 14
write(
    'deep.onnx',
    graph(
        sum(
            ([node('MatMul', 'h%d w' % k, 'm%d' % k), node('Tanh', 'm%d' % k, 'h%d' % (k + 1))] for k in range(DEEP)),
            [],
        )
        + [node('Identity', 'h%d' % DEEP, 'y')],
        [floats('w', [I, I], draw(I * I, 0.3))],
        [value('h0', ['n', I])],
        [value('y', ['n', I])],
    ),
)
npz('h.npz', h0=([3, I], x[: 3 * I]))
told = compare(
    'more nodes than are listed',
    0,
    'deep.onnx',
    '--data',
    'h.npz',
    '--policy',
    'bfloat16',
    '--sensitivity',
    '--exact',
    '0',
)
tap.ok(len(told['policies'][-1]['sensitivity']['nodes']) > 25, 'which are more than 25')
# So deep that running bounds lose every digit of some values (t/judge/u-propagate-bounded.c)
WIDE, LAYERS = 24, 48
square = lambda k: floats('w%d' % k, [WIDE, WIDE], draw(WIDE * WIDE, 0.3))
write(
    'abyss.onnx',
    graph(
        [
            n
            for k in range(LAYERS)
            for n in (node('MatMul', 'h%d w%d' % (k, k), 'm%d' % k), node('Relu', 'm%d' % k, 'r%d' % k))
            + (
                (node('Add', 'h%d r%d' % (k, k), 'h%d' % (k + 1)),)
                if k % 2
                else (node('Identity', 'r%d' % k, 'h%d' % (k + 1)),)
            )
        ]
        + [node('MatMul', 'h%d v' % LAYERS, 'y')],
        [square(k) for k in range(LAYERS)] + [floats('v', [WIDE, C], draw(WIDE * C, 0.3))],
        [value('h0', ['n', WIDE])],
        [value('y', ['n', C])],
    ),
)
for n in 1, 2:
    npz('abyss.npz', h0=([n, WIDE], draw(n * WIDE, 1)))
    told = compare(
        'a deep network, %d input%s' % (n, 's' * (n > 1)),
        0,
        'abyss.onnx',
        '--data',
        'abyss.npz',
        '--policy',
        'bfloat16',
        '--exact',
        str(n),
    )
    tap.ok(told['exact']['agreed'] == n, 'whose bounds took the place of running ones', told['exact'])
mlp('one.onnx', 1, 1)
compare('an output without classes', 0, 'one.onnx', '--data', 'x.npz', '--policy', 'fp16,bfloat16', '--exact', '2')
mlp('large.onnx', C, 1e5)
told = compare(
    'values that are not finite', 0, 'large.onnx', '--data', 'x.npz', '--policy', 'float16,bfloat16', '--exact', '0'
)
tap.ok(
    [bool(r['nonfinite']) for r in told['policies']] == [False, True, False]
    and told['policies'][1]['first_nonfinite'] == 'second',
    'of float16, from the second layer on',
)

# Of many batches the last one alone leaves float16: of a network it is told where, whichever batches came before
npz('late.npz', x=([N, I], x[:-1] + [1e6]))
told = compare(
    'one value that is not finite, in the last batch',
    0,
    'm.onnx',
    '--data',
    'late.npz',
    '--policy',
    'float16',
    '--exact',
    '0',
    '--batch',
    '5',
)
tap.ok(
    told['policies'][1]['nonfinite'] > 0 and 'of/nodes' in str(told['policies'][1]['first_nonfinite']),
    'of float16, from the first layer on',
    told['policies'][1]['first_nonfinite'],
)

# NaN for NaN and equal infinities are no error, NaN for a number is one: both distances from the outputs themselves
write(
    'roots.onnx',
    graph(
        [
            node('MatMul', 'x w', 'h'),
            node('Sqrt', 'h', 's'),
            node('Mul', 'h large', 'f'),
            node('Exp', 'f', 'e'),
            node('Concat', 's e', 'y', axis=1),
        ],
        [floats('w', [I, 3], draw(I * 3, 0.4)), floats('large', [1], [70])],
        [value('x', ['n', I])],
        [value('y', ['n', 6])],
    ),
)
for policy in 'bfloat16', 'fp16':
    [one] = [
        r
        for r in json.loads(
            run(0, 'roots.onnx', '--data', 'x.npz', '--policy', policy, '--exact', '0', '--json', '--outputs', policy)
        )['policies']
        if r['policy'] == policy
    ]
    now, was = outputs('%s/%s.npz' % (policy, policy))['y'][1], outputs(policy + '/float32.npz')['y'][1]
    off = [
        0 if a == b or a != a and b != b else abs(a - b) if math.isfinite(a - b) else math.inf
        for a, b in zip(now, was)
    ]
    size = math.sqrt(math.fsum(b * b for b in was if math.isfinite(b)))
    same = lambda a, b: a == b or a is None and b == math.inf or math.isclose(a or 0, b, rel_tol=1e-9)
    tap.ok(
        any(b != b for b in was)
        and math.inf in was
        and same(one['max_error'], max(off))
        and same(one['rel_l2'], math.hypot(*off) / size),
        '%s: NaN for NaN is no error: %s, %s' % (policy, one['max_error'], one['rel_l2']),
        (max(off), math.hypot(*off) / size),
    )

# every figure that a rule can ask for, by its value in the row and by the limit as it is written
rules = ['sqnr>=30', 'flips<=1%', 'accuracy>=15%', 'accuracy>=0.9', 'accuracy<=0.18', 'kl<=1e-3', 'rel_l2<=0.05']
rules += ['max_error<=0.02', 'nonfinite<=0', 'flips<=0', 'sqnr_db>=20.5', 'rel_l2>=1e-4']
asked = ('m.onnx', '--data', 'x.npz', '--labels', 'x.npz:y', '--policy', 'fp16,mxfp4', '--exact', '0')
told = json.loads(run(1, *asked, '--json', '--report', 'page', *sum((['--accept', r] for r in rules), [])))
lines, n = run(1, *asked, '--tap', *sum((['--accept', r] for r in rules), [])).split('\n'), 0
want, wrong = ['1..%d' % (len(rules) * len(told['policies']))], []
for r in told['policies']:
    fails = {f['rule']: f['is'] for f in r['fails']}
    for rule in rules:
        n += 1
        figure, least, limit = re.fullmatch(r'(\w+)([<>])=(.*)', rule).groups()
        of = r.get({'sqnr': 'sqnr_db'}.get(figure, figure))
        of = 100 * of / N if rule == 'flips<=1%' else math.inf if of is None else of
        limit = float(limit.rstrip('%')) / (100 if rule == 'accuracy>=15%' else 1)
        bad = of < limit if least == '>' else of > limit
        wrong += [(rule, r['policy'], of)] if bad != (rule in fails) else []
        want.append(
            '%sok %d - %s: %s, it is %s%s%s'
            % (
                'not ' * (rule in fails),
                n,
                r['policy'],
                rule,
                '%.4g' % of,
                ' %' * (rule == 'flips<=1%'),
                shown(r, rule, '; %s'),
            )
        )
tap.ok(lines == want + [''], 'TAP: %d lines' % len(want), [x for x in zip(lines, want) if x[0] != x[1]])
tap.none(wrong, 'rules are broken by what is beyond their limits, and by nothing else')
kept = json.load(open('page/validation.json'))
tap.ok(kept == told, '--report writes what --json prints')
lines = run(1, 'large.onnx', '--data', 'x.npz', '--policy', 'float16,bfloat16', '--exact', '0', '--tap').split('\n')
tap.ok(
    lines
    == [
        '1..3',
        'ok 1 - float32: nonfinite<=0, it is 0',
        'not ok 2 - float16: nonfinite<=0, it is 180',
        'ok 3 - bfloat16: nonfinite<=0, it is 0',
        '',
    ],
    'TAP without a rule asks for finite outputs, and the exit code says the same',
    lines,
)
os.mkdir('a')
for path in ('a/p.json', 'a_p.json'):
    with open(path, 'w') as f:
        json.dump({'default': 'int8', 'nodes': {}}, f)
with open('p.json', 'w') as f:
    json.dump({'name': 'exact', 'compute': 'float16'}, f)
for policies, name, whose in (
    ('p.json', 'exact', 'the exact network'),
    ('a/p.json,a_p.json', 'a_p.json', 'another policy'),
):
    r = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', policies, '--outputs', 'two')
    tap.ok(
        r.returncode == 2
        and "two/%s.npz would hold the outputs of policy '%s' and of %s" % (name, name, whose) in r.stderr
        and not os.path.exists('two'),
        'no file for two: %s' % whose,
        r.stderr,
    )
run(0, 'm.onnx', '--data', 'x.npz', '--policy', 'a/p.json,p.json', '--outputs', 'two', '--exact', '0')
tap.ok(
    sorted(os.listdir('two')) == ['a_p.json.npz', 'exact.npz', 'float32.npz', 'validation.json'],
    'a file for one each',
    os.listdir('two'),
)

# The name of a format that is no scheme stands for a policy; a constant that is listed as an input needs no array
weights = [floats('w1', [I, C], draw(I * C, 0.4)), floats('b1', [C], draw(C, 0.4))]
nodes = [node('MatMul', 'x w1', 'h'), node('Add', 'h b1', 'y')]
write(
    'old.onnx',
    graph(nodes, weights, [value('x', ['n', I]), value('w1', [I, C]), value('b1', [C])], [value('y', ['n', C])]),
)
for name, policy in (
    ('fp64', 'compute=fp64,variable=fp64,list=all'),
    ('e3m4', 'compute=e3m4,variable=float32,list=autocast'),
):
    both = [
        json.loads(run(0, 'old.onnx', '--data', 'x.npz', '--policy', p, '--exact', '0', '--json'))['policies'][-1]
        for p in (name, policy)
    ]
    same = [{k: v for k, v in b.items() if k != 'policy'} for b in both]
    tap.ok(same[0] == same[1] and same[0]['rel_l2'] > 0, '%s is the policy %s' % (name, policy), both)
npz('other.npz', a=([2, I], x[: 2 * I]), b=([1], [1.0]), c=([1], [1.0]))
r = tap.halfulp('validate', 'm.onnx', '--data', 'other.npz')
tap.ok(
    r.returncode == 3
    and r.stderr.endswith("other.npz: no array is called 'x' as the model's input is; there are: a, b, c\n"),
    'an array that is missing: those that are there',
    r.stderr,
)
tap.finish()

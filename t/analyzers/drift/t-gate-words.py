# SPDX-License-Identifier: Apache-2.0
# What check and diff of files say in words, composed again here: the order of the names, what each one's rule says of
# it, the details of what failed, the worst in one line, diff's table, and the same in every format of CI. Measures are
# taken from the JSON rows, which t-gate-files computes from the files; bounds, severities and defaults are computed
# here.
import fnmatch
import json
import math
import os
import random
import re
import statistics
import struct
import sys
import xml.etree.ElementTree
import zipfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
rng = random.Random(3)
PACK = {
    'F64': ('d', 'fp64', 64, 53),
    'F32': ('f', 'fp32', 32, 24),
    'F16': ('e', 'fp16', 16, 11),
    'I64': ('q', None, 64, 0),
}
RULES = [
    'i*: ulps <= 1, differ <= 9', 'half*: ulps(bf16) <= 2, cosine >= 0.999, sqnr >= 31.5', '*bits*: exact',
    'maybe*: optional, exact', 'skip*: ignore', 'wild*: nonfinite <= 2, abs <= 0.25', 'cast.free: rel <= 2^-3, l2 <= 0',
    'cast.held: exact', 'nobody*: exact', '?.by.cosine: cosine >= 0.99999', '?.by.sqnr: sqnr >= 50',
    '?.by.abs: abs <= 0', '?.by.ulps: ulps <= 0.5', 'near.100: sqnr >= 50', 'near.*: abs <= 1'
]
NAN = math.nan


def write(path, tensors):
    head, data = {}, b''
    for name, (dtype, shape, values) in tensors.items():
        raw = struct.pack('<%d%s' % (len(values), PACK[dtype][0]), *values)
        head[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b' ' * (-len(text) % 8)
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)


def drawn(dtype, n):
    return [rng.randrange(-9, 9) if dtype == 'I64' else rng.randrange(-64, 64) / 8 for _ in range(n)]


old, new = {}, {}
for name, dtype, shape in [
    ('i.small', 'I64', [4]), ('i.large', 'I64', [2, 5]), ('i.same', 'I64', [2]), ('half.near', 'F16', [3, 4]),
        ('half.far', 'F16', [7]), ('bits.one', 'F32', [2, 3, 2]),
    ('bits.all', 'F32', [3]), ('maybe.there', 'F32', [2]), ('skip.it', 'F32', [2]), ('wild.many', 'F32', [6]),
        ('wild.few', 'F64', [5]), ('plain.64', 'F64', [8]),
    ('plain.32', 'F32', [2, 2]), ('plain.16', 'F16', [9]), ('plain.ints', 'I64', [3]), ('plain.nan', 'F32', [4]),
        ('plain.held', 'F64', [40]), ('same.a', 'F32', [2]),
    ('same.b', 'F16', [1]), ('zeros', 'F32', [3]), ('one.ulp', 'F32', [3]), ('scalar', 'F64', []),
]:  # fmt: skip
    n = math.prod(shape)
    a = drawn(dtype, n)
    b = list(a)
    if not name.startswith(('same', 'i.same')):
        for i in rng.sample(range(n), max(1, n // 3)):
            b[i] += rng.choice([1, 2, -1]) * (1 if dtype == 'I64' else 0.125 if not name.endswith('.all') else 4)
    old[name], new[name] = (dtype, shape, a), (dtype, shape, b)
old['one.ulp'], new['one.ulp'] = ('F32', [3], [1, 2, 3]), ('F32', [3], [1, 2 + 2.0**-22, 3])
old['plain.held'], new['plain.held'] = ('F64', [40], [1.0] * 40), ('F64', [40], [1.0] * 39 + [1 + 2.0**-50])
old['zeros'], new['zeros'] = ('F32', [3], [0, 0, 0]), ('F32', [3], [0, 0.5, 0])
for name, at in (('wild.many', (0, 2, 5)), ('wild.few', (1,)), ('plain.nan', (3,))):
    for i in at:
        new[name][2][i] = rng.choice([math.inf, -math.inf, NAN])
for measure in ('cosine', 'sqnr', 'abs', 'ulps', 'default', 'nan', 'bits'):  # severity decides the order, not the name
    for letter, by in zip('abcde', rng.sample(range(1, 9), 5)):
        a = [x + 10 for x in drawn('F64', 9)]
        old['%s.by.%s' % (letter, measure)] = ('F64', [3, 3], a)
        moved = [x + (by / 16 if i == by else 0) for i, x in enumerate(a)]
        if measure in ('nan', 'bits'):
            moved = [(NAN if measure == 'nan' else x + 1) if i < by else x for i, x in enumerate(a)]
        new['%s.by.%s' % (letter, measure)] = ('F64', [3, 3], moved)
# 10 decibels where 50 are held are 100 times too much, which lies between 90 and 110 times too large a difference
for name, by in (('near.90', 90), ('near.100', 90**0.5), ('near.110', 110)):
    old[name], new[name] = ('F64', [9], [10.0] * 9), ('F64', [9], [10 + by] + [10.0] * 8)
for name, dtype in (('cast.free', 'F16'), ('cast.held', 'F16'), ('cast.default', 'F64'), ('cast.moved', 'F16')):
    a = drawn('F16', 5)
    old[name], new[name] = ('F32', [5], a), (
        dtype,
        [5],
        [x + (name == 'cast.moved' and i == 1) for i, x in enumerate(a)],
    )
old['shape'], new['shape'] = ('F32', [4], [1, 2, 3, 4]), ('F32', [2, 2], [1, 2, 3, 4])
old['shape.empty'], new['shape.empty'] = ('F32', [1, 0], []), ('F32', [2, 0], [])
old['shape.count'], new['shape.count'] = ('F32', [4], [1, 2, 3, 4]), ('F32', [3], [1, 2, 3])
for k, names in ((old, ('maybe.gone', 'gone', 'gone.too')), (new, ('maybe.new', 'fresh'))):
    for name in names:
        k[name] = ('F32', [1, 2], [1, 2])
write('old.safetensors', old)
write('new.safetensors', new)
series = [[(s, 1 / (s + 1), 'ab'[s % 2]) for s in range(9)] for _ in range(2)]
for s in (2, 5):
    series[1][s] = (s, series[1][s][1] * 1.5, 'z')
for path, rows, less in (('old.csv', series[0], ()), ('new.csv', series[1], (3, 4, 8))):
    open(path, 'w').write(
        'step,whole,loss,tag,tag.free\n'
        + ''.join('%d,%r,%s,%s,%s\n' % (s, series[0][s][1], '' if s in less else repr(v), t, t) for s, v, t in rows)
        + ('9,1,1,c,c\n' if less else '')
    )


# --- rules and their defaults
def parsed(text):
    pattern, _, conditions = text.partition(': ')
    rule = {'text': text, 'pattern': pattern, 'bounds': [], 'own': True, 'words': set()}
    for c in conditions.split(', '):
        if c in ('exact', 'optional', 'ignore'):
            rule['words'].add(c)
            continue
        metric, _, limit = c.split(' ')
        metric, _, form = metric.rstrip(')').partition('(')
        rule['bounds'].append((metric, form or None, 2.0 ** int(limit[2:]) if '^' in limit else float(limit)))
    return rule


def default(was, now, is_series):
    if is_series:
        kinds = [] if was[0] == 'texts' or now[0] == 'texts' else [PACK['F32']]
    else:
        kinds = [PACK[was[0]], PACK[now[0]]]
    if not kinds or min(k[3] for k in kinds) == 0:
        return {'text': 'default', 'bounds': [], 'own': False, 'words': {'exact'}}
    _, _, bits, p = min(kinds, key=lambda k: k[3])
    by = (16 if bits > 16 else 1) * 2.0 ** (1 - p)
    return {'text': 'default', 'bounds': [('l2', None, by), ('rel', None, 4 * by)], 'own': False, 'words': set()}


MORE = ('cosine', 'sqnr')


def real(x):
    """A number of the JSON as a float."""
    return NAN if x is None else float(x)


def times(metric, value, limit):
    """How many times what is allowed."""
    if math.isnan(value):
        return 1e290
    if metric == 'cosine':
        t = (1 - value) / (1 - limit)
    elif metric == 'sqnr':
        t = 10 ** ((limit - value) / 20)
    else:
        t = value / limit if limit > 0 else 1e100 * (1 + value)
    return min(t, 1e290)


def hexed(x):
    """As printf's %a."""
    x = real(x)
    if not math.isfinite(x):
        return '%f' % x
    mantissa, exponent = x.hex().split('p')
    return (mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa) + 'p' + exponent


def place(row, was):
    if row['step'] is not None:
        return 'step ' + row['step']
    at, index = row['worst'], []
    for n in reversed(was[1]):
        index.insert(0, at % n)
        at //= n
    return '[' + ','.join(map(str, index)) + ']'


def typed(was, now):
    change = was[0] + ' -> ' if was and now and was[0] != now[0] else ''
    return change + '%s[%s]' % ((now or was)[0], ','.join(map(str, (now or was)[1])))


def bound_text(bound, row, value):
    metric, form, limit = bound
    form = form or row['ulps_of'].replace('-', '')
    name = metric + ('(%s)' % form if metric == 'ulps' and form else '')
    sign = '>=' if metric in MORE else '<='
    holds = value >= limit if metric in MORE else value <= limit
    return holds, '%s %.6g, %s %s %.6g' % (name, value, 'which is' if holds else 'and not', sign, limit)


def judged(row, was, now, rule, steps):
    """(failed, severity, said) of one name."""
    if 'ignore' in rule['words']:
        return False, 0, 'not compared: its rule says ignore'
    if was is None or now is None:
        if 'optional' in rule['words']:
            return False, 0, 'is in the %s alone, which its rule allows' % ('baseline' if was else 'new file')
        return (
            True, 1e250 if was else 1e240,
            'is missing: the baseline has it' if was else 'is new: the baseline does not have it'
        )
    if was[1] != now[1] and not steps:
        return True, 1e230, 'its shape was %s and is %s' % (typed(was, was), typed(now, now))
    failed, severity, said = False, 0, 'the same values'
    if row['differ']:
        held, broken = [], []
        for bound in rule['bounds']:
            value = real(row[bound[0]])
            holds, text = bound_text(bound, row, value)
            (held if holds else broken).append(text)
            if not holds:
                failed, severity = True, max(severity, times(bound[0], value, bound[2]))
        said = '; '.join(broken or held)
        if 'exact' in rule['words']:
            failed, severity = True, 1e100 * (1 + row['differ'] / row['elements'])
            said = '%d of %d values differ, and not one may' % (row['differ'], row['elements'])
    for wrong, how, text in (
        (row['nonfinite'] and not any(b[0] == 'nonfinite' for b in rule['bounds']), 1e200 * row['nonfinite'],
         '%d of %d values are not finite, or no longer are, where the baseline has another value'
             % (row['nonfinite'], row['elements'])),
        (was[0] != now[0] and (not rule['own'] or 'exact' in rule['words']), 1e210,
         'its dtype was %s and is %s%s' % (was[0], now[0], '' if rule['own']
             else ', and no rule says how much that may change')),
        (steps and steps[0] + steps[1] and 'optional' not in rule['words'], 1e220 * sum((steps or (0, 0))[:2]),
         '%d steps are missing and %d are new, %s among them' % (steps or (0, 0, ''))),
    ):  # fmt: skip
        if wrong:
            said, failed, severity = text + ('; ' + said if failed else ''), True, how
    return failed, severity, said


def detail(row, was, now, rule, shaped):
    s = typed(was, now)
    if was and now and not shaped:
        s += ': %d of %d values differ' % (row['differ'], row['elements'])
        if row['differ'] and isinstance(row['old'], str) and row['old'] not in ('inf', '-inf'):
            s += ", at step %s '%s' became '%s'" % (row['step'], row['old'], row['new'])
        elif row['differ']:
            form = ', the %s at %s: %s (%s) became %s (%s); over the %s %s, abs %s, rel %s, l2 %s, '
            form += 'cosine %s, sqnr %s dB, nonfinite %d'
            s += form % (
                'first that is not finite' if row['nonfinite'] else 'largest difference', place(row, was),
                    '%.9g' % real(row['old']), hexed(row['old']),
                '%.9g' % real(row['new']), hexed(row['new']), 'other values' if row['nonfinite'] else 'tensor',
                    ulps(row, real(row['ulps'])), *('%.4g' % real(row[k]) for k in ('abs', 'rel', 'l2')),
                        '%.9g' % real(row['cosine']),
                '%.4g' % real(row['sqnr']), row['nonfinite'])  # fmt: skip
    return s + (
        "; rule '%s'" % rule['text'] if rule['own'] else '; no rule names it, so the default of its dtype holds'
    )


def first_line(row, was, now, said, shaped, failed, n):
    s = row['name']
    if was and now and not shaped and row['differ'] and not isinstance(row.get('old'), str):
        of = '' if row['ulps_of'] == '-' else ' of ' + row['ulps_of']
        pair = '%.9g -> %.9g' % (real(row['old']), real(row['new']))
        far = pair + ' (rel %.3g' % real(row['rel'])
        s += ', %s: ' % place(row, was)
        if row['differ'] == 1 and row['ulps'] == 1:
            s += 'one value of %d is one ulp%s off, %s)' % (row['elements'], of, far)
        elif row['nonfinite']:
            s += '%s, and %d of %d values differ' % (pair, row['differ'], row['elements'])
        else:
            s += '%s%s), and %d of %d values differ' % (
                far, '' if row['step'] is not None else ', ' + ulps(row, ulps_there(row)), row['differ'],
                row['elements']
            )
    return s + ': %s; %d of %d names failed' % (said, failed, n)


P = {'fp64': 53, 'fp32': 24, 'fp16': 11, 'bf16': 8, '-': 64}


def ulps(row, x):
    """Beyond the whole precision of a format their number says nothing."""
    p, of = P[row['ulps_of']], '' if row['ulps_of'] == '-' else ' of ' + row['ulps_of']
    return ('more than 2^%d ulps%s' % (p, of)) if x > 2**p else '%.4g ulps%s' % (x, of)


def short_ulps(row):
    """The same in a column."""
    p, x = P[row['ulps_of']], real(row['ulps'])
    return 'over 2^%d' % p if x > 2**p and math.isfinite(x) else '%.4g' % x


def ulps_there(row):
    """How many of them the two values that are shown are apart."""
    a, b = real(row['old']), real(row['new'])
    if row['ulps_of'] == '-':
        return real(row['abs'])
    if not math.isfinite(a) or not math.isfinite(b):
        return 0 if a == b or (a != a and b != b) else math.inf
    least = {'fp64': -1022, 'fp16': -14}.get(row['ulps_of'], -126)
    e = max(least, math.frexp(a)[1] - 1) if a else least
    return float(abs(Fraction(b) - Fraction(a)) / Fraction(2) ** (e - P[row['ulps_of']] + 1))


def pattern(rows, was, now, shaped):
    """What all names together look like."""
    alone = [r for r in rows if not r['ok'] and (r['name'] in was) != (r['name'] in now)]
    if alone or shaped:
        return 'another model: %d names have another shape, and %d are in one file alone' % (shaped, len(alone))
    strange = [r for r in rows if not r['ok'] and r.get('nonfinite')]
    if strange:
        return (
            'an overflow, or a division by 0, in one of the two: %d of the names that failed have infinities or NaN in '
            'one file where the other has none' % len(strange)
        )
    some = [r for r in rows if r['name'] in was and r['name'] in now and r['step'] is None]
    some = [r for r in some if was[r['name']][0] in ('F64', 'F32', 'F16', 'BF16')]
    cast = [r for r in some if r['old_dtype'] != r['new_dtype']]
    some = [r for r in some if r.get('differ') and r['elements'] >= 8]
    if not some:
        return ''
    cosine, l2 = (statistics.median(real(r[k]) for r in some) for k in ('cosine', 'l2'))
    eps = max(2.0 ** (1 - P[r['ulps_of']]) for r in some)
    n = 'the one tensor that differs has' if len(some) == 1 else 'the %d tensors that differ have' % len(some)
    its = 'its' if len(some) == 1 else 'their'
    if cosine < 0.5:
        return (
            'another seed or initialisation: %s a median cosine of %.2f, as values that have nothing to do with '
            'each other; no tolerance is for that' % (n, cosine)
        )
    if cast:
        return 'another precision: %s was %s and is %s, and %s a median l2 of %.2g' % (
            *(cast[0][k] for k in ('name', 'old_dtype', 'new_dtype')), n, l2
        )  # fmt: skip
    if l2 <= 64 * eps:
        return (
            'sums in another order, or another library: %s a median l2 of %.2g, some roundings of %s dtype'
            % (n, l2, its)
        )
    return (
        'another computation, or a lower precision within it: %s a median l2 of %.2g, %.2g times a rounding of '
        '%s dtype, and a median cosine of %.6g' % (n, l2, 2 * l2 / eps, its, cosine)
    )


def table(rows, was, now, paths, steps):
    """The lines of diff's table, in which a column that has nothing but "-" is left out, and what no column says."""
    heads = ('name', 'type', 'differ', 'ulps', 'abs', 'rel', 'l2', 'cosine', 'sqnr dB', 'nonfinite')
    cells, more = [], []
    for r in rows:
        a, b = was.get(r['name']), now.get(r['name'])
        of = '' if (r['ulps_of'] or '-') == '-' else ' ' + r['ulps_of']
        line = [r['name'], typed(a, b)]
        if not a or not b:
            line += ['-'] * 8
            more.append('%s is in %s alone' % (r['name'], paths[a is None]))
        elif a[1] != b[1] and not steps:
            line += ['-'] * 8
            more.append('%s: its shape was %s and is %s' % (r['name'], typed(a, a), typed(b, b)))
        else:
            text = isinstance(r.get('old'), str) and r['old'] not in ('inf', '-inf', 'nan')
            line += ['%d' % r['differ'], '-' if text else short_ulps(r) + of]
            for key in ('abs', 'rel', 'l2', 'cosine', 'sqnr'):
                x = real(r[key])
                line.append('-' if x != x else ('%.8f' if key == 'cosine' else '%.4g') % x)
            line.append('%d' % r['nonfinite'])
        if steps and sum(steps[r['name']][:2]):
            more.append('%s: %d steps are missing, %d are new' % (r['name'], *steps[r['name']][:2]))
        cells.append(line)
    wide = [max([len(h)] + [len(line[i]) for line in cells]) for i, h in enumerate(heads)]
    kept = [i for i in range(len(heads)) if not i or any(line[i] != '-' for line in cells)]
    pads = ['%-*s' if i < 2 else '%*s' for i in range(len(heads))]
    lines = ['  '.join(pads[i] % (wide[i], line[i]) for i in kept).rstrip() for line in [list(heads)] + cells]
    return (lines if rows else []) + more


def by_name(name):
    """Its characters, runs of digits as one number where a digit stands."""
    return [(48.5, int(x)) if x[0] in '0123456789' else (ord(x), 0) for x in re.findall('[0-9]+|[^0-9]', name)], name


def annotation(text, in_title=False):
    return ''.join('%%%02X' % ord(c) if c in '%\r\n' or (in_title and c in ':,') else c for c in text)


def marked(text):
    return ''.join(
        '&#%d;' % ord(c) if c in '<>&' else '\\' + c if c in '\\`*_{}[]()#+!|~' else ' ' if c == '\n' else c
        for c in text
    )


def compare(paths, was, now, rules, what, steps=None):
    """Everything that is said of two files. STEPS: of each series those missing, those new and the first of them."""
    options = [w for r in rules for w in ('--rule', r)]
    parsed_rules = [parsed(r) for r in rules]
    line = ['check', paths[1], '--baseline', paths[0], *options]
    j = json.loads(halfulp(*line, '--json').stdout)
    rows, want, used = {r['name']: r for r in j['rows']}, [], set()
    for name in {**was, **now}:
        a, b = was.get(name), now.get(name)
        rule = next((r for r in parsed_rules if fnmatch.fnmatchcase(name, r['pattern'])), None)
        used.add(rule['text'] if rule else '')
        rule = rule or default(a or b, b or a, steps is not None)
        failed, severity, said = judged(rows[name], a, b, rule, steps and steps[name])
        shaped = bool(a and b and a[1] != b[1] and not steps)
        want.append(
            (
                not failed, -severity if failed else -(0 if rows[name]['elements'] is None else real(rows[name]['l2'])),
                name, said, None if not failed else detail(rows[name], a, b, rule, shaped), rule['text'], shaped
            )
        )
    # Of failures that are equally far beyond, the first by name, whose digits are numbers, stands first
    want.sort(key=lambda x: (x[0], x[1], by_name(x[2])))
    n, failed = len(want), sum(not w[0] for w in want)
    got = [(r['name'], r['ok'], r['said'], r['rule']) for r in j['rows']]
    mine = [(w[2], w[0], w[3], w[5]) for w in want]
    none(['%s there, %s here' % x for x in zip(got, mine) if x[0] != x[1]]
        + ([] if len(got) == n and (j['names'], j['failed'], j['baseline'], j['new']) == (n, failed, *paths)
            else [j['names'], j['failed']]),
         '%s: %d names in order of how far they are beyond, what is said of each, and its rule'
             % (what, n))  # fmt: skip
    same = sum(
        r.get('differ') == 0 and was[r['name']][1] == now[r['name']][1] and (r['ok'] or r['said'] == 'the same values')
        for r in j['rows']
    )
    summary = [
        (
            '%d of %d names failed, worst first above; %d have the same values' % (failed, n, same)
            if failed
            else 'all %d names hold; %d have the same values' % (n, same)
        )
    ]
    summary += ["no name came to the rule '%s'" % r for r in rules if r not in used]
    w = want[0]
    why = first_line(rows[w[2]], was.get(w[2]), now.get(w[2]), w[3], w[6], failed, n) if failed else None
    cause = pattern(j['rows'], was, now, sum(bool(w[6]) for w in want)) if failed else ''
    if failed:
        first = min((w[2] for w in want[:failed]), key=by_name)
        before = [w[2] for w in want[failed:] if w[3] == 'the same values' and by_name(w[2]) < by_name(first)]
        if first != w[2]:
            why += ', the first of them by name %s' % first
            why += '; %s, before it, has the same values' % max(before, key=by_name) if before else ''
    why = why + '. Most likely cause: ' + cause if cause else why
    tap = (['# ' + why] if why else []) + ['1..%d' % n]
    for i, (good, _, name, said, more, _, _) in enumerate(want):
        tap += ['%s %d - %s: %s' % ('ok' if good else 'not ok', i + 1, name, said)] + (['#   ' + more] if more else [])
    tap += ['# ' + s for s in summary]
    bad = [w for w in want if not w[0]]
    shown = bad if len(bad) <= 9 else bad[:8]
    github = ['::error title=halfulp check::' + annotation(why)] if why else []
    github += [
        '::error title=%s::%s%%0A%s' % (annotation(w[2], True), annotation(w[3]), annotation(w[4])) for w in shown
    ]
    github += (
        ['::error title=halfulp check::%d more failed, the worst of which are above' % (len(bad) - 8)]
        if len(bad) > 9
        else []
    )
    github += ['::notice title=halfulp check::' + annotation('\n'.join(summary))]
    markdown = ['## %s halfulp check: %s' % ('❌' if failed else '✅', marked(paths[1])), ''] + (
        ['**%s**' % marked(why), ''] if why else []
    )
    markdown += ['| failed | how | details |', '| --- | --- | --- |'] if bad else []
    markdown += ['| %s | %s | %s |' % tuple(map(marked, (w[2], w[3], w[4]))) for w in bad[:20]]
    markdown += ['', '%d more failed, the worst of which are above.' % (len(bad) - 20)] if len(bad) > 20 else []
    markdown += ([''] if bad else []) + ['- ' + marked(s) for s in summary]
    for form, lines in (('tap', tap), ('github', github), ('markdown', markdown)):
        said = halfulp(*line, '--format', form).stdout.splitlines()
        none(
            ['%s there, %s here' % x for x in zip(said, lines) if x[0] != x[1]]
            + ([] if len(said) == len(lines) else ['%d lines there, %d here' % (len(said), len(lines))]),
            '%s: every line of %s' % (what, form),
        )
    tree = xml.etree.ElementTree.fromstring(halfulp(*line, '--format', 'junit').stdout)
    got = (
        [tree.attrib]
        + [(c.get('name'), *(f.get('message') for f in c)) for c in tree.findall('testcase')]
        + [tree.find('system-out').text]
    )
    mine = [{'name': 'halfulp check ' + paths[1], 'tests': str(n), 'failures': str(failed), 'errors': '0'}] + [
        (w[2], *([] if w[0] else [w[3] + ': ' + w[4]])) for w in want
    ]
    mine += ['\n'.join(([why] if why else []) + summary)]
    none(
        ['%s there, %s here' % x for x in zip(got, mine) if x[0] != x[1]] + [len(got)] * (len(got) != len(mine)),
        what + ': everything of junit',
    )
    got = [
        (x['description'], x['severity'], x['location']['path'])
        for x in json.loads(halfulp(*line, '--format', 'gitlab').stdout)
    ]
    mine = ([(why, 'critical', paths[1])] if why else []) + [
        ('%s: %s: %s' % (w[2], w[3], w[4]), 'major', paths[1]) for w in bad
    ]
    none(
        [x for x in zip(got, mine) if x[0] != x[1]] + [len(got)] * (len(got) != len(mine)),
        what + ': everything of gitlab',
    )
    # diff, which has no rules: the same rows in its table
    for more in ([], ['--all']):
        r, d = halfulp('diff', *paths, *more), json.loads(halfulp('diff', *paths, '--json').stdout)
        apart = [
            x
            for x in d['rows']
            if x['name'] not in was
            or x['name'] not in now
            or x['differ'] != 0
            or was[x['name']][0] != now[x['name']][0]
            or (steps and sum(steps[x['name']][:2]))
        ]
        lines = table(d['rows'] if more else apart, was, now, paths, steps)
        lines += ['%d of %d names differ' % (len(apart), n) if apart else 'nothing differs in %d names' % n]
        said = r.stdout.splitlines()
        none(['%r there, %r here' % x for x in zip(said, lines) if x[0] != x[1]]
            + ([] if len(said) == len(lines) else ['%d lines there, %d here' % (len(said), len(lines))])
             + ([] if r.returncode == bool(apart) and (d['same'], d['names'], d['first'], d['second']) == (not apart,
                 n, *paths) else [r.returncode, d['same'], d['names']]),
             '%s: every line of diff%s' % (what, ' --all' if more else ''))  # fmt: skip


compare(('old.safetensors', 'new.safetensors'), old, new, RULES, 'tensors')
few = ('i.small', 'one.ulp', 'same.a', 'half.near', 'plain.held')
for path, all_ in (('few-old.safetensors', old), ('few-new.safetensors', new)):
    write(path, {k: all_[k] for k in few})
compare(
    ('few-old.safetensors', 'few-new.safetensors'), {k: old[k] for k in few}, {k: new[k] for k in few},
    ['one.ulp: exact', '*: rel <= 9, l2 <= 9'], 'one ulp alone'
)
compare(
    ('few-old.safetensors', 'few-new.safetensors'), {k: old[k] for k in few}, {k: new[k] for k in few},
    ['*: rel <= 9, l2 <= 9'], 'nothing beyond'
)
kinds = {'whole': 'numbers', 'loss': 'numbers', 'tag': 'texts', 'tag.free': 'texts'}
counts = [{k: (kinds[k], [n - 3 * (late and k == 'loss') + late]) for k in kinds} for n, late in ((9, 0), (9, 1))]
missing = {k: (3 if k == 'loss' else 0, 1, '3' if k == 'loss' else '9') for k in kinds}
compare(('old.csv', 'new.csv'), *counts, ['whole: exact', 'tag.free: optional, abs <= 1'], 'metrics', missing)
array = (
    b'\x93NUMPY\x01\x00v\x00'
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117)
    + b'\n'
    + struct.pack('<f', 3)
)
wrong = []
for name in ('a.npy', 'b.txt', '.npy', 'c.npyx', 'npy'):
    with zipfile.ZipFile('m.npz', 'w') as z:
        z.writestr(name, array)
    r = halfulp('diff', 'm.npz', 'm.npz')
    said = '' if name == 'a.npy' else 'm.npz: member %s is no .npy file; an .npz holds nothing else' % name
    if (r.returncode, said in r.stderr, bool(r.stderr)) != (3 if said else 0, True, bool(said)):
        wrong.append('%s: exit %d, %s' % (name, r.returncode, r.stderr))
none(wrong, 'an archive holds arrays, and another member is named')
ok(halfulp('check', 'old.csv', '--baseline', 'old.csv').returncode == 0, 'a file beside itself')
# --- what files look like as a whole ---------------------------------------------------------------
A = {'w%d' % i: ('F32', [40], drawn('F32', 40)) for i in range(5)}
write('a.safetensors', A)


def moved(by):
    return {k: ('F32', [40], [x * (1 + by * rng.uniform(-1, 1)) for x in v]) for k, (_, _, v) in A.items()}


for name, b, words in (
    ('seed', {k: ('F32', [40], drawn('F32', 40)) for k in A}, 'another seed or initialisation: the 5 tensors'),
    ('order', moved(6e-6), 'sums in another order, or another library: the 5 tensors'),
    ('change', moved(0.01), 'another computation, or a lower precision within it: the 5 tensors'),
    ('cast', {**moved(1e-3), 'w2': ('F16', *A['w2'][1:])}, 'another precision: w2 was F32 and is F16'),
    ('loud', {**moved(6e-6), 'w4': ('F32', [40], [math.nan] + A['w4'][2][1:])}, 'an overflow, or a division by 0'),
    ('lost', {k: v for k, v in A.items() if k != 'w3'}, 'another model: 0 names have another shape, and 1 are in'),
):
    write(name + '.safetensors', b)
    p = halfulp('check', name + '.safetensors', '--baseline', 'a.safetensors')
    ok(p.returncode == 1 and '. Most likely cause: ' + words in p.stdout.split('\n')[0], name, p.stdout[:500])
finish()

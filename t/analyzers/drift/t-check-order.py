# SPDX-License-Identifier: Apache-2.0
# In which order check and diff of files name what differs, by which rule each name is judged, and every number of
# their sentences: bounds and what they are held to, the place and the values of the largest difference, counts, and
# what all names together look like. Measures are taken from the JSON rows, which t-file-measures computes from files.
# The sentences stand in t/golden/outputs/files.txt.
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
PACK = {'F64': ('d', 'fp64', 64, 53), 'F32': ('f', 'fp32', 32, 24), 'F16': ('e', 'fp16', 16, 11),
        'I64': ('q', None, 64, 0)}
RULES = ['i*: ulps <= 1, differ <= 9', 'half*: ulps(bf16) <= 2, cosine >= 0.999, sqnr >= 31.5', '*bits*: exact',
         'maybe*: optional, exact', 'skip*: ignore', 'wild*: nonfinite <= 2, abs <= 0.25',
         'cast.free: rel <= 2^-3, l2 <= 0', 'cast.held: exact', 'nobody*: exact', '?.by.cosine: cosine >= 0.99999',
         '?.by.sqnr: sqnr >= 50', '?.by.abs: abs <= 0', '?.by.ulps: ulps <= 0.5', 'near.100: sqnr >= 50',
         'near.*: abs <= 1']
NAN = math.nan


def write(path, tensors):
    head, data = {}, b''
    for name, (dtype, shape, values) in tensors.items():
        raw = struct.pack('<%d%s' % (len(values), PACK[dtype][0]), *values)
        head[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)


def drawn(dtype, n):
    return [rng.randrange(-9, 9) if dtype == 'I64' else rng.randrange(-64, 64) / 8 for _ in range(n)]


old, new = {}, {}
for name, dtype, shape in [
    ('i.small', 'I64', [4]), ('i.large', 'I64', [2, 5]), ('i.same', 'I64', [2]), ('half.near', 'F16', [3, 4]),
    ('half.far', 'F16', [7]), ('bits.one', 'F32', [2, 3, 2]), ('bits.all', 'F32', [3]), ('maybe.there', 'F32', [2]),
    ('skip.it', 'F32', [2]), ('wild.many', 'F32', [6]), ('wild.few', 'F64', [5]), ('plain.64', 'F64', [8]),
    ('plain.32', 'F32', [2, 2]), ('plain.16', 'F16', [9]), ('plain.ints', 'I64', [3]), ('plain.nan', 'F32', [4]),
    ('plain.held', 'F64', [40]), ('same.a', 'F32', [2]), ('same.b', 'F16', [1]), ('zeros', 'F32', [3]),
    ('one.ulp', 'F32', [3]), ('scalar', 'F64', []),
]:
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
    old[name] = ('F32', [5], a)
    new[name] = (dtype, [5], [x + (name == 'cast.moved' and i == 1) for i, x in enumerate(a)])
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
    lines = ['%d,%r,%s,%s,%s\n' % (s, series[0][s][1], '' if s in less else repr(v), t, t) for s, v, t in rows]
    open(path, 'w').write('step,whole,loss,tag,tag.free\n' + ''.join(lines) + ('9,1,1,c,c\n' if less else ''))


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
        rule['bounds'].append((metric, form, 2.0 ** int(limit[2:]) if '^' in limit else float(limit)))
    return rule


def default(was, now, is_series):
    texts = is_series and 'texts' in (was[0], now[0])
    kinds = [] if texts else [PACK['F32']] if is_series else [PACK[was[0]], PACK[now[0]]]
    if not kinds or min(k[3] for k in kinds) == 0:
        return {'text': 'default', 'bounds': [], 'own': False, 'words': {'exact'}}
    _, _, bits, p = min(kinds, key=lambda k: k[3])
    by = (16 if bits > 16 else 1) * 2.0 ** (1 - p)
    return {'text': 'default', 'bounds': [('l2', '', by), ('rel', '', 4 * by)], 'own': False, 'words': set()}


real = lambda x: NAN if x is None else float(x)  # of the JSON


def times(metric, value, limit):
    """How many times what is allowed."""
    if math.isnan(value):
        return 1e290
    t = (1 - value) / (1 - limit) if metric == 'cosine' else 10 ** ((limit - value) / 20) if metric == 'sqnr' else (
        value / limit if limit > 0 else 1e100 * (1 + value))
    return min(t, 1e290)


def judged(row, was, now, rule, steps):
    """(failed, severity, the numbers of what is said) of one name."""
    if 'ignore' in rule['words']:
        return False, 0, []
    if was is None or now is None:
        return ('optional' not in rule['words'], 1e250 if was else 1e240, [])
    if was[1] != now[1] and not steps:
        return True, 1e230, [was[1], now[1]]
    failed, severity, said = False, 0, []
    if row['differ']:
        held, broken = [], []
        for metric, form, limit in rule['bounds']:
            value = real(row[metric])
            holds = value >= limit if metric in ('cosine', 'sqnr') else value <= limit
            form = form or row['ulps_of'].replace('-', '') if metric == 'ulps' else ''
            (held if holds else broken).append((metric, form, '%.6g' % value, '%.6g' % limit))
            if not holds:
                failed, severity = True, max(severity, times(metric, value, limit))
        said = broken or held
        if 'exact' in rule['words']:
            failed, severity = True, 1e100 * (1 + row['differ'] / row['elements'])
            said = [(row['differ'], row['elements'])]
    for wrong, how, numbers in (
        (row['nonfinite'] and not any(b[0] == 'nonfinite' for b in rule['bounds']), 1e200 * row['nonfinite'],
         [(row['nonfinite'], row['elements'])]),
        (was[0] != now[0] and (not rule['own'] or 'exact' in rule['words']), 1e210, []),
        (steps and steps[0] + steps[1] and 'optional' not in rule['words'], 1e220 * sum((steps or (0, 0))[:2]),
         list(steps or ())),
    ):
        if wrong:
            said, failed, severity = numbers + (said if failed else []), True, how
    return failed, severity, said


BOUND = r'(\w+)(?:\((\w+)\))? (\S+), (?:and not|which is) [<>]= ([^;\s]+)'
COUNT = r'(\d+) of (\d+) values'
SHAPE = r'[A-Z]\d+\[([\d,]*)\]'
STEPS = r'(\d+) steps? (?:is|are) missing and (\d+) (?:is|are) new, (\S+) among them'


def numbers(said):
    """The same numbers out of a sentence."""
    found = [[int(d) for d in (was or now).split(',') if d]
             for was, now in re.findall('its shape was %s|and is %s' % (SHAPE, SHAPE), said)]
    for match in re.finditer('|'.join((STEPS, COUNT, BOUND)), said):
        missing, new, step, some, of, *bound = (m or '' for m in match.groups())
        found += [int(missing), int(new), step] if step else [(int(some), int(of)) if of else tuple(bound)]
    return found


# --- the largest difference
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


P = {'fp64': 53, 'fp32': 24, 'fp16': 11, 'bf16': 8, '-': 64}


def ulps(row, x):
    """Beyond the whole precision of a format their number says nothing."""
    p = P[row['ulps_of']]
    return 'more than 2^%d' % p if x > 2**p else '%.4g' % x


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


DETAIL = re.compile(r'(\d+) of (\d+) values differ, the (?:largest difference|first that is not finite) at (.*?): '
                    r'(\S+) \((\S+)\) became (\S+) \((\S+)\); over the .*? (more than \S+|\S+) ulps.*?, abs (\S+), '
                    r'rel (\S+), l2 (\S+), cosine (\S+), sqnr (\S+) dB, nonfinite (\d+);')


def detail(row, was):
    """The numbers of the details of a name whose values differ."""
    values = [text for k in ('old', 'new') for text in ('%.9g' % real(row[k]), hexed(row[k]))]
    sizes = [('%.9g' if k == 'cosine' else '%.4g') % real(row[k]) for k in ('abs', 'rel', 'l2', 'cosine', 'sqnr')]
    return (str(row['differ']), str(row['elements']), place(row, was), *values, ulps(row, real(row['ulps'])), *sizes,
            str(row['nonfinite']))


def first(row, was):
    """The place, the values and the distance of the worst of all names, as its sentence has them."""
    there = '%s: %.9g -> %.9g' % (place(row, was), real(row['old']), real(row['new']))
    if row['differ'] == 1 and row['ulps'] == 1:
        return '%s: one value of %d is one ulp' % (place(row, was), row['elements']), ', %s (rel %.3g)' % (
            there.partition(': ')[2], real(row['rel']))
    some = ', and %d of %d values differ' % (row['differ'], row['elements'])
    if row['nonfinite']:
        return there, some
    far = '' if row['step'] is not None else ', %s ulps' % ulps(row, ulps_there(row))
    return '%s (rel %.3g%s' % (there, real(row['rel']), far), ')' + some


def by_name(name):
    """Its characters, runs of digits as one number where a digit stands."""
    return [(48.5, int(x)) if x[0] in '0123456789' else (ord(x), 0) for x in re.findall('[0-9]+|[^0-9]', name)], name


def listed(line, form):
    """The names that failed, in the order that a format of CI has them in."""
    said = halfulp(*line, '--format', form).stdout
    if form == 'junit':
        tree = xml.etree.ElementTree.fromstring(said)
        return [c.get('name') for c in tree.findall('testcase') if len(c)], int(tree.get('failures'))
    if form == 'gitlab':
        some = [x['description'].partition(': ')[0] for x in json.loads(said) if x['severity'] == 'major']
        return some, len(some)
    pattern = {'tap': r'^not ok \d+ - (.*?): ', 'github': r'^::error title=(?!halfulp check)(.*?)::',
               'markdown': r'^\| (?!failed|---)(.*?) \| '}[form]
    some = [re.sub(r'\\(.)', r'\1', name) for name in re.findall(pattern, said, re.M)]
    more = re.search(r'(\d+) more failed', said)
    return some, len(some) + int(more[1] if more else 0)


def compare(paths, was, now, rules, what, steps=None):
    """All of two files. STEPS: of each series those missing, those new and the first of them."""
    line = ['check', paths[1], '--baseline', paths[0], *(w for r in rules for w in ('--rule', r))]
    j = json.loads(halfulp(*line, '--json').stdout)
    rows, want, used = {r['name']: r for r in j['rows']}, [], set()
    for name in {**was, **now}:
        a, b = was.get(name), now.get(name)
        rule = next((r for r in map(parsed, rules) if fnmatch.fnmatchcase(name, r['pattern'])), None)
        used.add(rule['text'] if rule else '')
        rule = rule or default(a or b, b or a, steps is not None)
        failed, severity, said = judged(rows[name], a, b, rule, steps and steps[name])
        size = 0 if rows[name]['elements'] is None else real(rows[name]['l2'])
        want.append((not failed, -severity if failed else -size, name, said, rule['text']))
    # Of failures that are equally far beyond, the first by name, whose digits are numbers, stands first
    want.sort(key=lambda x: (x[0], x[1], by_name(x[2])))
    n, failed = len(want), sum(not w[0] for w in want)
    got = [(r['name'], r['ok'], r['rule'], numbers(r['said'])) for r in j['rows']]
    mine = [(w[2], w[0], w[4], w[3]) for w in want]
    none(['%s there, %s here' % x for x in zip(got, mine) if x[0] != x[1]]
         + [x for x in ((j['names'], j['failed'], j['baseline'], j['new']),) if x != (n, failed, *paths)],
         '%s: %d names in order of how far they are beyond, the rule and the numbers of each' % (what, n))
    bad = [w[2] for w in want[:failed]]
    for form, most in (('tap', n), ('junit', n), ('gitlab', n), ('github', 8), ('markdown', 20)):
        names = bad if len(bad) <= most + (form == 'github') else bad[:most]
        got = listed(line, form)
        ok(got == (names, failed), '%s: the names that failed in %s' % (what, form), [got, names, failed])
    # What TAP's comments say: of each failure, of the worst, and of all
    text = halfulp(*line, '--tap').stdout
    got = [m.groups() for m in map(DETAIL.search, text.splitlines()) if m]
    shown = [r for r in j['rows'] if not r['ok'] and r['differ'] and (
        not isinstance(r['old'], str) or r['old'] in ('inf', '-inf'))]
    mine = [detail(r, was[r['name']]) for r in shown]
    none([x for x in zip(got, mine) if x[0] != x[1]] + [len(got)] * (len(got) != len(mine)),
         '%s: the numbers of %d largest differences' % (what, len(mine)))
    same = sum(r['differ'] == 0 and was[r['name']][1] == now[r['name']][1]
               and (r['ok'] or r['said'] == 'the same values') for r in j['rows'])
    said = ('# %d of %d names failed, worst first above; %d have' if failed else '# all %d names hold; %d have') % (
        (failed, n, same) if failed else (n, same))
    unused = re.findall(r"^# no name came to the rule '(.*)'$", text, re.M)
    ok(said in text and unused == [r for r in rules if r not in used], '%s: counts, and rules without a name' % what,
       text[-500:])
    if failed:
        top, worst = text.split('\n')[0], j['rows'][0]
        parts = first(worst, was[bad[0]]) if worst in shown else ()
        least = min(bad, key=by_name)
        before = [r['name'] for r in j['rows'] if r['said'] == 'the same values' and by_name(r['name'])
                  < by_name(least)]
        parts += ('; %d of %d names failed' % (failed, n),)
        parts += (', the first of them by name %s' % least,) if least != bad[0] else ()
        parts += ('; %s, before it,' % max(before, key=by_name),) if least != bad[0] and before else ()
        ok(top.startswith('# ' + bad[0]) and all(p in top for p in parts), '%s: the worst in one line' % what,
           [top, parts])
    # diff, which has no rules: the same rows in its table
    d = json.loads(halfulp('diff', *paths, '--json').stdout)
    apart = [r['name'] for r in d['rows'] if r['name'] not in was or r['name'] not in now or r['differ'] != 0
             or was[r['name']][0] != now[r['name']][0] or (steps and sum(steps[r['name']][:2]))]
    for more in ([], ['--all']):
        r = halfulp('diff', *paths, *more)
        names = [r['name'] for r in d['rows']] if more else apart
        got = [x.split('  ')[0] for x in r.stdout.split('\n')[1 if names else 0:][:len(names)]]
        last = '%d of %d names differ' % (len(apart), n) if apart else 'nothing differs in %d names' % n
        ok(got == names and r.stdout.endswith(last + '\n') and r.returncode == bool(apart)
           and (d['same'], d['names'], d['first'], d['second']) == (not apart, n, *paths),
           '%s: the names of diff%s, and how many differ' % (what, ' --all' if more else ''), [got, names])


compare(('old.safetensors', 'new.safetensors'), old, new, RULES, 'tensors')
few = ('i.small', 'one.ulp', 'same.a', 'half.near', 'plain.held')
some = [{k: all_[k] for k in few} for all_ in (old, new)]
for path, tensors in zip(('few-old.safetensors', 'few-new.safetensors'), some):
    write(path, tensors)
compare(('few-old.safetensors', 'few-new.safetensors'), *some, ['one.ulp: exact', '*: rel <= 9, l2 <= 9'],
        'one ulp alone')
compare(('few-old.safetensors', 'few-new.safetensors'), *some, ['i*: ignore', '*: rel <= 0'], 'all that moved')
compare(('few-old.safetensors', 'few-new.safetensors'), *some, ['*: rel <= 9, l2 <= 9'], 'nothing beyond')
kinds = {'whole': 'numbers', 'loss': 'numbers', 'tag': 'texts', 'tag.free': 'texts'}
counts = [{k: (kinds[k], [n - 3 * (late and k == 'loss') + late]) for k in kinds} for n, late in ((9, 0), (9, 1))]
missing = {k: (3 if k == 'loss' else 0, 1, '3' if k == 'loss' else '9') for k in kinds}
compare(('old.csv', 'new.csv'), *counts, ['whole: exact', 'tag.free: optional, abs <= 1'], 'metrics', missing)
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117)
array = b'\x93NUMPY\x01\x00v\x00' + head + b'\n' + struct.pack('<f', 3)
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

# --- what files look like as a whole
A = {'w%d' % i: ('F32', [40], drawn('F32', 40)) for i in range(5)}
write('a.safetensors', A)


def moved(by):
    return {k: ('F32', [40], [x * (1 + by * rng.uniform(-1, 1)) for x in v]) for k, (_, _, v) in A.items()}


def figures(cause, rows):
    """How many numbers a cause has, and those that are no medians of the rows."""
    cosine, l2 = (statistics.median(real(r[k]) for r in rows) for k in ('cosine', 'l2'))
    want = {'cosine of ': ('%.2f' if cosine < 0.5 else '%.6g') % cosine, 'l2 of ': '%.2g' % l2,
            'l2 of .*, ': '%.2g' % (2 * l2 / max(2.0 ** (1 - P[r['ulps_of']]) for r in rows))}
    got = [(k, text) for k in want for text in re.findall(k + r'([\d.e+-]+\d)(?: times a|[;, ]|$)', cause)]
    return len(got), [(k, text, want[k]) for k, text in got if text != want[k]]


for name, b, words, many in (
    ('seed', {k: ('F32', [40], drawn('F32', 40)) for k in A}, 'another seed or initialisation: the 5 tensors', 1),
    ('order', moved(6e-6), 'sums in another order, or another library: the 5 tensors', 1),
    ('change', moved(0.01), 'another computation, or a lower precision within it: the 5 tensors', 3),
    ('cast', {**moved(1e-3), 'w2': ('F16', *A['w2'][1:])}, 'another precision: w2 was F32 and is F16', 1),
    ('loud', {**moved(6e-6), 'w4': ('F32', [40], [math.nan] + A['w4'][2][1:])}, 'an overflow, or a division by 0', 0),
    ('lost', {k: v for k, v in A.items() if k != 'w3'}, 'another model: 0 names have another shape, and 1 are in', 0),
):
    write(name + '.safetensors', b)
    line = ('check', name + '.safetensors', '--baseline', 'a.safetensors')
    p, rows = halfulp(*line), json.loads(halfulp(*line, '--json').stdout)['rows']
    cause = p.stdout.split('\n')[0].partition('. Most likely cause: ')[2]
    ok(p.returncode == 1 and cause.startswith(words), name, p.stdout[:500])
    got = figures(cause, [r for r in rows if r.get('differ')]) if many else (0, [])
    ok(got == (many, []), '%s: its %d medians' % (name, many), [cause, got])
finish()

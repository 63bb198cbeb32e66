# SPDX-License-Identifier: Apache-2.0
# What the figures of the gallery mean, computed again without halfulp: a function a figure. It gets the figure (its
# tables, title and caption) and yields (holds, what). Figures of formats, of their memory and of FP4 stand here, the
# others in gallery/ by subject.
import math
from fractions import Fraction as F

from gallery.cores import *  # noqa: F401,F403
from gallery.layers import *  # noqa: F401,F403
from gallery.papers import *  # noqa: F401,F403
from gallery.rounding import SHAPE, exponent, four_bits, power, rnd, single, ulp
from gallery.sums import *  # noqa: F401,F403
from gallery.training import *  # noqa: F401,F403


def ulp_staircase(g):
    down = g.table('down')
    wrong = sum(F(float(u['value'])) - F(float(d['value'])) != ulp(F(float(u['at'])), u['format']) for u,
            d in zip(g.table(), down))
    yield wrong == 0 and len(down) == 3 * 273, 'all %d gaps are one ulp' % len(down)
    yield (all(g.says(power(exponent(ulp(F(1), f))) + ' in ' + f) for f in ('fp16', 'bf16', 'e4m3'))
            and g.says('2⁻²⁴ in fp16, 2⁻⁹ in e4m3'), 'the caption')


def number_line(g):
    def numbers(e, m):                            # OCP MX: bias 2^(e-1) - 1, no special values
        bias = 2 ** (e - 1) - 1
        return [(c % 2 ** m) / 2 ** m * 2.0 ** (1 - bias)
                if c < 2 ** m else (1 + c % 2 ** m / 2 ** m) * 2.0 ** (c // 2 ** m - bias)
                for c in range(2 ** (e + m))]
    for f in ('e2m1', 'e2m3', 'e3m2'):
        wanted = numbers(int(f[1]), int(f[3]))
        yield ([float(r['value']) for r in g.table() if r['format'] == f] == wanted
                and g.says('%d numbers to %g' % (len(wanted), wanted[-1])) or g.says('%d to %g' % (len(wanted),
                wanted[-1])), 'all numbers of ' + f)


def format_map(g):
    rows = {r['name']: r for r in g.table()}
    for f, (p, emin) in {**SHAPE, 'e3m2': (3, -2), 'e2m1': (2, 0)}.items():
        if f == 'fp64':
            continue
        r = rows[f]
        top = {'e4m3': 448, 'e3m2': 28, 'e2m1': 6, 'fp16': 65504, 'e5m2': 57344}.get(f,
                (2 - 2.0 ** (1 - p)) * 2.0 ** 127)
        yield ((int(r['p']), int(r['emin']), float(r['min_normal']), float(r['min_positive']),
                float(r['max_finite'])) == (p, emin, 2.0 ** emin, 2.0 ** (emin - p + 1), top), 'the row of ' + f)

    def span(f):
        return math.log2(float(rows[f]['max_finite'])) - math.log2(float(rows[f]['min_positive']))
    yield g.says('spans %.0f powers of two with 8 bits, fp16 %.0f with 11' % (span('bf16'), span('fp16'))), 'the spans'


def bit_layouts(g):
    for r in g.table():
        f = r['format']
        p, emin = SHAPE[f]
        v = rnd(F('3.14159265358979323846264338327950288'), f)
        e = exponent(v)
        code = (e - emin + 1) * 2 ** (p - 1) + int(v / F(2) ** (e - p + 1)) - 2 ** (p - 1)
        yield F(float(r['value'])) == v and int(r['bits'], 16) == code, 'value and code of pi in ' + f
    shape = {r['name']: (int(r['bits']), int(r['exponent_bits']), int(r['p'])) for r in g.table('shape')}
    yield (shape == {'fp32': (32, 8, 24), 'tf32': (19, 8, 11), 'bf16': (16, 8, 8), 'fp16': (16, 5, 11), 'e5m2': (8,
            5, 3), 'e4m3': (8, 4, 4)}, 'the layouts')
    yield g.says('fp32 keeps 3.1415927, fp16 and tf32 3.140625, bf16 3.140625, e5m2 3 and e4m3 3.25'), 'the caption'


def rounding_modes(g):
    def away(q):
        return math.floor(q + F(1, 2)) if q > 0 else math.ceil(q - F(1, 2))
    ways = {'RNE': round, 'RNA': away, 'RZ': math.trunc, 'RU': math.ceil, 'RD': math.floor}
    for mode, way in ways.items():
        rows = [r for r in g.table() if r['mode'] == mode]
        yield (len(rows) == 49 and all(F(float(r['value'])) == F(way(F(r['input']) * 2), 2) for r in rows),
                'all values in ' + mode)
    yield g.says('go to 0 in RNE and to 0.5 in RNA'), 'the tie'


def memory_by_policy(g):
    kinds = ('weights', 'masters', 'activations', 'gradients', 'optimizer_state')
    rows = {r['policy']: {k: float(r['memory_bytes.' + k]) for k in kinds} for r in g.table()}
    whole = {p: sum(r.values()) for p, r in rows.items()}
    yield (g.says('needs %.0f %% of float32' % (100 * whole['mixed_float16'] / whole['float32']))
            and g.says('needs %.0f %%.' % (100 * whole['float16'] / whole['float32'])), 'the sums: %s' % whole)
    yield (g.says('from %.1f to %.1f MB' % (rows['float32']['activations'] / 1e6,
            rows['mixed_float16']['activations'] / 1e6)), 'the activations')
    yield (rows['mixed_float16']['weights'] + rows['mixed_float16']['masters'] > rows['float32']['weights']
            and rows['mixed_float16']['optimizer_state'] >= rows['float32']['optimizer_state']
            and rows['mixed_float16']['activations'] < rows['float32']['activations']), 'what shrinks, what grows'
    n = rows['float32']['optimizer_state'] / 8     # Adam: two numbers of four bytes a parameter
    yield (abs(rows['mixed_float16']['masters'] / 4 - n) < 1e-3 * n
            and abs(rows['float16']['optimizer_state'] / 4 - n) < 1e-3 * n and rows['float32']['masters'] == 0,
            'masters and moments are those of about %d parameters' % n)


def published_probes(g):
    tabled = [r for r in g.table() if r['tabled'] != '-']
    equal = sum(r['tabled'] == r['value'] for r in tabled)
    yield g.says('%d values are tabled; %d of' % (len(tabled), equal)), '%d of %d' % (equal, len(tabled))
    probes, marks = {}, {'dot': 0, 1: 0, 2: 0, 3: 0}
    for r in g.table():
        probes.setdefault(r['probe'], []).append(r['value'])
    telling = sum(len(set(v)) > 1 for v in probes.values())
    said = '%d of %d probes' % (telling, len(probes))
    yield g.says(said), said + ' have several values'
    for values in probes.values():
        order = list(dict.fromkeys(values))
        for v in values:
            marks['dot' if len(order) == 1 else order.index(v) + 1] += 1
    # gnuplot's marks, of which the key has two circles, a square and a triangle
    drawing = open(g.path('svg'), encoding='utf-8').read()
    drawn = [drawing.count("'#gpPt%d'" % k) for k in (6, 4, 8)]
    # Rings, of which gnuplot makes the circle once, and crosses
    other = [drawing.count("'#gpPt5'") - 1, drawing.count("'#gpPt1'")]
    yield (drawn == [marks['dot'] + marks[1] + 2, marks[2] + 1, marks[3] + 1]
           and other == [len(g.table()) - len(tabled), len(tabled) - equal], 'a mark for each row: %s' % marks)
    # Two of them by the model of a block: P3 (four products 2^-25 beside 1) and P4 (2^-24)
    for arch in EXTRA:
        rows = {r['probe']: r for r in g.table() if r['arch'] == arch}
        for probe, p in (('P3', F(1, 2 ** 25)), ('P4', F(1, 2 ** 24))):
            yield (float.fromhex(rows[probe]['tabled']) == float(block(F(1), [p] * 4, EXTRA[arch])),
                    '%s of %s, computed again' % (probe, arch))


def summation_trees(g):
    def chain(terms):
        text = str(terms[0])
        for t in terms[1:]:
            text = '(%s %s)' % (text, t)
        return text

    def pairs(terms):
        half = len(terms) // 2
        return str(terms[0]) if not half else '(%s %s)' % (pairs(terms[:half]), pairs(terms[half:]))
    whole = list(range(1, 9))
    expected = {'fma': chain(whole), 'chunk:4': '(%s %s)' % (chain(whole[:4]), chain(whole[4:])),
            'pairwise': pairs(whole), 'tc:hopper': '(1 2 3 4 5 6 7 8)'}
    yield {r['sum']: r['tree'] for r in g.table()} == expected, 'the four trees'

    def depth(text):
        level = [text[:i].count('(') - text[:i].count(')') for i, c in enumerate(text) if c.isdigit()]
        return max(level)
    yield g.says('takes %d additions in a row, chunks of four %d, pairs %d, and a tensor core adds all of them in %d' % tuple(depth(expected[s]) for s in ('fma', 'chunk:4', 'pairwise', 'tc:hopper'))), 'the depths'


def double_rounding(g):
    made, wrong = {}, 0
    for r in g.table():
        x = F(float(r['at']))
        value = rnd(1 + F(1, 2048) + x if r['acc'] == 'fp64' else rnd(rnd(1 + F(1, 2048), 'fp32') + x, 'fp32'), 'fp16')
        wrong += value != F(float(r['value']))
        made.setdefault(x, {})[r['acc']] = value
    yield wrong == 0 and len(made) == 17, 'all sums'
    differ = [x for x, v in made.items() if v['fp32'] != v['fp64']]
    yield (g.says('%d of the 17 sums differs' % len(differ)) and F(1, 2 ** 24) in differ,
            'they differ at %s' % [str(x) for x in differ])
    at = made[F(1, 2 ** 24)]
    yield (g.says('one rounding gives %.11g' % at['fp64']) and g.says('goes to %g' % at['fp32'])
            and at['fp64'] > at['fp32'], 'up once, down twice')


def nvfp4_block(x):
    """One block of NVFP4 that is the whole array: its code is 448, and the array's scale its largest over 2688, all in
    fp32 as Transformer Engine has it."""
    g = single(2688 / single(max(map(abs, x))))
    code = float(rnd(single(single(g * single(1 / 6)) * max(map(abs, x))), 'e4m3'))
    times = single(1 / single(code * single(1 / g)))
    return [four_bits(single(v * times)) * code * single(1 / g) for v in x]


def hadamard_neighbours(g):
    signs = [int(c + '1') for c in '+++-+------+-+--']
    x = [float(r['exact']) for r in g.table()]
    matrix = [[signs[i] * (-1) ** bin(i & j).count('1') / 4 for j in range(16)] for i in range(16)]
    turned = [sum(x[i] * matrix[i][j] for i in range(16)) for j in range(16)]
    yield [float(r['exact']) for r in g.table('turned')] == turned, 'the transform of these values'
    plain, cast = nvfp4_block(x), nvfp4_block(turned)
    for name, part, want in (('as they are', '', plain), ('transformed', 'turned', cast)):
        rows = g.table(part) if part else g.table()
        yield all(abs(float(r['value']) - w) <= 1e-6 * abs(w) for r, w in zip(rows, want)), 'casts of values ' + name
    back = [sum(cast[j] * matrix[i][j] for j in range(16)) for i in range(16)]
    at = x.index(20)
    others = [i for i in range(16) if i != at]
    lost, gone = (sum(y[i] == 0 for i in others) for y in (plain, back))
    off = [sum((y[i] - x[i]) ** 2 for i in others) for y in (plain, back)]
    yield (g.says('%d of the 15 others become zero' % lost) and g.says('it, %d do' % gone),
           '%d and %d are lost' % (lost, gone))
    yield (all(sum(matrix[i][k] * matrix[j][k] for k in range(16)) == (i == j) for i in range(16) for j in range(16))
           and g.says('Transforms of both operands of a product cancel'), 'the matrix is orthogonal')
    yield lost > 4 > gone and off[1] > off[0], 'neighbours are kept, and are farther off'
    yield g.says('from %.2g to %.2g, and the 20 is %.1f' % (*off, back[at])), 'squared errors %g and %g' % tuple(off)


def nvfp4_orders(g):
    counts, even, differ, blocks = [0, 0, 0], 0, 0, 0
    for part in ('', 'b', 'c', 'd'):
        rows = g.table(part) if part else g.table()
        n = len(rows) // 3
        x = [float(r['exact']) for r in rows[:n]]
        most = max(x)
        scale = single(2688 / most)
        for at in range(16, n, 16):
            a, blocks = x[at], blocks + 1
            sixth = single(a / 6)
            codes = [float(rnd(v, 'e4m3')) for v in (single(a * single(scale * single(1 / 6))), single(sixth * scale),
                                                     single(sixth / single(most / 2688)))]
            yield [float(rows[k * n + at]['scale']) for k in range(3)] == codes, 'codes of %g of %g' % (a, most)
            tie = F(a) * 448 / F(most)
            low, high = min(codes), max(codes)
            yield low < tie < high and F(low) + F(high) == 2 * tie, 'which are around a tie'
            counts = [c + (code > tie) for c, code in zip(counts, codes)]
            even += rnd(tie, 'e4m3') == high
            differ += low != high
    yield differ == blocks and g.says('of %d blocks' % blocks), 'in none of %d blocks all agree' % blocks
    yield g.says('the larger one in %d;' % even), 'to even %d go up' % even
    yield (g.says("order takes the larger one in %d, fouroversix's in %d and torchao's in %d" % tuple(counts)),
           'the larger codes are %d, %d and %d' % tuple(counts))

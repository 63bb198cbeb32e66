#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# round with block formats: each row against an oracle in exact fractions, written from OCP MX 1.0's rules and the
# definitions of nvfp4, affine integers and block floating point in doc/formats.md; the table; what is refused.
. "${srcdir:-.}/t/tool/tap.sh"

run round --format mxfp4 0.1 0.2 3 7
test $code = 0 && grep -q '^mxfp4: 4 values in 1 block of 32 e2m1$' out &&
	grep -q '^block 1, values 1 to 4: scale 1 = 2^0 (0x7f)$' out &&
	test "$(awk '$1 == "mxfp4" { print $2, $3 }' out | tr '\n' ' ')" = '0 0x0 0 0x0 3 0x5 6 0x7 ' &&
	grep -q '^mxfp4 .* inexact overflow$' out && grep -q '^mxfp4 .* exact$' out
test_is $? "mxfp4 of 0.1 0.2 3 7: scale 1, as 7 lies in 6's binade, so 7 saturates and 0.1 is lost"
run round --format nvfp4x2,fp16 1 2 nan 4 5
test $code = 0 && grep -q '^nvfp4x2: 5 values in 3 blocks of 2 e2m1, tensor scale 1 = 2^0 (0x3f800000), as value 3 is '\
'not finite$' out &&
	grep -q '^block 2, values 3 to 4: scale nan (0x7f); value 3 is NaN, which makes the block NaN$' out &&
	grep -q '^block 3, value 5: ' out &&
	test "$(grep -c '^fp16 ' out)" = 5 && test "$(grep -n '^fp16' out | tail -n 1 | cut -d: -f1)" -lt \
	"$(grep -n '^nvfp4x2' out | head -n 1 | cut -d: -f1)"
test_is $? "a NaN makes its block NaN and says so; a format of single numbers beside it"
run round --format mxfp8 1e39 1
test $code = 0 && grep -q 'scale nan (0xff); value 1 is infinite in fp32' out && grep -q ' invalid$' out
test_is $? "a value beyond fp32 is infinite in it"
run round --format nvfp4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1e-9 0
test $code = 0 && grep -q '^block 2, values 17 to 18: scale 0 (0x00); too small for it, the block is 0$' out
test_is $? "a block too small for its scale says so"
run round --format int4 0 0
test $code = 0 && grep -q '^block 1, values 1 to 2: scale 1 = 2^0 (0x3f800000)$' out
test_is $? "zeros say nothing of the kind"
printf '1\n\n2\n' | "$HALFULP" round --format mxfp8 0 - 4 >out 2>err
test $? = 0 && test "$(awk '$1 == "mxfp8" { print $2 }' out | tr '\n' ' ')" = '0 1 2 4 '
test_is $? "- takes its values into the same array, in order"
run round --format mxfp4 --mode RNE --mode saturate 3
test $code = 0
test_is $? "--mode RNE and --mode saturate say what is done anyway"
run round --format mxfp4 --mode RZ --json 7.9 2.9 -2.9
test $code = 0 && test "$(sed -n 's/.*"value": //p' out | tr -d '\n')" = '6.0,2.0,-2.0,'
test_is $? "--mode rounds elements: RZ makes 7.9 6, 2.9 2 and -2.9 -2"
run round --format mxfp4 --mode SR --seed 1 --json $(yes 2.25 | head -n 400) 4
test $code = 0 && up=$(grep -c '"value": 3.0' out) && test "$up" -gt 60 && test "$up" -lt 140 &&
	test "$(grep -c '"value": 2.0' out)" = $((400 - up))
test_is $? "SR takes 2.25 to 3 in a quarter of 400 draws (${up:-?}; 40 are 4.6 standard deviations), else to 2"
for how in '--mode RZ' '--mode SR'; do
	run round --format fp16,int8 $how 1
	refused 2 "${how% *}" "$how with integers"
done
for how in '--mode ftz' '--mode propagate' '--mode daz' '--mode SR:random_bits=8' --bits; do
	run round --format fp16,mxfp4 $how 1
	refused 2 "${how% *}" "$how with a block format"
done
run round --format mxfp4 1 2+
test $code = 2 && test ! -s out && test "$(wc -l <err)" = 1
test_is $? "a value that is none: nothing is printed, exit 2"

cat >oracle.py <<'END_ORACLE'
import json, math, random, struct, subprocess, sys
from fractions import Fraction as F

def log2(x):                                    # floor(log2 |x|)
    x = abs(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if F(2) ** e <= x else e - 1
def near(x, p, emin):                           # to nearest even, no end above; Python rounds halves to even
    if x == 0: return F(0)
    q = F(2) ** (max(log2(x), emin) - p + 1)
    return round(x / q) * q
def fp32(x): return near(x, 24, -126)
def bits32(x): return struct.unpack('<I', struct.pack('<f', float(x)))[0]

# exponent bits, trailing significand bits, emin, largest: OCP MX 1.0, table 1 and section 5.3
FLOAT = {'e4m3': (4, 3, -6, F(448)), 'e5m2': (5, 2, -14, F(57344)), 'e3m2': (3, 2, -2, F(28)),
         'e2m3': (2, 3, 0, F(15, 2)), 'e2m1': (2, 1, 0, F(6))}
def code_of(v, negative, name):
    ebits, m, emin, _ = FLOAT[name]
    a = abs(v)
    if a < F(2) ** emin: c = int(a / F(2) ** (emin - m))
    else: c = (log2(a) - emin + 1 << m) + int((a / F(2) ** log2(a) - 1) * 2 ** m)
    return c | negative << (ebits + m)

def element_float(x, scale, name):              # value, code, saturated, ulp
    _, m, emin, top = FLOAT[name]
    if scale == 0: return F(0), 0, False, None
    q = near(x[0] / scale, m + 1, emin)
    over = abs(q) > top
    q = max(-top, min(top, q))
    unit = F(2) ** ((max(log2(x[1] / scale), emin) if x[1] else emin) - m) * scale
    return q * scale, code_of(q, x[2], name), over, unit
def element_int(x, step, low, top, zero, bits):
    n = round(x[0] / step) + zero
    c = max(low, min(top, n))
    return (c - zero) * step, c % 2 ** bits, c != n, step

LARGEST = (2 - F(2) ** -23) * F(2) ** 127

def power2(amax, emax, k):                      # exponent and code of the shared scale; k = 8 is e8m0
    most = 2 ** (k - 1) - 1
    e = -most if amax == 0 else max(-most, min(most, log2(amax) - emax))
    return F(2) ** e, e + most

def quantise(name, kind, xs):                   # xs: (fp32, exact, sign) or None for what is not finite
    what, size, *more = kind
    size = size or len(xs)
    bad = any(x is None for x in xs)
    tensor = F(1)
    if what == 'nv':
        m = F(0) if bad else max(abs(x[0]) for x in xs)
        tensor = fp32(m / (6 * 448)) if m else F(1)
    for k in range(0, len(xs), size):
        block = xs[k:k + size]
        row = {'block': k // size + 1}
        if what == 'nv': row['tensor_scale'] = tensor
        nan = any(x is None for x in block)
        amax = 0 if nan else max(abs(x[0]) for x in block)
        zero = 0
        if what in ('mx', 'bfp', 'mxint'):
            bits = more[0] if what != 'mx' else None
            k2 = more[1] if what == 'bfp' else 8
            emax = {'e4m3': 8, 'e5m2': 15, 'e3m2': 4, 'e2m3': 2, 'e2m1': 2}[more[0]] if what == 'mx' else 0
            scale, code = power2(amax, emax, k2)
            digits, all_ones = (k2 + 3) // 4, 2 ** k2 - 1
        elif what == 'nv':
            scale = min(F(448), near(amax / (6 * tensor), 4, -6))
            code, digits, all_ones = code_of(scale, 0, 'e4m3'), 2, 0x7f
        elif what == 'affine':
            scale = fp32(F(amax) / (2 ** (more[0] - 1) - 1)) or F(1)
            code, digits, all_ones = bits32(scale), 8, 0x7fc00000
        else:
            low = 0 if nan else min([F(0)] + [x[0] for x in block])
            high = 0 if nan else max([F(0)] + [x[0] for x in block])
            scale = fp32((high - low) / (2 ** more[0] - 1)) or F(1)
            zero = min(round(-low / scale), 2 ** more[0] - 1)
            code, digits, all_ones = bits32(scale), 8, 0x7fc00000
        row['scale'] = None if nan else scale
        row['scale_bits'] = '0x%0*x' % (digits, all_ones if nan else code)
        if what == 'zp': row['zero'] = 0 if nan else zero
        for x in block:
            if nan: yield dict(row, value=None); continue
            if what == 'mx': v, c, over, unit = element_float(x, scale, more[0]); w = 1 + sum(FLOAT[more[0]][:2])
            elif what == 'nv': v, c, over, unit = element_float(x, scale * tensor, 'e2m1'); w = 4
            elif what in ('bfp', 'mxint'):
                top = 2 ** (bits - 1) - 1
                v, c, over, unit = element_int(x, scale / 2 ** (bits - 2), -top, top, 0, bits); w = bits
            elif what == 'affine':
                top = 2 ** (more[0] - 1) - 1
                v, c, over, unit = element_int(x, scale, -top, top, 0, more[0]); w = more[0]
            else: v, c, over, unit = element_int(x, scale, 0, 2 ** more[0] - 1, zero, more[0]); w = more[0]
            v = fp32(v)
            if abs(v) > LARGEST: v, over = math.copysign(math.inf, v), True     # the product is beyond fp32's range
            flags = ['inexact'] * (v != x[1]) + ['underflow'] * (v == 0 and x[1] != 0)
            flags += ['overflow'] * over + ['fp32-inexact'] * (x[0] != x[1])
            ulps = 0 if v == x[1] else math.inf if unit is None or abs(v) == math.inf else abs(v - x[1]) / unit
            yield dict(row, value=v, bits='0x%0*x' % ((w + 3) // 4, c), flags=flags, ulps=ulps)

KINDS = {'mxfp8e4m3': ('mx', 32, 'e4m3'), 'mxfp8e5m2': ('mx', 32, 'e5m2'), 'mxfp6': ('mx', 32, 'e3m2'),
         'mxfp6e2m3': ('mx', 32, 'e2m3'), 'mxfp4': ('mx', 32, 'e2m1'), 'nvfp4': ('nv', 16),
         'mxint8': ('mxint', 32, 8), 'int8': ('affine', 0, 8), 'int4x3': ('affine', 3, 4), 'int4zp': ('zp', 0, 4),
         'int8zpx5': ('zp', 5, 8), 'bfp8x16s5': ('bfp', 16, 8, 5), 'bfp3x4': ('bfp', 4, 3, 8)}

def number(x): return None if x == 'nan' else float(x) if isinstance(x, str) else F(x)
def check(name, texts, way):
    xs = []
    for t in texts:
        if t.strip('-') in ('nan', 'inf'): xs.append(None); continue
        exact = F(t)
        x = fp32(exact)
        xs.append((x, exact, int(t.startswith('-'))) if abs(x) < F(2) ** 128 else None)
    command = [sys.argv[1], 'round', '--format', name, '--json']
    p = subprocess.run(command + (['-'] if way == 'stdin' else ['--'] + texts), input='\n'.join(texts) + '\n',
                       capture_output=True, text=True)
    rows = json.loads(p.stdout)
    want = list(quantise(name, KINDS[name], xs))
    assert p.returncode == 0 and len(rows) == len(want), (name, len(rows), len(want), p.stderr)
    for r, w, t in zip(rows, want, texts):
        def same(key, a, b): assert a == b, '%s of %s: %s is %s, should be %s' % (name, t, key, a, b)
        same('input', r['input'], t)
        same('format', r['format'], name)
        for key in ('block', 'scale_bits', 'zero'): same(key, r.get(key), w.get(key))
        same('scale', number(r['scale']), w['scale'])
        same('tensor_scale', r.get('tensor_scale'), None if 'tensor_scale' not in w else float(w['tensor_scale']))
        same('value', number(r['value']), w['value'])
        if w['value'] is None: continue
        same('hex', float.fromhex(r['hex']), w['value'])
        same('bits', r['bits'], w['bits'])
        same('flags', r['flags'], w['flags'])
        got, ulps = number(r['error_ulps']), w['ulps']
        near = got == ulps if not ulps or ulps == math.inf else got and abs(got - ulps) <= ulps / 10 ** 14
        assert near, (name, t, 'error_ulps', got, float(ulps))

random.seed(int(sys.argv[3]))
def some(n):                                    # magnitudes around one, its ties, far ones, zeros of both signs
    unit = 10 ** random.uniform(-20, 20) if random.random() < .7 else 2.0 ** random.randint(-140, 120)
    for _ in range(n):
        how = random.random()
        if how < .25: yield repr(unit * random.gauss(0, 1))
        elif how < .5: yield repr(math.ldexp(random.randint(-64, 64) / 4, round(math.log2(unit))))
        elif how < .7: yield repr(unit * 10 ** random.uniform(-8, 0) * random.choice((1, -1)))
        elif how < .75: yield '%.3g' % (unit * random.random())
        elif how < .8: yield random.choice(('0', '-0', '1e-50'))
        else: yield '%.25e' % F(random.gauss(0, 1) * unit)
name = sys.argv[2]
# by hand: ties of e2m1 and of integers under scale 1, 0.1, saturation; a short last block
check(name, '6 5 3.5 2.5 1.75 1.25 0.75 0.25 -0.25 7 -7 0.1 -5.000001'.split(), 'line')
check(name, ['0'] * 40, 'line')
check(name, ['1', '-2', 'nan'] + ['3'] * 33, 'line')
check(name, ['1', '-inf'] + ['0.3'] * 49, 'stdin')
check(name, ['3.4028234663852886e38', '-3.4e38', '1e-45', '1e-38'], 'line')
for way in ['line', 'stdin'] * 4: check(name, list(some(random.choice((1, 5, 16, 33, 70, 97)))), way)
END_ORACLE
PYTHON=${PYTHON:-python3}
formats='mxfp8e4m3 mxfp8e5m2 mxfp6 mxfp6e2m3 mxfp4 nvfp4 mxint8 int8 int4x3 int4zp int8zpx5 bfp8x16s5 bfp3x4'
if command -v "$PYTHON" >/dev/null 2>&1; then
	for f in $formats; do
		"$PYTHON" oracle.py "$HALFULP" $f 1 >out 2>err
		test_is $? "$f: values, codes, scales, errors and flags are the oracle's, zeros, NaN, a short last "\
"block and standard input among them"
	done
else
	skip 13 'python3 makes the oracle and is absent'
fi

finish

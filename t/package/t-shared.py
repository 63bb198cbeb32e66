#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# libhalfulp.so, installed into a folder whose name has a space: it exports what t/package/abi.txt keeps and no more,
# the headers stand alone in C and C++, the examples compile by pkg-config and print what Python computes, functions
# called from Python give what exact fractions give, in any floating-point environment, on many threads, and without
# memory. Written for builds that have the library (configure --enable-shared). --update writes abi.txt.
import ctypes
import fractions
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from shared_abi import abi, exported

BUILD = os.environ.get('top_builddir', '.')
CC = os.environ.get('CC', 'cc')
HEADERS = ['call', 'exact', 'format', 'halfulp', 'status', 'sum']
if not os.path.exists(BUILD + '/libhalfulp.so.0'):
    tap.skip_all('this build has no libhalfulp.so (configure --enable-shared)')
if not shutil.which('pkg-config'):
    tap.skip_all('pkg-config is absent')
home = tap.home() + '/a b'
env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'DESTDIR')}


def run(words, **how):
    how.setdefault('env', env)
    shell = isinstance(words, str)
    return subprocess.run(words, shell=shell, capture_output=True, text=True, stdin=subprocess.DEVNULL, **how)


def files(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


where = ['prefix=/usr', 'DESTDIR=' + home]
made = run(['make', '-C', BUILD, 'install'] + where)
lib, include = home + '/usr/lib', home + '/usr/include'
tap.ok(made.returncode == 0 and os.path.exists(home + '/usr/bin/halfulp'),
    'make install into a DESTDIR with a space', (made.stdout + made.stderr)[-800:])
have = [n for n in ('libhalfulp.so', 'libhalfulp.so.0', 'pkgconfig/halfulp.pc') if not os.path.exists(lib + '/' + n)]
have += [n for n in HEADERS if not os.path.exists(include + '/halfulp/' + n + '.h')]
if not tap.none(have, 'the library, its headers and halfulp.pc are installed'):
    tap.finish()
outside = run([home + '/usr/bin/halfulp', 'calc', '1 + 0.0001', '--format', 'fp16'], cwd='/')
tap.ok('swamped' in outside.stdout, 'the program runs from there', outside.stderr)

# What callers were compiled with
kept = os.path.join(tap.TOP, 't/package/abi.txt')
now = abi(CC, include)
if '--update' in sys.argv:
    open(kept, 'w').write('\n'.join(now) + '\n')
want = open(kept).read().splitlines()
gone = [x for x in want if x not in now]
new = [x for x in now if x not in want]
tap.none(gone, 'no function, argument or constant of t/package/abi.txt is gone or other than it was')
tap.none(new, 'what is new stands in t/package/abi.txt (t-shared.py --update)')
names = sorted(re.findall(r'\b(halfulp_\w+) \(', '\n'.join(want)))
tap.ok(exported(lib + '/libhalfulp.so.0') == names, 'the library exports these functions and no other name',
    sorted(set(exported(lib + '/libhalfulp.so.0')) ^ set(names)))
tap.ok(len(abi(CC, include, 'int halfulp_new_one(int x);')) == len(now) + 1, 'a new function would be seen')
text = ''.join(open('%s/halfulp/%s.h' % (include, h), encoding='utf-8').read() for h in HEADERS)
code = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
inner = re.findall(r'\bhu_\w+|\bHU_(?!LFULP)\w+|#include "(?!\w+\.h")[^"]*"', code)
tap.none(inner, 'no name or header of the program is in them')
strict = []
for h in HEADERS:
    for compiler, std, name in ((CC, 'c11', 'x.c'), (os.environ.get('CXX', 'c++'), 'c++17', 'x.cpp')):
        open(home + '/' + name, 'w').write('#include <halfulp/%s.h>\nint main() { return 0; }\n' % h)
        flags = '-std=%s -Wall -Wextra -Wpedantic -Werror -I"%s" -fsyntax-only' % (std, include)
        p = run('%s %s "%s/%s"' % (compiler, flags, home, name))
        strict += [p.stderr] if p.returncode else []
tap.none(strict, 'each header stands alone in C11 and C++17, without a warning')

# The examples, as their first lines say. pkg-config is told where the tree was put.
pc = open(lib + '/pkgconfig/halfulp.pc').read()
tap.ok('Cflags: -I${includedir}\n' in pc and '-lhalfulp\n' in pc, 'halfulp.pc has its flags', pc)
moved = home + '/moved'
os.makedirs(moved)
short = os.path.dirname(home) + '/tree'
os.symlink(home + '/usr', short) # pkg-config quotes no spaces
open(moved + '/halfulp.pc', 'w').write(re.sub('^prefix=.*', 'prefix=' + short, pc))
env['PKG_CONFIG_PATH'] = moved
env['LD_LIBRARY_PATH'] = lib
for name, compiler in (('library.c', CC), ('library.cpp', os.environ.get('CXX', 'c++') + ' -std=c++17 -pthread')):
    shutil.copy('%s/usr/share/halfulp/examples/%s' % (home, name), home)
    p = run('%s %s $(pkg-config --cflags --libs halfulp) -o %s' % (compiler, name, name.replace('.', '-')), cwd=home)
    tap.ok(p.returncode == 0 and not p.stderr, 'examples/%s compiles by pkg-config' % name, p.stderr)
p = run('./library-c', cwd=home)
tap.ok(p.returncode == 0, 'and runs', p.stderr)


def fp16(x):
    return struct.unpack('e', struct.pack('e', x))[0]


tenth, serial = fp16(0.1), 0.0
for _ in range(1000):
    serial = fp16(serial + tenth)
exact = fractions.Fraction(tenth) * 1000
seen = re.search(r'^sequential,acc=fp16 +(\S+) +exactly (\S+): error (\S+), at most (\S+)$', p.stdout, re.M)
good = bool(seen) and float(seen[1]) == float('%.6g' % serial) and float(seen[2]) == float('%.8g' % float(exact)) and \
    float(seen[3]) == float('%.4g' % abs(serial - float(exact))) and float(seen[3]) <= float(seen[4])
tap.ok(good, 'its sum, the exact sum and the error are those of Python\'s own half floats', p.stdout)
tap.ok('0 of 8 elements beyond' in p.stdout and '1 of 8 elements beyond the bound; the worst is element 5' in p.stdout,
    'a wrong element of a softmax is found', p.stdout)
p = run('./library-cpp', cwd=home)
tap.ok(p.returncode == 0 and 'on 4 threads the same' in p.stdout and 'a failure: ' in p.stdout,
    'C++: threads share a model, a failure is an exception', p.stdout + p.stderr)

# From Python, against fractions
so = ctypes.CDLL(lib + '/libhalfulp.so.0')
P = ctypes.c_void_p
so.halfulp_reason.restype = so.halfulp_version.restype = ctypes.c_char_p
so.halfulp_sum_text.restype = ctypes.c_char_p
so.halfulp_exact_error.argtypes = [P, P, ctypes.c_double]
so.halfulp_exact_compare.argtypes = [P, P, ctypes.c_double]
for f in ('exact_free', 'sum_free', 'call_free', 'judgement_free', 'sum_text'):
    getattr(so, 'halfulp_' + f).argtypes = [P]
tap.ok(so.halfulp_version().decode() == tap.halfulp('--version').stdout.split()[1], 'the library has the version')


def doubles(x):
    return (ctypes.c_double * max(1, len(x)))(*x)


def format_of(name):
    f = P()
    assert so.halfulp_format_find(ctypes.byref(f), name.encode()) == 0, so.halfulp_reason()
    return f


FP64, FP16, BF16 = format_of('fp64'), format_of('fp16'), format_of('bf16')
SIZES = {'fp64': (FP64, 53, -1022, 1.7976931348623157e308), 'fp16': (FP16, 11, -14, 65504.0),
    'bf16': (BF16, 8, -126, 3.3895313892515355e38)}
RNE, RNA, RNZ, RZ, RU, RD, RO = range(7)


def rounded(q, p, emin, most, mode):
    """The fraction q rounded once, as IEEE 754 has it: an independent rounding on integers."""
    if q == 0:
        return 0.0
    negative, a = q < 0, abs(q)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    e -= fractions.Fraction(2) ** e > a
    unit = fractions.Fraction(2) ** (max(e, emin) - p + 1)
    m, rest = divmod(a, unit)
    half = unit / 2
    up = {RNE: rest > half or (rest == half and m % 2 == 1), RNA: rest >= half, RNZ: rest > half, RZ: False,
        RU: rest > 0 and not negative, RD: rest > 0 and negative, RO: rest > 0 and m % 2 == 0}[mode]
    y = (m + up) * unit
    if y > fractions.Fraction(most):
        big = mode in (RZ, RO) or (mode == RU and negative) or (mode == RD and not negative)
        return math.copysign(most if big else math.inf, -1 if negative else 1)
    return math.copysign(float(y), -1 if negative else 1)


draw = random.Random(7)


def vectors():
    for case in range(240):
        n = draw.choice([1, 2, 3, 9, 40])
        span = draw.choice([2, 30, 400, 1000])
        a = [math.ldexp(draw.choice([-1, 1]) * draw.getrandbits(draw.choice([1, 11, 53])),
            draw.randint(-span, span // 2)) for _ in range(n)]
        b = [math.ldexp(draw.getrandbits(draw.choice([1, 8, 53])), draw.randint(-span, 60) - 40) for _ in range(n)]
        if n > 1 and case % 3 == 0: # most of the sum cancels
            a[-1], b[-1] = -a[0], b[0]
        a = [x if abs(x) < 1e308 else 1.0 for x in a]
        yield a, b
    for m in (1, 3, 5, 2 ** 52 + 1, 2 ** 53 - 1): # halfway between two numbers, and beside it
        for tiny in (0.0, 2.0 ** -1070, -2.0 ** -1070):
            yield [float(m), 0.5, tiny], [1.0, 1.0 if m < 9 else 2.0 ** -53, 2.0 ** -20]
    yield [1.7976931348623157e308] * 2, [1.0, 2.0 ** -54]
    yield [1.7976931348623157e308] * 2, [1.0, 1.0]
    yield [2.0 ** -600, 2.0 ** -1074], [2.0 ** -475, 0.5]


wrong, tried = [], 0
y, order = ctypes.c_double(), ctypes.c_int()
for a, b in vectors():
    q = sum((fractions.Fraction(x) * fractions.Fraction(z) for x, z in zip(a, b)), fractions.Fraction(0))
    v = P()
    assert so.halfulp_exact_dot(ctypes.byref(v), doubles(a), doubles(b), ctypes.c_size_t(len(a))) == 0
    for name, (f, p, emin, most) in SIZES.items():
        for mode in range(7):
            assert so.halfulp_exact_round(ctypes.byref(y), v, f, mode, 0) == 0, so.halfulp_reason()
            tried += 1
            if y.value != rounded(q, p, emin, most, mode):
                wrong.append('%s mode %d: %r of %r, %r' % (name, mode, y.value, a, b))
    x = rounded(q, 11, -14, 65504.0, RNE)
    if math.isfinite(x):
        so.halfulp_exact_error(ctypes.byref(y), v, x)
        if y.value != rounded(abs(q - fractions.Fraction(x)), 53, -1022, SIZES['fp64'][3], RNE):
            wrong.append('error %r of %r, %r' % (y.value, a, b))
        so.halfulp_exact_compare(ctypes.byref(order), v, x)
        if order.value != (q > fractions.Fraction(x)) - (q < fractions.Fraction(x)):
            wrong.append('compare %r, %r' % (a, b))
    so.halfulp_exact_free(v)
tap.none(wrong, '%d exact sums, rounded, are those of fractions in seven modes, their errors too' % tried)

model, bound = P(), ctypes.c_double()
relative, absolute, largest = ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
beyond, tight = [], 0.0
for text in ('sequential,acc=bf16', 'pairwise,acc=fp32', 'chunk:8,acc=fp16', 'kahan,acc=bf16', 'fma,acc=fp16',
        'tc:hopper'):
    path = text + (',path=wgmma' if text == 'tc:hopper' else '')
    st = so.halfulp_sum_parse(ctypes.byref(model), path.encode(), BF16, BF16, BF16)
    assert st == 0, so.halfulp_reason()
    for case in range(40):
        n = draw.choice([1, 7, 64, 300])
        a, b = ([rounded(fractions.Fraction(draw.uniform(-1, 1)), 8, -126, 3e38, RNE) for _ in range(n)] for _ in 'ab')
        q = sum(fractions.Fraction(x) * fractions.Fraction(z) for x, z in zip(a, b))
        M = float(sum(abs(fractions.Fraction(x) * fractions.Fraction(z)) for x, z in zip(a, b))) * (1 + 1e-12)
        given = (model, doubles(a), doubles(b), ctypes.c_size_t(n))
        assert so.halfulp_sum_dot(ctypes.byref(y), *given, ctypes.c_uint64(0)) == 0
        assert so.halfulp_sum_bound(ctypes.byref(bound), *given) == 0
        so.halfulp_sum_apriori(ctypes.byref(relative), ctypes.byref(absolute), ctypes.byref(largest), model,
            ctypes.c_size_t(n))
        error = float(abs(fractions.Fraction(y.value) - q))
        before = relative.value * M + absolute.value if M <= largest.value else math.inf
        if not error <= bound.value or not error <= before:
            beyond.append('%s n=%d: %r, bound %r, before %r' % (text, n, error, bound.value, before))
        tight = max(tight, error / bound.value)
    so.halfulp_sum_free(model)
tap.none(beyond, 'no sum of six models errs by more than its bound, with and without the data')
tap.ok(tight > 0.3, 'and the largest error seen is %.2f of its bound' % tight)
refused = so.halfulp_sum_parse(ctypes.byref(model), b'fma,acc=fp33', BF16, BF16, BF16)
tap.ok(refused == 1 and b'fp33' in so.halfulp_reason(), 'a bad name is HALFULP_EINVAL, with its reason')
st = so.halfulp_exact_dot(ctypes.byref(P()), None, None, ctypes.c_size_t(3))
tap.ok(st == 1 and b'NULL' in so.halfulp_reason(), 'a NULL array is refused')

# Threads: as many as call, and none of the library's own
said = []


def work(seed):
    own = random.Random(seed)
    for _ in range(60):
        a = [own.uniform(-9, 9) for _ in range(50)]
        v, z = P(), ctypes.c_double()
        so.halfulp_exact_dot(ctypes.byref(v), doubles(a), doubles(a), ctypes.c_size_t(50))
        so.halfulp_exact_round(ctypes.byref(z), v, FP64, RNE, 0)
        so.halfulp_exact_free(v)
        q = sum(fractions.Fraction(x) ** 2 for x in a)
        if z.value != rounded(q, 53, -1022, SIZES['fp64'][3], RNE):
            said.append(a)


tasks = '/proc/self/task'
threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
tap.none(said, 'six threads that call at once get what one gets')
if os.path.isdir(tasks):
    for _ in range(100): # a thread that was joined may be listed a moment longer
        if len(os.listdir(tasks)) > 1:
            time.sleep(0.05)
    tap.ok(len(os.listdir(tasks)) == 1, 'no thread of the library\'s own is left')
needed = run(['readelf', '-d', lib + '/libhalfulp.so.0']).stdout
tap.ok('libgomp' not in needed and 'libmpfr' in needed, 'it needs no runtime that ends the process', needed)

# Any floating-point environment, and none of the memory
open(home + '/mode.c', 'w').write('''#include <halfulp/halfulp.h>
#include <fenv.h>
#include <stdio.h>
int main(void) {
	const halfulp_format *f; double x = 0.3, y, z;
	halfulp_format_find(&f, "e4m3");
	halfulp_round(&y, &x, 1, f, HALFULP_RNE, 0, 0, 0);
	fesetround(FE_UPWARD);
	halfulp_round(&z, &x, 1, f, HALFULP_RNE, 0, 0, 0);
	printf("%d %d\\n", y == z && y == 0.3125, fegetround() == FE_UPWARD && fetestexcept(FE_ALL_EXCEPT) == 0);
}
''')
p = run('%s -frounding-math mode.c $(pkg-config --cflags --libs halfulp) -lm -o mode && ./mode' % CC, cwd=home)
tap.ok(p.stdout == '1 1\n', 'the caller\'s rounding mode changes nothing, and stays', p.stdout + p.stderr)
source = tap.TOP + '/t/stub/no-memory.c'
flags = '-g $(pkg-config --cflags --libs halfulp)'
p = run('%s "%s" %s -o no-memory && timeout 300 ./no-memory' % (CC, os.path.abspath(source), flags), cwd=home)
tap.ok(p.returncode == 0 and re.fullmatch(r'\d+ rounds, \d+ failures\n', p.stdout),
    'without memory for any one allocation the caller lives on: ' + p.stdout.strip(), p.stdout + p.stderr)

gone = run(['make', '-C', BUILD, 'uninstall'] + where)
rest = [n for n in files(home + '/usr') if not n.startswith('share/man/man1/halfulp.1')]
gone = gone.returncode == 0 and not os.path.exists(include + '/halfulp')
tap.ok(gone and not rest, 'make uninstall leaves no file', rest)
tap.finish()

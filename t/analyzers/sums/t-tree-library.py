#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tree --library: the orders of a shared object that is compiled here, of a process that speaks like halfulp_sums.py and
# sums in orders chosen here, and, where Python has it, of numpy, whose products are summed again here in the order that
# was revealed. HALFULP names the program.
import json, os, random, shutil, struct, subprocess, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap

os.chdir(tap.home())


def rows(*words, **env):
    ran = tap.halfulp('tree', '--json', *words, env=dict(os.environ, **env))
    return json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr


SOURCE = '''
float cblas_sdot(int n, const float *a, int ia, const float *b, int ib)
{
	float all = 0;
	for (int k = 0; k < n; k += 8) {
		float s = 0;
		for (int i = k; i < n && i < k + 8; i++)
			s += a[i] * b[i];
		all += s;
	}
	return all;
}
static double halves(int n, const double *a, const double *b)
{
	return n == 1 ? *a * *b : halves(n / 2, a, b) + halves(n - n / 2, a + n / 2, b + n / 2);
}
double cblas_ddot(int n, const double *a, int ia, const double *b, int ib) { return halves(n, a, b); }
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
	const double *b, int ldb, double beta, double *c, int ldc)
{
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			double s = 0;
			for (int l = k; l-- > 0;)
				s += a[i * lda + l] * b[l * ldb + j];
			c[i * ldc + j] = j == 5 ? s + a[i * lda] : s;
		}
}
'''
with open('own.c', 'w') as f:
    f.write(SOURCE)
cc = os.environ.get('CC', 'cc').split()[-1]
if (
    shutil.which(cc)
    and not subprocess.run([cc, '-shared', '-fPIC', '-ffp-contract=off', '-o', 'own.so', 'own.c']).returncode
):
    got = rows('--library', './own.so', '--n', '32')
    by = {r['sum']: r for r in got} if isinstance(got, list) else {}
    if tap.ok(list(by) == ['cblas_dgemm', 'cblas_sdot', 'cblas_ddot'], 'the functions that a shared object has', got):
        tap.ok(by['cblas_sdot']['tree'] == 'seq(seq(1..8) x4 +8)' and by['cblas_sdot']['sentence']
               == './own.so sums cblas_sdot in the order of --sum chunk:8.',
               'chunks of 8, and the sentence that names the model', by['cblas_sdot'])
        tap.ok('order of --sum pairwise.' in by['cblas_ddot']['sentence'], 'halves', by['cblas_ddot'])
        why = by['cblas_dgemm'].get('why', '')
        tap.ok('outputs of the same terms differ' in why, 'a product one of whose columns is another', why)
    tap.ok('sums cblas_sdot in the order' in tap.halfulp('tree', '--library', './own.so', '--n', '16').stdout,
           'printed')
else:
    tap.skip('a shared object', 'there is no C compiler')

# A process in the place of Python: sums in float32 by struct's rounding, in orders of its own
random.seed(4)
ORDER = random.sample(range(24), 24)
FAKE = '''#!%s
import struct, sys
n, out = int(sys.argv[3]), sys.stdout.buffer
f = lambda x: struct.unpack("f", struct.pack("f", x))[0]
out.write(b"toy 1.0\\nfloat32\\tforwards\\nfloat64\\tmixed\\nfloat32\\tuneven\\nfloat32\\tbroken\\n\\n")
out.flush()
while True:
    b = sys.stdin.buffer.read(4 + 8 * n)
    if len(b) < 4 + 8 * n:
        break
    which, x, s, other = struct.unpack("I", b[:4])[0], struct.unpack("%%dd" %% n, b[4:]), 0.0, 0.0
    if which == 3:
        sys.exit(1)
    for k in range(n) if which != 1 else %r:
        s = f(s + x[k]) if which != 1 else s + x[k]
    out.write(struct.pack("2d", s, s if which != 2 else s + 1))
    out.flush()
''' % (sys.executable, ORDER)
with open('fake', 'w') as f:
    f.write(FAKE)
os.chmod('fake', 0o755)
got = rows('--library', 'numpy', '--n', '24', '--full', PYTHON='./fake')
tap.ok(isinstance(got, str) and 'toy 1.0 failed on broken' in got and got.count('\n') == 1,
       'a process that ends is told of in one line', got)
with open('fake', 'w') as f:
    f.write(FAKE.replace('float32\\tbroken\\n', ''))
got = rows('--library', 'numpy', '--n', '24', '--full', PYTHON='./fake')
if tap.ok(
    isinstance(got, list) and [r['sum'] for r in got] == ['forwards, float32', 'mixed, float64', 'uneven, float32'],
    'its sums', got
):
    nested = lambda order: nested(order[:-1]) and [nested(order[:-1]), order[-1]] if len(order) > 1 else order[0]

    def leaves(t):  # of a tree as text, each node's terms
        out, stack = [], []
        for word in t.replace('(', ' ( ').replace(')', ' ) ').split():
            if word == '(':
                stack.append(set())
            elif word == ')':
                out.append(frozenset(stack.pop()))
                stack and stack[-1].update(out[-1])
            else:
                stack[-1].add(int(word))
        return set(out)

    chain = {frozenset(k + 1 for k in ORDER[: i + 1]) for i in range(1, 24)}
    tap.ok(leaves(got[1]['tree']) == chain and not got[1]['ours'], 'a drawn order is found, and is none of ours',
           got[1]['tree'])
    tap.ok(got[0]['sentence'] == 'toy 1.0 sums forwards, float32 in the order of --sum fma.', 'forwards',
           got[0]['sentence'])
    tap.ok('differ' in got[2]['why'] and got[2]['sentence'] == 'toy 1.0: no tree explains uneven, float32.',
           'outputs that differ', got[2])

for words, code, said in (
    (['--library', 'nump'], 2, 'known are numpy'),
    (['--library', './none.so'], 3, 'none.so'),
    (['--library', 'numpy', '--sum', 'fma'], 2, '--sum'),
    (['--library', 'numpy', '--backend', 'cpu'], 2, '--backend'),
):
    ran = tap.halfulp('tree', *words)
    tap.ok(ran.returncode == code and said in ran.stderr and ran.stderr.count('\n') == 1, '%s: exit %d'
           % (' '.join(words), code), ran.stderr)
ran = tap.halfulp('tree', '--library', 'torch', env=dict(os.environ, PYTHON='false'))
tap.ok(ran.returncode == 4 and 'pip install torch' in ran.stderr,
       'a package that Python lacks: exit 4 and what to do', ran.stderr)

# numpy's own product in the order that was revealed
try:
    import numpy as np
except ImportError:
    tap.skip('numpy', 'Python has none')
    tap.finish()
    sys.exit()
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_sums
terms = np.arange(1.0, 25)
for kind, what, run in halfulp_sums.of_numpy(24)[1]:
    out = run(kind, terms.tobytes())
    tap.ok(len(out) in (1, halfulp_sums.ROWS, halfulp_sums.COLUMNS, halfulp_sums.ROWS * halfulp_sums.COLUMNS)
           and set(out) == {300.0}, '%s %s: each output is the sum of the terms' % (kind, what), out[:3])
n = 48
got = rows('--library', 'numpy', '--n', str(n), PYTHON=sys.executable)
if tap.ok(isinstance(got, list) and len(got) == 12, "numpy's twelve sums", got):
    row = next(r for r in got if r['sum'] == 'sum of columns (axis=0), float32')
    x = np.random.default_rng(1).standard_normal((n, 64), dtype=np.float32)
    s = np.zeros(64, np.float32)
    for k in range(n):
        s = s + x[k]
    tap.ok(row['tree'] == 'seq(1..%d)' % n and np.array_equal(s, x.sum(axis=0)),
           'columns are summed one row after the other, bit by bit', row)
tap.finish()

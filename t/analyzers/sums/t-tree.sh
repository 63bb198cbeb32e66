#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tree: every product and reduction of the build sums in its documented order, seen from outside.
. "${srcdir:-.}/t/tool/tap.sh"

run tree --backend cpu
test $code = 0 && test ! -s err && ! grep -q DIFFERS out
test_is $? "cpu: every sum in its documented order"
tree() { awk -v want="cpu: $1" 'on { print; exit } index($0, want) == 1 { on = 1 }' out | sed 's/^ *//'; }
while IFS='|' read -r what want; do
	test "$(tree "$what")" = "$want"
	test_is $? "$what: $want"
done <<'ROWS'
matmul by fma,acc=fp32|seq(1..32)
matmul by fma,acc=fp16|seq(1..32)
matmul by chunk:8|seq(seq(1..8) x4 +8)
matmul by pairwise|pairs(1..32)
matmul by splitk:4|seq(seq(1..8) x4 +8)
matmul by promote:8|seq(seq(1..8) x4 +8)
matmul by dot2|no tree: terms reach the result that were added before the masks cancelled
matmul by tc:volta|fused(1..4; x8 +4)
matmul by tc:ampere,in=fp16|fused(1..8; x4 +8)
matmul by tc:hopper,in=fp16,out=fp32|fused(1..16; x2 +16)
matmul by tc:hopper,in=fp16,out=fp16|fused(1..16; x2 +16)
matmul by tc:hopper,in=e4m3,out=fp32,path=mma|fused(fused([1, 2] x8 +4), [3, 4] x8 +4)
conv2d_dx by fma|seq(1..32)
bias_db|pair(pair(pair(pair(seq(1, 17), +8), +4), +2), +1)
ROWS
run tree --backend cpu --op conv2d_dx --sum chunk:4 --n 36
test $code = 0 && test "$(tree conv2d_dx)" = "seq(seq(1..4) x9 +4)"
test_is $? "a 3 x 3 data gradient: kernel row, kernel column, output channel"
run tree --backend cpu --op matmul --sum fma --n 12 --op part=4 --full
test $code = 0 && test "$(tree matmul)" = "(((((1 2) 3) 4) (((9 10) 11) 12)) (((5 6) 7) 8))"
test_is $? "parts are joined by the fixed tree"
run tree --backend cpu --op bias_db --n 4500
test $code = 0 && grep -q 'the fixed tree' out
test_is $? "4500 values: two blocks of the fixed tree"
run tree --backend cpu --op matmul --sum fma --json --n 8
test $code = 0 && grep -q '"tree": "seq(1..8)"' out && grep -q '"is": "fma, sequential' out &&
	grep -q '"documented": true' out && grep -q '"hash": "0x[0-9a-f]\{16\}"' out
test_is $? "--json"
run tree --backend cpu --op matmul --sum fma --sum pairwise --sum kahan --sum dot2 --sum tc:volta --n 9 \
	-o t.dot --full --json
cat >read.py <<'PY'
# Finds the order of each cluster again: its root adds what leads to it, in the order of their least terms
import json, re, sys
text = open('t.dot').read()
want = [r['tree'] for r in json.load(open('out')) if r['tree']]
got = []
for k, cluster in enumerate(re.findall(r'subgraph cluster_\d+ \{(.*?)\n\t\}', text, re.S), 1):
    labels = dict(re.findall(r'^\t\t(\w+) \[label="([^"]+)"', cluster, re.M))
    kids = {}
    for child, sum in re.findall(r'^\t\t(\w+) -> (\w+);$', cluster, re.M):
        kids.setdefault(sum, []).append(child)
    def least(v):
        return int(labels[v]) if v not in kids else min(map(least, kids[v]))
    def tree(v):
        return labels[v] if v not in kids else '(%s)' % ' '.join(map(tree, sorted(kids[v], key=least)))
    root, = set(kids) - {c for v in kids.values() for c in v}
    got.append(tree(root))
sys.exit(got != list(dict.fromkeys(want)) or len(got) != 3
    or '// cpu: matmul by kahan,acc=fp32, factors in fp32: order 1' not in text or ': no tree: ' not in text)
PY
test $code = 0 && "${PYTHON:-python3}" read.py
test_is $? "-o FILE.dot: each order once, as the rows have it"
if command -v dot >/dev/null; then
	dot -Tsvg t.dot >t.svg 2>dot.err && test ! -s dot.err && test "$(grep -c '<g id="clust' t.svg)" = 3
	test_is $? "Graphviz draws it"
else
	skip 1 "Graphviz is absent"
fi
run tree --backend cpu --op matmul --sum fma -o /nowhere/t.dot
test $code = 4 && test "$(wc -l <err)" = 1
test_is $? "-o FILE.dot where nothing can be written: a line"
run tree --backend cpu --op matmul --sum fma --json --n 8
hash=$(grep '"hash"' out)
run tree --backend cpu --op matmul --sum sequential,acc=bf16 --json --n 8
test "$(grep '"hash"' out)" = "$hash"
test_is $? "the hash is the tree's, whatever the formats"
run tree --backend shim --op matmul --sum chunk:8 --sum tc:hopper
if test $code = 4 && grep -q 'no C++ compiler' err; then
	skip 1 "the GPU's kernels are not compiled for the host"
else
	test $code = 0 && grep -q 'seq(seq(1..8) x4 +8)' out && grep -q 'fused(1..16; x2 +16)' out
	test_is $? "the GPU's kernels on the host sum in the same orders"
fi
run tree --backend cpu --op matmul --sum fma,acc=bf16 --n 257
test $code = 0 && grep -q 'cannot tell 257 terms apart' out
test_is $? "bf16 counts to 256: said, no guess"

for k in 3 4 5 8; do # a BLAS may well have no tree for few terms: of it nothing is documented
	run tree --n $k --json
	test $code = 0 && test ! -s err && ! grep -q '"documented": false' out
	test_is $? "$k terms by all back ends: exit 0"
done

# A back end that this machine or this build lacks is left out of all, and said to be; asked for by name it is refused
run tree --op bias_db --n 8
test $code = 0 && cp out every
test_is $? "all back ends: exit 0"
for b in cuda shim; do
	run tree --backend $b --op bias_db --n 8
	if test $code = 0; then
		grep -q "^$b: [1-9][0-9]* sums\? in the same order as on cpu$" every &&
			! grep -q "^$b: not here: " every
		test_is $? "$b: its sums are among all"
	else
		grep -q "^$b: not here: " every && refused 4 "$b\|compiler" "$b, which is not here, is refused by name"
	fi
done

# A BLAS of which two outputs of one call differ, though their terms are the same, has no order that could be told
cat >blas.c <<'END'
#define GEMM(name, type, at) void name(int o, int ta, int tb, int m, int n, int k, type f, const type *a, int lda, \
		const type *b, int ldb, type g, type *c, int ldc) \
	{ (void)o, (void)ta, (void)tb, (void)f, (void)g; \
	  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { type s = 0; \
		for (int p = 0; p < k; p++) { int l = at(p, k); s += a[i * lda + l] * b[l * ldb + j]; } \
		c[i * ldc + j] = s + (BAD && i == m - 1 && j == n - 1); } }
#define DOT(name, type, at) type name(int n, const type *a, int i, const type *b, int j) { type s = 0; \
	for (int p = 0; p < n; p++) { int l = at(p, n); s += a[l * i] * b[l * j]; } return s; }
#define UP(p, k) p
#define DOWN(p, k) k - 1 - p
GEMM(cblas_sgemm, float, UP) GEMM(cblas_dgemm, double, DOWN) DOT(cblas_sdot, float, DOWN) DOT(cblas_ddot, double, UP)
END
if ${CC:-cc} -shared -fPIC -DBAD=1 -o bad.so blas.c 2>err &&
	${CC:-cc} -shared -fPIC -ffp-contract=off -DBAD=0 -o good.so blas.c 2>err; then
	HALFULP_BLAS=$dir/bad.so run tree --backend blas --n 8
	test "$(grep -c 'outputs of the same terms differ' out)" = 2
	test_is $? "outputs of the same terms that differ are told, of floats and of doubles"
	HALFULP_BLAS=$dir/good.so run tree --backend blas --n 8
	test $code = 0 && test "$(sed -n 's/^blas: cblas_//p; s/^ *\(seq(.*)\)$/\1/p' out | tr '\n' ' ')" = \
		'sgemm seq(1..8) dgemm seq(8..1) sdot seq(8..1) ddot seq(1..8) '
	test_is $? "one sum after the other, of each function its own"
else
	skip 2 "no C compiler makes a shared library"
fi

run tree --n 1
refused 2 'n' "one term"
run tree --backend tpu
refused 2 "'tpu'.*cpu.* blas" "an unknown back end: the known ones, blas too"
run tree --sum fmaa
refused 2 'fma' "an unknown model"
run tree --op relu
refused 2 'bias_db' "an operator that sums nothing"
run tree 5
refused 2 'options alone' "a word too many"
finish

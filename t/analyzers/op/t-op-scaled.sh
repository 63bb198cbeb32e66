#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# op dot and op matmul with block-scaled operands (tc:blackwell,in=mxfp8, nvfp4, …): arrays whose quantisation is
# exact give the exact sum, others one within the bound; what no unit has is refused.
. "${srcdir:-.}/t/tool/tap.sh"
ones() { for ((i = 0; i < $1; i++)); do printf '%s ' "$2"; done; }

# two rows of 64: 1 to 8 eight times, and 1/2: e4m3 and e2m1's neighbours hold them with a scale a block
npy_of a.npy "(2, 64)" $(for i in 1 2 3 4 5 6 7 8; do ones 8 $i; done) $(ones 64 1/2)
npy_of b.npy "(2, 64)" $(ones 128 4)
npy_of w.npy "(64, 3)" $(ones 192 2)
npy_of want-dot.npy "(2,)" 8*36*4 64*2
npy_of want-mat.npy "(2, 3)" $(ones 3 8*36*2) $(ones 3 64)
for model in tc:blackwell,in=mxfp8 tc:rtxblackwell,in=mxfp6e2m3 tc:blackwell,in=mxfp8,in2=mxfp4; do
	run op dot --in a=a.npy --in b=b.npy --sum $model --out d.npy
	test $code = 0 && cmp -s d.npy want-dot.npy
	test_is $? "dot by $model"
	run op matmul --in a=a.npy --in b=w.npy --sum $model --out d.npy
	test $code = 0 && cmp -s d.npy want-mat.npy
	test_is $? "matmul by $model"
	run op matmul --in a=a.npy --in b=b.npy --set tb=1 --sum $model --out d.npy
	test $code = 0 && test "$(words d.npy | cut -d ' ' -f 1,3)" = "44900000 43000000"
	test_is $? "matmul by $model, b transposed"
done
# nvfp4: 6 * 448 is element 6, scale 448 and 1 for the whole array; c is where the sum starts
npy_of x.npy "(1, 32)" 2688 $(ones 31 0)
npy_of c.npy "(1,)" 1
npy_of want.npy "(1,)" 2688*2688+1
run op dot --in a=x.npy --in b=x.npy --in c=c.npy --sum tc:blackwell,in=nvfp4 --out d.npy
test $code = 0 && cmp -s d.npy want.npy
test_is $? "nvfp4: 2688 * 2688 + 1"
# thirds are no values of any of them: what comes out is near the sum of what they became
npy_of t.npy "(2, 64)" $(ones 64 1/3) $(ones 32 -1/3) $(ones 32 100/3)
for in in mxfp8e5m2 mxfp6e3m2 mxfp4 mxfp4x16 nvfp4; do
	run op dot --in a=t.npy --in b=a.npy --sum tc:blackwell,in=$in --out d.npy
	run op dot --in a=t.npy --in b=a.npy --sum tc:blackwell,in=$in --got d.npy --as bound
	test $code = 0 && grep -q '^over bound 0$' out
	test_is $? "$in: within the bound of its own operands"
	npy_of off.npy "(2,)" 1000 1000
	run op dot --in a=t.npy --in b=a.npy --sum tc:blackwell,in=$in --got off.npy --as bound
	test $code = 1
	test_is $? "$in: a wrong sum is not"
done
# scales of the caller's own: elements 1 to 8 as they are, group scales 2 and 1/4, b's 4 for all
npy_of sa.npy "(2, 2)" 2 1/4 1 1
npy_of sb.npy "(2, 2)" $(ones 4 4)
npy_of want.npy "(2,)" 80*4*4*2+208*4*4/4 64*2*4
run op dot --in a=a.npy --in b=b.npy --in sa=sa.npy --in sb=sb.npy --sum tc:blackwell,in=mxfp8 --out d.npy
test $code = 0 && cmp -s d.npy want.npy
test_is $? "dot with scales of its own"
npy_of sw.npy "(3, 2)" $(ones 6 2)
run op matmul --in a=a.npy --in b=w.npy --in sa=sa.npy --in sb=sw.npy --sum tc:blackwell,in=mxfp8 --out d.npy
npy_of want.npy "(2, 3)" $(ones 3 80*2*2*2+208*2*2/4) $(ones 3 64*2)
test $code = 0 && cmp -s d.npy want.npy
test_is $? "matmul with scales of its own"
run op dot --in a=a.npy --in b=b.npy --in sa=sa.npy --sum tc:blackwell,in=mxfp8 --out d.npy
npy_of want.npy "(2,)" 80*4*2+208*4/4 64*2
test $code = 0 && cmp -s d.npy want.npy
test_is $? "scales of a alone: b is quantised"
run op dot --in a=a.npy --in b=b.npy --in sa=c.npy --sum tc:blackwell,in=mxfp8
refused 3 'sa has 1 scales where 2 rows of 2 groups' "too few scales"
run op dot --in a=a.npy --in b=b.npy --in sa=sa.npy --in sa=sa.npy --sum tc:blackwell,in=mxfp8
refused 2 'sa is there twice' "scales twice"
run op dot --in a=a.npy --in b=b.npy --in sa=sa.npy
refused 2 'scales belong to block-scaled sums' "scales without groups"

# one scale a tensor: matmul scaled=1 divides by both
npy_of x.npy "(1, 2)" 3 5
npy_of y.npy "(2, 1)" 1 1
npy_of two.npy "(1,)" 2
npy_of want.npy "(1, 1)" 8/4
run op matmul --in a=x.npy --in b=y.npy --in c=two.npy --in d=two.npy --set scaled=1 --out d.npy
test $code = 0 && cmp -s d.npy want.npy
test_is $? "matmul scaled=1"
run op matmul --in a=x.npy --in b=y.npy --in c=x.npy --in d=two.npy --set scaled=1
refused 3 'operand c has 2 elements where a scale has one' "a scale of two elements"
run op matmul --in a=x.npy --in b=y.npy --in c=two.npy --set scaled=1
refused 3 'two scales follow' "one scale alone"
run op matmul --in a=x.npy --in b=y.npy --in c=two.npy --in d=two.npy
refused 3 'without scaled=1' "scales nobody asked for"

run op dot --in a=a.npy --in b=w.npy --sum tc:blackwell,in=mxfp8
refused 3 'inner dimensions' "rows of other lengths"
run op relu --in a=a.npy --sum tc:blackwell,in=mxfp8
refused 2 'dot, matmul' "an operator without products"
run op dot --in a=a.npy --in b=b.npy --sum tc:hopper,in=mxfp8
refused 2 'no instruction for mxfp8' "an architecture without scales"
run op dot --in a=a.npy --in b=b.npy --sum tc:blackwell,in=mxfp8x16
refused 2 'scale per 16' "a block size that no unit has"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# op where it is told what cannot be: attributes that are no counts, shapes and codes too large, names of nothing;
# and what it says to a machine.
. "${srcdir:-.}/t/tool/tap.sh"
run() { timeout 60 "$HALFULP" op "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
refuses() { # code, what must stand in the line, arguments
	run "${@:3}"
	refused "$1" "$2" "${*:3}"
}
npy_of x.npy "(1, 2, 2, 1)" 1 2 3 4
npy_of w.npy "(1, 1, 1, 1)" 2
npy_of g.npy "(1, 1, 1, 1)" 1
npy_of g2.npy "(1, 2)" 1 2
npy_of p.npy "(2, 2)" 1 2 3 4
npy_of one.npy "(1,)" 1
npy_of four.npy "(4,)" 0 0 0 0
codes() { # file, descr, bytes as \x
	printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': (2,), }" >"$1"
	printf "$3" >>"$1"
}

refuses 2 "no attribute 'weight_decay_rate_of_all'.*momentum weight_decay" sgd --in a=p.npy --set \
	weight_decay_rate_of_all=1
# Every way of --as that is no device has one way of products
for as in emulate reference bound cpu; do
	refuses 2 "--as gemm= has no effect on the CPU" matmul --in a=p.npy --in b=p.npy --as $as --as gemm=simt
done
# Counts: whole, from 1 (part: 0) to 2^31 - 1; every operator that divides, casts or allocates by one
for s in 1e30 inf -inf nan 2e19 2147483648 2.5 0 -1 abc; do
	refuses 2 "stride is a whole number from 1 to 2147483647, not" conv2d --in a=x.npy --in b=w.npy --set stride=$s
done
for as in reference bound; do
	refuses 2 "stride is" conv2d --in a=x.npy --in b=w.npy --set stride=1e30 --as $as
done
refuses 2 "stride is" conv2d_dx --in a=g.npy --in b=w.npy --set height=2 --set width=2 --set stride=1e30
refuses 2 "height is" conv2d_dx --in a=g.npy --in b=w.npy --set height=inf --set width=2
refuses 2 "stride is" conv2d_dw --in a=x.npy --in b=x.npy --set kh=1 --set kw=1 --set stride=1e30
refuses 2 "kw is" conv2d_dw --in a=x.npy --in b=x.npy --set kh=1 --set kw=4294967296
refuses 2 "stride is" maxpool --in a=x.npy --set stride=2e19
refuses 2 "size is" maxpool --in a=x.npy --set size=2e19
refuses 2 "size is" maxpool_dx --in a=x.npy --in b=g.npy --in c=g.npy --set size=1e30
refuses 2 "height is" avgpool_dx --in a=g2.npy --set height=4294967296 --set width=4294967296 --out z.npy
test ! -e z.npy
test_is $? "and no array is written"
refuses 2 "interval is" scale_update --in a=one.npy --in b=four.npy --in c=one.npy --set interval=1e30
refuses 2 "hysteresis is" scale_update --in a=one.npy --in b=four.npy --in c=one.npy --set hysteresis=0
refuses 2 "judged is" finite_check --in a=p.npy --set judged=-1
for s in abc -1 1e30 0.5; do
	refuses 2 "part is a whole number from 0" matmul --in a=p.npy --in b=p.npy --set part=$s
done
refuses 2 "a value is needed" matmul --in a=p.npy --in b=p.npy --set part=
refuses 2 "ta is 0 or 1" matmul --in a=p.npy --in b=p.npy --set ta=2
refuses 2 "factor is a number" scale --in a=p.npy --set factor=abc
refuses 2 "factor is a number" scale --in a=p.npy --set factor=nan
refuses 2 "approx is none or tanh" gelu --in a=p.npy --set approx=abc
refuses 2 "approx is none or tanh" gelu --in a=p.npy --set approx=1
refuses 2 "loss-scale rule" scale_update --in a=one.npy --in b=four.npy --in c=one.npy --set rule=abc
refuses 2 "no operand c" matmul --in a=p.npy --in b=p.npy --set in.c=fp16
refuses 2 "--in q=p.npy: there is no operand q" matmul --in q=p.npy
refuses 2 "summation model ''" matmul --in a=p.npy --in b=p.npy --sum ''
refuses 2 "tc:blackwell,in=mxfp8" dot --in a=p.npy --in b=p.npy --set in=mxfp8

# The exact result has no summation model and no random bits; relu's no probabilistic bound
refuses 2 "--sum has no effect with --as reference" matmul --in a=p.npy --in b=p.npy --as reference --sum kahan --out \
	none.npy
refuses 2 "--seed has no effect with --as reference, or --as bound alone" matmul --in a=p.npy --in b=p.npy --as bound \
	--set mode=SR --seed 3
refuses 2 "--confidence has no effect where there is no probabilistic bound: the result is no sum" relu --in a=p.npy \
	--got p.npy --confidence 0.9 --out none.npy
refuses 2 "--confidence has no effect where there is no probabilistic bound: tensor cores chop" dot --in a=p.npy --in \
	b=p.npy --as bound --sum tc:ampere,in=fp16 --confidence 0.9
for set in compute=fp16 mode=SR; do
	refuses 2 "--set has no effect by ${set%fp16} with --as reference" exp --in a=p.npy --as reference --set $set \
		--out none.npy
done
test ! -e none.npy
test_is $? "and no array is written"
# But the bounds beside the exact result are the model's, dot's result is in its format, and a tensor core's
# operands too
npy_of row.npy "(2,)" 1 2
npy_of third.npy "(2, 2)" 0.3333 0.1 0.7 0.9
run matmul --in a=p.npy --in b=p.npy --as reference --sum kahan --got p.npy
test $code = 1 && grep -q '^probable   -; there is none: a compensated sum' out
test_is $? "--sum with --as reference and --got"
for sum in fma,acc=fp16 tc:ampere,in=bf16; do
	run dot --in a=third.npy --in b=third.npy --as reference
	cp out plain
	run dot --in a=third.npy --in b=third.npy --as reference --sum $sum
	test $code = 0 && ! cmp -s out plain
	test_is $? "--sum $sum with --as reference on dot"
done

for set in compute=fp16 mode=SR; do
	for more in "" "--set $set"; do
		run exp --in a=third.npy --set out=fp16 --as reference $more --got p.npy
		test $code = 1 && sed -n 's/^of bound //p' out >"bound$more"
	done
	test -s bound && test -s "bound--set $set" && ! cmp -s bound "bound--set $set"
	test_is $? "--set $set with --as reference and --got: another bound"
done
# The limits of clip are the compute format's, and the second result of maxpool is in it
npy_of large.npy "(2,)" 1e30 -1
run clip --in a=large.npy --as reference --set compute=fp16
test $code = 0 && test "$(tr '\n' ' ' <out)" = "65504 -1 "
test_is $? "clip's limits are those of --set compute=, with --as reference too"
stats=$(printf -- '--in %s=row.npy ' b c d e)
run batchnorm --in a=third.npy $stats --as reference --set compute=bf16 --result 2 --json
test $code = 0 && grep -q '"format": "bf16"' out
test_is $? "and statistics are in that format"

# The largest count that is one: a window beyond the image, a stride that leaves one pixel
run maxpool --in a=x.npy --set size=2147483647 --set stride=1
test $code = 0 && test "$(tr '\n' ' ' <out)" = "4 4 4 4 "
test_is $? "maxpool, size=2147483647: every window is the image"
run maxpool_dx --in a=x.npy --in b=x.npy --in c=x.npy --set size=2147483647 --set stride=1 --as reference
test $code = 0 && test "$(tr '\n' ' ' <out)" = "0 0 0 10 "
test_is $? "maxpool_dx, too: the largest element gets all"
run conv2d --in a=x.npy --in b=w.npy --set stride=2147483647
test $code = 0 && test "$(cat out)" = 2
test_is $? "conv2d, stride=2147483647: the first pixel"
run conv2d_dx --in a=g.npy --in b=w.npy --set height=2 --set width=2 --set stride=2147483647
test $code = 0 && test "$(tr '\n' ' ' <out)" = "2 0 0 0 "
test_is $? "conv2d_dx gives it back"

npy_of x4.npy "(1, 3, 3, 4)" $(seq 36)
npy_of w4.npy "(2, 2, 2, 4)" $(seq 32)
for as in emulate bound reference; do
	for set in padding=-1 padding=1.5 padding_top=1e30 padding_left=nan dilation=0 dilation_w=-2 stride_h=0 \
		groups=0 groups=0.5 groups=2147483648; do
		refuses 2 "conv2d: ${set%=*} is a whole number" conv2d --in a=x4.npy --in b=w4.npy --set $set --as $as
	done
done
refuses 2 "no attribute 'pad'; did you mean padding" conv2d --in a=x4.npy --in b=w4.npy --set pad=1
refuses 3 "4 input and 4 output channels are no multiples of groups=3" conv2d --in a=x4.npy --in b=w4.npy --set groups=3
refuses 3 "the image has 4 channels, 4 a group (groups=1), and the kernel takes 2" conv2d --in a=x4.npy --in b=w4.npy
refuses 3 "the kernel's 2 taps reach over 10 pixels, the image's height has 5" conv2d --in a=x4.npy --in b=w4.npy \
	--set groups=2 --set padding=1 --set dilation=9
refuses 3 "the kernel's 2 taps reach over 2147483648 pixels, the image's width has 3" conv2d --in a=x4.npy --in \
	b=w4.npy --set groups=2 --set padding=0 --set dilation_w=2147483647
refuses 3 "overflowing shape" conv2d --in a=x4.npy --in b=w4.npy --set groups=2 --set padding=2147483647
refuses 4 "does not fit in memory" conv2d --in a=x4.npy --in b=w4.npy --set groups=2 --set padding=1000000
refuses 3 "the gradient must be" conv2d_dx --in a=x4.npy --in b=w4.npy --set groups=2 --set padding=2147483647 --set \
	height=3 --set width=3
refuses 3 "the gradient must be" conv2d_dx --in a=x4.npy --in b=w4.npy --set groups=1 --set padding=2147483647 --set \
	height=2147483647 --set width=2147483647
refuses 3 "the gradient must be" conv2d_dw --in a=x4.npy --in b=x4.npy --set groups=2 --set padding=2147483647 --set \
	kh=2 --set kw=2147483647
run conv2d --in a=x4.npy --in b=w4.npy --set groups=2 --set padding=0 --set dilation=2
test $code = 0 && test "$(wc -l <out)" = 4
test_is $? "dilation 2 of a kernel of 2 fits an image of 3"

# Shapes of counts that fit, whose product does not: the arrays are wrong, or the memory
refuses 3 "overflowing shape" avgpool_dx --in a=g2.npy --set height=2147483647 --set width=2147483647 --out z.npy
refuses 3 "overflowing shape" conv2d_dw --in a=x.npy --in b=x.npy --set kh=2147483647 --set kw=2147483647 --out z.npy
refuses 4 "does not fit in memory" avgpool_dx --in a=g2.npy --set height=1048576 --set width=1048576 --out z.npy

# Codes: of their format's width, or of a signed array of that width
codes wide.npy '<u2' '\x01\x00\x38\x01'
codes minus.npy '<i4' '\x01\x00\x00\x00\xff\xff\xff\xff'
codes signed.npy '<i2' '\x00\x3c\x00\x80'
npy_of pair.npy "(1, 2)" 1 2
refuses 3 "operand a, element 1: 0x138 is no code of e4m3" cast --in a=wide.npy --bits --set in=e4m3
refuses 3 "operand a, element 1: 0xffffffff is no code of e4m3" cast --in a=minus.npy --bits --set in=e4m3
refuses 3 "operand b, element 1: 0x138" dot --in a=row.npy --in b=wide.npy --bits --set in=e4m3
refuses 3 "got, element 1: 0x138" cast --in a=row.npy --set out=e4m3 --bits --got wide.npy
run cast --in a=signed.npy --bits --set in=fp16
test $code = 0 && test "$(tr '\n' ' ' <out)" = "1 -0 "
test_is $? "int16 holds codes of fp16"
run cast --in a=wide.npy
test $code = 0 && test "$(tr '\n' ' ' <out)" = "1 312 "
test_is $? "without --bits they are numbers"

# The nearest name, also where it is the last of the table or dot, which has no row
last=$(sh "$top/t/tool/operators.sh" "$top" | tail -n 1)
for name in "$last" dot; do
	refuses 2 "unknown operator '${name}_'; did you mean $name;" "${name}_"
done

# JSON
says() { # expression of the object O, what, arguments
	run "${@:3}"
	${PYTHON:-python3} -c "import json; O = json.load(open('$dir/out')); assert $1, O" 2>>err && test $code = 0
	test_is $? "${*:3}: $2"
}
says "O[0]['operator'] == 'dot' and [o for o in O if o['operator'] == 'conv2d_dx'][0]['attributes'][0] == 'stride'" \
	"an array of rows" list --json
says "len(O) == $(sh "$top/t/tool/operators.sh" "$top" |
	wc -l) and all(o['summary'] and o['operands_least'] for o in O)" "each operator but opaque, and dot" list --json
says "O['shape'] == [2, 2] and O['format'] == 'fp32' and [v['value'] for v in O['values']] == [7, 10, 15, 22]" \
	"shape, format, values" matmul --in a=p.npy --in b=p.npy --json
says "O['values'][3] == {'value': 22, 'hex': '0x1.6p+4', 'bits': '0x41b00000'}" "value, hex, bits" matmul --in a=p.npy \
	--in b=p.npy --json
says "O['out'] == 'z.npy' and 'values' not in O" "a file has the values" matmul --in a=p.npy --in b=p.npy --json --out \
	z.npy
says "O['as'] == 'bound' and O['format'] == 'fp64' and 'bits' not in O['values'][0]" "bounds" matmul --in a=p.npy --in \
	b=p.npy --json --as bound
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# op as a user types it: rows of dot by summation models, an operator of the table, results judged.
. "${srcdir:-.}/t/tool/tap.sh"
vectors=$data/tensor-core
run() { "$HALFULP" op "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
gives() { # codes of the result, arguments
	want=$1
	shift
	rm -f "$dir/d.npy"
	run "$@" --out "$dir/d.npy"
	test $code = 0 && test "$(words d.npy)" = "$want"
	test_is $? "$*: $want$(test "$(words d.npy)" = "$want" || echo ", not $(words d.npy)")"
}
refuses() { # code, what must stand in the line, arguments
	run "${@:3}"
	refused "$1" "$2" "${*:3}"
}

# 1*1 + 2^-12*2^-12 twice, then -1*1: rows of 4
npy a.npy "(2, 4)" 3f800000 39800000 39800000 00000000 3f800000 39800000 39800000 bf800000
npy b.npy "(2, 4)" 3f800000 39800000 39800000 00000000 3f800000 39800000 39800000 3f800000
npy c.npy "(2,)" 3f800000 00000000
gives "3f800000 00000000" dot --in a=a.npy --in b=b.npy
gives "3f800001 34000000" dot --in a=a.npy --in b=b.npy --sum pairwise,acc=fp64 --set out=fp32
gives "3f800001 34000000" dot --in a=a.npy --in b=b.npy --as reference
gives "40000000 00000000" dot --in a=a.npy --in b=b.npy --in c=c.npy
gives "3f800000 00000000" dot --in a=a.npy --in b=b.npy --sum tc:volta,in=fp16,out=fp32
gives "3f800001 34000000" dot --in a=a.npy --in b=b.npy --sum tc:ampere,in=fp16,out=fp32
gives "3f800000 34000000" dot --in a=a.npy --in b=b.npy --sum tc:ampere,in=fp16,out=fp16
gives "3f800000 00000000" dot --in a=a.npy --in b=b.npy --set in=bf16 --sum fma,acc=bf16
npy nan.npy "(1, 2)" 7f800000 3f800000
npy zero.npy "(1, 2)" 00000000 3f800000
npy low.npy "(1, 2)" 7f800001 00000000
npy one.npy "(1, 2)" 3f800000 3f800000
gives "7fffffff" dot --in a=nan.npy --in b=zero.npy --sum tc:hopper,in=fp16,out=fp32
gives "7fffe000" dot --in a=nan.npy --in b=zero.npy --sum tc:hopper,in=fp16,out=fp16
gives "7fc00000" dot --in a=nan.npy --in b=zero.npy
gives "7f800000" dot --in a=low.npy --in b=one.npy --sum tc:hopper,in=tf32
npy x.npy "(2, 2)" 3f800000 40000000 40400000 40800000
npy y.npy "(2, 1)" 3f800000 bf800000
gives "bf800000 bf800000" matmul --in a=x.npy --in b=y.npy

npy good.npy "(2,)" 3f800000 00000000
npy bad.npy "(2,)" 3f800001 00000000
run dot --in a=a.npy --in b=b.npy --got good.npy
test $code = 0 && grep -q '^differ     0 ' out
test_is $? "--got: the same bits, exit 0"
run dot --in a=a.npy --in b=b.npy --got bad.npy
test $code = 1 && grep -q '^differ     1 ' out && grep -q '^over bound 0' out
test_is $? "--got: another bit, exit 1"
run dot --in a=a.npy --in b=b.npy --got bad.npy --as bound
test $code = 0
test_is $? "--got --as bound: within the bound, exit 0"
npy far.npy "(2,)" 3f800100 00000000
run dot --in a=a.npy --in b=b.npy --got far.npy --as bound
test $code = 1 && grep -q '^over bound 1' out
test_is $? "--got --as bound: beyond it, exit 1"
npy short.npy "(1,)" 3f800000
refuses 3 'elements' dot --in a=a.npy --in b=b.npy --got short.npy
refuses 3 'another shape' dot --in a=a.npy --in b=x.npy
refuses 3 'x.npy' dot --in a=a.npy --in b="$dir/none-x.npy"
refuses 3 '' matmul --in a=x.npy --in b=a.npy --set ta=1 --set tb=1
refuses 2 'did you mean matmul' matmull --in a=x.npy
refuses 2 'did you mean hopper' dot --in a=a.npy --in b=b.npy --sum tc:hoper
refuses 2 'attribute' matmul --in a=x.npy --in b=y.npy --set tz=1
refuses 2 '--as' dot --in a=a.npy --in b=b.npy --as guess
refuses 2 'missing' dot --in b=b.npy

# Operands and results in formats of their own, attributes, results beside the first
npy_of p.npy "(2, 2)" 1 2 3 4
npy_of q.npy "(2, 2)" 5 6 7 8
npy_of bias.npy "(2,)" 2^-9 1
npy_of c3.npy "(3,)" 1 2 3
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }" \
	>struct.npy
gives "3f800000 40400000 40400000 40a00000" bias --in a=p.npy --in b=bias.npy --set in=bf16
gives "3f804000 40400000 40402000 40a00000" bias --in a=p.npy --in b=bias.npy --set in.a=bf16 --set in.b=fp32 --set \
	out=fp16
gives "3f804000 40400000 40402000 40a00000" bias --in a=p.npy --in b=bias.npy
gives "41980000 41b00000 422c0000 42480000" matmul --in a=p.npy --in b=q.npy
gives "41880000 41b80000 421c0000 42540000" matmul --in a=p.npy --in b=q.npy --set tb=1
npy_of logits.npy "(1, 2)" 0 0
npy_of one1.npy "(1,)" 1
run softmax_xent --in a=logits.npy --in b=one1.npy --in c=one1.npy
test $code = 0 && test "$(cat out)" = 0.6931472
test_is $? "without --out the result is printed: ln 2"
run softmax_xent --in a=logits.npy --in b=one1.npy --in c=one1.npy --result 1
test $code = 0 && test "$(tr '\n' ' ' <out)" = "0.5 0.5 "
test_is $? "--result 1: the probabilities"
run dot --in a=a.npy --in b=b.npy --as bound
test $code = 0 && test "$(grep -vc '^#' out)" = 3 && test "$(sed -n 2p out)" = "proven	probabilistic" &&
	test "$(awk 'NR > 2' out | wc -w)" = 4
test_is $? "--as bound prints two bounds a row"
run list
test $code = 0 && grep -q '^dot ' out && grep -q '^matmul  *2 .*ta tb' out &&
	test "$(grep -c '^[a-z]' out)" = $(($(sh "$top/t/tool/operators.sh" "$top" | wc -l) + 1))
test_is $? "list: every operator of the table but opaque, and dot"

# --packed: NumPy's dtype where there is one, codes elsewhere; --bits reads them back
packed() { # format, descr, hex of the data
	run add --in a=p.npy --in b=q.npy --set out="$1" --out d.npy --packed
	got=$(head -c 60 d.npy | tail -c +11 | grep -ao "'descr': '[^']*'") data_is=$(tail -c +129 d.npy |
		od -An -v -tx1 | tr -d ' \n')
	test $code = 0 && test "$got" = "'descr': '$2'" && test "$data_is" = "$3"
	test_is $? "--packed, $1: $2, $3$(test "$data_is" = "$3" || echo ", not $got $data_is")"
}
packed fp16 '<f2' 004600480049004a
packed fp32 '<f4' 0000c040000000410000204100004041
packed fp64 '<f8' 0000000000001840000000000000204000000000000024400000000000002840
packed bf16 '<u2' c040004120414041
packed tf32 '<u4' 000602000008020000090200000a0200
packed e5m2 '|u1' 4648494a
packed e4m3 '|u1' 4c505254
packed e2m1 '|u1' 07070707
run matmul --in a=p.npy --in b=q.npy --set in=bf16 --out d.npy --packed
run cast --in a=d.npy --bits --set in=bf16 --set out=fp32 --out e.npy
test $code = 0 && test "$(words e.npy)" = "41980000 41b00000 422c0000 42480000"
test_is $? "--bits reads packed bf16 back"
run matmul --in a=p.npy --in b=q.npy --set in=bf16 --got d.npy --bits
test $code = 0 && grep -q '^differ     0 ' out
test_is $? "and judges it"
run cast --in a=d.npy --out e.npy
test $code = 0 && test "$(words e.npy)" = "46833000 46836000 46845800 46849000"
test_is $? "without it the codes are numbers"
npy_of inf.npy "(1, 2)" inf 1
npy_of zeros.npy "(1, 2)" 0 1
run dot --in a=inf.npy --in b=zeros.npy --sum tc:hopper,in=fp16,out=fp16 --out d.npy --packed
test $code = 0 && test "$(tail -c 2 d.npy | od -An -tx1 | tr -d ' ')" = ff7f
test_is $? "--packed keeps a tensor core's NaN, 0x7fff"

# Back ends: emulate is the CPU's; one that this machine lacks is exit 4
run matmul --in a=p.npy --in b=q.npy --as cpu
test $code = 0 && test "$(tr '\n' ' ' <out)" = "19 22 43 50 "
test_is $? "--as cpu is emulate"
run matmul --in a=p.npy --in b=q.npy --as cuda
if test $code = 0; then
	test "$(tr '\n' ' ' <out)" = "19 22 43 50 "
	test_is $? "--as cuda: the same here"
else
	refused 4 . "--as cuda where there is none"
fi
run dot --in a=a.npy --in b=b.npy --as cuda
refused 4 'CPU alone' "dot has no other back end"
run matmul --in a=p.npy --in b=q.npy --got p.npy --json
test $code = 1 && test "$(field out differ) $(field out elements) $(field out over_bound)" = "4 4 4"
test_is $? "--json: the judgement"

# 1x1 by 1x1 of 2^40 rows does not exist as a file; its header does
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, "\
"4294967297), }" >huge.npy
refuses 3 'more elements than' matmul --in a=huge.npy --in b=q.npy
npy empty.npy "(0, 2)"
refuses 3 'one element or more' matmul --in a=empty.npy --in b=q.npy
run dot --in a=empty.npy --in b=empty.npy --out d.npy
test $code = 0 && test "$(wc -c <d.npy)" = 128
test_is $? "dot of no rows is no row"
refuses 3 'operand 1' bias --in a=p.npy --in b=c3.npy
refuses 3 'structured' matmul --in a=struct.npy --in b=q.npy
refuses 2 'did you mean momentum' sgd --in a=p.npy --set momentun=1
refuses 2 'did you mean fp64' matmul --in a=p.npy --in b=q.npy --set in=fp61
refuses 2 'did you mean cuda' matmul --in a=p.npy --in b=q.npy --as cude
refuses 2 'takes 2 operands' bias --in a=p.npy --in b=bias.npy --in c=q.npy
refuses 2 'is missing' matmul --in a=p.npy
refuses 2 '--result' matmul --in a=p.npy --in b=q.npy --result 1

# All rows where they are, else the sample that the tree keeps
rows=5000 vectors=$vectors/ ending=.npy
test -r "${vectors}v100-fp16-a.npy" || rows=200 vectors=$top/t/silicon/tensor-core.npz: ending=
for row in v100-fp16:volta,in=fp16,out=fp32:d-fp32 a100-bf16:ampere,in=bf16,out=fp32:d-fp32 \
	h100-e4m3:hopper,in=e4m3,out=fp16,path=mma:d-fp16; do
	IFS=: read -r set model out <<<"$row"
	run dot --in a="$vectors$set-a$ending" --in b="$vectors$set-b$ending" --in c="$vectors$set-c$ending" --sum \
		"tc:$model" --got "$vectors$set-$out$ending"
	test $code = 0 && grep -q "^elements   $rows" out && grep -q '^over bound 0' out
	test_is $? "$rows rows of hardware by tc:$model"
done
run dot --in a="${vectors}h100-bf16-a$ending" --in b="${vectors}h100-bf16-b$ending" --in \
	c="${vectors}h100-bf16-c$ending" --sum tc:ampere,in=bf16 --got "${vectors}h100-bf16-d-fp32$ending"
test $code = 1
test_is $? "an H100 is no Ampere"

finish

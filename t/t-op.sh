#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# op as a user types it: rows of dot by summation models, an operator of the table, results judged.
export LC_ALL=C
n=0 failed=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
case $HALFULP in /*) ;; *) HALFULP=$PWD/${HALFULP:-halfulp} ;; esac
data=${HALFULP_DATA:-${srcdir:-.}/../shared/data}/tensor-core

test_is() { # 0 where it holds, what
	n=$((n + 1))
	if test "$1" = 0; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		failed=1
		sed 's/^/# out: /' "$dir/out" | head -n 8
		sed 's/^/# err: /' "$dir/err" | head -n 5
	fi
}
run() { "$HALFULP" op "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
npy() { # file, shape, float32 codes as 8 hex digits
	file=$1 header="{'descr': '<f4', 'fortran_order': False, 'shape': $2, }"
	shift 2
	{
		printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
		for w in "$@"; do printf "\\x${w:6:2}\\x${w:4:2}\\x${w:2:2}\\x${w:0:2}"; done
	} >"$dir/$file.npy"
}
words() { tail -c +129 "$dir/$1.npy" | od -An -v -tx4 --endian=little | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
gives() { # codes of the result, arguments
	want=$1
	shift
	rm -f "$dir/d.npy"
	run "$@" --out "$dir/d.npy"
	test $code = 0 && test "$(words d)" = "$want"
	test_is $? "$*: $want$(test "$(words d)" = "$want" || echo ", not $(words d)")"
}
refuses() { # code, what must stand in the line, arguments
	want=$1 word=$2
	shift 2
	run "$@"
	test $code = "$want" && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1 && grep -qF -- "$word" "$dir/err"
	test_is $? "refused with one line, exit $want: $*"
}

# 1*1 + 2^-12*2^-12 twice, then -1*1: rows of 4
npy a "(2, 4)" 3f800000 39800000 39800000 00000000 3f800000 39800000 39800000 bf800000
npy b "(2, 4)" 3f800000 39800000 39800000 00000000 3f800000 39800000 39800000 3f800000
npy c "(2,)" 3f800000 00000000
cd "$dir" || exit 4
gives "3f800000 00000000" dot --in a=a.npy --in b=b.npy
gives "3f800001 34000000" dot --in a=a.npy --in b=b.npy --sum pairwise,acc=fp64 --set out=fp32
gives "3f800001 34000000" dot --in a=a.npy --in b=b.npy --as reference
gives "40000000 00000000" dot --in a=a.npy --in b=b.npy --in c=c.npy
gives "3f800000 00000000" dot --in a=a.npy --in b=b.npy --sum tc:volta,in=fp16,out=fp32
gives "3f800001 34000000" dot --in a=a.npy --in b=b.npy --sum tc:ampere,in=fp16,out=fp32
gives "3f800000 34000000" dot --in a=a.npy --in b=b.npy --sum tc:ampere,in=fp16,out=fp16
gives "3f800000 00000000" dot --in a=a.npy --in b=b.npy --set in=bf16 --sum fma,acc=bf16
npy nan "(1, 2)" 7f800000 3f800000
npy zero "(1, 2)" 00000000 3f800000
npy low "(1, 2)" 7f800001 00000000
npy one "(1, 2)" 3f800000 3f800000
gives "7fffffff" dot --in a=nan.npy --in b=zero.npy --sum tc:hopper,in=fp16,out=fp32
gives "7fffe000" dot --in a=nan.npy --in b=zero.npy --sum tc:hopper,in=fp16,out=fp16
gives "7fc00000" dot --in a=nan.npy --in b=zero.npy
gives "7f800000" dot --in a=low.npy --in b=one.npy --sum tc:hopper,in=tf32
npy x "(2, 2)" 3f800000 40000000 40400000 40800000
npy y "(2, 1)" 3f800000 bf800000
gives "bf800000 bf800000" matmul --in a=x.npy --in b=y.npy

npy good "(2,)" 3f800000 00000000
npy bad "(2,)" 3f800001 00000000
run dot --in a=a.npy --in b=b.npy --got good.npy
test $code = 0 && grep -q '^differ     0 ' out
test_is $? "--got: the same bits, exit 0"
run dot --in a=a.npy --in b=b.npy --got bad.npy
test $code = 1 && grep -q '^differ     1 ' out && grep -q '^over bound 0' out
test_is $? "--got: another bit, exit 1"
run dot --in a=a.npy --in b=b.npy --got bad.npy --as bound
test $code = 0
test_is $? "--got --as bound: within the bound, exit 0"
npy far "(2,)" 3f800100 00000000
run dot --in a=a.npy --in b=b.npy --got far.npy --as bound
test $code = 1 && grep -q '^over bound 1' out
test_is $? "--got --as bound: beyond it, exit 1"
npy short "(1,)" 3f800000
refuses 3 'elements' dot --in a=a.npy --in b=b.npy --got short.npy
refuses 3 'one shape' dot --in a=a.npy --in b=x.npy
refuses 3 'x.npy' dot --in a=a.npy --in b="$dir/none-x.npy"
refuses 3 '' matmul --in a=x.npy --in b=a.npy --set ta=1 --set tb=1
refuses 2 'did you mean matmul' matmull --in a=x.npy
refuses 2 'did you mean hopper' dot --in a=a.npy --in b=b.npy --sum tc:hoper
refuses 2 'attribute' matmul --in a=x.npy --in b=y.npy --set tz=1
refuses 2 '--as' dot --in a=a.npy --in b=b.npy --as guess
refuses 2 'missing' dot --in b=b.npy

cd "$OLDPWD" || exit 4
if test -r "$data/v100-fp16-a.npy"; then
	for row in v100-fp16:volta,in=fp16,out=fp32:d-fp32 a100-bf16:ampere,in=bf16,out=fp32:d-fp32 h100-e4m3:hopper,in=e4m3,out=fp16,path=mma:d-fp16; do
		IFS=: read -r set model out <<<"$row"
		run dot --in a="$data/$set-a.npy" --in b="$data/$set-b.npy" --in c="$data/$set-c.npy" --sum "tc:$model" --got "$data/$set-$out.npy"
		test $code = 0 && grep -q '^elements   5000' "$dir/out" && grep -q '^over bound 0' "$dir/out"
		test_is $? "5000 rows of hardware by tc:$model"
	done
	run dot --in a="$data/h100-bf16-a.npy" --in b="$data/h100-bf16-b.npy" --in c="$data/h100-bf16-c.npy" --sum tc:ampere,in=bf16 --got "$data/h100-bf16-d-fp32.npy"
	test $code = 1
	test_is $? "an H100 is no Ampere"
else
	n=$((n + 1))
	echo "ok $n - # SKIP no vectors in $data (HALFULP_DATA names the folder above)"
fi

echo "1..$n"
if test $failed = 0; then rm -rf "$dir"; else echo "# files kept in $dir"; fi
exit $failed

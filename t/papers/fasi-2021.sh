#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science
# 7:e330, 2021, table of features of V100, T4 and A100; block widths beyond 4 from X. Li et al., FTTN, 2024.
# Reproduced from the models: the table, as probe finds it from outside, and the paper's own test sums, whose
# published outcomes are the codes below: products exact, at least two carry bits, no normalisation inside a
# sum, truncation of aligned terms and of fp32 results, 0 (V100) or 1 (T4, A100) extra alignment bits, not monotone.
. "${srcdir:-.}/t/tool/tap.sh"

value() { sed -n "s/^$1  *//p" out; }
while IFS='|' read -r model width extra rounding; do
	run probe --model "$model"
	test $code = 0 && test "$(value 'products in a block')|$(value 'extra alignment bits')|$(value 'rounding of the output')" = "$width|$extra|$rounding" &&
		test "$(value 'rounding of aligned terms')" = "toward zero" && test "$(value normalised)" = "once, at the end" && test "$(value monotone)" = no &&
		test "$(value 'input subnormals')" = kept && test "$(value 'output subnormals')" = kept && test "$(value 'products exact')" = yes && test "$(value 'carry bits, at least')" -ge 2
	test_is $? "$model: width $width, $extra extra bits, rounds $rounding, subnormals kept, not monotone"
done <<'ROWS'
tc:volta|4|0|toward zero
tc:turing|8|1|toward zero
tc:ampere|8|1|toward zero
tc:ampere,in=bf16|8|1|toward zero
tc:ampere,in=tf32|4|1|toward zero
ROWS
# fp16 results: rounded to nearest even, and not reached by the paper's monotonicity test
for model in tc:volta,out=fp16 tc:turing,out=fp16 tc:ampere,out=fp16; do
	run probe --model $model
	test $code = 0 && test "$(value 'rounding of the output')" = "to nearest even"
	test_is $? "$model: rounds to nearest even"
done

# The test sums: four products a[k] b[k] and c a row
E='2^-12' e='2^-13'
npy_of a.npy "(12, 4)" \
	1-2^-11 0 0 0   1 0 0 0         $E $E $E $E  $E $E $E $E   $E $E $E $E  1 -$E 0 0 \
	2 $E $E 0       -2 -$E -$E 0    1 1 1 1      1 1.5 1.75 1.875   $E $E $E $E  $E $E $E $E
npy_of b.npy "(12, 4)" \
	1-2^-11 0 0 0   1 0 0 0         $e $e $e $e  $E $E $E $E   $E $E $E $E  1 $E 0 0 \
	1 2^-11 $E 0    1 2^-11 $E 0    1 1 1 1      1 1 1 1       $e $e $e $E+$e  $e $e $e $E+$e
npy_of c.npy "(12,)" \
	0 '-(1-2^-24)' 1 1 1-2^-24 -1+2^-24 \
	0 0 1+2^-22+2^-23 1.875 1-2^-24 1
what=('products are exact' '1 - (1 - 2^-24): extra alignment bit' 'four halves of an ulp below 2^-24 beside 1' 'four of 2^-24 beside 1' 'and beside 1 - 2^-24: normalised once'
	'1 - 2^-24 - (1 - 2^-24): nothing is normalised in between' '2 + 3/4 ulp: toward zero' '-2 - 3/4 ulp: toward zero' 'five of about 1: the last rounding is toward zero' 'three carry bits' 'monotonicity: from below 1' 'and from 1')
gives() { # model, values
	run op dot --in a=a.npy --in b=b.npy --in c=c.npy --sum "$1" --out d.npy
	test $code = 0 || test_is 1 "$1"
	npy_of want.npy "(12,)" "${@:2}"
	got=($(words d.npy)) want=($(words want.npy))
	for i in "${!want[@]}"; do
		test "${got[i]}" = "${want[i]}"
		test_is $? "$1, ${what[i]}: ${*:i+2:1}"
	done
}
gives tc:volta,in=fp16,out=fp32 1-2^-10+2^-22 2^-23 1 1 1+2^-23 2^-23 2 -2 5 8 1 1
for model in tc:turing,in=fp16,out=fp32 tc:ampere,in=fp16,out=fp32; do
	gives $model 1-2^-10+2^-22 2^-24 1 1+2^-22 1+2^-23 0 2 -2 5 8 1+2^-23 1
done
# double precision on the A100 is a chain of fused operations, each to nearest: monotone, normalised every time
run op dot --in a=a.npy --in b=b.npy --in c=c.npy --set in=fp64 --sum tc:ampere,in=fp64 --out d.npy
cp d.npy tc.npy
run op dot --in a=a.npy --in b=b.npy --in c=c.npy --set in=fp64 --sum fma,acc=fp64 --out d.npy
cmp -s d.npy tc.npy
test_is $? "tc:ampere,in=fp64 is a chain of fma"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# N. J. Higham, The accuracy of floating point summation, SIAM Journal on Scientific Computing 14(4), 783-799, 1993:
# what recursive summation does with equal terms.
# Reproduced: a sum of ones stops at 2^p, where 1 is half an ulp and the tie goes to the even sum: bf16 256,
# fp16 2048, (1,6,9) 1024, fp32 16777216 (settled values). A sum of a constant c stops where it enters the binade [2^e,
# 2^(e+1)) with 2^(e-p) >= fl(c): for 0.1, 0.01, 0.001 that is 32, 4, 0.5 in bf16, 256, 32, 4 in fp16, 2097152, 262144,
# 32768 in fp32 (x-higham-1993.sh, tens of millions of terms). Every model that sums otherwise still has 4096 ones right
# in fp16.
. "${srcdir:-.}/t/tool/tap.sh"

stops() { # format, terms of them, which, value
	run accumulate --json --terms "$3" --n "$2" --format "$1"
	test $code = 0 && test "$(field out value)" = "$4" && test "$(field out stagnation_term)" != null
	test_is $? "$1, $3: stops at $4"
}
ones() { # format, terms, 2^p
	stops "$1" "$2" ones "$3.0"
	test "$(field out stagnation_term) $(field out first_swamped)" = "$3 $(($3 + 1))"
	test_is $? "$1: one $(($3 + 1)) is the first that is lost"
}
if test "${0##*/}" = x-higham-1993.sh; then
	ones fp32 16777300 16777216
	stops fp32 30000000 constant:0.1 2097152.0
	stops fp32 33000000 constant:0.01 262144.0
	stops fp32 34000000 constant:0.001 32768.0
	finish
fi
ones bf16 5000 256
ones fp16 5000 2048
ones e6m9 5000 1024
while read -r format terms a b c; do
	stops "$format" "$terms" constant:0.1 "$a"
	stops "$format" "$terms" constant:0.01 "$b"
	stops "$format" "$terms" constant:0.001 "$c"
done <<'END'
bf16 2000 32.0 4.0 0.5
fp16 20000 256.0 32.0 4.0
END
for sum in chunk:64 pairwise kahan neumaier dot2 fabsum:64 splitk:8 promote:64 tc:volta tc:ampere,out=fp16 tc:hopper; do
	run accumulate --table --terms ones --n 4096 --format fp16 --sum $sum
	test $code = 0 && test "$(last out value) $(last out first_swamped) $(last out stagnation_term)" = "4096 - -"
	test_is $? "fp16, $sum: 4096 ones are 4096"
done
finish

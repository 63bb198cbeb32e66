#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# N. Wang, J. Choi, D. Brand, C.-Y. Chen, K. Gopalakrishnan, Training deep neural networks with 8-bit floating point
# numbers, NeurIPS 2018 (arXiv:1812.08011), figure 3b.
# Reproduced: sums of up to 65536 terms from a uniform distribution of mean 1 and standard deviation 1 in (1,6,9):
# plain accumulation stalls at the value 4096 (published: it stops from length 4096 on), chunks of 32 and stochastic
# rounding follow the exact sum. The same in fp16 (32768 terms: 65536 overflow it) and bf16, whose 8 bits need chunks
# of 256, and with chunks of 64. One in a hundred for chunks and one in twenty for stochastic rounding are this test's.
. "${srcdir:-.}/t/tool/tap.sh"

# [1 - sqrt 3, 1 + sqrt 3]
run accumulate --table --terms uniform:-0.7320508075688772,2.732050807568877 --n 65536 --format e6m9,fp16,bf16 --sum fma --sum chunk:32 --sum chunk:64 --sum chunk:256 --sum chunk:512 --sum fma,mode=SR
test_is $code "65536 terms of mean 1 and deviation 1"
at() { awk -F '\t' -v f="$1" -v s="$2" -v n="$3" '$1 == f && $2 == s && $4 == n { print $'"$4"' }' out; } # format, sum, n, column
VALUE=5 RELATIVE=8 STOP=13

test "$(at e6m9 fma,acc=e6m9 65536 $VALUE)" = 4096 && test "$(at e6m9 fma,acc=e6m9 65536 $STOP)" != -
test_is $? "(1,6,9): plain accumulation stalls at 4096"
stop=$(at e6m9 fma,acc=e6m9 65536 $STOP)
holds 'stop > 3000 && stop < 6000' stop "$stop"
test_is $? "at about length 4096: term $stop"
# Rule: terms below half an ulp are lost, 2.73 being the largest: 2^e with 2^(e-p) >= 2.73, the next power of two
test "$(at fp16 fma,acc=fp16 65536 $VALUE)" = 8192 && test "$(at bf16 fma,acc=bf16 65536 $VALUE)" = 1024
test_is $? "fp16 stalls at 8192, bf16 at 1024"
while read -r f terms length; do
	plain=$(at $f fma,acc=$f $terms $RELATIVE)
	for sum in chunk:$length,acc=$f:0.01 chunk:64,acc=$f:0.01 fma,acc=$f,mode=SR:0.05; do
		test $f = bf16 && sum=${sum/chunk:64/chunk:512}
		e=$(at $f "${sum%:*}" $terms $RELATIVE)
		holds 'e < tol && plain > 0.7' e "$e" tol "${sum##*:}" plain "$plain"
		test_is $? "$f, $terms terms, ${sum%:*}: within ${sum##*:} ($e), where plain sums lose $plain"
	done
done <<'END'
e6m9 65536 32
fp16 32768 32
bf16 65536 256
END
# The outer accumulator stalls like any other: sums of 32 terms in bf16 are lost from 2^8 times 32 to 64 on
test "$(at bf16 chunk:32,acc=bf16 65536 $VALUE)" = 16384 && test "$(at bf16 chunk:32,acc=bf16 65536 $STOP)" != -
test_is $? "bf16: chunks of 32 stall too, at 16384"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# P. Blanchard, N. J. Higham, T. Mary, A class of fast and accurate summation algorithms, SIAM Journal on Scientific
# Computing 42(3), A1541-A1557, 2020, section 2: blocked summation has the bound (b + n/b) u, least at b = sqrt(n).
# Reproduced: n = 16384 terms uniform on [0,1] in bf16 and fp16 by chunk:b for every power of two: the error and
# the bound against b are a U with its minimum at or near sqrt(n) = 128; FABsum, whose block sums are added by
# compensation, keeps its error for small b. The table is the figure. No published numbers.
. "${srcdir:-.}/t/tool/tap.sh"

run accumulate --table --terms uniform:0,1 --n 16384 --format bf16,fp16 --sum chunk:1..16384 --sum fabsum:1..16384
test_is $code "a range of block lengths"
at() { awk -F '\t' -v f="$1" -v s="$2:$3,acc=$1" '$1 == f && $2 == s { print $'"$4"' }' out; } # format, model, length, column
BACKWARD=9
test "$(grep -vc '^#' out)" = 61
test_is $? "a row a format, model and power of two"
for f in bf16 fp16; do
	awk -F '\t' -v f=$f '$1 == f && $2 ~ /^chunk/ { if (least == "" || $10 < least) { least = $10; at = $3 } } END { exit !(at == 128) }' out
	test_is $? "$f: the bound is least at b = 128"
	mid=$(at $f chunk 128 $BACKWARD) low=$(at $f chunk 1 $BACKWARD) high=$(at $f chunk 16384 $BACKWARD)
	holds 'mid < low / 4 && mid < high / 4' mid "$mid" low "$low" high "$high"
	test_is $? "$f: the error is a U: $low, $mid, $high"
	awk -F '\t' -v f=$f '$1 == f && $2 ~ /^chunk/ { bad += !($9 <= $10) } END { exit bad }' out
	test_is $? "$f: every error within its bound"
done
# b u instead of (b + n/b) u: the left arm of the U is gone
low=$(at bf16 fabsum 2 $BACKWARD) chunk=$(at bf16 chunk 2 $BACKWARD)
holds 'low < 0.01 && chunk > 0.5' low "$low" chunk "$chunk"
test_is $? "fabsum:2 in bf16 errs by $low where chunk:2 does by $chunk"
# Higham and Mary's growth over n for the same sums, within one table
run accumulate --table --terms uniform:0,1 --n 16384 --format bf16 --sum chunk:128 --sum chunk:64..128
test "$(grep -c '^bf16.chunk:128' out)" = 16 && test "$(grep -c '^bf16.chunk:64' out)" = 1
test_is $? "a plain length has a row for every n, a range only the last"
finish

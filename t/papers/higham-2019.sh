#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# N. J. Higham, T. Mary, A new approach to probabilistic rounding error analysis, SIAM Journal on Scientific
# Computing 41(5), A2815-A2835, 2019, experiments with inner products.
# Reproduced: the backward error |s - fl(s)| / sum |x y| of inner products of random vectors in fp32, against n, with
# the deterministic bound n u and the probabilistic sqrt(n) u (lambda = 1). On [-1,1] the error hardly grows; on
# [0,1] it grows as sqrt(n) u and leaves it near n = 10^6, because stagnation biases the roundings. n u always holds.
# The columns backward, bound and sqrt_n_u of the tables printed here are the figure. No published numbers.
. "${srcdir:-.}/t/tool/tap.sh"

at() { awk -F '\t' -v n="$2" '$4 == n { print $'"$3"' }' "$1"; } # table, n, column
BACKWARD=9 BOUND=10 SQRT=11
run accumulate --table --terms uniform:0,1 --terms times=uniform:0,1 --n 2097152 --format fp32
test_is $code "inner products on [0,1]"
cp out positive
run accumulate --table --terms uniform:-1,1 --terms times=uniform:-1,1 --n 2097152 --format fp32
test_is $code "and on [-1,1]"
cp out signed

for table in positive signed; do
	awk -F '\t' '!/^#/ && h++ { n++; if (!($9 <= $10)) bad++ } END { exit !(n == 22 && !bad) }' $table
	test_is $? "$table: no error above the deterministic bound"
	awk -F '\t' '!/^#/ && h++ && $4 >= 16 { r = $10 / ($4 * 2^-24); if (!(r > 0.9999 && r < 1.001)) bad++ } END { exit bad }' $table
	test_is $? "$table: which is n u"
done
awk -F '\t' '!/^#/ && h++ && $4 <= 131072 && !($9 <= $11) { bad++ } END { exit bad }' positive
test_is $? "positive: within sqrt(n) u up to n = 2^17"
e=$(at positive 1048576 $BACKWARD) s=$(at positive 1048576 $SQRT)
holds 'e > s' e "$e" s "$s"
test_is $? "positive: beyond it at n = 2^20: $e > $s"
e=$(at positive 2097152 $BACKWARD) s=$(at positive 2097152 $SQRT)
holds 'e > 4 * s' e "$e" s "$s"
test_is $? "positive: far beyond it at n = 2^21: $e > 4 * $s"
awk -F '\t' '!/^#/ && h++ && $4 >= 1024 && !($9 <= $11 / 10) { bad++ } END { exit bad }' signed
test_is $? "signed: a tenth of sqrt(n) u or less from n = 2^10 on"
# Swamping is what distinguishes them
p=$(last positive swamped_share) q=$(last signed swamped_share)
holds 'p > 0.05 && q < p / 100' p "$p" q "$q"
test_is $? "swamped share $p against $q"
finish

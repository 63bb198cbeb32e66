#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# M. Croci, M. Fasi, N. J. Higham, T. Mary, M. Mikaitis, Stochastic rounding: implementation, error analysis and
# applications, Royal Society Open Science 9(3):211631, 2022; the round-to-nearest numbers are those of N. J. Higham,
# Half precision arithmetic: fp16 versus bfloat16, 2018, and D. Malone, To what does the harmonic series converge?,
# Irish Mathematical Society Bulletin 71, 2013.
# Reproduced: s = fl(s + fl(1/n)) stagnates to nearest: fp16 at 7.0859375 with term 513 the first absorbed (published
# 7.0859, 513), bf16 at 5.0625 with term 65 (5.0625, 65), fp32 at 15.4037 after 2097152 terms (15.404, 2097152);
# e4m3 and e5m2 by the same command. With stochastic rounding it does not stagnate.
. "${srcdir:-.}/t/tool/tap.sh"

stops() { # format, n, value, first term absorbed
	run accumulate --table --terms harmonic --n "$2" --format "$1"
	test $code = 0 && test "$(last out value)" = "$3" && test "$(last out first_swamped)" = "$4" && test "$(last out stagnation_term)" = $(($4 - 1))
	test_is $? "$1: $3 from term $4 on"
}
stops fp16 20000 7.0859375 513
stops bf16 20000 5.0625 65
stops fp32 2200000 15.403682708740234 2097152
stops e4m3 5000 3 9
stops e5m2 5000 2 5

# SR stays with the exact sum where RNE stops: variance bound of the survey, sqrt(n) u, five times
for f in fp16 bf16 e5m2; do
	run accumulate --table --terms harmonic --n 20000 --format $f --sum fma,mode=SR --sum fma
	sr=$(awk -F '\t' '$4 == 20000 && $2 ~ /SR/ { print $8 }' out) rn=$(awk -F '\t' '$4 == 20000 && $2 !~ /SR/ { print $8 }' out)
	test $code = 0 && holds 'sr < rn / 3' sr "$sr" rn "$rn" && test "$(awk -F '\t' '$4 == 20000 && $2 ~ /SR/ { print $13 }' out)" = -
	test_is $? "$f: stochastic rounding does not stagnate: relative error $sr, to nearest $rn"
done
finish

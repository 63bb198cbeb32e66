#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# S. Gupta, A. Agrawal, K. Gopalakrishnan, P. Narayanan, Deep learning with limited numerical precision, ICML 2015
# (arXiv:1502.02551), section 3: updates below half the spacing vanish to nearest and survive, on average, with
# stochastic rounding, whose expectation is the exact sum.
# Reproduced: w = 1, w = fl(w + d) 200 times with d = 2^-8 to 2^-14 in fp16, whose spacing above 1 is 2^-10: to
# nearest d >= 2^-10 is exact and d <= 2^-11 (a tie, to the even 1) moves nothing. Stochastic: the mean of 40 runs
# is 1 + 200 d within 4 standard errors. No published numbers; these follow from the two rules.
. "${srcdir:-.}/t/tool/tap.sh"

for k in 8 9 10 11 12 13 14; do
	run accumulate --table --terms start=1 --terms constant:2^-$k --n 200 --format fp16
	if test $k -le 10; then want=$(awk "BEGIN { printf \"%.17g\", 1 + 200 / 2 ^ $k }") lost=-; else want=1 lost=1; fi
	test $code = 0 && test "$(last out value) $(last out first_swamped)" = "$want $lost"
	test_is $? "200 updates of 2^-$k to nearest: 1 becomes $want"
done
for k in 11 12 13 14; do
	for seed in $(seq 40); do
		run accumulate --table --terms start=1 --terms constant:2^-$k --n 200 --format fp16 --sum fma,mode=SR --seed "$seed"
		last out value
	done >values
	# Each step is 2^-10 with probability p = 2^(10-k): the sum's variance is 200 p (1-p) 2^-20
	awk -v k=$k '{ s += $1; n++ } END { p = 2 ^ (10 - k); want = 1 + 200 / 2 ^ k; se = sqrt(200 * p * (1 - p) / n) / 1024; d = s / n - want
		exit !(n == 40 && d < 4 * se && -d < 4 * se) }' values
	test_is $? "stochastic, 2^-$k: the mean of 40 runs is 1 + 200 d"
done
finish

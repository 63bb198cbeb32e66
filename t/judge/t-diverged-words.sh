#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs that diverged end in a verdict, and what is not finite is told in words. The thousand are x-diverged.sh's.
. "${srcdir:-.}/t/tool/tap.sh"
. "$top/t/judge/diverged.sh"
# 222: exact values that MPFR rounds up to a power of two, where ulps change their size
for i in 222 $(seq 5 53 960); do diverge "$i"; done >wrong
test ! -s wrong || sed 's/^/# /' wrong
test ! -s wrong
test_is $? "20 runs that diverged, all with a verdict"

# What ended with "this is a bug": double-double said nothing of values that four doubles of MPFR have
o="--model mlp:width=0.1 --data size=8,train=24,eval=4 --batch 8 --threads 1 --quiet"
run train $o --policy float16 --optimizer sgd:lr=1e9 --steps 4 a
run analyze --threads 1 a
test $code = 0 && grep -q '^replay .*overflowed' out && ! words a | grep -Ewq 'nan|inf' && grep -q 'not finite' out && grep -q '^Fatal: the run ended with a loss that is not finite' out
test_is $? "an overflow is called one, and a share of nothing finite is no number"
grep -q '"worst_ulp": "overflowed"' a/analysis/summary.json && grep -q '^Outputs of [0-9]* tensors of the traced steps overflowed, of [a-z0-9.@_]* first' out && ! grep -q 'inf ulp' out
test_is $? "in summary.json and its sentences too"
run train $o --policy float16 --optimizer sgd:lr=1e9 --steps 3 --trace steps=2 b
run analyze --threads 1 b
grep -q '"update_l2_share_lost": "not finite"' b/analysis/summary.json && grep -q 'no share that a number could be of the updates' out
test_is $? "an update without a finite element has no share, and is told so"
finish

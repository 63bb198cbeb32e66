#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The README's demo on less data: all its commands go through, and what it promises is there.
. "${srcdir:-.}/t/tool/tap.sh"
demo() { sh "$top/doc/demo.sh" "$@" >out 2>err </dev/null; code=$?; }
export HALFULP
unset HALFULP_RESULTS # what a person sees
demo demo --data train=640,eval=320 --epochs 1 --data size=12
test $code = 0
test_is $? "every command of the demo goes through"
test -s demo/report/index.html && test "$(find demo/report -name '*.svg' | wc -l)" -gt 10
test_is $? "the page and its figures"
test -s demo/check.tap && test "$(grep -c '^ok' demo/check.tap)" -gt 100 && ! grep -q '^not ok' demo/check.tap &&
	grep -qx "$(grep -c '^ok' demo/check.tap) quantities as they were, 0 that moved; TAP in demo/check.tap" out
test_is $? "a run against its own baseline: nothing moved"
test "$(column demo/float32/analysis/replay.tsv propagated_rel_normwise | grep -c '^[0-9]')" -gt 20 &&
	test "$(column demo/float32/analysis/replay.tsv propagated_rel_normwise | grep -c inf)" = 0
test_is $? "no relative error of a tensor that is exactly 0"
awk -F'\t' '$2 == "all" && $5 ~ /^-?[0-9]+$/ && $6 >= $5 { n++ } $2 ~ /^conv.*\.db/ { biases++ } END { exit !(n == 2 '\
'&& biases == 6) }' demo/float32/analysis/loss-scale-safe.tsv
test_is $? "some loss scale keeps every gradient, in both traced steps; the biases' are among them"
demo demo --data train=640 --epochs 0
test $code = 2 && grep -q epochs err
test_is $? "an option of train's that is wrong: its exit code"
mkdir mine && demo mine
test $code = 2 && grep -q 'no demo of mine' err && test -d mine
test_is $? "somebody else's folder is left alone"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What README says of the demo's outcome, on the demo as it stands.
. "${srcdir:-.}/t/tool/tap.sh"
export HALFULP
sh "$top/doc/demo.sh" demo >out 2>err </dev/null
test_is $? "the demo, whole"
accuracy() { column "demo/$1/metrics.tsv" eval_accuracy | grep -v '^-$' | tail -n 1; }
verdict() { sed -n 's/.*"verdict_word": "\([a-z]*\)".*/\1/p' "demo/$1/analysis/summary.json"; }
for policy in float32 mixed_float16 float16; do
	a=$(accuracy $policy)
	awk "BEGIN { exit !($a >= 0.93 && $a < 0.95) }"
	test_is $? "$policy reads 94 of 100 unseen digits ($a)"
done
test "$(verdict float32) $(verdict mixed_float16) $(verdict float16)" = "harmless harmless fatal"
test_is $? "and pure float16 alone is fatal: $(verdict float32), $(verdict mixed_float16), $(verdict float16)"
moments() { awk -F'\t' -v step="$1" -v want="$2" \
	'/^#/ { next } !n++ { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["step"] == step && $at["tensor"] == '\
'"all" && $at["kind"] == "moment" { print $at[want] }' demo/float16/analysis/state.tsv; }
for step in 2 467; do
	zero=$(moments $step became_zero) share=$(moments $step l2_share_lost)
	awk "BEGIN { exit !($zero > 0 && $zero < 0.1 * $(moments $step elements) && $share > 0.9) }"
	test_is $? "step $step: $zero of Adam's second moments became zero, and their steps are $share of the step's "\
"length"
done
finish

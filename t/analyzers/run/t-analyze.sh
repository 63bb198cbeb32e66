#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyze on small runs: its tables, that they do not depend on threads, what it
# says of runs whose harm is known, and what it refuses.
. "${srcdir:-.}/t/tool/tap.sh"
small="--model mlp:width=0.125 --data size=8,train=512,eval=64 --batch 32 --quiet"
# Cell COLUMN of the first row of TABLE in which every COLUMN=VALUE holds
cell() { # TABLE COLUMN [COLUMN=VALUE...]
	awk -F'\t' -v want="$2" -v conds="${*:3}" '
	/^#/ { next }
	!n { n = NF; for (i = 1; i <= NF; i++) at[$i] = i; k = split(conds, c, " "); next }
	{ good = 1; for (i = 1; i <= k; i++) { split(c[i], kv, "="); if ($at[kv[1]] != kv[2]) good = 0 } if (good) { '\
'print $at[want]; exit } }' "$1"
}
header() { grep -v '^#' "$1" | head -n 1 | tr '\t' ' '; }
# holds NUMBER RELATION NUMBER: what is no number, an empty cell above all, holds nothing
holds() {
	case ,$1,$3, in *,,* | *[!0-9.,eE+-]*) return 1 ;; esac
	awk -v a="$1" -v b="$3" "BEGIN { exit !(a $2 b) }"
}
! holds '' '<=' 0.5 && ! holds 1 '>' '' && ! holds nan '<=' 1 && holds 1e-3 '<' 2
test_is $? "an empty cell is within no bound"

run train $small --steps 12 --trace steps=2,11 --policy mixed_float16 r
test $code = 0
test_is $? "a traced run to judge"
run analyze r
test $code = 0 && test ! -s err
test_is $? "analyze: exit 0 where every output is within its bound"
grep -q '^Harmless: ' out && grep -q 'next: halfulp report r' out
test_is $? "the verdict is printed, and the next command"
a=r/analysis
test "$(header $a/replay.tsv | cut -d' ' -f1-24)" = \
	'step call op phase layer tensor format compute sum elements sampled ulp_max ulp_mean ulp_p99 rel_max '\
'backward_normwise backward_componentwise condition_max bound_ratio_max over_bound worst_element propagated_ulp_max '\
'propagated_ulp_mean propagated_rel_normwise' &&
	test "$(header $a/swamping.tsv)" = 'step call op phase layer tensor format kind additions swamped '\
'share_swamped outputs stagnated l2_share_lost cosine verdict by_decay swamped_by_decay' &&
	test "$(header $a/underflow.tsv | cut -d' ' -f1-18)" = \
	'step call layer tensor class from to elements nonzeros became_zero became_subnormal lost_bits ftz '\
'share_nonzeros share_elements l2_share_lost cosine verdict' &&
	test "$(header $a/exponents.tsv)" = 'step tensor class layer format bin count' &&
	test "$(header $a/swamping-ratio.tsv)" = 'step layer tensor format precision log2_ratio count by_decay' &&
	test "$(header $a/loss-scale.tsv)" = 'step tensor format log2_scale lost overflow share_lost l2_share_lost' &&
	test "$(header $a/loss-scale-safe.tsv | cut -d' ' -f1-6)" = \
	'step tensor format amax log2_scale_min log2_scale_max' &&
	test "$(header $a/loss-scale-timeline.tsv)" = 'step scaler scale skipped unknown' &&
	test "$(header $a/faults.tsv)" = 'step call tensor element got exact error_ulps bound_ulps'
test_is $? "the tables have their columns"
bad=
for t in replay underflow loss-scale loss-scale-safe; do grep -q \
	'^# exact step: [1-9].* values of double-double calls judged by MPFR, 0 outside' $a/$t.tsv ||
	bad="$bad $t"; done
for t in replay underflow swamping swamping-ratio state; do grep -q \
	'^# judged again: [1-9][0-9]* values.* 0 disagreed$' $a/$t.tsv || bad="$bad $t"; done
test -z "$bad"
test_is $? "every table that rests on exact values says how many MPFR judged, and the outcome${bad:+: not$bad}"
test "$(header $a/state.tsv)" = 'step call op layer tensor format kind elements moved swamped became_zero '\
'l2_share_lost cosine verdict cosine_idle' &&
	test "$(cell $a/state.tsv verdict tensor=all kind=moment)" = harmless &&
	holds "$(cell $a/state.tsv cosine tensor=all kind=moment)" '>' 0.999999
test_is $? "float32 moments lose nothing"
run train --model convnet:width=0.25 --data size=12,train=128,eval=32 --batch 16 --quiet --steps 6 --trace steps=last \
	--policy float16 s && run analyze s
holds "$(cell s/analysis/state.tsv cosine tensor=all kind=moment)" '<' 0.999 &&
	test "$(cell s/analysis/state.tsv became_zero tensor=all)" -gt 0 &&
	grep -q 'became zero when they were stored' out && ! grep -q 'epsilon alone' out
test_is $? "float16 moments vanish, and the verdict says what that does to the next step"
test "$(cell s/analysis/state.tsv elements tensor=all kind=statistic)" -gt 0
test_is $? "running statistics are judged"
test "$(grep -vc '^#' $a/faults.tsv)" = 1
test_is $? "faults.tsv has no row"
bad=$(awk -F'\t' '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["bound_ratio_max"] > 1 || '\
'$at["over_bound"] != 0 || !($at["ulp_max"] >= 0)' $a/replay.tsv | wc -l)
test "$bad" = 0 && test "$(cut -f1 $a/replay.tsv | grep -c '^2$')" -gt 20 &&
	test "$(cut -f1 $a/replay.tsv | grep -c '^11$')" -gt 20
test_is $? "replay: a row an output of both steps, every bound ratio at most 1"
test "$(cell $a/replay.tsv ulp_max op=relu)" = 0 &&
	holds "$(cell $a/replay.tsv ulp_max op=cast format=fp16)" '<=' 0.5 &&
	holds "$(cell $a/replay.tsv ulp_max op=matmul format=fp16)" '>' 0.4
test_is $? "relu is exact, a cast at most half an ulp off, a product more than nearly none"
sum=$(awk -F'\t' '$1 == 2 && $2 == "dense1.w" { s += $7 } END { print s }' $a/exponents.tsv)
test -n "$sum" && test "$sum" = "$(cell $a/replay.tsv elements tensor=dense1.w_next)"
test_is $? "exponents: the bins of a tensor add up to its elements"
sum=$(awk -F'\t' '$1 == 2 && $3 == "dense1.w_next" { s += $7 } END { print s }' $a/swamping-ratio.tsv)
holds "$sum" '>' 0 && holds "$sum" '<=' "$(cell $a/swamping.tsv additions kind=update tensor=dense1.w_next)"
test_is $? "swamping-ratio: a count for each weight that moved"
bad=0
for s in pytorch keras apex deepspeed recorded; do test -n "$(cell $a/loss-scale-timeline.tsv scale scaler=$s)" ||
	bad=$s; done
test "$bad" = 0 && holds "$(cell $a/loss-scale-timeline.tsv scale scaler=keras)" == 32768
test_is $? "timelines of four scalers and the recorded one${bad:+ ($bad)}"
test "$("$HALFULP" analyze --json r | grep -c '"verdict_word": "harmless"')" = 1
test_is $? "--json prints the summary"

cp -r $a first
run analyze --threads 1 r
test $code = 0 && diff -r first $a >out
test_is $? "one thread: the same tables, byte for byte"
run analyze --only replay --seed 2 --sample 50 r
test $code = 0 && ! cmp -s first/replay.tsv $a/replay.tsv &&
	test "$(awk -F'\t' '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["sampled"] > 50' \
	$a/replay.tsv | wc -l)" = 0
test_is $? "--sample and --seed choose the sample"
run analyze --only replay --sample all --steps 11 --engine mpfr r
test $code = 0 && test -z "$(cell $a/replay.tsv ulp_max step=2)" && test -n "$(cell $a/replay.tsv ulp_max step=11)" &&
	test "$(awk -F'\t' '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["sampled"] != '\
'$at["elements"]' $a/replay.tsv | wc -l)" = 0
test_is $? "--sample all --steps 11 --engine mpfr: every output of that step"
for tensor in dense1.y dense2.dw_unscaled; do
	x=$(cell $a/replay.tsv propagated_rel_normwise tensor=$tensor) \
		y=$(cell first/replay.tsv propagated_rel_normwise tensor=$tensor step=11)
	awk -v x="$x" -v y="$y" 'BEGIN { d = x - y; exit !(y > 0 && d * d <= y * y * 1e-18) }'
	test_is $? "the exact step in double-double and by MPFR: $tensor's propagated error agrees"
done

run train $small --steps 12 --trace steps=11 --policy float16 --optimizer sgd:lr=1e-3 pure
run analyze --only swamping,summary pure
test $code = 0 && holds "$(cell pure/analysis/swamping.tsv share_swamped kind=update tensor=all)" '>' 0.5 &&
	grep -q '"verdict_word": "fatal"' pure/analysis/summary.json
test_is $? "pure float16, SGD at 1e-3: most updates are swamped, fatal"
run train $small --steps 12 --trace steps=11 --policy mixed_float16 --loss-scale none --loss weight=2^-20 tiny
run analyze tiny
test $code = 0 && grep -q '"verdict_word": "fatal"' tiny/analysis/summary.json &&
	holds "$(cell tiny/analysis/underflow.tsv verdict from=exact tensor=all | wc -c)" '>' 1
test_is $? "loss weight 2^-20 without scaling: fatal"
run train $small --steps 12 --trace steps=11 --policy float64 wide
run analyze wide
test $code = 0 && holds "$(cell wide/analysis/replay.tsv propagated_ulp_max op=matmul)" '>' 0 &&
	holds "$(cell wide/analysis/replay.tsv bound_ratio_max op=matmul)" '<=' 1
test_is $? "float64: judged, its propagated error too"

run analyze --only nonsense r
test $code = 2 && test "$(wc -l <err)" = 1
test_is $? "an unknown analyzer: exit 2, one line"
wrong=
for steps in 2=0-2 2=2-10 11=3-11 11=11 "2 11=1-2,11," "2 11=all"; do
	run analyze --only underflow --steps "${steps#*=}" r
	test $code = 0 && test "$(grep -v '^#' $a/underflow.tsv | cut -f 1 | sed 1d | uniq | paste -sd ' ')" = \
		"${steps%=*}" || wrong="$wrong ${steps#*=}"
done
test -z "$wrong"
test_is $? "--steps: numbers and ranges${wrong:+, but not$wrong}"
wrong=
for steps in 2- -2 x 2x 2-x '2;11' ,2; do
	run analyze --only underflow --steps "$steps" r
	test $code = 2 && test "$(wc -l <err)" = 1 || wrong="$wrong $steps"
done
test -z "$wrong"
test_is $? "what is no step is refused: exit 2, one line${wrong:+, but not$wrong}"
run analyze --steps 3 r
test $code = 2 && test "$(wc -l <err)" = 1
test_is $? "a step that was not traced: exit 2, one line"
run train $small --steps 2 --trace steps=none bare
run analyze bare
test $code = 3 && test "$(wc -l <err)" = 1
test_is $? "no traced step: exit 3, one line"
run analyze absent
test $code = 3 && test "$(wc -l <err)" = 1
test_is $? "no such run: exit 3, one line"
# A table that cannot be written, whichever it is, is no success
lost=
for t in r/analysis/*.tsv r/analysis/summary.json; do
	mv "$t" kept && mkdir "$t"
	run analyze r
	test $code = 4 && test "$(wc -l <err)" = 1 || lost="$lost ${t##*/}($code)"
	rmdir "$t" && mv kept "$t"
done
test -z "$lost"
test_is $? "each table that cannot be written: exit 4, one line${lost:+, but not$lost}"
run train --model mlp:width=2 --data size=28,train=64,eval=32 --batch 64 --quiet --steps 1 --trace steps=0 \
	--policy float32 w
run analyze w --sample all --threads 1
s() { sed -n "s/^$1 .*(\([0-9.]*\) s)\$/\1/p" out; }
holds "$(s replay)" '>' "$(s blocks)" && holds "$(s blocks)" '<' 0.1
test_is $? "each analyzer is told its own seconds: $(s replay) s of replay, $(s blocks) s of nothing"

f=$(ls r/trace/*.safetensors | head -n 1)
size=$(stat -c %s "$f") && truncate -s $((size - 5)) "$f"
run analyze r
test $code = 3 && test "$(wc -l <err)" = 1 && grep -q "$f" err
test_is $? "a trace cut short: exit 3, its name"

finish

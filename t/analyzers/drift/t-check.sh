#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check: a baseline is recorded, held, broken in every way, and says so by its exit
# code; diff finds where two runs diverge.
. "${srcdir:-.}/t/tool/tap.sh"
make() { # RUN seed policy option...
	"$HALFULP" train --model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 3 --trace \
		steps=20 --quiet --seed "$2" --policy "$3" "${@:4}" "$1" && "$HALFULP" analyze "$1" >/dev/null
}
make a 1 mixed_float16 && make again 1 mixed_float16 && make b 2 mixed_float16 && make other 1 mixed_bfloat16 &&
	make chunks 1 mixed_float16 --accumulate chunk:16 && make pairs 1 mixed_float16 --accumulate pairwise &&
	make rate 1 mixed_float16 --optimizer lr=0.002 --backend simd=scalar
test_is $? "runs to compare"

run check a --baseline base.tsv
test $code = 3 && test ! -e base.tsv && test -s base.tsv.obtained && test "$(wc -l <err)" = 1 &&
	grep -q 'where that is right: halfulp baseline a -o base.tsv --reason' err
test_is $? "no baseline: exit 3, the obtained file, the command that records it"
run baseline a -o base.tsv
test $code = 2 && test ! -e base.tsv
test_is $? "baseline without --reason: exit 2"
run baseline a -o base.tsv --reason 'the first one'
test $code = 0 && grep -q '^# reason: the first one' base.tsv && grep -q '^# recorded by: .* at commit' base.tsv &&
	grep -q '^# env.summation_tree: 0x' base.tsv && grep -q '^# env.compiler: ' base.tsv
test_is $? "recorded: reason, who, commit and environment are in the file"
# What a person reviews stands first: the worst of each column, here again, and the ends of the metrics
said=$(sed -n 's/^# the \([0-9]*\) rows above are for review; the [0-9]* below.*/\1/p' base.tsv) \
	first=$(grep -v '^# [a-z0-9_.-]*:\|^# [a-z ]*: ' base.tsv | sed '1d; /^# the/,$d' | wc -l)
test "$said" = "$first" && test "$first" -gt 15 && test "$first" -lt 60 &&
	sed '/^# the [0-9]* rows/,$d' base.tsv | grep -v '^#' | sed 1d | cut -f1 |
	grep -qv '^summary/\|^metrics/0/\|^metrics/23/\|^metrics/last/'
test $? = 1
test_is $? "tens of rows come first, and a line says how many"
worst() { awk -F'\t' -v table="$1/" -v column="/$2" -v up="$3" \
	'index($1, table) == 1 && substr($1, length($1) - length(column) + 1) == column && $2 != "-" { if (!n++ || '\
'(up ? $2 + 0 > w : $2 + 0 < w)) { w = $2 + 0; text = $2 } } END { print text }' base.tsv; }
test "$(grep '^summary/replay/ulp_max' base.tsv | cut -f2)" = "$(worst replay ulp_max 1)" &&
	test "$(grep '^summary/swamping/cosine' base.tsv | cut -f2)" = "$(worst swamping cosine 0)" &&
	test "$(grep '^summary/swamping/share_swamped' base.tsv | cut -f2)" = "$(worst swamping share_swamped 1)"
test_is $? "they are the worst of their columns"
run baseline a --out again.tsv --reason 'the first one'
test $code = 0 && cmp base.tsv again.tsv && grep -q '^[0-9]* quantities recorded in again.tsv$' out
test_is $? "--out FILE writes the same file"
run baseline a -o none.tsv
refused 2 'reason TEXT is needed' "baseline without --reason" && test ! -e none.tsv
run baseline base.tsv -o none.tsv
refused 3 'is a baseline already' "a baseline of a baseline" && test ! -e none.tsv
run baseline a/metrics.tsv -o metrics.tsv
test $code = 0 && cmp a/metrics.tsv metrics.tsv &&
	grep -q '^a/metrics.tsv, [0-9]* names, is recorded as metrics.tsv$' out
test_is $? "a file is its own baseline, where check can read it"
head -c -90 a/metrics.tsv >cut.tsv
run baseline cut.tsv -o none.tsv
refused 3 'cut' "a file that is cut short" && test ! -e none.tsv
run baseline a/metrics.tsv b/metrics.tsv -o none.tsv
refused 2 'one file is the baseline of one' "two files" && test ! -e none.tsv
run check a --baseline base.tsv
test $code = 0 && ! grep -q '^not ok' out && test "$(sed -n 's/^1\.\.//p' out)" = "$(grep -c '^ok' out)" &&
	grep -q 'bit-identical' out
test_is $? "the run itself: exit 0, every line ok"
run check a --baseline base.tsv --ulps 3
refused 2 "unknown or ambiguous option '--ulps'" "check --ulps"
run check a --baseline none.tsv --bless
refused 2 "unknown or ambiguous option '--bless'" "check --bless" && test ! -e none.tsv
run check --bless=yes a
refused 2 "unknown or ambiguous option '--bless=yes'" "check --bless=yes"
run baseline a -o wide.tsv --reason 'one ulp of each format' --ulps 1
run check chunks --baseline wide.tsv
test $code = 1 && test "$(grep -c '^not ok' out)" -gt 5 &&
	test "$(grep -c '^not ok' out)" = "$(grep -c '^not ok [0-9]* - program/' out)"
test_is $? "--ulps 1: of another order of sums only the calls that have it are told"
run check rate --baseline wide.tsv
test $code = 1 && grep '^not ok' out | grep -qv ' - program/' && head -n 1 out | grep -q '^# step 7, loss '
test_is $? "another learning rate moves more than that"
row() { grep "^$1" wide.tsv | head -n 1 | cut -f"$2"; }
test "$(row 'metrics/last/digest' 4)" = any && test "$(row 'metrics/23/loss	' 6)" = 1 &&
	test "$(row 'replay/.*/ulp_mean' 7)" = 1 && test "$(row 'loss-scale-safe/20/all/log2_scale_max' 7)" = 1 &&
	test "$(row 'metrics/23/loss_scale	' 6)" = 0
test_is $? "digests are left out, losses and errors have an ulp, the loss scale none"
key=$(awk -F'\t' '$1 ~ /^replay.*backward_normwise$/ { print $1; exit }' wide.tsv) tensor=$(echo "$key" | cut -d/ -f5)
p=$(sed -n "s/^program.train.[^\t]*\t[^\t]* ${tensor//./\\.}=\(fp[0-9]*\).*/\1/p" wide.tsv | head -n 1)
test -n "$p" && holds 'x == 2 ^ (1 - p)' x "$(row "$key" 7)" p "$(test "$p" = fp16 && echo 11 || echo 24)"
test_is $? "an error relative to a norm has one ulp of its tensor's format, $p"
run check again --baseline base.tsv
test $code = 0 && grep -q '^# all [0-9]* quantities hold$' out && ! grep -v bit-identical out | grep -q '^ok'
test_is $? "the same training again: bit-identical"
run check b --baseline base.tsv
test $code = 1 && grep -q '^not ok .*metrics/last/digest' out && grep -q 'env\|seed: 1 in the baseline, 2 now' out &&
	grep -q 'same summation trees and same casts' out
test_is $? "another seed: exit 1, and the attribution names the seed"
run check rate --baseline base.tsv
test $code = 1 && grep -q '^# optimizer:lr: 0.001 in the baseline, 0.002 now' out && ! grep -q 'inf ulps' out
test_is $? "another learning rate: the attribution names it"
grep -q '^# the program differs: train call [0-9]* adamw dense1: lr 0.001 -> 0.002$' out &&
	head -n 3 out | grep -q '^not ok 1 - program/train/'
test_is $? "and the call whose attribution it is, before every number"
# The first line says where, how far and why; its numbers are those of the tables, found here again
first=$(head -n 1 out)
moved() { awk -F'\t' -v step="$3" -v column="$4" \
	'FNR == 1 { file++ } $1 == "step" { for (i = 1; i <= NF; i++) if ($i == column) at = i } $1 == step { v[file] '\
'= $at } END { printf "%.4f %.4f", v[1], v[2] }' "$1/metrics.tsv" "$2/metrics.tsv"; }
set -- $(moved a rate 7 loss)
printf '%s\n' "$first" | grep -q "^# step 7, loss [0-9.]* -> [0-9.]* ([-+][0-9.]* %, [0-9.e+]* ulps of fp32); the "\
"state differs from step 0 on; worst: .*\. Most likely cause: another setting: optimizer:lr 0.001 -> 0.002, which "\
"makes train call [0-9]* adamw dense1: lr 0.001 -> 0.002 (and 5 more)$"
test_is $? "the first line says step, quantity, how far, the worst and the cause"
said=$(printf '%s\n' "$first" | sed -n 's/^# step 7, loss \([0-9.]*\) -> \([0-9.]*\) (\([-+0-9.]*\) %, .*/\1 \2 \3/p')
set -- "$@" $said
test $# = 5 && holds 'a - c < 1e-4 && c - a < 1e-4 && b - d < 1e-4 && d - b < 1e-4 && 100 * (b - a) / a - e < 0.02 && '\
'e - 100 * (b - a) / a < 0.02' a "$1" b "$2" c "$3" d "$4" e "$5"
test_is $? "with the numbers of the tables: $*"
test -s base.tsv.obtained && grep -q '^# base.tsv.obtained has what was obtained; where that is right: halfulp '\
'baseline rate -o base.tsv --reason TEXT$' out && head -n 1 base.tsv.obtained | grep -q '^# halfulp baseline'
test_is $? "what was obtained lies beside the baseline"
run check again --baseline base.tsv
test $code = 0 && test ! -e base.tsv.obtained && ! head -n 1 out | grep -q '^#'
test_is $? "and is gone where the check holds, which needs no first line"
run check b --baseline base.tsv
head -n 1 out | grep -q '^# step 0, loss .* the state differs from step 0 on; .* Most likely cause: another seed: 1 '\
'in the baseline, 2 now$'
test_is $? "the first line of another seed"
# What only the evaluation does: an attribute in its program, as another source would build it
attribute() { # RUN PROGRAM OPERATOR CODE: a copy of run a whose first call of OPERATOR had CODE done to it
	rm -rf "$1" && cp -r a "$1" && ${PYTHON:-python3} - "$1" "$2" "$3" "$4" <<'END'
import json, sys
run, name, op, code = sys.argv[1:]
p = json.load(open("%s/program-%s.json" % (run, name)))
c = next(c for c in p["calls"] if c["op"] == op)
exec(code)
json.dump(p, open("%s/program-%s.json" % (run, name), "w"))
m = json.load(open(run + "/manifest.json"))
del m["files"]["program-%s.json" % name]
json.dump(m, open(run + "/manifest.json", "w"))
END
	"$HALFULP" analyze "$1" >/dev/null
}
if command -v "${PYTHON:-python3}" >/dev/null; then
	attribute bent eval matmul 'c["sum"] = "chunk:16,acc=fp32"'
	run check bent --baseline base.tsv
	test $code = 1 && test "$(grep -c '^not ok' out)" = 1 &&
		grep -q '^not ok 1 - program/eval/dense1.xw: drifted' out &&
		grep -q '^#   eval call 2 matmul dense1: sum fma,acc=fp32 -> chunk:16,acc=fp32$' out
	test_is $? "another sum in the evaluation's program alone: exit 1, and the call"
	run diff a bent
	test $code = 1 && grep -q '^  eval: call 2 matmul dense1: sum fma,acc=fp32 -> chunk:16,acc=fp32$' out &&
		grep -q 'all 24 common steps have the same digest' out
	test_is $? "diff names it too"
	run verify bent
	test $code = 1 && grep -q '^eval: call 2 matmul dense1: sum chunk:16,acc=fp32 -> fma,acc=fp32$' out &&
		grep -q 'every digest is the recorded one' out
	test_is $? "and verify, which would run another program"
	attribute bent train adamw 'c["attr"]["eps"] = 0.25'
	run verify bent
	test $code = 1 && grep -q '^train: call [0-9]* adamw dense1: eps 0.25 -> ' out &&
		test "$(grep -c '^train: ' out)" = 1
	test_is $? "an attribute of one call in the training's program"
	cp -r a told && unlist told metrics.tsv && sed "s/$(column a/metrics.tsv eval_loss | sed -n 8p)/2.5/" \
		a/metrics.tsv >told/metrics.tsv
	run verify told
	test $code = 1 && grep -q 'step 7 is the first whose evaluation differs: eval_loss .*, recorded 2.5; its '\
'state is the recorded one' out
	test_is $? "verify repeats the evaluations"
	run diff a told
	test $code = 1 && grep -q '^the first evaluation that differs is behind step 7: eval_loss .* and 2.5$' out &&
		grep -q 'both run the same programs' out
	test_is $? "diff compares them"
else
	skip 6 "python3 is absent"
fi
make scaled 1 mixed_float16 --loss-scale init=1024
run check scaled --baseline base.tsv
test $code = 1 && grep -q '^# loss-scale:init: nothing in the baseline, 1024' out
test_is $? "an option that the baseline does not have is named"
"$HALFULP" train --model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 3 --trace steps=7 --quiet \
	--policy mixed_float16 seven && "$HALFULP" analyze seven >/dev/null
run check seven --baseline base.tsv
test $code = 1 && grep -q '^# step 20 was traced in the baseline and not in this run: train with --trace steps=20$' out
test_is $? "a traced step that is missing is advised"
# A step that was traced and only not analyzed needs no training
"$HALFULP" train --model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 1 --trace steps=0,2 \
	--quiet --policy mixed_float16 two && "$HALFULP" analyze two >/dev/null
run baseline two -o two.tsv --reason 'both steps'
"$HALFULP" analyze --steps 0 two >/dev/null
run check two --baseline two.tsv
test $code = 1 && grep -q '^# step 2 was analyzed in the baseline and not in this run, which traced it: halfulp '\
'analyze two$' out && ! grep -q 'train with' out
test_is $? "a traced step that was not analyzed is advised as that"
"$HALFULP" analyze two >/dev/null
run check two --baseline two.tsv
test $code = 0
test_is $? "and the advice helps"
run diff a seven
test $code = 0 && grep -q '^no step was traced in both: train seven with --trace steps=20, and' out
test_is $? "by diff too"
run check b --baseline base.tsv
first=$(grep -n '^not ok' out | head -n 1 | cut -d: -f1) last=$(grep -n '^not ok' out | tail -n 1 |
	cut -d: -f1) good=$(grep -n '^ok' out | head -n 1 | cut -d: -f1)
test "$first" -lt "$good" && test "$last" -lt "$good" && test "$(grep -c '^not ok' out)" -gt 5
test_is $? "every failure is listed, before what passed"
run check a --baseline base.tsv --format json
test $code = 0 && grep -q '"failed": 0' out
test_is $? "--format json"
run check b --baseline base.tsv --format junit
test $code = 1 && head -n 1 out | grep -q '^<?xml' && test "$(grep -c '<failure' out)" -gt 5 &&
	grep -q '</testsuite>' out
test_is $? "--format junit"
run check b --baseline base.tsv --format github
test $code = 1 && test "$(grep -c '^::error .*title=' out)" = 10 &&
	tail -n 1 out | grep -q '^::notice title=halfulp check::[0-9]* of [0-9]* quantities failed.*%0Aseed: 1 in the '\
'baseline, 2 now'
test_is $? "--format github: annotations, and the attribution"

# What a recording says: what moved since the one before, and what the run could not show
cp base.tsv again.tsv && run baseline rate -o again.tsv --reason 'a faster rate'
moved=$(awk -F'\t' '/^#/ { next } NR == FNR { was[$1] = $2; next } ($1 in was) && was[$1] != $2 { n++ } END { print n '\
'+ 0 }' base.tsv again.tsv)
test $code = 0 && test "$moved" -gt 20 && grep -q \
	"^since the baseline before: $moved of $(grep -c '^[a-z].*/' \
	base.tsv) quantities moved, 0 are new, 0 are gone" out
test_is $? "recording again counts what moved"
was=$(grep '^metrics/23/loss	' base.tsv | cut -f2) is=$(grep '^metrics/23/loss	' again.tsv | cut -f2)
grep -qF "  metrics/23/loss: $was -> $is (" out && test "$(grep -c ' -> ' out)" = 20 &&
	share=$(sed -n 's/^  metrics.23.loss: .* (\([-+0-9.e]*\) %)$/\1/p' out) &&
	holds 'd < 0.01 && d > -0.01' d "$(awk -v a="$was" -v b="$is" -v s="$share" \
	'BEGIN { print s - 100 * (b - a) / a }')"
test_is $? "and says by how much, what is reviewed first"
run baseline a -o unseen.tsv --reason 'what it cannot see'
test $code = 0 && grep -q 'in 24 steps no gradient overflowed and no step was skipped: .*--loss-scale init=2^24' out &&
	grep -q 'in 24 steps the loss scale never grew: .*--loss-scale interval=3' out &&
	grep -q 'made a number zero or subnormal: .*--loss-scale init=1 ' out &&
	test "$(grep -c '^# unseen: ' unseen.tsv)" = 3
test_is $? "recording names what the run could not show, and the options that would"
make skips 1 mixed_float16 --loss-scale init=2^24,interval=3 &&
	run baseline skips -o unseen.tsv --allow-nonfinite --reason 'skips and growth'
test $code = 0 && ! grep -q 'no step was skipped\|never grew' out && ! grep -q 'skipped\|grew' unseen.tsv
test_is $? "which they do: steps are skipped, and the scale grows"
make small 1 mixed_float16 --loss-scale init=1 && run baseline small -o unseen.tsv --reason 'casts that flush'
test $code = 0 && ! grep -q 'zero or subnormal' out
test_is $? "and casts make subnormal numbers"
run baseline a -o unseen.tsv --reason 'two orders of summation' --ulps 4096 chunks
test $code = 0 && grep -q 'in 48 steps the loss scale never grew' out
test_is $? "two runs see what either does"

key=$(grep '^replay/.*/ulp_max' base.tsv | head -n 1 | cut -f1)
cp -r a turned && unlist turned updates.tsv &&
	awk -F'\t' '$1 == 1 && !kept { kept = $0; next } { print } kept && !n++ { print kept }' a/updates.tsv \
	>turned/updates.tsv
run check turned --baseline base.tsv
refused 3 'updates.tsv: row [0-9]* is of dense[^ ]*, and of dense[^ ]* in the first step' \
	"a step that updates the parameters in another order"

# What nobody can judge is said in whole documents
for format in tap junit github gitlab sarif json; do
	run check nowhere --baseline base.tsv --format $format
	test $code = 3 && test "$(wc -l <err)" = 1 && grep -q 'nowhere: no run is there' out &&
		grep -q 'nowhere: no run is there' err
	test_is $? "a run that is not there, as $format: exit 3"
	case $format in
	junit) grep -q '<testsuite .* tests="1" failures="0" errors="1">' out &&
		grep -q '<error message="nothing was judged: ' out && tail -n 1 out | grep -q '</testsuite>' ;;
	gitlab | sarif | json) test "$(tr -d ' \n' <out | head -c 1)$(tr -d ' \n' <out | tail -c 1)" = \
		"$(test $format != gitlab && echo '{}' || echo '[]')" ;;
	github) test "$(grep -c '^::error ' out)" = 1 ;;
	tap) judged_nothing ;;
	esac
	test_is $? "and the document is whole"
done

# Baselines of what a changed run has: cell RUN KEY VALUE changes a copy of run a, or takes the row out where there is
# no VALUE
cell() {
	rm -rf "$1" && cp -r a "$1" && awk -F'\t' -v OFS='\t' -v key="$2" -v v="$3" '
		/^#/ { print; next }
		!at { split(key, part, "/"); for (i = 1; i <= NF; i++) { name[$i] = i; if ($i == part[6]) at = i } '\
'print; next }
		$name["step"] == part[2] && $name["layer"] == part[3] && $name["call"] == part[4] && $name["tensor"] '\
'== part[5] { if (v == "") next; $at = v }
		{ print }' a/analysis/replay.tsv >"$1/analysis/replay.tsv" && sealed "$1/analysis/replay.tsv"
}
sealed() { ${PYTHON:-python3} -B "$top/t/tool/sealed.py" "$@"; }
recorded() { run baseline "$1" -o "$1.tsv" --reason 'what a changed run has' && run check a --baseline "$1.tsv"; }
cell less "$key" '' && recorded less
test $code = 1 && grep -q "^not ok .* - $key: is new" out
test_is $? "a key that the baseline lacks: exit 1"
cp -r a more && awk -F'\t' -v OFS='\t' '/^#/ || !head { print; head = head || !/^#/; next } { last = $0; print } END '\
'{ sub(/^[0-9]*\t[^\t]*/, "99\tgone", last); print last '\
'}' a/analysis/replay.tsv >more/analysis/replay.tsv && sealed more/analysis/replay.tsv && recorded more
test $code = 1 && grep -q '^not ok 1 - replay/99/[^/]*/gone/.*: is missing' out
test_is $? "a key that the run lacks: exit 1"
cp -r a edited && unlist edited metrics.tsv &&
	awk -F'\t' -v OFS='\t' '$1 == 23 { $3 = 0.123 } { print }' a/metrics.tsv >edited/metrics.tsv
run check edited --baseline base.tsv
refused 3 'was not made from this run as it is now; run halfulp analyze edited again' \
	"an analysis of another run than it lies in"
"$HALFULP" analyze edited >/dev/null && recorded edited
test $code = 1 && test "$(grep -c '^not ok' out)" = 1 && grep -q '^not ok 1 - metrics/23/loss: drifted' out &&
	grep -q 'baseline 0.123' out
test_is $? "a loss that moved: exit 1, both values"
err=$(grep '^replay/.*/backward_normwise' base.tsv | awk -F'\t' '$2 > 0' | head -n 1 | cut -f1)
cell grown "$err" 1 && recorded grown
test $code = 0 && grep -q "^ok .* - $err: better than the baseline" out
test_is $? "an error that shrank: exit 0"
cell shrunk "$err" 1e-30 && recorded shrunk
test $code = 1 && grep -q "^not ok 1 - $err: drifted" out
test_is $? "an error that grew: exit 1"
op=$(echo "$err" | cut -d/ -f4)
head -n 1 out | grep -q "^# step 20, call $op [a-z0-9_]*, layer $(echo "$err" | cut -d/ -f3) ($(echo "$err" |
	cut -d/ -f5)): backward_normwise 1e-30 -> .* ulps of fp[0-9]* at 1)\. Most likely cause: the arithmetic of a "\
"call, or the weights that it began with: "
test_is $? "the first line names step, call, operator, layer and tensor"
cp -r a mixed && "$HALFULP" analyze --sample 64 --only replay mixed >/dev/null
run check mixed --baseline base.tsv
refused 3 'swamping.tsv belongs to another analysis than the tables beside it' \
	"what an analysis that was killed leaves: new tables beside old ones"

run check other --baseline base.tsv
test $code = 3 && grep -q 'policy' err
test_is $? "a run of another policy: exit 3"
# Several runs: bits that agree, or tolerances that are said
run baseline a -o two.tsv --reason 'two orders of summation' chunks
refused 2 '^halfulp baseline: chunks is not a bit for bit: [0-9]* quantities differ, .* first; --statistics measures '\
'what chance may move, --score what trainings are worth, and --ulps K says how far elements may be apart$' "runs that "\
"differ" && test "$(wc -l <err)" = 1
run baseline a again -o agree.tsv --reason 'twice the same'
test $code = 0 && grep -q '^# tolerances: 2 runs agree bit for bit: every quantity keeps its bits$' agree.tsv
test_is $? "runs that agree"
run baseline a -o narrow.tsv --reason 'two seeds' --ulps 3 b
refused 2 '^halfulp baseline: b is not within --ulps 3 of a: [0-9]* quantities are beyond, .* first; --statistics '\
'measures what chance may move, --score what trainings are worth$' "runs that --ulps does not "\
"span" && test ! -e narrow.tsv
run baseline a -o span.tsv --reason 'three orders of summation' --ulps 4096 chunks pairs
test $code = 0 && grep -q "^# tolerances: 3 runs; 4096 ulps of each tensor's own format, and what follows from them$" \
	span.tsv && grep -q '^metrics/last/digest.*any' span.tsv && grep -q '^program/train/dense1.xw.*any' span.tsv
test_is $? "runs that it does, and how is in the file"
for r in a chunks pairs; do
	run check $r --baseline span.tsv
	test $code = 0
	test_is $? "$r is within it"
	cat out >>spanned
done
grep -q 'within its tolerance' spanned && grep -q 'not compared: the baseline has no tolerance for it' spanned
test_is $? "and it is said which quantity by what"
run check b --baseline span.tsv
test $code = 1 && grep -q '^# other summation\|^# same summation' out
test_is $? "another seed is not"
run baseline a -o idle.tsv --reason 'more than it learned' --ulps 1e6
test $code = 2 && test ! -e idle.tsv && grep -q 'does not train' err
test_is $? "a reference that barely moved is refused"
mkdir bare && cp -r a/. bare && rm -r bare/analysis
run check bare --baseline base.tsv
test $code = 3 && grep -q 'halfulp analyze' err
test_is $? "a run that was not analyzed: exit 3, and what to do"
run check a
test $code = 2
test_is $? "no --baseline: exit 2"

run diff a again
test $code = 0 && grep -q 'same digest' out && grep -q 'the same in every recorded bit' out
test_is $? "diff: equal runs, exit 0"
run diff a b
test $code = 1 && grep -q 'first step whose state differs is 0' out && grep -q '^step 20, ' out
test_is $? "diff: another seed parts at step 0"
run diff a b --json
test $code = 1 && grep -q '"same": false' out && grep -q '"first_step": 0' out
test_is $? "diff --json"
"$HALFULP" diff a b | grep -q '^  seed: 1 and 2$'
test_is $? "diff: settings that differ come first"
run diff a rate
test $code = 1 && grep -q '^  optimizer:lr: 0.001 and 0.002$' out &&
	grep -q '^  train: call [0-9]* adamw dense1: lr 0.001 -> 0.002$' out && grep -q '^step 20, ' out
test_is $? "diff: an option, the calls that have it, and the call where they diverge"
run diff rate seven
test $code = 1 && grep -q '^no step was traced in both: train seven with --trace steps=20, and' out
test_is $? "diff: the step to trace"
"$HALFULP" train --model convnet:width=0.125 --data size=8,train=64,eval=32 --batch 32 --epochs 1 --quiet net &&
	"$HALFULP" train --model mlp:width=0.25 --data size=8,train=64,eval=32 --batch 32 --epochs 1 --quiet wider
run diff a net
refused 3 'a trains the model mlp and net the model convnet: two models have no calls in common' "diff of two models"
run diff a wider
refused 3 'a and wider train mlp in two sizes: dense1.w has 2048 weights in the one and 4096 in the other' \
	"diff of two sizes of one model"
run diff a
test $code = 2 && test "$(wc -l <err)" = 1
test_is $? "diff of one run: exit 2"

finish

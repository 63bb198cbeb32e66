#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp compare: runs as a user would make them, joined in one table.
. "${srcdir:-.}/t/tool/tap.sh"
o="--model mlp:width=0.1 --data size=10,train=96,eval=40 --batch 16 --epochs 1"
run compare --policy float32,mixed_float16,layer:dense3=float32,compute=bfloat16 --seeds 1,2,3 $o c
test $code = 0 && grep -q '^mixed_float16,layer:dense3=float32 .*±' out && grep -q '^compute=bfloat16 ' out
test_is $? "three policies, the second with an override, over three seeds"
grep -q '^Next: halfulp compare --analyze' out && ! grep -q 'Next: halfulp report' out
test_is $? "which were not analysed: how they would be"
test "$(column c/compare.tsv policy | wc -l)" = 3 && test "$(column c/compare.tsv runs | sort -u)" = 3 &&
	test "$(column c/compare-runs.tsv run | wc -l)" = 9
test_is $? "compare.tsv has a row a policy, compare-runs.tsv a row a run"
run train --policy float32 --seed 2 --quiet $o mine
cmp -s <(column mine/metrics.tsv digest) <(column c/float32-seed2/metrics.tsv digest)
test_is $? "a run of the table is what train makes"
command -v "${PYTHON:-python3}" >/dev/null && {
	"${PYTHON:-python3}" - <<'END' 2>err
import math
def table(f):
    rows = [l.rstrip("\n").split("\t") for l in open(f) if not l.startswith("#")]
    return [dict(zip(rows[0], r)) for r in rows[1:]]
runs, means = table("c/compare-runs.tsv"), table("c/compare.tsv")
by = lambda p: [float(r["accuracy"]) for r in runs if r["policy"] == p]
first = by(means[0]["policy"])
for m in means:
    x = by(m["policy"])
    d = [a - b for a, b in zip(x, first)]
    for got, v in (("accuracy", x), ("accuracy_difference", d)):
        mean = sum(v) / 3
        se = math.sqrt(sum((a - mean) ** 2 for a in v) / 2 / 3)
        assert abs(float(m[got]) - mean) < 1e-12 and abs(float(m[got + "_se"]) - se) < 1e-12, (m["policy"], got)
END
	test_is $? "means, paired differences and standard errors are recomputed from the runs"
}
run compare --policy float32 c
refused 2 'exists already' "an existing folder"
run compare --policy float32,flaot16 d
refused 2 'unknown policy' "an unknown policy"
run compare --policy float32 --seeds 1,x d
refused 2 'seeds' "a seed that is no number"
test ! -e d
test_is $? "and nothing was written"
run compare --policy float32 --data idx:nowhere d
test $code = 3 && test "$(wc -l <err)" = 1
test_is $? "a training that fails gives its own line and exit code"
run compare --policy float32 --analyze --json $o e
test $code = 0 && grep -q '"swamped_share"' out
test_is $? "--analyze --json"
run compare --policy float32,float64 --seeds 1,2 --analyze $o --trace cap=400000 f
test $code = 2 && test "$(column f/compare-runs.tsv failed | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
	" 2 -; 2 train 2;" &&
	test "$(column f/compare.tsv failed | tr '\n' ' ')" = "0 2 " &&
	test "$(column f/compare.tsv accuracy | tail -n 1)" = - &&
	test "$(column f/compare.tsv accuracy | head -n 1)" != - &&
	test "$(grep -c 'float64-seed[12]: failed (train 2)' out)" = 2 &&
	test "$(sed -n 's/: training failed with exit code 2.*//p' out | tr '\n' ' ')" = \
	'f/float64-seed1 f/float64-seed2 '
test_is $? "a training that fails is a row that says so, the other policy has its numbers, and the exit code is its"
grep -qxF 'Next: halfulp report f/float32-seed1' out
test_is $? "analysed runs can be reported, those of the first seed"
run compare --policy float64,float32 --seeds 1,2 --analyze $o --trace cap=400000 first
refused 2 'the trace would take' "where the first training refuses the line, its words alone"
test ! -e first
test_is $? "and nothing is left"
run compare --policy float32,float64 --analyze $o --trace steps=none g
test $code = 3 && test "$(column g/compare-runs.tsv failed | sort -u)" = "analyze 3" &&
	test "$(column g/compare-runs.tsv swamped_share | sort -u)" = - &&
	! column g/compare-runs.tsv accuracy | grep -qx -- - && grep -q 'analysis failed with exit code 3' out
test_is $? "an analysis that fails leaves the training's numbers, and the exit code is its"
# Only one policy casts: a pattern that names casts is told to its run alone, and one that fits nowhere to none
both="--policy float32,mixed_float16 --trace steps=0"
run compare $both --analyze $o --trace 'dense1.w,*@fp16' --count 'dense2.w@fp16' p
cd p && test $code = 0 && grep -q '"trace": "dense1.w"' float32-seed1/manifest.json &&
	grep -q '"trace": "dense1.w,\*@fp16"' mixed_float16-seed1/manifest.json &&
	test "$(ls -- */trace/step-000000.safetensors | wc -l)" = 2 &&
	! grep -q '"count"' float32-seed1/manifest.json &&
	grep -q '"count": "dense2.w@fp16"' mixed_float16-seed1/manifest.json
test_is $? "each run has the patterns of --trace and --count that fit its tensors"
cd ..
test "$(ls p/*/analysis/summary.json | wc -l)" = 2
test_is $? "and is analyzed"
run compare $both --analyze $o --trace '*@fp16' --trace cap=1e6 q
test $code = 0 && test "$(column q/compare-runs.tsv failed | sort -u)" = - && test ! -e q/float32-seed1/analysis &&
	test -e q/mixed_float16-seed1/analysis/summary.json && test -z "$(ls q/float32-seed1/trace)"
test_is $? "where none fits, nothing is recorded or analyzed, and the run is made all the same"
run compare --policy float32,mixed_float16 $o --count '*@fp16,typo' none
refused 2 "pattern 'typo': no tensor of these policies' programs" "a pattern that fits in no run"
test ! -e none
test_is $? "and no run is made"
run train --quiet --policy float32 $o --trace '*@fp16' none
refused 2 "pattern '\*@fp16': no tensor of this program" "a training alone needs a tensor of its own"
# Where no run was made, nothing says hit rates of a classifier
run compare --policy float32,mixed_float16 --model mlp:width=0.1 --data size=8,train=64,eval=8 --batch 8 --steps 3 \
	--init /nonexist i
test $code = 3 && grep -q '^policy  *accuracy %  *difference  *precision %' out &&
	grep -q 'difference: in accuracy, points' out && ! grep -q 'hit rate' out
test_is $? "runs that all failed are a table of accuracies"
# A file may be too short for checkpoints in float64: the first policies' runs all fail, and the last one's have their
# own score
unet="--model unet --data size=8 --model levels=1,width=0.7 --data train=16,eval=8 --batch 4 --steps 2"
(ulimit -f 240 && run compare --policy float64,float64,float32 --seeds 1,2,3 $unet k && exit $code)
test $? = 4 && test "$(grep -c 'float64.*: failed (train 4)' out)" = 6 &&
	test "$(grep -c 'float32-seed[123]: Dice ' out)" = 3 && grep -q 'difference: in Dice, points' out &&
	grep -q '^policy  *Dice %  *difference  *IoU %' out
test_is $? "where only the last runs succeeded the table has their scores"
stat -c %Y.%i k/float32-seed?/manifest.json >made
run compare --policy float64,float64,float32 --seeds 1,2,3 $unet --resume k
test $code = 0 && test "$(grep -c 'float64.*-seed[123]: Dice ' out)" = 6 &&
	test "$(stat -c %Y.%i k/float32-seed?/manifest.json)" = "$(cat made)"
test_is $? "--resume makes the runs again that the machine let fail, and no other"
# seed 1 of this run ended the whole comparison
run compare --policy float16,float32 --analyze --model mlp:width=0.1 --data size=8,train=64,eval=16 --batch 8 \
	--optimizer sgd:lr=1e9 --steps 6 --json h
test $code = 0 && test "$(column h/compare-runs.tsv failed | sort -u)" = - && grep -q '"failed": 0' out
test_is $? "runs that end in NaN are rows as others are"
finish

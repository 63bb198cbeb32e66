#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Promise: A training that was killed, or whose disk was full, goes on to the same bits.
# --resume: a run that was killed, or whose disk was full, goes on to the same bits.
. "${srcdir:-.}/t/tool/tap.sh"
o="--model mlp --policy mixed_float16 --data train=640,eval=64 --batch 32 --data size=16 --model width=0.25 --epochs "\
"6 --checkpoint-every 7 --loss-scale interval=11 --trace steps=3,90,last --count dense2.w* --quiet"
run train $o a
test_is $code "a run that is never stopped"

# Killed somewhere: wait for a checkpoint, then SIGKILL
"$HALFULP" train $o b >/dev/null 2>&1 &
pid=$!
for i in $(seq 400); do
	ls b/checkpoint/*.safetensors >/dev/null 2>&1 && break
	sleep 0.02
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
# A run is resumed from its newest checkpoint, which is there before the manifest says so
at=$(ls b/checkpoint | sed -n 's/^step-0*\([0-9]*\)\.safetensors$/\1/p' | tail -n 1)
test "${at:-0}" -ge 7
test_is $? "another that is killed (after its checkpoint of step ${at:-0}, of 120)"
# edit DIR AWK: the killed run with columns of metrics.tsv changed
edit() {
	cp -r b "$1" && awk -F '\t' -v OFS='\t' '/^#/ { print; next } { '"$2"'; print }' b/metrics.tsv >"$1/metrics.tsv"
}
wait=$(grep -v '^#' b/metrics.tsv | head -n 1 | tr '\t' '\n' | grep -n '^wait_ms$' | cut -d : -f 1)
edit g 'for (i = '"$wait"'; i < NF; i++) $i = $(i + 1); NF--'
edit h '$(NF + 1) = NR'
run train --resume --optimizer lr=0.1 b
refused 2 'keeps its own options' "--resume with an option of the training"
run train --resume --model mlp b
refused 2 'keeps its own options' "and with the first of them"
run train --resume b
test $code = 0 && grep -q '^Compute dtype: float16$' out && grep -q "^Resuming at step $at of 120\$" out
test_is $? "is resumed, and train says where"
# numbers FILE: the columns that are the same whenever a step runs
numbers() { awk -F '\t' '/^#/ { next } !names { for (i = 1; i <= NF; i++) if ($i ~ '\
'/^(ms|wait_ms|samples_per_s|joules|joules_per_sample|watts|utilisation)$/) drop[i] = 1; names = 1 } { for (i = 1; i '\
'<= NF; i++) if (!(i in drop)) printf "%s\t", $i; print "" }' "$1"; }
same() { numbers "$1/metrics.tsv" >m.$1; grep -hv '^#' "$1/grads.tsv" "$1/updates.tsv" "$1/exponents.tsv" \
	"$1/casts.tsv" >g.$1; }
same a; same b
cmp -s m.a m.b && cmp -s g.a g.b
test_is $? "to the same metrics, gradients and digests, bit for bit"
cmp -s a/trace/step-000119.safetensors b/trace/step-000119.safetensors &&
	cmp -s a/trace/step-000003.safetensors b/trace/step-000003.safetensors &&
	cmp -s a/checkpoint/step-000120.safetensors b/checkpoint/step-000120.safetensors
test_is $? "and the same traces and checkpoint"
run verify b
test $code = 0
test_is $? "which verify"
run train --resume g
test $code = 0 && same g && cmp -s m.a m.g &&
	awk -F '\t' '/^[0-9]/ && ($'"$wait"' == "-") != ($1 + 0 < '"$at"') { exit 1 }' g/metrics.tsv
test_is $? "a run begun without wait_ms resumes as well; - stands where it was not measured"
run train --resume --quiet h
refused 3 'columns that this program does not write' "one with a column more"
run train --resume b
test $code = 0 && grep -q 'done already' out
test_is $? "a finished run has nothing to resume"
# The exercise that a run lacks is made then; one that is whole stays as it is, one that is not is made anew
made() { stat -c %i "b/exercise/manifest.json"; }
run train --resume --exercise b
test $code = 0 && test "$(grep -c '^[0-9]' b/exercise/metrics.tsv)" = 48 &&
	grep -q '"finished": true' b/exercise/manifest.json
test_is $? "but the exercise that it lacks"
was=$(made)
run train --resume --exercise b
test $code = 0 && test "$(made)" = "$was"
test_is $? "which is not made twice"
sed -i 's/"finished": true/"finished": false/' b/exercise/manifest.json
run train --resume --exercise b
test $code = 0 && grep -q '"finished": true' b/exercise/manifest.json
test_is $? "but anew where it was killed"
rm -r b/exercise
# It begins 2^13 above the largest exponent of what is computed in, at 2^120 or at the cap, and grows every second step
small="--model mlp --data train=8,eval=2 --batch 4 --data size=8 --model width=0.05 --steps 1 --trace steps=0 "\
"--loss-scale dynamic"
for case in "mixed_float16 268435456" "mixed_bfloat16 1.329227995784916e+36" \
	"mixed_float16 4096 --loss-scale cap=4096"; do
	set -- $case
	of=x$1${4#*=}
	run train $small --policy $1 ${3:+$3 $4} --exercise --quiet $of
	column $of/exercise/metrics.tsv loss_scale >scales
	test $code = 0 && test "$(head -n 1 scales)" = "$2" && test ! -e $of/exercise/trace/step-000000.safetensors &&
		awk -v cap="${4#*=}" 'NR > 1 && $1 > was { grown++; wrong += $1 != 2 * was || NR - last == 1; last = '\
'NR }
			{ was = $1 } END { exit wrong || !grown && !cap }' scales
	test_is $? "the exercise of $* begins there"
done
cp -r b unfinished
sed -i 's/"finished": true/"finished": false/' unfinished/manifest.json
run train --resume unfinished
test $code = 0 && grep -q '"finished": true' unfinished/manifest.json
test_is $? "one killed between its last step and its end is finished"

# Killed before it had a manifest: the same line begins anew; a folder of somebody's is left alone
mkdir -p d/trace d/checkpoint && touch d/program-train.json d/manifest.json.tmp.17 \
	d/trace/step-000003.safetensors.tmp.17
run train ${o/--epochs 6/} --steps 2 --trace steps=none d
test $code = 0 && test -z "$(find d -name '*.tmp.*')" && test -f d/manifest.json
test_is $? "a run killed at its very beginning is begun anew"
mkdir e && touch e/notes.txt
run train $o e
refused 2 'exists already' "a folder that is no run of ours"

# A disk that takes no file above 64 kB: SIGXFSZ ignored, writes fail with EFBIG
(trap '' XFSZ; ulimit -f 60; "$HALFULP" train $o c >out 2>err </dev/null)
code=$?
refused 4 'cannot be written' "a full disk"
if test -f c/manifest.json; then
	test -z "$(find c -name '*.tmp.*')"
	test_is $? "no half files are left"
	run baseline c -o c.tsv --reason 'it looked whole'
	refused 3 'c: its training was not finished' "check of what the full disk left"
	run train --resume c
	test $code = 0 && same c && cmp -s m.a m.c
	test_is $? "and the run resumes, to the same bits"
else
	test_is 1 "the run is resumable"
fi

# No room for the manifest, which names all that is asked for twice: nothing is left of a run that cannot begin
names=$(printf 'dense1.w,%.0s' {1..9000})
(trap '' XFSZ; ulimit -f 60; "$HALFULP" train $o --trace "$names" f >out 2>err </dev/null)
code=$?
refused 4 'f/manifest.json.* cannot be written' "no room for the manifest"
test ! -e f
test_is $? "and nothing is left of the run"
finish

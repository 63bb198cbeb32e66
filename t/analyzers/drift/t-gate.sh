#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gate: its exit code is the last word, whatever part decides it, and its documents are whole on every exit. The
# exercise that train adds: what a baseline that has it sees.
. "${srcdir:-.}/t/tool/tap.sh"
small="--model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 2 --policy mixed_float16"
xml() { "${PYTHON:-python3}" -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1" 2>/dev/null ||
	{ ! command -v "${PYTHON:-python3}" >/dev/null && tail -n 1 "$1" | grep -q '</testsuite>$'; }; }
# documents CODE WHAT: the last gate ended so, and every document is there and whole
documents() {
	local said=0
	test "$code" = "$1" && xml j.xml && head -n 1 t.tap | grep -q "^1\.\.\|^# " &&
		test "$(grep -c '^ok\|^not ok' t.tap)" = "$(sed -n 's/^1\.\.//p' t.tap)" || said=1
	test "$(tr -d ' \n' <q.json | head -c 1)$(tr -d ' \n' <q.json | tail -c 1)" = '[]' && grep -q '^## ' s.md ||
		said=1
	if test "$1" -gt 1; then grep -q 'errors="1"' j.xml &&
		grep -q '^not ok 1 - halfulp [a-z]*: nothing was judged: ' t.tap || said=1; fi
	test $said = 0
	test_is $? "$2: exit $1, and every document is whole"
	cp j.xml "j-$1.xml" && cp t.tap "t-$1.tap" && rm -f j.xml t.tap q.json s.md
}
gate() { run gate --baseline base.tsv -o junit=j.xml -o tap=t.tap -o gitlab=q.json -o summary=s.md "$@"; }

gate runs/a -- $small
documents 3 "no baseline yet"
test -s base.tsv.obtained && test -f runs/a/analysis/replay.tsv && test "$(wc -l <err)" = 1 &&
	grep -q 'where that is right: halfulp baseline runs/a -o base.tsv --reason' err
test_is $? "the run is trained and analyzed, and one line says how to record it"
run baseline runs/a -o base.tsv --reason 'the first'
gate runs/a
documents 0 "a run that is there is taken as it is"
gate runs/b -- $small
documents 0 "the same training"
cmp -s t-0.tap out && test ! -s err
test_is $? "standard output is check's"
run check runs/b --baseline base.tsv --format junit
cmp -s out j-0.xml
test_is $? "and so are the files"
run train --quiet $small --threads 2 --backend simd=scalar runs/threads && run analyze runs/threads
run baseline runs/a runs/b runs/threads -o class.tsv --reason 'threads and instruction sets'
test $code = 0 && grep -q '^the runs agree bit for bit, and this is the entry of all of them$' out &&
	grep -q '^# tolerances: 3 runs agree bit for bit' class.tsv
test_is $? "runs that agree bit for bit share one entry"
run check runs/threads --baseline class.tsv
test $code = 0
test_is $? "which holds each of them"
gate runs/c -- $small --optimizer lr=0.011
documents 1 "another learning rate"
head -n 1 out | grep -q '^# step [0-9]*, .* cause: another setting: optimizer:lr 0.001 -> 0.011, which makes '
test_is $? "its first line says why"
run gate --baseline base.tsv --quiet runs/c
test $code = 1 && test ! -s out && test ! -s err
test_is $? "--quiet: the exit code is the answer"
GITHUB_SHA=abc run gate --baseline base.tsv --quiet --history h -- $small
test $code = 0 && test ! -s out && test -f runs/gate-1/manifest.json &&
	test "$(column h/history.tsv commit | sort -u)" = abc
test_is $? "without a name the run is runs/gate-1"

gate runs/d -- $small --optimizer lr=-1
documents 2 "a training that is refused"
refused 2 'halfulp train: --optimizer lr=-1: a number from 0 ' "which says the one line"
test ! -e runs/d
test_is $? "and makes nothing"
gate runs/a -- $small
documents 2 "a run that is there, and options to train it"
run gate --baseline base.tsv --format yaml runs/a
refused 2 '--format yaml: tap, junit, json, github, gitlab, sarif or markdown is needed' "an unknown format"
run gate runs/a
refused 2 '--baseline FILE is needed' "no baseline"
run gate --baseline base.tsv -o junit=nowhere/j.xml runs/e -- $small
refused 4 'nowhere/j.xml: cannot be written' "a document that cannot be written"
test ! -e runs/e
test_is $? "which is found before the training"
sed '/^metrics.7.loss/d' base.tsv >bad.tsv &&
	run gate --baseline bad.tsv -o junit=j.xml -o tap=t.tap -o gitlab=q.json -o summary=s.md runs/a
documents 3 "a baseline that was changed"
run gate --baseline bad.tsv --format json runs/a
test $code = 3 && grep -q '^{' out && grep -q '"error": *"bad.tsv' out
test_is $? "and --format json is a document that says why"
rm -rf runs/f && cp -r runs/a runs/f && rm runs/f/trace/*.safetensors
gate runs/f
documents 3 "a run whose trace is gone"
(ulimit -f 8 && exec "$HALFULP" gate --baseline base.tsv -o junit=j.xml -o tap=t.tap -o gitlab=q.json -o summary=s.md \
	runs/g -- $small) >out 2>err </dev/null
code=$?
documents 4 "a training that cannot write"
rm -rf runs/f && cp -r runs/a runs/f && rm -f j.xml t.tap q.json
(trap '' XFSZ; ulimit -f 0 && exec "$HALFULP" gate --baseline base.tsv --quiet -o junit=j.xml -o tap=t.tap \
	-o gitlab=q.json runs/f) 2>&1 >out </dev/null | cat >err
test "${PIPESTATUS[0]}" = 4 && grep -q 'j.xml: cannot be written: File too large; nor can 2 other documents$' err &&
	test "$(grep -c '^halfulp gate: ' err)" = 1 && test ! -e j.xml && test ! -e t.tap && test ! -e q.json
test_is $? "where no document can be written, one line says so of all"
mkdir bin && printf '#!/bin/sh\nkill -9 $$\n' >bin/gnuplot && chmod +x bin/gnuplot
GNUPLOT=$dir/bin/gnuplot PATH=$dir/bin:$PATH run gate --baseline base.tsv -o junit=j.xml -o tap=t.tap -o gitlab=q.json \
	-o summary=s.md runs/c
grep -q 'No figure was drawn, since gnuplot was not found' s.md
test_is $? "a gnuplot that dies leaves a sentence"
test "$(grep -h '^set terminal' runs/c/gate/*.gp | sort -u)" = \
	"set terminal svg size 860,340 background '#ffffff' enhanced font 'sans-serif,14'"
test_is $? "and the scripts of pictures of one size"
documents 1 "and the verdict"

# The exercise
"$HALFULP" train --quiet --exercise $small ex && "$HALFULP" analyze ex >/dev/null &&
	"$HALFULP" baseline ex -o ex.tsv --reason 'with an exercise' >said
! grep -q 'no step was skipped\|never grew' said &&
	test "$(grep -c '^exercise/[0-9]*/\(loss\|loss_scale\|skipped\|digest\)' ex.tsv)" = $((48 * 4)) &&
	test "$(grep -c '^exercise/[0-9]*/overflow_call' ex.tsv)" = \
	"$(column ex/exercise/metrics.tsv skipped | grep -c 1)"
test_is $? "a run with an exercise: skipped steps and growth are recorded"
skips=$(column ex/exercise/metrics.tsv skipped | grep -c 1) grown=$(column ex/exercise/metrics.tsv loss_scale |
	awk 'NR > 1 && $1 > was { n++ } { was = $1 } END { print n + 0 }')
test "$skips" -gt 3 && test "$grown" -gt 3 && test "$(column ex/exercise/metrics.tsv step | wc -l)" = 48
test_is $? "it has $skips skipped steps, and the scale grew $grown times"
cmp -s ex/checkpoint/step-000016.safetensors runs/a/checkpoint/step-000016.safetensors &&
	test "$(column ex/metrics.tsv digest)" = "$(column runs/a/metrics.tsv digest)"
test_is $? "the training itself is the same"
run gate --baseline ex.tsv ex2 -- $small --exercise
test $code = 0
test_is $? "again: green"
run verify ex/exercise
test $code = 0 && grep -q '48 steps re-executed' out
test_is $? "the exercise is a run that verify repeats"
run check runs/a --baseline ex.tsv
test $code = 1 && head -n 1 out | grep -q 'Most likely cause: the baseline has an exercise and this run has none: '\
'train with --exercise$'
test_is $? "a run without one: the first line says so"
# What a finite check that never fires leaves: step 0 of the exercise is no longer skipped
if command -v "${PYTHON:-python3}" >/dev/null; then
	cp -r ex blind && unlist blind/exercise metrics.tsv &&
		awk -F'\t' -v OFS='\t' '/^#/ { print; next } !at { for (i = 1; i <= NF; i++) if ($i == "skipped") at '\
'= i; print; next } $1 == 0 { $at = 0 } { print }' ex/exercise/metrics.tsv >blind/exercise/metrics.tsv
	run check blind --baseline ex.tsv
	test $code = 1 && test "$(grep -c '^not ok' out)" = 1 &&
		head -n 1 out | grep -q '^# exercise, step 0, skipped 1 -> 0 (-100 %)\. Most likely cause: the check '\
'for overflow, or the rule of the loss scale: steps of the exercise moved'
	test_is $? "a step of the exercise that is no longer skipped: exit 1, and the cause"
	# Another pixel in the first batch, and another initial bias: what step 0 began with
	for what in input.x dense1.b; do
		rm -rf began && cp -r ex began && unlist began trace/step-000000.safetensors
		"${PYTHON:-python3}" - began/trace/step-000000.safetensors $what <<-'END'
			import json, sys
			raw = bytearray(open(sys.argv[1], 'rb').read())
			n = int.from_bytes(raw[:8], 'little')
			raw[8 + n + json.loads(raw[8:8 + n])[sys.argv[2]]['data_offsets'][0]] ^= 1
			open(sys.argv[1], 'wb').write(raw)
		END
		"$HALFULP" analyze began >/dev/null
		run check began --baseline ex.tsv
		case $what in input*) says="another batch in step 0, though the data are the same: .*: $what" ;; *) \
			says="other values that the training began with, as they are drawn or loaded: $what" ;; esac
		test $code = 1 && head -n 1 out | grep -q "Most likely cause: $says$"
		test_is $? "another $what in step 0: exit 1, and the cause"
	done
else
	skip 3 "python3 is absent"
fi
run train --exercise --policy float32 none
refused 2 '--exercise has no effect without a loss scale' "an exercise of a policy without a loss scale"
finish

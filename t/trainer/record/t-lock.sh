#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One process at a time writes a run, a killed one stops nobody, and what was not finished is known for it.
. "${srcdir:-.}/t/tool/tap.sh"
run() { timeout 60 "$HALFULP" "$@" >out 2>err </dev/null; code=$?; } # what is not refused may train for hours
o="--model mlp --policy mixed_float16 --data train=320,eval=64 --batch 32 --data size=10 --model width=0.1 --threads "\
"1 --quiet"

touch out err
# Several at once into one directory: one trains it, the others say so, even before it has written who it is. It lasts
# longer than a busy machine takes to start them
for i in 1 2 3 4; do
	("$HALFULP" train $o --steps 4000 --trace steps=none a >out.$i 2>err.$i </dev/null; echo $? >code.$i) &
done
wait
test "$(cat code.? | sort | tr -d '\n')" = 0444 && test "$(cat err.? | wc -l)" = 3 &&
	test "$(cat err.? | grep -Ec '^halfulp train: a is being trained by (process [0-9]+ on |another halfulp: )')" \
	= 3
test_is $? "of four trainings into one directory one is done, three are refused: exit 4, one line each"
run verify --quiet a
test $code = 0 && test ! -e a/halfulp.lock
test_is $? "what the one wrote verifies, and its lock file is gone"
for i in 1 2 3; do
	("$HALFULP" train $o --steps 2 --trace steps=none >/dev/null 2>err.$i </dev/null; echo $? >code.$i) &
done
wait
test "$(cat code.[123] | tr -d '\n')" = 000 &&
	test "$(ls runs | tr '\n' ' ')" = "mlp-mixed_float16-1 mlp-mixed_float16-2 mlp-mixed_float16-3 "
test_is $? "without a name each takes a directory of its own"

# While one trains: nobody else writes, and nobody reads half of it
"$HALFULP" train $o --steps 1000000 --checkpoint-every 20 --trace steps=1 b >/dev/null 2>&1 </dev/null &
pid=$!
for i in $(seq 400); do
	ls b/checkpoint/*.safetensors >/dev/null 2>&1 && break
	sleep 0.02
done
run train $o b
refused 4 "b is being trained by process $pid on" "a second training"
run train --resume b
refused 4 "b is being trained by process $pid on" "--resume of it"
run analyze b
refused 4 "b is being trained by process $pid on" "analyze"
run verify b
refused 4 "b is being trained by process $pid on" "verify"
run baseline b -o base.tsv --reason 'too early'
refused 4 "b is being trained by process $pid on" "check"
kill -9 $pid
wait $pid 2>/dev/null
test -e b/halfulp.lock
test_is $? "killed, it leaves its lock file behind"
run train $o b
refused 2 'b exists already' "which does not hide that the run is there"
run analyze b
test $code = 0 && test -s b/analysis/replay.tsv &&
	grep -q '^halfulp analyze: warning: b: its training was not finished' err
test_is $? "and stops no reader: what was traced is analyzed"
run verify --steps 5 b
test $code = 0 && grep -q '5 steps re-executed' out &&
	grep -q '^halfulp verify: warning: b: its training was not finished' err
test_is $? "and its steps are verified, with the same word"
run baseline b -o base.tsv --reason 'it looked whole'
refused 3 'b: its training was not finished (.* of 1000000 steps are recorded): halfulp train --resume b' \
	"an unfinished run is not recorded"
test ! -e base.tsv
test_is $? "and no baseline is written"

# Killed at any time: finished or known for unfinished, and then resumed to the end by whoever takes the lock over
early=0 late=0 bad=0
for i in $(seq 8); do
	"$HALFULP" train $o --epochs 4 --checkpoint-every 3 --trace steps=1 k$i >/dev/null 2>&1 </dev/null &
	pid=$!
	sleep "0.0$(((i * 37) % 100))"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	run baseline k$i -o k.tsv --reason 'never'
	test $code = 3 || bad=1
	if grep -q 'not finished' err; then early=$((early + 1)); else late=$((late + 1)); fi
	if test -f k$i/manifest.json; then run train --resume --quiet k$i; else run train $o --epochs 4 \
		--checkpoint-every 3 --trace steps=1 k$i; fi
	test $code = 0 && grep -q '"finished": true' k$i/manifest.json && test ! -e k$i/halfulp.lock || bad=1
	cut -f1-14,24 k$i/metrics.tsv | grep -v '^#' >m.$i
	cmp -s m.1 m.$i || bad=1
done
test $bad = 0 && test ! -e k.tsv
test_is $? "killed at eight times ($early in the training, $late before or after): never recorded, resumed to the "\
"same bits"

# Reading keeps a writer out as well
run check k1 --baseline k.tsv
refused 3 'halfulp analyze' "a run without its analysis"
if command -v flock >/dev/null; then
	flock -s b/halfulp.lock sleep 5 &
	holder=$!
	for i in $(seq 100); do
		flock -n -x b/halfulp.lock true || break
		sleep 0.02
	done
	run train --resume b
	refused 4 'b is being read by another halfulp' "--resume of what is being read"
	kill $holder 2>/dev/null
	wait $holder 2>/dev/null
else
	skip 1 "flock is absent"
fi

# A bad line makes no directory
run train $o --batch 100000 fresh
test $code = 2 && test ! -e fresh
test_is $? "a line that is wrong leaves no directory"
run train --resume nothing
refused 3 'no run is there' "--resume of nothing"
test ! -e nothing
test_is $? "which makes no directory either"
mkdir empty && run train $o --steps 2 --trace steps=none empty
test $code = 0 && test -f empty/manifest.json
test_is $? "an empty directory is taken"
finish

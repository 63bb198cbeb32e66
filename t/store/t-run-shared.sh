#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Promise: A run has one writer; a second one and readers are told so, or see whole files; a run may be moved, and one
# that may not be written is read.
# HALFULP names the program.
. "${srcdir:-.}/t/tool/tap.sh"
o="--quiet --model mlp --data digits --policy mixed_float16 --batch 8 --model width=0.1 --threads 1"

# A writer that is stopped while it holds the run, so that the others meet it for certain
"$HALFULP" train $o --epochs 400 --checkpoint-every 5 --trace steps=0 run >/dev/null 2>&1 &
pid=$!
for i in $(seq 400); do
	ls run/checkpoint/*.safetensors >/dev/null 2>&1 && break
	sleep 0.02
done
kill -STOP $pid
for command in "train --resume run" "analyze run" "verify run" "check run --baseline b.tsv"; do
	run $command
	refused 4 "run is being trained by process $pid" "${command% run*} beside a writer"
done
run report run -o -
test_is $((code != 0)) "report of what is there so far"
test -z "$(find run -name '*.tmp.*' ! -newer run/halfulp.lock)"
test_is $? "and no file of the run was touched by them"
kill -CONT $pid
kill -KILL $pid
wait $pid 2>/dev/null

"$HALFULP" train $o --steps 12 --checkpoint-every 4 whole >/dev/null && "$HALFULP" analyze whole >/dev/null
"$HALFULP" baseline whole -o b.tsv --reason first >/dev/null
# Readers while an analysis is written again and again: each sees a whole table of either
(for i in 1 2 3 4 5 6; do "$HALFULP" analyze whole >/dev/null 2>&1; done) &
pid=$!
bad=0 seen=0
while kill -0 $pid 2>/dev/null; do
	"$HALFULP" check whole --baseline b.tsv >out 2>err
	code=$?
	seen=$((seen + 1))
	test $code = 0 || { test $code = 4 && grep -q 'another halfulp' err; } || bad=1
	test $bad = 0 || break
done
wait $pid
test $bad = 0 && test $seen -ge 3
test_is $? "$seen readers while six analyses were written: each saw whole tables"

# A run that is moved goes on where it is
"$HALFULP" train $o --steps 600 --checkpoint-every 20 --trace steps=0 a >/dev/null 2>&1 &
pid=$!
for i in $(seq 400); do
	ls a/checkpoint/*.safetensors >/dev/null 2>&1 && break
	sleep 0.01
done
kill -KILL $pid
wait $pid 2>/dev/null
mkdir elsewhere && cp -r a elsewhere/b
"$HALFULP" train --resume a >/dev/null 2>&1
run train --resume elsewhere/b
test $code = 0 && cmp -s a/checkpoint/step-000600.safetensors elsewhere/b/checkpoint/step-000600.safetensors
test_is $? "a run that was moved is resumed to the same bits"

# A run that may not be written; root, who may write everywhere, becomes nobody for that
chmod -R a-w whole
chmod -R a+rX . b.tsv
if touch whole/x 2>/dev/null; then
	rm -f whole/x
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	$as cat b.tsv >/dev/null 2>&1 && $as "$HALFULP" --version >/dev/null 2>&1 || as=none
else
	as=
fi
if test "$as" = none; then
	skip 5 "this user may write everywhere, and nobody may not run $HALFULP here"
else
	held=$(find whole -type f -exec cat {} + | cksum)
	read_only() { $as "$HALFULP" "$@" >out 2>err </dev/null; code=$?; }
	read_only check whole --baseline b.tsv
	test_is $((code != 0)) "a run that may not be written is checked"
	read_only report whole -o -
	test_is $((code != 0)) "and told as text"
	read_only analyze whole
	refused 4 'Permission denied' "analyze of it"
	read_only train --resume whole
	refused 4 'Permission denied' "train --resume of it"
	test "$(find whole -type f -exec cat {} + | cksum)" = "$held"
	test_is $? "and its files are as they were"
fi
chmod -R u+w whole
finish

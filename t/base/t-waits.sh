#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Promise: A pipe as input or output, and a gnuplot that hangs, block nobody for ever; what a command started ends with
# it.
# Nothing waits for itself or for ever: pipes as inputs and as outputs, a gnuplot that hangs. And names that are no
# UTF-8 are shown byte by byte. HALFULP names the program.
. "${srcdir:-.}/t/tool/tap.sh"

"$HALFULP" train --quiet --model mlp --data digits --policy mixed_float16 --steps 3 --batch 8 --model width=0.1 run \
	>/dev/null && "$HALFULP" analyze run >/dev/null &&
	"$HALFULP" baseline run -o b.tsv --reason first >/dev/null
test_is $? "a run is trained, analyzed and recorded"
: >out
timeout 30 "$HALFULP" baseline run -o /dev/stdout --reason first 2>err | cat >out
test "${PIPESTATUS[0]}" = 0 && grep -q '^# reason: first' out && test ! -s err
test_is $? "a baseline that is written into a pipe"
timeout 30 "$HALFULP" check run --baseline b.tsv >want 2>err
timeout 30 "$HALFULP" check run --baseline <(cat b.tsv) >out 2>err
test_is $(($? != 0)) "a baseline that is read from a pipe"
sed 's:/dev/fd/[0-9]*:b.tsv:' out | cmp -s - want
test_is $? "gives the same answer as a file"
timeout 30 "$HALFULP" diff <(printf 'a,b\n1,2\n') b.tsv >out 2>err
code=$?
refused 3 'neither a file nor a run directory' "diff, which maps its files, refuses a pipe"

if command -v gnuplot >/dev/null; then
	printf '#!/bin/sh\nexec gnuplot "$@"\n' >gp
	printf '#!/bin/sh\nexec sleep 1000\n' >asleep
	chmod +x gp asleep
	"$HALFULP" train --quiet --model mlp --data digits --policy mixed_float16 --steps 3 --batch 8 \
		--model width=0.1 --seed 2 third >/dev/null
	GNUPLOT=./gp run report run --out page --format svg
	test $code = 0 && test -f page/loss.svg
	test_is $? "GNUPLOT may be a path from here"
	# gate waits for it too, at the same time
	GNUPLOT=./asleep timeout 60 "$HALFULP" gate --baseline b.tsv third --quiet -o summary=g.md >gate.out 2>gate.err &
	gate=$!
	begun=$(date +%s)
	GNUPLOT=./asleep run report run --out other
	test $(($(date +%s) - begun)) -lt 60
	test_is $? "a gnuplot that hangs is waited for at most a minute"
	refused 4 'gnuplot took more than 15 seconds to say its version and was killed: is ./asleep' "and"
	test ! -d other || test -z "$(ls -A other)"
	test_is $? "nothing of that page is left"
	wait $gate
	test $? = 1 && test -s g.md
	test_is $? "a summary of what drifted is written where gnuplot hangs"
else
	skip 5 "gnuplot is absent"
fi

# gate trains in a process of its own
if test -r "/proc/$$/task/$$/children"; then
	"$HALFULP" gate --baseline b.tsv --quiet long -- --model mlp --data digits --policy mixed_float16 --epochs 10000 \
		>out 2>err </dev/null &
	gate=$!
	for i in $(seq 200); do
		read -r child rest <"/proc/$gate/task/$gate/children"
		test -n "$child" && test -f long/halfulp.lock && break
		sleep 0.1
	done
	kill -9 $gate
	wait $gate 2>/dev/null
	for i in $(seq 100); do test -n "$child" && test -d "/proc/$child" || break; sleep 0.1; done
	test -n "$child" && test ! -d "/proc/$child"
	test_is $? "the training of a gate that was killed ends, too"
	test -d "/proc/$child" && kill -9 "$child"
else
	skip 1 "there is no /proc that names children"
fi

name=$(printf 'r\351n')
if cp -r run "$name" 2>/dev/null; then
	run analyze "$name"
	test $code = 0 && grep -q 'report r\\xe9n$' out
	test_is $? "a name that is no UTF-8 is shown with its bytes"
	run check "$name" --baseline b.tsv --json
	cp out check.json
	run diff run "$name" --json
	cp out diff.json
	for file in check diff; do
		${PYTHON:-python3} -c 'import json, sys; sys.exit(not json.load(open(sys.argv[1])))' $file.json 2>err
		test_is $? "$file --json of it is JSON"
	done
	if command -v gnuplot >/dev/null; then
		run report "$name" --json --format svg
		test $code = 0 && ${PYTHON:-python3} 2>err -c \
			'import json; assert json.load(open("out"))["page"] == "r\\xe9n/report/index.html"'
		test_is $? "and report --json of it names the page"
	fi
else
	skip 4 "this file system takes no name that is not UTF-8"
fi
finish

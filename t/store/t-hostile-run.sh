#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Promise: Links, pipes and devices in a run directory lead nothing out of it and block nobody.
# A run directory may come from anywhere. Links in it lead nothing out of it, and what is no regular file blocks nobody:
# each command ends by itself, with exit 3 or 4 and one line, and what the link led to is as it was. HALFULP names the
# program.
. "${srcdir:-.}/t/tool/tap.sh"

# stays CODES WHAT COMMAND...: the command ends within 20 seconds with one of the exit codes, says one line, and neither
# the file `victim` nor the folder `elsewhere` has changed.
stays() {
	codes=$1 what=$2
	shift 2
	timeout 20 "$HALFULP" "$@" >out 2>err </dev/null
	code=$?
	case " $codes " in *" $code "*) test "$(wc -l <err)" = 1 ;; *) false ;; esac
	test_is $? "$what: exit $code, one line"
	test "$(cat victim)" = precious && test "$(ls elsewhere)" = kept
	test_is $? "$what: what links lead to is as it was"
}

echo precious >victim
mkdir elsewhere
echo kept >elsewhere/kept
"$HALFULP" train --quiet --model mlp --data digits --policy mixed_float16 --steps 3 --batch 8 --model width=0.1 run \
	>/dev/null && "$HALFULP" analyze run >/dev/null
test_is $? "a run is trained and analyzed"
copy() {
	rm -rf r
	cp -r run r
}

copy && ln -s ../victim r/halfulp.lock
stays 3 "a lock that is a link, train" train --resume r
stays 3 "a lock that is a link, analyze" analyze r
copy && mkfifo r/halfulp.lock
stays 3 "a lock that is a FIFO" analyze r
copy && rm r/manifest.json && mkfifo r/manifest.json
for command in analyze report check verify; do
	options=
	test $command = check && options=--baseline=baseline.tsv
	stays 3 "a manifest that is a FIFO, $command" $command $options r
done
for file in metrics.tsv grads.tsv program-train.json; do
	copy && rm r/$file && mkfifo r/$file
	stays 3 "$file that is a FIFO" analyze r
done
copy && rm r/trace/step-000002.safetensors && mkfifo r/trace/step-000002.safetensors
stays 3 "a trace that is a FIFO" analyze r
for table in replay swamping underflow state summary; do
	copy && rm -f r/analysis/$table.*
	ln -s ../../victim r/analysis/$table.tsv && ln -s ../../victim r/analysis/$table.json
	stays "3 4" "analysis/$table that is a link" analyze r
done
copy && rm -r r/analysis && ln -s ../elsewhere r/analysis
stays "3 4" "a folder analysis/ that is a link" analyze r
copy && ln -s ../elsewhere r/report
stays "3 4" "a folder report/ that is a link" report r
copy && rm r/metrics.tsv && mkfifo r/metrics.tsv
stays 3 "metrics.tsv that is a FIFO, report" report r
copy && rm -r r/checkpoint && ln -s ../elsewhere r/checkpoint
stays "3 4" "a folder checkpoint/ that is a link" train --resume r
copy && rm r/metrics.tsv && ln -s ../victim r/metrics.tsv
stays "3 4" "metrics.tsv that is a link" train --resume r
# Who names a link on the command line chose it: the run itself, and a folder for the page, may be one.
ln -s run link
mkdir page
ln -s page to
"$HALFULP" analyze link >out 2>&1 && test ! -L run/analysis
test_is $? "a run that is named by a link is analyzed $(tail -n 1 out)"
"$HALFULP" report link --out to >out 2>&1 && test -f page/index.html
test_is $? "and its page is put where a link leads to"
finish

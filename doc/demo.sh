#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job: one small convolutional network trained under three policies on generated
# digits, two steps of each recorded, recomputed exactly, analyzed; one report over all,
# and a check against a baseline made on the spot. HALFULP names the program; the
# argument, or DEMO, the folder (default: demo); what follows it are more options of
# train. Takes a few minutes on two cores.
set -eu
halfulp=${HALFULP:-halfulp}
out=${1:-${DEMO:-demo}}
test $# = 0 || shift
case $out in '' | / | . | ..) echo "demo: '$out' is no folder to write" >&2; exit 2 ;; esac
if test -e "$out"; then
	test -f "$out/.halfulp-demo" || { echo "demo: $out exists and is no demo of mine; give another folder as argument" >&2; exit 2; }
	rm -rf "$out"
fi
mkdir -p "$out"
touch "$out/.halfulp-demo"
begun=$(date +%s)
policies='float32 mixed_float16 float16'
echo "Three precision policies on one model, 10 000 generated digits, 3 epochs; everything goes to $out/"

runs=
for policy in $policies; do
	echo
	echo "== halfulp train --policy $policy"
	"$halfulp" train --model convnet:width=0.25 --data size=20 --policy "$policy" --epochs 3 --trace steps=2,last "$@" "$out/$policy"
	runs="$runs $out/$policy"
done
for policy in $policies; do
	echo
	echo "== halfulp analyze $out/$policy"
	"$halfulp" analyze "$out/$policy" || test $? = 1 # 1: an output left its bound, which check counts as well
done
echo
echo "== halfulp report $runs"
"$halfulp" report --out "$out/report" $runs
echo
echo "== halfulp check: mixed_float16 against a baseline recorded from it"
"$halfulp" baseline "$out/mixed_float16" -o "$out/baseline.tsv" --reason 'demo'
"$halfulp" check "$out/mixed_float16" --baseline "$out/baseline.tsv" --format tap >"$out/check.tap"
echo "$(grep -c '^ok' "$out/check.tap") quantities as they were, $(grep -c '^not ok' "$out/check.tap" || :) that moved; TAP in $out/check.tap"
echo
echo "Done in $(($(date +%s) - begun)) s. Open $out/report/index.html in a browser, or on a server:"
echo "  $halfulp report -o - $out/mixed_float16"
echo "Every number is in $out/*/analysis/*.tsv; every figure's data and gnuplot script in $out/report/."

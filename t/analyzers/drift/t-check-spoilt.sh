#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check with a baseline that is not what was recorded: one line, which names the row where one is at fault.
. "${srcdir:-.}/t/tool/tap.sh"
"$HALFULP" train --model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 3 --trace \
	steps=20 --quiet --policy mixed_float16 a && "$HALFULP" analyze a >/dev/null &&
	run baseline a -o base.tsv --reason 'the first one'
test $code = 0
test_is $? "a run and its baseline"

line=$(grep -n "^metrics/23/loss$(printf '\t')" base.tsv | cut -d: -f1) row=$(grep -v '^#' base.tsv |
	grep -n "^metrics/23/loss$(printf '\t')" | cut -d: -f1)
spoil() { # COLUMN TEXT PATTERN WHAT
	awk -F'\t' -v OFS='\t' -v at="$1" -v v="$2" '$1 == "metrics/23/loss" { $at = v } { print }' base.tsv >spoilt.tsv
	run check a --baseline spoilt.tsv
	refused 3 "spoilt.tsv: row $((row - 1)), metrics/23/loss: $3" "$4"
}
spoil 2 9.99 'its value and its hex column are different numbers' "9.99 beside the old hex"
spoil 3 0x1p+0 'its value and its hex column are different numbers' "another hex beside the old value"
spoil 3 zebra 'its hex column is no hex float' "hex garbage"
spoil 3 0x1p+0z 'its hex column is no hex float' "hex with a tail"
spoil 3 - 'its hex column is no hex float' "no hex"
spoil 2 - 'its hex column has a number and its value column has none' "no value beside a hex"
for bad in inf nan -1 '' 1e999; do
	spoil 7 "$bad" 'its tolerance is no finite number from 0' "tolerance '$bad'"
	spoil 6 "$bad" 'its ulps are no number from 0 to 2^52' "ulps '$bad'"
done
spoil 4 sideways "must_not_move is 'sideways'" "an unknown side"
spoil 5 fp99 "ulps_of is 'fp99', which is no format" "an unknown format"
awk -F'\t' -v OFS='\t' '$1 == "metrics/23/loss" { $7 = 1e9 } { print }' base.tsv >wide.tsv
run check a --baseline wide.tsv
refused 3 'its checksum is .* the file was changed after it was recorded' "a tolerance that was made wider by hand"
head -n "$line" base.tsv >cut.tsv
run check a --baseline cut.tsv
refused 3 'cut.tsv: it has [0-9]* quantities and its head says [0-9]*: the file was cut short or changed' \
	"cut at the end of a line"
head -c -3 base.tsv >cut.tsv
run check a --baseline cut.tsv
refused 3 'cut short' "cut within a line"
sed 's/^# halfulp baseline: 6/# halfulp baseline: 7/' base.tsv >newer.tsv
run check a --baseline newer.tsv
refused 3 'use a newer halfulp' "a newer baseline"
sed 's/^# halfulp baseline: 6/# halfulp baseline: 1/; /^# rows:/d; /^# xxh3:/d' base.tsv >older.tsv
run check a --baseline older.tsv
refused 3 'version 1, which holds less.*record it again' "one of the version before the checksum"
sed 's/^# reason: .*/# reason: another/' base.tsv >reason.tsv
run check a --baseline reason.tsv
refused 3 'its checksum is .* the file was changed after it was recorded' "another reason than it was recorded for"

finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# accumulate as a user types it, with the published numbers of sums in low precision.
export LC_ALL=C
n=0 failed=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
case $HALFULP in /*) ;; *) HALFULP=$PWD/${HALFULP:-halfulp} ;; esac

test_is() { # 0 where it holds, what
	n=$((n + 1))
	if test "$1" = 0; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		failed=1
		sed 's/^/# out: /' "$dir/out" | head -n 8
		sed 's/^/# err: /' "$dir/err" | head -n 5
	fi
}
run() { "$HALFULP" accumulate "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
# A field of the last row of a table: format sum n value exact error_ulps relative first stops share
field() { tail -n 1 "$dir/out" | cut -f "$1"; }
sum_is() { # value, first swamped, last that moved, arguments
	want="$1 $2 $3"
	shift 3
	run --table "$@"
	test $code = 0 && test "$(field 4) $(field 8) $(field 9)" = "$want"
	test_is $? "$*: $want"
}
refuses() { # code, what must stand in the line, arguments
	want=$1 word=$2
	shift 2
	run "$@"
	test $code = "$want" && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1 && grep -qF -- "$word" "$dir/err"
	test_is $? "refused with one line, exit $want: $*"
}

# The harmonic series stagnates (Higham's and Croci's examples)
sum_is 7.0859375 513 512 --terms harmonic --n 20000 --format fp16
sum_is 5.0625 65 64 --terms harmonic --n 20000 --format bf16
sum_is 3 9 8 --terms harmonic --n 5000 --format e4m3
sum_is 15.403682708740234 2097152 2097151 --terms harmonic --n 2200000 --format fp32
run --table --terms harmonic --n 20000 --format bf16 --sum fma,mode=SR
awk -v e="$(field 7)" 'BEGIN { exit !(e < 0.1) }'
test_is $? "with stochastic rounding it does not"
# A sum of ones stops at 2^p
sum_is 256 257 256 --terms ones --n 5000 --format bf16
sum_is 2048 2049 2048 --terms ones --n 5000 --format fp16
sum_is 1024 1025 1024 --terms ones --n 5000 --format e6m9
sum_is 16777216 16777217 16777216 --terms ones --n 16777300 --format fp32
for sum in chunk:64 pairwise kahan neumaier dot2 fabsum:64 splitk:8 promote:64 tc:volta tc:ampere,out=fp16 tc:hopper; do
	sum_is 4096 - - --terms ones --n 4096 --format fp16 --sum $sum
done
# Wang et al. 2018: (1,6,9), mean 1 and deviation 1, 65536 terms: plain stalls at 4096
run --table --terms uniform:-0.7320508075688772,2.732050807568877 --n 65536 --format e6m9 --sum fma
test "$(field 4)" = 4096 && test "$(field 9)" != -
test_is $? "mean 1, deviation 1 in e6m9 stalls at 4096"
run --table --terms uniform:-0.7320508075688772,2.732050807568877 --n 65536 --format e6m9 --sum chunk:32
awk -v e="$(field 7)" 'BEGIN { exit !(e < 0.01) }'
test_is $? "in chunks of 32 it stays within 1 %"
run --table --terms uniform:-0.7320508075688772,2.732050807568877 --n 65536 --format e6m9 --sum fma,mode=SR
awk -v e="$(field 7)" 'BEGIN { exit !(e < 0.05) }'
test_is $? "and with stochastic rounding within 5 %"
# Blanchard, Higham, Mary 2020: error against block size is a U with its minimum near sqrt(n)
for b in 2 128 16384; do run --table --terms uniform:0,1 --n 16384 --format bf16 --sum chunk:$b; field 7; done >"$dir/u"
awk 'NR == 1 { a = $1 } NR == 2 { b = $1 } NR == 3 { exit !(b < a / 4 && b < $1 / 4) }' "$dir/u"
test_is $? "blocks of sqrt(n) err least: $(tr '\n' ' ' <"$dir/u")"
# Gupta et al. 2015: 200 updates of 2^-12 move 1 in fp16 not at all to nearest
run --table --terms constant:2^-12 --n 200 --format fp16
test "$(field 4)" = 0.048828125 && test "$(field 8)" = -
test_is $? "200 updates of 2^-12 alone are exact"

run --terms normal:0,1 --n 1000 --seed 7 --json
test $code = 0 && test "$(grep -c '"first_swamped"' "$dir/out")" = 3 && grep -q '"bits": "0x' "$dir/out"
test_is $? "--json: a row a format"
cp "$dir/out" "$dir/first"
run --terms normal:0,1 --n 1000 --seed 7 --json
cmp -s "$dir/out" "$dir/first"
test_is $? "random terms are a function of the seed"
run --terms normal:0,1 --n 1000 --seed 8 --json
! cmp -s "$dir/out" "$dir/first"
test_is $? "and another seed gives others"
run --terms ones --n 1000 --format fp16 --table --sum fma --sum kahan
test "$(wc -l <"$dir/out")" = 23 && test "$(awk -F'\t' 'NR > 1 && $3 == 512 { print $4 }' "$dir/out" | tr '\n' ' ')" = "512 512 "
test_is $? "--table: every power of two, then n, for each sum"

refuses 2 'did you mean fma' --sum fmaa
refuses 2 'did you mean hopper' --sum tc:hoper
refuses 2 'did you mean harmonic' --terms harmonc
refuses 2 'two numbers' --terms uniform:1
refuses 2 'a number' --terms constant
refuses 2 '--n' --n 0
refuses 2 'exclude' --json --table
refuses 2 'no instruction' --format fp32 --sum tc:volta
refuses 2 'path=' --format e4m3 --sum tc:hopper
refuses 3 'none.npy' --terms "$dir/none.npy"

echo "1..$n"
if test $failed = 0; then rm -rf "$dir"; else echo "# files kept in $dir"; fi
exit $failed

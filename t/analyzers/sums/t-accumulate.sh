#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# accumulate as a user types it: series, starts, second factors, ranges of lengths, tables, JSON,
# refusals. What papers report of sums stands in t/papers/.
. "${srcdir:-.}/t/tool/tap.sh"
run() { "$HALFULP" accumulate "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
refuses() { # code, what must stand in the line, arguments
	run "${@:3}"
	refused "$1" "$2" "${*:3}"
}
sum_is() { # value, exact, first swamped, last that moved, arguments
	run --table "${@:5}"
	got="$(last out value) $(last out exact) $(last out first_swamped) $(last out stagnation_term)"
	test $code = 0 && test "$got" = "$1 $2 $3 $4"
	test_is $? "${*:5}: $1 $2 $3 $4"
}

# By hand: fp16 has 11 bits
sum_is 2048 2060 2049 2048 --terms ones --n 2060 --format fp16
sum_is 2060 2060 - - --terms ones --n 2060 --format fp16 --sum kahan
sum_is 2 4 5 - --terms constant:0.5 --n 8 --format e2m1
sum_is 1 1.048828125 1 0 --terms start=1 --terms constant:2^-12 --n 200 --format fp16
sum_is 2 2 - - --terms start=1 --terms constant:2^-3 --n 8 --format fp16
sum_is 0.5 0.5 - - --terms constant:0.5 --terms times=constant:0.25 --n 4 --format fp16 --sum sequential
sum_is 1 1 - - --terms ones --terms times=harmonic --n 1 --format bf16
sum_is 0 0 - - --terms constant:0 --n 5 --format fp16
sum_is inf 120000 - - --terms constant:60000 --n 2 --format fp16
# products below half the smallest subnormal vanish in sequential, not in fma
sum_is 0 2.384185791015625e-07 - - --terms constant:2^-13,times=constant:2^-13 --n 16 --format fp16 --sum sequential
sum_is 2.384185791015625e-07 2.384185791015625e-07 - - --terms constant:2^-12,times=constant:2^-12 --n 4 --format fp16
# A tensor core aligns in a block: each 2^-24 is chopped beside 1
sum_is 1 1.0000004768371582031 1 0 --terms start=1 --terms constant:2^-24 --n 8 --format fp16 --sum tc:volta
run --terms ones --n 1000 --format fp16 --table --sum fma --sum kahan
test "$(grep -vc '^#' out)" = 23 && test "$(awk -F'\t' '$4 == 512 { print $5 }' out | tr '\n' ' ')" = "512 512 "
test_is $? "--table: every power of two, then n, for each sum"
grep -q '^# command: halfulp accumulate --terms=ones --n=1000 --format=fp16 --table --sum=fma --sum=kahan$' out &&
	grep -q '^# seed: 1$' out
test_is $? "and its provenance"
run --terms uniform:0,1 --n 1000 --format fp16 --table --sum chunk:1..64 --sum fabsum:3..24,acc=fp32
test $code = 0 && test "$(column out length | tr '\n' ' ')" = "1 2 4 8 16 32 64 3 6 12 24 " &&
	test "$(column out n | sort -u)" = 1000
test_is $? "a range of lengths: a row each"
awk -F'\t' '!/^#/ && n++ && !($9 <= $10) { bad++ } END { exit bad || n < 2 }' out
test_is $? "no backward error above its bound"
run --terms normal:0,1 --n 4096 --format fp32,bf16 --table --sum fma --sum pairwise --sum kahan --sum dot2 --sum \
	neumaier --sum splitk:8 --sum promote:16 --sum tc:ampere
test_is $((code != 0)) "every model at once"
test "$(column out format | sort | uniq -c | tr -s ' \n' ' ')" = " 104 bf16 104 fp32 " &&
	awk -F'\t' '!/^#/ && n++ && !($9 <= $10) { bad++ } END { exit bad }' out
test_is $? "208 rows, none above its bound"

run --terms normal:0,1 --n 1000 --seed 7 --json
test $code = 0 && test "$(grep -c '"first_swamped"' out)" = 3 && grep -q '"bits": "0x' out
test_is $? "--json: a row a format"
cp out first
run --terms normal:0,1 --n 1000 --seed 7 --json
cmp -s out first
test_is $? "random terms are a function of the seed"
run --terms normal:0,1 --n 1000 --seed 8 --json
! cmp -s out first
test_is $? "and another seed gives others"
run --terms harmonic --n 10 --seed 7
refused 2 'seed' "--seed where nothing is drawn"
OMP_NUM_THREADS=1 run --terms normal:0,1 --n 1000 --seed 7 --json
cmp -s out first
test_is $? "and not of the threads"
run --terms uniform:0,1 --terms times=uniform:0,1 --n 100000 --format fp64 --json
holds 'x > 24500 && x < 25500' x "$(field out value)"
test_is $? "the second factors are drawn apart: $(field out value) is near n/4, not n/3"
run --terms ones --n 300 --table --json --format bf16
test $code = 0 && test "$(grep -c '"n":' out)" = 10 && test "$(field out stagnation_term)" = 256
test_is $? "--table --json: the table's rows"

# A file's numbers, its first N, and two files that do not match
npy_of x.npy "(5,)" 1 2 3 4 5
npy_of y.npy "(5,)" 1 -1 1 -1 1
npy_of short.npy "(3,)" 1 1 1
npy none.npy "(0,)"
sum_is 15 15 - - --terms x.npy --format fp16
sum_is 3 3 - - --terms x.npy --terms times=y.npy --format fp16
sum_is 6 6 - - --terms x.npy --terms times=short.npy --n 3 --format fp16
refuses 3 'short.npy has 3 elements' --terms x.npy --terms times=short.npy
refuses 3 'no elements' --terms none.npy
head -c 100 x.npy >cut.npy
refuses 3 'cut short' --terms cut.npy
refuses 3 'none-here.npy' --terms "$dir/none-here.npy"

refuses 3 'x.npy has 5 elements where --n asks for 6' --terms x.npy --n 6
printf 'no archive' >junk.npz
refuses 3 'junk.npz: no .npz (zip archive)' --terms junk.npz:a

# --seeds: each seed's rows are those that it has alone, drawn terms and drawn roundings too
run --table --terms uniform:0,1 --n 500 --format bf16,fp16 --sum kahan --sum fma,mode=SR --seed 7 --seeds 3
grep -v '^#' out >several
for seed in 7 8 9; do
	run --table --terms uniform:0,1 --n 500 --format bf16,fp16 --sum kahan --sum fma,mode=SR --seed $seed
	test $seed = 7 && grep -v '^#' out || grep -v '^#' out | tail -n +2
done >alone
test "$(wc -l <alone)" = 121 && cmp -s several alone && test "$(tail -n +2 alone | cut -f5,15 | sort -u | wc -l)" -gt 60
test_is $? "--seeds 3: the rows of each seed alone, one below the other"

# Steps of the bar: 1 + ... + 512 + 700 terms in each of 3 formats, exactly and by one model, the other's range being of
# all terms alone
if command -v python3 >/dev/null && python3 -c 'import pty' 2>/dev/null; then
	set -- accumulate --table --n 700 --sum fma --sum chunk:4..8
	"$HALFULP" "$@" >plain
	python3 - "$HALFULP" "$@" >shown 2>bar <<-'END'
	import os, pty, sys
	master, slave = pty.openpty()
	if os.fork() == 0:
	    os.dup2(slave, 2)
	    os.execv(sys.argv[1], sys.argv[1:])
	os.close(slave)
	try:
	    while piece := os.read(master, 65536):
	        sys.stderr.buffer.write(piece)
	except OSError:
	    pass
	END
	cmp -s plain shown && grep -q "/$((3 * (2 * (1023 + 700) + 2 * 700))) " bar
	test_is $? "a bar on a terminal counts terms, and what is printed is the same"
fi

refuses 2 'did you mean fma' --sum fmaa
refuses 2 'a summation model is needed' --sum ''
refuses 2 'before or behind a comma' --sum fma,
refuses 2 'before or behind a comma' --sum kahan,,acc=fp16
refuses 2 'acc= is there twice' --sum fma,acc=fp16,acc=fp32
refuses 2 'did you mean hopper' --sum tc:hoper
refuses 2 'did you mean harmonic' --terms harmonc
refuses 2 'did you mean ones' --terms times=onse
refuses 2 'two numbers' --terms uniform:1
refuses 2 'two numbers' --terms normal:1,nan
refuses 2 'a number' --terms constant
refuses 2 'takes nothing' --terms ones:3
refuses 2 '--n' --n 0
refuses 2 '--seeds' --terms uniform:0,1 --seeds 0
refuses 2 '--terms start=' --terms start=one
refuses 2 'range' --sum chunk:8..4
refuses 2 'range' --sum chunk:8..
refuses 2 'takes no :N' --sum kahan:2..4
refuses 2 'no instruction' --format fp32 --sum tc:volta
refuses 2 'path=' --format e4m3 --sum tc:hopper
refuses 2 'at most 4096 rows' --n 10000 --every 2 --table
refuses 2 'terms are given' harmonic
finish

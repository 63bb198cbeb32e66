#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fast engine against MPFR: replay's and the other tables of small runs, digit for digit, every
# output judged, under policies of every kind; that threads change nothing; and what the tables say
# of how they were made.
. "${srcdir:-.}/t/tool/tap.sh"

# What is compared: no provenance, and nothing of the exact step
rows() { grep -v '^#' "$1"; }

# How many outputs the exact product of matrices gave, and how many the products of the table have
products() { sed -n 's/^# whole products: \([0-9]*\) .*/\1/p' "$1" | tr '\n' ' '; awk -F '\t' '$3 == "matmul" || $3 ~ /^conv2d/ { n += $10 } END { print n }' "$1"; }

# same RUN WHAT: analyze RUN by both engines
same() {
	local only=replay,swamping,state,underflow bad=0 f
	run analyze --only $only --sample all --no-propagate --engine auto --elements auto.rows "$1" || true
	auto=$code
	cp -r "$1/analysis" "$1.auto"
	run analyze --only $only --sample all --no-propagate --engine mpfr --elements mpfr.rows --threads 1 "$1"
	for f in replay faults swamping swamping-ratio state underflow exponents; do
		cmp -s <(rows "$1.auto/$f.tsv") <(rows "$1/analysis/$f.tsv") || { bad=1; echo "# $f.tsv differs:"; diff <(rows "$1.auto/$f.tsv") <(rows "$1/analysis/$f.tsv") | head -n 4 | cut -c 1-300 | sed 's/^/# /'; }
	done
	cmp -s auto.rows mpfr.rows || bad=1
	run analyze --only $only --sample all --no-propagate --engine exact "$1"
	products "$1/analysis/replay.tsv" >>products.txt
	for f in replay swamping state underflow; do cmp -s <(rows "$1.auto/$f.tsv") <(rows "$1/analysis/$f.tsv") || { bad=1; echo "# exact: $f.tsv differs"; }; done
	rm -f auto.rows mpfr.rows
	run analyze --only replay --sample all --no-propagate --threads 2 "$1"
	cmp -s <(rows "$1.auto/replay.tsv") <(rows "$1/analysis/replay.tsv") || bad=1
	run analyze --only replay --sample 7 --no-propagate "$1"
	cp "$1/analysis/replay.tsv" some.tsv
	run analyze --only replay --sample 7 --no-propagate --engine mpfr "$1"
	cmp -s <(rows some.tsv) <(rows "$1/analysis/replay.tsv") || bad=1
	test "$bad$auto" = 00
	test_is $? "$2: all three engines make the same tables, of all outputs and of a sample, with any number of threads"
}

for policy in float32 float64 mixed_float16 float16 mixed_bfloat16 mixed_e4m3; do
	run train --model convnet:width=0.0625 --data size=8,train=64,eval=16 --batch 8 --quiet --steps 3 --trace steps=last --policy $policy convnet-$policy
	same convnet-$policy "convnet, $policy"
done
for policy in float32 float16 mixed_e4m3; do
	run train --model mlp:width=0.05 --data size=8,train=64,eval=16 --batch 8 --quiet --steps 3 --trace steps=last --policy $policy mlp-$policy
	same mlp-$policy "mlp, $policy"
done
run train --model mlp:width=0.05 --data size=8,train=64,eval=16 --batch 8 --quiet --steps 3 --trace steps=last --policy mixed_float16 --accumulate tc:hopper tc
same tc "mlp, sums by a tensor core's model"

awk '$1 != $2 || $1 < 100 { bad = 1; print "# " $0 } END { exit bad || NR < 10 }' products.txt
test_is $? "under the exact engine every output of every product is from exact products of matrices: $(tr '\n' ';' <products.txt)"

run analyze --only replay --sample all convnet-float32
t=convnet-float32/analysis/replay.tsv
methods=$(sed -n 's/^# methods: //p' $t) again=$(sed -n 's/^# judged again: //p' $t)
all=$(echo "$methods" | sed 's/ values.*//')
parts=$(echo "$methods" |
	sed 's/^[0-9]* values: \([0-9]*\) exact[^,]*, \([0-9]*\) certified[^,]*, \([0-9]*\) by.*/\1 + \2 + \3/')
test "$all" -gt 1000 && test "$all" = $((parts))
test_is $? "the header counts how each value was judged: $parts = $all"
test "${again%% *}" -gt 50 && echo "$again" | grep -q ', 0 disagreed$'
test_is $? "a sample is judged again by MPFR in every run: $again"
kernels=$(sed -n 's/^# kernels: //p' $t)
echo "$kernels" | grep -q ' grids.*; BLAS '
test_is $? "the header says which kernels ran and which BLAS there is: ${kernels%%;*}"
step=$(sed -n 's/^# exact step: //p' $t)
echo "$step" | grep -Eq '^[0-9]+ tensors of 1 steps; .* 0 steps by MPFR whole.*; [0-9]{2,} values of double-double calls judged by MPFR, 0 outside their bound$'
test_is $? "and how the exact step came to its figures"
# Memory: a trace larger than what may be allocated is read as pages of its file; and where even little is refused, one
# line says so
if prlimit --data=64000000 "$HALFULP" --version >/dev/null 2>&1; then
	run train --quiet --model convnet:width=0.25 --data train=300,eval=20 --steps 5 --trace steps=0,1,2,3,4 \
		--policy float32 long
	test $code = 0 && test "$(cat long/trace/*.safetensors | wc -c)" -gt 35000000 && timeout 600 prlimit \
		--data=20000000 "$HALFULP" analyze --only replay --sample 20 --threads 1 long >out 2>err
	test_is $? "a trace of 35 MB is judged where 20 MB may be allocated"
	# OpenMP's library ends the program in words of its own where the last bytes are those that it asks for.
	told=0
	for most in 1900000 2300000 2700000; do
		timeout 120 prlimit --data=$most "$HALFULP" analyze --only replay --sample 20 --threads 1 long >out 2>err
		if test $? = 4; then
			test "$(wc -l <err)" = 1 && grep -q 'no memory for' err && told=$((told + 1))
		else
			grep -q 'libgomp: Out of memory' err || told=-9
		fi
	done
	test $told -ge 2
	test_is $? "where 2 MB or so may be allocated: exit 4, one line"
	rm -rf long
	# One step larger than the memory: recorded values in the file of the trace, exact ones in files of no name
	run train --quiet --model convnet:width=0.25 --data train=384,eval=20 --batch 384 --steps 1 --trace steps=0 \
		--policy float32 wide
	run analyze --only replay --sample 20 --threads 1 wide
	rows wide/analysis/replay.tsv >wide.rows
	(ulimit -c 0; timeout 600 prlimit --data=20000000 "$HALFULP" analyze --only replay --sample 20 --threads 1 wide >out 2>err)
	test $? = 0 && test "$(cat wide/trace/*.safetensors | wc -c)" -gt 30000000 &&
		cmp -s wide.rows <(rows wide/analysis/replay.tsv)
	test_is $? "one step of 33 MB, 200 MB of exact values, is judged where 20 MB may be allocated: the same table"
	(trap '' XFSZ; timeout 600 prlimit --data=20000000 --fsize=2000000 "$HALFULP" analyze --only replay --sample 20 --threads 1 wide >out 2>err)
	test $? = 4 && test "$(wc -l <err)" = 1 && grep -q 'no room for [0-9]* bytes of the exact step.s values.* in a file in ' err
	test_is $? "where a file may not be as large: exit 4, one line: $(cut -c 1-150 err)"
	rm -rf wide
else
	skip 4 "no prlimit, or an address space that a limit does not fit"
fi
finish

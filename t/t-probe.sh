#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# probe finds what Fasi, Higham, Mikaitis and Pranesh 2021 (PeerJ CS 7:e330) and those after them
# report of tensor cores: block width, extra alignment bits, roundings, monotonicity.
export LC_ALL=C
n=0 failed=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
case $HALFULP in /*) ;; *) HALFULP=$PWD/${HALFULP:-halfulp} ;; esac

test_is() { # 0 where it holds, what
	n=$((n + 1))
	if test "$1" = 0; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		failed=1
		sed 's/^/# out: /' "$dir/out" | head -n 15
		sed 's/^/# err: /' "$dir/err" | head -n 5
	fi
}
run() { "$HALFULP" probe "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
value() { sed -n "s/^$1  *//p" "$dir/out"; }

while IFS='|' read -r model width extra out monotone; do
	run --model "$model"
	test $code = 0 && test "$(value 'products in a block')|$(value 'extra alignment bits')|$(value 'rounding of the output')|$(value monotone)" = "$width|$extra|$out|$monotone" &&
		test "$(value 'rounding of aligned terms')" = "toward zero" && test "$(value normalised)" = "once, at the end" &&
		test "$(value 'input subnormals')" = kept && test "$(value 'output subnormals')" = kept
	test_is $? "$model: $width products a block, $extra extra bits, rounds $out, monotone: $monotone"
done <<'ROWS'
tc:volta|4|0|toward zero|no
tc:turing|8|1|toward zero|no
tc:ampere|8|1|toward zero|no
tc:ampere,in=bf16|8|1|toward zero|no
tc:ampere,in=tf32|4|1|toward zero|no
tc:ada|8|1|toward zero|no
tc:ada,in=e4m3|16|0|toward zero|no
tc:hopper|16|2|toward zero|no
tc:hopper,in=tf32|8|2|toward zero|no
tc:hopper,in=e5m2,path=wgmma|32|0|toward zero|no
tc:hopper,out=fp16|16|15|to nearest even|not refuted
tc:blackwell|16|2|toward zero|no
tc:blackwell,in=e4m3,path=tcgen05|32|2|toward zero|no
ROWS
run --model tc:hopper,in=e4m3,path=mma
test "$(value 'rounding of the output')" = "to nearest even" && test "$(value normalised)" = "in between"
test_is $? "fp8 by mma.sync on Hopper is no block: C is added to nearest"
run --model tc:volta,out=fp16
test $code = 0 && test "$(value 'extra alignment bits')" = 13 && test "$(value NaN)" = 0x7fff
test_is $? "fp16 output"
run --model tc:ampere --json
test $code = 0 && grep -q '"products in a block": 8' "$dir/out"
test_is $? "--json"
for bad in fma tc:ampre tc:hopper,in=e4m3 tc:ampere,in=e2m1; do
	run --model $bad
	test $code = 2 && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1
	test_is $? "refused with one line, exit 2: $bad"
done

echo "1..$n"
if test $failed = 0; then rm -rf "$dir"; else echo "# files kept in $dir"; fi
exit $failed

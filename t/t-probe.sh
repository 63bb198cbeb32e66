#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# probe finds what X. Li et al. 2024 (FTTN) and the later studies report of tensor cores after the A100: block width,
# extra alignment bits, roundings, monotonicity. The table of Fasi et al. stands in t/papers/fasi-2021.sh.
. "${srcdir:-.}/t/tap.sh"
run() { "$HALFULP" probe "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
value() { sed -n "s/^$1  *//p" out; }

while IFS='|' read -r model width extra out monotone; do
	run --model "$model"
	test $code = 0 && test "$(value 'products in a block')|$(value 'extra alignment bits')|$(value 'rounding of the output')|$(value monotone)" = "$width|$extra|$out|$monotone" &&
		test "$(value 'rounding of aligned terms')" = "toward zero" && test "$(value normalised)" = "once, at the end" &&
		test "$(value 'input subnormals')" = kept && test "$(value 'output subnormals')" = kept
	test_is $? "$model: $width products a block, $extra extra bits, rounds $out, monotone: $monotone"
done <<'ROWS'
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
test $code = 0 && test "$(field out 'products in a block')" = 8 && test "$(grep -c '"verdict": "PASS"' out)" = 37
test_is $? "--json"

# The probes P1 to P32 of the literature with the values it tabled: how many a model can answer, and how many stay open
while IFS='|' read -r model pass open; do
	run --model "$model"
	test $code = 0 && ! grep -q 'FAIL$' out && test "$(grep -c 'PASS$' out)|$(grep -c '^unsettled' out)" = "$pass|$open"
	test_is $? "$model: $pass probes give the tabled value, $open questions are open"
done <<'ROWS'
tc:volta|34|1
tc:turing|37|2
tc:ampere|37|1
tc:ampere,in=bf16|38|2
tc:ampere,in=tf32|36|3
tc:ampere,in=fp64|4|1
tc:ada|37|1
tc:ada,in=e5m2|18|1
tc:volta,out=fp16|15|4
tc:hopper|39|1
tc:hopper,in=bf16|40|2
tc:hopper,in=tf32|38|4
tc:hopper,out=fp16|15|4
tc:hopper,in=e5m2,path=wgmma|18|2
tc:hopper,in=e4m3,path=mma|5|2
tc:blackwell,in=bf16|40|2
tc:blackwell,in=e5m2,path=tcgen05|37|2
tc:rtxblackwell|39|2
ROWS
for bad in fma tc:ampre tc:hopper,in=e4m3 tc:ampere,in=e2m1; do
	run --model $bad
	refused 2 '' "$bad"
done
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# probe finds what X. Li et al. 2024 (FTTN) and the later studies report of tensor cores after the A100: block width,
# extra alignment bits, roundings, monotonicity. The table of Fasi et al. stands in t/papers/fasi-2021.sh.
. "${srcdir:-.}/t/tool/tap.sh"
run() { "$HALFULP" probe "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }
value() { sed -n "s/^$1  *//p" out; }

while IFS='|' read -r model width extra out monotone; do
	run --model "$model"
	test $code = 0 && test "$(value 'products in a block')|$(value 'extra alignment bits')|$(value \
		'rounding of the output')|$(value monotone)" = "$width|$extra|$out|$monotone" &&
		test "$(value 'rounding of aligned terms')" = "toward zero" &&
		test "$(value normalised)" = "once, at the end" &&
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
for in in fp16 bf16 tf32; do
	run --model tc:blackwell,in=$in
	test $code = 0 && test "$(value parameters)" = 'measured elsewhere' && grep -q '^source .*B200 by mma.sync' out
	test_is $? "$in on Blackwell was measured by mma.sync"
	run --model tc:blackwell,in=$in,path=tcgen05
	test $code = 0 && test "$(value parameters)" = undecided && ! grep -q B200 out &&
		grep -q '^unsettled.*tcgen05 is taken to sum as mma.sync does; nobody has tested it$' out
	test_is $? "and by tcgen05 it was not"
done
run --model tc:volta,out=fp16
test $code = 0 && test "$(value 'extra alignment bits')" = 13 && test "$(value NaN)" = 0x7fff
test_is $? "fp16 output"
run --model tc:ampere --json
test $code = 0 && test "$(field out 'products in a block')" = 8 && test "$(grep -c '"verdict": "PASS"' out)" = 37
test_is $? "--json"

# The probes P1 to P32 of the literature with the values it tabled: how many a model can answer, and how many stay open
while IFS='|' read -r model pass open; do
	run --model "$model"
	test $code = 0 && ! grep -q 'FAIL$' out && test "$(grep -c 'PASS$' out)|$(grep -c '^unsettled' out)" = \
		"$pass|$open"
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
tc:hopper|39|0
tc:hopper,in=bf16|41|0
tc:hopper,in=tf32|39|0
tc:hopper,out=fp16|16|0
tc:hopper,in=e5m2,path=wgmma|18|0
tc:hopper,in=e4m3,path=mma|7|0
tc:blackwell,in=bf16|40|2
tc:blackwell,in=e5m2,path=tcgen05|37|2
tc:rtxblackwell|39|2
ROWS
# The kernel that puts the probes to a device, on the shim: it must find its own model, whichever architecture that is
if "$HALFULP" doctor | grep -q '^back ends .* shim'; then
	while read -r arch many; do
		run --backend shim --model tc:$arch --sample 4000 -o t.tsv
		test $code = 0 && ! grep -q 'DIFFERS\|not as tabled' out &&
			test "$(column t.tsv probe | grep -c '^random$')" = $many &&
			test "$(column t.tsv verdict | grep -c '^PASS$')" -gt $((18 * many))
		test_is $? "$arch on the shim: $many instructions, probes and random operands as the model"
		test "$(column t.tsv instruction | sort -u | wc -l)" = $many &&
			test "$(column t.tsv probe | grep -c '^P32 tile$')" = $many
		test_is $? "$arch: every instruction is repeated over a whole tile"
	done <<-'ROWS'
		ampere 8
		ada 12
		hopper 20
		blackwell 12
		rtxblackwell 12
	ROWS
	run --backend shim --model tc:ampere,in=bf16 --json
	test $code = 0 && test "$(grep -c '"verdict": "open: as the model"' out)" = 2 &&
		grep -q '"device": "0x00000000"' out
	test_is $? "what is unsettled says what the device answers"
	# P29, whether a product below the smallest number keeps its sign, is asked where a paper did: of bf16 with fp32
	# sums, of fp16 with fp16's
	run --backend shim --model tc:ampere -o t.tsv
	test "$(paste <(column t.tsv probe) <(column t.tsv instruction) | sed -n 's/^P29	//p' |
		sed 's/^.* \([a-z0-9]* -> f[0-9]*\)$/\1/' | sort -u | tr '\n' ';')" = "bf16 -> f32;f16 -> f16;"
	test_is $? "P29 is asked of the instructions that have it"
	run --backend shim --model tc:hopper,in=e4m3,path=wgmma -o t.tsv
	test $code = 0 && test "$(column t.tsv instruction | sort -u | tr '\n' ';')" = \
		"wgmma m64n8k32 e4m3 -> f16;wgmma m64n8k32 e4m3 -> f32;" &&
		test "$(column t.tsv probe | grep -c '^P30$')" = 1
	test_is $? "fp8 by wgmma, with C other than 0"
	run --backend shim --model tc:hopper,in=e5m2,path=mma -o t.tsv
	test $code = 0 && test "$(column t.tsv instruction | sort -u | wc -l)" = 2 &&
		test "$(column t.tsv probe | grep -c '^P31 Inf$')" = 2
	test_is $? "fp8 by mma: the emulation's corner cases"
	tr -s ' \t' '\n\n' <out >out.words
	grep -v '^#' t.tsv | tr -s ' \t' '\n\n' | cmp -s - out.words
	test_is $? "what is printed is the table"
	run --backend shim --model tc:turing
	refused 2 'ampere or newer' "an architecture without these instructions"
	run --backend shim --model tc:hopper,in=fp64
	refused 2 'no kernel has such' "an operand without a kernel"
fi
"$HALFULP" probe --backend cuda >out 2>err </dev/null
code=$?
if test $code != 0; then refused 4 'CUDA\|driver\|GPU\|device' "--backend cuda without a GPU"; fi
run --backend abacus
refused 2 'model, cuda or shim' "an unknown back end"
run --backend abacus --json
test $code = 2 && test ! -s out
test_is $? "with --json nothing is printed either"
# Operands of few bits, and scales of 1: what can be found with products of 1/4 to 16
while IFS='|' read -r model width extra status pass open; do
	run --model "$model"
	test $code = 0 && ! grep -q 'FAIL$' out && test \
		"$(value 'products in a block')|$(value 'extra alignment bits')|$(value parameters)|$(grep -c 'PASS$' \
		out)|$(grep -c '^unsettled' out)" = "$width|$extra|$status|$pass|$open" &&
		test "$(value 'products exact')" = yes && test "$(value 'carry bits, at least')" -ge 5
	test_is $? "$model: $width products a block, $extra extra bits, $status, $open questions open"
done <<'ROWS'
tc:blackwell,in=e3m2|32|2|undecided|4|3
tc:blackwell,in=e2m3|32|2|undecided|4|3
tc:rtxblackwell,in=e2m1|32|2|one source|6|2
tc:blackwell,in=e2m1,out=fp16|32|15|one source|6|5
tc:blackwell,in=mxfp6e3m2|32|2|undecided|4|4
tc:blackwell,in=mxfp4|64|12|one source|6|4
tc:rtxblackwell,in=nvfp4|64|12|one source|6|4
ROWS
# What a row rests on: vectors that a test here compares, or vectors that others measured
while IFS='|' read -r model status source; do
	run --model "$model"
	test $code = 0 && test "$(value parameters)" = "$status" && [[ $(value source) == *"$source"* ]]
	test_is $? "$model: $status, $source"
done <<'ROWS'
tc:volta|equals published vectors|V100
tc:ampere,in=tf32|equals published vectors|A100
tc:hopper,in=e4m3,path=mma,out=fp16|equals published vectors|H100 with fp16 output
tc:hopper,in=e4m3,path=mma|equals what halfulp probe measured|H200 with fp32 output
tc:hopper,in=e4m3,path=wgmma,out=fp16|equals what halfulp probe measured|H200 with fp16 output
tc:ada|measured elsewhere|RTX 1000 Ada
tc:ada,in=e4m3,out=fp16|measured elsewhere|arXiv 2512.07004
tc:blackwell|measured elsewhere|B200
tc:turing|one source|MMA-Sim
tc:ampere,in=fp64|two sources|Fasi
ROWS
run --model tc:blackwell,in=nvfp4
grep -q '^unsettled, P20, P23 would tell: F = 35' out
test_is $? "nvfp4: that its F is unsettled is said"
run --model tc:ampere,in=fp64
test $code = 0 && test "$(value 'products exact')|$(value 'fraction bits of the output')|$(value \
	'rounding of the output')|$(value normalised)|$(value 'carry bits, at least')|$(value monotone)" = \
	"yes|52|to nearest even|after every addition|0|not refuted"
test_is $? "tc:ampere,in=fp64: a chain of fused multiply-adds has a table too"

# What the model alone does not read is refused
run extra
refused 2 "'extra'" "a stray word"
for o in '-o f.tsv' '--sample 5' '--sample -1' '--seed 3'; do
	run $o
	refused 2 'no effect on the model alone' "$o without --backend"
done
test ! -e f.tsv
test_is $? "and no file is written"
run --backend shim extra
refused 2 "'extra'" "a stray word with --backend"
for bad in fma tc:ampre tc:hopper,in=e4m3 tc:ampere,in=e2m1; do
	run --model $bad
	refused 2 '' "$bad"
done
finish

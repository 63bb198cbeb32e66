#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp bench: a row a combination, blank where it does not fit, published rows beside, the same state under every
# instruction set, and options that a benchmark has no use for refused. No figure is compared with a clock's.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
small="--model mlp:width=0.125 --steps 3:warm=1"
run bench train $small --meter none --policy mixed_float16,float32 --batch 8,16 --backend simd=all -o t.tsv
levels=$("$HALFULP" doctor | sed -n 's/^processor .*(this build uses \(.*\) here)$/\1/p' | tr ',' '\n' | wc -l)
test $code = 0 && test "$(column t.tsv ms | wc -l)" = $((4 * levels)) && test ! -s err
test_is $? "bench train: a row for each of 2 policies, 2 batches and $levels instruction sets"
test "$(column t.tsv policy | head -n 1)" = float32 &&
	test "$(paste <(column t.tsv policy) <(column t.tsv ratio) |
	awk '$1 == "float32" && $2 != 1 || $2 !~ /^[0-9.e-]*$/' | wc -l)" = 0
test_is $? "float32 first, and every row has its ratio to it"
test "$(paste <(column t.tsv policy) <(column t.tsv batch) <(column t.tsv digest) | sort -u | wc -l)" = 4
test_is $? "one digest a policy and batch, whatever the instruction set"
test "$(column t.tsv joules_step | sort -u)" = - && test "$(column t.tsv utilisation | sort -u)" = - &&
	test "$(column t.tsv loss | sort -u)" = -
test_is $? "no meter and no seeds: -, not 0"
asan=$(grep -c __asan_init "$HALFULP") # whose own memory nobody computes
awk -F '\t' '!/^#/' t.tsv | awk -v asan="$asan" -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	!($c["ms_min"] > 0 && $c["ms_min"] <= $c["ms"] && $c["ms_spread"] >= 0 && $c["computed_mb"] > 0 && '\
'($c["peak_mb"] == "-" || ($c["peak_mb"] >= 0 && (asan || $c["peak_mb"] <= $c["computed_mb"])))) { bad = 1 }
	{ s = $c["batch"] * 1000 / $c["ms"]; if (!(s > 0.999 * $c["samples_per_s"] && s < 1.001 * '\
'$c["samples_per_s"])) bad = 1 } END { exit bad || NR < 5 }'
test_is $? "least <= median, samples a second are the batch over the median, no more memory than was computed"
grep -q '^# halfulp: ' t.tsv && grep -q '^# processor: ' t.tsv
test_is $? "the table says which program on which machine"

# A training of as many steps ends in the same state
run train --model mlp:width=0.125 --data train=32,eval=1 --batch 8 --policy mixed_float16 --steps 4 --trace steps=none \
	--quiet r
want=$(last r/metrics.tsv digest)
run bench train $small --meter none --data train=32,eval=1 --policy mixed_float16 --batch 8 -o t.tsv
test -n "$want" && test "$(column t.tsv digest)" = "$want"
test_is $? "warm and timed steps are a training's steps: digest $want"

run bench train $small --meter none --policy float32,mixed_float16 --batch 8,4096 --memory 12MB -o t.tsv
test $code = 0 && test "$(column t.tsv ms | grep -vc '^-$')" = 2 &&
	test "$(grep -c 'batch 4096: steps of 4096 images need .* allowed' err)" = 2 && test "$(wc -l <err)" = 2
test_is $? "what does not fit is blank, with one line why, and the sweep goes on"
run bench train $small --meter none --policy float32 --batch 8 --seeds 1,2 --data train=64,eval=32 --json
test $code = 0 && test "$(grep -c '"loss": [0-9]' out)" = 2 && test "$(grep -c '"accuracy": [0-9]' out)" = 2
test_is $? "--seeds: a row each, with loss and accuracy"

# A counter that has risen by 5 J whenever it is read: a pipe gives every reader the next number. How often it is read
# depends on the clock, but the 40 steps together always have a multiple of 5 J
mkdir -p powercap/intel-rapl:0 && echo package-0 >powercap/intel-rapl:0/name &&
	echo 262143328850 >powercap/intel-rapl:0/max_energy_range_uj && mkfifo powercap/intel-rapl:0/energy_uj
(trap '' PIPE; i=0; while test -p powercap/intel-rapl:0/energy_uj; do i=$((i + 1)); echo $((1000 + i * 5000000)) \
	>powercap/intel-rapl:0/energy_uj; done) 2>/dev/null &
counter=$!
HALFULP_POWERCAP=$dir/powercap run bench train --model mlp --steps 40 --policy float32 --batch 64 --meter rapl -o t.tsv
kill $counter 2>/dev/null
wait $counter 2>/dev/null
test $code = 0 && holds 'step > 0 && reads > 0.9 && reads - int(reads + 0.5) < 0.01 && int(reads + 0.5) - reads < '\
'0.01 && step / 64 > 0.999 * each && step / 64 < 1.001 * '\
'each' reads "$(column t.tsv joules_step | awk '{ print $1 * 40 / 5 '\
'}')" step "$(column t.tsv joules_step)" each "$(column t.tsv joules_sample)"
test_is $? "joules a step, and a sample's share"
run bench train $small --policy float32 --batch 8 --meter nvml
if test $code != 0; then refused 4 'NVML' "a meter that is not there"; fi
for bench in "train --policy float32,mixed_float16 --batch 8,16 --steps 1" "gemm --sizes 8,16" "why --steps 1"; do
	run bench $bench --backend cuda
	if test $code != 0; then refused 4 "CUDA\\|GPU\\|driver" "bench ${bench%% *}: a back end that is not there"; fi
done

# Published rows: at the same model and batch, and all of them on their own
run bench train --model convnet:width=0.0625 --data size=12 --steps 1:warm=0 --meter none --policy float32 --batch 32 \
	-o t.tsv
test $code = 0 && test "$(paste <(column t.tsv on) <(column t.tsv policy) <(column t.tsv ms) |
	grep -c "$(printf '^V100\t\\(mixed_float16\t28\\|float32\t30\\)$')")" = 2 &&
	test "$(column t.tsv batch | sort -u)" = 32
test_is $? "published rows of the same model and batch: V100 at 32, 28 and 30 ms"
run bench train --published -o t.tsv
ratio=$(paste <(column t.tsv on) <(column t.tsv batch) <(column t.tsv policy) <(column t.tsv ratio) |
	awk -F '\t' '$1 == "Titan XP" && $2 == 32 && $3 == "mixed_float16" { print $4 }')
test $code = 0 && holds 'r > 44 / 38 - 1e-9 && r < 44 / 38 + 1e-9' r "$ratio" &&
	test "$(column t.tsv note | grep -c '^out of memory$')" = 3
test_is $? "--published: Titan XP 44 to 38 ms at 32, three cells out of memory"
holds "n == 34" n "$(column t.tsv source | grep -vc '^-$')"
test_is $? "every published row names its source"

# Products: a row a size, format, model and instruction set, every result's bits checked in the program
run bench gemm --sizes 33,16x40x24 --format fp32,fp16 --sum fma,acc=fp32 --sum chunk:8,acc=fp16 --backend simd=all \
	--trials 1 -o t.tsv
test $code = 0 && test "$(column t.tsv check | grep -c '^bits$')" = $((8 * levels)) &&
	test "$(column t.tsv size | sort -u | wc -l)" = 2
test_is $? "bench gemm: 2 sizes, 2 formats, 2 models and $levels instruction sets, all checked"
paste <(column t.tsv size) <(column t.tsv ms) <(column t.tsv gflops) |
	awk -F '\t' '{ f = $1 == 33 ? 2 * 33 ^ 3 : 2 * 16 * 40 * 24; r = f / $2 / 1e6 / $3; if (!(r > 0.999 && r < '\
'1.001)) bad = 1 } END { exit bad || !NR }'
test_is $? "gflops are two operations a multiply-add over the time"
paste <(column t.tsv simd) <(column t.tsv ceiling) <(column t.tsv share) <(column t.tsv gflops) |
	awk -F '\t' '$1 == "scalar" || $1 == "neon" { if ($2 != "-" || $3 != "-") bad = 1; next } !($2 > 0 && $4 / $2 / $3 > 0.999 && '\
'$4 / $2 / $3 < 1.001) { bad = 1 } END { exit bad }'
test_is $? "share is of the ceiling; where there is none, -"
# What limits a layer: the sums of its calls, measured where it ran
run bench why --model mlp:width=0.125 --batch 8 --policy float32 --by call --steps 2 -o calls.tsv
test $code = 0 && run bench why --model mlp:width=0.125 --batch 8 --policy float32 --steps 2 -o layers.tsv
test $code = 0 && test "$(column layers.tsv layer | tail -n 1)" = all &&
	test "$(paste <(column calls.tsv layer) <(column calls.tsv macs) |
	awk '$1 == "dense1" { s += $2 } END { print s }')" = \
	"$(paste <(column layers.tsv layer) <(column layers.tsv macs) | awk '$1 == "dense1" { print $2 }')"
test_is $? "bench why: a layer's multiply-adds are its calls'"
paste <(column calls.tsv arithmetic_ms) <(column calls.tsv memory_ms) <(column calls.tsv launch_ms) \
	<(column calls.tsv predicted_ms) <(column calls.tsv limit) <(column calls.tsv measured_ms) | sed '$d' |
	awk '{ m = $1 > $2 ? $1 : $2; m = m > $3 ? m : $3; want = m == $3 ? "launch" : m == $2 ? "memory" : '\
'"arithmetic"; if (!(m > 0.999999 * $4 && m < 1.000001 * $4 && $5 == want && $6 >= 0)) bad = 1 } END { exit bad || NR '\
'< 20 }'
test_is $? "a call takes at least the longest of its three, which is its limit, and it was measured"
run bench why --model convnet --data size=32,channels=3 --batch 8 --device v100 --policy mixed_float16 -o t.tsv
test $code = 0 && test "$(column t.tsv measured_ms | sort -u)" = - &&
	paste <(column t.tsv layer) <(column t.tsv odd) | grep -q '^conv1	.*extent 3'
test_is $? "on another device nothing is measured, and the input's three channels are named"
run bench why --device abacus
refused 2 'known are here' "an unknown device"
run bench gemm --sizes 8x
refused 2 'MxNxK' "a size that is none"
run bench gemm --sizes 16 --format fp16 --sum tc:hopper,in=bf16
refused 2 'in=bf16, but the operands are fp16' "a model of another format's products"
run bench gemm --backend gemm=mma
refused 2 'one way' "a way on the CPU"
if "$HALFULP" doctor | grep -q '^back ends .* shim'; then
	run bench gemm --backend shim --sizes 32,18x9x35 --format fp16 --sum tc:hopper --sum fma,acc=fp32 --trials 1 \
		-o t.tsv
	test $code = 0 && test "$(column t.tsv check | grep -c '^bits$')" -ge 4 &&
		test "$(paste <(column t.tsv sum) <(column t.tsv gemm) <(column t.tsv check) |
		grep -c "^tc:hopper.mma.bits$")" -ge 1
	test_is $? "bench gemm on the shim: mma and simt give the model's bits"
	paste <(column t.tsv check) <(column t.tsv products) |
		awk -F '\t' '$1 == "bits" && !($2 >= 2) { bad = 1 } END { exit bad || !NR }'
	test_is $? "with two products a recorded step or more, whose bits agree"
	paste <(column t.tsv check) <(column t.tsv ceiling) |
		awk -F '\t' '($1 == "bits") != ($2 > 0) { bad = 1 } END { exit bad || !NR }'
	test_is $? "each beside the ceiling of its units, measured on the shim in the same run"
	test "$(paste <(column t.tsv sum) <(column t.tsv gemm) <(column t.tsv ms) | grep -c "^fma,acc=fp32.mma.-$")" = 2
	test_is $? "what a way cannot compute is blank and says so"
	test "$(column t.tsv gemm | sort -u | tr '\n' ' ')" = "mma simt "
	test_is $? "cublas, which the shim has not, and bulk are measured where they are named"
	run bench gemm --backend shim:gemm=mma,bulk --sizes 64 --format fp16 --sum tc:hopper --trials 1 -o t.tsv
	paste <(column t.tsv gemm) <(column t.tsv check) <(column t.tsv ran) | tr '\t\n' ' ;' >rows
	test $code = 0 && test "$(cat rows)" = \
		"mma bits wgmma fp16 to fp32, 128x256;bulk bits wgmma fp16 to fp32, 128x64, bulk copies;"
	test_is $? "--backend gemm=bulk has kernels of its own on Hopper, and the model's bits"
	test "$(column t.tsv ceiling | sort -u | wc -l)" = 1
	test_is $? "beside the ceiling of the same units"
	if ${CC:-cc} -shared -fPIC -I"$top" -o stub.so "$top/t/stub/cublaslt.c" -lm 2>err; then
		HALFULP_CUBLASLT_HOST=$dir/stub.so run bench gemm --backend shim --sizes 24x16x40 --format fp32,fp16 \
			--sum fma,acc=fp32 --sum tc:ampere --backend gemm=cublas,simt --trials 1 -o t.tsv
		test $code = 0 && test "$(paste <(column t.tsv gemm) <(column t.tsv check) | sort | uniq -c |
			tr -s ' \t' ' ')" = "$(printf ' 4 cublas bound\n 4 simt bits')"
		test_is $? "cuBLAS's products (a stand-in's) are held to their bound, whatever its order"
		test "$(paste <(column t.tsv format) <(column t.tsv ceiling) | sed -n 's/^fp32	//p' | sort -u |
			wc -l)" = 1
		test_is $? "of fp32 both ways have the ceiling of the same units"
	fi
	# Why, on a device: a row a pass, each timed by the device's clock, each call in one of them
	why="bench why --backend shim --model mlp:width=0.0625 --batch 4 --policy mixed_float16 --steps 2:warm=1"
	run $why --by call -o passes.tsv
	test $code = 0 && test "$(column passes.tsv covers | tr ',' '\n' |
		awk -F - '/[0-9]/ { for (i = $1; i <= $NF; i++) print i }' | sort -n)" = \
		"$(seq 0 $(($(column passes.tsv calls | tail -n 1) - 1)))"
	test_is $? "bench why on the shim: every call stands in one pass"
	paste <(column passes.tsv calls) <(column passes.tsv covers) <(column passes.tsv launches) \
		<(column passes.tsv bytes) <(column passes.tsv measured_ms) |
		awk '{ n = 0; k = split($2, part, ","); for (i = 1; i <= k; i++) if (split(part[i], e, "-") == 2 && '\
'e[1] != "") n += e[2] - e[1] + 1; else n += part[i] != "-" }
		$2 == "-" && $1 == 0 { n = 0 } last != "" { sum += last } { last = $3; if ($2 != "-" && n != $1 || '\
'!($3 > 0 && $4 > 0 && $5 > 0)) bad = 1 } END { exit bad || sum != last || NR < 15 }'
	test_is $? "with its launches, bytes and measured time; launches add up to the step's"
	test "$(paste <(column passes.tsv op) <(column passes.tsv calls) <(column passes.tsv layer) |
		grep -c "^bias+relu.2.dense[12]$")" = 2 && test "$(column passes.tsv op | grep -c '^cast+adamw$')" = 1
	test_is $? "fused calls stand in one row, which names them"
	run $why --by call --backend fuse=off -o alone.tsv
	test $code = 0 && test "$(column alone.tsv covers | grep -c '^[0-9]*$')" = \
		"$(column alone.tsv calls | tail -n 1)" && test "$(column alone.tsv launches | tail -n 1)" -gt \
		"$(column passes.tsv launches | tail -n 1)" &&
		test "$(column alone.tsv bytes | tail -n 1)" -gt "$(column passes.tsv bytes | tail -n 1)"
	test_is $? "--backend fuse=off: a row a call, more launches and more bytes"
	run $why -o layers.tsv
	test $code = 0 && test "$(column layers.tsv launches | sed '$d' | awk '{ s += $1 } END { print s }')" = \
		"$(column passes.tsv launches | tail -n 1)" &&
		test "$(column layers.tsv macs | tail -n 1)" = "$(column passes.tsv macs | tail -n 1)"
	test_is $? "layers add up to the same"
	run $why --backend fuse=maybe
	refused 2 'on or off is needed' "--backend fuse=maybe"
	run bench train --backend shim --model mlp:width=0.0625 --batch 4 --steps 2:warm=0 --policy mixed_float16 \
		--accumulate tc:hopper --backend gemm=simt,mma --meter none -o t.tsv
	test $code = 0 && test "$(column t.tsv digest | sort -u | wc -l)" = 1 &&
		test "$(column t.tsv digest | wc -l)" = 2
	test_is $? "steps on the shim: one digest, whichever way products are computed"
	want=$(column t.tsv digest | head -n 1)
	run bench train --model mlp:width=0.0625 --batch 4 --steps 2:warm=0 --policy mixed_float16 --accumulate \
		tc:hopper --meter none -o t.tsv
	test "$(column t.tsv digest)" = "$want"
	test_is $? "and it is the CPU's"
fi
run bench train --policy flaot32
refused 2 'did you mean\|known' "an unknown policy" 
run bench train --batch 8,none
refused 2 '--batch none' "a batch that is none"
run bench train --backend simd=avx2,mmx
refused 2 'mmx' "an unknown instruction set"
run bench cast --optimizer lr=1
refused 2 'no effect on bench cast' "an option of another benchmark"
run bench trian
refused 2 'did you mean train' "an unknown benchmark"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The GPU's kernels, run on the host, train as the CPU does: every policy and the accumulators that
# kernels order themselves, three steps of both models; every digest, gradient row and traced element.
. "${srcdir:-.}/t/tap.sh"
mlp="--model mlp --size 8 --width 0.25 --batch 16"
convnet="--model convnet --size 12 --width 0.0625 --batch 4"
rest="--train 64 --eval 16 --steps 3 --quiet"

"$HALFULP" train $mlp $rest --policy float32 --backend shim --trace-steps none probe >out 2>err
test $? = 4 && grep -q 'no C++ compiler' err && skip_all "no C++ compiler was found: the kernels are not compiled for the host"
rm -rf probe

# numbers FILE: rows without notes, times and energy
numbers() { awk -F '\t' '/^#/ { next } !names { for (i = 1; i <= NF; i++) if ($i ~ /^(ms|samples_per_s|joules|joules_per_sample|watts|utilisation)$/) drop[i] = 1; names = 1 } { for (i = 1; i <= NF; i++) if (!(i in drop)) printf "%s\t", $i; print "" }' "$1"; }

# same A B: metrics, gradients, traces and the last checkpoint
same() {
	local f
	for f in metrics.tsv grads.tsv; do cmp -s <(numbers "$1/$f") <(numbers "$2/$f") || { echo "$1/$f differs" >>"$dir/err"; return 1; }; done
	for f in trace/step-000000 trace/step-000002 checkpoint/step-000003; do
		test -f "$1/$f.safetensors" || { echo "$1/$f.safetensors is not there" >>"$dir/err"; return 1; }
		cmp -s "$1/$f.safetensors" "$2/$f.safetensors" || { echo "$1/$f.safetensors differs" >>"$dir/err"; return 1; }
	done
}

# pair WHAT ARGUMENTS...: both back ends, then everything compared
pair() {
	local what=$1
	shift
	rm -rf c s
	run train $rest "$@" --backend cpu c
	test $code = 0 && run train $rest "$@" --backend shim s
	test $code = 0 && test "$(column s/metrics.tsv digest | wc -l)" = 3 && same s c
	test_is $? "$what: three steps, every bit"
}

for policy in $(sed -n 's/^POLICY("\([^"]*\)".*/\1/p' "$top/lib/program/policies.def"); do
	pair "$policy, mlp" $mlp --policy "$policy"
	pair "$policy, convnet" $convnet --policy "$policy"
done
for sum in tc:hopper tc:ampere; do
	pair "$sum, mlp" $mlp --policy mixed_float16 --accumulate "$sum"
	pair "$sum, convnet" $convnet --policy mixed_bfloat16 --accumulate "$sum"
done
for sum in fma,acc=fp16 sequential chunk:64 pairwise kahan,acc=fp16 splitk:4; do
	pair "$sum, mlp" $mlp --policy mixed_float16 --accumulate "$sum"
done
pair "chunk:64 in fp16, convnet" $convnet --policy mixed_float16 --accumulate chunk:64,acc=fp16
pair "stochastic rounding of the sums, sgd" $mlp --policy float16 --accumulate fma,acc=fp16,mode=sr --optimizer sgd --momentum 0.9
pair "an overflow: skipped steps" $mlp --policy mixed_float16 --init-scale 1e20
grep -q . <(column s/metrics.tsv skipped | grep 1)
test_is $? "of which some were skipped"

# Calls launched one by one, without passes of several and without a recorded step
for how in "--fuse off" "--graph off" "--fuse off --graph off"; do
	pair "$how, convnet" $convnet --policy mixed_float16 $how
done
grep -q '"fuse": "off"' s/manifest.json && grep -q '"graph": "off"' s/manifest.json
test_is $? "the manifest says so"
run train $rest $mlp --fuse maybe x
refused 2 'on or off is needed' "--fuse maybe"

# Each back end's run holds on the other
run verify --backend cpu s
test $code = 0 && grep -q '3 steps re-executed, every digest is the recorded one' out
test_is $? "a run on the shim verifies on the cpu"
run verify --backend shim c
test $code = 0 && grep -q '3 steps re-executed, every digest is the recorded one' out
test_is $? "a run on the cpu verifies on the shim"

# The order of a block's threads does not show; nor does stopping
rm -rf a
run train $rest $convnet --policy mixed_float16 --backend shim a
for seed in 2 3; do
	rm -rf b
	HALFULP_SHIM_SEED=$seed run train $rest $convnet --policy mixed_float16 --backend shim b
	test $code = 0 && same a b
	test_is $? "another order of threads (seed $seed): the same bits"
done
finish

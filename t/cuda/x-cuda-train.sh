#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A hundred steps at 28x28 on the GPU's kernels (a GPU where there is one, else the host) and on the CPU: every digest,
# stopped and resumed in between; each policy family and each kind of accumulator.
. "${srcdir:-.}/t/tool/tap.sh"
rest="--data size=28,train=400,eval=32 --steps 100 --trace steps=last --quiet"
on=shim
"$HALFULP" doctor 2>/dev/null | grep -q '^device 0' && on=cuda
run train --model mlp --data size=28,train=64,eval=16 --steps 1 --model width=0.05 --batch 8 --trace steps=none --quiet --backend $on probe
test $code = 4 && grep -q 'no C++ compiler' err && skip_all "no C++ compiler was found: the kernels are not compiled for the host"

# pair WHAT ARGUMENTS...
pair() {
	local what=$1
	shift
	rm -rf c s
	run train $rest "$@" --backend cpu c
	test $code = 0 && run train $rest "$@" --backend $on s
	test $code = 0 && test "$(column s/metrics.tsv digest | wc -l)" = 100 && cmp -s <(column s/metrics.tsv digest) <(column c/metrics.tsv digest) && cmp -s s/trace/step-000099.safetensors c/trace/step-000099.safetensors &&
		cmp -s <(grep -hv '^#' s/grads.tsv s/updates.tsv) <(grep -hv '^#' c/grads.tsv c/updates.tsv)
	test_is $? "$what: a hundred steps, every bit"
}

for policy in float32 mixed_float16 mixed_bfloat16 tf32 mixed_e4m3; do
	pair "$policy, mlp" --model mlp:width=0.25 --batch 16 --policy "$policy"
done
pair "mixed_float16, convnet" --model convnet:width=0.0625 --batch 4 --policy mixed_float16
for sum in tc:hopper tc:ampere kahan,acc=fp16 chunk:64,acc=fp16; do
	pair "$sum, mlp" --model mlp:width=0.1 --batch 16 --policy mixed_float16 --accumulate "$sum"
done

# The last one again, its device lost about half-way: simulated
if test $on = shim; then
	rm -rf l
	HALFULP_SHIM_LOSE_AFTER=2500 run train $rest --model mlp:width=0.1 --batch 16 --policy mixed_float16 --accumulate chunk:64,acc=fp16 --checkpoint-every 10 --backend shim l
	refused 4 'the device was lost' "a device that is lost"
	run train --resume l
	test $code = 0 && cmp -s <(column l/metrics.tsv digest) <(column c/metrics.tsv digest)
	test_is $? "the run resumes to the same bits"
fi
finish

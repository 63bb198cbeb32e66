#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The GPU's kernels, run on the host, train as the CPU does: every policy and the accumulators that
# kernels order themselves, three steps of both models; every digest, gradient row and traced element.
. "${srcdir:-.}/t/tool/tap.sh"
mlp="--model mlp --data size=8 --model width=0.25 --batch 16"
convnet="--model convnet --data size=12 --model width=0.0625 --batch 4"
rest="--data train=64,eval=16 --steps 3 --quiet"

"$HALFULP" train $mlp $rest --policy float32 --backend shim --trace steps=none probe >out 2>err
test $? = 4 && grep -q 'no C++ compiler' err && skip_all "no C++ compiler was found: the kernels are not compiled for the host"
rm -rf probe

# numbers FILE: rows without notes, times and energy
numbers() { awk -F '\t' '/^#/ { next } !names { for (i = 1; i <= NF; i++) if ($i ~ /^(ms|wait_ms|samples_per_s|joules|joules_per_sample|watts|utilisation)$/) drop[i] = 1; names = 1 } { for (i = 1; i <= NF; i++) if (!(i in drop)) printf "%s\t", $i; print "" }' "$1"; }

# same A B: metrics, gradients, traces and the last checkpoint
same() {
	local f
	for f in metrics.tsv grads.tsv updates.tsv; do cmp -s <(numbers "$1/$f") <(numbers "$2/$f") || { echo "$1/$f differs" >>"$dir/err"; return 1; }; done
	for f in trace/step-000000 trace/step-000002 checkpoint/step-000003; do
		test -f "$1/$f.safetensors" || { echo "$1/$f.safetensors is not there" >>"$dir/err"; return 1; }
		cmp -s "$1/$f.safetensors" "$2/$f.safetensors" || { echo "$1/$f.safetensors differs" >>"$dir/err"; return 1; }
	done
}

# pair WHAT ARGUMENTS...: both back ends, the device by the options $tuned too, then everything compared
tuned=
pair() {
	local what=$1
	shift
	rm -rf c s
	run train $rest "$@" --backend cpu c
	test $code = 0 && run train $rest "$@" --backend shim $tuned s
	test $code = 0 && test "$(column s/metrics.tsv digest | wc -l)" = 3 && same s c
	test_is $? "$what: three steps, every bit"
}

policies=$(sed -n 's/^POLICY("\([^"]*\)".*/\1/p' "$top/lib/program/policy/policies.def")
test "$(echo $policies | wc -w)" -ge 10
test_is $? "policies.def has policies: $(echo $policies | wc -w)"
for policy in $policies; do
	pair "$policy, mlp" $mlp --policy "$policy"
	pair "$policy, convnet" $convnet --policy "$policy"
done
# Embeddings, attention and a binary loss
for policy in float32 mixed_float16 mixed_bfloat16 autocast_float16 float16; do
	size=layers=1,hidden=16,heads=2
	pair "$policy, bert" --model bert:$size --data length=14 --batch 4 --policy $policy
	pair "$policy, gpt" --model gpt:$size --data length=7 --batch 4 --policy $policy
	pair "$policy, gpt in blocks" --model gpt:$size,flash=4 --data length=7 --batch 4 --policy $policy
	pair "$policy, ncf" --model ncf:hidden=8 --data users=40,items=120 --model layers=2 --batch 16 --policy $policy
done
# Formats that no processor has: no -0 and saturating, variables without subnormals; everything in one of P3109's,
# flushed sums
pair "binary8p4sat and fp24nosub, mlp" $mlp --policy compute=binary8p4sat,variable=fp24nosub,list=keras
pair "binary8p4sat and fp24nosub, convnet" $convnet --policy compute=binary8p4sat,variable=fp24nosub,list=keras
pair "binary15p9 and fp16ftz sums, mlp" $mlp --policy compute=binary15p9,variable=binary15p9,list=all --accumulate fma,acc=fp16ftz
pair "binary15p9 and fp16ftz sums, convnet" $convnet --policy compute=binary15p9,variable=binary15p9,list=all --accumulate fma,acc=fp16ftz
for sum in tc:hopper tc:ampere; do
	pair "$sum, mlp" $mlp --policy mixed_float16 --accumulate "$sum"
	pair "$sum, convnet" $convnet --policy mixed_bfloat16 --accumulate "$sum"
done
for sum in fma,acc=fp16 sequential chunk:64 pairwise kahan,acc=fp16 splitk:4; do
	pair "$sum, mlp" $mlp --policy mixed_float16 --accumulate "$sum"
done
pair "chunk:64 in fp16, convnet" $convnet --policy mixed_float16 --accumulate chunk:64,acc=fp16
pair "stochastic rounding of the sums, sgd" $mlp --policy float16 --accumulate fma,acc=fp16,mode=sr --optimizer sgd:momentum=0.9
pair "an overflow: skipped steps" $mlp --policy mixed_float16 --loss-scale init=1e20
grep -q . <(column s/metrics.tsv skipped | grep 1)
test_is $? "of which some were skipped"

# Calls launched one by one, without passes of several and without a recorded step
for how in "--backend fuse=off" "--backend graph=off" "--backend fuse=off --backend graph=off"; do
	tuned=$how
	pair "$how, convnet" $convnet --policy mixed_float16
done
tuned=
grep -q '"fuse": "off"' s/manifest.json && grep -q '"graph": "off"' s/manifest.json
test_is $? "the manifest says so"
run train $rest $mlp --backend shim:fuse=maybe x
refused 2 'on or off is needed' "--backend fuse=maybe"

# Exponents and casts of every step: the CPU's, and what analyze counts in the traced ones
for policy in mixed_float16 mixed_e4m3; do
	pair "--count, $policy" $convnet --policy $policy --count '*.w*,*dw*,conv*,*.b'
	test -s c/casts.tsv && cmp -s <(numbers c/casts.tsv) <(numbers s/casts.tsv) && cmp -s <(numbers c/exponents.tsv) <(numbers s/exponents.tsv)
	test_is $? "casts and exponents too, at every step"
done
run analyze --only underflow s
test $code = 0 && test "$(awk -F '\t' '/^#/ { next } FNR == NR { want[$1, $2, $6] = $7; next } FNR > 1 && $1 != 1 && $1 != "step" { n++; if (want[$1, $2, $6] != $7) bad++ } END { print (n > 500) " " bad + 0 }' s/analysis/exponents.tsv s/exponents.tsv)" = "1 0"
test_is $? "exponents.tsv: analyze's at the traced steps"
test $code = 0 && test "$(awk -F '\t' '/^#/ { next } FNR == NR { key = $1 FS $2 FS $3 FS $4 FS $5 FS $6 FS $7 FS $8 FS $9 FS $10 FS $11 FS $12 FS $13; seen[key] = 1; next } $1 != 1 && $1 != "step" { n++; if (!seen[$0]) bad++ } END { print (n > 10) " " bad + 0 }' s/analysis/underflow.tsv s/casts.tsv)" = "1 0"
test_is $? "casts.tsv: analyze's"
grep -q '"casts.tsv"' s/manifest.json && grep -q '"count"' s/manifest.json
test_is $? "the manifest has their checksums"
run train $rest $mlp --count 'nothing*' x
refused 2 'no tensor of this program' "--count of nothing"

# What a step launched and how its products were computed
test ! -e c/kernels.tsv && test "$(column s/kernels.tsv launches | sed '$d' | awk '{ s += $1 } END { print s }')" = "$(column s/kernels.tsv launches | tail -n 1)" && test "$(column s/kernels.tsv bytes | tail -n 1)" -gt 100000
test_is $? "kernels.tsv: launches and bytes of each pass, and their sum; none on the cpu"
test "$(paste <(column s/kernels.tsv call) <(column s/kernels.tsv ran) | grep -v -- '-$' | tr '\t' ' ')" = "$(sed -n '/"gemm"/,/\]/p' s/manifest.json | awk -F '"' '/"call":/ { gsub(/[^0-9]/, "", $3); call = $3 } /"ran":/ { print call " " $4 }')" && grep -q '"kernels.tsv"' s/manifest.json
test_is $? "each product's kernel is the manifest's"

# Each back end's run holds on the other
run verify --backend cpu s
test $code = 0 && grep -q '3 steps re-executed, every digest is the recorded one' out
test_is $? "a run on the shim verifies on the cpu"
run verify --backend shim c
test $code = 0 && grep -q '3 steps re-executed, every digest is the recorded one' out
test_is $? "a run on the cpu verifies on the shim"

# Variables stored in the products' own 8 bits take part with a scale like the other operand
eight="--policy compute=e4m3,variable=e4m3,list=all --optimizer sgd"
rm -rf a b
run train $rest $mlp $eight a
run train $rest $mlp $eight --backend shim b
test $code = 0 && same a b && grep -q '"dense1.w_scale@e4m3"' a/program-train.json
test_is $? "variables in e4m3: the same bits"

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

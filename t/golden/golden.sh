#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# golden.sh [--simd LEVEL] [--only PATTERN]: the table of golden digests as this build makes it, on standard output: a
# row for every policy with every model, and one for every optimizer, loss-scale rule and summation model, from the
# lists in the sources. HALFULP names the program. `make golden` writes it to t/golden/digests.tsv. Sizes are small, odd
# and unequal, so that vectors have remainders.
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
program=${HALFULP:-$top/build/halfulp} simd=auto only='*'
while test $# -gt 1; do
	case $1 in
	--simd) simd=$2 ;;
	--only) only=$2 ;;
	*) break ;;
	esac
	shift 2
done
test $# = 0 || { echo "usage: golden.sh [--simd LEVEL] [--only PATTERN]" >&2; exit 2; }
dir=$(mktemp -d) || exit 4
trap 'rm -rf "$dir"' EXIT

# rows FILE WORD: the first arguments of the rows of a .def file
rows() { sed -n "s/^$2(\"\{0,1\}\([A-Za-z0-9_]*\)\"\{0,1\}[,)].*/\1/p" "$top/$1"; }

mlp="--model width=0.56 --data size=19 --batch 21 --data train=63"
convnet="--model width=0.1 --data size=11 --batch 5 --data train=15"
resnet1d="--data signals --model width=0.05 --batch 3 --data train=9"
unet="--data scenes --model levels=2,width=0.2 --data size=9 --batch 3 --data train=9"
resnet="--data scenes --model depth=10,width=0.05 --data size=9 --batch 3 --data train=9"
bert="--model layers=1,hidden=6,heads=2,inner=10 --data length=15 --batch 3 --data train=9"
gpt="--model layers=1,hidden=6,heads=2,inner=10 --data length=9 --batch 3 --data train=9"
ncf="--model layers=2,hidden=3 --data users=7,items=120 --batch 9 --data train=27"

# row MODEL POLICY OPTION...: trains three steps; the digest covers every weight, moment and statistic that a checkpoint
# holds. What the run is of stands in the list, of which told makes the rows.
n=0
row() {
	local model=$1 policy=$2 sizes
	shift 2
	case "$model $policy $*" in $only) ;; *) return ;; esac
	sizes=${!model:---batch 3 --data train=9} # a new model needs no line above where its own sizes are small
	n=$((n + 1))
	if ! "$program" train --model "$model" --policy "$policy" $sizes "$@" --data eval=3 --steps 3 --trace steps=none --threads 2 --backend simd="$simd" --meter none \
		--quiet "$dir/$n" >"$dir/log" 2>&1 </dev/null; then
		echo "golden.sh: $model, $policy, $*: $(tail -n 1 "$dir/log")" >&2
		exit 1
	fi
	printf '%s\t%s\t%s\n' "$model" "$policy" "${*:--}" >>"$dir/list"
}

# told: the rows of all runs, each with what the last line of its metrics.tsv says
told() {
	test $n = 0 || awk -F '\t' -v OFS='\t' '/^#/ { next } FILENAME == ARGV[1] { of[NR] = $0; next }
		FILENAME != file { if (file) print of[++k], digest, last
			file = FILENAME; for (i = 1; i <= NF; i++) { if ($i == "digest") at = i; if ($i == "loss") loss = i }; next }
		{ digest = $at; last = $loss } END { print of[++k], digest, last }' \
		"$dir/list" $(printf "$dir/%d/metrics.tsv " $(seq $n))
}

echo "# SPDX-License-Identifier: Apache-2.0"
echo "# The state after three training steps and the last loss, held by every build: compilers, optimisation, instruction sets."
echo "# Made by: make -C build golden. A change is a decision, and the commit that makes it says why numbers changed."
printf 'model\tpolicy\toptions\tdigest\tloss\n'
# What optimizers and rules do to a program is the same for every model: the first two alone have them.
for model in $(rows trainer/model/models.def MODEL); do
	for policy in $(rows lib/program/policy/policies.def POLICY); do
		row $model $policy
	done
	case $model in mlp | convnet) ;; *) continue ;; esac
	for optimizer in $(rows trainer/optim/optims.def OPTIM); do
		row $model mixed_float16 --optimizer $optimizer
		row $model bfloat16 --optimizer $optimizer
	done
	for rule in $(rows lib/op/scalers.def SCALER | sed 's/^static$/static:64/; s/^pytorch$/dynamic/'); do
		row $model mixed_float16 --loss-scale $rule
	done
done
for sum in $(sed -n 's/^SUM([A-Z0-9]*, \([a-z0-9]*\), NOTHING, [AW].*/\1/p' "$top/lib/sum/sums.def") $(sed -n 's/^SUM([A-Z0-9]*, \([a-z0-9]*\), \(LENGTH\|RANKS\),.*/\1:8/p' "$top/lib/sum/sums.def") \
	$(sed -n 's/^SUM([A-Z0-9]*, \([a-z0-9]*\), NODES,.*/\1:8:3/p' "$top/lib/sum/sums.def"); do
	row mlp float32 --accumulate $sum
	row mlp mixed_float16 --accumulate $sum,acc=fp16
	row convnet float32 --accumulate $sum
done
# Units take operands of the formats that their rows name; the first is trained with.
unit() { sed -n "s/^SUM([A-Z0-9]*, \([a-z0-9]*\), $1, UNIT)$/\1$2/p" "$top/lib/sum/sums.def"; }
for sum in $(unit NOTHING) $(unit SLICES :8); do
	case $(sed -n 's/.*\(HU_SUM_UNIT\|HU_SUM_UNIT_OF\|formats\[\] =\) *[({] *HU_\([A-Z0-9]*\),.*/\2/p' "$top/lib/sum/model/${sum%:*}.c") in
	BF16) policy=mixed_bfloat16 ;;
	FP64) policy=float64 ;;
	FP16) policy=mixed_float16 ;;
	*) policy=float32 ;;
	esac
	row mlp $policy --accumulate $sum
	row convnet $policy --accumulate $sum
done
row mlp mixed_float16 --accumulate fma,mode=SR
for arch in $(sed -n 's/^TC(\([A-Z0-9_]*\), FP16, .*/\1/p' "$top/lib/sum/tc/tc.def" | uniq | tr '[:upper:]' '[:lower:]'); do
	row mlp mixed_float16 --accumulate tc:$arch
	row convnet mixed_float16 --accumulate tc:$arch
done
told

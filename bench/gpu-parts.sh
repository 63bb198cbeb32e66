# SPDX-License-Identifier: Apache-2.0
# Sourced by gpu.sh: the parts in the order of their worth: does it run, are the bits right, what does the sanitizer
# say, are the instructions those of the models, how fast is it, and the rest.

# Kernels on the matrix units are for capability 8.0 and newer; Turing's units have fp16 alone, which simt follows
units=mma formats=tf32,fp16,bf16
test "$arch" != turing || units=simt formats=fp16
case $arch in hopper) fp8=tc:hopper,path=mma ;; ada) fp8=tc:ada ;; *) fp8= ;; esac
# The net whose steps were published (convnet-published of torch-steps.py)
published="--model convnet --data size=256,channels=3"
# Sizes: tiny on the shim, which interprets each thread
if test $dry = 1; then
	random=2000 steps=2 mlp="--model mlp:width=0.0625 --batch 4" convnet="--model convnet:width=0.0625 --data size=12 --batch 2" sizes=33 batches=4 time_steps=1 policies="float32 mixed_float16"
else
	random=10000000 steps=100 mlp="--model mlp" convnet="--model convnet:width=0.25" sizes=1024,4096,8192 batches=32,64,128,256,512 time_steps=30 policies="float32 mixed_float16 mixed_bfloat16 tf32"
fi

# A TAP program passes where it exits 0 and no line begins with "not ok"
tap() {
	"$@" >"$work/tap" 2>&1
	code=$?
	cat "$work/tap"
	! grep -q '^not ok' "$work/tap" || return 1
	return $code
}

# line FILE CELL...: a row of a table; the first call writes the table's columns
line() {
	local file=$out/$1
	shift
	test -s "$file" || printf 'model\tpolicy\taccumulate\tgemm\tsteps\tdigest\tcpu_digest\tequal\n' >"$file"
	(IFS='	'; printf '%s\n' "$*") >>"$file"
}

# compared FILE RUN REFERENCE MODEL POLICY SUM WAY STEPS: a row of FILE, and whether every step's digest is the CPU's
compared() {
	local same=no
	cmp -s <(digests "$2") <(grep -v '^#' "$3") && same=yes
	line "$1" "$4" "$5" "$6" "$7" "$8" "$(digests "$2" | tail -n 1)" "$(tail -n 1 "$3")" $same
	test $same = yes
}

# own MODEL [WAY]: every policy at the model's own size, and those of the matrix units, a row each of digests.tsv; with
# WAY the trainings alone whose products Hopper's warpgroup units compute, that way
own() {
	local model=$1 policy sum options bad=0 ref run=$work/own way
	while read -r policy sum options; do
		case $sum in default) way=auto ;; *) way=$units ;; esac
		test -z "$2" || { way=$2; case $sum in *path=wgmma) ;; *) continue ;; esac; }
		grep -v '^#' "$out/digests.tsv" 2>/dev/null | grep -q "^$model	$policy	$sum	$way	.*	yes$" && continue
		rm -rf "$run"
		ref=$(reference "$model-$policy-$sum" $options) &&
			"$halfulp" train $options --backend $backend:gemm=$way "$run" &&
			compared digests.tsv "$run" "$ref" $model $policy $sum $way 3 || { echo "$model $policy $sum: differs, or does not run"; bad=1; }
	done < <(trainings $model $arch)
	return $bad
}
# Both paths of Hopper have one model for 16 bits: their digests on this device are one
paths() {
	test $arch = hopper || exit 77
	grep -v '^#' "$out/digests.tsv" | awk -F '\t' '$3 ~ /path=(mma|wgmma)$/ && $2 ~ /16/ { n[$1 $2]++; if (n[$1 $2] > 1 && seen[$1 $2] != $6) { print $1, $2, "differs"; bad = 1 } seen[$1 $2] = $6; pairs += n[$1 $2] == 2 }
		END { print pairs + 0, "pairs"; exit bad || !pairs }'
}

# parity MODEL OPTIONS POLICY SUM WAY: many steps; a row of parity.tsv
parity() {
	local name=$1 policy=$3 sum=$4 way=$5 run=$work/run ref
	local common="$2 --policy $policy --steps $steps --data train=640,eval=64 --trace steps=none --meter none --quiet"
	test "$policy" != mixed_float16 || common="$common --loss-scale init=256" # the others scale no loss
	test "$sum" = default || common="$common --accumulate $sum"
	rm -rf "$run"
	"$halfulp" train $common --backend $backend:gemm="$way" "$run" &&
		ref=$(reference "long-$name-$policy-$sum" $common) || return 1
	compared parity.tsv "$run" "$ref" "$name" "$policy" "$sum" "$way" "$steps"
}
# Two runs, one digest; a run that was killed and resumed; a run judged on the CPU
again() {
	local common="$mlp --policy mixed_float16 --data train=640,eval=64 --loss-scale init=256 --trace steps=none --meter none --quiet --backend $backend"
	rm -rf "$work"/again-*
	"$halfulp" train $common --steps $((2 * steps)) --checkpoint-every $steps "$work/again-1" && "$halfulp" train $common --steps $((2 * steps)) --checkpoint-every $steps "$work/again-2" || return 1
	cmp <(digests "$work/again-1") <(digests "$work/again-2") || return 1
	# killed after its first checkpoint, then resumed
	"$halfulp" train $common --steps $((2 * steps)) --checkpoint-every 1 "$work/again-3" &
	until test -d "$work/again-3/checkpoint" && ls "$work/again-3/checkpoint" | grep -q . || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	"$halfulp" train --resume --quiet "$work/again-3"
	cmp <(digests "$work/again-1") <(digests "$work/again-3") || return 1
	"$halfulp" verify "$work/again-1" --backend cpu
}
# cuBLAS: the same digest twice, and every recorded call within its bound
cublas() {
	local common="$mlp --policy mixed_float16 --data train=640,eval=64 --steps 5 --trace steps=last --meter none --quiet --backend cuda:gemm=cublas"
	rm -rf "$work"/cublas-*
	"$halfulp" train $common "$work/cublas-1" && "$halfulp" train $common "$work/cublas-2" && cmp <(digests "$work/cublas-1") <(digests "$work/cublas-2") && "$halfulp" analyze --only replay "$work/cublas-1"
}
# reach_simt, reach_matrix, reach_bulk: products that reach every kernel, in whole stages and with one left over,
# checked bit by bit; COMMAND goes in front
products() {
	local sizes=$1
	shift
	"$@" --sizes $sizes --trials 1
}
reach_simt() {
	products 136x272x64,136x272x192,72x40x56 "$@" "$halfulp" bench gemm --backend $backend \
		--format fp32,fp16,bf16,e4m3,e5m2 --sum fma,acc=fp32 --sum fma,acc=fp16 --backend gemm=simt
}
reach_matrix() {
	local all=136x272x64,136x272x192,72x40x56 whole=136x272x64,136x272x192
	local front=("$@") gemm=("$@" "$halfulp" bench gemm --backend $backend)
	products $all "${gemm[@]}" --format $formats --sum tc:$arch --backend gemm=$units || return
	test $arch != hopper ||
		products $whole "${gemm[@]}" --format fp16,bf16,e4m3,e5m2 --sum tc:hopper,path=wgmma \
			--backend gemm=mma || return
	test -z "$fp8" || products $all "${gemm[@]}" --format e4m3,e5m2 --sum $fp8 --backend gemm=mma || return
	# a first layer of three channels, with as many filters as its tile is for
	"${front[@]}" "$halfulp" bench train --backend $backend --model convnet --data size=12 --batch 8 --steps 1 --steps warm=0 \
		--policy mixed_float16 --accumulate tc:$arch --backend gemm=$units --meter none
}
# The kernels of gemm=bulk, which are Hopper's alone: products of one block a tile of 64 columns, of pairs of blocks
# with 128 and 256, of blocks that compute several tiles and fill their ring of buffers anew; then operands that lie
# either way, in training steps, one of them so large that pairs of blocks fill a ring anew with A across k; and
# convolutions
reach_bulk() {
	test $arch = hopper || exit 77
	local gemm=("$@" "$halfulp" bench gemm --backend $backend --sum tc:hopper,path=wgmma --backend gemm=bulk) model
	products 136x272x64,136x272x192,520x1032x80 "${gemm[@]}" --format fp16,bf16,e4m3,e5m2 || return
	products 2048x1024x592,4096x2048x592 "${gemm[@]}" --format fp16,bf16 || return
	products 520x1032x1040 "${gemm[@]}" --format e4m3,e5m2 || return
	for model in "mlp --model width=0.5 --batch 64" "mlp --model width=8 --batch 592" "convnet --data size=12 --batch 8"; do
		"$@" "$halfulp" bench train --backend $backend --model $model --steps 1 --steps warm=0 \
			--policy mixed_float16 --accumulate tc:hopper --backend gemm=mma,bulk --meter none || return
	done
}
# The program under the sanitizer, which follows the script that starts a bundle's
sanitizer() {
	command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; exit 77; }
	compute-sanitizer --target-processes all --error-exitcode 9 "$@"
}
export -f digests rows models own_sizes trainings reference tap line compared own paths parity again cublas products
export -f reach_simt reach_matrix reach_bulk sanitizer
export dry halfulp top work out backend steps mlp convnet arch units formats fp8 own_policies

# 1. Does it run
part doctor 20 "$halfulp" doctor
# 2. Are the bits right
for t in $(echo $tests | tr ' ' '\n' | awk '{ print ($0 ~ /device|gemm|mma/ ? 0 : 1), $0 }' | sort -s -k 1,1 | cut -d ' ' -f 2); do
	case $t in *gemm | *mma | *op) limit=30 ;; *) limit=15 ;; esac
	part "${t##*/}" $limit bash -c 'tap "$1"' - "./$t"
done
test $dry = 1 || part reach-simt 60 bash -c reach_simt
test $dry = 1 || part reach-matrix 60 bash -c reach_matrix
test $dry = 1 || part reach-bulk 60 bash -c reach_bulk
for model in $(models); do
	part "digests-$model" 120 bash -c "own $model"
done
test $dry = 1 || part digests-paths 20 bash -c paths
if test $dry:$arch = 0:hopper; then
	for model in convnet bert gpt; do
		part "digests-bulk-$model" 20 bash -c "own $model bulk"
	done
fi
# 3. Memory, races and barriers
if test $dry = 0; then
	for tool in memcheck racecheck synccheck; do
		part "sanitizer-$tool-matrix" 60 bash -c 'reach_matrix sanitizer --tool "$1"' - $tool
		part "sanitizer-$tool-bulk" 60 bash -c 'reach_bulk sanitizer --tool "$1"' - $tool
		part "sanitizer-$tool-simt" 90 bash -c 'reach_simt sanitizer --tool "$1"' - $tool
		part "sanitizer-$tool" 60 bash -c 'sanitizer "$@"' - --tool $tool "$halfulp" bench train --backend cuda --model convnet:width=0.0625 --data size=12 --batch 4 --steps 2 --steps warm=0 --policy mixed_float16 --meter none
		part "sanitizer-$tool-gpt" 60 bash -c 'sanitizer "$@"' - --tool $tool "$halfulp" bench train --backend cuda --model gpt:layers=1,hidden=16,heads=2 --batch 4 --steps 2 --steps warm=0 --policy mixed_float16 --meter none
	done
fi
# 4. Instructions and models
test $arch = turing || part probe 120 "$halfulp" probe --backend $backend --model tc:$arch --sample $random -o "$out/probe.tsv"
# 5. Many steps: the state after each must be the CPU's, whichever way products are computed
for policy in $policies; do
	part "train-mlp-$policy" 60 bash -c "parity mlp '$mlp' $policy default simt"
	part "train-convnet-$policy" 90 bash -c "parity convnet '$convnet' $policy default simt"
done
for policy in $policies; do
	case $policy:$arch in float32:* | mixed_bfloat16:turing | tf32:turing) continue ;; esac
	for way in $(echo simt $units | tr ' ' '\n' | sort -u); do
		part "train-mlp-$policy-$way" 90 bash -c "parity mlp '$mlp' $policy tc:$arch $way"
		part "train-convnet-$policy-$way" 90 bash -c "parity convnet '$convnet' $policy tc:$arch $way"
	done
done
part train-again 60 bash -c again
test $dry = 1 || part train-cublas 60 bash -c cublas
# 6. What it takes
comma=$(echo $policies | tr ' ' ',')
ways=simt matrix=$units
test $dry = 1 || ways=simt,cublas matrix=$units,cublas
gemm_table() { # FILE OPTION...
	local tsv=$out/$1
	shift
	"$halfulp" bench gemm --backend $backend --sizes $sizes --trials 3 -o "$tsv" "$@"
}
why_published() { # WAY: each call of the published net
	local sum=
	test $1 = cublas || sum="--accumulate tc:$arch"
	"$halfulp" bench why --backend $backend $published --batch 32 --policy mixed_float16 $sum \
		--backend gemm=$1 --by call \
		--steps 10 -o "$out/why-published-$1.tsv"
}
export sizes published
export -f gemm_table why_published
part bench-gemm-matrix 60 bash -c 'gemm_table "$@"' - gemm-matrix.tsv --format $formats --sum tc:$arch \
	--backend gemm=$matrix
# in a part of its own, so that kernels that hang lose no other way's rows
test $dry:$arch != 0:hopper ||
	part bench-gemm-bulk 60 bash -c 'gemm_table "$@"' - gemm-bulk.tsv --format fp16,bf16 \
		--sum tc:$arch,path=wgmma --backend gemm=bulk
test $dry = 1 || part bench-train-published 120 "$halfulp" bench train --backend $backend $published --batch 32,64,128,256,512 --policy float32,mixed_float16 --backend gemm=cublas --steps 10 --steps warm=2 -o "$out/train-published.tsv"
part bench-gemm 120 "$halfulp" bench gemm --backend $backend --sizes $sizes --format fp32,fp16 --sum fma,acc=fp32 --backend gemm=$ways --trials 3 -o "$out/gemm.tsv"
part bench-train-mlp 60 "$halfulp" bench train --backend $backend $(echo "$mlp" | sed 's/--batch [0-9]*//') --batch $batches --policy "$comma" --backend gemm=$ways --steps $time_steps --steps warm=2 -o "$out/train-mlp.tsv"
part bench-train-convnet 120 "$halfulp" bench train --backend $backend $(echo "$convnet" | sed 's/--batch [0-9]*//') --batch $batches --policy "$comma" --backend gemm=$ways --steps $time_steps --steps warm=2 -o "$out/train-convnet.tsv"
part bench-train-matrix 90 "$halfulp" bench train --backend $backend $(echo "$convnet" | sed 's/--batch [0-9]*//') --batch $batches --policy mixed_float16 --accumulate tc:$arch --backend gemm=$units --steps $time_steps --steps warm=2 -o "$out/train-matrix.tsv"
# 7. Why
part bench-why 60 "$halfulp" bench why --backend $backend $convnet --policy float32,mixed_float16 --steps $time_steps -o "$out/why.tsv"
part bench-why-calls 60 "$halfulp" bench why --backend $backend $convnet --policy float32,mixed_float16 --by call --steps $time_steps -o "$out/why-calls.tsv"
# the published net, each call by each way
test $dry = 1 || for way in cublas $units $(test $arch != hopper || echo bulk); do
	part "bench-why-published-$way" 60 bash -c "why_published $way"
done
# What the kernels wait for, where there is a profiler
profile() {
	command -v ncu >/dev/null || { echo "no ncu here"; exit 77; }
	ncu --target-processes all --set full --kernel-name "regex:$1" --launch-skip 2 --launch-count 3 "${@:2}"
}
export -f profile
if test $dry:$arch = 0:hopper; then
	for way in mma bulk; do
		part "ncu-$way" 45 bash -c 'profile "$@"' - 'hu_bulk|hu_group' "$halfulp" bench gemm --backend $backend \
			--sizes 4096 --format fp16 --sum tc:hopper,path=wgmma --backend gemm=$way --trials 1
	done
	part ncu-gather 45 bash -c 'profile "$@"' - 'gather' "$halfulp" bench train --backend $backend $published \
		--batch 32 --policy mixed_float16 --backend gemm=cublas --steps 1 --steps warm=1 --backend graph=off
fi
# 8. Beside PyTorch, where Python has it; a table each, which grows as its rows come
beside_torch() {
	local tsv=$out/torch-$1.tsv code
	HALFULP=$halfulp python3 "$top/bench/torch-steps.py" --device cuda --threads 8 --rounds 8 --steps 10 "$1" >"$tsv"
	code=$?
	cat "$tsv"
	! grep -q '^torch-steps: skipped' "$tsv" || { rm "$tsv"; exit 77; }
	return $code
}
export -f beside_torch
test $dry = 1 || for model in convnet-published bert resnet50 resnet18-imagenet convnet unet; do
	part "bench-torch-$model" 60 bash -c 'beside_torch "$1"' - $model
done

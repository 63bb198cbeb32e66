#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu.sh [--dry] [--out DIR] [--build DIR] [--minutes N]: everything that wants a GPU, in one command on a bare machine
# with nvcc and a GPU: builds for that GPU alone, runs every parity test on it, the probes of its matrix units, trainings whose
# digests must be the CPU's, compute-sanitizer at small sizes, and the benchmarks. Leaves one folder of TSV, each with the
# device, driver, toolkit and clocks in its head; summary.tsv has a row a part. Each part has a time limit, and one that fails
# does not stop the rest. Exits 0 where all passed, 1 where a part failed, 4 where there is no GPU or no build.
# --dry: no GPU and no build: the program named by HALFULP and the same parts on the launch shim at tiny sizes.
export LC_ALL=C OMP_WAIT_POLICY=passive
top=$(cd "$(dirname "$0")/.." && pwd)
dry=0 out= build= minutes=9
while test $# -gt 0; do
	case $1 in
	--dry) dry=1 ;;
	--out | --build | --minutes)
		test $# -gt 1 || { echo "gpu.sh: $1 needs a value" >&2; exit 2; }
		case $1 in --out) out=$2 ;; --build) build=$2 ;; --minutes) minutes=$2 ;; esac
		shift ;;
	*) echo "gpu.sh: $1: --dry, --out DIR, --build DIR or --minutes N is known" >&2; exit 2 ;;
	esac
	shift
done
out=${out:-gpu-$(date +%Y%m%d-%H%M%S)}
mkdir -p "$out/log" || exit 4
out=$(cd "$out" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-gpu.XXXXXX") || exit 4
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
began=$(date +%s)
left() { echo $((minutes * 60 - $(date +%s) + began)); }
failed=0

# What every table's head says
head_lines() {
	if test $dry = 1; then
		printf '# gpu: launch shim (none)\n# driver: -\n# clocks: -\n'
	else
		nvidia-smi --query-gpu=name,uuid,compute_cap,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit --format=csv,noheader -i 0 |
			awk -F ', *' '{ printf "# gpu: %s, %s, compute capability %s\n# driver: %s\n# clocks: sm %s of %s, memory %s of %s, power limit %s\n", $1, $2, $3, $4, $5, $7, $6, $8, $9 }'
	fi
	printf '# toolkit: %s\n# date: %s\n' "${toolkit:--}" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# part NAME SECONDS COMMAND...: a row of summary.tsv; its words go to log/NAME.txt
part() {
	local name=$1 limit=$2 code start=$(date +%s.%N) rest=$(left) verdict
	shift 2
	test "$limit" -le "$rest" || limit=$rest
	if test "$limit" -lt 5; then
		verdict="not run: no time left" code=-
		failed=1
	else
		timeout -k 5 "$limit" "$@" >"$out/log/$name.txt" 2>&1 </dev/null
		code=$?
		case $code in 0) verdict=passed ;; 77) verdict=skipped ;; 124 | 137) verdict="over its limit" failed=1 ;; *) verdict=failed failed=1 ;; esac
	fi
	printf '%s\t%s\t%s\t%.1f\n' "$name" "$verdict" "$code" "$(echo "$(date +%s.%N) $start" | awk '{ print $1 - $2 }')" >>"$work/summary"
	printf '%-28s %s\n' "$name" "$verdict"
	case $verdict in failed) tail -n 3 "$out/log/$name.txt" | sed 's/^/    /' ;; esac
}

# Each table of the program gets the device's lines in front
heads() {
	local t
	for t in "$out"/*.tsv; do
		test -f "$t" && ! grep -q '^# clocks: ' "$t" || continue
		{ head_lines; cat "$t"; } >"$work/t" && mv "$work/t" "$t"
	done
}

summary() {
	{ head_lines; printf '# seconds: %s\npart\tverdict\texit\tseconds\n' "$(($(date +%s) - began))"; cat "$work/summary"; } >"$out/summary.tsv"
}

# A TAP program passes where it exits 0 and no line begins with "not ok"
cat >"$work/tap" <<'END'
#!/bin/bash
"$@" >"$0.out" 2>&1
code=$?
cat "$0.out"
grep -q '^not ok' "$0.out" && exit 1
exit $code
END
chmod +x "$work/tap"

if test $dry = 1; then
	toolkit=-
	backend=shim arch=hopper
	halfulp=${HALFULP:-halfulp}
	command -v "$halfulp" >/dev/null || { echo "gpu.sh: --dry: no program '$halfulp'; set HALFULP" >&2; exit 4; }
	tests=$(test -x t/cuda/u-shim && echo t/cuda/u-shim)
else
	command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU || { echo "gpu.sh: no NVIDIA GPU here (nvidia-smi shows none); --dry runs the parts on the launch shim" >&2; exit 4; }
	PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
	export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${CUDA_HOME:-/usr/local/cuda}/lib64 # where an installer without packages leaves cuBLASLt
	command -v nvcc >/dev/null || { echo "gpu.sh: no nvcc; install the CUDA toolkit or set CUDA_HOME" >&2; exit 4; }
	toolkit=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
	capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. ')
	case $capability in 80 | 86 | 87) arch=ampere ;; 89) arch=ada ;; 90) arch=hopper ;; 10*) arch=blackwell ;; 12*) arch=rtxblackwell ;; *) arch=turing ;; esac
	# instructions of one architecture alone (wgmma) have a letter of their own
	target=$capability
	test "$capability" = 90 && target=90a
	build=${build:-$work/build}
	backend=cuda
	halfulp=$build/halfulp
	mkdir -p "$build" || exit 4
	build=$(cd "$build" && pwd)
	halfulp=$build/halfulp
	if ! test -x "$top/configure"; then
		(cd "$top" && autoreconf -fi) >"$out/log/autoreconf.txt" 2>&1 || { echo "gpu.sh: autoreconf fails (see $out/log/autoreconf.txt); ./bootstrap installs what a build needs, then call this again" >&2; exit 4; }
	fi
	tests=$(cd "$top" && ls t/cuda/u-cuda*.c t/cuda/u-shim.c t/cuda/u-device.c t/trainer/u-gpu.c | sed 's/\.c$//')
	export top build target tests
	part build 360 bash -c 'cd "$build" && { test -f Makefile || "$top/configure" -q --with-cuda=yes CUDA_ARCH_FLAGS="-gencode arch=compute_$target,code=sm_$target"; } && make -j"$(nproc)" halfulp $tests'
	test -x "$halfulp" || { summary; echo "gpu.sh: it does not build; see $out/log/build.txt; ./bootstrap installs what a build needs" >&2; exit 4; }
	cd "$build" || exit 4
fi
export srcdir=$top HALFULP=$halfulp
# Kernels on the matrix units are for capability 8.0 and newer; Turing's units have fp16 alone, which simt follows
units=mma formats=tf32,fp16,bf16
test "$arch" != turing || units=simt formats=fp16
# Sizes: tiny on the shim, which interprets each thread
if test $dry = 1; then
	random=2000 steps=2 mlp="--model mlp --width 0.0625 --batch 4" convnet="--model convnet --width 0.0625 --size 12 --batch 2" sizes=33 batches=4 time_steps=1 policies="float32 mixed_float16"
else
	random=10000000 steps=100 mlp="--model mlp" convnet="--model convnet --width 0.25" sizes=1024,4096,8192 batches=32,64,128,256,512 time_steps=30 policies="float32 mixed_float16 mixed_bfloat16 tf32"
fi

part doctor 20 "$halfulp" doctor
for t in $tests; do
	part "${t##*/}" 150 "$work/tap" "./$t"
done
test $arch = turing || part probe 120 "$halfulp" probe --backend $backend --model tc:$arch --random $random --tsv "$out/probe.tsv"

# Trainings: the state after each step must be the CPU's, whichever way products are computed
printf 'model\tpolicy\taccumulate\tgemm\tsteps\tdigest\tcpu_digest\tequal\n' >"$work/parity.tsv"
digests() { awk -F '\t' '/^#/ { next } !c { for (i = 1; i <= NF; i++) if ($i == "digest") c = i; next } { print $c }' "$1/metrics.tsv"; }
parity() { # MODEL-NAME OPTIONS POLICY ACCUMULATE WAY
	local name=$1 options=$2 policy=$3 sum=$4 way=$5 run=$work/run-$1-$3-$4-$5 a b
	local common="$options --policy $policy --steps $steps --train 640 --eval 64 --trace-steps none --meter none --quiet"
	test "$policy" != mixed_float16 || common="$common --init-scale 256" # the others scale no loss
	test "$sum" = default || common="$common --accumulate $sum"
	"$halfulp" train $common --backend $backend --gemm "$way" "$run" || return 1
	test -d "$work/cpu-$name-$policy-$sum" || "$halfulp" train $common --backend cpu "$work/cpu-$name-$policy-$sum" || return 1
	a=$(digests "$run" | tail -n 1) b=$(digests "$work/cpu-$name-$policy-$sum" | tail -n 1)
	same=no
	cmp -s <(digests "$run") <(digests "$work/cpu-$name-$policy-$sum") && same=yes
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$policy" "$sum" "$way" "$steps" "$a" "$b" "$same" >>"$work/parity.tsv"
	test $same = yes
}
# Two runs, one digest; a run that was killed and resumed; a run judged on the CPU
again() {
	local common="$mlp --policy mixed_float16 --train 640 --eval 64 --init-scale 256 --trace-steps none --meter none --quiet --backend $backend"
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
	local common="$mlp --policy mixed_float16 --train 640 --eval 64 --steps 5 --trace-steps last --meter none --quiet --backend cuda --gemm cublas"
	"$halfulp" train $common "$work/cublas-1" && "$halfulp" train $common "$work/cublas-2" && cmp <(digests "$work/cublas-1") <(digests "$work/cublas-2") && "$halfulp" analyze --only replay "$work/cublas-1"
}
export -f digests parity again cublas
export halfulp work backend steps mlp convnet
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
cp "$work/parity.tsv" "$out/parity.tsv"

# What it takes
comma=$(echo $policies | tr ' ' ',')
ways=simt matrix=$units
test $dry = 1 || ways=simt,cublas matrix=$units,cublas
part bench-gemm 120 "$halfulp" bench gemm --backend $backend --sizes $sizes --formats fp32,fp16 --sum fma,acc=fp32 --gemm $ways --trials 3 --tsv "$out/gemm.tsv"
part bench-gemm-matrix 120 "$halfulp" bench gemm --backend $backend --sizes $sizes --formats $formats --sum tc:$arch --gemm $matrix --trials 3 --tsv "$out/gemm-matrix.tsv"
part bench-train-mlp 60 "$halfulp" bench train --backend $backend $(echo "$mlp" | sed 's/--batch [0-9]*//') --batch $batches --policy "$comma" --gemm $ways --steps $time_steps --warm 2 --tsv "$out/train-mlp.tsv"
part bench-train-convnet 120 "$halfulp" bench train --backend $backend $(echo "$convnet" | sed 's/--batch [0-9]*//') --batch $batches --policy "$comma" --gemm $ways --steps $time_steps --warm 2 --tsv "$out/train-convnet.tsv"
part bench-train-matrix 90 "$halfulp" bench train --backend $backend $(echo "$convnet" | sed 's/--batch [0-9]*//') --batch $batches --policy mixed_float16 --accumulate tc:$arch --gemm $units --steps $time_steps --warm 2 --tsv "$out/train-matrix.tsv"
if test $dry = 0; then
	part bench-train-published 120 "$halfulp" bench train --backend $backend --model convnet --size 256 --channels 3 --batch 32,64,128,256,512 --policy float32,mixed_float16 --gemm cublas --steps 10 --warm 2 --tsv "$out/train-published.tsv"
fi
part bench-why 60 "$halfulp" bench why --backend $backend $convnet --policy float32,mixed_float16 --steps $time_steps --tsv "$out/why.tsv"
part bench-why-calls 60 "$halfulp" bench why --backend $backend $convnet --policy float32,mixed_float16 --by call --steps $time_steps --tsv "$out/why-calls.tsv"

# Memory and races under the sanitizer, after all that measures
if test $dry = 0; then
	sanitizer() { command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; exit 77; }; compute-sanitizer --error-exitcode 9 "$@"; }
	export -f sanitizer
	for tool in memcheck racecheck; do
		part "sanitizer-$tool" 60 bash -c 'sanitizer "$@"' - --tool $tool "$halfulp" bench train --backend cuda --model convnet --width 0.0625 --size 12 --batch 4 --steps 2 --warm 0 --policy mixed_float16 --meter none
		part "sanitizer-$tool-gemm" 60 bash -c 'sanitizer "$@"' - --tool $tool "$halfulp" bench gemm --backend cuda --sizes 72x40x56 --formats fp16 --sum tc:$arch --gemm $units --trials 1
	done
fi

heads
summary
echo "$out: $(awk -F '\t' '$2 == "passed"' "$work/summary" | wc -l) of $(wc -l <"$work/summary") parts passed"
exit $failed

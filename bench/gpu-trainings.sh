# SPDX-License-Identifier: Apache-2.0
# Sourced by gpu.sh and gpu-pack.sh, which set $top, $work, $halfulp and $only: which parts are wanted, the short
# trainings at the models' own sizes whose digests a GPU is held to, and where the CPU's digests come from: the bundle,
# or a run made here.

# matches NAME LIST: whether one of LIST's patterns, which commas separate, is NAME's
matches() {
	local pattern patterns
	IFS=, read -ra patterns <<<"$2"
	for pattern in "${patterns[@]}"; do
		[[ $1 != $pattern ]] || return 0
	done
	return 1
}

# A lease of half an hour is three calls of one machine, in this order; the third, after what the first two showed was
# mended. The limits of a call's parts add up to no more than its seconds (t/cuda/t-gpu.sh).
calls=(
	'560 doctor,reach-bulk,bench-gemm-*,bench-why-published-*,bench-torch-convnet-published,bench-torch-bert'
	'480 doctor,u-cuda-*,sanitizer-memcheck-bulk,sanitizer-synccheck-bulk,ncu-*'
	'330 doctor,bench-gemm-*,digests-bulk-*,bench-torch-convnet-published,bench-torch-bert'
)

# Each model's own size; on the shim, which interprets each thread, a tiny one and few policies
own_policies='.*'
test "$dry" != 1 || own_policies='float32\|tf32\|mixed_float16'

# digests RUN: of every step
digests() { awk -F '\t' '/^#/ { next } !c { for (i = 1; i <= NF; i++) if ($i == "digest") c = i; next } { print $c }' "$1/metrics.tsv"; }

# rows FILE WORD: the first arguments of the rows of a .def file
rows() { sed -n "s/^$2(\"\{0,1\}\([A-Za-z0-9_]*\)\"\{0,1\}[,)].*/\1/p" "$top/$1"; }
models() { rows trainer/model/models.def MODEL; }
# own_sizes MODEL: by the options that its row names. Convolutions have batches of 8, which take the CPU a third of the
# time of 32; t/cuda/u-cuda-choice holds that they reach every kernel that 32 reaches.
own_sizes() {
	local row batch
	row=$(grep "^MODEL($1, " "$top/trainer/model/models.def")
	if test "$dry" != 1; then
		case $row in *'"x[n,height,width,'* | *'"x[n,1,samples,'*) batch=8 ;; *) batch=32 ;; esac
		echo "--batch $batch --data train=$((3 * batch)) --data eval=$batch"
		return
	fi
	case $row in *',height,width,'* | *'"x[n,...]'*) printf -- '--data size=10 ' ;; esac
	case $row in *'"width'*) printf -- '--model width=0.0625 ' ;; esac
	case $row in *'"layers hidden'*) printf -- '--model layers=2,hidden=8 ' ;; esac
	case $row in *' heads '*) printf -- '--model heads=2 ' ;; esac
	echo "--batch 2 --data train=96,eval=32"
}

# trainings MODEL ARCH: lines "policy sum options": every policy by its own sums, and by those of ARCH's matrix units
# (none: no such lines) what these compute; on Hopper by each path. A scaled loss begins at 256, which
# overflows nowhere: a skipped step would show less.
trainings() {
	local model=$1 arch=$2 policy sum sizes
	sizes=$(own_sizes "$1")
	for policy in $(rows lib/program/policy/policies.def POLICY | grep -x "$own_policies"); do
		for sum in default $(test "$arch" = none || case $arch:$policy in
			hopper:mixed_float16 | hopper:mixed_bfloat16) echo tc:hopper,path=mma tc:hopper,path=wgmma ;;
			hopper:mixed_e5m2) echo tc:hopper,path=mma ;;
			turing:mixed_float16 | *:tf32 | *:mixed_float16 | *:mixed_bfloat16) echo "tc:$arch" ;;
			ada:mixed_e5m2) echo tc:ada ;;
			esac); do
			printf '%s %s --model %s --policy %s%s%s %s --steps 3 --trace steps=none --meter none --quiet\n' "$policy" "$sum" "$model" "$policy" \
				"$(test "$sum" = default || echo " --accumulate $sum")" "$(grep -q "^POLICY(\"$policy\",.* 1, [A-Z]*, [A-Z]*, \"" "$top/lib/program/policy/policies.def" && echo ' --loss-scale init=256')" "$sizes"
		done
	done
}

# reference NAME OPTION...: prints the file of the CPU's digests, of the bundle or made before where those are for these
# very options. Several calls may run at a time, of a name each; a file is whole or not there.
reference() {
	local name=$1 file
	shift
	for file in "$top/reference/$name" "$work/reference/$name"; do
		if test -f "$file" && test "$(head -n 1 "$file")" = "# $*"; then
			echo "$file"
			return
		fi
	done
	mkdir -p "$work/reference"
	rm -rf "$work/run-$name"
	"$halfulp" train "$@" --backend cpu "$work/run-$name" >&2 || return 1
	{ echo "# $*"; digests "$work/run-$name"; } >"$file.part" && mv "$file.part" "$file" || return 1
	rm -rf "$work/run-$name"
	echo "$file"
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu.sh [--from BUNDLE | --build DIR | --dry] [--out DIR] [--archive FILE] [--minutes N]
#     [--only LIST | --call N]:
# everything that wants a GPU, in one command: every parity test, trainings whose digests must be the CPU's,
# compute-sanitizer, the probes of the matrix units, and the benchmarks (gpu-parts.sh, in the order of their worth).
# Leaves one folder of TSV, each with the device, driver, toolkit and clocks in its head, and the same as one archive,
# which is written anew after each part. Each part has a time limit, and one that fails does not stop the rest. Called
# again with the same folder or archive it goes on where time ran out. Exits 0 where all passed, 1 where a part failed,
# 4 where there is no GPU or no build. Without --from: on a machine with nvcc, whose GPU it builds for. --bundle FILE
# [--build DIR] [--only LIST]: packs that build for machines that have a driver alone (gpu-pack.sh), with the CPU's
# digests of the parts that LIST names, and goes on where it was stopped; --from FILE, or the script within the unpacked
# bundle, runs it there. LIST is of patterns of parts' names, separated by commas; each has to name a part (exit code
# 3), and the build runs with any. --call N: the parts of the N-th call of a lease (gpu-trainings.sh). --list: names the
# parts, the seconds that each may take and what became of it in the folder or archive of results, and their sum, and
# runs none. --dry: no GPU and no build: the program named by HALFULP, or the bundle's,
# and the same parts on the launch shim at tiny sizes.
export LC_ALL=C OMP_WAIT_POLICY=passive
top=$(cd "$(dirname "$0")/.." && pwd)
dry=0 list=0 out= build= minutes=9 from= bundle= archive= only='*' call=
while test $# -gt 0; do
	case $1 in
	--dry) dry=1 ;;
	--list) list=1 ;;
	--out | --build | --minutes | --from | --bundle | --archive | --only | --call)
		test $# -gt 1 && test -n "$2" || { echo "gpu.sh: $1 needs a value" >&2; exit 2; }
		case $1 in --out) out=$2 ;; --build) build=$2 ;; --minutes) minutes=$2 ;; --from) from=$2 ;; --bundle) \
			bundle=$2 ;; --archive) archive=$2 ;; --only) only=$2 ;; --call) call=$2 ;; esac
		shift ;;
	*)
		echo "gpu.sh: $1: --from, --bundle, --build, --dry, --list, --out, --archive, --minutes, --only or "\
"--call is known" >&2
		exit 2
		;;
	esac
	shift
done
case $minutes in *[!0-9]*) echo "gpu.sh: --minutes $minutes: a whole number is needed" >&2; exit 2 ;; esac
. "$top/bench/gpu-trainings.sh"
if test -n "$call"; then
	case $call in [1-9]) test "$call" -le ${#calls[@]} ;; *) false ;; esac || {
		echo "gpu.sh: --call $call: a lease has the calls 1 to ${#calls[@]}" >&2
		exit 2
	}
	test "$only" = '*' || { echo "gpu.sh: --call $call names parts as --only does; give one of them" >&2; exit 2; }
	only=${calls[call - 1]#* }
fi
if test -n "$bundle"; then
	exec bash "$top/bench/gpu-pack.sh" "$bundle" "${build:-$top/build}" $dry "$only"
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-gpu.XXXXXX") || exit 4
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if test -f "$from"; then
	tar -C "$work" -xzf "$from" 2>/dev/null && test -f "$work/halfulp-gpu/BUNDLE" ||
		{ echo "gpu.sh: --from $from: this is no bundle; gpu.sh --bundle makes one" >&2; exit 3; }
	bash "$work/halfulp-gpu/bench/gpu.sh" $(test $dry = 0 || echo --dry) $(test $list = 0 ||
		echo --list) --minutes "$minutes" --only "$only" --out "${out:-gpu}" ${archive:+--archive "$archive"}
	exit
elif test -n "$from"; then
	test -f "$from/BUNDLE" || { echo "gpu.sh: --from $from: this is no bundle; gpu.sh --bundle makes one" \
		>&2; exit 3; }
	top=$(cd "$from" && pwd)
fi
test -f "$top/BUNDLE" && from=$top

# Is there a GPU? Before anything is written. A list of the parts needs none, and is that for Hopper.
if test $list = 1; then
	arch=hopper backend=cuda halfulp=$top/halfulp toolkit=-
elif test $dry = 0; then
	export PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/nvidia/bin
	# where installers without packages leave cuBLASLt, and containers the driver
	export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${CUDA_HOME:-/usr/local/cuda}/lib64:/usr/local/nvidia/lib64
	toolkit=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
	if test -n "$from"; then
		halfulp=$top/halfulp
		"$halfulp" --version >"$work/starts" 2>&1 ||
			{ export HALFULP_OWN_LIBC=1; "$halfulp" --version >>"$work/starts" 2>&1; } ||
			{ echo "gpu.sh: the bundle's program does not start here: $(head -n 1 "$work/starts")" \
			>&2; exit 4; }
		"$halfulp" doctor >"$work/doctor" 2>&1
		grep -q '^device 0' "$work/doctor" || { echo \
			"gpu.sh: no driver, or no GPU that the bundle's program can use: $(sed -n \
			's/^CUDA.*usable: //p' "$work/doctor")" >&2; exit 4; }
		toolkit=$(sed -n 's/^toolkit: //p' "$top/BUNDLE")
		capability=$(sed -n 's/^GPU .*compute capability \([0-9]*\)\.\([0-9]*\).*/\1\2/p' "$work/doctor")
	else
		command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU ||
			{ echo "gpu.sh: no NVIDIA GPU here (nvidia-smi shows none); --dry runs the parts on the "\
"launch shim" >&2; exit 4; }
		test -n "$toolkit" || { echo "gpu.sh: no nvcc; install the CUDA toolkit or set CUDA_HOME, or use "\
"--from with a bundle" >&2; exit 4; }
		capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. ')
	fi
	case $capability in 80 | 86 | 87) arch=ampere ;; 89) arch=ada ;; 90) arch=hopper ;; 10*) arch=blackwell \
		;; 12*) arch=rtxblackwell ;; *) arch=turing ;; esac
	backend=cuda
else
	toolkit=- backend=shim arch=hopper
	halfulp=${HALFULP:-halfulp}
	test -z "$from" || halfulp=$top/halfulp
	command -v "$halfulp" >/dev/null || { echo "gpu.sh: --dry: no program '$halfulp'; set HALFULP" >&2; exit 4; }
fi

# The folder of results, which the archive brings back where only that is left
out=${out:-gpu-$(date +%Y%m%d-%H%M%S)}
case $archive in '' | /*) ;; *) archive=$PWD/$archive ;; esac
case $out in /*) ;; *) out=$PWD/$out ;; esac
archive=${archive:-$out.tar.gz}
if ! test -f "$out/parts" && test -f "$archive"; then
	test $list = 0 || out=$work/listed
	mkdir -p "$work/before" && tar -C "$work/before" -xzf "$archive" 2>/dev/null && test -f "$work/before/parts" ||
		{ echo "gpu.sh: $archive: not an archive of results; name another by --archive" >&2; exit 3; }
	mkdir -p "$out" && cp -r "$work/before/." "$out/" || exit 4
fi
if test $list = 0; then
	mkdir -p "$out/log" "$(dirname "$archive")" && touch "$out/parts" || exit 4
fi
began=$(date +%s)
left() { echo $((minutes * 60 - $(date +%s) + began)); }

# What every table's head says
head_lines() {
	if test $dry = 1; then
		printf '# gpu: launch shim (none)\n# driver: -\n# clocks: -\n'
	elif command -v nvidia-smi >/dev/null; then
		facts=name,compute_cap,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit
		nvidia-smi --query-gpu=$facts --format=csv,noheader -i 0 |
			awk -F ', *' '{ printf "# gpu: %s, compute capability %s\n# driver: %s\n# clocks: sm %s of '\
'%s, memory %s of %s, power limit %s\n", $1, $2, $3, $4, $6, $5, $7, $8 }'
	else
		sed -n 's/, GPU-[0-9a-f-]*$//; s/^GPU  */# gpu: /p' "$work/doctor"
		printf '# driver: -\n# clocks: -\n'
	fi
	printf '# toolkit: %s\n# date: %s\n' "${toolkit:--}" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# Each table gets the device's lines in front, once; the summary is made of the parts; all goes to the archive
keep() {
	local t
	for t in "$out"/*.tsv; do
		test -f "$t" && ! grep -q '^# clocks: ' "$t" || continue
		{ head_lines; cat "$t"; } >"$work/t" && cat "$work/t" >"$t"
	done
	{ head_lines; printf 'part\tverdict\texit\tseconds\n'; cat "$out/parts"; } >"$out/summary.tsv"
	tar -C "$out" -czf "$archive.part" . && mv "$archive.part" "$archive"
}

# part NAME SECONDS COMMAND...: a row of summary.tsv; its words go to log/NAME.txt. One that ended before is not
# repeated.
looks=0 total=0 names=()
part() {
	local name=$1 limit=$2 code start=$(date +%s.%N) rest=$(left) verdict
	shift 2
	if test $looks = 1; then
		names+=("$name")
		return
	fi
	matches "$name" "$only" || test "$name" = build || return
	total=$((total + limit))
	if test $list = 1; then
		verdict=$(sed -n "s/^$name	\([^	]*\).*/\1/p" "$out/parts" 2>/dev/null)
		printf '%s\t%s\t%s\n' "$name" "$limit" "${verdict:-not run}"
		return
	fi
	! grep -q "^$name	\(passed\|skipped\|failed\)	" "$out/parts" || return
	test "$limit" -le "$rest" || limit=$rest
	if test "$limit" -lt 5; then
		verdict="not run: no time left" code=-
	else
		timeout -k 5 "$limit" "$@" >"$work/words" 2>&1 </dev/null
		code=$?
		case $code in 0) verdict=passed ;; 77) verdict=skipped ;; 124 | 137) verdict="over its limit" ;; *) \
			verdict=failed ;; esac
		tail -c 200000 "$work/words" >"$out/log/$name.txt"
	fi
	{ grep -v "^$name	" "$out/parts"; printf '%s\t%s\t%s\t%.1f\n' "$name" "$verdict" "$code" \
		"$(echo "$(date +%s.%N) $start" | awk '{ print $1 - $2 }')"; } >"$work/parts"
	cat "$work/parts" >"$out/parts"
	printf '%-28s %s\n' "$name" "$verdict"
	case $verdict in failed) tail -n 3 "$out/log/$name.txt" | sed 's/^/    /' ;; esac
	case $verdict in not*) ;; *) keep ;; esac
}

# Refuses a pattern that names no part, before anything runs
look() {
	local pattern patterns name
	looks=1
	. "$top/bench/gpu-parts.sh"
	looks=0
	IFS=, read -ra patterns <<<"$only"
	for pattern in "${patterns[@]}"; do
		for name in build "${names[@]}"; do
			[[ $name != $pattern ]] || continue 2
		done
		echo "gpu.sh: --only $pattern: no part$(test $dry = 0 ||
			echo " of a dry run") has such a name; --list names them" >&2
		exit 3
	done
}

if test $dry = 1; then
	tests=$(test -x t/cuda/u-shim && echo t/cuda/u-shim)
elif test -n "$from"; then
	cd "$top" || exit 4
	tests=$(find t -name "u-*" 2>/dev/null | sort)
	export HALFULP_GPU_ONLY=1 # the shim's part was tested where the bundle was made
elif test $list = 1; then
	tests=$(cd "$top" && ls t/cuda/u-cuda*.c t/cuda/u-shim.c t/cuda/u-device.c t/trainer/device/u-gpu.c |
		sed 's/\.c$//')
else
	# instructions of one architecture alone (wgmma) have a letter of their own
	target=$capability
	test "$capability" = 90 && target=90a
	srcdir=$top
	look
	build=${build:-$work/build}
	mkdir -p "$build" || exit 4
	build=$(cd "$build" && pwd)
	halfulp=$build/halfulp
	if ! test -x "$top/configure"; then
		(cd "$top" && autoreconf -fi) >"$out/log/autoreconf.txt" 2>&1 ||
			{ echo "gpu.sh: autoreconf fails (see $out/log/autoreconf.txt); ./bootstrap installs what a "\
"build needs, then call this again" >&2; exit 4; }
	fi
	tests=$(cd "$top" && ls t/cuda/u-cuda*.c t/cuda/u-shim.c t/cuda/u-device.c t/trainer/device/u-gpu.c | sed 's/\.c$//')
	export top build target tests
	test -x "$halfulp" || sed -i '/^build	/d' "$out/parts"
	part build 360 bash -c 'cd "$build" && { test -f Makefile || "$top/configure" -q --with-cuda=yes '\
'CUDA_ARCH_FLAGS="-gencode arch=compute_$target,code=sm_$target"; } && make -j"$(nproc)" halfulp $tests'
	test -x "$halfulp" || { echo "gpu.sh: it does not build; see $out/log/build.txt; ./bootstrap installs what a "\
"build needs" >&2; exit 4; }
	cd "$build" || exit 4
fi
export srcdir=$top HALFULP=$halfulp
test ${#names[@]} -gt 0 || look
test $list = 0 || printf 'part\tseconds at most\tverdict\n'
. "$top/bench/gpu-parts.sh"
test $list = 0 || { printf 'all\t%d\t-\n' $total; exit 0; }
keep
echo "$archive: $(awk -F '\t' '$2 == "passed"' "$out/parts" | wc -l) of $(wc -l <"$out/parts") parts passed"
! awk -F '\t' '$2 != "passed" && $2 != "skipped"' "$out/parts" | grep -q .

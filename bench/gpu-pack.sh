#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu-pack.sh FILE BUILD DRY ONLY: what `gpu.sh --bundle FILE` does: packs the program of folder BUILD, its GPU tests,
# the shared libraries that they load, these scripts, and the CPU's digests of the trainings that the GPU will be held
# to, as one archive of gzip and tar. `tar xzf FILE && halfulp-gpu/bench/gpu.sh` then runs it where there is nothing but
# a driver. DRY 1: the program alone, of any build, for --dry. ONLY: the digests of those parts alone; the others' are
# computed where the bundle runs.
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
case $1 in /*) file=$1 ;; *) file=$PWD/$1 ;; esac
build=$(cd "$2" 2>/dev/null && pwd) dry=$3 only=$4
fail() { echo "gpu.sh: --bundle: $1" >&2; exit 4; }
test -x "$build/halfulp" || fail "no program $2/halfulp; build it with --with-cuda=yes, or name its folder by --build"
test "$dry" = 1 || "$build/halfulp" doctor | grep -q '^back ends .* cuda' ||
	fail "$build/halfulp is built without CUDA; configure --with-cuda=yes where nvcc is"
work=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-pack.XXXXXX") || exit 4
trap 'rm -rf "$work" "$file.part"' EXIT
trap 'exit 130' INT TERM
to=$work/halfulp-gpu
mkdir -p "$to/bin" "$to/libraries" "$to/libc" "$to/reference" || exit 4
halfulp=$build/halfulp
. "$top/bench/gpu-trainings.sh"

# Programs, each behind a script that leads it to the libraries; what the shim alone can test stays here
programs=halfulp
of_devices='HU_HAVE_CUDA\|on_each_side\|hu_device_count'
for t in $(test "$dry" = 1 || (cd "$top" && grep -rl --include='u-*.c' "$of_devices" t | sort | sed 's/\.c$//' &&
	echo bench/tool/turns)); do
	test -x "$build/$t" || fail "no program $build/$t; make -C $build $t"
	programs="$programs $t"
done
# Every program holds the same kernels, most of its size: they are packed once, between the program's two other parts.
part() {
	set -- "$to/bin/$1" $(readelf -SW "$to/bin/$1" | sed 's/\[ *\([0-9]*\)\]/\1/' |
		awk '$2 == ".nv_fatbin" { print "0x" $5, "0x" $6 }')
	test $# = 3 || return 0
	mkdir -p "$to/kernels"
	tail -c +$(($2 + 1)) "$1" | head -c $(($3)) >"$work/kernels"
	kernels=$(cksum <"$work/kernels" | tr ' ' -)
	head -c $(($2)) "$1" >"$1.head" && tail -c +$(($2 + $3 + 1)) "$1" >"$1.tail" &&
		chmod +x "$1.head" && mv "$work/kernels" "$to/kernels/$kernels" && rm "$1"
}

for p in $programs; do
	mkdir -p "$to/bin/$(dirname $p)" "$to/$(dirname $p)"
	strip -o "$to/bin/$p" "$build/$p" || fail "$build/$p cannot be stripped"
	kernels=
	part $p || fail "the kernels of $build/$p cannot be packed"
	# the system's C library where it is new enough, else the bundle's own with its loader
	cat >"$to/$p" <<-'END'
		#!/bin/sh
		top=__TOP__
		whole=$top/bin/__NAME__
		test -x "$whole" || { cp "$whole.head" "$whole.$$" &&
			cat "$top/kernels/__KERNELS__" "$whole.tail" >>"$whole.$$" && mv "$whole.$$" "$whole"; } || exit 4
		if test "$HALFULP_OWN_LIBC" = 1; then
			export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} # else the program starts itself anew, without this loader
			exec "$top/libc/ld.so" --library-path "$top/libc:$top/libraries:$LD_LIBRARY_PATH" "$top/bin/__NAME__" "$@"
		fi
		LD_LIBRARY_PATH=$top/libraries:$LD_LIBRARY_PATH exec "$top/bin/__NAME__" "$@"
	END
	sed -i "s|__NAME__|$p|; s|__KERNELS__|$kernels|; s|__TOP__|\$(cd \"\$(dirname \"\$0\")/$(dirname $p |
		sed 's|^\.$||; s|[^/][^/]*|..|g')\" \&\& pwd)|" "$to/$p"
	chmod +x "$to/$p"
done

# Libraries: all that the loader finds; those of the C library apart
for p in $programs; do ldd "$build/$p" || fail "ldd $build/$p fails"; done |
	awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*ld-linux/ { print $1 }' | sort -u >"$work/libraries"
while read -r library; do
	case ${library##*/} in
	ld-linux*) cp -L "$library" "$to/libc/ld.so" ;;
	libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.*) cp -L "$library" "$to/libc/" ;;
	*) cp -L "$library" "$to/libraries/" && strip "$to/libraries/${library##*/}" 2>/dev/null ;;
	esac || fail "$library cannot be copied"
done <"$work/libraries"
cp -r "$top/LICENSE" "$to/"
mkdir -p "$to/bench" "$to/lib/program/policy" "$to/trainer/model" "$to/t/trainer/model"
cp "$top"/bench/gpu*.sh "$top/bench/torch-steps.py" "$to/bench/"
cp "$top/t/trainer/model/torchnets.py" "$to/t/trainer/model/"
cp "$top/lib/program/policy/policies.def" "$to/lib/program/policy/"
cp "$top/trainer/model/models.def" "$to/trainer/model/"

# The CPU's digests, by the program that is packed, as many at a time as there are cores. Each is a file of FILE.parts,
# where a call that was stopped goes on, until FILE is written; another program makes them anew.
parts=$file.parts
mkdir -p "$parts/reference" || fail "$parts cannot be made"
exec 9>"$parts/lock"
flock -n 9 || fail "another call makes $parts just now"
program=$(cksum <"$build/halfulp")
if test "$program" != "$(cat "$parts/program" 2>/dev/null)"; then
	rm -rf "$parts/reference"
	mkdir "$parts/reference" && echo "$program" >"$parts/program" || fail "$parts cannot be written"
fi
rm -f "$parts"/reference/*.part # of a call that was stopped
# Models take turns, which makes what is left foreseeable
for model in $(models); do
	matches "digests-$model" "$only" || matches "digests-bulk-$model" "$only" || continue
	for arch in hopper ampere; do
		trainings $model $arch
	done | sort -u | awk -v model="$model" '{ sum = $2; policy = $1; $1 = $2 = ""; print NR, model "-" policy "-" '\
'sum $0 }'
done | sort -s -n -k 1,1 | cut -d ' ' -f 2- >"$work/trainings"
ln -s "$parts/reference" "$work/reference"
one() {
	reference $1 >/dev/null 2>"$work/err-${1%% *}" ||
		{ tail -n 1 "$work/err-${1%% *}" >"$work/failed"; return 255; }
	rm -f "$work/err-${1%% *}"
}
export -f one reference digests
export top work halfulp
while read -r name options; do
	test -f "$parts/reference/$name" && test "$(head -n 1 "$parts/reference/$name")" = "# $options" && echo "$name"
done <"$work/trainings" >"$work/before"
all=$(wc -l <"$work/trainings") before=$(wc -l <"$work/before") began=$(date +%s) said=0
test $before = 0 || echo "gpu.sh: --bundle: $before of $all trainings are there from before, in $parts" >&2
# What xargs starts ends with it; stopped, this script ends what runs.
set -m
OMP_NUM_THREADS=1 xargs -r -P "$(nproc)" -d '\n' -n 1 bash -c 'one "$1"' - <"$work/trainings" 2>/dev/null 9>&- &
xargs=$!
set +m
trap 'kill -- -$xargs 2>/dev/null; wait $xargs 2>/dev/null; exit 130' INT TERM
while kill -0 $xargs 2>/dev/null; do
	sleep 0.2
	now=$(date +%s)
	test $((now - said)) -ge 10 || continue
	have=$(cut -d ' ' -f 1 "$work/trainings" | (cd "$parts/reference" && xargs ls -d 2>/dev/null) | wc -l) said=$now
	test $have -gt $before || continue
	rest=$(((now - began) * (all - have) / (have - before)))
	echo "gpu.sh: --bundle: $have of $all trainings after $((now - began)) s, about $rest s left" >&2
done
wait $xargs || fail "a training: $(cat "$work/failed" 2>/dev/null)"
while read -r name options; do
	cp "$parts/reference/$name" "$to/reference/" || fail "the digests of $name are missing in $parts"
done <"$work/trainings"
{
	echo "halfulp's program and tests for a machine with a GPU"
	echo "version: $("$halfulp" --version | head -n 1)"
	echo "compiled for: $(sed -n 's/^CUDA_ARCH_FLAGS = *//p' "$build/Makefile")"
	echo "toolkit: $("$halfulp" doctor | sed -n 's/^toolkit *//p')"
	echo "made: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
} >"$to/BUNDLE"
tar -C "$work" -c --owner=0 --group=0 halfulp-gpu | gzip -9 >"$file.part" && mv "$file.part" "$file" ||
	fail "$file cannot be written"
rm -rf "$parts"
echo "$file: $(du -k "$file" | cut -f 1) KB, $(echo $programs | wc -w) programs, $(ls "$to/libraries" |
	grep -c '\.so') libraries, $(ls "$to/reference" | wc -l) trainings"

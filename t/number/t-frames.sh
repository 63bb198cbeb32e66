#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stack frames: a thread's stack may be 2 MB, and a frame of 45 MB, which the bulk loops once had where nothing is
# optimised, lay in another thread's stack: wrong numbers in silence. The kernels with the most inlined functions,
# compiled without optimisation by the build's compiler, stay below 64 KB a frame; the build's own warning covers every
# file at its own flags.
. "${srcdir:-.}/t/tool/tap.sh"

flags="-std=gnu11 -ffp-contract=off -fopenmp -I$top -Wframe-larger-than=65536 -Werror"
printf 'int f(void);\nint f(void) { volatile char big[70000]; big[0] = 0; return big[0]; }\n' >big.c
if ! ${CC:-cc} $flags -Wno-error -c big.c -o big.o 2>/dev/null; then skip_all "no C compiler (CC) to compile with"; fi
${CC:-cc} $flags -O0 -c big.c -o big.o >out 2>err
test $? != 0
test_is $? "the compiler counts: a frame of 70 KB is refused"

# frame_of FILE FLAGS: compiles within 4 GB of memory and a minute, which thousands of inlined bodies exceed
frame_of() {
	(ulimit -v 4194304 -t 60; ${CC:-cc} $flags -O0 $2 -c "$top/$1" -o object.o) >out 2>err
	test_is $? "$1: no frame above 64 KB at -O0"
}

frame_of lib/number/bulk/bulk_scalar.c ''
for f in lib/op/element/map.c lib/op/element/map_enclose.c lib/op/reduce/reduce.c lib/op/reduce/reduce_enclose.c lib/sum/vector/lanes.c lib/sum/tc/panel.c lib/sum/vector/panel_scalar.c; do
	frame_of $f ''
done
case $(${CC:-cc} -dumpmachine) in
x86_64* | amd64*)
	avx2='-mavx2 -mfma -mf16c' avx512='-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c'
	for f in lib/number/bulk/bulk lib/sum/vector/lanes lib/sum/tc/panel; do
		frame_of ${f}_avx2.c "$avx2"
		frame_of ${f}_avx512.c "$avx512"
	done
	;;
aarch64*) frame_of lib/number/bulk/bulk_neon.c '' ;;
esac
grep -q -- '-Wframe-larger-than=65536' "$top_builddir/Makefile" || grep -q "Wframe-larger-than=65536... no" "$top_builddir/config.log"
test_is $? "the build warns of larger frames in every file"
finish

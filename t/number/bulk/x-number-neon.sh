#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# neon: t/number/bulk/u-bulk.c for AArch64, whose loops in NEON's intrinsics run under emulation: every format, mode and
# flag, bit for bit. Takes a cross compiler (gcc-aarch64-linux-gnu, or CC_AARCH64) and qemu's user emulation
# (qemu-user-static), or an AArch64 machine.
. "${srcdir:-.}/t/tool/tap.sh"

cc=${CC_AARCH64:-aarch64-linux-gnu-gcc}
run_it=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if test "$(uname -m)" = aarch64; then
	cc=${CC_AARCH64:-${CC:-cc}}
	run_it=
elif test -z "$run_it"; then
	echo "1..0 # SKIP no qemu-aarch64 (package qemu-user-static)"
	exit 0
fi
if ! command -v "$cc" >/dev/null; then
	echo "1..0 # SKIP no $cc (package gcc-aarch64-linux-gnu)"
	exit 0
fi
flags="-O2 -Wall -Wextra -std=gnu11 -ffp-contract=off -fopenmp -I$top"
# what `make install` puts into libhalfulp-number.a, and the test
library=$(sed -n 's/^libhalfulp_number_a_SOURCES += //p' "$top/lib/number/local.mk")
for s in t/number/bulk/u-bulk.c t/tool/tap.c $library; do
	"$cc" $flags -c "$top/$s" -o "$(echo "$s" | tr / _).o" 2>>err || break
done
: >out
test ! -s err
test_is $? "compiles without a warning"
"$cc" -fopenmp -static *.o -o u-bulk -lm 2>/dev/null # gcc's OpenMP library warns of its dlopen
test_is $? "links"
$run_it ./u-bulk >all 2>err
test_is $? "u-bulk passes"
grep '^not ok' all >out
test "$(grep -c '^ok .* - neon ' all)" -gt 1000 && test ! -s out
test_is $? "NEON: $(grep -c '^ok .* - neon ' all) comparisons with the scalar functions"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# configure stops at flags that would let the compiler change results, and says which; and at what cannot be built.
. "${srcdir:-.}/t/tool/tap.sh"

# A relative path: configure refuses a source folder with a space in its name otherwise
ln -s "$top" source
mkdir build && cd build || exit 1
test -x ../source/configure || skip_all 'no configure script'
for try in CFLAGS=-ffast-math CFLAGS=-Ofast LDFLAGS=-ffast-math CFLAGS=-funsafe-math-optimizations CC='gcc -ffp-contract=fast'; do
	flag=${try##*[= ]}
	test "$flag" = fast && flag=-ffp-contract=fast
	../source/configure "$try" >"$dir/out" 2>&1
	test $? != 0 && grep -qe "$flag changes the results" "$dir/out"
	test_is $? "configure refuses $try and names the flag"
done
../source/configure --disable-openmp >"$dir/out" 2>&1
test $? != 0 && grep -q 'disable-openmp: halfulp needs OpenMP' "$dir/out"
test_is $? "configure refuses --disable-openmp, which its own help names"
finish

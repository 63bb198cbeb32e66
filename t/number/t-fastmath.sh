#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# configure stops at flags that would let the compiler change results, and says which.
case $srcdir in
/*) top=$srcdir ;;
*) top=$PWD/${srcdir:-.} ;;
esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
# A relative path: configure refuses a source folder with a space in its name otherwise
ln -s "$top" "$dir/source"
mkdir "$dir/build" && cd "$dir/build" || exit 1
n=0 failed=0
test -x ../source/configure || { echo '1..0 # SKIP no configure script'; rm -rf "$dir"; exit 0; }
for try in CFLAGS=-ffast-math CFLAGS=-Ofast LDFLAGS=-ffast-math CFLAGS=-funsafe-math-optimizations CC='gcc -ffp-contract=fast'; do
	n=$((n + 1))
	flag=${try##*[= ]}
	test "$flag" = fast && flag=-ffp-contract=fast
	if ../source/configure "$try" >out 2>&1; then
		echo "not ok $n - configure refuses $try" && failed=1
	elif grep -qe "$flag changes the results" out; then
		echo "ok $n - configure refuses $try and names the flag"
	else
		echo "not ok $n - configure refuses $try and names the flag" && failed=1
		sed 's/^/# /' out | tail -n 5
	fi
done
echo "1..$n"
cd / && test $failed = 0 && rm -rf "$dir"
exit $failed

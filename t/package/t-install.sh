#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make install, then a stranger compiles doc/examples/round.c in the one line it
# names, in C and with the headers in C++, and what it prints is right.
export LC_ALL=C
n=0 failed=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
top=$(cd "${srcdir:-.}" && pwd)
build=${top_builddir:-.}
if grep -q '^ASAN_CFLAGS = .*-fsanitize' "$build/Makefile" 2>/dev/null; then
	echo "1..0 # SKIP a library built with sanitizers needs their run time beside it"
	rm -rf "$dir"
	exit 0
fi
unset MAKEFLAGS MFLAGS MAKELEVEL

test_is() { # 0 where it holds, what
	n=$((n + 1))
	if test "$1" = 0; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		failed=1
		sed 's/^/# /' "$dir/log" | tail -n 12
	fi
}

if ! test -f "$build/Makefile"; then
	echo "1..0 # SKIP no build directory"
	rm -rf "$dir"
	exit 0
fi
make -C "$build" libhalfulp-number.a halfulp-number.pc >"$dir/log" 2>&1 &&
	make -C "$build" install-libLIBRARIES install-numberHEADERS install-nobase_numbertreeHEADERS \
	install-pkgconfigDATA prefix="$dir/usr" \
		includedir="$dir/usr/include" libdir="$dir/usr/lib" >>"$dir/log" 2>&1
test_is $? "the library, its headers and its pkg-config file are installed"
# as pkg-config would answer for this prefix
pc=$dir/usr/lib/pkgconfig/halfulp-number.pc
flags=$(sed -n 's/^Cflags: //p; s/^Libs: //p' "$pc" |
	sed "s|\${includedir}|$dir/usr/include|g; s|\${libdir}|$dir/usr/lib|g" | tr '\n' ' ')
cp "$top/doc/examples/round.c" "$dir" && (cd "$dir" && eval "${CC:-cc} round.c $flags -o round") >"$dir/log" 2>&1
test_is $? "doc/examples/round.c compiles in one line: cc round.c $flags"
"$dir/round" e4m3 0.1 300 1e6 >"$dir/log" 2>&1 &&
	grep -q '^300 -> 288, code 0x79, rounded down, error 0.375 ulp$' "$dir/log" &&
	grep -q '^1e6 -> nan, code 0x7f, no number, overflow' "$dir/log"
test_is $? "and rounds"
mean=$(sed -n 's/.*fp16: //p' "$dir/log")
awk -v m="$mean" 'BEGIN { exit !(m > 2048.87 && m < 2049.13) }' # 4 standard errors of 1000 draws of 0 or 2
test_is $? "its stochastic roundings have the right mean: $mean"
if ${CXX:-c++} --version >/dev/null 2>&1; then
	printf '#include <halfulp/number.h>\nint main() { return hu_round(0.1, hu_format_of(HU_FP16), HU_RNE, 0, 0) > '\
'0.1; }\n' >"$dir/x.cpp"
	(cd "$dir" && eval "${CXX:-c++} x.cpp $flags -o x" && ./x) >"$dir/log" 2>&1
	test_is $? "C++ takes the header"
fi
echo "1..$n"
if test $failed = 0; then rm -rf "$dir"; else echo "# files kept in $dir"; fi
exit $failed

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the host calls a function that was written for the device alone, nvcc says nothing in templates and compiles a
# body that ends the program without a word (exit code 1). Only such bodies themselves, which call nothing else, may
# call exit in the objects that it makes.
. "${srcdir:-.}/t/tool/tap.sh"
test -n "$top_builddir" || skip_all "no folder of objects is named"

find "$top_builddir/cuda" "$top_builddir/units" -name '*.o' ! -name '*.shim.o' -print0 2>/dev/null |
	xargs -0 -r grep -l nv_fatbin >objects 2>/dev/null
test -s objects || skip_all "this build has no CUDA"
command -v objdump >/dev/null || skip_all "there is no objdump"

# Names of functions that call exit and something else, but for what registers the kernels.
callers() {
	objdump -dr --no-show-raw-insn "$1" | awk '
		/^[0-9a-f]+ <.*>:$/ { if (ends && calls > 1) print name; name = $2; ends = calls = 0 }
		/\tcall/ { calls++ }
		/R_X86_64_PLT32|R_AARCH64_CALL26/ { if ($3 ~ /^exit([-+]|$)/) ends = 1 }
		END { if (ends && calls > 1) print name }' | grep -v cudaRegisterAll | c++filt
}
while read -r o; do
	callers "$o" >out 2>err
	found=$(sort -u out | head -n 3)
	test -z "$found"
	test_is $? "${o#"$top_builddir"/}: the host calls nothing of the device${found:+: $found}"
done <objects
finish

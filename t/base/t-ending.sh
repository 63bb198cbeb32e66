#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Promise: A library that ends the program by itself is never taken for a verdict.
# A library that ends the program by itself (libgomp exits with 1 where no thread can be started) is never taken for the
# program's own word "judged and failed", which is exit 1 too. HALFULP names the program.
. "${srcdir:-.}/t/tool/tap.sh"

# starved COMMAND...: without memory for the stack of a second thread
starved() {
	(
		ulimit -v 8000000
		OMP_STACKSIZE=1000G OMP_THREAD_LIMIT=2 exec "$HALFULP" "$@"
	) >"$dir/out" 2>"$dir/err" </dev/null
	code=$?
}

# A library that ends the program while it is loaded, as OpenMP's does without memory
printf '#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { exit(1); }\n' >end.c
if ${CC:-cc} -shared -fPIC -o end.so end.c 2>/dev/null && "$HALFULP" --version >/dev/null 2>&1; then
	LD_PRELOAD=$PWD/end.so "$HALFULP" calc 1 >out 2>err
	code=$?
	if test -z "$(getconf GNU_LIBC_VERSION 2>/dev/null)" || grep -q __asan_init "$HALFULP"; then
		n=$((n + 1))
		echo "ok $n - before main # SKIP another C library, or a sanitizer that comes first"
	else
		test "$code" = 4 && grep -q '^halfulp: a library ended the program (.*), so that nothing was judged$' err
		test_is $? "a library that exits with 1 before main is no verdict either: exit $code"
	fi
fi

run train --quiet --model mlp --data digits --policy mixed_float16 --steps 3 --batch 64 --threads 2 run
test_is $code "a run is trained"
run analyze --threads 2 run
test_is $code "and analyzed"
run baseline run -o b.tsv --reason first
test_is $code "and has a baseline"
starved analyze --threads 2 run
test "$code" = 0 && skip_all "this OpenMP needs no memory for its threads' stacks, or the sanitizer no limit"
grep -q 'libgomp' err || skip_all "this OpenMP does not exit by itself"
test_is $((code != 4)) "analyze: exit $code"
tail -n 1 err | grep -q '^halfulp: a library ended the program (.*), so that nothing was judged$'
test_is $? "its last line says that nothing was judged"
test ! -s out
test_is $? "standard output is empty"
starved train --quiet --model mlp --data digits --steps 3 --batch 64 --threads 2 other
test_is $((code != 4)) "train: exit $code"
starved gate run --baseline b.tsv
test_is $((code != 4)) "gate: exit $code, not that of a check of the tables that were there"
grep -q 'nothing was judged' out
test_is $? "and its document says so"
finish

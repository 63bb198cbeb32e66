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

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# configure removes what was compiled with other flags, compilers or definitions, and nothing where these are the same.
. "${srcdir:-.}/t/tool/tap.sh"
: >out
: >err
build=${HALFULP%/*}
test -f "$build/config.status" || skip_all "no build folder beside $HALFULP"
cp "$build/config.status" .
printf 'clean:\n\techo removed >>cleaned\n' >Makefile
status() {
	rm -f cleaned
	./config.status built-with >out 2>err
}
status
test ! -e cleaned && cmp -s built-with "$build/built-with"
test_is $? "the first time nothing is there that could be removed"
status
test ! -e cleaned
test_is $? "the same flags: nothing is removed"
echo 'other flags' >built-with
status
test "$(cat cleaned)" = removed && grep -q 'other flags' out && cmp -s built-with "$build/built-with"
test_is $? "other flags: make clean, which a line says"
printf 'clean:\n\tfalse\n' >Makefile
echo 'other flags' >built-with
status
test "$(cat built-with)" = 'other flags'
test_is $? "where that fails the next time does it again"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A thousand runs that diverged, each analyzed whole: exit 0 or 1, never a bug of ours, never a crash.
. "${srcdir:-.}/t/tool/tap.sh"
. "$top/t/judge/diverged.sh"
for block in $(seq 0 100 900); do
	for i in $(seq "$block" $((block + 99))); do diverge "$i"; done >wrong
	test ! -s wrong || sed 's/^/# /' wrong
	test ! -s wrong
	test_is $? "runs $block to $((block + 99)) end in a verdict"
done
test "$broken" -ge 250
test_is $? "$broken of them had a loss that was not finite"
finish

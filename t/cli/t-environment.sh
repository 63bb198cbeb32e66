#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every environment variable that the program reads stands in the man page.
. "${srcdir:-.}/t/tool/tap.sh"
: >out
: >err
page=$top/doc/halfulp.1
# names in getenv(...), and in the one table that is walked
names=$(cd "$top" && find lib cuda trainer analyzers reports halfulp.c -name '*.[ch]' -o -name '*.cu' -o -name '*.cc' | xargs sed -n 's/getenv(\([^()]*\))/\n@\1\n/gp' | sed -n 's/^@//p' | grep -o '"[A-Z_]*"' | tr -d '"' | sort -u)
test "$(printf '%s\n' "$names" | wc -l)" -ge 15
test_is $? "the sources read $(printf '%s\n' "$names" | wc -l) variables"
for v in $names; do
	sed -n '/^\.SH ENVIRONMENT/,/^\.SH EXIT/p' "$page" | grep '^\.B ' | tr -d ',' | tr ' ' '\n' | grep -qx "$v"
	test_is $? "$v is in the man page"
done
# and nothing there that nobody reads
documented=$(sed -n '/^\.SH ENVIRONMENT/,/^\.SH EXIT/p' "$page" | sed -n 's/^\.B //p' | tr -d ',')
test "$(echo $documented | wc -w)" -ge 15
test_is $? "the man page names $(echo $documented | wc -w) variables"
for v in $documented; do
	grep -rqF "$v" "$top/lib" "$top/cuda" "$top/trainer" "$top/analyzers" "$top/reports"
	test_is $? "$v is read somewhere"
done
finish

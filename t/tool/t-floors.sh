#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A file includes its own floor and lower ones: base < number < sum, exact < op <
# program < judge < api < store < import < cuda < trainer | analyzers | reports < halfulp.c. The three
# side by side never include each other, nor do sum and exact; t/ and bench/ may
# include anything. Every quoted include is a path from the top.
. "${srcdir:-.}/t/tool/tap.sh"

# Reads lines "file:include" and prints one a broken arrow.
judge() {
	awk -F: '
	BEGIN {
		n = split("include=lib/base lib/number lib/sum=lib/exact lib/op lib/program lib/judge lib/api " \
			"lib/store lib/import cuda trainer=analyzers=reports halfulp.c", row, " ")
		for (i = 1; i <= n; i++) { m = split(row[i], side, "="); for (j = 1; j <= m; j++) level[side[j]] = i }
		level["commands.def"] = n
	}
	function house(path,   part) {
		split(path, part, "/")
		return part[1] == "lib" ? "lib/" part[2] : part[1]
	}
	{
		from = house($1); to = house($2)
		if (from == "t" || from == "bench") next
		if (!(from in level)) print $1 ": its folder is on no floor"
		else if (!(to in level)) print $1 ": \"" $2 "\" is no path from the top into a floor"
		else if (level[to] > level[from]) print $1 ": includes \"" $2 "\", which is higher up"
		else if (level[to] == level[from] && to != from && from != "halfulp.c")
			print $1 ": includes \"" $2 "\", which stands beside it"
	}'
}

includes() {
	cd "$1" && find halfulp.c lib trainer analyzers cuda reports t bench -type f \( -name '*.[ch]' -o -name '*.cu' \
		-o -name '*.cuh' -o -name '*.inc' \) 2>/dev/null |
		sort | xargs grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' | sed 's/:[^"]*"/:/; s/".*//'
}

includes "$top" | judge >out 2>err
test ! -s out
test_is $? "no include goes up or across"
count=$(includes "$top" | wc -l)
test "$count" -gt 20
test_is $? "$count includes were found under the sources"

# The judge itself: arrows that must be named
while read -r line; do
	printf '%s\n' "$line" | judge >out
	test -s out
	test_is $? "an arrow that is named: $line"
done <<'END'
lib/base/str.c:lib/number/format.h
lib/sum/sum.h:lib/exact/dot.h
trainer/train.c:analyzers/replay.h
reports/page.c:../lib/base/str.h
END
printf 'trainer/train.c:lib/op/op.h\nlib/op/kind/add.c:lib/op/op.h\nt/u-x.c:trainer/train.h\n' | judge >out
test ! -s out
test_is $? "arrows that may be are not named"
finish

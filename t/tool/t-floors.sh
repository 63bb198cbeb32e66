#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A file includes its own floor and lower ones: base < number < sum, exact < op <
# program < judge < api < store < import < cuda < trainer | analyzers | reports < halfulp.c. The three
# side by side never include each other, nor do sum and exact; t/ and bench/ may
# include anything. Every quoted include is a path from the top.
export LC_ALL=C
top=${srcdir:-.}

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

test_is() { # number, what, 0 where it holds, explanation
	if test "$3" = 0; then echo "ok $1 - $2"; else echo "not ok $1 - $2"; printf '%s\n' "$4" | sed 's/^/# /'; fi
}

echo 1..7
out=$(includes "$top" | judge)
test -z "$out"
test_is 1 "no include goes up or across" $? "$out"
count=$(includes "$top" | wc -l)
test "$count" -gt 20
test_is 2 "the includes were found ($count)" $? "only $count under $top"

# The judge itself: arrows that must be named
n=2
while read -r line; do
	n=$((n + 1))
	out=$(printf '%s\n' "$line" | judge)
	test -n "$out"
	test_is $n "an arrow that is named: $line" $? "not named"
done <<'END'
lib/base/str.c:lib/number/format.h
lib/sum/sum.h:lib/exact/dot.h
trainer/train.c:analyzers/replay.h
reports/page.c:../lib/base/str.h
END
out=$(printf 'trainer/train.c:lib/op/op.h\nlib/op/kind/add.c:lib/op/op.h\nt/u-x.c:trainer/train.h\n' | judge)
test -z "$out"
test_is 7 "arrows that may be are not named" $? "$out"

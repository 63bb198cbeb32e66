#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doc/columns.md has every column of the tables that commands describe, as their help prints them from the tables
# themselves, and nothing else; and the TSV and JSON have those columns. HALFULP=... bash t/cli/t-columns.sh --update
# rewrites the page's table.
. "${srcdir:-.}/t/tool/tap.sh"

# Rows | command | column | unit | meaning |
rows() {
	sed -n 's/^COMMAND(\(.*\))$/\1/p' "$top/commands.def" | while read -r command; do
		"$HALFULP" help "$command" --all | awk -v c="$command" '
			/^columns:/ { on = 1; next }
			/^options:/ { on = 0 }
			on && /^  [A-Za-z]/ {
				line = substr($0, 3); name = line; sub(/ .*/, "", name)
				rest = substr(line, length(name) + 1); sub(/^ +/, "", rest); unit = ""
				if (rest ~ /^\[/) { unit = rest; sub(/\].*/, "", unit); sub(/^\[/, "", unit); sub(/^\[[^]]*\] */, "", rest) }
				gsub(/\|/, "\\|", rest)
				printf "| %s | `%s` | %s | %s |\n", c, name, unit, rest
			}'
	done
}

table=$top/doc/columns.md
rows >"$dir/want"
if test "${1:-}" = --update; then
	sed '/^| command/,$d' "$table" >"$dir/head"
	{ cat "$dir/head"; printf '| command | column | unit | meaning |\n| --- | --- | --- | --- |\n'; cat "$dir/want"; } >"$table"
	rm -rf "$dir"
	exit 0
fi
: >"$dir/err"
sed '1,/^| --- /d' "$table" >"$dir/have"
diff "$dir/have" "$dir/want" >"$dir/out"
test_is $? "the page of columns is what the tables say (--update rewrites it)"
test "$(wc -l <"$dir/want")" -gt 60
test_is $? "the columns of five commands are in it"
names() { sed -n "s/^| $1 | \`\\([^\`]*\\)\` .*/\\1/p" "$dir/want" | tr '\n' ' '; }
"$HALFULP" inspect "$top/examples/digits.onnx" --best-scale -o "$dir/i.tsv" >"$dir/out"
test "$(grep -v '^#' "$dir/i.tsv" | head -n 1 | tr '\t' ' ') " = "$(names inspect)"
test_is $? "inspect -o has the columns of the page, in their order"
"$HALFULP" op list --json | sed -n '3,/}/s/^ *"\([^"]*\)": .*/\1/p' | tr '\n' ' ' >"$dir/out"
test "$(cat "$dir/out")" = "$(names op)"
test_is $? "op list --json has the columns of the page, in their order"
finish

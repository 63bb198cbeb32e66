#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doc/defaults.md has every option of every command with its default, as --help prints them,
# and nothing else. HALFULP=... bash t/cli/t-defaults.sh --update rewrites the table.
. "${srcdir:-.}/t/tool/tap.sh"

# Rows | command | option | default | meaning | from the commands' own help
rows() {
	sed -n 's/^COMMAND(\(.*\))$/\1/p' "$top/commands.def" | while read -r command; do
		"$HALFULP" help "$command" --all | awk -v c="$command" '
			/^options:/ { on = 1; next }
			on && /^    [a-z]/ { sub(/^    /, "  " of " ") } # a key of the option above it
			on && /^  --/ && !/^  --(help|max-memory)/ {
				line = $0; def = ""
				if (match(line, / \[[^][]*\]$/)) { def = substr(line, RSTART + 2, RLENGTH - 3); line = substr(line, 1, RSTART - 1) }
				sub(/^  /, "", line)
				option = line; sub(/  +.*/, "", option)
				if (length(option) > 26 || option == line) { split(line, w, " "); option = w[1] (w[2] ~ /^[A-Z0-9=,:]+$|=/ ? " " w[2] : "") }
				if (option !~ /=/) { of = option; sub(/ .*/, "", of) }
				meaning = substr(line, length(option) + 1); sub(/^ +/, "", meaning)
				gsub(/\|/, "\\|", meaning)
				printf "| %s | `%s` | %s | %s |\n", c, option, def, meaning
			}'
	done
}

table=$top/doc/defaults.md
rows >"$dir/want"
if test "${1:-}" = --update; then
	sed '/^| command/,$d' "$table" >"$dir/head"
	{ cat "$dir/head"; printf '| command | option | default | meaning |\n| --- | --- | --- | --- |\n'; cat "$dir/want"; } >"$table"
	rm -rf "$dir"
	exit 0
fi
: >"$dir/err"
sed '1,/^| --- /d' "$table" >"$dir/have"
diff "$dir/have" "$dir/want" >"$dir/out"
test_is $? "the table of defaults is what --help says (--update rewrites it)"
test "$(wc -l <"$dir/want")" -gt 60
test_is $? "every command's options are in it"
# Every command has a row: one whose help could not be read would be missing in silence
for command in $(sed -n 's/^COMMAND(\(.*\))$/\1/p' "$top/commands.def"); do
	case $command in doctor) continue ;; esac # no options of its own
	grep -q "^| $command | " "$dir/want"
	test_is $? "$command has rows"
done
finish

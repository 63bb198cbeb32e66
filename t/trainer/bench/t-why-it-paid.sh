#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands of doc/why-it-paid.md print what it says they print: predictions and published figures, nothing measured.
# HALFULP=... bash t/trainer/bench/t-why-it-paid.sh --update rewrites the document's answers.
. "${srcdir:-.}/t/tool/tap.sh"
doc=$top/doc/why-it-paid.md
mkdir bin && ln -s "$HALFULP" bin/halfulp && PATH=$dir/bin:$PATH

# The document with every command's answer as it comes now
renew() {
	local line inside=0 command=
	while IFS= read -r line; do
		case $inside$line in
		0'```console') inside=1 ;;
		1'```')
			test -z "$command" || bash -c "$command" 2>&1 </dev/null
			inside=0 command= ;;
		1'$ '*)
			test -z "$command" || bash -c "$command" 2>&1 </dev/null
			command=${line#'$ '} ;;
		1'> '*) command=$command$'\n'${line#'> '} ;;
		1*) continue ;; # the answer as it was
		esac
		printf '%s\n' "$line"
	done <"$doc"
}
renew >new
if test "${1:-}" = --update; then
	cp new "$doc"
	rm -rf "$dir"
	exit 0
fi
: >err
diff "$doc" new >out
test_is $? "every command prints what doc/why-it-paid.md says (--update rewrites it)"
test "$(grep -c '^\$ ' new)" -ge 4
test_is $? "it has commands"
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pages.sh PROGRAM SOURCES OUT: manual pages and completions, from what PROGRAM says of its commands and from the tables
# in SOURCES: OUT/man/halfulp-COMMAND.1, halfulp-formats.7, halfulp-policies.7 and halfulp-sums.7, and in OUT/completion
# halfulp (bash), _halfulp (zsh) and halfulp.fish. Only a shell and awk are needed.
set -eu
program=$1 top=$2 out=$3
export LC_ALL=C.UTF-8
export HALFULP_RESULTS=text
unset COLUMNS
rm -rf "$out"
mkdir -p "$out/man" "$out/completion"
version=$("$program" --version | sed -n '1s/^halfulp //p')
commands=$(sed -n 's/^COMMAND(\(.*\))$/\1/p' "$top/commands.def")

# Text as it stands: backslashes and hyphens as themselves, and no line that begins with a dot or a quote
plain() { sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/'; }
head_of() { # NAME SECTION WHAT
	printf '.TH %s %s "" "halfulp %s" "halfulp"\n.SH NAME\n' "$(printf %s "$1" | tr a-z A-Z)" "$2" "$version"
	printf '%s \\- %s\n' "$1" "$(printf '%s\n' "$3" | plain)"
}
as_is() { printf '.nf\n'; plain; printf '.fi\n'; }

for c in $commands; do
	"$program" help "$c" --all >"$out/all"
	"$program" help "$c" >"$out/short"
	{
		head_of "halfulp-$c" 1 "$(sed -n 3p "$out/all")"
		printf '.SH SYNOPSIS\n'
		sed -n '1s/^usage: //p' "$out/all" | plain
		printf '.SH DESCRIPTION\n'
		awk '/^options:/ { exit } NR > 4' "$out/all" | plain | sed 's/^$/.PP/'
		printf '.SH OPTIONS\n'
		awk '/^options:/ { on = 1; next } on && /^$/ { exit }
			on && /^  --/ { of = $1 }
			on && /^    [a-z]/ { sub(/^    /, "  " of " ") } # a key of the option above it
			on' "$out/all" | plain |
			sed -n 's/^  \(\\-\\-[^ ]*\( [^ ][^ ]*\)*\)   *\(.*\)/.TP\n.B \1\n\3/p'
		if grep -q '^\$ ' "$out/short"; then
			printf '.SH EXAMPLES\n'
			awk '/^\$ / { on = 1 } on && /^$/ { exit } on' "$out/short" | as_is
		fi
		printf '.SH EXIT STATUS\n'
		sed -n 's/^Exit codes: //p' "$out/short" | plain
		printf '.SH SEE ALSO\n.BR halfulp (1),\n.BR halfulp\\-formats (7),\n.BR halfulp\\-policies (7),\n'
		printf '.BR halfulp\\-sums (7)\n'
	} >"$out/man/halfulp-$c.1"
done

{
	head_of halfulp-formats 7 'number formats of halfulp'
	printf '.SH DESCRIPTION\nEvery option that takes a format knows these names.\n'
	"$program" formats | awk '/^pi = / { exit } { print }' | as_is
} >"$out/man/halfulp-formats.7"
{
	head_of halfulp-policies 7 'precision policies of halfulp'
	printf '.SH DESCRIPTION\nA policy says which formats a training step is computed in:\n'
	printf '.BR "halfulp train \\-\\-policy" .\n'
	sed -n 's/^POLICY("\([^"]*\)".*, "\([^"]*\)")$/\1\t\2/p' "$top/lib/program/policy/policies.def" | plain |
		awk -F'\t' '{ printf ".TP\n.B %s\n%s\n", $1, $2 }'
} >"$out/man/halfulp-policies.7"
{
	head_of halfulp-sums 7 'summation models of halfulp'
	printf '.SH DESCRIPTION\nA summation model says in which order the terms of a sum are added, and how\n'
	printf 'each addition is rounded; its name may be followed by acc=FORMAT and mode=MODE.\n'
	sed -n 's/^SUM([A-Z0-9]*, \([a-z0-9]*\), \([A-Z]*\),.*/\1 \2/p' "$top/lib/sum/sums.def" | while read -r name takes; do
		case $takes in
		LENGTH) shape=$name:N ;;
		ARCH) shape=$name:ARCHITECTURE ;;
		RANKS) shape=$name:RANKS ;;
		SLICES) shape=$name:SLICES ;;
		NODES) shape=$name:RANKS:NODE ;;
		*) shape=$name ;;
		esac
		printf '.TP\n.B %s\n' "$shape"
		# A text may stand in several strings, up to the comma that ends its line.
		awk '/^\t\.words = / { on = 1 }
			on { line = $0; ends = /,$/
				while (match(line, /"[^"]*"/)) {
					text = text substr(line, RSTART + 1, RLENGTH - 2)
					line = substr(line, RSTART + RLENGTH)
				}
				if (ends) { print text; exit } }' "$top/lib/sum/model/$name.c" | plain
	done
} >"$out/man/halfulp-sums.7"

# Completions: the commands, and of each its options, which end in = where they take a value
table() { # COMMAND: --option[=] and what it does, a line each
	"$program" help "$1" --all | awk '/^options:/ { on = 1; next } on && /^$/ { exit }
		on && match($0, /^  --[^ ]*/) {
			name = substr($0, 3, RLENGTH - 2)
			rest = substr($0, RLENGTH + 1)
			valued = rest ~ /^ [^ ]/
			sub(/^ ?[^ ]*  */, "", rest)
			sub(/[:;[(].*/, "", rest)
			gsub(/["\047`$\\]/, "", rest)
			print name (valued ? "=" : "") "\t" rest
		}'
}
summary() { "$program" help "$1" --all | sed -n "3s/[\"'\`\$\\\\:[(].*//;3p"; }
{
	echo '# bash completion for halfulp, made by doc/man/pages.sh'
	echo '_halfulp() {'
	echo '	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options='
	echo '	COMPREPLY=()'
	echo '	if test "$COMP_CWORD" = 1 || { test "$command" = help && test "$COMP_CWORD" = 2; }; then'
	printf '		COMPREPLY=($(compgen -W "%s help version" -- "$word"))\n' "$(echo $commands)"
	echo '		return'
	echo '	fi'
	echo '	case $command in'
	for c in $commands; do
		printf '	%s) options="%s" ;;\n' "$c" "$(table "$c" | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
	done
	echo '	esac'
	echo '	case $word in'
	echo '	-*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;'
	echo '	*) COMPREPLY=($(compgen -f -- "$word")) ;;'
	echo '	esac'
	echo '	case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac'
	echo '}'
	echo 'complete -o filenames -F _halfulp halfulp'
} >"$out/completion/halfulp"
{
	echo '#compdef halfulp'
	echo '# zsh completion for halfulp, made by doc/man/pages.sh'
	echo '_halfulp() {'
	echo '	local -a commands options'
	echo '	commands=('
	for c in $commands; do printf "		'%s:%s'\n" "$c" "$(summary "$c")"; done
	echo '	)'
	echo '	if ((CURRENT == 2)) || { ((CURRENT == 3)) && [[ $words[2] == help ]]; }; then'
	echo '		_describe command commands'
	echo '		return'
	echo '	fi'
	echo '	case $words[2] in'
	for c in $commands; do
		printf '	%s) options=(' "$c"
		table "$c" | awk -F'\t' '{ printf "\n\t\t\047%s[%s]%s\047", $1, $2, ($1 ~ /=$/ ? ":value:_files" : "") }'
		printf '\n	) ;;\n'
	done
	echo '	esac'
	echo '	_arguments "$options[@]" "*:file:_files"'
	echo '}'
	echo '_halfulp "$@"'
} >"$out/completion/_halfulp"
{
	echo '# fish completion for halfulp, made by doc/man/pages.sh'
	for c in $commands; do
		printf "complete -c halfulp -n __fish_use_subcommand -a %s -d '%s'\n" "$c" "$(summary "$c")"
		table "$c" | awk -F'\t' -v c="$c" '{ name = substr($1, 3); valued = sub(/=$/, "", name)
			printf "complete -c halfulp -n \047__fish_seen_subcommand_from %s\047 -l %s%s -d \047%s\047\n",
				c, name, valued ? " -r" : "", $2 }'
	done
} >"$out/completion/halfulp.fish"
rm -f "$out/all" "$out/short"

# SPDX-License-Identifier: Apache-2.0
# For shell tests of the program: a folder of the test's own, one function that runs a
# command, one that judges. Source it first; end with `finish`.
export LC_ALL=C OMP_WAIT_POLICY=passive
case $HALFULP in /*) ;; *) HALFULP=$PWD/${HALFULP:-halfulp} ;; esac
case ${srcdir:-.} in /*) top=${srcdir:-.} ;; *) top=$PWD/${srcdir:-.} ;; esac
data=${HALFULP_DATA:-$top/../shared/data}
n=0 failed=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
cd "$dir" || exit 1

# halfulp with these arguments: $code, and files out and err
run() { "$HALFULP" "$@" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }

# test_is 0|1 WHAT: 0 where it holds
test_is() {
	n=$((n + 1))
	if test "$1" = 0; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		failed=1
		sed 's/^/# out: /' "$dir/out" | head -n 8
		sed 's/^/# err: /' "$dir/err" | head -n 8
	fi
}

# advises_its_own: standard error, a line of `halfulp COMMAND: …`, names no option that COMMAND lacks (but behind the
# name of another command, as in `halfulp help`)
advises_its_own() {
	local command option
	command=$(sed -n '1s/^halfulp \([a-z]*\): .*/\1/p' "$dir/err")
	test -n "$command" || return 0
	for option in $(sed 's/^[^:]*: //; s/halfulp [a-z]* [^;,)]*//g; s/configure --[a-z-]*//' "$dir/err" | grep -o -- ' --[a-z][a-z-]*' | sort -u); do
		"$HALFULP" "$command" --help | grep -q -- "^ *$option\b" || { echo "# halfulp $command has no $option: $(cat "$dir/err")"; return 1; }
	done
}

# judged_nothing: standard output is empty, or a whole document that says that nothing was judged, as check and gate
# write it
judged_nothing() {
	test ! -s "$dir/out" || { grep -q 'nothing was judged: ' "$dir/out" && test "$(head -n 1 "$dir/out")" = 1..1 && test "$(grep -c '^not ok 1 - ' "$dir/out")" = 1 && test "$(wc -l <"$dir/out")" = 3; }
}

# refused CODE PATTERN WHAT: the last run exited so, with one line on standard error that matches and advises no option
# that the command lacks, and nothing else
refused() {
	test "$code" = "$1" && judged_nothing && test "$(wc -l <"$dir/err")" = 1 && grep -q -- "$2" "$dir/err" && advises_its_own
	test_is $? "$3: exit $1, one line"
}

# column FILE NAME: its cells; where there is no such column (or file) a line that says so, lest nothing be compared
# with nothing
column() {
	if test ! -f "$1" && test ! -p "$1"; then echo "no file $1"; return; fi
	awk -F '\t' -v want="$2" '/^#/ { next } !head { head = 1; for (i = 1; i <= NF; i++) if ($i == want) at = i; next } at { print $at } END { if (!at) print "no column", want }' "$1"
}

# last FILE NAME: the last cell of a column
last() { column "$1" "$2" | tail -n 1; }

# field FILE NAME: a number or null of that name in indented JSON, the last one
field() { sed -n 's/^ *"'"$2"'": \([^,]*\),*$/\1/p' "$1" | tail -n 1; }

# holds EXPRESSION [NAME VALUE...]: whether awk finds it true; a NAME that is no number makes every comparison with it
# false
holds() {
	expression=$1 check=1 vars=()
	shift
	while test $# -gt 1; do
		case $2 in '' | *[!0-9.eE+-]*) check=0 ;; esac
		vars+=(-v "$1=$2")
		shift 2
	done
	awk "${vars[@]}" "BEGIN { exit !($check && ($expression)) }"
}

# npy FILE SHAPE CODE...: an array of float32 codes, 8 hex digits each
npy() {
	local file=$1 header="{'descr': '<f4', 'fortran_order': False, 'shape': $2, }" w
	shift 2
	{
		printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
		for w in "$@"; do printf "\\x${w:6:2}\\x${w:4:2}\\x${w:2:2}\\x${w:0:2}"; done
	} >"$file"
}

# npy_of FILE SHAPE VALUE...: the same from numbers or expressions
npy_of() {
	local file=$1 shape=$2
	shift 2
	npy "$file" "$shape" $("$HALFULP" round --format fp32 --json -- "$@" | sed -n 's/.*"bits": "0x\(.*\)".*/\1/p')
}

# words FILE: an npy file's float32 codes
words() { tail -c +129 "$1" | od -An -v -tx4 --endian=little | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }

# unlist RUN FILE: the manifest no longer says what FILE must be, so that a change of it is read
unlist() {
	${PYTHON:-python3} - "$1/manifest.json" "$2" <<'END'
import json, sys
m = json.load(open(sys.argv[1]))
del m["files"][sys.argv[2]]
json.dump(m, open(sys.argv[1], "w"))
END
}

# skip COUNT WHY: so many tests that cannot be made here
skip() {
	local i
	for ((i = 0; i < $1; i++)); do
		n=$((n + 1))
		echo "ok $n # SKIP $2"
	done
}

skip_all() { echo "1..0 # SKIP $1"; rm -rf "$dir"; exit 0; }

finish() {
	echo "1..$n"
	cd / || exit 1
	if test $failed = 0; then rm -rf "$dir"; else echo "# files kept in $dir"; fi
	exit $failed
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks commands.def: every command has a help page, refuses an option it does not
# have with one line and exit 2, and stands in --help. Then the front door itself.
. "${srcdir:-.}/t/tool/tap.sh"
rows=$(sed -n 's/^COMMAND(\(.*\))$/\1/p' "$top/commands.def")

test "$(printf '%s\n' "$rows" | wc -l)" -ge 15 && test "$rows" = "$(printf '%s\n' "$rows" | sort)"
test_is $? "the rows of commands.def are sorted"
run --help
test $code = 0 && test ! -s "$dir/err"
test_is $? "--help exits 0, on standard output alone"
test "$(grep -c '^  merge ' "$dir/out")" = 0 && grep -q 'help --all also lists merge' "$dir/out"
test_is $? "--help leaves merge, which ends what --shard begins, to help --all"
run help --all
test $code = 0 && test ! -s "$dir/err"
test_is $? "help --all exits 0, on standard output alone"
cp "$dir/out" "$dir/table"

for c in $rows; do
	grep -q "^  $c  *[A-Za-z]" "$dir/table"
	test_is $? "help --all has a line for $c"
	run "$c" --help
	test $code = 0 && grep -q "^usage: halfulp $c" "$dir/out" && grep -q '^options:' "$dir/out" && test ! -s "$dir/err"
	test_is $? "$c --help: usage and options, exit 0"
	cp "$dir/out" "$dir/page"
	run help "$c" --all
	test $code = 0 && cmp -s "$dir/out" "$dir/page"
	test_is $? "help $c --all: the same page"
	run "$c" --no-such-option
	test $code = 2 && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1 && grep -q -- '--no-such-option' "$dir/err"
	test_is $? "$c --no-such-option: exit 2, one line that names it"
done

# Each benchmark has a page with its own words, and with the options that it takes and no other
run bench --help
sed -n '/^  --json/q; s/^  --\([a-z-]*\) \{1,\}.*/\1/p' "$dir/out" | grep -v '^\(out\|shard\|resume\|json\)$' >"$dir/all"
for b in cast gemm train why; do
	run bench "$b" --help
	cp "$dir/out" "$dir/page"
	sed -n 's/^  --\([a-z-]*\) .*/\1/p' "$dir/page" | grep -x -f "$dir/all" >"$dir/its"
	grep -v -x -f "$dir/its" "$dir/all" >"$dir/others"
	test "$(head -n 1 "$dir/page")" = "usage: halfulp bench $b [OPTION...]" && grep -q "^$b: " "$dir/page" &&
		test "$(grep -c '^\(cast\|gemm\|train\|why\): ' "$dir/page")" = 1 && test -s "$dir/its" && test -s "$dir/others"
	test_is $? "bench $b --help: its own words"
	wrong=
	for o in $(cat "$dir/others"); do
		value=1
		case $o in no-python | published) value= ;; esac
		run bench "$b" "--$o" $value
		grep -q -- "--$o has no effect on bench $b" "$dir/err" || wrong="$wrong $o"
	done
	test -z "$wrong"
	test_is $? "bench $b: what its page leaves out is refused ($wrong)"
	last=$(grep -v '^\(no-python\|published\)$' "$dir/others" | tail -n 1)
	for o in $(cat "$dir/its"); do
		value=1
		case $o in no-python | published) value= ;; backend) value=simd=scalar ;; esac
		run bench "$b" "--$o" $value "--$last" 1
		grep -q -- "--$last has no effect on bench $b" "$dir/err" || wrong="$wrong $o"
	done
	test -z "$wrong"
	test_is $? "bench $b: what its page lists is taken ($wrong)"
	run help bench "$b"
	test $code = 0 && cmp -s "$dir/out" "$dir/page"
	test_is $? "help bench $b: the same page"
done

run --version
test $code = 0 && grep -q '^halfulp [0-9]' "$dir/out"
test_is $? "--version"
first=$(printf '%s\n' "$rows" | head -n 1)
for asked in "${first}x" "help ${first}x"; do
	run $asked
	test $code = 2 && test "$(wc -l <"$dir/err")" = 1 && grep -q "did you mean $first" "$dir/err"
	test_is $? "halfulp $asked: exit 2, one line with the nearest name"
done
run --nonsense
test $code = 2 && test "$(wc -l <"$dir/err")" = 1
test_is $? "an option without a command: exit 2, one line"
for line in --help --version formats 'help round' 'round 1'; do
	if ! test -e /dev/full; then
		n=$((n + 1))
		echo "ok $n - # SKIP no /dev/full here"
		continue
	fi
	"$HALFULP" $line >/dev/full 2>"$dir/err"
	test $? = 4 && test "$(wc -l <"$dir/err")" = 1 && grep -q 'standard output cannot be written' "$dir/err"
	test_is $? "halfulp $line where nothing can be written: exit 4, one line"
done

# On a terminal of 100 columns; python3 stands for one where it is there
if command -v python3 >/dev/null && python3 -c 'import pty' 2>/dev/null; then
	python3 - "$HALFULP" >"$dir/out" 2>"$dir/err" <<-'END'
	import fcntl, os, pty, struct, sys, termios
	master, slave = pty.openpty()
	fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
	if os.fork() == 0:
	    os.dup2(slave, 1)
	    os.environ['PAGER'] = 'cat'
	    os.execv(sys.argv[1], [sys.argv[1], 'help', 'train', '--all'])
	os.close(slave)
	text = b''
	try:
	    while piece := os.read(master, 65536):
	        text += piece
	except OSError:
	    pass
	print(text.decode().replace('\r\n', '\n'), end='')
	END
	"$HALFULP" help train --all | tr -s ' \n' '\n' >"$dir/words"
	tr -s ' \n' '\n' <"$dir/out" | cmp -s - "$dir/words" && sed '1,/^options:/d' "$dir/out" | awk 'length($0) > 100 { bad = 1 } END { exit bad }'
	test_is $? "help train on a terminal: the same words in lines that fit its width"
	for PAGER in cat 'sed s/^usage/paged/'; do
		export PAGER
		python3 -c 'import os, pty, sys; os.environ.setdefault("TERM", "dumb"); pty.spawn([sys.argv[1], "help", "calc"])' "$HALFULP" >"$dir/${PAGER%% *}" 2>/dev/null </dev/null
	done
	unset PAGER
	test "$(head -c 5 "$dir/cat")" = usage && test "$(head -c 5 "$dir/sed")" = paged
	test_is $? "help on a terminal goes through PAGER"
	test "$(grep -c '^                             \(digits\|scenes\|idx:DIR\|npz:FILE\): ' "$dir/out")" = 4
	test_is $? "and a line for each of several choices"
fi

finish

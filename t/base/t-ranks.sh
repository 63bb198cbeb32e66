#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several ranks on this machine: messages, agreement, and what becomes of all when one fails or is killed.
. "${srcdir:-.}/t/tool/tap.sh"
. "$top/t/tool/mpi.sh"
build=${HALFULP%/*}
program=$build/t/base/u-ranks
export HALFULP_MPI=$build/halfulp-mpi.so
test -x "$program" || skip_all "t/base/u-ranks is not built here"

# ranks N WHAT: as `run` does
ranks() { timeout 60 $mpirun -n "$1" "$program" "$2" >"$dir/out" 2>"$dir/err" </dev/null; code=$?; }

for size in 2 5; do
	ranks $size exchange
	test $code = 0 && grep -q "^rank 0 of $size, library 1: status 0: fine" out
	test_is $? "$size ranks: each sends each 3 MB without waiting; broadcast, gather, barrier, and arrays that all fill"
done
ranks 3 agree
test $code = 2 && grep -q '^rank 0 of 3, .* status 1: rank 1 of 3, on [^ ]*: reason 1' out
test_is $? "ranks that fail differently: the first one's status and reason, with its number"
ranks 3 same
test $code = 3 && grep -q 'status 5: rank 1 of 3, on [^ ]*: its version is 2 and that of rank 0 is 1: give all ranks the same options and files' out
test_is $? "ranks whose texts differ: exit 3"
ranks 3 same-long
test $code = 3 && grep -q 'status 5: rank 2 of 3, on [^ ]*: its text is \.\.\.[^:]*sample 2048, seed 12 then and that of rank 0 is \.\.\.[^:]*sample 2048, seed 1: give' out
test_is $? "ranks whose long texts differ in the last word: exit 3, and that word is shown"
ranks 3 give-up
test $code = 3 && grep -qx 'speaks 1: unreadable' out && ! grep -q fine out
test_is $? "a rank that fails alone says so and ends the others, with its exit code"
ranks 3 die
test $code != 0 && test $code != 124 && ! grep -q fine out
test_is $? "a rank that is killed ends the others"

unset HALFULP_MPI
timeout 60 $mpirun -n 2 "$HALFULP" calc 1+1 >out 2>err </dev/null
code=$?
test $code = 2 && test ! -s out && test "$(grep -c '^halfulp' err)" = 1 && grep -q '^halfulp calc: it works in one process, and 2 were started together' err
test_is $? "a command that shares no work is refused, by one line of rank 0"
HALFULP_MPI=$dir/none ranks 2 exchange
test $code = 4 && test ! -s out
test_is $? "without the MPI library: exit 4"
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 run doctor
test $code = 2 && grep -q '^halfulp doctor: it measures one machine, which other processes would keep busy, and 2 were' err
test_is $? "a command that has a reason of its own to be refused says it"
OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=2 run calc 1+1
test $code = 2 && test ! -s out && test "$(wc -l <err)" = 1 && grep -q '^halfulp calc: rank 2 of 3: it works in one process' err
test_is $? "rank 2 leaves it to rank 0 to end the job and to say why, and speaks where rank 0 does not"
timeout 60 $mpirun -n 1 "$HALFULP" analyze none : -n 1 "$HALFULP" analyze none --no-such >out 2>err </dev/null
code=$?
test $code != 0 && test $code != 124 && test "$(grep -c '^halfulp' err)" = 1
test_is $? "ranks of which one is refused before it joins the other: an end, and one line"
run train --help
test $code = 0
test_is $? "one process never loads MPI"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each operator's kernels with one operator, index or barrier changed: at least nine in ten of these mutants must
# turn the parity tests red (t/mutate.py, which prints the survivors). Takes minutes: an object, two links and two tests a mutant.
. "${srcdir:-.}/t/tap.sh"
py=${PYTHON:-python3}
build=${HALFULP%/*}
test -f "$build/Makefile" || skip_all "no build folder beside $HALFULP"
"$HALFULP" doctor | grep -q '^back ends .* shim' || skip_all "this build has no launch shim"
command -v "$py" >/dev/null || skip_all "python3 is absent"
srcdir=$top "$py" -B "$top/t/mutate.py" --each 3 --seed 1 "$build" >out 2>err
code=$?
grep '^# ' out
test $code = 0 && test "$(grep -c '^[a-z]' out)" -ge 90
test_is $? "$(sed -n 's/^# \(killed.*\)/\1/p' out)"
test "$(sed '1d' out | cut -f 1 | grep -v '^#' | sort -u)" = "$(sed -n 's/^OP(\(.*\))$/\1/p' "$top/lib/op/ops.def" | sort)"
test_is $? "every row of ops.def was mutated"
finish

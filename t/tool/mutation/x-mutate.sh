#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels, analyzers, the trainer, the operators, the rest of the library and the Python packages with one operator,
# index, number or barrier changed: nine in ten of the kernels' mutants and 95 in 100 of the others' must turn the
# tests red that judge them (t/tool/mutation/mutate.py, which prints the survivors). TARGETS names some of them, EACH
# how many mutants a function, DRAW how many functions are drawn by SEED (0: all). Takes an hour or more: which test
# runs which line is measured first, then an object, links and tests a mutant.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
build=${HALFULP%/*}
test -f "$build/Makefile" || skip_all "no build folder beside $HALFULP"
command -v "$py" >/dev/null || skip_all "python3 is absent"
jobs=$(nproc 2>/dev/null || echo 1)
srcdir=$top "$py" -B "$top/t/tool/mutation/mutate.py" --measure --jobs "$jobs" "$build" >out 2>err
test_is $? "it was measured which of $(grep -c '^#.* lines ' out) tests run which lines"
for target in ${TARGETS:-kernels analyzers trainer operators library python}; do
	each=${EACH:-2} draw=${DRAW:-100} least=100 units='.*\.c'
	if test $target = kernels; then
		"$HALFULP" doctor | grep -q '^back ends .* shim' ||
			{ n=$((n + 1)); echo "ok $n - $target # SKIP this build has no launch shim"; continue; }
		each=${EACH:-3} draw=0 least=90 units='[a-z0-9_]*'
	elif test $target = python; then
		"$py" -c 'import torch' 2>/dev/null ||
			{ n=$((n + 1)); echo "ok $n - $target # SKIP there is no PyTorch"; continue; }
		units='.*\.py'
	fi
	srcdir=$top "$py" -B "$top/t/tool/mutation/mutate.py" --target $target --each "$each" --draw "$draw" \
		--seed "${SEED:-1}" --jobs "$jobs" "$build" >out 2>err
	code=$?
	grep '^# ' out
	test $code = 0 && test "$(grep -c "^$units	" out)" -ge $least
	test_is $? "$target: $(sed -n 's/^# \(killed.*\)/\1/p' out)"
	test $target = kernels || continue
	test "$(sed '1d' out | cut -f 1 | grep -v '^#' | sort -u)" = \
		"$(sh "$top/t/tool/operators.sh" "$top" | while read -r op; do grep -qs hu_family_moves \
		"$top/lib/op/kind/$op.c" || echo "$op"; done | sort)"
	test_is $? "every operator that has a kernel was mutated"
done
finish

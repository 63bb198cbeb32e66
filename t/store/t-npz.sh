#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Archives of arrays, as numpy.savez writes them: inspect takes all arrays, op and accumulate one by its name.
. "${srcdir:-.}/t/tool/tap.sh"
npy_of w.npy "(3,)" 1 0.0001 70000
npy_of b.npy "(2,)" 1 2
${PYTHON:-python3} -m zipfile -c both.npz w.npy b.npy

run inspect both.npz --to fp16 --json
test $code = 0 && test "$(grep -c '"tensor": "[wb]"' out)" = 2 && grep -q '"overflow": 1' out
test_is $? "inspect: a row an array"
run accumulate --terms both.npz:b --n 2 --format fp32 --sum sequential
test $code = 0 && grep -qw 3 out
test_is $? "accumulate: one array of it as terms"
run op add --in a=both.npz:b --in b=b.npy
test $code = 0 && test "$(tr '\n' ' ' <out)" = "2 4 "
test_is $? "op: one array of it as an operand"
run op relu --in a=both.npz
refused 3 'several arrays; both.npz:NAME takes one of w b' "which array is meant"
run op relu --in a=both.npz:c
refused 3 'no array c; there are w b' "an array that is not there"
head -c 100 both.npz >cut.npz
run inspect cut.npz
refused 3 'cut.npz' "an archive cut short"
finish

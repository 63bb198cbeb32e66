#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# P. Xie, Y. Gao, Y. Wang, J. Xue, Revealing floating-point accumulation orders in software/hardware implementations
# (FPRev), arXiv:2411.00442.
# Reproduced: the order of a sum shows in its value. In fp16 (0.5 + 512) + 512.5 is 1025 and 0.5 + (512 + 512.5)
# is 1024, by calc and by inner products whose model sums in one order or the other.
. "${srcdir:-.}/t/tool/tap.sh"

run calc '(0.5 + 512) + 512.5' '0.5 + (512 + 512.5)' --format fp16 --json
test $code = 0 && test "$(grep -o '"value": [0-9.]*' out | tr '\n' ' ')" = '"value": 1025.0 "value": 1024.0 '
test_is $? "calc: 1025 and 1024"

npy_of a.npy "(1, 3)" 0.5 512 512.5
npy_of b.npy "(1, 3)" 512.5 512 0.5
npy_of ones.npy "(1, 3)" 1 1 1
dot() { # file, model
	run op dot --in a="$1" --in b=ones.npy --set in=fp16 --sum "$2" --out d.npy
	test $code = 0 && words d.npy
}
test "$(dot a.npy fma,acc=fp16)" = 44802000
test_is $? "in this order: 1025"
test "$(dot b.npy fma,acc=fp16)" = 44800000
test_is $? "from the other end: 1024"
test "$(dot b.npy pairwise,acc=fp16)" = 44800000 && test "$(dot a.npy pairwise,acc=fp16)" = 44802000
test_is $? "by halves, (x1 + x2) + x3"
test "$(dot b.npy tc:volta,in=fp16,out=fp16)" = 44802000 && test "$(dot a.npy tc:volta,in=fp16,out=fp16)" = 44802000
test_is $? "in a tensor core's block order is nothing: 1025 both ways"
finish

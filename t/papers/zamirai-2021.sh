#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# P. Zamirai, J. Zhang, C. R. Aberger, C. De Sa, Revisiting BFloat16 training, arXiv:2010.06192, 2021: nearest rounding
# of weight updates is what breaks training with 16-bit weights and no master copy.
# Reproduced: a step of size eta cannot move a bf16 weight with |w| >= 512 eta, nor an fp16 one with |w| >= 4096 eta,
# and always moves it below half of that (settled rule). With Adam at a learning rate of 6e-4, whose first step is of
# that size, the bf16 weights from 0.3072 on are frozen: by the operator adamw with weights and moments in bf16.
. "${srcdir:-.}/t/tool/tap.sh"

# w = 512 x 6e-4 times 1/4 ... 8; g = 1, state 0, clock after one step: t, beta1^t, beta2^t
ratios="0.25 0.4 0.49 1 1.01 1.5 2 4 8"
weights=$(for r in $ratios; do awk "BEGIN { print $r * 0.3072 }"; done)
n9="(9,)"
npy_of w.npy "$n9" $weights
npy_of g.npy "$n9" 1 1 1 1 1 1 1 1 1
npy_of zero.npy "$n9" 0 0 0 0 0 0 0 0 0
npy_of no.npy "(1,)" 0
npy_of clock.npy "(3,)" 1 0.9 0.999
step() { # format, what becomes of the weights
	run op adamw --in a=w.npy --in b=g.npy --in c=no.npy --in d=zero.npy --in e=zero.npy --in f=clock.npy --set in="$1" --set in.f=fp32 --set lr=6e-4 --set weight_decay=0 --out d.npy
	test_is $code "$1: a step of Adam"
	run round --format "$1" --json -- $weights
	sed -n 's/.*"hex": "\(.*\)",/\1/p' out >before
	run round --format fp32 --bits --json -- $(words d.npy | sed 's/[^ ][^ ]*/0x&/g')
	sed -n 's/.*"hex": "\(.*\)",/\1/p' out >after
	paste before after >out
	test "$(awk '{ printf "%s", $1 == $2 ? "=" : "<" }' out)" = "$2"
	test_is $? "$1: $3"
}
step bf16 '<<<======' "weights below 256 eta move, from 512 eta on none does"
step fp16 '<<<<<<<<=' "of the same weights only that at 4096 eta is frozen"
step fp32 '<<<<<<<<<' "as a master copy: all move"
finish

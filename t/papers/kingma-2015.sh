#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# D. P. Kingma, J. Ba, Adam: a method for stochastic optimization, ICLR 2015 (arXiv:1412.6980), with its defaults
# eps = 1e-8 and beta2 = 0.999 in fp16.
# Reproduced: eps is zero in fp16 (below half the smallest subnormal, 2^-25 = 2.98e-8), so that v = 0 divides by zero
# where there is no gradient; and (1 - beta2) g^2 rounds to zero for |g| below 2^-7.517, the root of 2^-25 / 0.001
# (settled: about 2^-7.5), by the operator adamw. In fp32 and bf16 neither happens.
. "${srcdir:-.}/t/tool/tap.sh"

run calc 1e-8 --format fp16,bf16,fp32 --json
test $code = 0 && test "$(sed -n 's/^ *"value": \([^,]*\),/\1/p' out | head -n 1)" = 0.0 && test "$(grep -c '"value": 0.0' out)" = 1
test_is $? "eps = 1e-8 is zero in fp16 and nowhere else"

# v' of five gradients about the threshold: 2^-8, 2^-7.52, 2^-7.51, 2^-7, 1
five="(5,)"
npy_of w.npy "$five" 1 1 1 1 1
npy_of g.npy "$five" 2^-8 '2^(-7.52)' '2^(-7.51)' 2^-7 1
npy_of zero.npy "$five" 0 0 0 0 0
npy_of no.npy "(1,)" 0
npy_of clock.npy "(3,)" 1 0.9 0.999
adam() { run op adamw --in a=w.npy --in b=g.npy --in c=no.npy --in e=zero.npy --in f=clock.npy --set in.f=fp32 --set weight_decay=0 --set lr=0.01 "$@"; }
adam --in d=zero.npy --set in=fp16 --set in.b=fp32 --result 2
test $code = 0 && test "$(awk '{ printf "%s", $1 == 0 ? "0" : "+" }' out)" = 00+++
test_is $? "fp16: the second moment is zero below 2^-7.517"
for f in bf16 fp32; do
	adam --in d=zero.npy --set in=$f --result 2
	test $code = 0 && test "$(awk '{ printf "%s", $1 == 0 ? "0" : "+" }' out)" = +++++
	test_is $? "$f: it never is"
done
# A weight whose gradient is zero after its v vanished: m / (sqrt(0) + 0), and 0 / 0 where m is zero too
npy_of m.npy "$five" 0 0 2^-20 2^-20 2^-20
cp zero.npy g.npy
adam --set in=fp16 --in d=m.npy
code_was=$code said=$(tr '\n' ' ' <out)
test $code_was = 0 && test "$said" = "nan nan -inf -inf -inf "
test_is $? "fp16: without a gradient the weight becomes NaN or infinite: $said"
adam --set in=fp16 --set in.e=fp32 --in d=m.npy
said=$(tr '\n' ' ' <out)
test $code = 0 && test -n "$said" && test "$(echo "$said" | grep -c 'nan\|inf')" = 0
test_is $? "with v, and so eps, in fp32 it stays finite: $said"
finish

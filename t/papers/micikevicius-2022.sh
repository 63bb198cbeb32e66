#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# P. Micikevicius, D. Stosic, N. Burgess, M. Cornea, P. Dubey, R. Grisenthwaite, et al., FP8 formats for deep learning,
# arXiv:2209.05433, 2022, table 1; and B. Noune, P. Jones, D. Justus, D. Masters, C. Luschi, 8-bit numerical formats
# for deep neural networks, arXiv:2206.02915, 2022, whose exponent biases and one-NaN policy are parameters.
# Reproduced: e4m3 has maximum 448 = 0x7e, no infinity, one NaN code a sign, smallest subnormal 2^-9 and
# normal 2^-6; e5m2 follows IEEE: maximum 57344 = 0x7b, infinities 0x7c, smallest 2^-16 and 2^-14. The fnuz formats
# move the bias by one and keep one NaN, 0x80, and no -0: maxima 240 and 57344, smallest 2^-10 and 2^-17.
. "${srcdir:-.}/t/tool/tap.sh"

codes() { sed -n 's/^ *"bits": "0x\(.*\)",/\1/p' out | tr '\n' ' '; }
gives() { # format, codes, values
	run round --format "$1" --json -- "${@:3}"
	test $code = 0 && test "$(codes)" = "$2 "
	test_is $? "$1: ${*:3} are $2"
}
decodes() { # format, values, codes
	run round --format "$1" --bits --json -- "${@:3}"
	test $code = 0 && test "$(sed -n 's/^ *"value": "*\([^",]*\)"*,/\1/p' out | tr '\n' ' ')" = "$2 "
	test_is $? "$1: codes ${*:3} are $2"
}
gives e4m3 '7e 7e 7f 7f 7f 08 01 80' 448 464 465 inf nan 2^-6 2^-9 -0
decodes e4m3 '448.0 nan nan -448.0 0.001953125 0.015625' 0x7e 0x7f 0xff 0xfe 0x01 0x08
gives e5m2 '7b 7b 7c 7c fc 7e 04 01 80' 57344 61439 61440 inf -inf nan 2^-14 2^-16 -0
decodes e5m2 '57344.0 inf nan nan nan 1.52587890625e-5' 0x7b 0x7c 0x7d 0x7e 0x7f 0x01
gives e4m3fnuz '7f 80 80 80 01 00' 240 249 inf nan 2^-10 -0
gives e5m2fnuz '7f 80 80 80 01 00' 57344 61441 inf nan 2^-17 -0
gives e4m3ieee '77 78 78 01' 240 248 inf 2^-9
for pair in e4m3:254 e5m2:248 e4m3fnuz:255 e5m2fnuz:255; do # finite codes of 256: 2 NaN; 6 NaN, 2 infinities; 1 NaN
	run round --format "${pair%:*}" --bits --json -- $(seq -f 0x%02.0f 0 255 | awk '{ printf "0x%02x ", NR - 1 }')
	test $code = 0 && test "$(grep -c '"value": -*[0-9]' out)" = "${pair#*:}"
	test_is $? "${pair%:*}: ${pair#*:} finite codes of 256"
done
# saturation is the third parameter
run round --format e4m3,e5m2 --mode saturate --json -- 1e6 inf
test $code = 0 && test "$(codes)" = '7e 7b 7e 7b '
test_is $? "saturating, both formats end at their maxima"
finish

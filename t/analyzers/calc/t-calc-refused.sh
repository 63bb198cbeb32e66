#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What calc, round, formats and accumulate refuse: in one line, which says where in the expression or list.
. "${srcdir:-.}/t/tool/tap.sh"
refuses() { # what must stand in the line, arguments
	want=$1
	shift
	run "$@"
	test $code = 2 && test ! -s out && test "$(wc -l <err)" = 1 && grep -qF -- "$want" err
	test_is $? "refused with one line, exit 2: $*"
}

run calc "$(printf '(%.0s' $(seq 5000))"
test $code = 2 && test "$(wc -c <err)" -lt 200
test_is $? "5000 brackets are not echoed"
run calc "$(printf '1+%.0s' $(seq 100))*$(printf '1%.0s' $(seq 100))"
test $code = 2 && test "$(wc -c <err)" -lt 200 &&
	grep -q "column 201 of '\.\.\..*\.\.\.': a number is needed, not '\*1*\.\.\.'" err
test_is $? "of a long expression, what stands around the column"
refuses "needed, not '*2345678901234567890'" calc '1+*2345678901234567890'
refuses "needed, not '*2345678901234567890...'" calc '1+*23456789012345678901'

for f in e0m40:2 e99m1:2 e9m99:4 e4m3x:5; do
	refuses "format '${f%:*}', character ${f#*:}" calc --format "${f%:*}" 1
	refuses "format '${f%:*}', character ${f#*:}" round --format "${f%:*}" 1
	refuses "format '${f%:*}', character ${f#*:}" formats "${f%:*}"
done
refuses "option '-(3)'; put -- before" calc '1+1' '2+2' '-(3)'
refuses "option '-sqrt(2)'; put -- before" calc 1 '-sqrt(2)' 2
refuses "option '--5'; put -- before" calc 1 --5
refuses "option '-x'" calc 1 -x -xy
refuses "column 1 of '1x'" round --format fp16 1x
refuses "column 1 of '0xzz'" round --format fp16 0xzz
refuses "wider than the 4 bits of e2m1" round --bits --format e2m1 0x10
refuses "wider than the 16 bits of fp16" round --bits --format fp16 0x12345
refuses "column 3 of '1+*2'" calc '1+*2'
refuses "column 5 of 'sum()'" calc 'sum()'
refuses "column 1 of '1..2'" calc '1..2'
refuses "column 4" calc '1 +'
for list in fp16,:6 ,fp16:1 fp16,,bf16:6 ,:1; do
	for c in round calc; do refuses "column ${list#*:} of '${list%:*}': a format" "$c" --format "${list%:*}" 1; done
	refuses "column ${list#*:} of '${list%:*}': a format" accumulate --format "${list%:*}" --n 4 1
done
for list in FP16,Half fp16,e5m10,binary16 mxfp4,MXFP4x32; do
	run round --format "$list" 0.1
	test $code = 0 && cp out many
	run round --format "${list%%,*}" 0.1
	test $code = 0 && cmp -s out many
	test_is $? "--format $list: one format, one row"
done
refuses "hopper" calc --sum tc:hoper 'sum(1)'
refuses "no instruction for bf16" calc --sum tc:volta,in=bf16 'sum(1*1)'
refuses "25 significant bits" calc --sum fma --format fp64 --mode RZ 'sum(1*1)'
refuses "column 5" calc '1 + )'
refuses "column 3" calc '(1'
refuses "column 7" calc '2.5 + x1'
refuses "sqrt?" calc 'sqr(2)'
refuses "3 arguments" calc 'fma(1, 2)'
refuses "column 3" calc '1 2'
refuses "an expression is needed" calc
refuses "leave out --json" calc --explain --json 1
refuses "fp17" calc --format fp17 1
refuses "wider than the 16 bits" calc --bits --format fp16 0x13c00
refuses "nested" calc "$(printf '(%.0s' $(seq 300))1"
refuses "rounding mode" round --mode sideways 1
refuses "NAME=A..B:N is needed" calc --vary x 1+x
refuses "NAME=A..B:N is needed" calc --vary x=1..2 1+x
refuses "NAME=A..B:N is needed" calc --vary x=1..inf:3 1+x
refuses "2 to 10000" calc --vary x=1..2:1 1+x
refuses "both ends above 0" calc --vary x=0..2:3,log 1+x
refuses "means something else" calc --vary e=1..2:3 1+e
refuses "has no x in it" calc --vary x=1..2:3 1+y
refuses "a name of letters" calc --vary x1=1..2:3 1+x1
refuses "column 1" round abc
refuses "column 1" formats 'x'
refuses "latex, markdown, tsv" formats --table html
refuses "1 to 32" round --mode SR:random_bits=40 1
refuses "StochasticA to StochasticC" round --mode SR:variant=D 1
refuses "adds with StochasticA" calc --sum fma --format fp16 --mode SR:variant=B "sum(1, 0.1)"
finish

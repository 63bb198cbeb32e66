#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# calc, round and formats as a user types them: values, flags, JSON rows, refusals.
. "${srcdir:-.}/t/tool/tap.sh"
# A row of the table by format: result, bits and the flags at its end
row() { sed -n "s/^$1  *//p" "$dir/out" | head -n 1; }
row_is() { # format, result, bits, flags
	set -- "$1" "$2 $3 ${4// /\ }" "$(row "$1" |
		awk -v want="$4" '{ f = ""; for (i = 7; i <= NF; i++) f = f (i > 7 ? " " : "") $i; print $1, $2, f }')"
	test "$2" = "$3"
	test_is $? "  $1: $2"
}
refuses() { # what must stand in the line, arguments
	want=$1
	shift
	run "$@"
	test $code = 2 && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1 && grep -qF -- "$want" "$dir/err"
	test_is $? "refused with one line, exit 2: $*"
}

run calc --format fp16,bf16,fp32 '1 + 0.0001'
test $code = 0 && test ! -s "$dir/err" && grep -q '^1 + 0.0001 = 1.0001$' "$dir/out"
test_is $? "calc '1 + 0.0001': the exact value first"
row_is fp16 1 0x3c00 "inexact swamped"
row_is bf16 1 0x3f80 "inexact swamped"
row_is fp32 1.0001 0x3f800347 "inexact"
run calc '1 + 0.0001' --format fp16
test "$(row fp16 | awk '{print $5}')" = 0.1024
test_is $? "the error is 0.1024 ulp"
run calc --format fp16 --mode RU -- -0.1 '-0.1^2' '0 - 0.1'
test "$(grep '^fp16' "$dir/out" | tr -s ' ' | cut -d ' ' -f 3 | paste -sd , -)" = 0xae66,0xa120,0xae67
test_is $? "a number is rounded with its sign: -0.1 upward to 0xae66; the operators of -0.1^2 and 0 - 0.1 take 0.1 "\
"upward"
run calc '1/3' --format fp16 --mode RU
row_is fp16 0.3335 0x3556 "inexact"
run calc 'fma(0x1.004p-5, 0x1.ff8p-7, 0x1.004p0)' --format fp16
test "$(row fp16 | awk '{print $2}')" = 0x3c01
test_is $? "fma rounds once"
run calc --bits '0x3c00 + 0x0001' --format fp16
row_is fp16 1 0x3c00 "inexact swamped"
run calc '300 * 2' --format e4m3
row_is e4m3 nan 0x7f "inexact overflow"
run calc '300 * 2' --format e4m3 --mode saturate
row_is e4m3 448 0x7e "inexact overflow"
run calc 'sum(1, 2^-12, 2^-12)' --format fp16
row_is fp16 1 0x3c00 "inexact swamped"
run calc '2^-24' --format fp16
row_is fp16 6e-08 0x0001 "subnormal"
run calc '1/3' --format fp16 --mode SR --seed 5
cp "$dir/out" "$dir/first"
run calc '1/3' --format fp16 --mode SR --seed 5
test $code = 0 && cmp -s "$dir/out" "$dir/first"
test_is $? "stochastic rounding is a function of the seed"
for s in 0 1 2 3 4 5 6 7 8 9; do run calc '1/3' --format fp16 --mode SR --seed $s; row fp16; done |
	sort -u >"$dir/seeds"
test "$(wc -l <"$dir/seeds")" = 2
test_is $? "ten seeds give both neighbours"
run calc -- '-1 - 1'
test $code = 0 && test "$(row fp16 | awk '{print $2}')" = 0xc000
test_is $? "-- lets an expression begin with a minus"
for e in '-1' '0-1' 'max(-2,-1)'; do
	run calc --format e8m0,binary8p3u -- "$e"
	test $code = 0 && test "$(grep -cE '^(e8m0|binary8p3u) +nan +0xff .* invalid$' "$dir/out")" = 2
	test_is $? "$e in formats without a sign is invalid"
done
for e in '-0' 'max(-0,-1)' '-(0)' 'abs(-0)'; do
	run calc --format e4m3fnuz,binary8p3 -- "$e"
	test $code = 0 && test "$(grep -cE '^(e4m3fnuz|binary8p3) +0 +0x00 .* exact$' "$dir/out")" = 2
	test_is $? "$e in formats without -0 is +0"
done
for e in 0x1p-1074:0x1p-1074 -0x0.8000000000001p-1022:-0x1.0000000000002p-1023 \
	0x0.fffffffffffffp-1022:0x1.ffffffffffffep-1023 0x1p-1022:0x1p-1022; do
	run calc --format fp64 -- "${e%:*}"
	test $code = 0 && test "$(row fp64 | awk '{print $4}')" = "${e#*:}"
	test_is $? "${e%:*} of fp64 in hex starts with 1: ${e#*:}"
done
run calc --explain --format e8m0 -- '-1'
test $code = 0 && row_is e8m0 nan 0xff invalid

run calc --explain --format fp16 '1 + 0.0001'
test $code = 0 && grep -q '^    exact     10000000000 │ 0001101000111' "$dir/out" &&
	grep -q 'Guard 0, round 0, sticky 1: 0.1024169922 ulp' "$dir/out" &&
	tr -s '\n ' '  ' <"$dir/out" | grep -q 'The smallest addend of fp16 that moves 1 is 0.0004888 = 0x1.004p-11' &&
	grep -q '^    b         0 00001 1010001110   0x068e ' "$dir/out"
test_is $? "--explain draws the sum and says what moves 1"
run calc --explain --format fp16 --mode RZ '65504 + 1'
tr -s '\n ' '  ' <"$dir/out" | grep -q 'No addend of fp16 of this sign moves 65504'
test_is $? "--explain: rounding toward zero, nothing moves the largest value upward"
run calc --explain --format bf16 '1.1 * -2.7'
test "$(grep -c '^    b × 2^' "$dir/out")" = 4 && grep -q '^    exact     − 10111110 │ 1001001' "$dir/out" &&
	grep -q '^    result    − 10111111 │' "$dir/out"
test_is $? "--explain: a product's rows, one a bit"
run calc --explain --format fp16 '1/3' 'sqrt(2)' 'fma(0x1.004p-5, 0x1.ff8p-7, 0x1.004p0)' 'exp(1)' 0.1
test $code = 0 && grep -q 'repeat after 2 and never end' "$dir/out" && grep -q 'The root is irrational' "$dir/out" &&
	grep -q '^    a × b .*│ ·11111111111111111111' "$dir/out" &&
	tr -s '\n ' '  ' <"$dir/out" | grep -q 'Rounded to fp16 first, it would be 0.0004883 and the sum 1.002' &&
	test "$(grep -c ' in fp16: 11 significant bits, RNE' "$dir/out")" = 5
test_is $? "--explain: a quotient, a root, a fused product, a function, a literal"
run calc --explain --format fp16 'sum(1, 2^-11, 0.3, 100)'
test $code = 0 && grep -q '^    x2  + .* swamped, all of it' "$dir/out" &&
	grep -q '^    x3 .* loses 0.25 ulp' "$dir/out" && grep -q 'addend is swamped: x2' "$dir/out"
test_is $? "--explain: a sum, a row an addition, what each loses"
run calc --explain --format fp16 "sum($(seq -s, 40))"
grep -q '28 more additions: 0 inexact, 0 swamped' "$dir/out" && grep -q '^    x40 ' "$dir/out" &&
	grep -q 'Every addition is exact' "$dir/out"
test_is $? "--explain: the middle of a long sum is left out, and counted"
run calc --explain --format fp32 '1e30 + 3'
grep -q '^    b .*│ ··· ⋯ 1100' "$dir/out"
test_is $? "--explain: columns without a digit are left out"

# Tensor cores by the probes of the literature: P3 (four products 2^-25 beside 1) tells Hopper from those before it
for row in 'tc:volta 1' 'tc:ampere 1' 'tc:hopper 1.0000001'; do
	run calc --sum "${row% *}" 'sum(1, 2^-12*2^-13, 2^-12*2^-13, 2^-12*2^-13, 2^-12*2^-13)'
	test $code = 0 && test "$(row fp32 | awk '{print $1}')" = "${row#* }"
	test_is $? "calc --sum ${row% *}: ${row#* }"
done
run calc --explain --sum tc:hopper 'sum(1, 0.1*0.2, 0.3*-0.0001, 2^-12*2^-13, 3*100)'
test $code = 0 && grep -q 'every term is chopped toward zero to 25 bits' "$dir/out" &&
	grep -q 'e = -25 *chopped to nothing$' "$dir/out" && grep -q '^    sum  *1.*│' "$dir/out"
test_is $? "--explain: a tensor core's block"
run calc --explain --sum tc:hopper,in=e4m3,path=mma 'sum(0.5, 1.5*2, 3*0.1, 1*1, 2*2)'
test $code = 0 && test "$(grep -c 'as fp16: block . of two' "$dir/out")" = 2 && grep -q 'C is added last' "$dir/out"
test_is $? "--explain: fp8 by two fp16 blocks"
run calc --explain --format fp16 --sum chunk:2 'sum(1*1, 0.1*0.2, 3*100, 1.5*2^-14)'
test $code = 0 && test "$(grep -c 'Slice . of 2 in fp16' "$dir/out")" = 2 &&
	grep -q "The slices' sums added in fp16" "$dir/out"
test_is $? "--explain: slices"
for e in 'fp16 1-1 ··········0' 'e4m3fnuz 0.1-0.1 ···0' 'fp16 fma(0.5,0.5,-0.25) ··········0'; do
	set -- $e
	run calc --explain --format $1 "$2"
	test $code = 0 && test "$(grep -c '^    .* │ ···  *[0-9.-]*$' "$dir/out")" = 4 &&
		test "$(grep -c "^    \(exact\|result\)  *$3 │" "$dir/out")" = 2 &&
		tr -s '\n ' '  ' <"$dir/out" | grep -q 'The operands cancel altogether'
	test_is $? "--explain: a zero stands at the line of what cancelled: $2"
done
run calc --explain --format fp16 -- '-1+0.0001'
tr -s '\n ' '  ' <"$dir/out" | grep -q '1 ulp = 2^-11 .*0.7951660156 ulp lies below .* 0.0001 is 0.1024169922 ulp of '\
'1 (1 ulp there is 2^-10), and is swamped' && grep -q '│ ··11010001110   0.0001000165939$' "$dir/out"
test_is $? "--explain: an ulp that is not the line's is named"
run calc --explain --format fp16 '2^-20 + 2^-24'
test "$(grep -c '^    a .* 9.536743164e-07$' "$dir/out")" = 2 &&
	test "$(grep -c '^    b .* 5.960464478e-08$' "$dir/out")" = 2 &&
	test "$(grep -c '^    result .* 1.013278961e-06$' "$dir/out")" = 2
test_is $? "--explain: numbers beside the aligned rows are those stored"
for m in kahan pairwise; do
	refuses "the steps of --sum $m are not drawn" calc --explain --format fp16 --sum $m 'sum(1, 2, 3)' -o \
		"$dir/none.svg"
	test ! -e "$dir/none.svg"
	test_is $? "  nothing is written"
	run calc --explain --format fp16 --sum $m 'sum(1, 2, 3)'
	test $code = 0 && grep -q "^3 terms by $m" "$dir/out" && grep -q "^  The steps of $m are not drawn" "$dir/out"
	test_is $? "  without -o words say so"
done
run calc --explain --format fp16 --sum chunk:1 'sum(1*2, -(2*4), 3*1, 4*1)' '0.5*0.5'
grep -q '^4 products by chunk:1' "$dir/out" && grep -q '^  1 more slice is not drawn' "$dir/out" &&
	grep -q 'Exactly, the term as stored is 2;' "$dir/out" && grep -q 'has 1 significant bit;' "$dir/out"
test_is $? "--explain: products, and one of a kind"
run calc --json --format fp16 --sum fma 'sum(1, 2^-6*2^-6, 2^-6*2^-6, 2^-6*2^-6)'
one=$(grep '"value"' "$dir/out")
run calc --json --format fp16 --sum fma,acc=fp32 'sum(1, 2^-6*2^-6, 2^-6*2^-6, 2^-6*2^-6)'
test "$one" = '  "value": 1.0,' && test "$(grep '"value"' "$dir/out")" = '  "value": 1.0009765625,'
test_is $? "calc --sum fma: a wider accumulator keeps what fp16 swamps"

run calc -o "$dir/add.svg" --format fp16 '1 + 0.0001'
test $code = 0 && test "$(grep -c '>1</text>' "$dir/add.svg")" -ge 10 && grep -q '^<svg xmlns=' "$dir/add.svg" &&
	grep -q "halfulp calc --explain --format fp16 '1 + 0.0001'" "$dir/add.svg" &&
	grep -q 'guard bit' "$dir/add.svg" && test "$(wc -l <"$dir/out")" = 3
test_is $? "-o writes the drawing; the table alone is printed"
if command -v xmllint >"$dir/err"; then
	xmllint --noout "$dir/add.svg" >"$dir/out" 2>"$dir/err"
	test_is $? "the SVG is well-formed XML"
fi
run calc -o "$dir/none/add.svg" 1
test $code = 4 && test "$(wc -l <"$dir/err")" = 1
test_is $? "-o where there is no folder: exit 4"
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	esc=$(printf '\033')
	TERM=xterm script -qec "'$HALFULP' calc --explain --format fp16 '1 + 0.0001'" /dev/null >"$dir/tty" 2>&1 \
		</dev/null
	TERM=xterm NO_COLOR=1 script -qec "'$HALFULP' calc --explain --format fp16 '1 + 0.0001'" /dev/null \
		>"$dir/plain" 2>&1 </dev/null
	grep -q "$esc\[34m" "$dir/tty" && ! grep -q "$esc" "$dir/plain" && grep -q 'Guard 0' "$dir/plain"
	test_is $? "colours on a terminal, none where NO_COLOR says so"
fi
printf '1 + 1\n\n  2*3\n' | "$HALFULP" calc --json --format fp16 - >"$dir/out" 2>"$dir/err"
test "$(grep '"value"' "$dir/out" | tr -d ' ,\n')" = '"value":2.0"value":6.0'
test_is $? "calc - reads an expression a line"
run calc --json --format fp16 '1 + 0.0001'
tr -d ' \n' <"$dir/out" >"$dir/flat"
test "$(cat "$dir/flat")" = '[{"input":"1+0.0001","format":"fp16","value":1.0,"hex":"0x1p+0",'\
'"bits":"0x3c00","exact":"1.0001","error_ulps":0.1024,"flags":["inexact","swamped"]}]'
test_is $? "calc --json: the row's keys and values"
run calc --json --format fp16,fp32 1 'inf' '0/0'
test "$(grep -c '"input"' "$dir/out")" = 6 && grep -q '"value": "inf"' "$dir/out" && grep -q '"value": "nan"' "$dir/out"
test_is $? "a row an expression and format; what is not finite is a string"

run round --format fp16,bf16 0.1
row_is fp16 0.1 0x2e66 inexact
row_is bf16 0.1 0x3dcd inexact
run round --format tf32 1
row_is tf32 1 0x1fc00 exact
printf '1\n\n0x1p-24\n  70000 \n' | "$HALFULP" round --format fp16 - >"$dir/out" 2>"$dir/err"
test "$(awk 'NR > 1 {print $3}' "$dir/out" | tr '\n' ' ')" = "0x3c00 0x0001 0x7c00 "
test_is $? "round - reads a value a line"
run round --bits --format fp16 0x7bff
row_is fp16 65504 0x7bff exact

run formats
test $code = 0 && test "$(grep -c '^[a-z]*[0-9m]*  *[0-9]* ' "$dir/out")" -ge 7 && grep -q '^e4m3 .* 448 ' "$dir/out"
test_is $? "formats: the table"
test "$(awk '/^pi/ {on = 1} on && $1 == "fp16" {print $3}' "$dir/out")" = 0x4248
test_is $? "and pi in fp16"
run formats --json
test "$(grep -c '"format"' "$dir/out")" -ge 7 && grep -q '"bits": "0x40490fdb"' "$dir/out"
test_is $? "formats --json: pi in each"

run formats e4m3
test $code = 0 && grep -q '^  largest  *448 .*0x7e$' "$dir/out" && grep -q 'RNE gives NaN beyond 464' "$dir/out" &&
	grep -q 'NaN  *0x7f, 0xff$' "$dir/out"
test_is $? "formats e4m3: the page says what settles which e4m3 it is"
run formats e4m3ieee
grep -q 'RNE gives inf from 248' "$dir/out" && grep -q 'NaN  *0x79 to 0x7f, 0xf9 to 0xff; written as 0x7c$' "$dir/out"
test_is $? "formats e4m3ieee: and the other one"
run formats binary8p3 e9m6 2.5
test $code = 0 && grep -q '^  largest  *49152 .*0x7e$' "$dir/out" && grep -q 'e9m6: ' "$dir/out" &&
	grep -q '^2.5 = 2.5$' "$dir/out"
test_is $? "formats: formats without a row, and a value among them"
run formats --json fp16
grep -q '"nan_codes": "0x7c01 to 0x7fff, 0xfc01 to 0xffff"' "$dir/out"
test_is $? "formats --json fp16: an object"
for kind in latex markdown tsv; do
	run formats --table $kind
	test $code = 0 && test "$(grep -c 'e4m3fnuz' "$dir/out")" = 1 && test "$(grep -c 65504 "$dir/out")" = 1
	test_is $? "formats --table $kind"
	test $kind != latex || { ! grep -q '[0-9]e[+-]' "$dir/out" && grep -qF '$1.79769 \times 10^{308}$' "$dir/out"; }
	test_is $? "formats --table $kind: powers of ten as $kind writes them"
done
test "$(awk -F'\t' 'NF == 12 { good++ } END { print (good == NR && NR >= 18) }' "$dir/out")" = 1
test_is $? "every TSV row has its 12 columns"
run round --format e4m3fnuz,e2m1,e5m7,binary8p3 -- -0.0001
row_is e4m3fnuz 0 0x00 "inexact underflow"
row_is e2m1 -0 0x8 "inexact underflow"
run round --format e2m1 nan
row_is e2m1 6 0x7 "invalid"
run round --format e8m0 --mode RNZ 3
row_is e8m0 2 0x80 "inexact"
run round --format fp16 --mode ftz 0x1p-20
row_is fp16 0 0x0000 "inexact underflow"
for s in 0 1 2 3 4 5 6 7; do run round --mode SRE --seed $s --format fp16 2049; row fp16; done | sort -u >"$dir/seeds"
test "$(wc -l <"$dir/seeds")" = 2
test_is $? "round --mode SRE: either neighbour"

run formats mxfp4 nvfp4
test $code = 0 && grep -q '^  │ scale: 8 bits │ 32 × e2m1: 4 bits each │$' "$dir/out" &&
	grep -q '^  bits an element    4.25 ' "$dir/out" && grep -q '^nvfp4: blocks of 16' "$dir/out"
test_is $? "formats mxfp4: a block format's page"
for name in bfp99x16:4 int8x0:6 bfp8x16e4:8 bfp8x16s99:9; do
	refuses "block format '${name%:*}', character ${name#*:}:" formats ${name%:*}
done
refuses "'mxfp4' is a block format" calc --format mxfp4 1
run formats --json int4x32
grep -q '"bits_per_element": 5.0' "$dir/out" && grep -q '"max_element": 7.0' "$dir/out"
test_is $? "formats --json int4x32"

# doc/formats.md's table of what a name means, against the format's page
rows=0 wrong=
while IFS='|' read -r _ name largest code above inf nan _; do
	set -- ${name//[\` ]/} ${largest// /} ${code// /}
	above=${above# } inf=${inf// /} nan=${nan# }
	rows=$((rows + 1))
	case $above in "the largest"*) above="the largest:" ;; *) above="RNE gives ${above% } " ;; esac
	run formats "$1"
	grep -q "^  largest  *$2 .* $3\$" "$dir/out" && grep -q "^  above it  *$above" "$dir/out" &&
		grep -q "^  infinity  *$inf\b" "$dir/out" &&
		grep -q "^  NaN  *${nan% }\(;\|\$\)" "$dir/out" || wrong="$wrong $1"
done < <(sed -n '/^| name | largest/,/^$/p' "$top/doc/formats.md" | sed -n '3,/^$/p' | grep '^|')
test -z "$wrong" && test $rows = 10
test_is $? "doc/formats.md: largest values, codes, overflow, infinities and NaN of $rows "\
"formats${wrong:+, wrong:$wrong}"

# Beyond MPFR's default exponents
for e in 2^1073741824 1e1000000000 '2^(2^61)'; do
	run round --format fp64,bf16 "$e"
	row_is fp64 inf 0x7ff0000000000000 "inexact overflow"
done
for e in 2^-5000000000 1e-999999999999 'exp(-1e15)'; do
	run round --format fp16 "$e"
	row_is fp16 0 0x0000 "inexact underflow"
	test "$(row fp16 | awk '{print $5, $6}')" = "4.9407e-324 1"
	test_is $? "  its error is not 0 ulp: $e"
done
run calc --format fp16 '2^1000000000000'
test $code = 0 && grep -q '^2^1000000000000 = 9.57624423149274328480505949569894837e+301029995663$' "$dir/out"
test_is $? "the exact value of 2^1000000000000"
run calc --explain --format fp16 1e1000000000000
test $code = 0 && tr -s '\n ' '  ' <"$dir/out" | grep -q 'lies between 2^3321928094887 and 2^3321928094888, too far'
test_is $? "--explain: a literal that no drawing holds"
refuses "beyond 2^4611686018427387903" round 1e99999999999999999999
refuses "below 2^-4611686018427387903" calc 'exp(-1e30)'
run round --format fp16 'sigmoid(1e30)'
row_is fp16 1 0x3c00 inexact
for f in e4m3 e4m3fnuz e8m0; do
	run round --format $f inf
	test "$(row $f | awk '{print $5, $6, $7}')" = "inf inf invalid"
	test_is $? "NaN for infinity: both errors are infinite ($f)"
done

# round's options act on each literal and operation
run calc --format fp16 --mode ftz '2^-14*0.75'
row_is fp16 0 0x0000 "inexact underflow"
run calc --format fp16 --bits '0x0200+0x0200'
row_is fp16 6.104e-05 0x0400 exact
run calc --format fp16 --bits --mode daz '0x0200+0x0200'
row_is fp16 0 0x0000 "inexact underflow zeroed"
run calc --format fp16 --mode daz '2^-14*0.75'
row_is fp16 4.58e-05 0x0300 subnormal
run calc --format fp16 --mode daz '2^-14*0.75*2'
row_is fp16 0 0x0000 "inexact underflow"
run calc --format fp16 --mode ftz --explain '2^-14*0.75'
grep -q 'fp16 under ftz has no subnormal numbers' "$dir/out"
test_is $? "--explain says that ftz flushed it"
# 1 + 2^-12 in fp16 lies a quarter of an ulp up: one random bit never sees it
for k in 1 32; do
	for s in $(seq 40); do run calc --format fp16 --mode SR:random_bits=$k --seed $s '1 + 2^-12'; row fp16 |
		cut -d' ' -f1; done | sort -u >"$dir/ups$k"
done
test "$(wc -l <"$dir/ups1")" = 1 && test "$(wc -l <"$dir/ups32")" = 2
test_is $? "calc --sample-bits: one bit chops a quarter of an ulp, 32 do not"
refuses "leave out ftz and daz" calc --sum fma --mode ftz 'sum(1)'
refuses "leave out daz" calc --explain --mode daz 1

# Standard input
for c in round calc; do
	"$HALFULP" $c - <"$dir" >"$dir/out" 2>"$dir/err"
	test $? = 3 && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1 &&
		grep -q 'standard input, line 1: cannot be read' "$dir/err"
	test_is $? "$c - of a folder: exit 3"
	"$HALFULP" $c - <&- >"$dir/out" 2>"$dir/err"
	test $? = 3 && test ! -s "$dir/out" && test "$(wc -l <"$dir/err")" = 1
	test_is $? "$c - of a closed descriptor: exit 3"
	printf '1\n1\0abc\n' | "$HALFULP" $c --format fp16 - >"$dir/out" 2>"$dir/err"
	test "${PIPESTATUS[1]}" = 2 && grep -q 'line 2: byte 2 is a NUL' "$dir/err"
	test_is $? "$c - with a NUL in line 2: refused"
	printf '1\n\nabc\n2\n' | "$HALFULP" $c --json --format fp16 - >"$dir/out" 2>"$dir/err"
	test "${PIPESTATUS[1]}" = 2 && grep -q 'line 3: column 1' "$dir/err" &&
		test "$(grep -c '"input"' "$dir/out")" = 1 && test "$(tail -n 1 "$dir/out")" = "]"
	test_is $? "$c --json - with a bad line 3: the rows before it, and its number"
done

finish

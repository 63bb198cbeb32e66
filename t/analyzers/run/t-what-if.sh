#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# accumulate-what-if: recorded products under other accumulators. The run's own sums must come out as replay and
# swamping have them; the others within their bounds and in the order that precision gives them.
. "${srcdir:-.}/t/tool/tap.sh"
small="--model convnet:width=0.0625 --data size=8,train=128,eval=32 --batch 16 --quiet"
w=r/analysis/accumulate-what-if.tsv total=r/analysis/accumulate-what-if-total.tsv

run train $small --steps 4 --trace steps=1,last --policy mixed_float16 --loss-scale init=256 r
test_is $code "a traced run"
run analyze r
test $code = 0 && test ! -e $w && ! grep -q what-if out
test_is $? "it does not run unasked"
run analyze --only accumulate-what-if r
test $code = 0 && test ! -s err && grep -q 'least mean error: ' out
test_is $? "--only accumulate-what-if"
test "$(grep -v '^#' $w | head -n 1 | tr '\t' ' ')" = \
	'step call op phase layer tensor format terms sum recorded elements sampled ulp_max ulp_mean ulp_mean_ci95 '\
'backward_normwise bound_ulp_max bound_ratio_max over_bound sqrt_n_u additions swamped share_swamped stagnated' &&
	test "$(grep -v '^#' $total | head -n 1 | tr '\t' ' ')" = \
	'sum calls refused outputs ulp_max ulp_mean additions swamped share_swamped stagnated'
test_is $? "its columns"
grep -q '^# judged again: [1-9][0-9]* values, .* 0 disagreed$' $w &&
	grep -q '^# judged again: [1-9][0-9]* values, .* 0 disagreed$' $total && grep -q '^# methods: [1-9]' $total
test_is $? "their heads say how many values MPFR judged again, and the outcome"
calls=$(awk -F'\t' '!/^#/ && $10 == 1' $w | wc -l) rows=$(awk -F'\t' '!/^#/ && $10 == 0' $w | wc -l)
test "$calls" -ge 12 && test "$rows" = $((calls * 10))
test_is $? "a row a call with the run's own sum ($calls), ten with other models ($rows)"

# The recorded sum: the same sample as replay's and swamping's, so the same numbers
join_rows() { # TABLE COLUMNS: tensor step and these columns
	awk -F'\t' -v want="$2" '/^#/ { next } !n { n = split(want, c, " "); for (i = 1; i <= NF; i++) at[$i] = i; '\
'next }
		{ if (at["recorded"] && $at["recorded"] != 1 || at["kind"] && $at["kind"] != "sum") next
		  line = $at["tensor"] " " $at["step"]; for (i = 1; i <= n; i++) line = line " " $at[c[i]]; print '\
'line }' "$1" | sort
}
columns="ulp_max ulp_mean backward_normwise bound_ratio_max over_bound sampled ulp_mean_ci95"
join_rows $w "$columns" >own
join_rows r/analysis/replay.tsv "$columns" >replay
test -s own && test "$(comm -23 own replay | wc -l)" = 0
test_is $? "the run's own sums err as replay says: $(wc -l <own) of them"
join_rows $w "additions swamped stagnated" | awk '$3 > 0' >own
join_rows r/analysis/swamping.tsv "additions swamped stagnated" >swamping
test -s own && test "$(comm -23 own swamping | wc -l)" = 0
test_is $? "and swamp as swamping says"

bad=$(awk -F'\t' '!/^#/ && n++ && (!($18 <= 1) || $19 != 0 || !($13 >= $14)) { print }' $w | wc -l)
test "$bad" = 0
test_is $? "no output beyond its a-priori bound, no mean above its maximum"
mean() { awk -F'\t' -v s="$1" '$1 == s { print $6 }' $total; }
holds 'a < b && b < c && d < c' a "$(mean fma,acc=fp32)" b "$(mean fma,acc=fp16)" c "$(mean fma,acc=bf16)" d \
	"$(mean kahan,acc=bf16)"
test_is $? "fp32, fp16, bf16 in this order; compensation mends bf16"
holds 'a < 1e-3 && b > 0.02' a "$(awk -F'\t' '$1 == "fma,acc=fp32" { print $9 }' $total)" b \
	"$(awk -F'\t' '$1 == "fma,acc=bf16" { print $9 }' $total)"
test_is $? "bf16 swamps additions where fp32 hardly does"

cp $w first
run analyze --only accumulate-what-if --threads 1 r
cmp -s $w first
test_is $? "threads change nothing"
run analyze --only accumulate-what-if --sample 16 --seed 9 r
test $code = 0 && test "$(column $w sampled | sort -n | tail -n 1)" = 16
test_is $? "--sample"
run analyze --no-propagate --only loss-scale --accumulate chunk:64,acc=fp16 --accumulate fma,acc=fp16,mode=SR r
test $code = 0 && test "$(column $total sum | tr '\n' ' ')" = "chunk:64,acc=fp16 fma,acc=fp16,mode=SR "
test_is $? "--accumulate: these models, also beside other analyzers"
run analyze --only accumulate-what-if --accumulate tc:volta --steps 1 r
test $code = 0 && awk -F'\t' '$1 == "tc:volta" { n++; good += $2 > 0 } END { exit !(n && good == n) }' $total
test_is $? "a tensor core's model"
run analyze --only accumulate-what-if --accumulate tc:hopper,in=e4m3,path=wgmma r
refused 2 'no product of this run' "a unit that takes none of the run's operands"
# In fp8 gradients are e5m2 and what they are multiplied by is e4m3: a unit that is named with two formats takes the
# products whose operands have them in this order, and refuses all others
run train --model mlp:width=0.0625 --data size=8,train=64,eval=16 --batch 16 --quiet --steps 1 --trace steps=0 \
	--policy mixed_e4m3 fp8
both=in=e4m3,in2=e5m2,path=wgmma
run analyze --only accumulate-what-if --accumulate tc:hopper,in=e4m3,path=wgmma --accumulate tc:hopper,$both fp8
cat >formats.py <<'PY'
import json
p = json.load(open('fp8/program-train.json'))
f = [tuple(p['tensors'][t]['format'] for t in c['in'][:2]) for c in p['calls'] if c['op'].startswith('matmul')]
alike, mixed = f.count(('e4m3', 'e4m3')), f.count(('e4m3', 'e5m2'))
for text, n in ('in=e4m3', alike), ('in=e4m3,in2=e5m2', mixed):
    print('tc:hopper,%s,path=wgmma' % text, n, len(f) - n)
PY
"${PYTHON:-python3}" formats.py >want
test $code = 0 && ! grep -q ' 0 ' want && test \
	"$(awk -F'\t' '/^tc:/ { print $1, $2, $3 }' fp8/analysis/accumulate-what-if-total.tsv)" = "$(cat want)"
test_is $? "operands of two formats: calls and refusals of either unit: $(cat want | tr '\n' ';')"
run analyze --accumulate fmaa r
refused 2 'did you mean fma' "an unknown model"
run analyze --only accumulate-whatif r
refused 2 'did you mean accumulate-what-if' "an unknown analyzer"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Models of tokens and of ratings: published sizes, the same bits for every number of threads and when they are
# verified, traced steps within every call's bound under each policy, and refusals.
. "${srcdir:-.}/t/tool/tap.sh"
bert="--model bert:layers=1,hidden=8,heads=2 --data length=21 --batch 4 --data train=32,eval=8"
gpt="--model gpt:layers=1,hidden=8,heads=2 --data length=11 --batch 4 --data train=32,eval=8"
flash="--model gpt:layers=1,hidden=8,heads=2,flash=4 --data length=11 --batch 4 --data train=32,eval=8"
moe="--model gpt:layers=1,hidden=8,heads=2,experts=3,top_k=2 --data length=11 --batch 4 --data train=32,eval=8"
ncf="--model ncf:layers=2,hidden=4 --data users=9,items=130 --batch 20 --data train=100"

# 30522 x 768 + 512 x 768 + 2 x 768 + 2 x 768 for embeddings and their norm; a block has 4 (768^2 + 768) for attention,
# 2 x 768 x 3072 + 3072 + 768 for its dense layers and 4 x 768 for its norms; the pooler 768^2 + 768; two classes.
block=$((4 * (768 * 768 + 768) + 2 * 768 * 3072 + 3072 + 768 + 4 * 768))
want=$((30522 * 768 + 512 * 768 + 4 * 768 + 12 * block + 768 * 768 + 768))
"$HALFULP" plan --model preset=bert-base --json >plan.json 2>err
test "$("${PYTHON:-python3}" -c "
import json
def find(x):
    return x['parameters'] if isinstance(x, dict) and 'parameters' in x else next((f for v in (x.values() if "\
"isinstance(x, dict) else x if isinstance(x, list) else ()) for f in [find(v)] if f), None)
print(find(json.load(open('plan.json'))))")" = $((want + 2 * 768 + 2)) && test $want = 109482240
test_is $? "plan --model preset=bert-base: 109,482,240 parameters and 1,538 of the classifier"

# MovieLens-20M has more users and items than pairs can be drawn of; sizes are told all the same. A user or item has 8
# factors in one tower and 32 in the other, whose dense layers are 64-32-16-8; both meet in 16-1.
want=$(((138493 + 26744) * (8 + 32) + 64 * 32 + 32 + 32 * 16 + 16 + 16 * 8 + 8 + 16 + 1))
"$HALFULP" plan --model ncf --data users=138493,items=26744 >plan.txt 2>err
grep -q "; $want parameters;" plan.txt && test $want = 6612241
test_is $? "plan --model ncf at MovieLens-20M's size: $want parameters"
"$HALFULP" bench why --model ncf --data users=138493,items=26744 --device v100 >why.txt 2>err &&
	grep -q mlp_users why.txt
test_is $? "and bench why predicts its times"

for policy in float32 mixed_float16 mixed_bfloat16 autocast_float16 float16; do
	for model in bert gpt flash moe ncf; do
		rm -rf r
		run train ${!model} --policy $policy --steps 2 --trace steps=1 --quiet r
		test $code = 0 && run analyze --only replay --no-propagate r
		test $code = 0 && grep -q '; 0 outside their call.s bound' out
		test_is $? "$model, $policy: no output of a traced step is outside its call's bound"
	done
done
for model in bert gpt flash moe ncf; do
	run train ${!model} --policy mixed_float16 --epochs 2 --checkpoint-every 3 --trace steps=none --threads 1 \
		--quiet $model-one
	run train ${!model} --policy mixed_float16 --epochs 2 --checkpoint-every 3 --trace steps=none --threads 2 \
		--quiet $model-two
	test $code = 0 && cmp -s <(column $model-one/metrics.tsv digest) <(column $model-two/metrics.tsv digest)
	test_is $? "$model: the same digests on one thread and on two"
	run verify $model-one
	test $code = 0
	test_is $? "$model: verify repeats it, evaluation included"
done

# Attention in blocks keeps no scores, and has bits of its own where rounding shows
grep -q '"attention"' flash-one/program-train.json && ! grep -q '"softmax"' flash-one/program-train.json &&
	! cmp -s <(column gpt-one/metrics.tsv digest) <(column flash-one/metrics.tsv digest)
test_is $? "gpt:flash=4 trains by one call of attention, which has other bits than products and a softmax"

# What evaluation says of ratings: only these are ranked
column ncf-one/metrics.tsv eval_hit_rate | grep -q '[0-9]' &&
	! column bert-one/metrics.tsv eval_hit_rate | grep -q '[0-9]'
test_is $? "ratings are ranked, reviews are not"

refusal() { # TEXT OPTION...
	local text=$1
	shift
	run train "$@" --steps 1 x
	refused 2 "$text" "train $*"
}
refusal '3 heads cannot share' --model bert:heads=3
refusal 'keeps no shares that dropout could set to 0' --model gpt:flash=8,dropout=0.1
refusal 'has no effect with --model bert' --model bert:flash=8
refusal 'data set reviews has [0-9]* tokens' --model bert:vocabulary=20
refusal 'samples of data set reviews have 24 tokens' --model bert:positions=23
refusal 'no effect with --model bert' --model bert:width=2
refusal 'reads x' --data reviews
refusal 'bert reads tokens' --model bert --data digits
refusal 'from 14 to 512 tokens' --model bert --data length=13
refusal 'more than 4294967295 choices' --model ncf --data users=1000000,items=1000000
refusal 'did you mean bert-base' --model preset=bert-bas
refusal 'is of the model bert' --model preset=bert-tiny --model mlp
# Characters: the last line needs no end, and what is no text or too short is refused in one line
printf 'no end of line, and enough for five samples of ten characters' >text
head -c 20 text >short
: >empty
printf 'some words, then\0another byte' >binary
for file in short empty binary absent; do
	run train --model gpt --data text:$file,length=10 --steps 1 x
	refused 3 "$file: " "text:$file"
done
run train --model gpt:layers=1,hidden=8,heads=2 --batch 2 --data text:text,length=10 --steps 1 --quiet t
test $code = 0
test_is $? "a text without end of line"
finish

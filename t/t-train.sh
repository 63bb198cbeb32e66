#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp train: what it prints, what it leaves, that every model, optimizer, policy and
# loss-scale rule trains, and that threads, SIMD level and casts change no bit they must not.
. "${srcdir:-.}/t/tap.sh"
small="--train 320 --eval 70 --batch 32 --size 12 --width 0.25"

run train --model mlp --policy mixed_float16 $small --epochs 2 a
test $code = 0 && sed -n 1,2p out | tr '\n' ' ' | grep -q '^Compute dtype: float16 Variable dtype: float32 $'
test_is $? "a run begins with its dtypes, as Keras users know them"
grep -q '^Model: mlp, [0-9]* parameters, adamw' out && grep -q '^Memory: weights .* masters .* activations .* gradients .* optimizer state' out && grep -q '^Trace: steps 0, 19; ' out
test_is $? "then model, memory by category, and the trace's size"
tail -n 1 out | grep -q '^Next: halfulp analyze a$'
test_is $? "and ends with the next command"
test "$(column a/metrics.tsv step | tr '\n' ' ')" = "$(seq 0 19 | tr '\n' ' ')"
test_is $? "metrics.tsv: a row a step, from 0"
test "$(column a/metrics.tsv eval_accuracy | grep -vc '^-$')" = 2 && test "$(column a/metrics.tsv eval_recall | grep -n '[0-9]' | cut -d: -f1 | tr '\n' ' ')" = "10 20 "
test_is $? "evaluations stand on each epoch's last step"
test "$(column a/metrics.tsv digest | sort -u | grep -c '^0x[0-9a-f]\{16\}$')" = 20
test_is $? "every step has a digest of its own"
test "$(column a/grads.tsv step | wc -l)" = 120 && test "$(column a/grads.tsv tensor | sort -u | wc -l)" = 6
test_is $? "grads.tsv: a row a step and gradient"
test "$(ls a/trace a/checkpoint | tr '\n' ' ')" = "a/checkpoint: step-000010.safetensors step-000020.safetensors  a/trace: step-000000.safetensors step-000019.safetensors "
test_is $? "two traced steps and the last two checkpoints"

run train --policy mixed_float16 $small --epochs 2 a
refused 2 'exists already' "an existing RUN"
run train --policy mixed_float16 $small --trace-cap 1000 --quiet b
refused 2 'trace would take' "a trace above its cap"
test ! -e b
test_is $? "and nothing was written"
run train $small --trace-steps 0,99 --quiet b
refused 2 'no step of this run' "a traced step that the run does not have"
run train --policy mixed_float61 b
refused 2 'did you mean' "an unknown policy"
run train --model mpl b
refused 2 'did you mean mlp' "an unknown model"
run train --policy 'mixed_float16,layer:dnse*=float32' $small --quiet b
refused 2 'no layer of this model' "an override that fits no layer"
run train --momentum 0.9 $small --quiet b
refused 2 'of --optimizer sgd' "a momentum that the optimizer has not"
test ! -e b
test_is $? "and nothing was written"

# The same bits whatever executes them
one=$(column a/metrics.tsv digest | md5sum)
run train --model mlp --policy mixed_float16 $small --epochs 2 --threads 1 --simd scalar --quiet b
test $code = 0 && test ! -s out && test "$(column b/metrics.tsv digest | md5sum)" = "$one"
test_is $? "one thread and scalar code: the same digests; --quiet says nothing"
run train --model mlp --policy mixed_float16 $small --epochs 2 --seed 2 --quiet c
test "$(column c/metrics.tsv digest | md5sum)" != "$one"
test_is $? "another seed: others"

# A power of two as loss weight is divided out again without a rounding
run train --policy float32 $small --steps 8 --quiet --trace-steps none w1
run train --policy float32 $small --steps 8 --quiet --trace-steps none --loss-weight 2^-20 w2
test $code = 0 && test "$(column w1/metrics.tsv digest)" = "$(column w2/metrics.tsv digest)"
test_is $? "float32: --loss-weight 2^-20 gives the bits of W = 1"

# An overflow has a name
run train --policy mixed_float16 $small --steps 4 --init-scale 2^40 --trace-steps none o
test $code = 0 && grep -q 'step 0: loss scale 1.09951e+12 -> 5.49756e+11: step skipped; first overflow: [0-9]* of [0-9]* elements of [a-z0-9.@_]* (fp16), written by call [0-9]*' err
test_is $? "a step that overflowed is told of, with tensor, call and count"
test "$(column o/metrics.tsv skipped | tr '\n' ' ')" = "1 1 1 1 " && test "$(column o/metrics.tsv overflow_tensor | grep -c '\.')" = 4 && test "$(column o/metrics.tsv loss_scale | sed -n 2p)" = 549755813888
test_is $? "and in metrics.tsv"
test "$(column o/metrics.tsv overflow_count | grep -vc '^[0-9][0-9]*$')" = 0
test_is $? "where a count is written as one"
run train --policy mixed_float16 $small --steps 1 --quiet --trace-steps none --scale-cap 2^10 cap
test $code = 0 && test "$(column cap/metrics.tsv loss_scale)" = 1024
test_is $? "--scale-cap holds for the first scale too"

# Everything in the tables trains
for o in "--model convnet --policy mixed_bfloat16" "--optimizer sgd --lr 0.05 --momentum 0.9" "--optimizer sgd --policy float16" "--optimizer adamw --weight-decay 0" "--optimizer adam --policy float16" \
	"--policy mixed_float16 --loss-scale keras" "--policy mixed_float16 --loss-scale apex" "--policy mixed_float16 --loss-scale deepspeed" "--policy mixed_float16 --loss-scale static:1024" \
	"--policy mixed_float16 --loss-scale none" "--accumulate chunk:16,acc=fp16 --policy mixed_float16" "--policy mixed_e4m3" "--policy float64" "--policy O2" "--policy compute=float16,variable=float64,list=autocast"; do
	rm -rf t
	run train $small --steps 3 --quiet --trace-steps 1 $o t
	test $code = 0 && test ! -s err && ! column t/metrics.tsv loss | grep -q nan
	test_is $? "train $o"
done

# The published model: convolution, bias, relu, batchnorm, thrice, and Keras's Adam; it learns
run train --model convnet --width 0.125 --size 12 --train 640 --eval 160 --epochs 5 --quiet --trace-steps none --policy mixed_float16 learns
first=$(column learns/metrics.tsv loss | head -n 1) last=$(column learns/metrics.tsv loss | tail -n 1)
test $code = 0 && awk "BEGIN { exit !($first > 2 && $last < $first / 2) }"
test_is $? "convnet learns: its loss falls from $first to $last"
order=$("${PYTHON:-python3}" -c "import json; print(*[c['op'] for c in json.load(open('learns/program-eval.json'))['calls'] if c['op'] != 'cast'])")
stage="conv2d bias relu batchnorm_eval"
test "$order" = "$stage $stage $stage avgpool matmul bias softmax_xent" && grep -q '"adam"' learns/program-train.json && ! grep -q '"adamw"' learns/program-train.json
test_is $? "in the order of the published listing, with its optimizer: $order"
run train --model convnet --weight-decay 0.01 --steps 1 --quiet k
refused 2 'adam has none' "a weight decay that the optimizer has not"
"$HALFULP" plan --program --model mlp --optimizer adam >out 2>err
grep -q '= adam *(' out && ! grep -q 'weight_decay' out
test_is $? "--optimizer adam with another model"

# Weights made elsewhere: our own checkpoint, and PyTorch's names and order
run train $small --steps 1 --quiet --init a/checkpoint/step-000020.safetensors --trace-steps 0 i
test $code = 0 && test "$(column i/metrics.tsv loss)" != "$(column w1/metrics.tsv loss | head -n 1)"
test_is $? "--init starts from a checkpoint's weights"
run train $small --steps 1 --quiet --width 0.5 --init a/checkpoint/step-000020.safetensors j
refused 3 'dense1.w' "--init with weights of another shape"
test ! -e j
test_is $? "and nothing was written"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp train: what it prints, what it leaves, that every model, optimizer, policy and
# loss-scale rule trains, and that threads, SIMD level and casts change no bit they must not.
. "${srcdir:-.}/t/tool/tap.sh"
small="--data train=320,eval=70 --batch 32 --data size=12 --model width=0.25"

run train --model mlp --policy mixed_float16 $small --epochs 2 a
test $code = 0 && sed -n 1,2p out | tr '\n' ' ' | grep -q '^Compute dtype: float16 Variable dtype: float32 $'
test_is $? "a run begins with its dtypes, as Keras users know them"
grep -q '^Model: mlp, [0-9]* parameters, adamw' out &&
	grep -q '^Memory: weights .* masters .* activations .* gradients .* optimizer state' out &&
	grep -q '^Trace: steps 0, 19; ' out
test_is $? "then model, memory by category, and the trace's size"
tail -n 1 out | grep -q '^Next: halfulp analyze a$'
test_is $? "and ends with the next command"
test "$(column a/metrics.tsv step | tr '\n' ' ')" = "$(seq 0 19 | tr '\n' ' ')"
test_is $? "metrics.tsv: a row a step, from 0"
test "$(column a/metrics.tsv eval_accuracy | grep -vc '^-$')" = 2 &&
	test "$(column a/metrics.tsv eval_recall | grep -n '[0-9]' | cut -d: -f1 | tr '\n' ' ')" = "10 20 "
test_is $? "evaluations stand on each epoch's last step"
test "$(column a/metrics.tsv digest | sort -u | grep -c '^0x[0-9a-f]\{16\}$')" = 20
test_is $? "every step has a digest of its own"
test "$(column a/grads.tsv step | wc -l)" = 120 && test "$(column a/grads.tsv tensor | sort -u | wc -l)" = 6
test_is $? "grads.tsv: a row a step and gradient"
test "$(ls a/trace a/checkpoint | tr '\n' ' ')" = \
	"a/checkpoint: step-000010.safetensors step-000020.safetensors  a/trace: step-000000.safetensors "\
"step-000019.safetensors "
test_is $? "two traced steps and the last two checkpoints"

run train --policy mixed_float16 $small --epochs 2 a
refused 2 'exists already' "an existing RUN"
run train --policy mixed_float16 $small --trace cap=1000 --quiet b
refused 2 'trace would take' "a trace above its cap"
test ! -e b
test_is $? "and nothing was written"
run train $small --trace steps=0,99 --quiet b
refused 2 'no step of this run' "a traced step that the run does not have"
run train --policy mixed_float61 b
refused 2 'did you mean' "an unknown policy"
run train --model mpl b
refused 2 'did you mean mlp' "an unknown model"
run train --policy 'mixed_float16,layer:dnse*=float32' $small --quiet b
refused 2 'no layer of this model' "an override that fits no layer"
run train --optimizer momentum=0.9 $small --quiet b
refused 2 'no effect with --optimizer adamw, .*(sgd' "a momentum that the optimizer has not"
test ! -e b
test_is $? "and nothing was written"

# The same bits whatever executes them
one=$(column a/metrics.tsv digest | md5sum)
run train --model mlp --policy mixed_float16 $small --epochs 2 --threads 1 --backend simd=scalar --quiet b
test $code = 0 && test ! -s out && test "$(column b/metrics.tsv digest | md5sum)" = "$one"
test_is $? "one thread and scalar code: the same digests; --quiet says nothing"
run train --model mlp --policy mixed_float16 $small --epochs 2 --seed 2 --quiet c
test "$(column c/metrics.tsv digest | md5sum)" != "$one"
test_is $? "another seed: others"

# A power of two as loss weight is divided out again without a rounding
run train --policy float32 $small --steps 8 --quiet --trace steps=none w1
run train --policy float32 $small --steps 8 --quiet --trace steps=none --loss weight=2^-20 w2
test $code = 0 && test "$(column w1/metrics.tsv digest)" = "$(column w2/metrics.tsv digest)"
test_is $? "float32: --loss weight=2^-20 gives the bits of W = 1"

# An overflow has a name
run train --policy mixed_float16 $small --steps 4 --loss-scale init=2^40 --trace steps=none o
test $code = 0 && grep -q 'step 0: loss scale 1.09951e+12 -> 5.49756e+11: step skipped; first overflow: [0-9]* of '\
'[0-9]* elements of [a-z0-9.@_]* (fp16), written by call [0-9]*' err
test_is $? "a step that overflowed is told of, with tensor, call and count"
test "$(column o/metrics.tsv skipped | tr '\n' ' ')" = "1 1 1 1 " &&
	test "$(column o/metrics.tsv overflow_tensor | grep -c '\.')" = 4 &&
	test "$(column o/metrics.tsv loss_scale | sed -n 2p)" = 549755813888
test_is $? "and in metrics.tsv"
test "$(column o/metrics.tsv overflow_count | grep -vc '^[0-9][0-9]*$')" = 0
test_is $? "where a count is written as one"
run train --policy mixed_float16 $small --steps 1 --quiet --trace steps=none --loss-scale cap=2^10 cap
test $code = 0 && test "$(column cap/metrics.tsv loss_scale)" = 1024
test_is $? "--loss-scale cap=holds for the first scale too"

# Everything in the tables trains: every row of them is read here, so that a new one is tried as well
rows() { sed -n "s/^$2(\"*\([A-Za-z0-9_]*\)\"*,.*/\1/p" "$top/$1"; }
run_what_is_read() { # sizes, options: the run without those sizes that the model and its data do not read
	local own=$1 idle
	shift
	rm -rf t
	while run train $own --steps 3 --quiet --trace steps=1 "$@" t; test $code = 2; do
		idle=$(sed -n 's/.*: --\(data\|model\) \(size\|width\|train\|eval\)= has no effect .*/\2/p' err)
		test -n "$idle" || break
		own=$(echo "$own" | sed "s/\b$idle=[^, ]*,\{0,1\}//; s/--\(data\|model\)  *\(--\|$\)/\2/; s/, / /")
	done
}
trains() { # options
	run_what_is_read "$small" "$@"
	test $code = 0 && test ! -s err && ! column t/metrics.tsv loss | grep -q nan
	test_is $? "train $*"
}
image_models=$(sed -n 's/^MODEL(\([a-z0-9_]*\), .*, "x\[.*/\1/p' "$top/trainer/model/models.def")
for model in $image_models; do trains --model $model --policy mixed_bfloat16; done
for optimizer in $(rows trainer/optim/optims.def OPTIM); do
	trains --optimizer $optimizer --optimizer lr=0.01
	trains --optimizer $optimizer --policy float16
done
for rule in $(rows lib/op/scalers.def SCALER); do trains --policy mixed_float16 --loss-scale $rule; done
for policy in $(rows lib/program/policy/policies.def POLICY); do trains --policy $policy; done
for data in $(sed -n 's/^DATASET(\([a-z0-9_]*\), "",.*/\1/p' "$top/trainer/data/datasets.def"); do # others need a file
	for model in $(rows trainer/model/models.def MODEL); do # the first that reads it
		run_what_is_read "--data train=24,eval=8 --batch 8" --model $model --data $data
		grep -q 'model .* reads' err || break
	done
	test $code = 0 && test ! -s err && ! column t/metrics.tsv loss | grep -q nan
	test_is $? "train --model $model --data $data"
done
for o in "--optimizer sgd:lr=0.05 --optimizer momentum=0.9" "--optimizer adamw:weight_decay=0" \
	"--policy mixed_float16 --loss-scale static:1024" \
	"--accumulate chunk:16,acc=fp16 --policy mixed_float16" \
	"--policy compute=float16,variable=float64,list=autocast"; do
	trains $o
done

# The published model: convolution, bias, relu, batchnorm, thrice, and Keras's Adam; it learns
run train --model convnet:width=0.125 --data size=12,train=640,eval=160 --epochs 5 --quiet --trace steps=none --policy \
	mixed_float16 learns
first=$(column learns/metrics.tsv loss | head -n 1) last=$(column learns/metrics.tsv loss | tail -n 1)
test $code = 0 && awk "BEGIN { exit !($first > 2 && $last < $first / 2) }"
test_is $? "convnet learns: its loss falls from $first to $last"
order=$("${PYTHON:-python3}" -c "import json; print(*[c['op'] for c in "\
"json.load(open('learns/program-eval.json'))['calls'] if c['op'] != 'cast'])")
stage="conv2d bias relu batchnorm_eval"
test "$order" = "$stage $stage $stage avgpool matmul bias softmax_xent" && grep -q '"adam"' learns/program-train.json &&
	! grep -q '"adamw"' learns/program-train.json
test_is $? "in the order of the published listing, with its optimizer: $order"
run train --model convnet --optimizer weight_decay=0.01 --steps 1 --quiet k
refused 2 'no effect with --optimizer adam,' "a weight decay that the optimizer has not"
"$HALFULP" plan --program --model mlp --optimizer adam >out 2>err
grep -q '= adam *(' out && ! grep -q 'weight_decay' out
test_is $? "--optimizer adam with another model"

# Weights made elsewhere: our own checkpoint, then PyTorch's names and order of the same numbers, then Keras's names
run train $small --steps 1 --quiet --init a/checkpoint/step-000020.safetensors --trace steps=0 i
test $code = 0 && test -n "$(column i/metrics.tsv loss)" && test -n "$(column w1/metrics.tsv loss | head -n 1)" &&
	test "$(column i/metrics.tsv loss)" != "$(column w1/metrics.tsv loss | head -n 1)"
test_is $? "--init starts from a checkpoint's weights"
cat >rename.py <<'END'
import json, struct, sys
source, torch, keras = sys.argv[1:]
raw = open(source, 'rb').read()
size = struct.unpack('<Q', raw[:8])[0]
head = json.loads(raw[8:8 + size])
ROLES = {'w': ('weight', 'kernel'), 'b': ('bias', 'bias'), 'gamma': ('weight', 'gamma'), 'beta': ('bias', 'beta'),
         'rm': ('running_mean', 'moving_mean'), 'rv': ('running_var', 'moving_variance')}

def transposed(shape, data):  # [in, out] to [out, in], [kh, kw, in, out] to [out, in, kh, kw]
    ins, outs = shape[-2:]
    taps = len(data) // (ins * outs)
    order = [(t * ins + i) * outs + o for o in range(outs) for i in range(ins) for t in range(taps)]
    return [outs, ins] + shape[:-2], [data[i] for i in order]

def write(path, tensors):
    at, header, body = 0, {}, b''
    for name, (shape, data) in tensors.items():
        b = struct.pack('<%df' % len(data), *data)
        header[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [at, at + len(b)]}
        at, body = at + len(b), body + b
    text = json.dumps(header).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + body)

theirs = {}, {}
for name, t in head.items():
    layer, _, role = name.rpartition('.')
    if name == '__metadata__' or role not in ROLES:
        continue
    assert t['dtype'] == 'F32', name
    first, last = t['data_offsets']
    data = list(struct.unpack_from('<%df' % ((last - first) // 4), raw, 8 + size + first))
    is_matrix = len(t['shape']) > 1
    theirs[0][layer + '.' + ROLES[role][0]] = transposed(t['shape'], data) if is_matrix else (t['shape'], data)
    if role not in ('gamma', 'beta'):      # Keras calls them as we do
        theirs[1][layer + '/' + ROLES[role][1]] = t['shape'], data
    else:
        theirs[1][name] = t['shape'], data
assert len(theirs[0]) == len(theirs[1]) > 3
write(torch, theirs[0])
write(keras, theirs[1])
END
for model in mlp convnet; do
	run train $small --model $model --steps 3 --quiet --trace steps=none from-$model
	own=from-$model/checkpoint/step-000003.safetensors
	"${PYTHON:-python3}" rename.py $own torch.safetensors keras.safetensors >out 2>err
	test_is $? "$model: a checkpoint under PyTorch's and Keras's names"
	for who in own torch keras; do
		file=$who.safetensors
		test $who = own && file=$own
		run train $small --model $model --steps 2 --quiet --seed 5 --trace steps=none --init $file $model-$who
		column $model-$who/metrics.tsv digest >$model-$who.digests
	done
	run train $small --model $model --steps 2 --quiet --seed 5 --trace steps=none $model-none
	test "$(wc -l <$model-own.digests)" = 2 && cmp -s $model-own.digests $model-torch.digests &&
		cmp -s $model-own.digests $model-keras.digests &&
		! cmp -s $model-own.digests <(column $model-none/metrics.tsv digest)
	test_is $? "$model: --init takes them, in PyTorch's order of dimensions and in Keras's: the digests are those "\
"of our own names"
done
run train $small --steps 1 --quiet --model width=0.5 --init a/checkpoint/step-000020.safetensors j
refused 3 'dense1.w' "--init with weights of another shape"
test ! -e j
test_is $? "and nothing was written"
finish

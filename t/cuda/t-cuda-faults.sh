#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A device that goes away, or is too small, in the middle of a run (simulated by the shim): one line,
# exit 4, and a run directory that goes on, on the same back end or another, to the same bits.
. "${srcdir:-.}/t/tool/tap.sh"
o="--model mlp --policy mixed_float16 --data size=8 --model width=0.25 --batch 16 --data train=64,eval=16 --steps 9 --checkpoint-every 3 --trace steps=1,last --quiet"
run train $o --backend shim whole
test $code = 4 && grep -q 'no C++ compiler' err && skip_all "no C++ compiler was found: the kernels are not compiled for the host"
test_is $code "an unbroken run on the shim"

same() {
	test "$(column "$1/metrics.tsv" digest)" = "$(column whole/metrics.tsv digest)" && cmp -s <(grep -hv '^#' "$1/grads.tsv" "$1/updates.tsv") <(grep -hv '^#' whole/grads.tsv whole/updates.tsv) &&
		cmp -s "$1/checkpoint/step-000009.safetensors" whole/checkpoint/step-000009.safetensors && cmp -s "$1/trace/step-000008.safetensors" whole/trace/step-000008.safetensors
}

# Launches until the end of step N lie somewhere in between; the first loss comes before any checkpoint
for after in 3 200 330; do
	export HALFULP_SHIM_LOSE_AFTER=$after
	run train $o --backend shim l$after
	unset HALFULP_SHIM_LOSE_AFTER
	done=$(sed -n 's/.*"steps_done": \([0-9]*\).*/\1/p' l$after/manifest.json)
	refused 4 'the device was lost (simulated); to go on: halfulp train --resume' "lost at launch $after, after a checkpoint at step $done"
	test -z "$(find l$after -name '*.tmp.*')"
	test_is $? "no half files are left"
	cp -r l$after c$after
	run train --resume l$after
	test $code = 0 && same l$after
	test_is $? "it resumes where it ran, to the same bits"
	run train --resume --backend cpu c$after
	test $code = 0 && same c$after
	test_is $? "and on the cpu, to the same bits"
done
test "$(sed -n 's/.*"steps_done": \([0-9]*\).*/\1/p' c330/manifest.json)" = 9 && grep -q '"backend": "cpu"' c330/manifest.json && "${PYTHON:-python3}" -c 'import json; m = json.load(open("c330/manifest.json")); assert m["backends_before"] == ["shim"], m'
test_is $? "the manifest says which back ends"
run verify c330
test $code = 0 && grep -q '9 steps re-executed, every digest is the recorded one' out
test_is $? "the run that changed its back end verifies"
run train --resume --backend shim --optimizer lr=1 c330
refused 2 'keeps its own options' "--resume takes no other option"

# Memory: the batch that the refusal names fits, and the next larger one does not
export HALFULP_SHIM_MEMORY=400000
for batch in 64 48 40; do # at some of them only the second program, for evaluation, does not fit
	run train $o --batch $batch --backend shim m
	refused 4 'needs [0-9.]* MB on the device, .* a batch of [0-9]* would fit' "a batch of $batch is too large for the device"
	test ! -e m
	test_is $? "no run directory is left"
	fits=$(sed -n 's/.*a batch of \([0-9]*\) would fit.*/\1/p' err)
	run train $o --batch "${fits:-0}" --steps 1 --trace steps=none --backend shim m
	test $code = 0 && test $fits -ge 24
	test_is $? "a batch of ${fits:-none} fits, and is no smaller than it must be"
	rm -rf m
done
export HALFULP_SHIM_MEMORY=20000
run train $o --backend shim m
refused 4 'use a smaller batch or width' "too small for any batch"
unset HALFULP_SHIM_MEMORY

# No GPU, whatever the reason (t/cuda/u-cuda-usable has them all)
if ! "$HALFULP" doctor 2>/dev/null | grep -q '^device 0'; then
	run train $o --backend cuda g
	refused 4 'back end cuda: .*use the back end cpu' "no GPU"
	test ! -e g
	test_is $? "no run directory is left"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every policy with each model and optimizer, two seeds: what analyze says of them, computed again by
# t/judge/t-independent.py.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
command -v "$py" >/dev/null || skip_all "python3 is absent"
for policy in $(sed -n 's/^POLICY("\([^"]*\)".*/\1/p' "$top/lib/program/policy/policies.def"); do
	for model in mlp convnet; do
		for optimizer in adamw sgd; do
			for seed in 2 3; do
				"$py" -B "$top/t/judge/t-independent.py" "$model,$policy,$optimizer,$seed" >out 2>err
				test_is $? "$model, $policy, $optimizer, seed $seed"
				grep -A 6 '^not ok' out
			done
		done
	done
done
finish

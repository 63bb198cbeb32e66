#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a policy costs when it is emulated, and what judging costs: the median milliseconds of a
# training step under each policy as a ratio to float32's, and the seconds that replaying one
# traced step takes, every output judged, as a ratio to the step. Every run is verified: its
# digests must come out again. HALFULP names the program; MODELS, POLICIES (float32 first), STEPS and WIDTH change the
# sizes.
set -eu
halfulp=${HALFULP:-halfulp}
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

median() { awk -F '\t' '/^#/ { next } $1 == "step" { for (i = 1; i <= NF; i++) if ($i == "ms") c = i; next } $1 >= 3 { print $c }' "$1" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
now() { date +%s.%N; }

printf '# emulated training steps, %s\nmodel\tpolicy\tms_step\tratio_to_float32\treplay_s\treplay_to_step\n' "$("$halfulp" --version | head -n 1)"
for model in ${MODELS:-mlp convnet}; do
	base=
	for policy in ${POLICIES:-float32 mixed_float16 mixed_bfloat16 mixed_e4m3 float64}; do
		run=$dir/$model-$policy
		width=${WIDTH:-1}
		test -n "${WIDTH:-}" || test "$model" = mlp || width=0.25
		"$halfulp" train --quiet --model $model --model width=$width --data train=1000,eval=100 --steps ${STEPS:-15} --trace steps=last --policy $policy "$run" >/dev/null
		"$halfulp" verify "$run" >/dev/null
		ms=$(median "$run/metrics.tsv")
		test -n "$base" || base=$ms
		start=$(now)
		"$halfulp" analyze --only replay --sample all "$run" >/dev/null
		printf '%s\t%s\t%s\t%s\n' "$model" "$policy" "$ms" "$base $start $(now)" |
			awk -F '\t' '{ split($4, t, " "); s = t[3] - t[2]; printf "%s\t%s\t%.2f\t%.2f\t%.2f\t%.0f\n", $1, $2, $3, $3 / t[1], s, 1000 * s / $3 }'
	done
done

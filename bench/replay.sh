#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How replay grows with the trace: one step of the convnet, every output judged and the exact step
# beside it, over 16 times the batch. A row a size: bytes of the trace, seconds of the processors, and the largest resident
# set; then each one's straight line over the sizes (least squares) and how far the rows are from it. HALFULP names the
# program, PEAK bench/peak; BATCHES, POLICY and WIDTH change the sizes.
set -eu
halfulp=${HALFULP:-halfulp}
peak=${PEAK:-bench/peak}
policy=${POLICY:-float32}
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

printf '# replay of a convnet step, width %s, %s: all outputs and the exact step\nbatch\ttrace_bytes\twall_s\tcpu_s\tpeak_kB\n' "${WIDTH:-0.25}" "$policy"
for batch in ${BATCHES:-16 32 64 128 256}; do
	run=$dir/$batch
	"$halfulp" train --quiet --model convnet --width "${WIDTH:-0.25}" --train $((4 * batch)) --eval 16 --steps 3 --batch "$batch" --trace-steps last --policy "$policy" "$run" >/dev/null
	"$peak" "$halfulp" analyze --only replay --sample all "$run" 2>"$dir/took" >/dev/null
	printf '%s\t%s\t%s\n' "$batch" "$(cat "$run"/trace/*.safetensors | wc -c | tr -d ' ')" "$(tail -n 1 "$dir/took")"
	rm -rf "$run"
done | tee "$dir/table"
awk -F '\t' '
	{ n++; x[n] = $2; cpu[n] = $4; kb[n] = $5 }
	function line(name, y,    i, sx, sy, sxx, sxy, a, b, r, worst) {
		for (i = 1; i <= n; i++) { sx += x[i]; sy += y[i]; sxx += x[i] * x[i]; sxy += x[i] * y[i] }
		b = (n * sxy - sx * sy) / (n * sxx - sx * sx); a = (sy - b * sx) / n
		for (i = 1; i <= n; i++) { r = (y[i] - a - b * x[i]) / y[n]; r = r < 0 ? -r : r; worst = r > worst ? r : worst }
		printf "# %s = %.4g + %.4g * trace_bytes; no row is further from it than %.1f %% of the largest\n", name, a, b, 100 * worst
	}
	END { line("cpu_s", cpu); line("peak_kB", kb) }' "$dir/table"

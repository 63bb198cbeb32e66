#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How replay grows with the trace: every output judged and the exact step beside it. First one step of the convnet over
# 16 times the batch, then 1 to 16 traced steps of one batch: bytes of the trace, seconds of the processors, and the
# largest resident set, with ratios to the row above; and each one's straight line over the batches (least squares). A
# trace's tensors are pages of its file, given back after each step: the last rows' traces are larger than what is
# resident. HALFULP names the program, PEAK bench/tool/peak; BATCHES, STEPS, POLICY and WIDTH change the sizes.
set -eu
halfulp=${HALFULP:-halfulp}
peak=${PEAK:-bench/tool/peak}
policy=${POLICY:-float32}
test -x "$peak" || { echo "replay.sh: no program $peak; make bench builds it, and PEAK names it" >&2; exit 4; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

# record BATCH STEPS: a run that traces its last STEPS steps
record() {
	"$halfulp" train --quiet --model convnet:width="${WIDTH:-0.25}" --data train=$((4 * $1)) --data eval=16 --steps $(($2 + 2)) --batch "$1" --trace steps="$(awk -v n="$2" 'BEGIN { for (i = 2; i < n + 2; i++) printf("%s%d", (i > 2 ? "," : ""), i) }')" --policy "$policy" "$dir/run" >/dev/null
	bytes=$(cat "$dir"/run/trace/*.safetensors | wc -c | tr -d ' ')
}

# row LABEL: replays it, prints what that took
row() {
	"$peak" "$halfulp" analyze --only replay --sample all "$dir/run" 2>"$dir/took" >/dev/null
	printf '%s\t%s\t%s\n' "$1" "$bytes" "$(tail -n 1 "$dir/took")"
	rm -rf "$dir/run"
}

# Ratios to the row above, of bytes, processor seconds and kilobytes
ratios() {
	awk -F '\t' '{ if (n++) r = sprintf("%.2f\t%.2f\t%.2f", $2 / b, $4 / c, $5 / k); else r = "-\t-\t-"; print $0 "\t" r; fflush(); b = $2; c = $4; k = $5 }'
}

columns='trace_bytes\twall_s\tcpu_s\tpeak_kB\tbytes_ratio\tcpu_ratio\tpeak_ratio\n'
printf '# replay of a convnet step, width %s, %s: all outputs and the exact step\nbatch\t'"$columns" "${WIDTH:-0.25}" "$policy"
for batch in ${BATCHES:-16 32 64 128 256}; do
	record "$batch" 1
	row "$batch"
done | ratios | tee "$dir/table"
awk -F '\t' '
	{ n++; x[n] = $2; cpu[n] = $4; kb[n] = $5 }
	function line(name, y,    i, sx, sy, sxx, sxy, a, b, r, worst) {
		for (i = 1; i <= n; i++) { sx += x[i]; sy += y[i]; sxx += x[i] * x[i]; sxy += x[i] * y[i] }
		b = (n * sxy - sx * sy) / (n * sxx - sx * sx); a = (sy - b * sx) / n
		for (i = 1; i <= n; i++) { r = (y[i] - a - b * x[i]) / y[n]; r = r < 0 ? -r : r; worst = r > worst ? r : worst }
		printf "# %s = %.4g + %.4g * trace_bytes; no row is further from it than %.1f %% of the largest\n", name, a, b, 100 * worst
	}
	END { line("cpu_s", cpu); line("peak_kB", kb) }' "$dir/table"

printf '# steps of batch 32 in one trace\nsteps\t'"$columns"
for steps in ${STEPS:-1 2 4 8 16}; do
	record 32 "$steps"
	row "$steps"
done | ratios

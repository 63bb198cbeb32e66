# SPDX-License-Identifier: Apache-2.0
# title: Two engines in bf16 are {ratio|%.0f} times as far apart as in fp16
# caption: The KL divergence of a decoder's token probabilities from those of float32, on the same weights, for each of {n|%d} sequences under PyTorch's autocast to bf16 and to fp16. Errors of logits are
#   {errors|%.1f} times as large, by theory 8, since fp16 has three more bits; the divergence is quadratic in them, and {ratio|%.0f} times as large on the mean, by theory 64.
# source: Qi et al. 2025, Defeating the Training-Inference Mismatch via FP16, arXiv 2510.26788
# run: halfulp train --model gpt:layers=4,hidden=32,heads=2,inner=64 --data length=32,train=800,eval=64 --batch 32 --steps 60 --optimizer lr=3e-3 --policy float32 --loss-scale none --trace steps=59 --meter none --quiet apart
# data policy=autocast_bfloat16,autocast_float16 /by_sequence: halfulp engines apart --policy {policy} --json
# take: policy sequence kl_mean log_ratio_mean_abs
load 'gallery-style.gp'

of(p, x) = strcol('policy') eq p ? x : NaN
stats file using (of('autocast_bfloat16', column('kl_mean'))) name 'B' nooutput
stats file using (of('autocast_float16', column('kl_mean'))) name 'H' nooutput
stats file using (of('autocast_bfloat16', column('log_ratio_mean_abs'))) name 'C' nooutput
stats file using (of('autocast_float16', column('log_ratio_mean_abs'))) name 'J' nooutput
n = B_records; ratio = B_mean / H_mean; errors = C_mean / J_mean

do for [format in formats] {
	eval begin(format, 'a decoder of four layers under autocast to bf16 and fp16, against float32')
	set logscale y
	set rmargin at screen right(0.80)
	set xrange [-1:n]; set yrange [H_min / 3:B_max * 3]
	set xtics 8
	set ytics 10 format '10^{%T}'
	set label 1003 'sequence' at screen 0.46, screen 14. / height center textcolor rgb soft
	set label 1004 'KL divergence' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('bf16') at n, B_mean left offset 0.6, 0 textcolor rgb purple
	set label 2 B('fp16') at n, H_mean left offset 0.6, 0 textcolor rgb blue
	plot B_mean with lines lw 1.4 lc rgb purple notitle, H_mean with lines lw 1.4 lc rgb blue notitle, \
		file using 'sequence':(of('autocast_bfloat16', column('kl_mean'))) with points pt 7 ps 0.7 lc rgb purple notitle, \
		'' using 'sequence':(of('autocast_float16', column('kl_mean'))) with points pt 5 ps 0.6 lc rgb blue notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: A loss scale of 2{raised(sprintf('%d', burst - 1))|%s} loses {lost_best|%s} of the gradients; one of 2{raised(sprintf('%d', burst))|%s} overflows
# caption: The share of the nonzero gradients that fp16 rounds to zero, for every loss scale, at the last step of an mlp on generated digits.
#   Without scaling (1) it is {percent(lost_one)|%s}; every factor of 2 saves some, until 2{raised(sprintf('%d', burst))|%s}, at which the
#   first of the {all} values becomes infinite and the step has to be skipped.
# source: Micikevicius et al. 2018, Mixed Precision Training, arXiv 1710.03740
# run: halfulp train --model mlp:width=0.5 --data size=16,train=4096,eval=512 --batch 256 --epochs 40 --policy float32 --trace steps=last --quiet converged
# run: halfulp analyze --only underflow,loss-scale converged
# table: converged/analysis/loss-scale.tsv
# take: step tensor format log2_scale lost overflow share_lost where tensor=all
load 'gallery-style.gp'

stats file using (column('overflow') > 0 ? column('log2_scale') : NaN) name 'B' nooutput
burst = B_min
stats file using (column('log2_scale') == burst - 1 ? column('share_lost') : NaN) name 'L' nooutput
lost_best = percent(L_max)
stats file using (column('log2_scale') == 0 ? column('share_lost') : NaN) name 'O' nooutput
lost_one = O_max
stats file using (column('lost') / column('share_lost')) name 'N' nooutput
all = floor(N_max + 0.5)
top = -8

do for [format in formats] {
	eval begin(format, 'gradients of an mlp on generated digits (policy float32), scaled and cast to fp16')
	set logscale y
	set xrange [-8.5:24.5]; set yrange [1e-4:1]
	set xtics ('2^{−8}' -8, '2^{−4}' -4, '1' 0, '2^4' 4, '2^8' 8, '2^{12}' 12, '2^{16}' 16, '2^{20}' 20, '2^{24}' 24)
	set ytics ('100 %%' 1, '10 %%' 0.1, '1 %%' 0.01, '0.1 %%' 0.001, '0.01 %%' 0.0001)
	set label 1003 'loss scale' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'nonzero gradients lost' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set lmargin at screen left(0.15)
	set object 1 rectangle from burst - 0.5, graph 0 to 24.5, graph 1 fc rgb wine fs transparent solid 0.14 noborder behind
	set label 1 B('overflows') at burst - 0.8, 0.4 right textcolor rgb wine
	set arrow 1 from 0, 1e-4 to 0, lost_one nohead lw 1 dt 2 lc rgb soft
	set label 2 sprintf('no scaling: %.1f %% lost', 100 * lost_one) at 0.4, lost_one * 1.7 left textcolor rgb ink
	plot file using 'log2_scale':(positive(column('share_lost'))) with linespoints pt 7 ps 0.45 lw 2 lc rgb blue notitle
}
unset output

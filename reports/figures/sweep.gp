# SPDX-License-Identifier: Apache-2.0
# What every loss scale from 2^-8 to 2^24 would lose and overflow, and the span that is safe.
load 'style.gp'

width = page_width; height = 380 + foot
all = 0
do for [i = 1:|tensor_name|] { if (tensor_name[i] eq 'all') { all = i } }
stats file using (column('log2_scale')) name 'K' nooutput
# The smallest scale at which anything overflows
burst = K_max + 1
see(t, k, o) = (burst = (all == 0 || t == all) && o > 0 && k < burst ? k : burst, 0)
stats file using (see(column('tensor_id'), column('log2_scale'), column('overflow'))) nooutput
safe_low = 1; safe_high = 0
if (rows_safe > 0) {
	lowest = -1e9; highest = 1e9; known = 0
	narrow(a, b) = (known = known + (a > -1e9 && b < 1e9 ? 1 : 0), lowest = a > lowest ? a : lowest, highest = b < highest ? b : highest, 0)
	stats file_safe using (narrow(column('log2_scale_min'), column('log2_scale_max'))) nooutput
	if (known == rows_safe && lowest <= highest) { safe_low = lowest; safe_high = highest }
}
used_low = 1; used_high = 0
powers = narrow ? 8 : 4 # gnuplot takes a number in brackets for a list of tics
if (rows_recorded > 0) {
	stats file_recorded using (log(column('loss_scale')) / log(2)) name 'R' nooutput
	used_low = R_min; used_high = R_max
}
none_safe = narrow ? "no scale is safe\nat every traced step" : 'no scale is safe at every traced step'
of(t, x) = column('tensor_id') == t && x > 1e-7 ? x : NaN

do for [format in formats] {
	eval canvas(format, width, height)
	set logscale y
	set yrange [1e-8:2]
	set format y '10^{%T}'
	set ytics 1e-6, 100, 1
	set xrange [K_min - 0.5:K_max + 0.5]
	set xtics powers
	set format x '2^{%g}'
	set xlabel 'loss scale' textcolor rgb soft offset 0, 0.3
	set ylabel 'share of the nonzero gradients lost' textcolor rgb soft
	set bmargin at screen (54. + foot) / height
	set key outside center top horizontal width 2 maxrows (narrow ? 3 : 2)
	if (safe_low <= safe_high) {
		set object 1 rectangle from safe_low - 0.25, graph 0 to safe_high + 0.25, graph 1 fc rgb harmless fs solid 0.16 noborder behind
		set label 1 (safe_high - safe_low < 3 ? 'safe' : sprintf('safe: 2^{%g} to 2^{%g}', safe_low, safe_high)) at (safe_low + safe_high) / 2., graph 0.955 center textcolor rgb harmless front
	} else {
		if (rows_safe > 0) {
			if (used_low <= used_high && used_low < 8) {
				set label 1 none_safe at graph 0.98, graph (narrow ? 0.2 : 0.06) right textcolor rgb fatal front
			} else {
				set label 1 none_safe at graph 0.02, graph (narrow ? 0.2 : 0.06) left textcolor rgb fatal front
			}
		}
	}
	if (burst <= K_max) { set object 2 rectangle from burst - 0.25, graph 0 to graph 1, graph 1 fc rgb fatal fs solid 0.13 noborder behind
		set label 2 'overflows' at K_max + 0.3, graph 0.88 right textcolor rgb fatal front }
	if (used_low <= used_high) {
		set arrow 3 from (used_low == used_high ? used_low - 0.3 : used_low), 1.7e-8 to (used_low == used_high ? used_high + 0.3 : used_high), 1.7e-8 nohead lw 5 lc rgb ink front
		set label 3 'this run' at (used_low + used_high) / 2., 4.5e-8 center textcolor rgb ink front
	}
	plot for [t = 1:|tensor_name|] file using (t == all ? NaN : column('log2_scale')):(of(t, column('share_lost'))) with lines lw 0.7 lc rgb '#BBBBBB' notitle, \
		NaN with lines lw 0.7 lc rgb '#BBBBBB' title 'single tensors', \
		file using 'log2_scale':(all > 0 ? of(all, column('share_lost')) : NaN) with linespoints pt 7 ps 0.35 lw 2 lc rgb run_colour title 'all gradients, by number', \
		file using 'log2_scale':(all > 0 ? of(all, column('l2_share_lost')) : NaN) with lines lw 2 dt 12 lc rgb ink title 'all gradients, by norm'
}
unset output

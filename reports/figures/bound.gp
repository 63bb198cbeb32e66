# SPDX-License-Identifier: Apache-2.0
# Largest error of each call over its a-priori bound; nothing may stand above 1.
load 'style.gp'

width = page_width; height = 360 + foot
phases = |phase_name|
of(p, x) = column('phase_id') == p ? positive(x) : NaN
stats file using (column('bound_ratio_max')) name 'B' nooutput
stats file using (column('call')) name 'C' nooutput
margin = C_max > C_min ? 0.03 * (C_max - C_min) : 1
top = B_max > 1 ? 4 * B_max : 4
# The call with the largest has its name beside it: as a label of ours, since `with labels` expands a name's backslashes
worst_name = ''; worst_call = 0
see(c, x, s) = x == B_max && worst_name eq '' ? (worst_call = c, worst_name = s, 0) : 0
stats file using (see(column('call'), column('bound_ratio_max'), stringcolumn('tensor_label'))) nooutput

do for [format in formats] {
	eval canvas(format, width, height)
	set logscale y
	set yrange [* < 0.01 : top]
	set xrange [C_min - margin : C_max + margin]
	set format y '10^{%T}'
	set xlabel 'call, in the order of the step' textcolor rgb soft offset 0, 0.3
	set ylabel 'error / bound' textcolor rgb soft
	set bmargin at screen (54. + foot) / height
	set key outside center top horizontal width 2
	set object 1 rectangle from graph 0, first 1 to graph 1, graph 1 fc rgb fatal fs solid 0.14 noborder behind
	set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb fatal lw 1.5
	left = C_min + 0.5 * (C_max - C_min)
	if (B_max > 0) {
		set label 1 named(worst_name) at worst_call, B_max textcolor rgb ink noenhanced
		if (worst_call > left) { set label 1 right offset -0.8, -0.9 } else { set label 1 left offset 0.8, -0.9 }
	}
	plot for [p = 1:phases] file using 'call':(of(p, column('bound_ratio_max'))) with points pt marker(p) ps 0.6 lc rgb shade(p) title phase_name[p], \
		'' using (column('over_bound') > 0 ? column('call') : NaN):(column('bound_ratio_max')) with points pt 6 ps 1.4 lw 2 lc rgb fatal title (B_max > 1 ? 'over its bound' : '')
}
unset output

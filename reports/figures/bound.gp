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
side = 0
worst(x) = x == B_max && side == 0 ? (side = 1, x) : NaN

do for [format in formats] {
	eval canvas(format, width, height)
	side = 0
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
	plot for [p = 1:phases] file using 'call':(of(p, column('bound_ratio_max'))) with points pt marker(p) ps 0.6 lc rgb shade(p) title phase_name[p], \
		'' using (column('call') > left ? NaN : column('call')):(worst(column('bound_ratio_max'))):(named(stringcolumn('tensor_label'))) with labels left offset 0.8, -0.9 textcolor rgb ink noenhanced notitle, \
		'' using (column('call') > left ? column('call') : NaN):(worst(column('bound_ratio_max'))):(named(stringcolumn('tensor_label'))) with labels right offset -0.8, -0.9 textcolor rgb ink noenhanced notitle, \
		'' using (column('over_bound') > 0 ? column('call') : NaN):(column('bound_ratio_max')) with points pt 6 ps 1.4 lw 2 lc rgb fatal title (B_max > 1 ? 'over its bound' : '')
}
unset output

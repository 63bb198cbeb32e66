# SPDX-License-Identifier: Apache-2.0
# |loss - loss of the first run| and the same for accuracy, step by step, on a logarithmic scale.
load 'style.gp'

above = legend_height + 36.
width = page_width; height = pair_height(above, 270., 66.) + foot
stats file using (column('step')) name 'S' nooutput
every_nth = int(S_records / runs / 1500) + 1
margin = S_max > S_min ? 0.02 * (S_max - S_min) : 1
of(r, x) = column('run') == r ? positive(abs(x)) : NaN
# Does a column hold anything that a logarithm can show?
shown = 0
see(x) = (shown = shown + (abs(x) > 0 ? 1 : 0), 0)

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	do for [i = 2:runs] { eval marked_legend(i, height) }
	set label 999 'against '.run_label[1] noenhanced at screen legend_x(1), legend_y(1, height) textcolor rgb soft
	if (S_max - S_min < 6) { set xtics 1 }
	set xrange [S_min - margin : S_max + margin]
	set xlabel 'step' textcolor rgb soft offset 0, 0.3
	set logscale y
	set format y '10^{%T}'
	set ytics autofreq
	unset key
	eval pair(1, above, 270., height)
	set title 'loss, absolute difference'
	set arrow 1 from graph 0, first 1e-3 to graph 1, first 1e-3 nohead lc rgb soft dt 2
	set yrange [* < 5e-4 : 2e-3 < *]
	plot for [r = 2:runs] file every every_nth using 'step':(of(r, column('loss_difference'))) with points pt marker(r) ps 0.35 lc rgb colour(r) notitle, \
		for [r = 2:runs] '' using 'step':(of(r, column('eval_loss_difference'))) with points pt marker(r) ps 0.85 lc rgb colour(r) notitle
	do for [i = 2:runs] { unset label 100 + i; unset label 999 + i }
	unset label 999; unset label 900; unset label 901
	eval pair(2, above, 270., height)
	set title 'accuracy, absolute difference'
	shown = 0
	stats file using (see(column('accuracy_difference')), see(column('eval_accuracy_difference'))) nooutput
	if (shown > 0) {
		plot for [r = 2:runs] file every every_nth using 'step':(of(r, column('accuracy_difference'))) with points pt marker(r) ps 0.35 lc rgb colour(r) notitle, \
			for [r = 2:runs] '' using 'step':(of(r, column('eval_accuracy_difference'))) with points pt marker(r) ps 0.85 lc rgb colour(r) notitle
	} else {
		set label 998 'the same accuracy at every step' at graph 0.5, 0.5 center textcolor rgb soft
		set yrange [1e-4:1]
		plot NaN notitle
		unset label 998
	}
	unset multiplot
}
unset output

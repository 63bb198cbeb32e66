# SPDX-License-Identifier: Apache-2.0
# Training loss (each step, running mean) and accuracy of the runs, with the evaluations.
load 'style.gp'

above = legend_height + 36.
width = page_width; height = pair_height(above, 280., 66.) + foot
# A run that another program recorded may have noted no accuracy, or not even a loss.
losses = 0; accuracies = 0
see(x, y) = (losses = losses + (x == x), accuracies = accuracies + (y == y), 0)
stats file using (see(column('loss_smooth'), column('accuracy_smooth'))) nooutput
stats file using (see(NaN, column('eval_accuracy'))) nooutput
L_min = 0; L_max = 0
if (losses > 0) { stats file using (column('loss_smooth')) name 'L' nooutput }
stats file using (column('step')) name 'S' nooutput
none(n) = sprintf('the run has no %s', n)
every_nth = int(S_records / runs / 1500) + 1
dot = S_records / runs < 60 ? 0.45 : 0.18
margin = S_max > S_min ? 0.02 * (S_max - S_min) : 1
of(r, x) = column('run') == r ? x : NaN

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	do for [i = 1:runs] { eval legend(i, height) }
	if (S_max - S_min < 6) { set xtics 1 }
	set xrange [S_min - margin : S_max + margin]
	set xlabel 'step' textcolor rgb soft offset 0, 0.3
	unset key
	eval pair(1, above, 280., height)
	set title 'loss'
	if (L_min > 0 && L_max > 10 * L_min) { set logscale y } else { unset logscale y }
	if (L_min > 0 && L_max > 10 * L_min) { set yrange [0.4 * L_min:*] } else { set yrange [*:*] }
	set format y (L_min > 0 && L_max > 10 * L_min && L_max / L_min > 1e4 ? '10^{%T}' : '%g')
	if (losses > 0) {
		plot for [r = 1:runs] file every every_nth using 'step':(of(r, column('loss'))) with points pt 7 ps dot lc rgb '#B0' . colour(r)[2:] notitle, \
			for [r = 1:runs] '' using 'step':(of(r, column('loss_smooth'))) with lines lw 2 dt dash(r) lc rgb colour(r) notitle, \
			for [r = 1:runs] '' using 'step':(of(r, column('eval_loss'))) with points pt 7 ps 1.1 lc rgb 'white' notitle, \
			for [r = 1:runs] '' using 'step':(of(r, column('eval_loss'))) with points pt 7 ps 0.75 lc rgb colour(r) notitle
	} else {
		set label 201 none('loss') at graph 0.5, 0.5 center textcolor rgb soft
		set yrange [0:1]
		plot NaN notitle
		unset label 201
	}
	do for [i = 1:runs] { unset label 100 + i; unset arrow 100 + i }
	unset label 900; unset label 901
	unset logscale y
	set format y '%g'
	eval pair(2, above, 280., height)
	set title 'accuracy'
	set yrange [*:1 < *]
	if (accuracies > 0) {
		plot for [r = 1:runs] file every every_nth using 'step':(of(r, column('accuracy_smooth'))) with lines lw 1.4 dt dash(r) lc rgb colour(r) notitle, \
			for [r = 1:runs] '' using 'step':(of(r, column('eval_accuracy'))) with points pt 7 ps 1.1 lc rgb 'white' notitle, \
			for [r = 1:runs] '' using 'step':(of(r, column('eval_accuracy'))) with points pt 7 ps 0.75 lc rgb colour(r) notitle
	} else {
		set label 201 none('accuracy') at graph 0.5, 0.5 center textcolor rgb soft
		set yrange [0:1]
		plot NaN notitle
		unset label 201
	}
	set yrange [*:*]
	unset multiplot
}
unset output

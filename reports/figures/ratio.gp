# SPDX-License-Identifier: Apache-2.0
# How much larger weights are than their updates, against the format's two thresholds.
load 'style.gp'

names = |format_name|
panel = 300
width = page_width; height = 42 + panel * names + foot
array total[names]; array digits[names]; array most[names]; array at[names]; array top[names]
do for [i = 1:names] { total[i] = 0; digits[i] = 0; most[i] = 0; at[i] = 0; top[i] = 0 }
peak(i, n, x, y) = n > most[i] ? (most[i] = n, at[i] = x, top[i] = y, 0) : 0
put(i, p, x) = (total[i] = total[i] + x, digits[i] = p, peak(i, column('by_decay'), column('log2_ratio'), x), 0)
stats file using (put(int(column('format_id')), int(column('precision')), column('count'))) nooutput
stats file using (column('log2_ratio')) name 'X' nooutput
of(i, inside) = column('format_id') == i && inside ? column('count') / total[i] : NaN
decay(i) = column('format_id') == i && column('by_decay') > 0 ? column('by_decay') / total[i] : NaN
lg = 'log2_ratio'

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	set lmargin at screen narrow ? 0.17 : 0.1; set rmargin at screen 0.97
	set boxwidth 0.92
	unset key
	set xlabel 'log_2(|w| / |dw|)' textcolor rgb soft offset 0, 0.3
	set ylabel 'share of the weights' textcolor rgb soft
	set format y '%g'
	set yrange [0:*]
	do for [i = 1:names] {
		p = digits[i]
		left = X_min < p - 6 ? X_min - 1 : p - 7
		right = X_max + 1 > p + 8 ? X_max + 2 : p + 9
		if (p - left < 0.3 * (right - left)) { left = p - 0.43 * (right - p) }
		if (narrow && right - p < 0.3 * (right - left)) { right = p + 0.43 * (p - left) }
		set xrange [left:right]
		set tmargin at screen 1 - (56. + panel * (i - 1)) / height
		set bmargin at screen 1 - (panel * i - 28.) / height
		set label 1 format_name[i] noenhanced at screen 0.015, graph 1 offset 0, 2 left textcolor rgb ink
		always = narrow ? 'always changes' : 'always changes the weight'
		set label 2 always at p, graph 1 offset -0.6, 0.8 right textcolor rgb run_colour
		set label 3 'never does' at p + 1, graph 1 offset 0.6, 0.8 left textcolor rgb fatal
		set arrow 1 from p, graph 0 to p, graph 1.08 nohead lc rgb ink lw 1.2 front
		set arrow 2 from p + 1, graph 0 to p + 1, graph 1.08 nohead lc rgb ink lw 1.2 front
		set label 4 sprintf('2^{%d}', p) at p, graph 1 offset 0, 2 right textcolor rgb ink
		set label 5 sprintf('2^{%d}', p + 1) at p + 1, graph 1 offset 0, 2 left textcolor rgb ink
		unset label 6
		beside = at[i] > p && at[i] - 8.5 * letter * (right - left) / (0.8 * width) < p + 1
		if (most[i] > 0) {
			set label 6 'only weight decay' at (beside ? p + 1.3 : at[i] + 0.5), top[i] / total[i] offset 0, 0.6
			set label 6 textcolor rgb soft
			if (!beside) { set label 6 center }
		}
		if (i > 1) { unset label 900; unset label 901 }
		plot file using (column(lg) + 0.5):(of(i, column(lg) < p)) with boxes lc rgb run_colour, \
			'' using (column(lg) + 0.5):(of(i, column(lg) == p)) with boxes lc rgb paler(run_colour, 0.5), \
			'' using (column(lg) + 0.5):(of(i, column(lg) > p)) with boxes lc rgb fatal, \
			'' using (column(lg) + 0.5):(decay(i)) with boxes lc rgb soft
	}
	unset multiplot
}
unset output

# SPDX-License-Identifier: Apache-2.0
# Values by power of two, a panel for each class of tensor, with the range of the panel's narrowest format.
load 'style.gp'

classes = |class_name|; names = |format_name|
across = classes > 1 && !narrow ? 2 : 1
down = int((classes + across - 1) / across)
array formats_of[classes]; array place[classes * names]
array total[classes * names]
array zero[classes * names]
array low[classes]; array high[classes]; array digits[classes]; array narrowest[classes]
do for [i = 1:classes * names] { total[i] = 0; zero[i] = 0 }
do for [i = 1:classes] { low[i] = 0; high[i] = 1e9; digits[i] = 99; narrowest[i] = '' }
put(i, x) = (total[i] = total[i] + x, 0)
put_zero(i, x) = (zero[i] = zero[i] + x, 0)
cell(c, f) = int((c - 1) * names + f)
narrower(c, p, e) = e < high[c] || (e == high[c] && p < digits[c])
take(c, f, p, a, e) = (narrowest[c] = format_name[f], digits[c] = p, low[c] = a, high[c] = e, 0)
stats file using (put(cell(column('class_id'), column('format_id')), column('count')), \
	strcol('bin') eq 'zero' ? put_zero(cell(column('class_id'), column('format_id')), column('count')) : 0, \
	narrower(int(column('class_id')), column('precision'), column('emax')) \
		? take(int(column('class_id')), int(column('format_id')), column('precision'), column('emin'), column('emax')) : 0) nooutput
number(s) = s eq 'zero' || s eq 'nonfinite' ? NaN : real(s)
# Few values are no distribution: what has fewer than that is named with its number and not drawn
few = 32
most = 1
do for [c = 1:classes] {
	formats_of[c] = 0
	do for [f = 1:names] { place[cell(c, f)] = 0 }
	do for [f = 1:names] { if (total[cell(c, f)] > 0) { formats_of[c] = formats_of[c] + 1; place[cell(c, f)] = total[cell(c, f)] < few ? -1 : formats_of[c] } }
	if (formats_of[c] > most) { most = formats_of[c] }
}
# The values that are drawn, not those of a few scalars, and the ranges' ends near them say how far the axis goes;
# fp32's far ends would squeeze the rest
X_min = 1000; X_max = -1000
reach(c, f, x) = (place[cell(c, f)] > 0 && x == x ? (X_min = x < X_min ? x : X_min, X_max = x > X_max ? x : X_max) : 0, 0)
stats file using (reach(column('class_id'), column('format_id'), number(strcol('bin')))) nooutput
legend_space = 24 + 18 * most
plot_high = narrow ? 90. : 160.
panel = legend_space + plot_high + 50
width = page_width; height = panel * down + 2 + foot
near = 16
left = X_min; right = X_max + 1
do for [c = 1:classes] {
	end = low[c] - digits[c] + 1
	if (end < left && left - end < near + 8) { left = end }
	if (high[c] + 1 > right && high[c] + 1 - right < near) { right = high[c] + 1 }
}
zero_at = left - 3
left = left - 1; right = right + 2
clip(x) = x < left ? left : x > right ? right : x
drawn(c, f) = column('class_id') == c && column('format_id') == f && place[cell(c, f)] > 0
share(c, f) = drawn(c, f) ? positive(column('count') / total[cell(c, f)]) : NaN
where_is(s) = s eq 'zero' ? zero_at : number(s) + 0.5
caption(c, f) = sprintf('%s, %s zeros', format_name[f], percent(zero[cell(c, f)] / total[cell(c, f)]))
percent(x) = x == 0 ? 'no' : x < 0.001 ? '<0.1 %' : sprintf('%.1f %%', 100 * x)
scalars(c, f) = sprintf('%s, %.0f values, not drawn', format_name[f], total[cell(c, f)])
# The first format of a panel is bars of the run's colour, the others outlines over them, each with dashes of its own
outline(f) = f == 2 ? 1 : f == 3 ? 12 : f == 4 ? 13 : 14

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	set logscale y
	set boxwidth 0.92
	between = (right - left > 100 ? 20 : right - left > 30 ? 10 : 5) * (narrow ? 2 : 1)
	set xtics (narrow ? '0' : 'zero' zero_at)
	first_tic = between * ceil(left / between)
	do for [x = first_tic : int(right) : between] {
		if (x - zero_at > 0.09 * (right - left)) { set xtics add ((x < 0 ? '−' : '').sprintf('%d', abs(x)) x) }
	}
	set yrange [1e-6:1]
	set xrange [zero_at - 1.2:right]
	set format y '10^{%T}'
	set ytics 1e-6, (narrow ? 1000 : 100), 1
	do for [c = 1:classes] {
		column_of = (c - 1) % across; row_of = int((c - 1) / across)
		set lmargin at screen (column_of + (narrow ? 0.15 : across > 1 ? 0.13 : 0.08)) / across
		set rmargin at screen (column_of + 0.97) / across
		set tmargin at screen 1 - (legend_space - 6. + panel * row_of) / height
		set bmargin at screen 1 - (legend_space + plot_high - 6 + panel * row_of) / height
		bottom = low[c] - digits[c] + 1
		do for [i = 1:4] { unset object i }
		if (clip(bottom) > left) { set object 1 rectangle from left, graph 0 to clip(bottom), graph 1 fc rgb '#E4E4E4' fs solid 1 noborder behind }
		if (clip(low[c]) > left) { set object 2 rectangle from clip(bottom), graph 0 to clip(low[c]), graph 1 fc rgb '#FBF3C4' fs solid 1 noborder behind }
		if (clip(high[c] + 1) < right) { set object 3 rectangle from clip(high[c] + 1), graph 0 to right, graph 1 fc rgb '#E4E4E4' fs solid 1 noborder behind }
		set label 1 class_name[c] noenhanced at graph 0, graph 1 offset 0, 1 left textcolor rgb ink
		set key at graph 1.02, graph 1.01 right bottom vertical samplen 0.8 width -1
		set xlabel 'log_2|x|, range of '.narrowest[c] textcolor rgb soft offset 0, 0.3
		plot for [f = 1:names] file using (place[cell(c, f)] == 1 ? where_is(strcol('bin')) : NaN):(share(c, f)) with boxes lc rgb paler(run_colour, 0.6) \
			title (place[cell(c, f)] == 1 ? caption(c, f) : ''), \
			for [f = 1:names] '' using (place[cell(c, f)] > 1 ? where_is(strcol('bin')) : NaN):(share(c, f)) with boxes fs empty border rgb ink lc rgb ink lw 1.2 dt outline(place[cell(c, f)]) \
			title (place[cell(c, f)] > 1 ? caption(c, f) : ''), \
			for [f = 1:names] NaN with lines lc rgb 'white' title (place[cell(c, f)] < 0 ? scalars(c, f) : '')
		unset label 900; unset label 901
	}
	unset multiplot
}
unset output

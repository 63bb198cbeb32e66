# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The backward error |computed − exact| / Σ|terms| against {what|%s}. Dashed: √n·u of each format, dotted: the proven bound; u is the unit
#   roundoff. {circles|%s}
# data: halfulp accumulate --table --json
# take: terms format sum n length? backward bound sqrt_n_u first_swamped? stagnation_term? stagnation_value? swamped_share
load 'picture-style.gp'

# Series by name; a format's first series carries its bounds
most = 64
array name[most]; array of_format[most]; array bounds[most]; array stops[most]; array at_stop[most]; array swamped[most]; array last[most]; array mark[most]
series = 0; by_length = 0; n_max = 0; n_min = 1e300; low = 1e300; high = 0
# A range of lengths is one series: the length leaves its name
bare(s) = !by_length ? s : (a = strstrt(s, ':'), b = strstrt(s, ','), a && b > a ? s[1:a - 1].s[b:*] : a ? s[1:a - 1] : s)
id(f, s) = (key = f.' '.bare(s), found = 0, sum [i = 1:most] (i <= series && name[i] eq key ? (found = i) : 0), found ? found : series == most ? most \
	: (series = series + 1, name[series] = key, of_format[series] = f, bounds[series] = 1, (sum [i = 1:most] (i < series && of_format[i] eq f ? (bounds[series] = 0) : 0)), \
	stops[series] = 0, at_stop[series] = 0, swamped[series] = 0, last[series] = 0, mark[series] = 0, series))
read(f, s, x, e, first, stop, value) = (i = id(f, s), n_max = x > n_max ? x : n_max, n_min = x < n_min ? x : n_min, \
	low = e > 0 && e < low ? e : low, high = e > high ? e : high, last[i] = e, \
	(gone(first) || mark[i] > 0 ? 0 : (mark[i] = x)), (gone(stop) ? 0 : (stops[i] = real(stop), at_stop[i] = real(value))), 0)
stats file using (by_length = by_length || !gone(strcol('length')), 0) nooutput
x_of(l, n) = by_length ? number(l) : n
stats file using (read(strcol('format'), strcol('sum'), x_of(strcol('length'), column('n')), column('backward'), strcol('first_swamped'), strcol('stagnation_term'), strcol('stagnation_value'))) nooutput
what = by_length ? 'the length N of the parts' : 'the number of terms n'

worst = 1; best = 1
do for [i = 1:series] {
	if (last[i] > last[worst]) { worst = i }
	if (last[i] < last[best]) { best = i }
}
stopped = 0
do for [i = 1:series] { if (stops[i] > 0 && (!stopped || stops[i] < stops[stopped])) { stopped = i } }
marked = 0
do for [i = 1:series] { marked = marked + (mark[i] > 0) }
circles = by_length || !marked ? '' : 'A circle marks the first row in which a term was swamped, that is, left the accumulator as it was.'
message(_) = !by_length && stopped ? sprintf('%s: the sum stops at term %s, at %s', name[stopped], grouped(sprintf('%d', stops[stopped])), say(at_stop[stopped])) \
	: series > 1 ? sprintf('At the end %s is off by %s of the terms’ magnitudes, %s by %s', name[worst], say(last[worst]), name[best], say(last[best])) \
	: sprintf('%s: at the end the sum is off by %s of the terms’ magnitudes', name[1], say(last[1]))

longest = 0
do for [i = 1:series] { longest = strlen(name[i]) > longest ? strlen(name[i]) : longest }
t = legend_of(series, longest)
is(i) = strcol('format').' '.bare(strcol('sum')) eq name[i]

do for [format in formats] {
	eval begin_picture(format, 74, 20)
	set logscale x 2; set logscale y
	set xrange [n_min:n_max > n_min ? n_max : n_min * 2]
	set yrange [low < 1e300 ? low / 3 : 1e-8:high > 0 ? high * 30 : 1]
	set xtics format '2^{%L}'
	eval name_x(by_length ? 'length N' : 'terms n')
	eval decades(low < 1e300 ? low / 3 : 1e-8, high > 0 ? high * 30 : 1)
	eval name_y('backward error')
	plot for [i = 1:series] file using (is(i) && bounds[i] ? x_of(strcol('length'), column('n')) : NaN):(positive(column('bound'))) with lines lw 1 dt 3 lc rgb series_ink(i) notitle, \
		for [i = 1:series] file using (is(i) && bounds[i] ? x_of(strcol('length'), column('n')) : NaN):(positive(column('sqrt_n_u'))) with lines lw 1 dt 2 lc rgb series_ink(i) notitle, \
		for [i = 1:series] file using (is(i) ? x_of(strcol('length'), column('n')) : NaN):(positive(column('backward'))) with linespoints pt 7 ps 0.25 lw 2 dt series_dash(i) lc rgb series_ink(i) title name[i], \
		for [i = 1:series] file using (is(i) && !by_length && mark[i] == column('n') ? column('n') : NaN):(positive(column('backward'))) with points pt 6 ps 1.2 lw 2 lc rgb series_ink(i) notitle
}
unset output

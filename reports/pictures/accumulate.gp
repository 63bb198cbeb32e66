# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The backward error |computed − exact| / Σ|terms| against {what|%s}. {spread|%s}Dashed: √n·u of each format, dotted: the proven bound of each
#   sum, in its colour; u is the unit roundoff. {circles|%s}
# data: halfulp accumulate --table --json
# take: terms format sum n length? backward bound sqrt_n_u first_swamped? stagnation_term? stagnation_value? swamped_share seed
load 'picture-style.gp'

# Series by name; a format's first series carries its line of √n·u
most = 64
array name[most]; array of_format[most]; array bounds[most]; array stops[most]; array at_stop[most]; array swamped[most]; array last[most]; array mark[most]
series = 0; by_length = 0; others = 0; n_max = 0; n_min = 1e300; low = 1e300; high = 0
# A range of lengths is one series: the length leaves its name
bare(s) = !by_length ? s : (a = strstrt(s, ':'), b = strstrt(s, ','), a && b > a ? s[1:a - 1].s[b:*] : a ? s[1:a - 1] : s)
id(f, s) = (key = f.' '.bare(s), found = 0, sum [i = 1:most] (i <= series && name[i] eq key ? (found = i) : 0), found ? found : series == most ? most \
	: (series = series + 1, name[series] = key, of_format[series] = f, bounds[series] = 1, (sum [i = 1:most] (i < series && of_format[i] eq f ? (bounds[series] = 0) : 0)), \
	stops[series] = 0, at_stop[series] = 0, swamped[series] = 0, last[series] = 0, mark[series] = 0, series))
read(f, s, x, e, first, stop, value) = (i = id(f, s), n_max = x > n_max ? x : n_max, n_min = x < n_min ? x : n_min, \
	low = e > 0 && e < low ? e : low, high = e > high ? e : high, last[i] = e, \
	(gone(first) || mark[i] > 0 ? 0 : (mark[i] = real(first))), (gone(stop) ? 0 : (stops[i] = real(stop), at_stop[i] = real(value))), 0)
ranked(s) = s[1:5] eq 'ring:' || s[1:5] eq 'tree:' || s[1:8] eq 'halving:' || s[1:5] eq 'hier:'
stats file using (by_length = by_length || !gone(strcol('length')), others = others || !ranked(strcol('sum')), 0) nooutput
by_ranks = by_length && !others
x_of(l, n) = by_length ? number(l) : n
stats file using (read(strcol('format'), strcol('sum'), x_of(strcol('length'), column('n')), column('backward'), strcol('first_swamped'), strcol('stagnation_term'), strcol('stagnation_value'))) nooutput

# Rows of one seed follow those of another in the same order: point p of each has the same sum and the same n
first_seed = ''; seeds = 0; rows = 0
stats file using (first_seed = rows ? first_seed : strcol('seed'), seeds = seeds + (strcol('seed') eq first_seed), rows = rows + 1, 0) nooutput
points = seeds; seeds = rows / points
array series_of[points]; array at[points]; array mean[points]; array least[points]; array most_of[points]
row = 0
gather(i, x, e) = (p = row % points + 1, row = row + 1, row > points ? 0 : (series_of[p] = i, at[p] = x, mean[p] = 0, least[p] = 1e300, most_of[p] = 0), \
	e == e ? (mean[p] = mean[p] + e / seeds, least[p] = e < least[p] ? e : least[p], most_of[p] = e > most_of[p] ? e : most_of[p]) : (mean[p] = NaN), last[i] = mean[p], 0)
stats file using (gather(id(strcol('format'), strcol('sum')), x_of(strcol('length'), column('n')), column('backward'))) nooutput
# The curve's height over the first swamped term, which lies between two of its points
array height_at[series]
do for [i = 1:series] {
	height_at[i] = NaN; before = 0
	do for [p = 1:points] {
		if (series_of[p] == i) {
			if (mark[i] > 0 && at[p] >= mark[i] && !(height_at[i] == height_at[i])) {
				part = before ? log(mark[i] / at[before]) / log(at[p] / at[before]) : 1
				height_at[i] = before && mean[before] > 0 ? mean[before] * (mean[p] / mean[before])**part : mean[p]
			}
			before = p
		}
	}
}
set print $points
print "series\tx\tmean\tleast\tmost"
do for [p = 1:points] { print sprintf("%d\t%.17g\t%.17g\t%.17g\t%.17g", series_of[p], at[p], mean[p], least[p], most_of[p]) }
set print $marks
print "series\tx\theight"
do for [i = 1:series] { if (mark[i] > 0) { print sprintf("%d\t%.17g\t%.17g", i, mark[i], height_at[i]) } }
set print
spread = seeds > 1 ? sprintf('Lines: the mean over %d seeds; bands: from the least to the largest of them. ', seeds) : ''
what = by_ranks ? 'the number of ranks N' : by_length ? 'the length N of the parts' : 'the number of terms n'

worst = 1; best = 1
do for [i = 1:series] {
	if (last[i] > last[worst]) { worst = i }
	if (last[i] < last[best]) { best = i }
}
stopped = 0
do for [i = 1:series] { if (stops[i] > 0 && (!stopped || stops[i] < stops[stopped])) { stopped = i } }
marked = 0
do for [i = 1:series] { marked = marked + (mark[i] > 0) }
circles = by_length || !marked ? '' : 'A circle marks the first term that was swamped, that is, left the accumulator as it was'.(seeds > 1 ? ', with the first seed.' : '.')
when = seeds > 1 ? 'On average over '.seeds.' seeds' : by_ranks ? sprintf('Over %s ranks', grouped(sprintf('%d', n_max))) : 'At the end'
message(_) = !by_length && stopped && seeds == 1 ? sprintf('%s: the sum stops at term %s, at %s', name[stopped], grouped(sprintf('%d', stops[stopped])), say(at_stop[stopped])) \
	: series > 1 ? sprintf('%s %s is off by %s of the terms’ magnitudes, %s by %s', when, name[worst], say(last[worst]), name[best], say(last[best])) \
	: sprintf('%s: %s the sum is off by %s of the terms’ magnitudes', name[1], seeds > 1 ? 'on average over '.seeds.' seeds' : by_ranks ? 'o'.when[2:*] : 'at the end', say(last[1]))

# A band ends at the plot's edge where an error is 0
above(e) = e > low / 3 ? e : low / 3
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
	eval name_x(by_ranks ? 'ranks N' : by_length ? 'length N' : 'terms n')
	eval decades(low < 1e300 ? low / 3 : 1e-8, high > 0 ? high * 30 : 1)
	eval name_y('backward error')
	plot for [i = 1:series] file using (is(i) ? x_of(strcol('length'), column('n')) : NaN):(positive(column('bound'))) with lines lw 1 dt 3 lc rgb series_ink(i) notitle, \
		for [i = 1:series] file using (is(i) && bounds[i] ? x_of(strcol('length'), column('n')) : NaN):(positive(column('sqrt_n_u'))) with lines lw 1 dt 2 lc rgb series_ink(i) notitle, \
		for [i = 1:series] $points using (seeds > 1 && column(1) == i && column(5) > 0 ? column(2) : NaN):(above(column(4))):(above(column(5))) with filledcurves fs transparent solid 0.2 noborder lc rgb series_ink(i) notitle, \
		for [i = 1:series] $points using (column(1) == i ? column(2) : NaN):(positive(column(3))) with linespoints pt 7 ps 0.25 lw 2 dt series_dash(i) lc rgb series_ink(i) title name[i], \
		for [i = 1:series] $marks using (column(1) == i && !by_length ? column(2) : NaN):(positive(column(3))) with points pt 6 ps 1.2 lw 2 lc rgb series_ink(i) notitle
}
unset output

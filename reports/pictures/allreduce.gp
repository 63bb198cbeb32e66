# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The relative L2 error of the mean over simulated ranks, by order of the sum and format on the wire. Dotted: what it can be at most, in the same
#   colour; no bound is drawn where overflow cannot be excluded.
# data: halfulp allreduce --json
# take: order wire ranks rel_l2 bound overflowed nonfinite broken
load 'picture-style.gp'

most = 64
array name[most]; array breaks[most]; array why[most]; array last[most]
series = 0; n_max = 0; n_min = 1e300; low = 1e300; high = 0
id(key) = (found = 0, sum [i = 1:most] (i <= series && name[i] eq key ? (found = i) : 0), found ? found : series == most ? most \
	: (series = series + 1, name[series] = key, breaks[series] = 0, why[series] = '', last[series] = 0, series))
reason(bad, over) = bad > 0 ? ', as gradients are not finite' : over > 0 ? ', by overflow' : ''
read(key, n, e, b, bad, over, broken) = (i = id(key), n_max = n > n_max ? n : n_max, n_min = n < n_min ? n : n_min, \
	(e > 0 && e < low ? (low = e) : 0), (e > high ? (high = e) : 0), (b < 1e30 && b > high ? (high = b) : 0), \
	(e == e ? (last[i] = e) : 0), (broken > 0 && breaks[i] == 0 ? (breaks[i] = n, why[i] = reason(bad, over)) : 0), 0)
key(_) = strcol('order').', '.strcol('wire')
stats file using (read(key(0), column('ranks'), number(strcol('rel_l2')), number(strcol('bound')), column('nonfinite'), column('overflowed'), column('broken'))) nooutput

first = 0; holds = 0; worst = 1
do for [i = 1:series] {
	if (breaks[i] > 0 && (!first || breaks[i] < breaks[first])) { first = i }
	if (breaks[i] == 0 && !holds) { holds = i }
	if (last[i] > last[worst]) { worst = i }
}
message(_) = first ? sprintf('%s breaks at %s ranks', name[first], grouped(sprintf('%d', breaks[first]))).why[first].(holds ? sprintf('; %s holds up to %s', name[holds], grouped(sprintf('%d', n_max))) : '') \
	: sprintf('Up to %s ranks the mean is off by at most %s of itself, by %s', grouped(sprintf('%d', n_max)), say(last[worst]), name[worst])

longest = 0
do for [i = 1:series] { longest = strlen(name[i]) > longest ? strlen(name[i]) : longest }
t = legend_of(series, longest)
is(i) = key(0) eq name[i]
bottom = low < 1e300 ? low / 3 : 1e-8
top = high > 0 ? high * 3 : 1

do for [format in formats] {
	eval begin_picture(format, 74, 20)
	set logscale x 2; set logscale y
	set xrange [n_min:n_max > n_min ? n_max : n_min * 2]
	set yrange [bottom:top]
	set xtics format '2^{%L}'
	eval name_x('ranks N')
	eval decades(bottom, top)
	eval name_y('relative L2 error')
	if (low == 1e300 && first) { set label 9 'no sum is finite' at graph 0.5, graph 0.5 center textcolor rgb ink front }
	plot for [i = 1:series] file using (is(i) ? column('ranks') : NaN):(positive(number(strcol('bound')))) with lines lw 1 dt 3 lc rgb series_ink(i) notitle, \
		for [i = 1:series] file using (is(i) ? column('ranks') : NaN):(positive(number(strcol('rel_l2')))) with linespoints pt 7 ps 0.25 lw 2 dt series_dash(i) lc rgb series_ink(i) title name[i]
}
unset output

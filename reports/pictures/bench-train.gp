# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: Milliseconds a training step, and on the right the time over that of float32 of the same batch. Hollow bars are published times, of their own devices.
# data: halfulp bench --json
# take: policy batch width simd? on ms? ratio?
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
height_wanted = 120 + 22 * STATS_records
load 'picture-style.gp'

array name[most]; array ms[most]; array ratio[most]; array ours[most]
rows = 0; longest = 0; high = 0; low = 1e9
read(p, b, o, m, r, s) = (rows = rows + 1, name[rows] = sprintf('%s, batch %d, %s', p, b, o), ms[rows] = number(m), ratio[rows] = number(r), ours[rows] = !gone(s), longest = strlen(name[rows]) > longest ? strlen(name[rows]) : longest, \
	(ms[rows] > high ? (high = ms[rows]) : 0), (ms[rows] < low ? (low = ms[rows]) : 0), 0)
stats file using (read(strcol('policy'), column('batch'), strcol('on'), strcol('ms'), strcol('ratio'), strcol('simd'))) nooutput
best = 0; worst = 0
do for [i = 1:rows] {
	if (ours[i] && ratio[i] > 0 && (!best || ratio[i] < ratio[best])) { best = i }
	if (ours[i] && ratio[i] > 0 && (!worst || ratio[i] > ratio[worst])) { worst = i }
}
message(_) = best && ratio[best] < 0.995 ? sprintf('%s takes %.2f of the time of float32', name[best], ratio[best]) : worst && ratio[worst] > 1.005 ? sprintf('%s takes %.2f times as long as float32', name[worst], ratio[worst]) : 'All take as long as float32'
px = left_px(longest)
y(i) = rows + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 64)
	set border 1; unset key
	set xrange [0:high * 1.05]; set yrange [0.3:rows + 0.7]
	set ytics scale 0 noenhanced (); set xtics few_tics(0, high * 1.05, width - px - 64.)
	set grid xtics noytics
	do for [i = 1:rows] {
		set ytics add (row_name(name[i], name_columns(px)) y(i))
		if (ratio[i] > 0) { set label i sprintf('× %.2f', ratio[i]) at graph 1.02, first y(i) left textcolor rgb soft font little(format) }
	}
	eval name_x('milliseconds a step')
	plot ms using (0):(y($1)):(0):(ours[$1] ? ms[$1] : NaN):(y($1) - 0.3):(y($1) + 0.3) with boxxyerror fc rgb blue notitle, \
		ms using (0):(y($1)):(0):(ours[$1] ? NaN : ms[$1]):(y($1) - 0.3):(y($1) + 0.3) with boxxyerror lc rgb soft fs empty border lc rgb soft notitle
}
unset output

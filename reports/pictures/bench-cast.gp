# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The time of each conversion as a multiple of copying as many floats in the same run.
# data: halfulp bench --json
# take: simd format op mode memcpy ns
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
height_wanted = 120 + 18 * STATS_records
load 'picture-style.gp'

array name[most]; array times[most]
rows = 0; longest = 0; low = 1e300; high = 0; best = 1
read(s, f, o, m, t) = (rows = rows + 1, name[rows] = sprintf('%s %s%s, %s', o, f, gone(m) ? '' : ' '.m, s), times[rows] = number(t), longest = strlen(name[rows]) > longest ? strlen(name[rows]) : longest, \
	(times[rows] > high ? (high = times[rows]) : 0), (times[rows] < low ? (low = times[rows], best = rows) : 0), 0)
stats file using (read(strcol('simd'), strcol('format'), strcol('op'), strcol('mode'), strcol('memcpy'))) nooutput
if (!(high > 0)) { low = 0.1; high = 1 }
message(_) = sprintf('%s takes %.2g times as long as a copy', name[best], times[best])
px = left_px(longest)
y(i) = rows + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 1; unset key
	set logscale x 2
	least = low / 2 < 0.5 ? low / 2 : 0.5
	set xrange [least:high * 1.5]; set yrange [0.3:rows + 0.7]
	set ytics scale 0 noenhanced ()
	eval powers(2, least, high * 1.5, width - px - 24, high / least > 1000 ? '2^{%d}' : '')
	set grid xtics noytics
	do for [i = 1:rows] { set ytics add (row_name(name[i], name_columns(px)) y(i)) }
	eval name_x('time over that of a copy')
	set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 1.4 dt 2 lc rgb soft
	plot times using (positive(times[$1])):(y($1)) with points pt 7 ps 0.8 lc rgb blue notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The relative error |rounded − exact| / |exact| of {input|%s} in each format. A format without a mark has the value exactly, or not at all.
# data: halfulp formats --json
# take: input format value exact error_ulps?
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
height_wanted = 110 + 17 * STATS_records
load 'picture-style.gp'

array name[most]; array off[most]; array shown[most]
rows = 0; longest = 0; input = ''; low = 1e300; high = 0
set_row(f, v, x, e) = (name[rows] = f, shown[rows] = v, off[rows] = e, (e > 0 && e < low ? (low = e) : 0), (e > high ? (high = e) : 0), (longest = strlen(f) > longest ? strlen(f) : longest))
read(i, f, v, x) = (rows = rows + 1, input = i, set_row(f, v, x, real(x) == 0 || gone(v) ? NaN : abs(real(v) - real(x)) / abs(real(x))), 0)
stats file using (read(strcol('input'), strcol('format'), strcol('value'), strcol('exact'))) nooutput
worst = 1
do for [i = 1:rows] { if (off[i] > 0 && !(off[worst] >= off[i])) { worst = i } }
if (!(high > 0)) { low = 1e-8; high = 1 }
message(_) = off[worst] > 0 ? sprintf('%s in %s is %s: off by %s of itself', input, name[worst], say(real(shown[worst])), say(off[worst])) : sprintf('%s is exact in every format here', input)
px = left_px(longest)
y(i) = rows + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 1; unset key
	set logscale x
	set xrange [low / 4:high * 4 > 1 ? high * 4 : high * 4]; set yrange [0.3:rows + 0.7]
	set xtics format '10^{%T}'; if (narrow) { set xtics 100 }; set ytics scale 0 noenhanced ()
	set grid xtics noytics
	do for [i = 1:rows] { set ytics add (row_name(name[i], name_columns(px)) y(i)) }
	eval name_x('relative error')
	plot off using (positive(off[$1])):(y($1)) with points pt 7 ps 0.8 lc rgb blue notitle
}
unset output

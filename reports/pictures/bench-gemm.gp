# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The rate of each product. The tick is the rate that the arithmetic units reach on registers alone, measured in the same run.
# data: halfulp bench --json
# take: size format sum on gflops ceiling? share?
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
height_wanted = 120 + 22 * STATS_records
load 'picture-style.gp'

array name[most]; array rate[most]; array limit[most]
rows = 0; longest = 0; high = 0; best = 1
read(z, f, s, o, r, c) = (rows = rows + 1, name[rows] = sprintf('%s %s %s %s', z, f, s, o), rate[rows] = r, limit[rows] = number(c), longest = strlen(name[rows]) > longest ? strlen(name[rows]) : longest, \
	high = r > high ? r : high, (limit[rows] > high ? (high = limit[rows]) : 0), (r > rate[best] ? (best = rows) : 0), 0)
stats file using (read(strcol('size'), strcol('format'), strcol('sum'), strcol('on'), column('gflops'), strcol('ceiling'))) nooutput
message(_) = limit[best] > 0 ? sprintf('%s: %.3g GFLOP/s, %.0f %% of what the units reach', name[best], rate[best], 100 * rate[best] / limit[best]) : sprintf('%s: %.3g GFLOP/s', name[best], rate[best])
px = left_px(longest)
y(i) = rows + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 1; unset key
	set xrange [0:high * 1.05]; set yrange [0.3:rows + 0.7]
	set ytics scale 0 noenhanced (); set xtics few_tics(0, high * 1.05, width - px - 24.)
	set grid xtics noytics
	do for [i = 1:rows] {
		set ytics add (row_name(name[i], name_columns(px)) y(i))
		if (limit[i] > 0) { set arrow i from limit[i], y(i) - 0.4 to limit[i], y(i) + 0.4 nohead lw 2.4 lc rgb ink front }
	}
	eval name_x('GFLOP/s')
	plot rate using (0):(y($1)):(0):(rate[$1]):(y($1) - 0.3):(y($1) + 0.3) with boxxyerror fc rgb blue notitle
}
unset output

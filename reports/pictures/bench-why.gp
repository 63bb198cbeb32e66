# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The time of each layer: at least, by the device's arithmetic, memory and launches (solid), and as measured (outlined).
# data: halfulp bench --json
# take: policy batch layer predicted_ms measured_ms? limit?
set datafile separator "\t"
set datafile columnheaders
stats file using (strcol('layer') eq 'all' ? NaN : 0) nooutput
most = STATS_records
height_wanted = 130 + 20 * STATS_records
load 'picture-style.gp'

array name[most]; array least[most]; array took[most]
rows = 0; longest = 0; high = 0; slowest = 1; policies = ''; one = 1
stats file using (policies = policies eq '' ? strcol('policy') : policies, one = one && strcol('policy') eq policies, 0) nooutput
read(p, b, l, f, m) = (rows = rows + 1, name[rows] = one ? l : p.' '.l, least[rows] = f, took[rows] = number(m), longest = strlen(name[rows]) > longest ? strlen(name[rows]) : longest, \
	high = f > high ? f : high, (took[rows] > high ? (high = took[rows]) : 0), 0)
stats file using (strcol('layer') eq 'all' ? 0 : read(strcol('policy'), column('batch'), strcol('layer'), column('predicted_ms'), strcol('measured_ms'))) nooutput
measured = 0
do for [i = 1:rows] {
	measured = measured + (took[i] > 0)
	if ((took[i] > 0 ? took[i] : least[i]) > (took[slowest] > 0 ? took[slowest] : least[slowest])) { slowest = i }
}
message(_) = measured ? sprintf('%s takes most: %.3g ms, of which the hardware needs %.3g', name[slowest], took[slowest], least[slowest]) : sprintf('%s needs most: at least %.3g ms', name[slowest], least[slowest])
t = legend_of(2, 16)
px = left_px(longest)
y(i) = rows + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 1
	set xrange [0:high * 1.05]; set yrange [0.3:rows + 0.7]
	set ytics scale 0 noenhanced (); set xtics few_tics(0, high * 1.05, width - px - 24.)
	set grid xtics noytics
	do for [i = 1:rows] { set ytics add (row_name(name[i], name_columns(px)) y(i)) }
	eval name_x('milliseconds a step')
	plot least using (0):(y($1)):(0):(least[$1]):(y($1) - 0.3):(y($1) + 0.3) with boxxyerror fc rgb blue title 'at least', \
		took using (0):(y($1)):(0):(took[$1]):(y($1) - 0.3):(y($1) + 0.3) with boxxyerror lc rgb ink fs empty border lc rgb ink title 'measured'
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: Accuracy of each policy, and where a list was given at each learning rate: the mean over its seeds, with one standard error on either side where there is more than one. On the right the time of a step.
# data: halfulp compare --json
# take: policy lr runs failed accuracy.mean accuracy.standard_error accuracy.difference accuracy.difference_standard_error ms_a_step.mean
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
height_wanted = 120 + 34 * STATS_records
load 'picture-style.gp'

array name[most]; array policy[most]; array mean[most]; array error[most]; array less[most]; array ms[most]
rows = 0; longest = 0; low = 1e9; high = -1e9; rates = 0
read(p, r, a, s, d, t) = (rows = rows + 1, policy[rows] = p, rates = rates + !gone(r), name[rows] = gone(r) ? p : p . ', lr ' . r, mean[rows] = 100 * number(a), error[rows] = gone(s) ? 0 : 100 * real(s), less[rows] = 100 * number(d), ms[rows] = t, \
	longest = strlen(name[rows]) > longest ? strlen(name[rows]) : longest, (mean[rows] - error[rows] < low ? (low = mean[rows] - error[rows]) : 0), (mean[rows] + error[rows] > high ? (high = mean[rows] + error[rows]) : 0), 0)
stats file using (read(strcol('policy'), strcol('lr'), strcol('accuracy.mean'), strcol('accuracy.standard_error'), strcol('accuracy.difference'), strcol('ms_a_step.mean'))) nooutput
worst = 1
# Between learning rates policies differ in more than precision: there the difference at one rate is told
do for [i = 1:rows] { if (rates ? less[i] < less[worst] : mean[i] < mean[worst]) { worst = i } }
message(_) = rows > 1 && less[worst] < 0 ? sprintf('%s is %.2g points of accuracy below %s', name[worst], -less[worst], policy[1]) : sprintf('No policy is below %s', policy[1])
px = left_px(longest)
y(i) = rows + 1 - i
pad = high > low ? 0.15 * (high - low) : 1

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 110)
	set border 1; unset key
	set xrange [low - pad:high + pad]; set yrange [0.4:rows + 0.6]
	set ytics scale 0 noenhanced (); set xtics few_tics(low - pad, high + pad, width - px - 110.) format '%g %%'
	set grid xtics noytics
	do for [i = 1:rows] {
		set ytics add (row_name(name[i], name_columns(px)) y(i))
		if (!gone(ms[i])) { set label i sprintf('%.3g ms a step', real(ms[i])) at graph 1.02, first y(i) left textcolor rgb soft font little(format) }
	}
	eval name_x('accuracy')
	plot mean using (mean[$1]):(y($1)):(error[$1]) with xerrorbars pt 7 ps 1 lw 2 lc rgb blue notitle
}
unset output

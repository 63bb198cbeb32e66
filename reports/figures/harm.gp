# SPDX-License-Identifier: Apache-2.0
# What the verdict rests on: how much of gradients, second moments, running statistics and updates was lost, and how far
# they were turned, at each traced step, and the weights beside those of the exact step; under each the tensors that lost
# most, or were turned most.
load 'style.gp'

# The blocks: name, file and rows of the steps' values, file and rows of the tensors'
blocks = 5
array title[blocks] = ['gradients that arrived', 'steps by second moments', 'running statistics', 'updates of the weights', 'weights and the exact step']
array steps_file[blocks] = [rows_gradients > 0 ? file_gradients : '', rows_moments > 0 ? file_moments : '', rows_statistics > 0 ? file_statistics : '', file, rows_exact > 0 ? file_exact : '']
array steps_rows[blocks] = [rows_gradients, rows_moments, rows_statistics, rows, rows_exact]
array worst_file[blocks] = [rows_gradients_by > 0 ? file_gradients_by : '', rows_moments_by > 0 ? file_moments_by : '', rows_statistics_by > 0 ? file_statistics_by : '', rows_updates_by > 0 ? file_updates_by : '', rows_exact_by > 0 ? file_exact_by : '']
array worst_rows[blocks] = [rows_gradients_by, rows_moments_by, rows_statistics_by, rows_updates_by, rows_exact_by]
array begin[blocks]
y = 0.
do for [b = 1:blocks] { begin[b] = y; if (steps_rows[b] > 0) { y = y + 1.7 + steps_rows[b] + worst_rows[b] } }
lines = y
width = page_width; head = narrow ? 46. : 26.; height = 18 + head + 17 * lines + 56 + foot
# In a column the names take what 22 letters need, two panels share the rest, and the grounds' names stand above both
names_end = name_space / width; panel_wide = (0.975 - names_end - 0.05) / 2
# All rows in one table: height, share lost, turned away, 1 for a step and 2 for a tensor, and which row it is. Their names
# are kept beside it, for gnuplot expands a backslash whenever it reads one from a table or draws one with labels.
texts = 0
do for [b = 1:blocks] { if (steps_rows[b] > 0) { texts = texts + steps_rows[b] + worst_rows[b] } }
array row_name[texts]; array row_at[texts]
keep(i, y, s) = (row_name[int(i)] = s, row_at[int(i)] = y, int(i))
done = 0
set table $all separator tab
do for [b = 1:blocks] {
	if (steps_rows[b] > 0) {
		plot steps_file[b] using (-(begin[b] + 1 + $0)):(column('l2_share_lost')):(1 - column('cosine')):(1):(keep(done + 1 + $0, -(begin[b] + 1 + $0), 'step '.strcol('step'))) with table
		done = done + steps_rows[b]
		if (worst_rows[b] > 0) {
			plot worst_file[b] using (-(begin[b] + 1 + steps_rows[b] + $0)):(column('l2_share_lost')):(1 - column('cosine')):(2):(keep(done + 1 + $0, -(begin[b] + 1 + steps_rows[b] + $0), strcol('tensor_label'))) with table
			done = done + worst_rows[b]
		}
	}
}
unset table
set key noautotitle
least = 1e-5
inside(x) = x > least ? (x < 1 ? x : 1) : least
none(x) = x <= 0 ? 'none' : x <= least ? '< 10^{−5}' : ''

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	set border 0
	unset key
	set logscale x
	set xrange [least:1]
	set yrange [-lines + 0.2 : 0.6]
	set format x '10^{%T}'
	set xtics 1e-5, (narrow ? 100 : 10), 1
	set grid noytics xtics
	unset ytics
	set tmargin at screen 1 - head / height
	set bmargin at screen (62. + foot) / height
	do for [side = 1:2] {
		harm_from = side == 1 ? 0.1 : 0.01; fatal_from = side == 1 ? 0.5 : 0.1
		set lmargin at screen side == 1 ? (narrow ? names_end : 0.30) : narrow ? 0.975 - panel_wide : 0.67
		set rmargin at screen side == 1 ? (narrow ? names_end + panel_wide : 0.61) : 0.975
		set object 1 rectangle from least, graph 0 to harm_from, graph 1 fc rgb '#EAF5F0' fs solid 1 noborder behind
		set object 2 rectangle from harm_from, graph 0 to fatal_from, graph 1 fc rgb '#FBF1D9' fs solid 1 noborder behind
		set object 3 rectangle from fatal_from, graph 0 to 1, graph 1 fc rgb '#F9E1DE' fs solid 1 noborder behind
		# Beside the exact step a cosine below 0.999 is a cost
		if (side == 2 && steps_rows[blocks] > 0) { set object 4 rectangle from 0.001, graph 0 to 0.01, first -begin[blocks] - 0.4 fc rgb '#FBF1D9' fs solid 1 noborder behind }
		if (narrow && side == 1) {
			set label 1 'harmless' at screen names_end, screen 1 - 12. / height left textcolor rgb harmless
			set label 2 'costs' at screen names_end + 10 * letter / width, screen 1 - 12. / height left textcolor rgb costs
			set label 3 'fatal' at screen names_end + 17 * letter / width, screen 1 - 12. / height left textcolor rgb fatal
		}
		if (!narrow) {
			set label 1 'harmless' at least, graph 1 offset 0.4, 0.6 left textcolor rgb harmless
			set label 2 'costs' at harm_from, graph 1 offset (side == 1 ? -0.6 : 0.4), 0.6 left textcolor rgb costs
			set label 3 'fatal' at 1, graph 1 offset (side == 1 ? 2.2 : 0), 0.6 right textcolor rgb fatal
		}
		set xlabel textcolor rgb soft offset 0, 0.3
		set xlabel (side == 1 ? (narrow ? 'share lost' : 'share of the L_2 norm lost') : narrow ? '1 − cosine' : 'turned away: 1 − cosine')
		do for [b = 1:blocks] {
			if (side == 1 && steps_rows[b] > 0) { set label 10 + b title[b] at screen 0.015, first -begin[b] left textcolor rgb ink }
		}
		do for [i = 1:texts] {
			if (side == 1) { set label 100 + i named(row_name[i]) at least, row_at[i] right offset -0.8, 0 textcolor rgb ink noenhanced }
		}
		plot $all using (least):($4 == 1 ? $1 : NaN):(least):(inside(column(side + 1))):($1 - 0.34):($1 + 0.34) with boxxyerror lc rgb run_colour, \
			'' using (least):($4 == 2 ? $1 : NaN):(least):(inside(column(side + 1))):($1 - 0.22):($1 + 0.22) with boxxyerror lc rgb paler(run_colour, 0.5), \
			'' using (least):1:(none(column(side + 1))) with labels left offset 0.3, 0 textcolor rgb soft
		do for [i = 1:texts] { unset label 100 + i }
		do for [b = 1:blocks] { unset label 10 + b }
		unset label 1; unset label 2; unset label 3
		unset label 900; unset label 901
		unset object 4
	}
	unset multiplot
}
unset output

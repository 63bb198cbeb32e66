# SPDX-License-Identifier: Apache-2.0
# Share of additions swamped inside sums, and of each weight update's norm lost to swamping.
load 'style.gp'

phases = |phase_name|
head = narrow ? 60. : 40.; above = 56 + head + 18 * rows
below = rows_updates > 0 ? 112 + 18 * rows_updates : 0
width = page_width; height = above + below + foot
# Rows stand in blocks by phase, in the table's order inside a block: an operator whose first traced
# step had nothing to add comes late in the table
array start[phases + 1]; array seen[phases]; array place[rows]; array name[rows]
do for [p = 1:phases + 1] { start[p] = 0 }
do for [p = 1:phases] { seen[p] = 0 }
count(p) = (start[p + 1] = start[p + 1] + 1, p)
stats file using (count(int(column('phase_id')))) nooutput
do for [p = 2:phases + 1] { start[p] = start[p] + start[p - 1] }
put(row, p, label) = (seen[p] = seen[p] + 1, name[row] = label, place[row] = -(start[p] + seen[p] - 1 + 0.7 * (p - 1)))
stats file using (put(int($0) + 1, int(column('phase_id')), stringcolumn('layer_label'))) nooutput
at(row) = place[int(row) + 1]
share(p) = column('phase_id') == p && column('additions') > 0 ? positive(column('swamped') / column('additions')) : NaN
least = 1e-7
bar(x) = x > least ? x : NaN
# A row without a label has it left of the axis, where none is drawn: of a table of one row, no label of which has a
# place, gnuplot 5.4 does not survive `with labels`.

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	set lmargin at screen narrow ? name_space / width : 0.4; set rmargin at screen 0.97
	set border 1
	set logscale x
	set xrange [least:1]
	set format x '10^{%T}'
	set xtics 1e-7, (narrow ? 100 : 10), 1
	set grid noytics xtics
	set ytics scale 0 noenhanced
	set tmargin at screen 1 - head / height
	set bmargin at screen 1 - (above - 52.) / height
	set yrange [-(rows - 1 + 0.7 * (phases - 1)) - 0.8:0.8]
	set key at graph 1, screen 1 - (head - 4) / height right bottom horizontal
	set label 1 'additions swamped in sums' at screen 0.015, graph 1 offset 0, (narrow ? 2.4 : 0.9) left textcolor rgb ink
	set xlabel 'share of the additions' textcolor rgb soft offset 0, 0.3
	set ytics ()
	do for [row = 1:rows] { set ytics add (tic_name(named(name[row])) place[row]) }
	plot for [p = 1:phases] file using (least):(at($0)):(least):(bar(share(p))):(at($0) - 0.32):(at($0) + 0.32) with boxxyerror lc rgb shade(p) title phase_name[p], \
		'' using (column('swamped') == 0 ? least : least / 100):(at($0)):('none') with labels left offset 0.3, 0 textcolor rgb '#A0A0A0' notitle
	set ytics autofreq
	set ytics scale 0 noenhanced
	if (rows_updates > 0) {
		least = 1e-4
		set xrange [least:1]
		set xtics 1e-4, 10, 1
		set tmargin at screen 1 - (above + 44.) / height
		set bmargin at screen (66. + foot) / height
		unset label 900; unset label 901
		set yrange [-rows_updates + 0.2:0.8]
		set label 1 'update lost to swamping' at screen 0.015, graph 1 offset 0, (narrow ? 2 : 0.9)
		set xlabel "share of the update's norm" textcolor rgb soft offset 0, 0.3
		set arrow 1 from 0.1, graph 0 to 0.1, graph 1 nohead lc rgb costs lw 1.5 front
		set arrow 2 from 0.5, graph 0 to 0.5, graph 1 nohead lc rgb fatal lw 1.5 front
		set label 2 (narrow ? 'harmless' : 'harmless below 0.1') at 0.1, graph 1 offset -0.3, 0.6 right textcolor rgb harmless
		set label 3 (narrow ? 'fatal' : 'fatal above 0.5') at 1, graph 1 offset 0, 0.6 right textcolor rgb fatal
		unset key
		plot file_updates using (least):(-$0):(least):(bar(column('l2_share_lost'))):(-$0 - 0.32):(-$0 + 0.32):ytic(named(stringcolumn('tensor_label'))) with boxxyerror lc rgb run_colour, \
			'' using (column('l2_share_lost') == 0 ? least : least / 100):(-$0):('none') with labels left offset 0.3, 0 textcolor rgb '#A0A0A0', \
			'' using (column('l2_share_lost') > 0 && column('l2_share_lost') <= least ? least : least / 100):(-$0):('below 10^{−4}') with labels left offset 0.3, 0 textcolor rgb '#A0A0A0'
		unset arrow 1; unset arrow 2; unset label 2; unset label 3
		least = 1e-7
	}
	unset multiplot
}
unset output

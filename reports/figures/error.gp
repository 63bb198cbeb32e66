# SPDX-License-Identifier: Apache-2.0
# Every call's error on one scale for all runs: relative to the size of what it computes. Left what the call itself
# rounded, right what it delivered with all that came before it.
load 'style.gp'

all_lines = |layer_name|
array worth[all_lines]; array row_of[all_lines]
do for [i = 1:all_lines] { worth[i] = 0 }
# Where a run has propagated errors, one that is missing is of a value whose exact one is 0: all of it is rounding
# error. Without the next line gnuplot would not read the rows that have a "-".
set datafile missing 'no cell'
array known[runs]; array nothing[all_lines]
do for [i = 1:runs] { known[i] = 0 }
do for [i = 1:all_lines] { nothing[i] = 0 }
is_known(r, x) = (known[r] = known[r] + (x eq '-' ? 0 : 1), 0)
is_nothing(r, i, x) = (nothing[i] = nothing[i] + (known[r] > 0 && x eq '-' ? 1 : 0), 0)
stats file using (is_known(int(column('run')), strcol('propagated_rel_normwise'))) nooutput
stats file using (is_nothing(int(column('run')), int(column('layer_id')), strcol('propagated_rel_normwise'))) nooutput
weigh(i, x) = (worth[i] = x > worth[i] ? x : worth[i], 0)
own(x) = x > 0 ? x : column('backward_normwise')
stats file using (weigh(int(column('layer_id')), own(column('propagated_rel_normwise')))) nooutput
do for [i = 1:all_lines] { if (nothing[i]) { worth[i] = 1 } }
do for [i = 1:all_lines] { row_of[i] = give_row(i, all_lines) }
lines = rows_drawn
row(i) = row_of[int(i)] ? -row_of[int(i)] : NaN
width = page_width; head = !narrow ? 94. : all_lines > most_rows ? 128. : 108.
height = head + legend_height + int(15.5 * lines) + foot
most = 1
# The names take what they need, in a column what 22 letters do, and two panels share the rest
longest = 22
do for [i = 1:all_lines] { if (row_of[i] && strlen(layer_name[i]) > longest) { longest = strlen(layer_name[i]) } }
names_end = (narrow ? name_space : letter * (longest < name_letters ? longest : name_letters)) / width
panel_wide = (0.985 - names_end - 0.09) / 2
# What is below the axis, such as a count kept in fp64, stands at its foot
inside(x) = x > 0 ? (x < low ? low : x < most ? x : most) : NaN
of(r, x) = column('run') == r ? x : NaN
# The marks of several runs stand beside each other in a row
beside(y, r) = y + 0.5 * (r - 0.5 * (runs + 1)) / runs
low = 1e-9
cancelled(r) = column('run') == r && known[r] > 0 && strcol('propagated_rel_normwise') eq '-' ? 0.3 : NaN
array unit_name[3] = ['fp32', 'fp16', 'bf16']
array unit[3] = [2.**-24, 2.**-11, 2.**-8]

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	do for [i = 1:runs] { eval marked_legend(i, height) }
	set border 1
	unset key
	set logscale x
	set xrange [low:most]
	set yrange [-lines - 0.3:-0.4]
	set format x '10^{%T}'
	set xtics low, (narrow ? 1e4 : 100), (narrow ? 0.1 : most)
	set grid noytics xtics
	set ytics () scale 0 noenhanced
	do for [i = 1:all_lines] { if (row_of[i]) { set ytics add (tic_name(named(layer_name[i])) row(i)) } }
	set label 902 in_rows(all_lines, 'errors') at screen 0.985, screen 1 - (legend_height + 8.) / height right textcolor rgb soft
	set tmargin at screen 1 - (legend_height + head - 54) / height
	set bmargin at screen (64. + foot) / height
	do for [side = 1:2] {
		set lmargin at screen side == 1 ? names_end : 0.985 - panel_wide
		set rmargin at screen side == 1 ? names_end + panel_wide : 0.985
		if (side == 2) {
			unset ytics
			do for [i = 1:all_lines] {
				if (row_of[i] && nothing[i]) { set label 1000 + i 'exactly 0' at 0.15, first row(i) right textcolor rgb soft }
			}
		}
		own = narrow ? 'own rounding' : "the call's own rounding"
		set xlabel (side == 1 ? own : narrow ? 'propagated' : 'with what it was handed') textcolor rgb soft offset 0, 0.3
		do for [k = 1:3] {
			set arrow k from unit[k], graph 0 to unit[k], graph 1.01 nohead lc rgb soft dt 14 lw 0.8 back
			set label k unit_name[k] at unit[k], graph 1 offset (narrow ? 0 : k == 2 ? -1.2 : k == 3 ? 1.2 : 0), (narrow && k == 3 ? 1.6 : 0.7) center textcolor rgb soft
		}
		plot for [r = 1:runs] file using (of(r, inside(side == 1 ? column('backward_normwise') : column('propagated_rel_normwise')))):(beside(row(column('layer_id')), r)) \
			with points pt marker(r) ps 0.6 lc rgb colour(r), \
			for [r = 1:runs] file using (side == 2 ? cancelled(r) : NaN):(beside(row(column('layer_id')), r)) \
			with points pt 4 ps 0.8 lc rgb colour(r)
		do for [i = 1:runs] { unset label 100 + i; unset label 200 + i }
		unset label 900; unset label 901; unset label 902
	}
	do for [i = 1:all_lines] { if (nothing[i]) { unset label 1000 + i } }
	unset multiplot
}
unset output

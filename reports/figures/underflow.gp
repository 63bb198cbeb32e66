# SPDX-License-Identifier: Apache-2.0
# Share of nonzero values that became zero in a cast, layers down, traced steps across.
load 'style.gp'

all_layers = |layer_name|; steps = |step_name|
array worth[all_layers]; array row_of[all_layers]
do for [i = 1:all_layers] { worth[i] = 0 }
weigh(i, z, n) = (worth[i] = n > 0 && z / n > worth[i] ? z / n : worth[i], 0)
stats file using (weigh(int(column('layer_id')), column('became_zero'), column('nonzeros'))) nooutput
do for [i = 1:all_layers] { row_of[i] = give_row(i, all_layers) }
layers = rows_drawn
row(i) = row_of[int(i)] ? -row_of[int(i)] : NaN
width = page_width; height = 120 + 24 * layers + foot
share(z, n) = n > 0 && z > 0 ? log10(z / n) : NaN
text(z, n) = n > 0 && z > 0 ? (z / n >= 0.0995 ? sprintf('%.0f %%', 100 * z / n) : z / n >= 0.0095 ? sprintf('%.1f %%', 100 * z / n) : z / n >= 1e-5 ? sprintf('%.1g %%', 100 * z / n) : '<0.001 %') : '–'
each = int(steps / (narrow ? 6 : 14)) + 1

do for [format in formats] {
	eval canvas(format, width, height)
	set xrange [0.5:steps + 0.5]
	set yrange [-layers - 0.5:-0.5]
	set border 0
	unset grid
	set tics scale 0
	set palette defined (0 '#DDEEF6', 0.35 '#BFDDED', 0.6 '#7DB8DA', 0.8 '#2A7FB8', 1 '#0B3A66')
	set cbrange [-6:0]
	set cbtics ('1 ppm' -6, '10 ppm' -5, '0.01 %%' -4, '0.1 %%' -3, '1 %%' -2, '10 %%' -1, '100 %%' 0) textcolor rgb ink
	set cbtics scale 0.4 out
	set colorbox noborder
	if (narrow) { set rmargin at screen 0.78 }
	set xtics () noenhanced
	do for [i = 1:steps:each] { set xtics add (tic_name(step_name[i]) i) }
	set ytics () noenhanced
	do for [i = 1:all_layers] { if (row_of[i]) { set ytics add (tic_name(named(layer_name[i])) row(i)) } }
	set label 902 in_rows(all_layers, 'shares') right textcolor rgb soft
	set label 902 at screen (narrow ? 0.76 : 0.86), screen 1 - 9. / height
	set xlabel 'traced step' textcolor rgb soft offset 0, 0.3
	unset key
	set bmargin at screen (54. + foot) / height
	if (steps <= (narrow ? 3 : 10)) {
		plot file using 'step_id':(row(column('layer_id'))):(0.47):(0.44) with boxxyerror fc rgb '#EEEEEA' notitle, \
			'' using (column('became_zero') > 0 ? column('step_id') : NaN):(row(column('layer_id'))):(0.47):(0.44):(share(column('became_zero'), column('nonzeros'))) with boxxyerror fc palette notitle, \
			'' using 'step_id':(row(column('layer_id'))):(text(column('became_zero'), column('nonzeros'))):(column('became_zero') > 0.012 * column('nonzeros') ? 0xFFFFFF : 0x222222) with labels textcolor rgb variable notitle
	} else {
		plot file using 'step_id':(row(column('layer_id'))):(0.5):(0.46) with boxxyerror fc rgb '#EEEEEA' notitle, \
			'' using (column('became_zero') > 0 ? column('step_id') : NaN):(row(column('layer_id'))):(0.5):(0.46):(share(column('became_zero'), column('nonzeros'))) with boxxyerror fc palette notitle
	}
}
unset output

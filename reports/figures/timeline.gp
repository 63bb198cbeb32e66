# SPDX-License-Identifier: Apache-2.0
# The loss scale each scaler would have chosen, a strip each, with the steps it would have skipped.
load 'style.gp'

scalers = |scaler_name|
width = page_width; strip = 92; height = 70 + strip * scalers + foot
lg(x) = x > 0 ? log(x) / log(2) : NaN
Y_min = lg(scale_least); Y_max = lg(scale_most)
stats file using (column('step')) name 'S' nooutput
every_nth = int(rows / scalers / 4000) + 1
margin = S_max > S_min ? 0.01 * (S_max - S_min) : 1
array skips[scalers]
do for [i = 1:scalers] { skips[i] = 0 }
add(i, x) = (skips[i] = skips[i] + (x > 0 ? 1 : 0), 0)
stats file using (add(int(column('scaler_id')), column('skipped'))) nooutput
of(i, x) = column('scaler_id') == i ? x : NaN
apart = Y_max - Y_min > 24 ? 16 : Y_max - Y_min > 10 ? 8 : Y_max - Y_min > 5 ? 4 : 2

do for [format in formats] {
	eval canvas(format, width, height)
	set multiplot
	if (S_max - S_min < 6) { set xtics 1 }
	set xrange [S_min - margin:S_max + margin]
	set yrange [Y_min - 1.2:Y_max + 1.2]
	set ytics apart
	set format y '2^{%g}'
	set lmargin at screen narrow ? 0.36 : 0.15; set rmargin at screen narrow ? 0.78 : 0.86
	unset key
	do for [i = 1:scalers] {
		set tmargin at screen 1 - (12. + strip * (i - 1)) / height
		set bmargin at screen 1 - (12. + strip * i - 14) / height
		if (i == scalers) { set format x '%g'; set xlabel 'step' textcolor rgb soft } else { set format x ''; unset xlabel }
		set label 1 scaler_name[i] noenhanced at screen 0.015, graph 0.5 left textcolor rgb (scaler_name[i] eq 'recorded' ? run_colour : ink)
		set label 2 sprintf('%d skipped', skips[i]) at graph 1.015, graph 0.5 left textcolor rgb soft
		if (i > 1) { unset label 900; unset label 901 }
		plot file every every_nth using (column('scaler_id') == i ? column('step') : NaN):(lg(column('scale'))) with steps lw 2 dt 14 lc rgb soft, \
			'' every every_nth using 'step':(column('unknown') > 0 ? NaN : of(i, lg(column('scale')))) with steps lw 2 lc rgb (scaler_name[i] eq 'recorded' ? run_colour : ink), \
			'' using 'step':(column('skipped') > 0 ? of(i, lg(column('scale'))) : NaN) with points pt 11 ps 0.75 lc rgb fatal
	}
	unset multiplot
}
unset output

# SPDX-License-Identifier: Apache-2.0
# Largest, 99th-percentile and mean rounding error in ulps, a row for each kind of call of a layer.
load 'style.gp'

width = page_width; head = narrow ? 116. : 54.; height = 56 + head + int(17.5 * rows) + foot
phases = |phase_name|
gap(phase) = 0.7 * phase
at(row) = -(row + gap(column('phase_id') - 1))
of(p, x) = column('phase_id') == p ? positive(x) : NaN
cap = 2.**24 # beyond, the exact value is zero or next to it
U_max = ulp_max_most > cap ? cap : ulp_max_most
within(x) = x > cap ? cap : x
low = narrow ? 0.004 : 0.03

do for [format in formats] {
	eval canvas(format, width, height)
	set logscale x
	set xrange [low : (U_max > 2 ? 1.6 * U_max : 4)]
	set yrange [-(rows - 1 + gap(phases - 1)) - 0.8 : 0.8]
	of_what = (narrow ? 'ulps' : "error in ulps of the output's own format").' (dashed: half an ulp)'
	set xlabel of_what textcolor rgb soft offset 0, 0.3
	set format x '%g'
	if (U_max > 1e5 || narrow) { set format x '10^{%T}' }
	if (narrow && U_max > 1e3) { set xtics 1e-2, 100 }
	set grid noytics xtics
	set ytics scale 0 noenhanced
	set border 1
	set bmargin at screen (54. + foot) / height
	set tmargin at screen 1 - head / height
	set key at screen 0.52, screen 1 - 4. / height center top horizontal maxrows (narrow ? 4 : 2)
	set arrow 1 from 0.5, graph 0 to 0.5, graph 1 nohead lc rgb soft dt 2
	plot file using (positive(column('ulp_mean')) >= low ? column('ulp_mean') : low):(at($0)):(within(column('ulp_max')) - (column('ulp_mean') > low ? column('ulp_mean') : low)):(0) \
			with vectors nohead lw 1 lc rgb '#C8C8C8' notitle, \
		'' using (positive(column('ulp_mean'))):(at($0)):ytic(named(stringcolumn('layer_label'))) with points pt 7 ps 0.4 lc rgb soft title 'mean', \
		'' using (positive(column('ulp_p99'))):(at($0)) with points pt 6 ps 0.7 lw 1.5 lc rgb soft title '99th percentile', \
		'' using (column('ulp_max') == 0 ? low : low / 100):(at($0)):('exact') with labels left offset 0.3, 0 textcolor rgb '#A0A0A0' notitle, \
		for [p = 1:phases] '' using (of(p, column('ulp_max'))):(at($0)) with points pt marker(p) ps 0.8 lc rgb shade(p) title 'largest, '.phase_name[p], \
		'' using (column('ulp_max') > cap ? 1.5 * cap : low / 100):(at($0)):('→') with labels right offset 0.6, 0 textcolor rgb soft notitle
}
unset output

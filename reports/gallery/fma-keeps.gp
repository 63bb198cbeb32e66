# SPDX-License-Identifier: Apache-2.0
# title: A product that is rounded first is lost: only the fma keeps d²
# caption: (1 + d)·(1 − d) − 1 = −d² in fp16. With two roundings the product becomes 1 for d ≤ {lost|%s} and the difference 0; the fma, which rounds once, returns −d²
#   at every d down to {least|%s}.
# data two: halfulp calc --json --format fp16 --vary d=2^-11..2^-1:11,log '(1 + d) * (1 - d) - 1'
# take two: at value exact
# data: halfulp calc --json --format fp16 --vary d=2^-11..2^-1:11,log 'fma(1 + d, 1 - d, 0 - 1)'
# take: at value exact
load 'gallery-style.gp'

stats file_two using (column('value') == 0 ? column('at') : NaN) name 'Z' nooutput
lost = power(Z_max)
stats file using (column('value') == column('exact') ? column('at') : NaN) name 'F' nooutput
least = power(F_min)

where = narrow ? 'left' : 'right'
do for [format in formats] {
	eval begin(format, '−((1 + d)·(1 − d) − 1) in fp16, computed in two roundings and in one')
	set logscale xy 2
	set xrange [2**-10.6:2**-0.6]; set yrange [2**-25:1]
	set xtics 2**-10, 4, 1 format '2^{%L}'
	set ytics ('0' 2**-24, '2^{−20}' 2**-20, '2^{−16}' 2**-16, '2^{−12}' 2**-12, '2^{−8}' 2**-8, '2^{−4}' 2**-4, '1' 1)
	set label 1003 'd' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'what is left of d²' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('fma: one rounding') at 2**(narrow ? -10.4 : -7.6), 2**(narrow ? -10 : -13.2) @where textcolor rgb blue
	set label 2 B('two roundings') at 2**-8.2, 2**-22 center textcolor rgb wine
	# The axis is broken between zero and the powers of two
	do for [k = 0:1] { set arrow 50 + k from graph -0.012, first 2.**(-22.4 + 0.5 * k) to graph 0.012, first 2.**(-22 + 0.5 * k) nohead lw 1.2 lc rgb ink front }
	plot x**2 with lines lw 1.2 dt 3 lc rgb soft notitle, \
		file using 'at':(positive(-column('value'))) with points pt 6 ps 1.2 lw 2 lc rgb blue notitle, \
		file_two using 'at':(column('value') == 0 ? 2**-24 : -column('value')) with points pt 7 ps 0.7 lc rgb wine notitle
}
unset output

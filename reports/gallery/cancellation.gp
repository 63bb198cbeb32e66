# SPDX-License-Identifier: Apache-2.0
# title: Cancellation is exact itself: it shows the rounding errors made before it
# caption: (1 + d)² − 1 in fp32, computed as written and as d·(2 + d). The subtraction is exact, but what is left of (1 + d)² after it holds the
#   earlier roundings: at d = {d_small|%s} the relative error is {worst_small}, against {product_worst|%.2g} at most for the product, which has
#   nothing to cancel. The dotted line is 2⁻²⁴/d.
# data: halfulp calc --json --format fp32 --vary d=2^-22..1:177,log '(1 + d) * (1 + d) - 1'
# take: at value exact
# data product: halfulp calc --json --format fp32 --vary d=2^-22..1:177,log 'd * (2 + d)'
# take product: at value exact
load 'gallery-style.gp'

off(v, x) = abs(v - x) / x
stats file_product using (off(column('value'), column('exact'))) name 'P' nooutput
product_worst = P_max
near = 2.**-21.8
stats file using (column('at') < near * 1.0001 ? off(column('value'), column('exact')) : NaN) name 'S' nooutput
worst_small = S_max
stats file using (column('at') < near * 1.0001 && off(column('value'), column('exact')) == worst_small ? column('at') : NaN) name 'D' nooutput
d_small = sprintf('%s', say(D_min))

do for [format in formats] {
	eval begin(format, 'relative error of (1 + d)² − 1 in fp32, against d')
	set logscale x 2; set logscale y
	set xrange [2**-22:1]; set yrange [1e-10:10]
	set xtics 2**-20, 16, 1 format '2^{%L}'
	set ytics 100 format '10^{%T}'
	set label 1003 'd' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'relative error' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('(1 + d)·(1 + d) − 1') at 2**-13, 1e-2 left textcolor rgb wine
	set label 2 B('d·(2 + d)') at 2**-21.5, 1.5e-6 left textcolor rgb blue
	plot 2.**-24 / x with lines lw 1.2 dt 3 lc rgb soft notitle, \
		file using 'at':(positive(off(column('value'), column('exact')))) with points pt 7 ps 0.28 lc rgb wine notitle, \
		file_product using 'at':(positive(off(column('value'), column('exact')))) with points pt 7 ps 0.28 lc rgb blue notitle
}
unset output

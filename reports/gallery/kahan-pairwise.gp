# SPDX-License-Identifier: Apache-2.0
# title: Plain summation loses {plain|%.0f} %, pairwise up to {pair_most|%.2g} %, Kahan's up to {kahan_most|%.2g} %
# caption: The relative error of n uniform terms summed in bf16 one after another, pairwise and with Kahan's compensation. At n = 65 536 the plain sum has
#   stagnated and is off by {plain|%.1f} %, the pairwise sum by {pair|%.2g} % and the compensated one by {kahan|%.2g} %: half an ulp of bf16 is at most {half|%.2g} %. Over all n the pairwise sum
#   is off by up to {pair_most|%.2g} % and the compensated one by up to {kahan_most|%.2g} %.
# source: Higham 1993, The Accuracy of Floating Point Summation, SIAM J. Sci. Comput. 14
# data: halfulp accumulate --terms uniform:0,1 --n 65536 --format bf16 --sum fma --sum pairwise --sum kahan --table
# take: sum n relative
load 'gallery-style.gp'

half = 100 * 2.**-8
of(s, x) = strstrt(strcol('sum'), s) == 1 ? x : NaN
ends(s) = of(s, column('n') == 65536 ? 100 * column('relative') : NaN)
stats file using (ends('fma')) name 'A' nooutput
stats file using (ends('pairwise')) name 'B' nooutput
stats file using (ends('kahan')) name 'C' nooutput
stats file using (of('pairwise', 100 * column('relative'))) name 'P' nooutput
stats file using (of('kahan', 100 * column('relative'))) name 'K' nooutput
pair_most = P_max; kahan_most = K_max
plain = A_max; pair = B_max; kahan = C_max

do for [format in formats] {
	eval begin(format, 'n uniform terms in bf16; the dotted line is half an ulp of bf16 at worst')
	set logscale x 2; set logscale y
	set rmargin at screen right(0.84)
	set xrange [2:65536]; set yrange [1e-5:3]
	set xtics 4, 16 format '2^{%L}'
	set ytics 10 format '10^{%T}'
	set label 1003 'terms n' at screen 0.475, screen 14. / height center textcolor rgb soft
	set label 1004 'relative error' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('plain') at 65536, plain / 100 left offset 0.6, 0 textcolor rgb wine
	set label 2 B('pairwise') at 65536, pair / 100 left offset 0.6, 0.55 textcolor rgb blue
	set label 3 B('Kahan') at 65536, kahan / 100 left offset 0.6, -0.55 textcolor rgb ink
	plot 2.**-8 with lines lw 1.2 dt 3 lc rgb soft notitle, \
		file using 'n':(of('fma', positive(column('relative')))) with lines lw 2.4 lc rgb wine notitle, \
		'' using 'n':(of('pairwise', positive(column('relative')))) with lines lw 2 dt 2 lc rgb blue notitle, \
		'' using 'n':(of('kahan', positive(column('relative')))) with lines lw 2 lc rgb ink notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Beside 1, a tensor core chops every product to a few bits before it adds
# caption: 1 plus four equal products p in one block: what the sum keeps of 4p. An exact sum follows the dotted line. Volta aligns to 23 bits behind the largest term and
#   chops the rest, so that it keeps nothing below p = {power(z_volta)|%s}; Ampere has one bit more ({power(z_ampere)|%s}), Hopper two ({power(z_hopper)|%s}).
# source: Fasi, Higham, Mikaitis & Pranesh 2021, Numerical behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7
# data arch=volta,ampere,hopper: halfulp calc --json --sum tc:{arch} --vary x=2^-15..2^-8:225,log 'sum(1, x*2^-12, x*2^-12, x*2^-12, x*2^-12) - 1'
# take: arch at value exact
load 'gallery-style.gp'

of(a, x) = strcol('arch') eq a ? x : NaN
do for [a in 'volta ampere hopper'] {
	stats file using (of(a, column('value') > 0 ? column('at') : NaN)) name 'K' nooutput
	eval sprintf('z_%s = %.17g', a, K_min * 2.**-12)
}
inks = wine.' '.blue.' '.ink

do for [format in formats] {
	eval begin(format, '(1 + p + p + p + p) − 1 by the models tc:volta, tc:ampere and tc:hopper, fp16 factors, fp32 result')
	set logscale xy 2
	set xrange [2**-26.6:2**-20.4]; set yrange [2**-24:2**-18]
	set xtics 2**-26, 2, 1 format '2^{%L}'
	set ytics 2**-24, 2, 1 format '2^{%L}'
	set label 1003 'product p' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'what is left of 4p' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	do for [k = 1:3] {
		a = word('volta ampere hopper', k)
		eval sprintf('z = z_%s', a)
		set arrow k from z, 2**-24 to z, 4 * z nohead lw 1.6 lc rgb word(inks, k)
		set label k B(word('Volta Ampere Hopper', k)) at z, 5.4 * z right offset -0.4, 0.3 textcolor rgb word(inks, k)
	}
	plot 4 * x with lines lw 1.2 dt 3 lc rgb soft notitle, \
		for [k = 3:1:-1] file using (column('at') * 2.**-12):(of(word('volta ampere hopper', k), positive(column('value')))) with steps lw 2 lc rgb word(inks, k) notitle
}
unset output

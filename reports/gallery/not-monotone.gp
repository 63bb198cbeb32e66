# SPDX-License-Identifier: Apache-2.0
# title: On a Volta tensor core the smaller C gives the larger sum
# caption: C plus four products of 2⁻²⁴ by the model tc:volta. Just below 1 the products still fit behind the 23 bits that Volta aligns to, and the sum is {above|%s}; at C = 1
#   the unit doubles, all four are chopped, and the sum is {at_one|%s}. An exact sum (dotted) never falls when C grows.
# source: Mikaitis 2023, Monotonicity of multi-term floating-point adders, arXiv 2304.01407
# data: halfulp calc --json --sum tc:volta --vary c=0x1.fffff0p-1..0x1.fffffep-1:8 'sum(c, 2^-12*2^-12, 2^-12*2^-12, 2^-12*2^-12, 2^-12*2^-12)'
# data: halfulp calc --json --sum tc:volta --vary c=1..0x1.000008p0:5 'sum(c, 2^-12*2^-12, 2^-12*2^-12, 2^-12*2^-12, 2^-12*2^-12)'
# take: at value hex exact
load 'gallery-style.gp'

unit = 2.**-24
steps_from_one(x) = (x - 1) / unit
stats file using (steps_from_one(column('at')) == -1 ? column('value') : NaN) name 'A' nooutput
stats file using (column('at') == 1 ? column('value') : NaN) name 'B' nooutput
as_sum(x) = x == 1 ? '1' : sprintf('1 + %g·2⁻²⁴', steps_from_one(x))
above = as_sum(A_max); at_one = as_sum(B_max)

where = narrow ? 'left' : 'right'
do for [format in formats] {
	eval begin(format, 'C + four products of 2⁻²⁴ by the model tc:volta, fp16 factors, fp32 result')
	set xrange [-8.6:8.6]; set yrange [-6:13]
	set xtics ('1 − 2^{−21}' -8, '1 − 2^{−22}' -4, '1' 0, '1 + 2^{−22}' 4, '1 + 2^{−21}' 8)
	set ytics ('1 − 2^{−22}' -4, '1' 0, '1 + 2^{−22}' 4, '1 + 2^{−21}' 8, '1 + 3·2^{−22}' 12)
	set lmargin at screen left(0.17)
	set label 1003 'C' at screen 0.565, screen 14. / height center textcolor rgb soft
	set label 1004 'sum' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 'C = 1 − 2⁻²⁴ gives '.above at narrow ? -8.3 : -1.3, narrow ? 9.5 : 4.6 @where noenhanced textcolor rgb wine
	set label 2 'C = 1 gives '.at_one at 0.6, -1.3 left noenhanced textcolor rgb wine
	set arrow 3 from -0.85, 1.85 to -0.15, 0.3 head size screen 0.012, 20 lw 2 lc rgb wine
	plot x + 4 with lines lw 1.2 dt 3 lc rgb soft notitle, \
		file using (steps_from_one(column('at'))):(steps_from_one(column('value'))) with points pt 7 ps 0.8 lc rgb blue notitle
}
unset output

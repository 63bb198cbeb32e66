# SPDX-License-Identifier: Apache-2.0
# title: Rounded twice, through fp32, a sum just above a tie goes the wrong way
# caption: 1 + 2⁻¹¹ + x, summed in fp32 and then rounded to fp16, and rounded to fp16 once. 1 + 2⁻¹¹ is a tie of fp16. For x = 2⁻²⁴ the exact sum lies above it and one rounding gives {once|%.11g};
#   fp32 first drops x, which is half its ulp, and the tie that is left goes to {twice|%g}. {differ} of the {points} sums differs.
# data acc=fp32,fp64: halfulp calc --json --format fp16 --sum fma,acc={acc} --vary x=-0x1p-21..0x1p-21:17 'sum(1, 2^-11, x)'
# take: acc at value exact
load 'gallery-style.gp'

unit = 2.**-24
points = 17
array two[points]; array one[points]
read(a, k, v) = (a eq 'fp32' ? (two[k] = v) : (one[k] = v), 0)
stats file using (read(strcol('acc'), int(floor(column('at') / unit + 0.5)) + 9, column('value'))) nooutput
differ = 0
do for [k = 1:points] { if (two[k] != one[k]) { differ = differ + 1 } }
once = one[10]; twice = two[10]
ulps(v) = (v - 1) * 1024

fit(format) = narrow ? little(format) : ''
where = narrow ? 'right' : 'left'
do for [format in formats] {
	eval begin(format, 'fp16 of 1 + 2⁻¹¹ + x: rounded once (rings), and after a sum in fp32 (dots)')
	set lmargin at screen left(0.15)
	set xrange [-8.6:8.6]; set yrange [-0.4:1.4]
	set xtics ('−2^{−21}' -8, '−2^{−22}' -4, '0' 0, '2^{−22}' 4, '2^{−21}' 8)
	set ytics ('1' 0, 'tie' 0.5, '1 + 2^{−10}' 1)
	set label 1003 'x' at screen 0.555, screen 14. / height center textcolor rgb soft
	set label 1 'x = 2⁻²⁴: up if rounded once,' at narrow ? 0.3 : 1.5, 0.32 @where noenhanced textcolor rgb wine font fit(format)
	set label 2 'down by way of fp32' at narrow ? 0.3 : 1.5, 0.18 @where noenhanced textcolor rgb wine font fit(format)
	set arrow 1 from 1, 0.93 to 1, 0.07 head size screen 0.012, 20 lw 2 lc rgb wine
	plot file using (strcol('acc') eq 'fp64' ? column('at') / unit : NaN):(ulps(column('value'))) with points pt 6 ps 1.3 lw 2 lc rgb blue notitle, \
		'' using (strcol('acc') eq 'fp32' ? column('at') / unit : NaN):(ulps(column('value'))) with points pt 7 ps 0.7 lc rgb wine notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Emulated FP64 needs a slice more for every 2⁸ that exponents span
# caption: The error of an inner product of two terms by slices of eight bits (Ozaki's scheme), where a row's largest element is 2 to the power of the span times the others and meets a zero. Eight slices are within fp64's
#   own bound, {bound|%.1f} ulp, up to a span of {last8|%d} bits, nine to {last9|%d} and seven only to {last7|%d}; then every bit of the span doubles the error. A number of slices that follows the operands is within {dynamic|%.1f} ulp at every span.
# source: Schwarz et al. 2025, Guaranteed DGEMM Accuracy While Using Reduced Precision Tensor Cores, arXiv 2511.13778
# data sum=ozaki:7,ozaki:8,ozaki:9,ozakidynamic: halfulp calc --json --format fp64 --sum {sum} --vary span=0..32:33 -- 'sum((1.3712345678901234*2^span)*0, 1.1234567890123456*1.9876543210987654, 1.7654321098765432*1.3141592653589793)'
# take: sum at value exact error_ulps
load 'gallery-style.gp'

# The exact sum is between 4 and 8, where fp64's ulp is 2^-50; three terms have at most 3 u of the sum of magnitudes
stats file using 'exact' name 'X' nooutput
bound = 3 * X_max / 8
of(s, x) = strcol('sum') eq s ? x : NaN
within(s) = of(s, column('error_ulps') <= bound ? column('at') : NaN)
beyond(s) = of(s, column('error_ulps') > bound ? column('at') : NaN)
stats file using (beyond('ozaki:7')) name 'A' nooutput
stats file using (beyond('ozaki:8')) name 'B' nooutput
stats file using (beyond('ozaki:9')) name 'C' nooutput
last7 = A_min - 1; last8 = B_min - 1; last9 = C_min - 1
stats file using (of('ozakidynamic', column('error_ulps'))) name 'D' nooutput
dynamic = D_max
shown = 0.3
floor_of(x) = x > shown ? x : shown

do for [format in formats] {
	eval begin(format, 'inner products in fp64 emulated by 7, 8 and 9 slices of int8, and by as many as the operands need')
	set logscale y
	set rmargin at screen right(0.80)
	set xrange [0:32]; set yrange [0.2:1e10]
	set xtics 8
	set ytics 100 format '10^{%T}'
	set label 1003 'span of the exponents, bits' at screen 0.46, screen 14. / height center textcolor rgb soft
	set label 1004 'error, ulp' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('7 slices') at 32, 3e8 left offset 0.6, 0 textcolor rgb purple
	set label 2 B('8 slices') at 32, 1e6 left offset 0.6, 0 textcolor rgb wine
	set label 3 B('9 slices') at 32, 4e3 left offset 0.6, 0 textcolor rgb blue
	set label 4 B('as needed') at 32, shown left offset 0.6, 0 textcolor rgb teal_text
	set label 5 'bound of fp64' at 31.5, bound * 2.2 right font little(format) textcolor rgb soft
	plot bound with lines lw 1 dt 3 lc rgb soft notitle, \
		file using 'at':(of('ozaki:7', floor_of(column('error_ulps')))) with linespoints lw 2 pt 7 ps 0.4 lc rgb purple notitle, \
		'' using 'at':(of('ozaki:8', floor_of(column('error_ulps')))) with linespoints lw 2 pt 7 ps 0.4 lc rgb wine notitle, \
		'' using 'at':(of('ozaki:9', floor_of(column('error_ulps')))) with linespoints lw 2 pt 7 ps 0.4 lc rgb blue notitle, \
		'' using 'at':(of('ozakidynamic', floor_of(column('error_ulps')))) with linespoints lw 2 pt 5 ps 0.4 lc rgb teal notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Where a row has its maximum twice, bf16's errors of P·V have a sign
# caption: {rows|%d} rows of flash attention's product P·V: the values 2.296875, one between 2 and 4, and 0.00087, added in fp32 and stored in bf16.
#   Where the first two probabilities are 1, {ties|%d} of the sums would be ties, which the third value breaks upward: the mean error is {mean|%.3f} ulp.
#   Without the third value ties go to either side and errors add up to {plain|%.1f} ulp; with probabilities of 77/256, as a larger maximum gives them, they stay within {most|%.1f} ulp.
# source: Qiu, Yao 2025, Why Low-Precision Transformer Training Fails: An Analysis on Flash Attention, arXiv 2510.04212
# data: halfulp calc --json --format bf16 --sum fma,acc=fp32 --vary v=2..3.984375:128 -- 'sum(2.296875, v, 0.00087)'
# take: at value exact
# data plain: halfulp calc --json --format bf16 --sum fma,acc=fp32 --vary v=2..3.984375:128 -- 'sum(2.296875, v)'
# take plain: at value exact
# data shifted: halfulp calc --json --format bf16 --sum fma,acc=fp32 --vary v=2..3.984375:128 -- 'sum(0.30078125*2.296875, 0.30078125*v, 0.00087)'
# take shifted: at value exact
load 'gallery-style.gp'

rows = 128
array twice[rows]; array pair[rows]; array below[rows]
# Errors in ulps of bf16, which has eight significant bits
ulps(value, exact) = (value - exact) / 2.**(floor(log2(exact)) - 7)
running = 0.; ties = 0
sum_to(r, e) = (running = running + e, running)
stats file using (r = int(column(0)) + 1, e = ulps(column('value'), column('exact')), ties = ties + (e > 0.4), twice[r] = sum_to(r, e)) nooutput
running = 0.
stats file_plain using (r = int(column(0)) + 1, pair[r] = sum_to(r, ulps(column('value'), column('exact')))) nooutput
running = 0.; most = 0.
stats file_shifted using (r = int(column(0)) + 1, below[r] = sum_to(r, ulps(column('value'), column('exact'))), most = abs(running) > most ? abs(running) : most) nooutput
total = twice[rows]; mean = total / rows; plain = pair[rows]

do for [format in formats] {
	eval begin(format, 'sums of two values and a small third, added in fp32 and stored in bf16: the errors so far, in ulps')
	set rmargin at screen right(0.76)
	set xrange [0:rows]; set yrange [-6:32]
	set xtics 32
	set ytics 10
	set label 1003 'rows' at screen 0.43, screen 14. / height center textcolor rgb soft
	set label 1004 'sum of errors, ulp' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('two maxima') at rows, total left offset 0.6, 0 textcolor rgb wine
	set label 2 B('no third value') at rows, plain left offset 0.6, -0.55 textcolor rgb ink
	set label 3 B('larger maximum') at rows, below[rows] left offset 0.6, 0.6 textcolor rgb blue
	plot pair using 1:(pair[$1]) with lines lw 1.4 lc rgb ink notitle, \
		below using 1:(below[$1]) with lines lw 2.4 lc rgb blue notitle, \
		twice using 1:(twice[$1]) with lines lw 2.8 lc rgb wine notitle
}
unset output

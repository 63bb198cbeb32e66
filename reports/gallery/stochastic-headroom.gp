# SPDX-License-Identifier: Apache-2.0
# title: Stochastic casts to four bits average out only where the scale leaves headroom
# caption: The mean of n stochastic casts of 64 values to MXFP4, whose scales are the floor's: its squared error, relative to the values' squares. The {cut} values above 6 times
#   their scale are cut off in every cast, and the mean stays {ends_1|%.2g} off. Of 3/4 of the values, times 4/3, none is, and the error falls as 1/n, to {ends_2|%.2g} at n = 64. Casts to nearest are
#   the same each time: {nearest|%.2g}.
# source: Tseng, Yu, Park 2025, Training LLMs with MXFP4, arXiv 2502.20586; Panferov et al. 2026, Quartet II, arXiv 2601.22813
# data seed=1..64: halfulp round --json --mode SR --seed {seed} --format mxfp4:floor,mxfp4:floor:times=3/4 -- -1.77 -1.72 1 -3.44 -0.22 -3.38 1.65 0.3 2.03 -0.76 0.6 -0.43 -1.11 0.22 -1.89 -0.53 1.04 0.09 -0.62 3.28 0.09 -0.88 0.24 -0.78 -0.58 -0.53 3.04 0.03 0.26 1.01 3.03 -0.34 -0.94 3.71 -2.19 -0.55 1 3.43 -1.42 -3.64 0.99 -0.78 -0.58 0.69 0.34 0.44 -0.65 1.93 2.26 0.05 -0.68 1.1 0.72 -1.56 -0.69 1.57 -0.14 -0.49 0.32 -0.05 0.11 -2.9 2.62 0.3
# take: seed format exact value scale
# data nearest: halfulp round --json --format mxfp4:floor -- -1.77 -1.72 1 -3.44 -0.22 -3.38 1.65 0.3 2.03 -0.76 0.6 -0.43 -1.11 0.22 -1.89 -0.53 1.04 0.09 -0.62 3.28 0.09 -0.88 0.24 -0.78 -0.58 -0.53 3.04 0.03 0.26 1.01 3.03 -0.34 -0.94 3.71 -2.19 -0.55 1 3.43 -1.42 -3.64 0.99 -0.78 -0.58 0.69 0.34 0.44 -0.65 1.93 2.26 0.05 -0.68 1.1 0.72 -1.56 -0.69 1.57 -0.14 -0.49 0.32 -0.05 0.11 -2.9 2.62 0.3
# take nearest: exact value scale
load 'gallery-style.gp'

values = 64
seeds = 64
array total[2 * values]; array error[2 * seeds]
do for [i = 1:2 * values] { total[i] = 0. }
do for [i = 1:2 * seeds] { error[i] = 0. }
# Rows come seed by seed, in each the values in the first format and then those in the second.
format_of(r) = int(r) / values % 2
place(r) = format_of(r) * values + int(r) % values + 1
turn(r) = format_of(r) * seeds + int(r) / (2 * values) + 1
add(r, exact, value) = (total[place(r)] = total[place(r)] + value, \
	error[turn(r)] = error[turn(r)] + (total[place(r)] / (int(r) / (2 * values) + 1) - exact) ** 2)
stats file using (add(column(0), column('exact'), column('value'))) nooutput
stats file_nearest using (column('exact') ** 2) name 'X' nooutput
stats file_nearest using ((column('value') - column('exact')) ** 2) name 'N' nooutput
stats file_nearest using (abs(column('exact')) > 6 * column('scale') ? 1 : NaN) name 'C' nooutput
do for [i = 1:2 * seeds] { error[i] = error[i] / X_sum }
nearest = N_sum / X_sum; cut = C_records
ends_1 = error[seeds]; ends_2 = error[2 * seeds]

do for [format in formats] {
	eval begin(format, 'squared error of the mean of 1 to 64 casts to mxfp4: to nearest, stochastic, and stochastic with headroom')
	set lmargin at screen left(0.13); set rmargin at screen right(0.80)
	set logscale xy 2
	set xrange [1:64]; set yrange [2**-13:2**-4]
	set xtics 1, 2, 64 format '%g'
	set ytics 4 format '2^{%L}'
	set label 1003 'casts n that are averaged' at screen 0.465, screen 14. / height center textcolor rgb soft
	set label 1004 'squared error, relative' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('to nearest') at 68, nearest * 1.25 left textcolor rgb ink
	set label 2 B('stochastic') at 68, ends_1 / 1.25 left textcolor rgb wine
	set label 3 B('with headroom') at 68, ends_2 left textcolor rgb teal_text
	plot nearest with lines lw 2 lc rgb ink notitle, \
		error using ($1 <= seeds ? $1 : NaN):(error[$1]) with linespoints lw 2 pt 7 ps 0.5 lc rgb wine notitle, \
		error using ($1 > seeds ? $1 - seeds : NaN):(error[$1]) with linespoints lw 2 pt 7 ps 0.5 lc rgb teal notitle, \
		error[seeds + 1] / x with lines lw 1 dt 3 lc rgb soft notitle
}
unset output

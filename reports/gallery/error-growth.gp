# SPDX-License-Identifier: Apache-2.0
# title: The error grows as √n only while the sum does not stagnate
# caption: The backward error of sums of n terms in fp16, rounded to nearest. Terms of both signs (normal, {seeds} seeds) stay below √n·u and far below the
#   proven bound, which at n = {grouped(sprintf('%d', n_end))|%s} is {grouped(sprintf('%d', over))|%s} times the largest error. Terms of one sign (uniform) leave √n·u behind: their sum stagnates at {stuck}
#   and the error at the end is {share|%.0f} %, {times|%.1f} times √n·u.
# source: Higham & Mary 2019, A New Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41
# data seed=1..5: halfulp accumulate --terms normal:0,1 --n 65536 --format fp16 --seed {seed} --table
# take: seed n value backward bound sqrt_n_u
# data uniform: halfulp accumulate --terms uniform:0,1 --n 65536 --format fp16 --seed 1 --table
# take uniform: n value backward bound sqrt_n_u
load 'gallery-style.gp'

seeds = 5; n_end = 65536
stats file using (column('n') == n_end ? column('backward') : NaN) name 'A' nooutput
u8 = 2.**-11
proven(n) = n * u8
over = proven(n_end) / A_max
stats file_uniform using (column('n') == n_end ? column('backward') : NaN) name 'B' nooutput
stats file_uniform using (column('n') == n_end ? column('value') : NaN) name 'V' nooutput
stats file_uniform using (column('n') == n_end ? column('sqrt_n_u') : NaN) name 'S' nooutput
stuck = V_max; share = 100 * B_max; times = B_max / S_max

do for [format in formats] {
	eval begin(format, 'backward error of sums in fp16: |computed − exact| over the sum of the magnitudes')
	set logscale x 2; set logscale y
	set xrange [1:n_end]; set yrange [1e-5:100]
	set xtics 16 format '2^{%L}'
	set ytics 10 format '10^{%T}'
	set label 1003 'terms n' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'backward error' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 'bound n·u' at 2**9, proven(2**9) right offset -1, 0.4 textcolor rgb soft
	set label 2 '√n·u' at 2**15.6, 0.045 right textcolor rgb soft
	set label 3 B('one sign') at 2**12.6, 0.22 right textcolor rgb wine
	set label 4 B('both signs') at 2**13.2, 1e-3 left textcolor rgb purple
	plot proven(x) with lines lw 1.2 dt 3 lc rgb soft notitle, sqrt(x) * u8 with lines lw 1.2 dt 2 lc rgb soft notitle, \
		for [s = 1:seeds] file using (column('seed') == s ? column('n') : NaN):(positive(column('backward'))) with lines lw 1.1 lc rgb purple notitle, \
		file_uniform using 'n':(positive(column('backward'))) with lines lw 2.4 lc rgb wine notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: 20 000 updates leave a bf16 weight at {nearest}; stochastic rounding moves it
# caption: A weight of 1 receives 0.0001 again and again. Rounded to nearest, bf16 and fp16 keep {nearest} for ever, since half an ulp
#   of 1 is more than the update; fp32 arrives at {single|%.4f}. Stochastic rounding in bf16 moves by a whole ulp now and then: its
#   {walks} walks, one a seed, end between {low|%.3g} and {high|%.3g}, {mean|%.3f} on average, where the exact sum is {exact|%.4f}.
# source: Gupta et al. 2015, Deep Learning with Limited Numerical Precision, arXiv 1502.02551
# data: halfulp accumulate --terms start=1 --terms constant:0.0001 --n 20000 --every 250 --format fp32,bf16,fp16 --table
# take: format n value exact
# data walks seed=1..8: halfulp accumulate --terms start=1 --terms constant:0.0001 --n 20000 --every 250 --format bf16 --sum fma,mode=SR --seed {seed} --table
# take walks: seed n value exact
load 'gallery-style.gp'

at_end(f) = strcol('format') eq f && column('n') == 20000
total = 0; walks = 0
stats file using (at_end('bf16') ? column('value') : NaN) name 'B' nooutput
stats file using (at_end('fp32') ? column('value') : NaN) name 'S' nooutput
stats file_walks using (column('n') == 20000 ? column('value') : NaN) name 'W' nooutput
stats file_walks using (column('n') == 20000 ? column('exact') : NaN) name 'E' nooutput
nearest = B_max; single = S_max; walks = W_records; mean = W_mean; low = W_min; high = W_max; exact = E_max
of(f) = strcol('format') eq f ? column('value') : NaN

do for [format in formats] {
	eval begin(format, 'a weight of 1 to which 0.0001 is added, in bf16, fp16 and fp32')
	set rmargin at screen right(0.8)
	set xrange [0:20000]; set yrange [0.9:3.3]
	set xtics 5000 format '%.0f'
	set ytics 0.5
	set label 1003 'updates' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'weight' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 'exact and fp32' at 20000, single + 0.17 left offset 0.5, 0 textcolor rgb ink
	set label 2 'bf16, stochastic' at 20000, 2.72 left offset 0.5, 0 textcolor rgb purple
	set label 3 'bf16, nearest' at 20000, 1.1 left offset 0.5, 0 textcolor rgb purple
	set label 4 'fp16, nearest' at 20000, 0.96 left offset 0.5, 0 textcolor rgb blue
	plot for [s = 1:walks] file_walks using (column('seed') == s ? column('n') : NaN):'value' with steps lw 0.8 lc rgb purple notitle, \
		file using 'n':(of('fp32')) with lines lw 2.2 lc rgb ink notitle, \
		'' using 'n':(of('bf16')) with lines lw 3.5 lc rgb purple notitle, \
		'' using 'n':(of('fp16')) with lines lw 1.8 dt 2 lc rgb blue notitle
}
unset output

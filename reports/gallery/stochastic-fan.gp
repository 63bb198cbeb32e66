# SPDX-License-Identifier: Apache-2.0
# title: Stochastic rounding errs about zero; to nearest, the sum ends {nearest|%.0f} % low
# caption: The relative error of a bf16 sum of 10 000 times 0.01, rounded to nearest and stochastically ({walks} seeds). Nearest stagnates at {stuck} and ends {nearest|%.0f} % low.
#   The stochastic sums spread by {spread|%.1f} % (standard deviation) about a mean that is off by {mean|%.2g} %.
# source: Croci et al. 2022, Stochastic rounding: implementation, error analysis and applications, R. Soc. Open Sci. 9
# data seed=1..16: halfulp accumulate --terms constant:0.01 --n 10000 --every 100 --format bf16 --sum fma,mode=SR --seed {seed} --table
# take: seed n value exact
# data nearest: halfulp accumulate --terms constant:0.01 --n 10000 --every 100 --format bf16 --table
# take nearest: n value exact
load 'gallery-style.gp'

off(v, x) = 100 * (v - x) / x
walks = 16
stats file using (column('n') == 10000 ? off(column('value'), column('exact')) : NaN) name 'W' nooutput
stats file_nearest using (column('n') == 10000 ? off(column('value'), column('exact')) : NaN) name 'N' nooutput
stats file_nearest using (column('n') == 10000 ? column('value') : NaN) name 'V' nooutput
mean = W_mean; spread = W_ssd; nearest = -N_max; stuck = V_max

do for [format in formats] {
	eval begin(format, 'a sum of n times 0.01 in bf16, 16 seeds of stochastic rounding against rounding to nearest')
	set lmargin at screen left(0.13); set rmargin at screen right(0.94)
	set xrange [0:10000]; set yrange [-105:35]
	set xtics 2000
	set ytics 25 format '%g %%'
	set label 1003 'terms n' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'relative error' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('stochastic') at 9800, 20 right textcolor rgb purple
	set label 2 B('nearest') at 5200, -74 left textcolor rgb ink
	plot 0 with lines lw 1 dt 3 lc rgb soft notitle, \
		for [s = 1:walks] file using (column('seed') == s ? column('n') : NaN):(off(column('value'), column('exact'))) with lines lw 0.9 lc rgb purple notitle, \
		file_nearest using 'n':(off(column('value'), column('exact'))) with lines lw 2.6 lc rgb ink notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Chunks of {least} to {most} terms lose least, by seed; one term or all lose most
# caption: The relative error of 65 536 uniform terms summed in fp16, in chunks of 1 to 65 536 terms whose sums are then added ({seeds} seeds, and their mean).
#   Which size leaves least depends on the seed: {least} terms to {most}; on average it is {best}, which leaves {low}. With chunks of 1 the outer sum swamps the terms ({left}), with one
#   chunk of all the inner one does ({right}).
# source: Wang et al. 2018, Training Deep Neural Networks with 8-bit Floating Point Numbers, arXiv 1812.08011
# data seed=1..5: halfulp accumulate --terms uniform:0,1 --n 65536 --format fp16 --sum chunk:1..65536 --seed {seed} --table
# take: seed length relative
load 'gallery-style.gp'

seeds = 5; sizes = 17
array err[sizes]
do for [k = 1:sizes] { err[k] = 0 }
array of_seed[seeds]; array at_seed[seeds] # the least error of each seed, and the size that has it
do for [s = 1:seeds] { of_seed[s] = 1e9; at_seed[s] = 0 }
add(k, e) = (err[k] = err[k] + e / seeds, 0)
pick(s, n, e) = e < of_seed[s] ? (of_seed[s] = e, at_seed[s] = n) : 0
stats file using (add(int(floor(log2(column('length')) + 1.5)), column('relative'))) nooutput
stats file using (pick(int(column('seed')), int(column('length')), column('relative'))) nooutput
least = at_seed[1]; most = at_seed[1]
do for [s = 2:seeds] {
	if (at_seed[s] < least) { least = at_seed[s] }
	if (at_seed[s] > most) { most = at_seed[s] }
}
low = 1e9; best = 0
do for [k = 1:sizes] { if (err[k] < low) { low = err[k]; best = 2**(k - 1) } }
left = err[1]; right = err[sizes]

do for [format in formats] {
	eval begin(format, '65 536 uniform terms in fp16, accumulator fp16, chunks added one after another')
	set logscale x 2; set logscale y
	set xrange [0.8:81920]; set yrange [1e-6:4]
	set xtics 4 format '2^{%L}'
	set ytics 10 format '10^{%T}'
	set label 1003 'terms in a chunk' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'relative error' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 'the outer sum swamps' at 1.2, 1.8 left textcolor rgb wine
	set label 2 'the inner sum swamps' at 55000, 1.8 right textcolor rgb wine
	set label 3 B(sprintf('%d', best)) at best, low * 0.09 center textcolor rgb blue
	plot file using 'length':(positive(column('relative'))) with points pt 7 ps 0.35 lc rgb cyan notitle, \
		err using (2.**($1 - 1)):(err[$1]) with lines lw 2.4 lc rgb blue notitle
}
unset output

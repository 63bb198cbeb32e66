# SPDX-License-Identifier: Apache-2.0
# title: An all-reduce by a bf16 ring stops at {stops|%d} ranks; a tree holds
# caption: The relative error of the sum of one gradient over N ranks that each hold a uniform number, added hop by hop in bf16 and in fp32. A ring rounds N − 1
#   times and its bound grows like N·u, a tree (recursive doubling) log₂N times: at N = 16 384 the bf16 ring has stagnated at {stuck|%d} since rank {stops|%d} and is off by {ring|%.1f} %,
#   the bf16 tree by {tree|%.2g} %; in fp32 the ring's error is {times|%.0f} times the tree's.
# source: Thakur, Rabenseifner & Gropp 2005, Optimization of Collective Communication Operations in MPICH, Int. J. High Perform. Comput. Appl. 19; Higham 2002, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.2
# data: halfulp accumulate --terms uniform:0,1 --n 16384 --format bf16,fp32 --sum ring:16384 --sum tree:16384 --table
# take: format sum n value relative stagnation_term
load 'gallery-style.gp'

n_end = 16384
of(f, s, x) = strcol('format') eq f && strstrt(strcol('sum'), s) == 1 ? x : NaN
ends(f, s, c) = of(f, s, column('n') == n_end ? column(c) : NaN)
stats file using (ends('bf16', 'ring', 'relative')) name 'A' nooutput
stats file using (ends('bf16', 'tree', 'relative')) name 'B' nooutput
stats file using (ends('fp32', 'ring', 'relative')) name 'C' nooutput
stats file using (ends('fp32', 'tree', 'relative')) name 'D' nooutput
stats file using (ends('bf16', 'ring', 'value')) name 'V' nooutput
stats file using (ends('bf16', 'ring', 'stagnation_term')) name 'S' nooutput
ring = 100 * A_max; tree = 100 * B_max; times = C_max / D_max; stuck = V_max; stops = S_max

do for [format in formats] {
	eval begin(format, 'dotted: the first-order bounds (N − 1)·u and log₂N·u of each format')
	set logscale x 2; set logscale y
	set rmargin at screen right(0.84)
	set xrange [2:n_end]; set yrange [1e-9:10]
	set xtics 4, 16 format '2^{%L}'
	set ytics 100 format '10^{%T}'
	set label 1003 'ranks N' at screen 0.475, screen 14. / height center textcolor rgb soft
	set label 1004 'relative error of the sum' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('bf16 ring') at n_end, ring / 100 left offset 0.6, 0.2 textcolor rgb wine
	set label 2 B('bf16 tree') at n_end, tree / 100 left offset 0.6, 0 textcolor rgb blue
	set label 3 'fp32 ring' at n_end, C_max left offset 0.6, 0 textcolor rgb wine
	set label 4 'fp32 tree' at n_end, D_max left offset 0.6, 0 textcolor rgb blue
	plot for [u in '-8 -24'] (x - 1) * 2.**u with lines lw 1.2 dt 3 lc rgb wine notitle, \
		for [u in '-8 -24'] log(x) / log(2) * 2.**u with lines lw 1.2 dt 3 lc rgb blue notitle, \
		file using 'n':(of('bf16', 'ring', positive(column('relative')))) with lines lw 2.6 lc rgb wine notitle, \
		'' using 'n':(of('bf16', 'tree', positive(column('relative')))) with lines lw 2.6 lc rgb blue notitle, \
		'' using 'n':(of('fp32', 'ring', positive(column('relative')))) with lines lw 1.4 lc rgb wine notitle, \
		'' using 'n':(of('fp32', 'tree', positive(column('relative')))) with lines lw 1.4 lc rgb blue notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: A batch in which a kernel adds in another order changes the bits of a row
# caption: Inner products of K bf16 numbers from 0 to 1, added in fp32 in one chain, as a kernel may do for one row, and in orders that kernels choose for batches.
#   Of {seeds|%d} products chunks of 192 change none up to K = {none|%d} and {half|%.0f} % at K = {first|%d}; at K = {end|%d} chunks change {chunk|%.0f} %, four parts of K {split|%.0f} % and pairs {pairs|%.0f} %.
# source: He and Thinking Machines Lab 2025, Defeating Nondeterminism in LLM Inference; batch_invariant_ops as released in 2025
# data seed=1..48: halfulp accumulate --terms uniform:0,1 --terms times=uniform:0,1 --n 4096 --format bf16 --sum fma,acc=fp32 --sum chunk:192,acc=fp32 --sum splitk:4,acc=fp32 --sum pairwise,acc=fp32 --seed {seed} --table
# take: seed sum n value
load 'gallery-style.gp'

seeds = 48; lengths = 12; end = 4096
# Lengths 2 to 4096; the chain's values of one seed, with which those of the other orders are compared
array chain[lengths]; array m1[lengths]; array m2[lengths]; array m3[lengths]
do for [i = 1:lengths] { m1[i] = 0.; m2[i] = 0.; m3[i] = 0. }
step(n) = int(floor(log2(n) + 0.5))
differs(i, v) = chain[i] != v ? 100. / seeds : 0.
take(s, i, v) = i < 1 || i > lengths ? 0 : s[1:3] eq 'fma' ? (chain[i] = v) : s[1:5] eq 'chunk' ? (m1[i] = m1[i] + differs(i, v)) \
	: s[1:5] eq 'split' ? (m2[i] = m2[i] + differs(i, v)) : (m3[i] = m3[i] + differs(i, v))
stats file using (take(strcol('sum'), step(column('n')), column('value'))) nooutput
none = 0
do for [i = 1:lengths] { if (m1[i] == 0) { none = 2**i } }
first = 2 * none; half = m1[step(first)]
chunk = m1[lengths]; split = m2[lengths]; pairs = m3[lengths]

do for [format in formats] {
	eval begin(format, 'inner products of bf16 numbers in fp32: outputs whose bits are not those of one chain')
	set logscale x 2
	set rmargin at screen right(0.95)
	set xrange [2:end]; set yrange [-4:108]
	set xtics 2, 4 format '2^{%L}'
	set ytics 25 format '%g %%'
	set lmargin at screen left(0.14)
	set label 1003 'length K' at screen 0.53, screen 14. / height center textcolor rgb soft
	set label 1004 'outputs that differ' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('pairs') at end * 0.9, 44 right textcolor rgb ink
	set label 2 B('four parts') at end * 0.9, 33 right textcolor rgb blue
	set label 3 B('chunks of 192') at end * 0.9, 22 right textcolor rgb wine
	plot m2 using (2.**$1):(m2[$1]) with linespoints lw 2 pt 7 ps 0.5 lc rgb blue notitle, \
		m3 using (2.**$1):(m3[$1]) with linespoints lw 2 pt 5 ps 0.5 lc rgb ink notitle, \
		m1 using (2.**$1):(m1[$1]) with linespoints lw 2.4 pt 7 ps 0.5 lc rgb wine notitle
}
unset output

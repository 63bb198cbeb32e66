# SPDX-License-Identifier: Apache-2.0
# title: What a product loses is decided by its accumulator, not by its factors
# caption: The backward error of inner products of length K with factors in e4m3, median of {seeds} seeds, by what adds them up. At K = {k_end} an fp32 accumulator leaves
#   {fp32} (and nothing at all up to K = {none}), chunks of 64 in fp16 {chunk}, plain fp16 {fp16}, and Hopper's fp8 instruction, which keeps 13 bits behind the largest term of a block, {tc}: {times|%.0f} times fp32's.
# source: Wang et al. 2018, Training Deep Neural Networks with 8-bit Floating Point Numbers, arXiv 1812.08011
# data seed=1..7: halfulp accumulate --terms normal:0,1 --terms times=normal:0,1 --n 16384 --format e4m3 --sum fma,acc=fp32 --sum fma,acc=fp16 --sum chunk:64,acc=fp16 --sum tc:hopper,in=e4m3,path=wgmma --seed {seed} --table
# take: seed sum n backward
load 'gallery-style.gp'

seeds = 7; lengths = 13; k_end = 16384
# The median of the seeds for each length, 2^2 to 2^14
models = 'fma,acc=fp32 fma,acc=fp16 chunk:64 tc:hopper'
inks = ink.' '.blue.' '.cyan.' '.teal
texts = ink.' '.blue.' '.cyan_text.' '.teal_text
shown(k) = word('fp32 fp16 chunked_fp16 Hopper_fp8', k)
array m1[lengths]; array m2[lengths]; array m3[lengths]; array m4[lengths]
do for [k = 1:4] { do for [i = 1:lengths] {
	stats file using (strstrt(strcol('sum'), word(models, k)) == 1 && column('n') == 2**(i + 1) ? column('backward') : NaN) name 'M' nooutput
	eval sprintf('m%d[%d] = %.17g', k, i, M_median)
} }
fp32 = m1[lengths]; fp16 = m2[lengths]; chunk = m3[lengths]; tc = m4[lengths]; times = tc / fp32; none = 0
do for [i = 1:lengths] { if (m1[i] == 0) { none = 2**(i + 1) } }

do for [format in formats] {
	eval begin(format, 'inner products of length K, factors in e4m3, error over the sum of the magnitudes')
	set logscale x 2; set logscale y
	set rmargin at screen right(0.79)
	# An error of zero has no place on this axis: it stands below a break
	zero = 1e-11
	set xrange [4:16384]; set yrange [zero / 3:1e-2]
	set xtics 4, 16 format '2^{%L}'
	set ytics 1e-10, 100 format '10^{%T}'
	set ytics add ('0' zero)
	set arrow 1 from 4, 4 * zero to 16384, 4 * zero nohead lw 1 dt 2 lc rgb soft
	set label 5 'no error at all' at 6, 2.2 * zero left font little(format) textcolor rgb soft
	set label 1003 'length K' at screen 0.45, screen 14. / height center textcolor rgb soft
	set label 1004 'backward error' at screen 13. / width, screen (narrow ? 0.66 : 0.47) center rotate by 90 textcolor rgb soft
	set label 1 B('fp32') at 16384, fp32 left offset 0.6, 0 textcolor rgb ink
	set label 2 B('fp16') at 16384, fp16 left offset 0.6, 0.55 textcolor rgb blue
	set label 3 B('fp16, chunks') at 16384, chunk left offset 0.6, -0.55 textcolor rgb cyan_text
	set label 4 B('Hopper, fp8') at 16384, tc left offset 0.6, 0.35 textcolor rgb teal_text
	plot m1 using (2.**($1 + 1)):(m1[$1] == 0 ? zero : NaN) with points pt 7 ps 0.5 lc rgb ink notitle, \
		m1 using (2.**($1 + 1)):(positive(m1[$1])) with linespoints pt 7 ps 0.4 lw 2 lc rgb ink notitle, \
		m2 using (2.**($1 + 1)):(positive(m2[$1])) with linespoints pt 7 ps 0.4 lw 2 lc rgb blue notitle, \
		m3 using (2.**($1 + 1)):(positive(m3[$1])) with linespoints pt 7 ps 0.4 lw 2 lc rgb cyan notitle, \
		m4 using (2.**($1 + 1)):(positive(m4[$1])) with linespoints pt 7 ps 0.4 lw 2 lc rgb teal notitle
}
unset output

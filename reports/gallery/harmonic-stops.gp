# SPDX-License-Identifier: Apache-2.0
# title: 1 + 1/2 + 1/3 + … ends at {v_bf16|%.4g} in bf16, {v_fp16|%.4g} in fp16, {v_fp32|%.4g} in fp32
# caption: The harmonic series has no limit, but its sum in a format has: each sum stops at the last term that still moves it, term {grouped(sprintf('%d', t_e4m3))|%s} in
#   e4m3, {grouped(sprintf('%d', t_bf16))|%s} in bf16, {grouped(sprintf('%d', t_fp16))|%s} in fp16 and {grouped(sprintf('%d', t_fp32))|%s} in fp32. From then on every term is less than half an ulp of the sum.
# source: Higham 1993, The Accuracy of Floating Point Summation, SIAM J. Sci. Comput. 14
# data: halfulp accumulate --terms harmonic --n 4194304 --format fp64,fp32,fp16,bf16,e4m3 --table
# take: format n value exact stagnation_term
load 'gallery-style.gp'

of(f) = strcol('format') eq f ? column('value') : NaN
do for [f in 'e4m3 bf16 fp16 fp32'] {
	stats file using (strcol('format') eq f && column('n') == 4194304 ? column('value') : NaN) name 'V' nooutput
	stats file using (strcol('format') eq f && column('n') == 4194304 ? column('stagnation_term') : NaN) name 'T' nooutput
	eval sprintf('v_%s = %.17g; t_%s = %.17g', f, V_max, f, T_max)
}

do for [format in formats] {
	eval begin(format, 'the sum of 1/k over its first n terms, each term rounded to the format and added to nearest')
	set rmargin at screen right(0.88)
	set logscale x 2
	set xrange [1:4194304]; set yrange [0:17]
	set xtics 16 format '2^{%L}'
	set label 1003 'terms n' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'sum' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	do for [k = 1:4] {
		f = word('e4m3 bf16 fp16 fp32', k)
		eval sprintf('v = v_%s; t = t_%s', f, f)
		set label k B(f) at 4194304, v + (f eq 'fp32' ? -0.35 : 0) left offset 0.6, 0 textcolor rgb tone(f)
		set label 50 + k sprintf('stops at term %s', grouped(sprintf('%d', t))) at t, v left offset 0.8, -0.7 textcolor rgb tone(f) font little(format)
		if (f eq 'fp32') { set label 50 + k right offset -0.8, 0.55 }
		set label 60 + k '' at t, v point pt 7 ps 0.9 lc rgb hue(f)
	}
	set label 40 'exact' at 4194304, 16.3 left offset 0.6, 0 textcolor rgb soft
	plot file using 'n':(strcol('format') eq 'fp64' ? column('exact') : NaN) with lines lw 1.4 dt 3 lc rgb soft notitle, \
		for [f in 'fp32 fp16 bf16 e4m3'] '' using 'n':(of(f)) with lines lw 2.2 lc rgb hue(f) notitle
}
unset output

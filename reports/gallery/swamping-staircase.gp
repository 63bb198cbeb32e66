# SPDX-License-Identifier: Apache-2.0
# title: What 1 + d keeps of d: nothing at first, then whole steps of an ulp
# caption: (1 + d) − 1 against d, computed in four formats. Below half an ulp of 1 nothing is left of d: that is d ≤ {power(z_bf16)|%s} in
#   bf16, {power(z_fp16)|%s} in fp16 and {power(z_fp32)|%s} in fp32. Above it the sum moves in steps of one ulp, up to twice as far as d asks.
#   0.0001, a usual step of a weight, is lost in e4m3, bf16 and fp16.
# data format=fp32,fp16,bf16,e4m3: halfulp calc --json --format {format} --vary d=2^-26..1:417,log '(1 + d) - 1'
# take: format at value
load 'gallery-style.gp'

gone(f) = strcol('format') eq f && column('value') == 0 ? column('at') : NaN
do for [f in 'fp32 fp16 bf16 e4m3'] {
	stats file using (gone(f)) name 'Z' nooutput
	eval 'z_'.f.' = Z_max'
}
kept(f) = strcol('format') eq f ? positive(column('value')) : NaN

do for [format in formats] {
	eval begin(format, '(1 + d) − 1 in e4m3, bf16, fp16 and fp32; left of its upright line a format keeps nothing of d')
	set logscale xy 2
	set xrange [2**-26:1]; set yrange [2**-26:2]
	set format x '2^{%L}'; set format y '2^{%L}'
	set xtics 2**-24, 16, 1; set ytics 2**-24, 16, 1
	set label 1003 'd' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'what is left of d' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	do for [f in 'fp32 fp16 bf16 e4m3'] {
		eval 'z = z_'.f
		k = (f eq 'fp32' ? 1 : f eq 'fp16' ? 2 : f eq 'bf16' ? 3 : 4)
		set arrow k from z, 2**-26 to z, 2. * z nohead lw 1.6 lc rgb hue(f)
		if (narrow && k < 3) { set label k B(f) at (k == 1 ? 2**-25.7 : z), (k == 1 ? 8 : 0.1) * z left offset 0.4, 0 textcolor rgb tone(f) } else {
			set label k B(f) at z, 3. * z right offset -0.5, 0.2 textcolor rgb tone(f)
		}
	}
	set arrow 50 from 0.0001, 2**-26 to 0.0001, 2 nohead lw 1.2 dt 2 lc rgb wine
	set label 50 'd = 0.0001' at 0.0001, 0.9 right offset -0.6, 0 textcolor rgb wine
	plot x with lines dt 3 lw 1.2 lc rgb soft notitle, \
		for [f in 'fp32 fp16 bf16 e4m3'] file using 'at':(kept(f)) with steps lw 1.8 lc rgb hue(f) notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Flushed subnormals take {octaves|%.0f} powers of two off the lower end of fp16
# caption: What fp16 makes of x, with subnormal numbers and with hardware that flushes them to zero. Subnormals lose bits gradually and reach down to {deepest|%s};
#   flushed, everything below the smallest normal number {smallest|%s} is zero.
# data: halfulp calc --json --format fp16 --vary x=2^-27..2^-11:257,log 'x'
# take: at value flags
# data ftz: halfulp calc --json --format fp16 --mode ftz --vary x=2^-27..2^-11:257,log 'x'
# take ftz: at value flags
load 'gallery-style.gp'

stats file using (positive(column('value'))) name 'A' nooutput
stats file_ftz using (positive(column('value'))) name 'B' nooutput
deepest = power(A_min); smallest = power(B_min); octaves = log2(B_min / A_min)

do for [format in formats] {
	eval begin(format, 'fp16(x) against x, with gradual underflow and with flush to zero')
	set logscale xy 2
	set xrange [2**-27:2**-11]; set yrange [2**-27:2**-11]
	set xtics 2**-26, 4, 1 format '2^{%L}'
	set ytics ('0' 2**-26.5, '2^{−24}' 2**-24, '2^{−22}' 2**-22, '2^{−20}' 2**-20, '2^{−18}' 2**-18, '2^{−16}' 2**-16, '2^{−14}' 2**-14, '2^{−12}' 2**-12)
	set label 1003 'x' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'fp16(x)' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set object 1 rectangle from A_min, graph 0 to B_min, graph 1 fc rgb blue fs transparent solid 0.09 noborder behind
	set label 1 'subnormal' at 2**-19, 2**-11.7 center textcolor rgb blue font little(format)
	set label 2 B('gradual underflow') at 2**-20.2, 2**-18 right textcolor rgb blue
	set label 3 B('flushed to zero') at 2**-19, 2**-25.6 center textcolor rgb wine
	# The axis is broken between zero and the powers of two
	do for [k = 0:1] { set arrow 50 + k from graph -0.012, first 2.**(-25.7 + 0.5 * k) to graph 0.012, first 2.**(-25.3 + 0.5 * k) nohead lw 1.2 lc rgb ink front }
	plot x with lines lw 1.2 dt 3 lc rgb soft notitle, \
		file using 'at':(column('value') > 0 ? column('value') : NaN) with steps lw 2.2 lc rgb blue notitle, \
		file_ftz using 'at':(column('value') > 0 ? NaN : 2**-26.5) with lines lw 2.6 lc rgb wine notitle, \
		file_ftz using 'at':(column('value') > 0 ? column('value') : NaN) with lines lw 1.4 dt 2 lc rgb wine notitle
}
unset output

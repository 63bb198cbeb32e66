# SPDX-License-Identifier: Apache-2.0
# title: Softmax is NaN in fp16 from x = {x_nan|%.4g} on unless the largest is subtracted
# caption: The softmax of (x, 0), every operation in the format. exp(x) overflows fp16 from x = {x_nan|%.4g} on (in steps of 1/16), and ∞/∞ is NaN; from there the plain formula has no value, while
#   the shifted one, whose largest exponential is exp(0) = 1, is within {worst|%.2g} of the exact value everywhere. bf16, with the range of fp32, has no overflow here.
# data format=fp16,bf16: halfulp calc --json --format {format} --vary x=0..16:257 'exp(x) / (exp(x) + exp(0))'
# take: format at value exact
# data shifted: halfulp calc --json --format fp16 --vary x=0..16:257 'exp(x - x) / (exp(x - x) + exp(0 - x))'
# take shifted: at value exact
load 'gallery-style.gp'

of(f, x) = strcol('format') eq f ? x : NaN
off = 0
none(v) = strcol('format') eq 'fp16' && v eq 'nan' ? column('at') : NaN
stats file using (none(strcol('value'))) name 'N' nooutput
stats file_shifted using (abs(column('value') - column('exact'))) name 'W' nooutput
x_nan = N_min; worst = W_max

do for [format in formats] {
	eval begin(format, 'softmax of (x, 0), first component, in fp16 and bf16')
	set xrange [0:16]; set yrange [0.45:1.12]
	set xtics 2
	set ytics 0.1
	set label 1003 'x' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'softmax' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set object 1 rectangle from x_nan, graph 0 to 16, graph 1 fc rgb wine fs transparent solid 0.12 noborder behind
	set label 1 B('plain fp16: NaN') at (16 + x_nan) / 2., 0.62 center textcolor rgb wine
	set label 2 B('plain fp16') at 1.2, 0.62 left textcolor rgb wine
	set label 4 B('plain bf16') at 12.2, 0.94 left textcolor rgb purple
	set label 3 B('shifted fp16') at 4.4, 1.05 left textcolor rgb blue
	plot file_shifted using 'at':'value' with lines lw 5 lc rgb cyan notitle, \
		file using 'at':(of('fp16', strcol('value') eq 'nan' ? NaN : column('value'))) with lines lw 2 lc rgb wine notitle, \
		file using 'at':(of('bf16', column('value'))) every 8 with points pt 6 ps 0.6 lw 1 lc rgb purple notitle
}
unset output

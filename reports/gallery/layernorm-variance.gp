# SPDX-License-Identifier: Apache-2.0
# title: E[x²] − E[x]² cancels: the variance of a layernorm turns wrong, then negative
# caption: The variance of m − 1, m and m + 1, which is 2/3 for every m, as E[x²] − E[x]² and as the mean of (x − E[x])². In fp16 the one-pass formula is first off by more than half at m = {m_fp16},
#   in fp32 at m = {m_fp32}; it is negative at {n_fp16} of {points} means in fp16, whose sum of squares overflows from m = {m_over} on, and at {n_fp32} in fp32. The two-pass formula in fp32 stays between {two_low|%.4f} and {two|%.4f}.
# data format=fp32,fp16: halfulp calc --json --format {format} --vary m=1..8192:257,log 'sum((m - 1)^2, m^2, (m + 1)^2) / 3 - (sum(m - 1, m, m + 1) / 3)^2'
# take: format at value
# data two: halfulp calc --json --format fp32 --vary m=1..8192:257,log '(((m - 1) - sum(m - 1, m, m + 1) / 3)^2 + (m - sum(m - 1, m, m + 1) / 3)^2 + ((m + 1) - sum(m - 1, m, m + 1) / 3)^2) / 3'
# take two: format at value
load 'gallery-style.gp'

of(f, x) = strcol('format') eq f ? x : NaN
wrong(f) = of(f, abs(column('value') - 2. / 3) > 1. / 3 ? column('at') : NaN)
stats file using (wrong('fp16')) name 'A' nooutput
stats file using (wrong('fp32')) name 'B' nooutput
stats file_two using 'value' name 'T' nooutput
infinite(s) = s eq 'inf' || s eq '-inf' || s eq 'nan'
stats file using (of('fp16', infinite(strcol('value')) ? column('at') : NaN)) name 'O' nooutput
negative(f) = of(f, column('value') < 0 && (f ne 'fp16' || column('at') < O_min) ? 1 : NaN)
stats file using (negative('fp16')) name 'C' nooutput
stats file using (negative('fp32')) name 'D' nooutput
n_fp16 = C_records; n_fp32 = D_records; two_low = T_min; points = int(T_records)
m_over = say(floor(O_min)); m_fp16 = sprintf('%.3g', A_min); m_fp32 = say(floor(B_min)); two = T_max

where = narrow ? 'left' : 'right'
do for [format in formats] {
	eval begin(format, 'the variance of m − 1, m and m + 1 (exactly 2/3) in fp16 and fp32')
	set logscale x 2
	set xrange [1:8192]; set yrange [-4.6:6.5]
	set xtics 4 format '2^{%L}'
	set ytics 2
	set label 1003 'mean m' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'variance' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set object 1 rectangle from 1, -4.6 to 8192, 0 fc rgb wine fs transparent solid 0.08 noborder behind
	set label 1 'negative: 1/√ of it is NaN' at 1.2, -3.9 left textcolor rgb wine font little(format)
	set label 2 B('fp16, one pass') at narrow ? 1.3 : 11, narrow ? 5.5 : 5 @where textcolor rgb blue
	set label 3 B('fp32, one pass') at 1500, 4.6 right textcolor rgb ink
	set label 4 B('two passes') at 1.3, 1.9 left textcolor rgb purple
	plot file using 'at':(of('fp16', column('at') < O_min ? column('value') : NaN)) with points pt 7 ps 0.35 lc rgb blue notitle, \
		'' using 'at':(of('fp32', column('value'))) with points pt 7 ps 0.35 lc rgb ink notitle, \
		file_two using 'at':'value' with lines lw 2.4 lc rgb purple notitle
}
unset output

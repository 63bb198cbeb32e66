# SPDX-License-Identifier: Apache-2.0
# title: Rotary embeddings with angles in bf16 lose positions beyond a thousand
# caption: How far the rotated vectors of a head with 128 features (64 pairs, base 10 000) are from the exact ones, as a root mean square over the pairs.
#   Where position, frequency and their product are rounded to bf16 they are {near|%.2f} off at position 128, {middle|%.2f} at 2048 and {far|%.2f} at 32 768;
#   pairs that are turned at random would be √2 off. In fp32 they are below {single|%.4f} everywhere.
# source: Wang et al. 2024, When Precision Meets Position: BFloat16 Breaks Down RoPE in Long-Context Training, arXiv 2411.13476
# data position=16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072: halfulp calc --json --format bf16,fp32 -- '{position}*1' '{position}*0.86596432' '{position}*0.74989421'
#   '{position}*0.64938163' '{position}*0.56234133' '{position}*0.48696753' '{position}*0.4216965'
#   '{position}*0.36517413' '{position}*0.31622777' '{position}*0.27384196' '{position}*0.23713737'
#   '{position}*0.2053525' '{position}*0.17782794' '{position}*0.15399265' '{position}*0.13335214'
#   '{position}*0.1154782' '{position}*0.1' '{position}*0.086596432' '{position}*0.074989421'
#   '{position}*0.064938163' '{position}*0.056234133' '{position}*0.048696753' '{position}*0.04216965'
#   '{position}*0.036517413' '{position}*0.031622777' '{position}*0.027384196' '{position}*0.023713737'
#   '{position}*0.02053525' '{position}*0.017782794' '{position}*0.015399265' '{position}*0.013335214'
#   '{position}*0.01154782' '{position}*0.01' '{position}*0.0086596432' '{position}*0.0074989421'
#   '{position}*0.0064938163' '{position}*0.0056234133' '{position}*0.0048696753' '{position}*0.004216965'
#   '{position}*0.0036517413' '{position}*0.0031622777' '{position}*0.0027384196' '{position}*0.0023713737'
#   '{position}*0.002053525' '{position}*0.0017782794' '{position}*0.0015399265' '{position}*0.0013335214'
#   '{position}*0.001154782' '{position}*0.001' '{position}*0.00086596432' '{position}*0.00074989421'
#   '{position}*0.00064938163' '{position}*0.00056234133' '{position}*0.00048696753' '{position}*0.0004216965'
#   '{position}*0.00036517413' '{position}*0.00031622777' '{position}*0.00027384196' '{position}*0.00023713737'
#   '{position}*0.0002053525' '{position}*0.00017782794' '{position}*0.00015399265' '{position}*0.00013335214'
#   '{position}*0.0001154782'
# take: position format input value exact
load 'gallery-style.gp'

pairs = 64; places = 14
array short[places]; array single_[places]
do for [i = 1:places] { short[i] = 0.; single_[i] = 0. }
place(p) = int(floor(log2(p) + 0.5)) - 3
# The square of the distance of two unit vectors at angles a and b
apart(a, b) = 2 - 2 * cos(a - b)
add(f, i, d) = f eq 'bf16' ? (short[i] = short[i] + d / pairs) : (single_[i] = single_[i] + d / pairs)
stats file using (add(strcol('format'), place(column('position')), apart(column('value'), column('exact')))) nooutput
do for [i = 1:places] { short[i] = sqrt(short[i]); single_[i] = sqrt(single_[i]) }
near = short[place(128)]; middle = short[place(2048)]; far = short[place(32768)]
single = 0.
do for [i = 1:places] { single = single_[i] > single ? single_[i] : single }

do for [format in formats] {
	eval begin(format, 'rotations by position times frequency in bf16 and fp32: distance from the exact unit vectors')
	set logscale x 2; set logscale y
	set rmargin at screen right(0.88)
	set xrange [16:131072]; set yrange [2e-8:4]
	set xtics 16, 8 format '2^{%L}'
	set ytics 10 format '10^{%T}'
	set label 1003 'position' at screen 0.5, screen 14. / height center textcolor rgb soft
	set label 1004 'root mean square distance' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('bf16') at 131072, short[places] left offset 0.6, -0.3 textcolor rgb purple
	set label 2 B('fp32') at 131072, single_[places] left offset 0.6, 0 textcolor rgb ink
	set label 3 'turned at random' at 20, sqrt(2) * 1.6 left font little(format) textcolor rgb soft
	plot sqrt(2) with lines lw 1 dt 3 lc rgb soft notitle, \
		short using (2.**($1 + 3)):(short[$1]) with linespoints lw 2.4 pt 7 ps 0.5 lc rgb purple notitle, \
		single_ using (2.**($1 + 3)):(single_[$1]) with linespoints lw 2 pt 7 ps 0.5 lc rgb ink notitle
}
unset output

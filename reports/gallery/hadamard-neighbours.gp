# SPDX-License-Identifier: Apache-2.0
# title: A Hadamard transform keeps an outlier's neighbours, and not their exact size
# caption: A block of 16 values, one of them 20, cast to NVFP4. As they are, {lost|%d} of the 15 others become zero. Multiplied by signs and a Hadamard matrix before the cast, and by its transpose behind it,
#   {gone|%d} do; their squared error grows from {plain|%.2g} to {turned|%.2g}, and the 20 is {far|%.1f}. Transforms of both operands of a product cancel.
# source: NVIDIA 2025, Pretraining Large Language Models with NVFP4, arXiv 2509.25149; Tseng, Yu, Park 2025, Training LLMs with MXFP4, arXiv 2502.20586
# data: halfulp round --json --format nvfp4:te -- 1.25 1.5 0.125 -0.75 -1.125 0.125 -1 20 0.25 0.125 0.5 -0.875 0.125 -0.125 -1.5 0.5
# take: exact value
# data turned: halfulp round --json --format nvfp4:te -- -4.40625 5.34375 4.84375 -6.03125 5.34375 -5.65625 -3.40625 5.96875 -3.90625 4.21875 4.96875 -4.78125 6.59375 -4.78125 -4.53125 5.21875
# take turned: exact value
load 'gallery-style.gp'

n = 16
array own[n]; array cast[n]; array spread[n]; array back[n]
signs = '1 1 1 -1 1 -1 -1 -1 -1 -1 -1 1 -1 1 -1 -1'
keep(i, e, v) = (own[i + 1] = e, cast[i + 1] = v, 1)
stats file using (keep(int(column(0)), column('exact'), column('value'))) nooutput
take(i, v) = (spread[i + 1] = v, 1)
stats file_turned using (take(int(column(0)), column('value'))) nooutput
# The sign of element (i, j) of the Hadamard matrix is the parity of the bits that i and j share
shared(i, j) = (i & j & 1) + (i / 2 & j / 2 & 1) + (i / 4 & j / 4 & 1) + (i / 8 & j / 8 & 1)
outlier = 1
do for [i = 1:n] { if (own[i] > own[outlier]) { outlier = i } }
lost = 0; gone = 0; plain = 0.; turned = 0.
do for [i = 1:n] {
	s = 0.
	do for [j = 1:n] { s = s + spread[j] * (shared(i - 1, j - 1) % 2 ? -1 : 1) / 4. }
	back[i] = word(signs, i) * s
	if (i != outlier) {
		lost = lost + (cast[i] == 0); gone = gone + (back[i] == 0)
		plain = plain + (cast[i] - own[i]) ** 2; turned = turned + (back[i] - own[i]) ** 2
	}
}
far = back[outlier]

do for [format in formats] {
	eval begin(format, 'lines: the values; left of each: its cast to nvfp4, hollow where it became zero; right: cast after the transform')
	set lmargin at screen left(0.10); set rmargin at screen right(0.98)
	set xrange [0.3:16.7]; set yrange [-3.4:3.4]
	set xtics 1, 1, 16
	set ytics -3, 1, 3
	do for [b = 1:n] { if (b != outlier) { set arrow 50 + b from b - 0.4, own[b] to b + 0.4, own[b] nohead lw 2.4 lc rgb ink } }
	set label 1003 'element of the block' at screen 0.53, screen 14. / height center textcolor rgb soft
	set label 1004 'value' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('20') at outlier, 2.9 center textcolor rgb ink
	set label 2 B('as it is') at 0.6, 3.0 left textcolor rgb wine
	set label 3 B('transformed') at 10, 3.0 left textcolor rgb teal_text
	plot 0 with lines lw 1 lc rgb soft notitle, \
		own using ($1 == outlier || cast[$1] == 0 ? NaN : $1 - 0.2):(cast[$1]) with points pt 7 ps 0.8 lc rgb wine notitle, \
		own using ($1 == outlier || cast[$1] != 0 ? NaN : $1 - 0.2):(cast[$1]) with points pt 6 ps 0.8 lw 1.4 lc rgb wine notitle, \
		own using ($1 == outlier ? NaN : $1 + 0.2):(back[$1]) with points pt 7 ps 0.8 lc rgb teal notitle
}
unset output

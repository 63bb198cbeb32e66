# SPDX-License-Identifier: Apache-2.0
# title: In fp16, Adam's g² underflows and a step becomes {worst|%.0f} times too long
# caption: The step g / (√g² + ε) of Adam for a steady gradient g, which should be about 1. In fp16, g² is zero for g ≤ {lost}, and
#   ε = 10⁻⁷, which fp16 holds as 2⁻²³, divides alone: the step grows to {worst|%.0f}. With ε = 10⁻⁴ it never exceeds {tamed|%.2f}. bf16 has
#   the range of fp32, and its step is at most {bf|%.3g}.
# source: Kingma & Ba 2015, Adam, arXiv 1412.6980
# data usual format=fp32,bf16,fp16: halfulp calc --json --format {format} --vary g=2^-24..2^-6:217,log 'g / (sqrt(g * g) + 1e-7)'
# take usual: format at value
# data: halfulp calc --json --format fp16 --vary g=2^-24..2^-6:217,log 'g / (sqrt(g * g) + 1e-4)'
# take: format at value
# data square: halfulp calc --json --format fp16 --vary g=2^-24..2^-6:217,log 'g * g'
# take square: format at value
load 'gallery-style.gp'

of(f) = strcol('format') eq f ? column('value') : NaN
stats file_usual using (of('fp16')) name 'A' nooutput
stats file using 'value' name 'B' nooutput
stats file_usual using (of('bf16')) name 'C' nooutput
stats file_square using (column('value') == 0 ? column('at') : NaN) name 'Z' nooutput
worst = A_max; tamed = B_max; bf = C_max; lost = Z_max

do for [format in formats] {
	eval begin(format, 'g / (√g² + ε) for a steady gradient g, every operation in the format')
	set logscale x 2; set logscale y 10
	set xrange [2**-24:2**-6]; set yrange [1e-3:5e3]
	set format x '2^{%L}'; set format y '10^{%T}'
	set xtics 2**-24, 16, 1
	set label 1003 'gradient g' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'step, in learning rates' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set object 1 rectangle from 2**-24, 1e-3 to lost, 5e3 fc rgb faint fs solid 1 noborder behind
	set label 1 'here g² is zero in fp16' at 2**-23.7, 2e3 left textcolor rgb soft font little(format)
	set label 2 B('fp16, ε = 10⁻⁷') at 2**-11.8, 700 left textcolor rgb blue
	set label 3 'fp32, bf16: ε = 10⁻⁷' at 2**(narrow ? -23.5 : -20.5), narrow ? 0.13 : 0.4 left textcolor rgb ink
	set label 4 'fp16, ε = 10⁻⁴' at 2**(narrow ? -15.5 : -16.5), 0.03 left textcolor rgb blue
	plot file_usual using 'at':(of('fp32')) with lines lw 2.4 lc rgb ink notitle, \
		'' using 'at':(of('bf16')) with lines lw 1.6 dt 2 lc rgb purple notitle, \
		file using 'at':'value' with lines lw 1.6 dt 2 lc rgb blue notitle, \
		file_usual using 'at':(of('fp16')) with lines lw 2.4 lc rgb blue notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: {lost|%.0f} % of the gradients that are not zero would be zero in fp16
# caption: The magnitudes of all gradients of activations at step {step} of an mlp trained in fp32 on generated digits (a histogram by powers of two,
#   the zeros apart: {zeros|%.1f} % of all values). Of the values that are not zero {lost|%.1f} % lie below 2⁻²⁵, half of fp16's smallest
#   number, and {subnormal|%.1f} % among its subnormals, where bits are lost; the largest lies below 2{raised(sprintf('%d', top))|%s}, while fp16 reaches 2¹⁶.
# source: Micikevicius et al. 2018, Mixed Precision Training, arXiv 1710.03740 (their figure 3)
# run: halfulp train --model mlp:width=0.5 --data size=16,train=4096,eval=512 --batch 256 --epochs 40 --policy float32 --trace steps=last --quiet converged
# run: halfulp analyze --only underflow,loss-scale converged
# table: converged/analysis/exponents.tsv
# take: step tensor class format bin count where class=gradient
load 'gallery-style.gp'

low = -60; high = 17
array n[high - low + 1]
do for [i = 1:high - low + 1] { n[i] = 0 }
zero = 0; nonzero = 0; under = 0; sub = 0
put(b, c) = (nonzero = nonzero + c, under = under + (b < -25 ? c : 0), sub = sub + (b >= -25 && b < -14 ? c : 0), \
	i = int(b < low ? 1 : b > high ? high - low + 1 : b - low + 1), n[i] = n[i] + c, 0)
put_zero(c) = (zero = zero + c, 0)
stats file using (strcol('bin') eq 'zero' ? put_zero(column('count')) : put(real(strcol('bin')), column('count'))) nooutput
stats file using (strcol('bin') ne 'zero' && column('count') > 0 ? real(strcol('bin')) : NaN) name 'B' nooutput
top = int(B_max) + 1
stats file using 'step' name 'T' nooutput
step = T_max; all = zero + nonzero
lost = 100. * under / nonzero; zeros = 100. * zero / all; subnormal = 100. * sub / nonzero

do for [format in formats] {
	eval begin(format, 'gradients of the activations, policy float32, mlp on generated digits, against the range of fp16')
	set xrange [low - 13:high + 1.5]; set yrange [0:12]
	set boxwidth 0.86
	set xtics ('zero' low - 9.5, '2^{−60}' -60, '2^{−40}' -40, '2^{−24}' -24, '1' 0, '2^{16}' 16)
	if (!narrow) { set xtics add ('2^{−50}' -50, '2^{−30}' -30, '2^{−14}' -14) }
	set ytics 2 format '%g %%'
	# The axis is broken between the zeros and the powers of two
	do for [k = 0:1] { set arrow 50 + k from low - 5.1 + 0.8 * k, graph -0.025 to low - 4.5 + 0.8 * k, graph 0.025 nohead lw 1.2 lc rgb ink front }
	set label 1004 'share of all values' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set object 1 rectangle from low - 1.5, 0 to -25, 12 fc rgb wine fs transparent solid 0.1 noborder behind
	set object 2 rectangle from -25, 0 to -14, 12 fc rgb blue fs transparent solid 0.1 noborder behind
	set object 3 rectangle from -14, 0 to 16, 12 fc rgb blue fs transparent solid 0.22 noborder behind
	set label 1 B('zero in fp16') at -43, 11.3 center textcolor rgb wine
	set label 2 'subnormal' at -19.5, narrow ? 9.5 : 11.3 center textcolor rgb blue font little(format)
	set label 3 B(narrow ? 'normal' : 'normal in fp16') at 1, 11.3 center textcolor rgb blue
	set label 4 sprintf('%.1f %%', lost).' of the nonzero values' at -43, 10.4 center textcolor rgb wine
	plot '+' using (low - 9.5):(100. * zero / all) every ::0::0 with boxes lc rgb soft notitle, \
		n using (low + $1 - 0.5):($1 <= 0 ? NaN : 100. * n[$1] / all) with boxes lc rgb ink notitle
}
unset output

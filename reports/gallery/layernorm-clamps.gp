# SPDX-License-Identifier: Apache-2.0
# title: MXFP8 by OCP's scale stores scales of layer normalization as one number
# caption: A block of {n|%d} weights of a layer normalization, from {low|%.3f} to {high|%.3f}. Their scale, rounded down, lets e4m3 reach 0.875: all are stored as {one|%.3f}, and the
#   layer's output is {small|%.1f} % too small. Rounded up, the scale leaves steps of 1/16: the weights become {numbers|%s}, and their mean is {left|%.1f} % off.
# source: Su et al. 2025, Characterization and Mitigation of Training Instabilities in Microscaling Formats, arXiv 2506.20752
# data: halfulp round --json --format mxfp8:floor,mxfp8:rceil -- 0.9447 0.9358 0.9113 0.9539 0.9413 0.9425 0.9388 0.9685 0.9547 0.9613 0.9293 0.9258 0.9138 0.9302
#   0.8779 0.97 0.9384 0.9372 0.9539 0.9275 0.9407 0.952 0.9021 0.9724 0.9385 0.9486 0.9133 0.9222 0.9716 0.9241 0.9267 0.9456
# take: format exact value
load 'gallery-style.gp'

n = 32
array own[n]; array down[n]; array up[n]
put(f, k, x, v) = f eq 'mxfp8:floor' ? (own[k] = x, down[k] = v) : (up[k] = v)
stats file using (put(strcol('format'), int(column(0)) % n + 1, column('exact'), column('value'))) nooutput
stats own using (own[$1]) name 'O' nooutput
stats down using (down[$1]) name 'D' nooutput
stats up using (up[$1]) name 'U' nooutput
low = O_min; high = O_max; one = D_max == D_min ? D_max : NaN
small = 100 * (1 - D_mean / O_mean); left = 100 * abs(U_mean / O_mean - 1)
numbers = U_min == U_max ? sprintf('%.4f', U_min) : sprintf('%.4g to %.4g', U_min, U_max)

do for [format in formats] {
	eval begin(format, 'weights of a layer normalization (lines), in mxfp8 with the scale of OCP and rounded up (points)')
	set rmargin at screen right(0.80)
	set xrange [0:n + 1]; set yrange [0.855:1.02]
	set xtics 8
	set ytics 0.02 format '%.2f'
	set label 1003 'weight' at screen 0.46, screen 14. / height center textcolor rgb soft
	set label 1004 'value' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	do for [k = 1:n] { set arrow 100 + k from k - 0.42, own[k] to k + 0.42, own[k] nohead lw 2.4 lc rgb ink }
	set label 1 B('weights') at n + 1, O_mean left offset 0.6, -0.6 textcolor rgb ink
	set label 2 B('rounded up') at n + 1, U_max left offset 0.6, 0 textcolor rgb teal_text
	set label 3 B('OCP') at n + 1, D_max left offset 0.6, 0 textcolor rgb wine
	plot up using 1:(up[$1]) with points pt 6 ps 0.8 lw 1.4 lc rgb teal notitle, \
		down using 1:(down[$1]) with points pt 7 ps 0.8 lc rgb wine notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: An outlier costs an integer format 6 dB for each doubling, MXFP8 nothing
# caption: The signal-to-noise ratio of 31 normal numbers in a block with one larger value. Beside an outlier of 4 MXINT8 has {i8|%.0f} dB and MXFP8 {f8|%.0f}, MXFP4 {f4|%.0f} and four-bit integers {i4|%.0f}. As the outlier doubles, integers lose
#   6 dB, a bit; MXFP8, whose elements have exponents of their own, keeps {f8|%.0f} dB, and is ahead of MXINT8 from an outlier of {ahead|%d} on.
# source: Chen et al. 2025, INT v.s. FP: A Comprehensive Study of Fine-Grained Low-bit Quantization Formats, arXiv 2510.25602
# data outlier=4,8,16,32,64: halfulp round --json --format mxint8,mxfp8,bfp4x32,mxfp4 -- {outlier}
#   0.0563 -1.33 -0.616 -0.796 -1.28 -1.17 1.91 1.37 -0.368 0.405 0.536 0.738 0.913 0.425 -1.26 0.742
#   -2.29 0.488 -0.474 -0.741 1.1 -1.1 1.59 -0.332 0.662 -0.145 -0.475 2.64 2.25 0.311 0.457
# take: outlier format exact value
load 'gallery-style.gp'

places = 5
array i8s[places]; array f8s[places]; array i4s[places]; array f4s[places]; array noise[4 * places]; array signal[places]
do for [i = 1:4 * places] { noise[i] = 0. }
do for [i = 1:places] { signal[i] = 0. }
place(o) = int(floor(log2(o) + 0.5)) - 1
kind(f) = f eq 'mxint8' ? 0 : f eq 'mxfp8' ? 1 : f eq 'bfp4x32' ? 2 : 3
at(f, o) = kind(f) * places + place(o)
# The outlier itself, the first of each block, counts neither as signal nor as noise
add(f, o, x, v) = x == o ? 0 : (signal[place(o)] = signal[place(o)] + (kind(f) ? 0 : x * x), noise[at(f, o)] = noise[at(f, o)] + (v - x)**2)
stats file using (add(strcol('format'), column('outlier'), column('exact'), column('value'))) nooutput
ratio(k, i) = 10 * log10(signal[i] / noise[k * places + i])
do for [i = 1:places] { i8s[i] = ratio(0, i); f8s[i] = ratio(1, i); i4s[i] = ratio(2, i); f4s[i] = ratio(3, i) }
i8 = i8s[1]; f8 = f8s[1]; i4 = i4s[1]; f4 = f4s[1]
stats f8s using (f8s[$1]) name 'K' nooutput
keeps = K_max - K_min; ahead = 0
do for [i = 1:places] { if (ahead == 0 && f8s[i] > i8s[i]) { ahead = 2**(i + 1) } }

do for [format in formats] {
	eval begin(format, 'a block of 32 in mxint8, mxfp8, mxfp4 and integers of four bits: noise of all but the outlier')
	set logscale x 2
	set rmargin at screen right(0.82)
	set xrange [4:64]; set yrange [-3:47]
	set xtics 4, 2
	set ytics 10
	set label 1003 'outlier' at screen 0.47, screen 14. / height center textcolor rgb soft
	set label 1004 'signal-to-noise ratio, dB' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('MXFP8') at 64, f8s[places] left offset 0.6, 0 textcolor rgb blue
	set label 2 B('MXINT8') at 64, i8s[places] left offset 0.6, -0.3 textcolor rgb wine
	set label 3 B('MXFP4') at 64, f4s[places] left offset 0.6, 0.6 textcolor rgb blue
	set label 4 B('4-bit integers') at 64, i4s[places] left offset 0.6, -0.5 textcolor rgb wine
	plot f8s using (2.**($1 + 1)):(f8s[$1]) with linespoints lw 2.6 pt 7 ps 0.6 lc rgb blue notitle, \
		i8s using (2.**($1 + 1)):(i8s[$1]) with linespoints lw 2.6 pt 5 ps 0.6 lc rgb wine notitle, \
		f4s using (2.**($1 + 1)):(f4s[$1]) with linespoints lw 1.4 pt 6 ps 0.7 lc rgb blue notitle, \
		i4s using (2.**($1 + 1)):(i4s[$1]) with linespoints lw 1.4 pt 4 ps 0.7 lc rgb wine notitle
}
unset output

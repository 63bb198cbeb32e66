# SPDX-License-Identifier: Apache-2.0
# title: P3109's eight bits: each bit of precision halves the binades of the range
# caption: The positive numbers of the seven signed extended formats binary8p1 to binary8p7, subnormals included. With one significant bit they span {span_1|%.0f} binades, with two {span_2|%.0f}, with three {span_3|%.0f}, with
#   four {span_4|%.0f} and with seven {span_7|%.0f}; the thin part of each line is where subnormals lose bits.
#   The largest number of binary8p4 is {most_4|%.0f}, that of binary8p3 {most_3|%.0f}, since the codes of all ones are the infinities.
# source: IEEE SA P3109 Working Group 2026, Interim Report on Binary Floating-Point Formats for Machine Learning, version 4.0
# data: halfulp formats --json binary8p1 binary8p2 binary8p3 binary8p4 binary8p5 binary8p6 binary8p7
# take: name p max_finite min_normal min_positive
load 'gallery-style.gp'

rows = 7
array name[rows]; array low[rows]; array normal[rows]; array high[rows]
read(i, n, l, m, h) = (name[i] = n, low[i] = log2(l), normal[i] = log2(m), high[i] = log2(h), 0)
stats file using (read(int(column('p')), strcol('name'), column('min_positive'), column('min_normal'), column('max_finite'))) nooutput
do for [i = 1:rows] { eval sprintf('span_%d = %d; most_%d = %.17g', i, int(floor(high[i])) - int(floor(low[i])) + 1, i, 2**high[i]) }
row(i) = rows + 1 - i

do for [format in formats] {
	eval begin(format, 'range and precision of the formats binary8p1 to binary8p7')
	set lmargin at screen left(0.17); set rmargin at screen right(0.86)
	unset ytics; set border 1
	set xrange [-66:66]; set yrange [0.4:rows + 0.6]
	set xtics ('2^{−64}' -64, '2^{−32}' -32, '1' 0, '2^{32}' 32, '2^{64}' 64)
	set label 1003 'positive numbers' at screen 0.52, screen 14. / height center textcolor rgb soft
	do for [i = 1:rows] {
		set arrow 2 * i from low[i], row(i) to normal[i], row(i) nohead lw 1.6 lc rgb blue
		set arrow 2 * i + 1 from normal[i], row(i) to high[i], row(i) nohead lw 7 lc rgb blue
		set label i B(name[i]) at graph -0.02, first row(i) right textcolor rgb ink
		set label 20 + i sprintf('%d bit%s', i, i > 1 ? 's' : '') at graph 1.02, first row(i) left textcolor rgb soft
	}
	plot NaN lc rgb ink notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: Left: the bits of each format, sign, exponent and fraction. Right: its positive numbers; where the line is thin, numbers are subnormal and lose bits.
# data: halfulp formats --json
# take: name bits? exponent_bits? p? max_finite? min_normal? min_positive?
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
height_wanted = 120 + 26 * STATS_records
load 'picture-style.gp'

array name[most]; array bits[most]; array ebits[most]; array p[most]; array low[most]; array normal[most]; array high[most]
rows = 0
read(n, b, e, q, m, s, t) = gone(q) || gone(b) || rows == most ? 0 : (rows = rows + 1, name[rows] = n, bits[rows] = real(b), ebits[rows] = number(e), p[rows] = real(q), \
	high[rows] = log2(real(m)), normal[rows] = gone(s) ? log2(real(t)) : log2(real(s)), low[rows] = log2(real(t)), 0)
stats file using (read(strcol('name'), strcol('bits'), strcol('exponent_bits'), strcol('p'), strcol('max_finite'), strcol('min_normal'), strcol('min_positive'))) nooutput
if (rows == 0) { print 'these formats have no range of their own: name one that is no block format'; exit status 1 }
widest = 1; finest = 1; longest = 0; least = 1e9; largest = -1e9; most_bits = 0
do for [i = 1:rows] {
	if (high[i] - low[i] > high[widest] - low[widest]) { widest = i }
	if (p[i] > p[finest]) { finest = i }
	longest = strlen(name[i]) > longest ? strlen(name[i]) : longest
	least = low[i] < least ? low[i] : least; largest = high[i] > largest ? high[i] : largest
	most_bits = bits[i] > most_bits ? bits[i] : most_bits
}
message(_) = rows == 1 ? sprintf('%s keeps %d significant bits over %.0f powers of two', name[1], p[1], high[1] - low[1]) \
	: sprintf('%s spans %.0f powers of two, %s has %d significant bits', name[widest], high[widest] - low[widest], name[finest], p[finest])
px = left_px(longest)
y(i) = rows + 1 - i
# Two panels in one plot: bits from 0 to 0.44, range from 0.5 to 1
bit_x(b) = 0.44 * b / most_bits
range_x(e) = 0.5 + 0.5 * (e - least) / (largest - least)
step = 10.**floor(log10((largest - least) / 4.)); step = step * ((largest - least) / step > 20 ? 5 : (largest - least) / step > 8 ? 2 : 1) * (narrow ? 2 : 1)

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 0; unset grid; unset xtics; set ytics scale 0 noenhanced () 
	set xrange [0:1]; set yrange [0.3:rows + 0.7]
	unset key
	do for [i = 1:rows] {
		set ytics add (row_name(name[i], name_columns(px)) y(i))
		sign = bits[i] - ebits[i] - (p[i] - 1); sign = sign < 0 ? 0 : sign
		set object 3 * i - 2 rect from bit_x(0), y(i) - 0.28 to bit_x(sign), y(i) + 0.28 fc rgb ink fs solid 1 noborder
		set object 3 * i - 1 rect from bit_x(sign), y(i) - 0.28 to bit_x(sign + ebits[i]), y(i) + 0.28 fc rgb purple fs solid 1 noborder
		set object 3 * i rect from bit_x(sign + ebits[i]), y(i) - 0.28 to bit_x(bits[i]), y(i) + 0.28 fc rgb blue fs solid 1 noborder
		if (bit_x(ebits[i]) * (width - px) > 20) { set label 2 * i sprintf('%d', ebits[i]) at bit_x(sign + ebits[i] / 2.), y(i) center textcolor rgb '#FFFFFF' font little(format) front }
		if (bit_x(p[i] - 1) * (width - px) > 20) { set label 2 * i + 1 sprintf('%d', p[i] - 1) at bit_x(sign + ebits[i] + (p[i] - 1) / 2.), y(i) center textcolor rgb '#FFFFFF' font little(format) front }
		set arrow 2 * i - 1 from range_x(low[i]), y(i) to range_x(normal[i]), y(i) nohead lw 1.6 lc rgb blue
		set arrow 2 * i from range_x(normal[i]), y(i) to range_x(high[i]), y(i) nohead lw 7 lc rgb blue
	}
	do for [k = int(ceil(least / step)):int(floor(largest / step))] {
		set label 500 + k sprintf('2^{%d}', k * step) at range_x(k * step), graph 0 center offset 0, -0.8 textcolor rgb soft font little(format)
		set arrow 500 + k from range_x(k * step), graph 0 to range_x(k * step), graph 1 nohead lw 0.6 lc rgb rule back
	}
	set label 400 (narrow ? 'bits' : 'sign, {/:Bold exponent}, {/:Bold fraction}: bits') at 0.22, screen 14. / height center textcolor rgb soft
	set label 401 'positive numbers' at 0.75, screen 14. / height center textcolor rgb soft
	plot NaN lc rgb ink notitle
}
unset output

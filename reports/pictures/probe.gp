# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: Features found from sums alone, and the probes of the literature beside the values that papers tabled: {equal} of {tabled} equal.
# data: halfulp probe --json
# take: model products_in_a_block fraction_bits_of_the_alignment extra_alignment_bits fraction_bits_of_the_output rounding_of_aligned_terms rounding_of_the_output input_subnormals output_subnormals normalised monotone source
# data probes /probes: halfulp probe --json
# take probes: probe inputs value tabled? verdict
set datafile separator "\t"
set datafile columnheaders
stats file_probes using 0 nooutput
narrow = exists('width') && width < 480
features = 9
# In a column the features stand over the probes, on a page beside them
lines_high(n) = narrow ? 1.4 * features + 1 + n : n > 12 ? n : 12
height_wanted = 90 + 15 * lines_high(STATS_records)
load 'picture-style.gp'

model = ''; block = ''; said = ''; source = ''
array key[features] = ['products in a block', 'fraction bits of the alignment', 'extra alignment bits', 'fraction bits of the output', 'aligned terms are rounded', 'the output is rounded', 'subnormal inputs', 'subnormal outputs', 'monotone']
array value[features]
stats file using (model = strcol('model'), value[1] = strcol('products_in_a_block'), value[2] = strcol('fraction_bits_of_the_alignment'), value[3] = strcol('extra_alignment_bits'), value[4] = strcol('fraction_bits_of_the_output'), \
	value[5] = strcol('rounding_of_aligned_terms'), value[6] = strcol('rounding_of_the_output'), value[7] = strcol('input_subnormals'), value[8] = strcol('output_subnormals'), value[9] = strcol('monotone'), 0) nooutput
most = 64
array name[most]; array inputs[most]; array sums[most]; array verdict[most]
rows = 0; tabled = 0; equal = 0
read(p, i, v, t, w) = rows == most ? 0 : (rows = rows + 1, name[rows] = p, inputs[rows] = i, sums[rows] = v, verdict[rows] = w, tabled = tabled + (w eq 'PASS' || w eq 'FAIL'), equal = equal + (w eq 'PASS'), 0)
stats file_probes using (read(strcol('probe'), strcol('inputs'), strcol('value'), strcol('tabled'), strcol('verdict'))) nooutput
message(_) = sprintf('%s adds %s products at once and keeps %s extra bits', model, value[1], value[3])
lines_here = lines_high(rows)
begin = narrow ? 1.4 * features + 1 : 0; edge = narrow ? 0 : 0.5; span = 1 - edge
y(i) = lines_here + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, 20, 20)
	set bmargin at screen 10. / height
	set border 0; unset grid; unset xtics; unset ytics; unset key
	set xrange [0:1]; set yrange [0.3:lines_here + 0.7]
	do for [i = 1:features] {
		set label 2 * i key[i] at 0, y(1.4 * i - 0.4) left textcolor rgb soft
		set label 2 * i + 1 shorter(value[i], narrow ? 12 : 22) noenhanced at (narrow ? 0.74 : 0.32), y(1.4 * i - 0.4) left textcolor rgb ink
	}
	do for [i = 1:rows] {
		set label 100 + 3 * i name[i] noenhanced at edge, y(begin + i) left textcolor rgb soft font little(format)
		set label 101 + 3 * i shorter(inputs[i], 30) noenhanced at edge + 0.28 * span, y(begin + i) left textcolor rgb ink font little(format)
		sign = verdict[i] eq 'PASS' ? '=' : verdict[i] eq 'FAIL' ? '≠' : ' '
		set label 102 + 3 * i sign at 0.99, y(begin + i) right textcolor rgb (verdict[i] eq 'FAIL' ? wine : blue)
	}
	plot NaN lc rgb ink notitle
}
unset output

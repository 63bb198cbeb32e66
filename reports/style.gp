# SPDX-License-Identifier: Apache-2.0
# What the figures share: colours (Okabe and Ito's, safe for colour-blind
# readers), sizes, terminals. Data are TSV with a header row; "-" is missing.
set encoding utf8
set datafile separator "\t"
set datafile missing '-'
set key autotitle columnhead

if (!exists('formats')) formats = 'svg png'

blue = '#0072B2'; vermillion = '#D55E00'; green = '#009E73'; purple = '#CC79A7'; orange = '#E69F00'; sky = '#56B4E9'
ink = '#222222'; soft = '#767676'; rule = '#DDDDDD'
array hue[8] = [blue, vermillion, green, purple, orange, sky, '#000000', '#999933']
colour(i) = hue[(int(i) - 1) % 8 + 1]

# The terminal of FORMAT and its output file, for a canvas of W x H pixels of a page
canvas(format, w, h) = (format eq 'svg' \
	? sprintf("set terminal svg size %d,%d dynamic enhanced font 'sans-serif,13'", w, h) \
	: format eq 'png' ? sprintf("set terminal pngcairo size %d,%d enhanced font 'sans-serif,10' fontscale 2 linewidth 2 pointscale 2", 2 * w, 2 * h) \
	: sprintf("set terminal pdfcairo size %fin,%fin enhanced font 'sans-serif,10' linewidth 1", w / 96., h / 96.)) \
	. sprintf("; set output '%s.%s'", stem, format)

# A logarithm's argument: what is not above 0 is not drawn
positive(x) = x > 0 ? x : NaN

set border 3 lc rgb soft lw 0.8
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back lt 1 lc rgb rule lw 0.6
set key noenhanced textcolor rgb ink reverse Left samplen 1.4 spacing 1.15
set style fill solid 1 noborder
set title textcolor rgb ink

# A legend of the runs along the top: COLUMNS across, each run's colour and name
longest_label = 0
do for [i = 1:runs] { if (strlen(run_label[i]) > longest_label) { longest_label = strlen(run_label[i]) } }
legend_columns = longest_label > 20 ? 2 : runs < 3 ? runs : 3
legend_rows = int((runs + legend_columns - 1) / legend_columns)
legend_height = 10 + 19 * legend_rows
legend_x(i) = 0.02 + (int(i) - 1) % legend_columns * 0.96 / legend_columns
legend_y(i, h) = 1 - (14. + 19 * int((i - 1) / legend_columns)) / h
legend(i, h) = sprintf("set arrow %d from screen %f,%f to screen %f,%f nohead lw 3 lc rgb '%s'; set label %d run_label[%d] noenhanced at screen %f,%f textcolor rgb ink", \
	100 + i, legend_x(i), legend_y(i, h), legend_x(i) + 0.025, legend_y(i, h), colour(i), 100 + i, i, legend_x(i) + 0.033, legend_y(i, h))

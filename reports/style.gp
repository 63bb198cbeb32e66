# SPDX-License-Identifier: Apache-2.0
# What the figures share: colours (Okabe and Ito's, safe for colour-blind
# readers), sizes, terminals. Data are TSV with a header row; "-" is missing.
set encoding utf8
set datafile separator "\t"
set datafile missing '-'
set key autotitle columnhead

if (!exists('formats')) formats = 'svg png'

# The colours of runs, Okabe and Ito's and Paul Tol's without green, amber and red: these are kept for verdicts
ink = '#222222'; soft = '#666666'; rule = '#DDDDDD'
harmless = '#00734F'; costs = '#B07500'; fatal = '#B3261E'
array hue[8] = ['#0072B2', '#AA4499', '#44AA99', '#000000', '#56B4E9', '#332288', '#999933', '#882255']
colour(i) = hue[(int(i) - 1) % 8 + 1]
# A run's lines have a dash pattern of its own, so that equal curves of two runs both show. No two of 32 runs have both
# colour and pattern in common.
pattern(i) = (int(i) - 1 + int((i - 1) / 8)) % 4
dash(i) = pattern(i) == 0 ? 1 : 11 + pattern(i)
set dashtype 12 (14, 5); set dashtype 13 (5, 4); set dashtype 14 (2, 3)
# A figure of one run has that run's colour, and shades of it for what it tells apart: shade(1) is the colour itself
run_colour = exists('run_number') ? colour(run_number) : ink
channel(c, k) = int(sprintf('%d', real('0x' . c[2 + 2 * k : 3 + 2 * k])))
paler(c, t) = sprintf('#%02X%02X%02X', 255 - (255 - channel(c, 0)) * t, 255 - (255 - channel(c, 1)) * t, 255 - (255 - channel(c, 2)) * t)
shade(i) = i == 1 ? run_colour : i == 2 ? paler(run_colour, 0.5) : i == 3 ? ink : soft
marker(i) = i == 1 ? 7 : i == 2 ? 5 : i == 3 ? 9 : 13

# The terminal of FORMAT and its output file, for a canvas of W x H pixels of a page. The foot of the canvas says
# what the data say (numbers) and which run, model and formats they are of (subject); a multiplot unsets these labels,
# 900 and 901, once they stand.
foot = 42.
canvas(format, w, h) = (format eq 'svg' \
	? sprintf("set terminal svg size %d,%d dynamic enhanced font 'sans-serif,13'", w, h) \
	: format eq 'png' ? sprintf("set terminal pngcairo size %d,%d enhanced font 'sans-serif,10' fontscale 2 linewidth 2 pointscale 2", 2 * w, 2 * h) \
	: sprintf("set terminal pdfcairo size %fin,%fin enhanced font 'sans-serif,8' linewidth 0.8", w * 6.85 / 860, h * 6.85 / 860)) \
	. sprintf("; set output '%s.%s'", stem, format) \
	. sprintf("; set label 901 numbers noenhanced at screen 0.015, %f left textcolor rgb ink font ',%d'", 28. / h, format eq 'svg' ? 12 : format eq 'png' ? 9 : 8) \
	. sprintf("; set label 900 subject noenhanced at screen 0.015, %f left textcolor rgb soft font ',%d'", 10. / h, format eq 'svg' ? 12 : format eq 'png' ? 9 : 8)

# A logarithm's argument: what is not above 0 is not drawn
positive(x) = x > 0 ? x : NaN

set border 3 lc rgb soft lw 0.8
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back lt 1 lc rgb rule lw 0.6
set key noenhanced textcolor rgb ink reverse Left samplen 1.4 spacing 1.15
set style fill solid 1 noborder
set title textcolor rgb ink

# A long list is cut to the MOST of n lines whose worth[i] is largest: row_of[i] is the row of line i, 0 where it has none,
# and in_rows says so. Both arrays are the figure's.
most_rows = 64
rank(i, n) = sum [j = 1:n] (worth[j] > worth[i] || (worth[j] == worth[i] && j < i))
rows_drawn = 0
give_row(i, n) = n <= most_rows || rank(i, n) < most_rows ? (rows_drawn = rows_drawn + 1) : 0
in_rows(n, what) = n > most_rows ? sprintf('the %d of %d lines with the largest %s; the table has all', most_rows, n, what) : ''

# A legend of the runs along the top: COLUMNS across, each run's colour and name
longest_label = 0
do for [i = 1:runs] { if (strlen(run_label[i]) > longest_label) { longest_label = strlen(run_label[i]) } }
legend_columns = longest_label > 20 ? 2 : runs < 3 ? runs : 3
legend_rows = int((runs + legend_columns - 1) / legend_columns)
legend_height = 10 + 19 * legend_rows
legend_x(i) = 0.02 + (int(i) - 1) % legend_columns * 0.96 / legend_columns
legend_y(i, h) = 1 - (14. + 19 * int((i - 1) / legend_columns)) / h
legend(i, h) = sprintf("set arrow %d from screen %f,%f to screen %f,%f nohead lw 3 dt %d lc rgb '%s'; set label %d run_label[%d] noenhanced at screen %f,%f textcolor rgb ink", \
	100 + i, legend_x(i), legend_y(i, h), legend_x(i) + 0.025, legend_y(i, h), dash(i), colour(i), 100 + i, i, legend_x(i) + 0.033, legend_y(i, h))

# SPDX-License-Identifier: Apache-2.0
# What the figures share: colours (Okabe and Ito's, safe for colour-blind
# readers), sizes, terminals. Data are TSV with a header row; "-" is missing.
set encoding utf8
set minussign
set datafile separator "\t"
set datafile missing '-'
set key autotitle columnhead

if (!exists('formats')) formats = 'svg png'
# A figure is as wide as a page of a paper (174 mm: 860 of our units, of which a letter is 14 high, or 8 pt); in a
# column of 84 mm (narrow = 1) its panels stand above each other, and long names and lines are cut or broken, for
# text stays 8 pt.
if (!exists('narrow')) narrow = 0
page_width = narrow ? 415 : 860
letter = 8.6

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
marker(i) = pattern(i) == 0 ? 7 : pattern(i) == 1 ? 5 : pattern(i) == 2 ? 9 : 13

# A text in lines of at most n letters, broken at spaces; a name of at most n letters, whose middle is left out
last_space(s, k) = k < 2 ? 0 : s[k:k] eq ' ' ? k : last_space(s, k - 1)
in_lines(s, n) = strlen(s) <= n ? s : break_at(s, last_space(s, n + 1), n)
break_at(s, k, n) = k > 1 ? s[1:k - 1]."\n".in_lines(s[k + 1:*], n) : s[1:n]."\n".in_lines(s[n + 1:*], n)
lines_of(s, n) = strlen(s) <= n ? 1 : 1 + lines_after(s, last_space(s, n + 1), n)
lines_after(s, k, n) = k > 1 ? lines_of(s[k + 1:*], n) : lines_of(s[n + 1:*], n)
short(s, n) = strlen(s) <= n ? s : s[1:n / 2].'…'.s[strlen(s) - (n - n / 2 - 2):*]
name_letters = narrow ? 20 : 40
name_space = 22 * letter
named(s) = short(s, name_letters)
# A name that `set xtics add` or `set ytics add` takes, whose labels are formats: its % is doubled. The text is halved,
# for functions call themselves 250 times at most.
tic_name(s) = strlen(s) < 2 ? (s eq '%' ? '%%' : s) : tic_name(s[1:strlen(s) / 2]).tic_name(s[strlen(s) / 2 + 1:*])

# The terminal of FORMAT and its output file, for a canvas of W x H pixels of a page. A PDF's letters are as many points
# high as its font says where fontscale is 0.75. The foot of the canvas says
# what the data say (numbers) and which run, model and formats they are of (subject); a multiplot unsets these labels,
# 900 and 901, once they stand.
in_foot = narrow ? 54 : 116
foot = (narrow ? 24. : 18.) + 17 * (lines_of(numbers, in_foot) + lines_of(subject, in_foot))
subject_high = 17 * (lines_of(subject, in_foot) - 1)
canvas(format, w, h) = (format eq 'svg' \
	? sprintf("set terminal svg size %d,%d dynamic enhanced font 'sans-serif,14'", w, h) \
	: format eq 'png' ? sprintf("set terminal pngcairo size %d,%d enhanced font 'sans-serif,10.5' fontscale 2 linewidth 2 pointscale 2", 2 * w, 2 * h) \
	: sprintf("set terminal pdfcairo size %fin,%fin enhanced font 'sans-serif,8' fontscale 0.75 linewidth 0.8", w * 6.85 / 860, h * 6.85 / 860)) \
	. sprintf("; set output '%s.%s'", stem, format) \
	. sprintf("; set label 901 in_lines(numbers, in_foot) noenhanced at screen 0.015, %f left textcolor rgb ink font ',%g'", (foot - (narrow ? 14 : 24)) / h, format eq 'svg' ? 13 : format eq 'png' ? 9.75 : 8) \
	. sprintf("; set label 900 in_lines(subject, in_foot) noenhanced at screen 0.015, %f left textcolor rgb soft font ',%g'", (10. + subject_high) / h, format eq 'svg' ? 13 : format eq 'png' ? 9.75 : 8)

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
most_rows = narrow ? 48 : 64
rank(i, n) = sum [j = 1:n] (worth[j] > worth[i] || (worth[j] == worth[i] && j < i))
rows_drawn = 0
give_row(i, n) = n <= most_rows || rank(i, n) < most_rows ? (rows_drawn = rows_drawn + 1) : 0
beyond = narrow ? '' : '; the table has all'
in_rows(n, what) = n > most_rows ? sprintf('the %d of %d lines with the largest %s'.beyond, most_rows, n, what) : ''

# A legend of the runs along the top: COLUMNS across, each run's colour and name
longest_label = 0
do for [i = 1:runs] { if (strlen(run_label[i]) > longest_label) { longest_label = strlen(run_label[i]) } }
legend_columns = narrow ? (longest_label > 20 || runs < 2 ? 1 : 2) : longest_label > 20 ? 2 : runs < 3 ? runs : 3
legend_line = 21.5 / page_width
legend_rows = int((runs + legend_columns - 1) / legend_columns)
legend_height = 10 + 19 * legend_rows
legend_x(i) = 0.02 + (int(i) - 1) % legend_columns * 0.96 / legend_columns
legend_y(i, h) = 1 - (14. + 19 * int((i - 1) / legend_columns)) / h
legend(i, h) = sprintf("set arrow %d from screen %f,%f to screen %f,%f nohead lw 3 dt %d lc rgb '%s'; set label %d short(run_label[%d], 48) noenhanced at screen %f,%f textcolor rgb ink", \
	100 + i, legend_x(i), legend_y(i, h), legend_x(i) + legend_line, legend_y(i, h), dash(i), colour(i), 100 + i, i, legend_x(i) + 1.32 * legend_line, legend_y(i, h))
# The same of a figure of marks: each run's mark in its colour
marked_legend(i, h) = sprintf("set label %d '' at screen %f,%f point pt %d ps 0.9 lc rgb '%s'; set label %d short(run_label[%d], 48) noenhanced at screen %f,%f textcolor rgb ink", \
	200 + i, legend_x(i) + 0.5 * legend_line, legend_y(i, h), marker(i), colour(i), 100 + i, i, legend_x(i) + 1.32 * legend_line, legend_y(i, h))

# Two panels, beside each other on a page and above each other in a column. above are the units over the first, high
# those of a panel, below those under the last one; pair_height is what they take together and pair(k, above, high,
# height) places panel k.
pair_high(high) = narrow ? 0.62 * high : high
between = 104.
pair_height(above, high, below) = above + below + (narrow ? 2 * pair_high(high) + between : high)
pair_top(k, above, high) = above + (narrow && k == 2 ? pair_high(high) + between : 0)
pair(k, above, high, h) = sprintf("set lmargin at screen %f; set rmargin at screen %f; ", \
	narrow ? 0.15 : k == 1 ? 0.08 : 0.57, narrow || k == 2 ? 0.97 : 0.48) \
	. sprintf("set tmargin at screen %f; set bmargin at screen %f", 1 - pair_top(k, above, high) / h, \
	1 - (pair_top(k, above, high) + pair_high(high)) / h)

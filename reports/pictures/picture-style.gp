# SPDX-License-Identifier: Apache-2.0
# What the pictures of commands share, beside the gallery's style: a head whose lines are broken to the width, margins in
# pixels, and a legend of any number of series below the plot. `command` is the line whose rows are drawn.
# In a column of a paper titles need more lines
narrow = exists('width') && width < 480
if (exists('height_wanted') && narrow) height_wanted = height_wanted + 40
# A picture of rows is as high as these need, even where less is wanted
if (!exists('height')) height = exists('height_wanted') ? height_wanted : narrow ? 240 : 360
if (exists('height_wanted') && height < height_wanted) height = height_wanted
load 'gallery-style.gp'
# Columns may be text alone, so gnuplot is told that the first row is none of the data
set datafile columnheaders
# What is missing is read as text, which gone() knows
set datafile missing 'no cell'

# A text in lines of at most n characters: its first line, what is left, how many there are
# A line is broken at one of its last 200 letters, for functions call themselves 250 times at most
blank(s, k, least) = k < least ? 0 : s[k:k] eq ' ' ? k : blank(s, k - 1, least)
cut(s, n) = (at_blank = blank(s, n + 1, n > 200 ? n - 200 : 2), at_blank ? at_blank - 1 : n)
line(s, n) = strlen(s) <= n ? s : s[1:cut(s, n)]
left(s, n) = strlen(s) <= n ? '' : (at_cut = cut(s, n), s[at_cut + 1:at_cut + 1] eq ' ' ? s[at_cut + 2:*] : s[at_cut + 1:*])
lines(s, n) = strlen(s) ? 1 + lines(left(s, n), n) : 0
nth(s, n, k) = k == 1 ? line(s, n) : nth(left(s, n), n, k - 1)
shorter(s, n) = strlen(s) <= n ? s : s[1:n - 1].'…'

array inks[8] = [blue, purple, teal, wine, olive, indigo, ink, cyan]
array words_of[8] = [blue, purple, teal_text, wine, olive_text, indigo, ink, cyan_text]
series_ink(i) = inks[(int(i) - 1) % 8 + 1]
series_word(i) = words_of[(int(i) - 1) % 8 + 1]
series_dash(i) = int((i - 1) / 8) % 4 + 1

# A cell without a value, and a cell's number
gone(s) = s eq '' || s eq '-'
number(s) = gone(s) ? NaN : real(s)

bold(format) = sprintf('sans-serif:Bold,%g', format eq 'svg' ? 13 * u : format eq 'png' ? 19.5 : 9.75 * u)

# The head: the message in bold, below it the command. Its height in pixels is known before it is drawn.
say_columns = int((width - 26) / 7.6); command_columns = int((width - 26) / 6.2)
command_text = command
title_lines = 0
head_lines(t) = (title_lines = lines(t, say_columns), title_lines > 3 ? 3 : title_lines)
command_lines = lines(command_text, command_columns) > 3 ? 3 : lines(command_text, command_columns)
# A low canvas, for a column of a paper, leaves the command to the caption
low_canvas = height < 260
if (low_canvas) { command_lines = 0; set key spacing 0.85 }
# The height of a row of the legend, and of what stands between it and the plot
row_px = low_canvas ? 17 : 22.5; below_px = low_canvas ? 50. : 58.
head_height = 0
legend_rows = 0; legend_columns = 1
# How many columns and rows a legend of n entries takes, the longest of which has m characters
legend_of(n, m) = (legend_columns = int((width - (narrow ? 190 : 96)) / (9 * m + 61)), legend_columns = legend_columns < 1 ? 1 : legend_columns > n ? n : legend_columns, \
	legend_rows = int((n + legend_columns - 1) / legend_columns))

# Begins a picture: margins of LEFT and RIGHT pixels beside the plot; the legend stands below the axis' label
begin_picture(format, left_px, right_px) = canvas(format) \
	. (head_height = 20. + 18 * head_lines(title(0)) + 14 * (command_lines + low_canvas), plot_height = height - head_height - below_px - 8 - row_px * legend_rows, '') \
	. sprintf("; set lmargin at screen %f; set rmargin at screen %f", 1. * left_px / width, 1 - 1. * right_px / width) \
	. sprintf("; set tmargin at screen %f; set bmargin at screen %f", 1 - (head_height + 8) / height, (below_px + row_px * legend_rows) / height) \
	. sprintf("; do for [k = 1:head_lines(title(0))] { set label 1100 + k nth(title(0), say_columns, k) at screen %f, screen 1 - (4. + 18 * k) / height left noenhanced font bold(format) textcolor rgb ink }", 14. / width) \
	. sprintf("; do for [k = 1:command_lines] { set label 1110 + k nth(command_text, command_columns, k).(k == 3 && lines(command_text, command_columns) > 3 ? ' …' : '') at screen %f, screen 1 - (8. + 18 * head_lines(title(0)) + 14 * k) / height left noenhanced font little(format) textcolor rgb soft }", 14. / width) \
	. sprintf("; set key at screen 0.5, screen %f center bottom horizontal maxrows %d maxcols %d samplen 1.8 noenhanced width 1", 3. / height, legend_rows > 0 ? legend_rows : 1, legend_columns)

# The axes' labels, at fixed distances from the canvas' edges. A text is a variable of what is evaluated and never
# stands in it, since gnuplot would run what a name has between backquotes.
name_x(text) = (x_text = text, sprintf("set label 1003 x_text at graph 0.5, screen %f center textcolor rgb soft", (below_px - 42 + row_px * legend_rows) / height))
# On a low canvas the name of the y axis stands above it
name_y(text) = (y_text = text, low_canvas ? sprintf("set label 1004 y_text at screen %f, graph 1 left offset 0, 0.7 font little(format) textcolor rgb soft", 14. / width) \
	: sprintf("set label 1004 y_text at screen %f, graph 0.5 center rotate by 90 textcolor rgb soft", 14. / width))
# Tics at powers of ten of an axis from a to b, as many as the plot has room for
decades(a, b) = sprintf("set ytics (); d = int(ceil((log10(%g) - log10(%g)) * 26 / plot_height)); d = d < 1 ? 1 : d; do for [e = int(ceil(log10(%g) / d)):int(floor(log10(%g) / d))] { set ytics add (sprintf('10^{%%d}', e * d) 10.**(e * d)) }", b, a, a, b)

# Tics of an axis from a to b that has PX pixels, none of which lies on its neighbour
few_tics(a, b, px) = (raw = 48. * (b - a) / px, ten = 10.**floor(log10(raw)), raw / ten > 5 ? 10 * ten : raw / ten > 2 ? 5 * ten : raw / ten > 1 ? 2 * ten : ten)

# Tics of an x axis from a to b that has PX pixels, at powers of the base, as many as it has room for; 1 is one of them.
# A tic is written by a format of its exponent, or, where that is '', by %g of the power.
power_text(base, e, format) = format eq '' ? sprintf('%g', base**e) : sprintf(format, e)
power_px(base, e, format) = format eq '' ? 8. * strlen(power_text(base, e, format)) + 12 : 52.
widest_px(base, a, b, format) = (w = power_px(base, a, format), v = power_px(base, b, format), v > w ? v : w)
powers(base, a, b, px, format) = (first_e = log(a) / log(base), last_e = log(b) / log(base), \
	d = int(ceil((last_e - first_e) * widest_px(1. * base, floor(first_e), floor(last_e), format) / px)), \
	sprintf("set xtics (); do for [e = %d:%d] { set xtics add ", ceil(first_e / d), floor(last_e / d)) \
	. sprintf("(power_text(%g., e * %d, '%s') %g.**(e * %d)) }", base, d, format, base, d))

# Pictures whose rows have names on the left, the first on top: one row takes row_px pixels, and the canvas is as high as
# they need where --width says nothing. `set ytics add (row_name(text, n) i)` names row i in at most n letters.
# The label of a tic is a format, in which a name's % is doubled. The text is halved, that few calls do.
percents_doubled(s) = strlen(s) < 2 ? (s eq '%' ? '%%' : s) : percents_doubled(s[1:strlen(s) / 2]).percents_doubled(s[strlen(s) / 2 + 1:*])
row_name(text, n) = percents_doubled(shorter(text, n))
left_px(longest) = (w = 7.4 * longest + 26, w > 0.42 * width ? 0.42 * width : w)
name_columns(px) = int((px - 26) / 7.4 + 0.01) # px may be 7.4 n + 26, rounded down

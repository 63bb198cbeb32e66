# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The signal-to-noise ratio of each tensor after the cast, −20·log₁₀ of the relative L2 error: 20 dB more is a tenth of the error. Tensors stand in the
#   order of the file. A tensor without a mark for a format is exact in it, or the cast leaves nothing finite.
# data: halfulp inspect --json
# take: tensor to sqnr_db?
set datafile separator "\t"
set datafile columnheaders
tensors = 0; previous = ''
stats file using (now = strcol('tensor'), tensors = tensors + (now ne previous), previous = now, 0) nooutput
named = tensors <= 40
height_wanted = 130 + (named ? 18 : 8) * (named ? tensors : tensors > 90 ? 90 : tensors)
load 'picture-style.gp'

array tensor[tensors]; array name[64]
row = 0; series = 0; longest = 0; widest = 0; low = 1e9; high = -1e9; worst = ''; worst_to = ''; previous = ''
id(f) = (found = 0, sum [i = 1:64] (i <= series && name[i] eq f ? (found = i) : 0), found ? found : series == 64 ? 64 : (series = series + 1, name[series] = f, widest = strlen(f) > widest ? strlen(f) : widest, series))
read(t, f, v) = ((t ne previous ? (row = row + 1, tensor[row] = t, longest = strlen(t) > longest ? strlen(t) : longest) : 0), previous = t, id(f), \
	gone(v) || real(v) > 1e300 ? 0 : ((real(v) < low ? (low = real(v), worst = t, worst_to = f) : 0), (real(v) > high ? (high = real(v)) : 0)), 0)
stats file using (read(strcol('tensor'), strcol('to'), strcol('sqnr_db'))) nooutput
if (!(high > -1e9)) { low = 0; high = 1 }
message(_) = worst eq '' ? 'Every cast is exact' : sprintf('%s loses most in %s: %.1f dB, a relative error of %s', worst, worst_to, low, say(10**(-low / 20)))
# An exact cast has infinitely many decibels, and no mark
shown(v) = gone(v) || real(v) > 1e300 ? NaN : real(v)
t = legend_of(series, widest)
px = named ? left_px(longest) : 50
y(i) = tensors + 1 - i
at = 0; seen = ''
place(t) = (at = t ne seen || at == 0 ? at + 1 : at, seen = t, at)

do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 1
	set xrange [low - 3:high + 3]; set yrange [0.3:tensors + 0.7]
	set ytics scale 0 noenhanced ()
	set grid xtics noytics
	if (named) { do for [i = 1:tensors] { set ytics add (row_name(tensor[i], name_columns(px)) y(i)) } } else { eval name_y('tensors, in the order of the file') }
	eval name_x('signal-to-noise ratio, dB')
	plot for [s = 1:series] file using (at = $0 == 0 ? 0 : at, seen = $0 == 0 ? '' : seen, now = place(strcol('tensor')), strcol('to') eq name[s] ? shown(strcol('sqnr_db')) : NaN):(y(at)) \
		with points pt 7 ps 0.7 lc rgb series_ink(s) title name[s]
}
unset output

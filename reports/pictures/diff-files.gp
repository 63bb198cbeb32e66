# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The relative L2 norm of the difference of each tensor that differs{rest|%s}.
# data /rows: halfulp diff --json --all
# take: name elements? differ? l2? ulps? ulps_of?
set datafile separator "\t"
set datafile columnheaders
changed = 0
stats file using (changed = changed + (strcol('l2') ne '-' && real(strcol('l2')) > 0), 0) nooutput
shown = changed > 30 ? 30 : changed < 1 ? 1 : changed
height_wanted = 112 + 18 * shown
load 'picture-style.gp'

array name[shown]; array l2[shown]
rows = 0; all = 0; longest = 0; low = 1e300; high = 0; worst = ''
read(n, v) = (all = all + 1, gone(v) || real(v) <= 0 ? 0 : (real(v) > high ? (high = real(v), worst = n) : 0, rows == shown ? 0 : (rows = rows + 1, name[rows] = n, l2[rows] = real(v), low = real(v) < low ? real(v) : low, \
	longest = strlen(n) > longest ? strlen(n) : longest)), 0)
stats file using (read(strcol('name'), strcol('l2'))) nooutput
if (rows == 0) { name[1] = 'nothing'; l2[1] = NaN; longest = 8; low = 1e-3; high = 1 }
message(_) = changed ? sprintf('%d of %d tensors differ, %s most: by %s of itself', changed, all, worst, say(high)) : sprintf('None of %d tensors differs', all)
rest = changed > shown ? sprintf('; the first %d of %d', shown, changed) : ''
px = left_px(longest)
y(i) = shown + 1 - i

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, px, 24)
	set border 1; unset key
	set logscale x
	set xrange [low / 4:high * 2]; set yrange [0.3:shown + 0.7]
	set ytics scale 0 noenhanced (); eval powers(10, low / 4, high * 2, width - px - 24, '10^{%d}')
	set grid xtics noytics
	do for [i = 1:(rows ? rows : 1)] { set ytics add (row_name(name[i], name_columns(px)) y(i)) }
	eval name_x('relative L2 norm of the difference')
	plot l2 using (low / 4):(y($1)):(low / 4):(positive(l2[$1])):(y($1) - 0.3):(y($1) + 0.3) with boxxyerror fc rgb blue notitle
}
unset output

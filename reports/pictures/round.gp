# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: Each line is the gap between two neighbours of the format. The diamond is the exact value, the dot what it was rounded to. Stochastic rounding
#   goes up with the probability in the right column, which is the part of the gap that lies below the value.
# data: halfulp round --json
# take: input format value exact error_ulps? flags
set datafile separator "\t"
set datafile columnheaders
stats file using 0 nooutput
most = STATS_records
narrow = exists('width') && width < 480
# In a column a row's name and probability stand over it
height_wanted = 100 + (narrow ? 84 : 66) * STATS_records
load 'picture-style.gp'

array name[most]; array value[most]; array exact[most]; array up[most]; array ulp[most]; array part[most]; array flag[most]
rows = 0; longest = 0; far = 1
# part: where in the gap the exact value lies; up: it was rounded up; a value that is exact has no gap here
read(i, f, v, x, e, g) = rows == most ? 0 : (rows = rows + 1, name[rows] = i.' in '.f, value[rows] = v, exact[rows] = x, flag[rows] = g, \
	longest = strlen(name[rows]) > longest ? strlen(name[rows]) : longest, err = gone(e) ? NaN : abs(real(e)), \
	up[rows] = real(v) > real(x), ulp[rows] = err > 0 && err <= 1 ? abs(real(v) - real(x)) / err : 0, part[rows] = up[rows] ? 1 - err : err, 0)
stats file using (read(strcol('input'), strcol('format'), strcol('value'), strcol('exact'), strcol('error_ulps'), strcol('flags'))) nooutput
gap(i) = part[i] > 0 && part[i] < 1 && abs(real(value[i])) < 1e300
off(i) = up[i] ? 1 - part[i] : part[i]
do for [i = 1:rows] { if (gap(i) && (!gap(far) || off(i) > off(far))) { far = i } }
message(_) = gap(far) ? sprintf('%s becomes %s: %.2g of the gap off', name[far], say(real(value[far])), off(far)) : sprintf('%s becomes %s', name[1], value[1])
px = left_px(longest)
y(i) = rows + 1 - i
lower(i) = up[i] ? real(value[i]) - ulp[i] : real(value[i])

# What is drawn now are arrays, which have no header
set datafile nocolumnheaders
do for [format in formats] {
	eval begin_picture(format, narrow ? 20 : px, narrow ? 20 : 128)
	set border 0; unset grid; unset xtics; unset key
	set ytics scale 0 noenhanced ()
	set xrange [0:1]; set yrange [0.3:rows + 0.7]
	do for [i = 1:rows] {
		if (narrow) {
			unset ytics
			set label 10 * i + 4 name[i] at 0, y(i) left offset 0, 2.3 noenhanced textcolor rgb ink
		} else {
			set ytics add (row_name(name[i], name_columns(px)) y(i))
		}
		if (gap(i)) {
			set arrow 10 * i from 0, y(i) to 1, y(i) nohead lw 2 lc rgb rule
			set arrow 10 * i + 1 from 0, y(i) - 0.1 to 0, y(i) + 0.1 nohead lw 2 lc rgb soft
			set arrow 10 * i + 2 from 1, y(i) - 0.1 to 1, y(i) + 0.1 nohead lw 2 lc rgb soft
			set arrow 10 * i + 3 from part[i], y(i) + 0.12 to up[i] ? 0.985 : 0.015, y(i) + 0.12 head filled size 0.015, 20 lw 1.6 lc rgb blue
			set label 10 * i sprintf('%.9g', lower(i)) at 0, y(i) left offset 0, -1.1 textcolor rgb soft font little(format)
			set label 10 * i + 1 sprintf('%.9g', lower(i) + ulp[i]) at 1, y(i) right offset 0, -1.1 textcolor rgb soft font little(format)
			set label 10 * i + 2 shorter(exact[i], 14) noenhanced at part[i], y(i) center offset 0, 1.1 textcolor rgb purple font little(format)
			set label 10 * i + 3 sprintf('SR up: %.3g %%', 100 * part[i]) textcolor rgb soft font little(format)
			if (narrow) { set label 10 * i + 3 at 1, y(i) right offset 0, 2.3 } else { set label 10 * i + 3 at 1.03, y(i) left }
		} else {
			set label 10 * i sprintf('%s%s', value[i], gone(flag[i]) ? ', exact' : ' ('.flag[i].')') noenhanced at 0.02, y(i) left textcolor rgb ink
		}
	}
	plot part using (gap($1) ? part[$1] : NaN):(y($1)) with points pt 13 ps 1.3 lc rgb purple notitle, \
		part using (gap($1) ? up[$1] : NaN):(y($1)) with points pt 7 ps 1.3 lc rgb blue notitle
}
unset output

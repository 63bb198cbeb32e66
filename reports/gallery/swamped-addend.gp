# SPDX-License-Identifier: Apache-2.0
# title: 1 + {d|%.4g} is 1 in fp16 and in bf16: the addend lies below their last bit
# caption: The exact sum {exact|%.4f} in binary, and how much of it each format keeps. The addend {d|%.4g} begins {leading} places
#   behind the point. fp16 keeps 10 places and bf16 7, so both round the sum to 1 and the addend is swamped; fp32 keeps 23 and
#   gives {in_fp32|%.10g}, which is off by {err}.
# data: halfulp calc --json --format fp64,fp32,fp16,bf16 '1 + 0.0001'
# take: format value hex error_ulps flags
load 'gallery-style.gp'

# The bits are those of the values in the table: place k behind the point is bit(x, k)
d = 0.0001; last = 30
bit(x, k) = int(floor(x * 2.**k)) % 2
array name[4]; array val[4]
read(i, n, v) = (name[i] = n, val[i] = v, 0)
stats file using (read(int(column(0)) + 1, strcol('format'), column('value'))) nooutput
exact = val[1]; in_fp32 = val[2]; err = abs(in_fp32 - exact)
leading = 0
do for [k = last:1:-1] { if (bit(exact, k)) { leading = k } }
kept(n) = n eq 'fp32' ? 23 : n eq 'fp16' ? 10 : n eq 'bf16' ? 7 : last

do for [format in formats] {
	eval begin(format, '1 + 0.0001 in binary, and the places behind the point that each format has')
	set lmargin at screen left(0.13); set rmargin at screen right(0.9); set bmargin at screen 0.06
	unset border; unset tics; unset grid
	set xrange [-1.2:last + 0.6]
	set yrange [-0.5:4.6]
	do for [i = 1:4] {
		y = 4 - (i - 1) * 1.15
		who = i == 1 ? 'exact' : name[i]; tail = i == 1 ? '…' : '= '.sprintf('%.9g', val[i])
		set label 10 * i B(who) at -1.2, y right textcolor rgb (i == 1 ? ink : tone(name[i]))
		if (i > 1) { set object 10 * i rectangle from narrow ? -0.8 : -0.5, y - 0.42 to kept(name[i]) + 0.5, y + 0.42 fc rgb hue(name[i]) fs transparent solid 0.16 noborder behind }
		set label 10 * i + 1 '1' at narrow ? -0.35 : 0, y center textcolor rgb ink
		set label 10 * i + 2 '.' at narrow ? 0.25 : 0.5, y center textcolor rgb ink
		set label 10 * i + 3 tail at kept(name[i]) + 0.9, y left noenhanced textcolor rgb (i == 1 ? soft : tone(name[i]))
		do for [k = 1:kept(name[i])] {
			b = bit(val[i], k)
			set label 1100 + 40 * i + k sprintf('%d', b) at k, y center textcolor rgb (b ? ink : soft)
		}
	}
	set object 99 rectangle from leading - 0.5, 4 - 0.42 to last + 0.5, 4 + 0.42 fc rgb wine fs transparent solid 0.18 noborder behind
	set label 98 'the addend' at (leading + last) / 2., 4.62 center textcolor rgb wine font little(format)
	set label 97 'the addend begins here' at leading, -0.3 left textcolor rgb wine font little(format)
	set arrow 97 from leading - 0.5, 3.5 to leading - 0.5, -0.45 nohead lw 1.2 dt 2 lc rgb wine
	plot NaN lc rgb ink notitle
}
unset output

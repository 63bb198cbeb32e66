# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: What share of N equal processes would work, and not wait for the last of them, if each unit of the work took what was measured and the largest
#   were dealt first. Reading, sending and joining are left out. Dashed: from here on the largest unit alone takes as long.
# data: halfulp merge --list --json
# take: processes seconds efficiency largest_unit_s
load 'picture-style.gp'

good = 1; least = 1; whole = 0; largest = 0; shortest = 1e300
read(n, s, e, u) = (whole = n == 1 ? s : whole, largest = u, (e >= 0.9 && n > good ? (good = n) : 0), \
	(s < shortest * (1 - 1e-9) ? (shortest = s, least = n) : 0), 0)
stats file using (read(column('processes'), column('seconds'), column('efficiency'), column('largest_unit_s'))) nooutput
message(_) = grouped(sprintf('%d', good)).(good > 1 ? ' processes are' : ' process is').sprintf(' 90 %% efficient; more than %s gain nothing', grouped(sprintf('%d', least)))
limit = largest > 0 ? whole / largest : 1

do for [format in formats] {
	eval begin_picture(format, 74, 20)
	set logscale x 2
	set xrange [1:1024]
	set yrange [0:105]
	set xtics format '2^{%L}'
	set ytics 25 format '%g %%'
	eval name_x('processes N')
	eval name_y('share of them at work')
	set arrow 1 from limit, graph 0 to limit, graph 1 nohead lw 1 dt 2 lc rgb series_ink(2)
	unset key
	plot file using 'processes':(100 * column('efficiency')) with linespoints pt 7 ps 0.35 lw 2 lc rgb series_ink(1) notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: How far the recorded tensors of two runs are apart, in the order in which they were written: the largest difference of an element, in ulps of the
#   coarser format.
# data /tensors: halfulp diff --json --all
# take: step call layer tensor ulps
load 'picture-style.gp'

rows = 0; first = ''; first_ulps = 0; low = 1e300; high = 0; far = ''
read(s, t, u) = (rows = rows + 1, (first eq '' ? (first = sprintf('step %d, %s', s, t), first_ulps = u) : 0), (u > high ? (high = u, far = t) : 0), (u > 0 && u < low ? (low = u) : 0), 0)
stats file using (read(column('step'), strcol('tensor'), column('ulps'))) nooutput
message(_) = sprintf('The runs diverge at %s, by %s ulps; farthest apart is %s', first, say(first_ulps), far)
if (!(high > 0)) { low = 1; high = 10 }

do for [format in formats] {
	eval begin_picture(format, 74, 24)
	unset key
	set logscale y
	set xrange [0:rows + 1]; set yrange [low / 10:high * 10]
	eval decades(low / 10, high * 10)
	eval name_x(narrow ? 'tensors that differ, in their order' : 'recorded tensors that differ, in their order')
	eval name_y('largest difference, ulps')
	plot file using ($0 + 1):(positive(column('ulps'))) with impulses lw 1 lc rgb rule notitle, \
		file using ($0 + 1):(positive(column('ulps'))) with points pt 7 ps 0.5 lc rgb blue notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: OCP's scale of MXFP8 cuts off the top eighth of every binade
# caption: What MXFP8 stores of the largest element of a block, for all whole numbers of a binade, 128 to 255. By OCP's rule the scale is rounded down, and all {cut|%d} numbers above 224, 1.75 times the binade's
#   begin, are stored as 224, up to {worst|%.1f} % too small. Rounded up, as Transformer Engine does, the scale lets none saturate: errors have both signs and are at most {most|%.1f} %.
# source: Mishra et al. 2025, Recipes for Pre-training LLMs with MXFP8, arXiv 2506.08027
# data size=128..255: halfulp round --json --format mxfp8:floor,mxfp8:rceil -- {size}
# take: format exact value
load 'gallery-style.gp'

off(v, x) = 100 * (v / x - 1)
of(f) = strcol('format') eq f ? off(column('value'), column('exact')) : NaN
stats file using (of('mxfp8:floor')) name 'F' nooutput
stats file using (of('mxfp8:rceil')) name 'R' nooutput
stats file using (strcol('format') eq 'mxfp8:floor' && column('exact') > 224 && column('value') == 224 ? 1 : NaN) name 'C' nooutput
cut = C_records; worst = -F_min; most = R_max > -R_min ? R_max : -R_min

do for [format in formats] {
	eval begin(format, 'the largest element of a block of mxfp8, with the scale of OCP and rounded up')
	set rmargin at screen right(0.95)
	set xrange [128:256]; set yrange [-14:9]
	set xtics 32
	set ytics 4 format '%g %%'
	set lmargin at screen left(0.14)
	set label 1003 'largest element' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'stored, against the element' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set object 1 rectangle from 224, graph 0 to 256, graph 1 fc rgb wine fs transparent solid 0.10 noborder behind
	set label 1 B('rounded down (OCP)') at 221, -11 right textcolor rgb wine
	set label 2 B('rounded up') at 225, 7.7 right textcolor rgb teal_text
	plot 0 with lines lw 1 lc rgb soft notitle, \
		file using 'exact':(of('mxfp8:rceil')) with points pt 6 ps 0.7 lw 1.4 lc rgb teal notitle, \
		'' using 'exact':(of('mxfp8:floor')) with points pt 7 ps 0.45 lc rgb wine notitle
}
unset output

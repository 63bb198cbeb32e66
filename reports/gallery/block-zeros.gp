# SPDX-License-Identifier: Apache-2.0
# title: In a block, the largest value decides which small ones become zero
# caption: 32 values from 1 down to 2⁻¹⁵·⁵ in one block, in four block formats. The scale is set by the largest, so a small value meets the end of the element's range: mxfp4 keeps
#   {n_mxfp4} of 32, nvfp4, whose blocks are of 16, {n_nvfp4}, int8 {n_int8} and mxfp8 {n_mxfp8}.
# source: Rouhani et al. 2023, Microscaling Data Formats for Deep Learning, arXiv 2310.10537
# data: halfulp round --json --format mxfp4,nvfp4,int8,mxfp8 1 2^-0.5 2^-1 2^-1.5 2^-2 2^-2.5 2^-3 2^-3.5 2^-4 2^-4.5 2^-5 2^-5.5 2^-6 2^-6.5 2^-7 2^-7.5 2^-8 2^-8.5 2^-9 2^-9.5 2^-10 2^-10.5 2^-11 2^-11.5 2^-12 2^-12.5 2^-13 2^-13.5 2^-14 2^-14.5 2^-15 2^-15.5
# take: format input exact value block scale
load 'gallery-style.gp'

names = 'mxfp4 nvfp4 int8 mxfp8'
inks = wine.' '.purple.' '.ink.' '.teal
texts = wine.' '.purple.' '.ink.' '.teal_text
do for [k = 1:4] {
	stats file using (strcol('format') eq word(names, k) && column('value') != 0 ? 1 : NaN) name 'K' nooutput
	eval sprintf('n_%s = %d', word(names, k), K_records)
}
row_of(f) = f eq 'mxfp4' ? 4 : f eq 'nvfp4' ? 3 : f eq 'int8' ? 2 : 1

do for [format in formats] {
	eval begin(format, '32 values in mxfp4, nvfp4 (two blocks of 16), int8 and mxfp8; hollow: became zero')
	set lmargin at screen left(0.13); set rmargin at screen right(0.86)
	unset border; unset ytics
	set logscale x 2
	set xrange [2**-16:1.4]; set yrange [0.4:4.6]
	set xtics 2**-16, 16, 1 format '2^{%L}'
	set label 1003 'value, the largest of the block being 1' at screen 0.5, screen 14. / height center textcolor rgb soft
	do for [k = 1:4] {
		f = word(names, k)
		eval sprintf('n = n_%s', f)
		set label k B(f) at 2**-16.4, row_of(f) right textcolor rgb word(texts, k)
		set label 10 + k sprintf('%d of 32', n) at 1.6, row_of(f) left textcolor rgb word(texts, k)
	}
	plot for [k = 1:4] file using (strcol('format') eq word(names, k) && column('value') != 0 ? column('exact') : NaN):(row_of(word(names, k))) with points pt 7 ps 0.9 lc rgb word(inks, k) notitle, \
		for [k = 1:4] '' using (strcol('format') eq word(names, k) && column('value') == 0 ? column('exact') : NaN):(row_of(word(names, k))) with points pt 6 ps 0.9 lw 1 lc rgb word(inks, k) notitle
}
unset output

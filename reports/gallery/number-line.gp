# SPDX-License-Identifier: Apache-2.0
# title: Few bits, few numbers: all values of three small formats from 0 up
# caption: Every number from 0 up that e2m1 (4 bits, {n_e2m1} numbers to {top_e2m1}), e2m3 (6 bits, {n_e2m3} to {top_e2m3}) and e3m2 (6 bits, {n_e3m2} to {top_e3m2}) can hold. The same 32 codes are dense near 0 or
#   reach far: a bit of exponent is a bit less of precision.
# source: Rouhani et al. 2023, Microscaling Data Formats for Deep Learning, arXiv 2310.10537
# data: halfulp round --json --bits --format e2m1 0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x7
# data: halfulp round --json --bits --format e2m3,e3m2 0x00 0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08 0x09 0x0a 0x0b 0x0c 0x0d 0x0e 0x0f 0x10 0x11 0x12 0x13 0x14 0x15 0x16 0x17 0x18 0x19 0x1a 0x1b 0x1c 0x1d 0x1e 0x1f
# take: format input value
load 'gallery-style.gp'

names = 'e2m1 e2m3 e3m2'
do for [f in names] {
	stats file using (strcol('format') eq f ? column('value') : NaN) name 'K' nooutput
	eval sprintf('n_%s = %d; top_%s = %.17g', f, K_records, f, K_max)
}
inks = wine.' '.blue.' '.purple

do for [format in formats] {
	eval begin(format, 'the numbers of e2m1, e2m3 and e3m2 that are not negative')
	set lmargin at screen left(0.12); set rmargin at screen right(0.95)
	unset border; unset ytics
	set xrange [-0.4:28.6]; set yrange [0.4:3.6]
	set xtics 4
	set label 1003 'value' at screen 0.535, screen 14. / height center textcolor rgb soft
	do for [k = 1:3] {
		set label k B(word(names, k)) at -0.9, 4 - k right textcolor rgb word(inks, k)
		set arrow k from 0, 4 - k to 28, 4 - k nohead lw 0.8 lc rgb rule
	}
	plot for [k = 1:3] file using (strcol('format') eq word(names, k) ? column('value') : NaN):(4 - k - 0.28):(0):(0.56) with vectors nohead lw 1.6 lc rgb word(inks, k) notitle
}
unset output

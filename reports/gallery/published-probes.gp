# SPDX-License-Identifier: Apache-2.0
# title: {equal} of {tabled} values that papers tabled of tensor cores come out the same
# caption: The probes of the literature for tensor cores, run on our models: a filled dot equals the value that the papers tabled for this generation, a ring has no tabled value. {tabled} values are tabled;
#   {equal} of the models' sums are equal to them, bit by bit.
# source: Fasi, Higham, Mikaitis & Pranesh 2021, Numerical behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7
# data /probes arch=volta,turing,ampere,ada,hopper: halfulp probe --json --model tc:{arch},in=fp16
# take: arch probe inputs value tabled verdict
load 'gallery-style.gp'

# All columns read are text: say that the first row is none
set datafile columnheaders
archs = 'volta turing ampere ada hopper'
stats file using (strcol('tabled') ne '-' ? 1 : NaN) name 'T' nooutput
stats file using (strcol('tabled') ne '-' && strcol('tabled') eq strcol('value') ? 1 : NaN) name 'E' nooutput
tabled = T_records; equal = E_records
row_of(a) = a eq 'volta' ? 5 : a eq 'turing' ? 4 : a eq 'ampere' ? 3 : a eq 'ada' ? 2 : 1
array place[100]
names = ''
see(p) = (names = strstrt(names.' ', ' '.p.' ') ? names : names.' '.p, 0)
join(p) = strstrt(p, ' ') ? p[1:strstrt(p, ' ') - 1].'_'.join(p[strstrt(p, ' ') + 1:*]) : p
stats file using (see(join(strcol('probe')))) nooutput
probes = words(names)
column_of(p) = (found = 0, sum [i = 1:probes] (word(names, i) eq p ? i : 0))

do for [format in formats] {
	eval begin(format, 'probes of the literature on models tc:volta to tc:hopper, fp16 factors, fp32 result')
	set lmargin at screen 0.12; set rmargin at screen 0.97; set bmargin at screen 0.2
	unset border; unset ytics; unset grid
	set xrange [0.3:probes + 0.7]; set yrange [0.4:5.6]
	unset xtics
	do for [i = 1:probes] {
		p = word(names, i)
		# A probe of several parts is named at its first
		if (!strstrt(p, '_')) { set label 100 + i p at i, 0.2 right rotate by 90 noenhanced textcolor rgb soft font little(format) }
	}
	do for [a in archs] { set label 10 + row_of(a) B(a) at 0.2, row_of(a) right textcolor rgb ink }
	plot file using (strcol('tabled') eq '-' ? column_of(join(strcol('probe'))) : NaN):(row_of(strcol('arch'))) with points pt 6 ps 0.8 lw 1 lc rgb soft notitle, \
		'' using (strcol('tabled') ne '-' && strcol('tabled') eq strcol('value') ? column_of(join(strcol('probe'))) : NaN):(row_of(strcol('arch'))) with points pt 7 ps 1 lc rgb blue notitle, \
		'' using (strcol('tabled') ne '-' && strcol('tabled') ne strcol('value') ? column_of(join(strcol('probe'))) : NaN):(row_of(strcol('arch'))) with points pt 2 ps 1 lw 2 lc rgb wine notitle
}
unset output

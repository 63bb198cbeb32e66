# SPDX-License-Identifier: Apache-2.0
# title: {telling} of {probes} probes tell generations of tensor cores apart
# caption: The probes of the literature for tensor cores, run on our models: where all generations give a probe the same value there are small dots; elsewhere a circle is the value of the oldest, a square and a triangle are the second and third
#   value from there on. {tabled} values are tabled; {equal} of the models' values are equal to them, bit by bit. A ring around a mark is a value that nobody tabled, a cross one that differs.
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

# Which value of its probe a row has, counting from the oldest generation; the rows come in that order
array group[1000]
array most[100]
do for [i = 1:100] { most[i] = 0 }
seen = ' '
key_of(p, v) = join(p).'='.v.'#'
number_in(text, key) = int(text[strstrt(text, ' '.key) + strlen(key) + 1:strstrt(text, ' '.key) + strlen(key) + 1])
new(p, v, i) = (most[i] = most[i] + 1, seen = seen.key_of(p, v).sprintf('%d ', most[i]), most[i])
which(p, v) = strstrt(seen, ' '.key_of(p, v)) ? number_in(seen, key_of(p, v)) : new(p, v, column_of(join(p)))
stats file using (group[int(column(0)) + 1] = which(strcol('probe'), strcol('value')), 0) name 'R' nooutput
telling = 0
do for [i = 1:probes] { telling = telling + (most[i] > 1) }
at(p) = column_of(join(p))
among(k) = (column(0) >= 0 && most[at(strcol('probe'))] > 1 && group[int(column(0)) + 1] == k) ? at(strcol('probe')) : NaN
alike(p) = most[at(p)] == 1 ? at(p) : NaN

do for [format in formats] {
	eval begin(format, 'probes of the literature on models tc:volta to tc:hopper, fp16 factors, fp32 result')
	set lmargin at screen left(0.12); set rmargin at screen right(0.97); set bmargin at screen 0.27
	unset border; unset ytics; unset grid
	set xrange [0.3:probes + 0.7]; set yrange [0.4:5.6]
	unset xtics
	last = -1
	do for [i = 1:probes] {
		p = word(names, i)
		# A probe of several parts is named at its first
		stem_of_p = strstrt(p, '_') ? p[1:strstrt(p, '_') - 1] : p
		if ((i == 1 || stem_of_p ne before) && (!narrow || i - last > 1)) { last = i; set label 100 + i stem_of_p at i, 0.2 right rotate by 90 noenhanced textcolor rgb soft font little(format) }
		before = stem_of_p
	}
	do for [a in archs] { set label 10 + row_of(a) B(a) at 0.2, row_of(a) right textcolor rgb ink }
	set key at screen 0.11, screen 0.01 left bottom horizontal maxrows 1 samplen 0.8 width 1 textcolor rgb soft
	plot file using (alike(strcol('probe'))):(row_of(strcol('arch'))) with points pt 7 ps 0.5 lc rgb soft title 'all the same', \
		'' using (among(1)):(row_of(strcol('arch'))) with points pt 7 ps 1.1 lc rgb blue title 'first value', \
		'' using (among(2)):(row_of(strcol('arch'))) with points pt 5 ps 1.1 lc rgb purple title 'second', \
		'' using (among(3)):(row_of(strcol('arch'))) with points pt 9 ps 1.3 lc rgb teal title 'third', \
		'' using (strcol('tabled') eq '-' ? at(strcol('probe')) : NaN):(row_of(strcol('arch'))) with points pt 6 ps 1.7 lw 1 lc rgb soft notitle, \
		'' using (strcol('tabled') ne '-' && strcol('tabled') ne strcol('value') ? at(strcol('probe')) : NaN):(row_of(strcol('arch'))) with points pt 2 ps 1 lw 2 lc rgb wine notitle
}
unset output

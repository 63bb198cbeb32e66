# SPDX-License-Identifier: Apache-2.0
# title: Between two neighbours, each rounding mode draws its line elsewhere
# caption: x from −1.5 to 1.5 rounded to e2m1, whose numbers there are multiples of 0.5. Nearest-even (RNE) switches halfway and takes the even neighbour in a tie; nearest-away (RNA) takes the farther one;
#   toward zero (RZ), up (RU) and down (RD) switch at the numbers themselves. Ties between 0 and 0.5 go to {tie_RNE} in RNE and to {tie_RNA} in RNA.
# data mode=RNE,RNA,RZ,RU,RD: halfulp round --json --format e2m1 --mode {mode} --
#   -1.5 -1.4375 -1.375 -1.3125 -1.25 -1.1875 -1.125 -1.0625 -1 -0.9375 -0.875 -0.8125 -0.75 -0.6875 -0.625 -0.5625 -0.5 -0.4375
#   -0.375 -0.3125 -0.25 -0.1875 -0.125 -0.0625 0 0.0625 0.125 0.1875 0.25 0.3125 0.375 0.4375 0.5 0.5625 0.625 0.6875 0.75 0.8125
#   0.875 0.9375 1 1.0625 1.125 1.1875 1.25 1.3125 1.375 1.4375 1.5
# take: mode input value
load 'gallery-style.gp'

modes = 'RNE RNA RZ RU RD'
inks = ink.' '.blue.' '.purple.' '.teal.' '.wine
texts = ink.' '.blue.' '.purple.' '.teal_text.' '.wine
do for [m in 'RNE RNA'] {
	stats file using (strcol('mode') eq m && column('input') == 0.25 ? column('value') : NaN) name 'V' nooutput
	eval sprintf('tie_%s = %.17g', m, V_max)
}
height = narrow ? 350 : 400

step = (1 - left(0.06)) / 5.
do for [format in formats] {
	eval begin(format, 'x rounded to e2m1 in five modes; the dotted line is x itself')
	set multiplot
	set xrange [-1.6:1.6]; set yrange [-1.8:1.8]
	set xtics 1; set ytics 1
	do for [k = 1:5] {
		m = word(modes, k)
		set lmargin at screen left(0.06) + step * (k - 1); set rmargin at screen left(0.06) + step * (k - 1) + 0.88 * step
		set tmargin at screen 1 - (head + 34) / height; set bmargin at screen 60. / height
		set format y (k == 1 ? '%g' : '')
		set label 1 B(m) at graph 0.5, graph 1.09 center textcolor rgb word(texts, k)
		if (k == 3) { set label 1003 'x' at screen 0.52, screen 14. / height center textcolor rgb soft }
		plot x with lines lw 1 dt 3 lc rgb soft notitle, \
			file using (strcol('mode') eq m ? column('input') : NaN):'value' with points pt 7 ps 0.3 lc rgb word(inks, k) notitle
		unset label 1001; unset label 1002; unset label 1003
	}
	unset multiplot
}
unset output

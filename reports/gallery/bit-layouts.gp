# SPDX-License-Identifier: Apache-2.0
# title: π in six formats: the same sign, fewer and fewer bits
# caption: The bits of π rounded to each format: sign, exponent, significand. fp32 keeps {v_fp32|%.8g}, fp16 and tf32 {v_fp16|%.8g}, bf16 {v_bf16|%.8g}, e5m2 {v_e5m2|%.4g} and e4m3 {v_e4m3|%.4g}.
#   bf16 is the upper half of fp32; tf32 has the exponent of fp32 and the significand of fp16.
# data: halfulp formats --json pi
# take: format value bits where format=fp32|tf32|bf16|fp16|e5m2|e4m3
# data shape: halfulp formats --json fp32 tf32 bf16 fp16 e5m2 e4m3
# take shape: name bits exponent_bits p
load 'gallery-style.gp'

count = 6
array name[count]; array wide[count]; array ebits[count]; array code[count]; array val[count]
shape_of(i, n, w, e) = (name[i] = n, wide[i] = w, ebits[i] = e, 0)
stats file_shape using (shape_of(int(column(0)) + 1, strcol('name'), column('bits'), column('exponent_bits'))) nooutput
hexdigit(c) = strstrt('0123456789abcdef', c) - 1
number_of(s) = strlen(s) <= 2 ? 0 : 16. * number_of(s[1:strlen(s) - 1]) + hexdigit(s[strlen(s):strlen(s)])
put(n, c, v) = (sum [i = 1:count] (name[i] eq n ? (code[i] = number_of(c), val[i] = v, 0) : 0), 0)
stats file using (put(strcol('format'), strcol('bits'), column('value'))) nooutput
do for [i = 1:count] { eval sprintf('v_%s = %.17g', name[i], val[i]) }
bit(i, k) = int(floor(code[i] / 2.**(wide[i] - k))) % 2

# Gaps part the three fields: their colours are one to those who do not see red
after(i, k) = k + (k > 1 ? 0.4 : 0) + (k > 1 + ebits[i] ? 0.4 : 0)
do for [format in formats] {
	eval begin(format, 'sign (dark), exponent (blue) and significand (purple) of π in fp32, tf32, bf16, fp16, e5m2 and e4m3')
	set lmargin at screen left(0.11); set rmargin at screen right(0.98); set bmargin at screen 0.03
	unset border; unset tics; unset grid
	set xrange [0:40]; set yrange [0.3:6.7]
	do for [i = 1:count] {
		y = count + 1 - i
		set label 10 * i B(name[i]) at -0.4, y right textcolor rgb ink
		do for [k = 1:int(wide[i])] {
			fill = k == 1 ? ink : k <= 1 + ebits[i] ? blue : purple
			set object 100 * i + k rectangle from after(i, k) - 0.94, y - 0.36 to after(i, k) - 0.06, y + 0.36 fc rgb fill fs transparent solid 0.2 noborder
			set label 1100 + 40 * i + k sprintf('%d', bit(i, k)) at after(i, k) - 0.5, y center textcolor rgb fill font little(format)
		}
		set label 10 * i + 1 sprintf('%.8g', val[i]) at wide[i] + 1.2, y left textcolor rgb ink font little(format)
	}
	plot NaN lc rgb ink notitle
}
unset output

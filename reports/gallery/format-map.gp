# SPDX-License-Identifier: Apache-2.0
# title: A format spends its bits on range or on precision: fp16 against bf16
# caption: The range of positive numbers of each format, subnormals included, against its significant bits. bf16 spans {span_bf16|%.0f} powers of two with {p_bf16} bits, fp16 {span_fp16|%.0f} with {p_fp16};
#   tf32 has the bits of fp16 and the range of fp32. The thin part of each line is where subnormals lose bits.
# data: halfulp formats --json fp32 tf32 fp16 bf16 e5m2 e4m3 e3m2 e2m1
# take: name bits p emin emax max_finite min_normal min_positive
load 'gallery-style.gp'

count = 8
array name[count]; array p[count]; array low[count]; array normal[count]; array high[count]
read(i, n, b, l, m, h) = (name[i] = n, p[i] = b, low[i] = log2(l), normal[i] = log2(m), high[i] = log2(h), 0)
stats file using (read(int(column(0)) + 1, strcol('name'), column('p'), column('min_positive'), column('min_normal'), column('max_finite'))) nooutput
do for [i = 1:count] { eval sprintf('span_%s = %.17g; p_%s = %d', name[i], high[i] - low[i], name[i], p[i]) }
shade(n) = n eq 'e3m2' || n eq 'e2m1' ? wine : hue(n)
text_of(n) = n eq 'e3m2' || n eq 'e2m1' ? wine : tone(n)
rows = 8
row(i) = rows + 1 - i

do for [format in formats] {
	eval begin(format, 'range and precision of fp32, tf32, fp16, bf16, e5m2, e4m3, e3m2 and e2m1')
	set lmargin at screen left(0.11); set rmargin at screen right(0.88)
	unset ytics; set border 1
	set xrange [-155:132]; set yrange [0.4:rows + 0.6]
	set xtics ('2^{−150}' -150, '2^{−100}' -100, '2^{−50}' -50, '1' 0, '2^{50}' 50, '2^{100}' 100)
	set label 1003 'positive numbers' at screen 0.5, screen 14. / height center textcolor rgb soft
	do for [i = 1:count] {
		set arrow 2 * i from low[i], row(i) to normal[i], row(i) nohead lw 1.6 lc rgb shade(name[i])
		set arrow 2 * i + 1 from normal[i], row(i) to high[i], row(i) nohead lw 7 lc rgb shade(name[i])
		set label i B(name[i]) at graph -0.02, first row(i) right textcolor rgb text_of(name[i])
		set label 20 + i sprintf('%d bits', p[i]) at graph 1.02, first row(i) left textcolor rgb text_of(name[i])
	}
	plot NaN lc rgb ink notitle
}
unset output

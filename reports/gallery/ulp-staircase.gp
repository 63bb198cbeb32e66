# SPDX-License-Identifier: Apache-2.0
# title: The gap between neighbours doubles at every power of two
# caption: One ulp, the distance from x rounded down to x rounded up, from 2⁻²⁶ to 2⁸. At 1 it is {power(u_fp16)|%s} in fp16, {power(u_bf16)|%s} in bf16 and {power(u_e4m3)|%s} in e4m3. Below its smallest normal number a
#   format keeps the gap of that number: 2⁻²⁴ in fp16, 2⁻⁹ in e4m3; bf16 has no such floor here.
# data format=fp16,bf16,e4m3: halfulp calc --json --format {format} --mode RU --vary x=0x1.0101p-26..0x1.0101p8:273,log 'x'
# take: format at value
# data down format=fp16,bf16,e4m3: halfulp calc --json --format {format} --mode RD --vary x=0x1.0101p-26..0x1.0101p8:273,log 'x'
# take down: format at value
load 'gallery-style.gp'

points = 3 * 273
array up[points]; array at[points]; array gap[points]; array name[points]
read(i, f, x, v) = (name[i] = f, at[i] = x, up[i] = v, 0)
less(i, v) = (gap[i] = up[i] - v, 0)
stats file using (read(int(column(0)) + 1, strcol('format'), column('at'), column('value'))) nooutput
stats file_down using (less(int(column(0)) + 1, column('value'))) nooutput
gap_at(f, x) = (g = 0, sum [i = 1:points] (name[i] eq f && at[i] > x && (i == 1 || at[i - 1] <= x || name[i - 1] ne f) ? gap[i] : 0))
u_fp16 = gap_at('fp16', 1.); u_bf16 = gap_at('bf16', 1.); u_e4m3 = gap_at('e4m3', 1.)

do for [format in formats] {
	eval begin(format, 'one ulp of fp16, bf16 and e4m3 against x')
	set logscale xy 2
	set rmargin at screen right(0.88)
	set xrange [2**-26:2**8]; set yrange [2**-34:4**2]
	set xtics 2**-24, 16, 2**8 format '2^{%L}'
	set ytics 2**-32, 16, 16 format '2^{%L}'
	set label 1003 'x' at screen 0.495, screen 14. / height center textcolor rgb soft
	set label 1004 'one ulp' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('e4m3') at 2**8, 2**4 left offset 0.6, -0.2 textcolor rgb teal_text
	set label 2 B('bf16') at 2**8, 1 left offset 0.6, 0 textcolor rgb purple
	set label 3 B('fp16') at 2**8, 2**-3 left offset 0.6, 0 textcolor rgb blue
	plot for [f in 'e4m3 bf16 fp16'] at using (name[$1] eq f ? at[$1] : NaN):(positive(gap[$1])) with steps lw 2.2 lc rgb hue(f) notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Tensor cores add differently by generation, and none rounds to nearest
# caption: Features of tensor cores found from sums alone, by models of the matrix instructions (fp16 factors, fp32 result). Blocks grew from {n_volta} to {n_hopper} products and
#   the alignment gained {x_hopper} bits between Volta and Hopper; all of them chop. {monotone} of {archs} are monotone.
# source: Fasi, Higham, Mikaitis & Pranesh 2021, Numerical behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7
# data arch=volta,turing,ampere,ada,hopper: halfulp probe --json --model tc:{arch},in=fp16
# take: arch products_in_a_block extra_alignment_bits rounding_of_aligned_terms rounding_of_the_output monotone source
load 'gallery-style.gp'

archs = 5; monotone = 0
array arch[archs]; array block[archs]; array extra[archs]; array way[archs]; array mono[archs]
read(i, a, n, e, w, m) = (arch[i] = a, block[i] = n, extra[i] = e, way[i] = w, mono[i] = m, monotone = monotone + (m eq 'yes'), 0)
stats file using (read(int(column(0)) + 1, strcol('arch'), column('products_in_a_block'), column('extra_alignment_bits'), strcol('rounding_of_the_output'), strcol('monotone'))) nooutput
n_volta = block[1]; n_hopper = block[5]; x_hopper = extra[5] - extra[1]

do for [format in formats] {
	eval begin(format, 'models tc:volta to tc:hopper, fp16 factors, fp32 result')
	set lmargin at screen left(0.02); set rmargin at screen right(0.98); set bmargin at screen 0.03
	unset border; unset tics; unset grid
	set xrange [0:100]; set yrange [-0.6:5.6]
	set label 1 narrow ? 'products' : 'products in a block' at 34, 5.2 center textcolor rgb soft font little(format)
	set label 2 narrow ? 'extra bits' : 'extra alignment bits' at 59, 5.2 center textcolor rgb soft font little(format)
	set label 3 'rounds' at 79, 5.2 center textcolor rgb soft font little(format)
	set label 4 'monotone' at 94, 5.2 center textcolor rgb soft font little(format)
	do for [i = 1:archs] {
		y = archs - i + 0.3
		set label 10 * i B(arch[i]) at 1, y left textcolor rgb ink
		do for [k = 1:int(block[i])] { set object 100 * i + k rectangle from 25 + 1.15 * k - 0.45, y - 0.3 to 25 + 1.15 * k + 0.45, y + 0.3 fc rgb blue fs solid 0.8 noborder }
		set label 10 * i + 1 sprintf('%d', block[i]) at 24.5, y right textcolor rgb blue
		do for [k = 1:int(extra[i])] { set object 100 * i + 50 + k rectangle from 55.5 + 2.6 * k - 1, y - 0.3 to 55.5 + 2.6 * k + 1, y + 0.3 fc rgb purple fs solid 0.8 noborder }
		set label 10 * i + 2 sprintf('%d', extra[i]) at 54.5, y right textcolor rgb purple
		set label 10 * i + 3 way[i] at 79, y center textcolor rgb ink
		set label 10 * i + 4 mono[i] at 94, y center textcolor rgb ink
		set arrow i from 0, y - 0.52 to 100, y - 0.52 nohead lw 0.6 lc rgb rule
	}
	plot NaN lc rgb ink notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: Three orders of the same operations give NVFP4's blocks other scales
# caption: The scales of {blocks|%d} blocks that lie halfway between two codes of e4m3, exactly, computed in fp32 as Transformer Engine (TE), fouroversix (4/6) and torchao do. Rounded once they would go to the even code, the larger one in {even|%d};
#   Transformer Engine's order takes the larger one in {te|%d}, fouroversix's in {quotient|%d} and torchao's in {torchao|%d}, and in no block do all three agree.
# source: NVIDIA 2025, Pretraining Large Language Models with NVFP4, arXiv 2509.25149; Transformer Engine, torchao and fouroversix as released in 2026
# data: halfulp round --json --format nvfp4:te,nvfp4:quotient,nvfp4:torchao -- 1.09375 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.56640625 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.6640625 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.8203125 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
# take: exact scale
# data b: halfulp round --json --format nvfp4:te,nvfp4:quotient,nvfp4:torchao -- 1.53125 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.68359375 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.79296875 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.9296875 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
# take b: exact scale
# data c: halfulp round --json --format nvfp4:te,nvfp4:quotient,nvfp4:torchao -- 1.96875 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.59765625 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.73828125 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.87890625 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
# take c: exact scale
# data d: halfulp round --json --format nvfp4:te,nvfp4:quotient,nvfp4:torchao -- 1.75 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.71875 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.96875 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
# take d: exact scale
load 'gallery-style.gp'

blocks = 0; even = 0; te = 0; quotient = 0; torchao = 0
array code[33]; array halfway[11]; array own[11]; array whole[11]
files = file.' '.file_b.' '.file_c.' '.file_d
# The first value of every 16 is the largest of its block, and the first block has that of the array
put(rule, b, exact, scale) = b == 0 ? (largest = exact) : \
	(code[3 * (blocks + b - 1) + rule + 1] = scale, own[blocks + b] = exact, whole[blocks + b] = largest, \
	halfway[blocks + b] = exact * 448 / largest)
do for [k = 1:4] {
	more = k == 4 ? 2 : 3
	m = 16 * (more + 1)
	stats word(files, k) using (int(column(0)) % 16 == 0 ? put(int(column(0)) / m, int(column(0)) % m / 16, column('exact'), column('scale')) : NaN) nooutput
	blocks = blocks + more
}
goes(b, rule) = code[3 * b + rule - 3] > halfway[b]
larger(b) = code[3 * b - 2] > code[3 * b] ? code[3 * b - 2] : code[3 * b]
smaller(b) = 2 * halfway[b] - larger(b)
# A code of e4m3 is even where its value is an even number of steps
is_even(b) = int(larger(b) / (larger(b) - smaller(b))) % 2 == 0
do for [b = 1:blocks] {
	te = te + goes(b, 1); quotient = quotient + goes(b, 2); torchao = torchao + goes(b, 3); even = even + is_even(b)
}

do for [format in formats] {
	eval begin(format, 'scales of nvfp4 blocks halfway between two codes: which of them each order of operations takes')
	set lmargin at screen left(0.23); set rmargin at screen right(0.84)
	unset border; unset ytics; unset xtics; unset grid
	set xrange [0.5:3.5]; set yrange [-blocks - 0.6:0.7]
	set label 1 B('TE') at 1, 0.2 center textcolor rgb ink
	set label 2 B('4/6') at 2, 0.2 center textcolor rgb ink
	set label 3 B('torchao') at 3, 0.2 center textcolor rgb ink
	do for [b = 1:blocks] {
		set label 10 + b sprintf('%.4g of %.5g', own[b], whole[b]) at 0.4, -b right textcolor rgb soft
		set label 30 + b sprintf('%g or %g', smaller(b), larger(b)) at 3.55, -b left textcolor rgb soft
	}
	plot for [rule = 1:3] own using ($1 <= blocks && goes($1, rule) ? rule : NaN):(-$1) with points pt 9 ps 1.1 lc rgb purple notitle, \
		for [rule = 1:3] own using ($1 <= blocks && !goes($1, rule) ? rule : NaN):(-$1) with points pt 11 ps 1.1 lc rgb blue notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: The same eight terms, added in four orders: depth decides the bound
# caption: The order in which four models add eight terms, revealed from their sums alone. One after another takes {depth_1} additions in a row, chunks of four {depth_2}, pairs {depth_3}, and a tensor core adds all of them in {depth_4}, with one
#   alignment. For the first three, the longest chain times u bounds the error.
# source: Xie, Gao & Chen 2024, FPRev: Revealing floating-point summation order, arXiv 2411.00442
# data sum=fma,chunk:4,pairwise,tc:hopper: halfulp tree --json --full --n 8 --op matmul --backend cpu --sum {sum}
# take: sum tree hash
load 'gallery-style.gp'

# All columns read are text: say that the first row is none
set datafile columnheaders
models = 'fma chunk:4 pairwise tc:hopper'
array tree[4]
do for [k = 1:4] {
	text = ''
	stats file using (strcol('sum') eq word(models, k) ? (text = strcol('tree'), 1) : NaN) nooutput
	tree[k] = text
}
# Reads a tree such as ((1 2) 3), terms of one digit: a node stands over the middle of its children, one above the highest
array open_at[20]; array x_sum[20]; array kids[20]; array top[20]; array lines[4]
array from_x[200]; array from_y[200]; array to_x[200]; array to_y[200]; array of_tree[200]; array child_x[200]; array child_y[200]
edges = 0
array depth_of[4]
do for [k = 1:4] {
	level = 0; pending = 0
	do for [i = 1:strlen(tree[k])] {
		c = tree[k][i:i]
		done = 0
		if (c eq '(') { level = level + 1; open_at[level] = pending; x_sum[level] = 0; kids[level] = 0; top[level] = 0 }
		if (c ne '(' && c ne ')' && c ne ' ') { px = real(c); py = 0; done = 1 }
		if (c eq ')') {
			px = x_sum[level] / kids[level]; py = top[level] + 1; done = 1
			do for [j = open_at[level] + 1:pending] {
				edges = edges + 1
				from_x[edges] = child_x[j]; from_y[edges] = child_y[j]; to_x[edges] = px; to_y[edges] = py; of_tree[edges] = k
			}
			pending = open_at[level]; level = level - 1
			depth_of[k] = py
		}
		if (done) {
			pending = pending + 1; child_x[pending] = px; child_y[pending] = py
			if (level > 0) { x_sum[level] = x_sum[level] + px; kids[level] = kids[level] + 1; top[level] = py > top[level] ? py : top[level] }
		}
	}
}
depth_1 = depth_of[1]; depth_2 = depth_of[2]; depth_3 = depth_of[3]; depth_4 = depth_of[4]
inks = wine.' '.cyan.' '.blue.' '.ink
texts = wine.' '.cyan_text.' '.blue.' '.ink

do for [format in formats] {
	eval begin(format, 'products of 8 terms summed by fma, chunk:4, pairwise (fp32) and tc:hopper (fp16 factors)')
	set lmargin at screen left(0.03); set rmargin at screen right(0.97); set bmargin at screen 0.12
	unset border; unset tics; unset grid
	set xrange [0:40]; set yrange [-0.9:8.6]
	do for [e = 1:edges] { set arrow e from from_x[e] + 10 * (of_tree[e] - 1), from_y[e] to to_x[e] + 10 * (of_tree[e] - 1), to_y[e] nohead lw 1.6 lc rgb word(inks, of_tree[e]) }
	do for [k = 1:4] {
		set label 300 + k B(word(models, k)) at 10 * (k - 1) + 4.5, 8.2 center textcolor rgb word(texts, k)
		set label 310 + k sprintf('%d in a row', depth_of[k]) at 10 * (k - 1) + 4.5, -1.7 center textcolor rgb word(texts, k) font little(format)
		do for [t = 1:8] { set label 320 + 8 * k + t sprintf('%d', t) at 10 * (k - 1) + t, -0.6 center textcolor rgb soft font little(format) }
	}
	plot NaN lc rgb ink notitle
}
unset output

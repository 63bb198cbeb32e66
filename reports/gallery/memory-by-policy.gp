# SPDX-License-Identifier: Apache-2.0
# title: Mixed precision saves activations, not weights: masters and moments stay in fp32
# caption: Bytes that a training step of the convnet keeps (batch 64, 28 × 28 pixels), by policy. mixed_float16 needs {share_mixed_float16|%.0f} % of float32's memory: its activations shrink from {act_float32|%.1f} to {act_mixed_float16|%.1f} MB while
#   weights with their fp32 masters grow. Pure float16, without masters, needs {share_float16|%.0f} %.
# data policy=float32,mixed_float16,float16,mixed_e4m3: halfulp plan --json --model convnet --policy {policy}
# take: policy memory_bytes.weights memory_bytes.masters memory_bytes.activations memory_bytes.gradients memory_bytes.optimizer_state device_bytes
load 'gallery-style.gp'

policies = 'float32 mixed_float16 float16 mixed_e4m3'
kinds = 'weights masters activations gradients optimizer_state'
inks = blue.' '.cyan.' '.purple.' '.olive.' '.indigo
array part[20]
take(i, k, v) = (part[5 * i + k] = v / 1e6, 0)
stats file using (take(int(column(0)), 1, column('memory_bytes.weights')) + take(int(column(0)), 2, column('memory_bytes.masters')) + take(int(column(0)), 3, column('memory_bytes.activations')) \
	+ take(int(column(0)), 4, column('memory_bytes.gradients')) + take(int(column(0)), 5, column('memory_bytes.optimizer_state'))) nooutput
whole(i) = sum [k = 1:5] part[5 * (i - 1) + k]
do for [i = 1:4] { eval sprintf('share_%s = %.17g; act_%s = %.17g', word(policies, i), 100 * whole(i) / whole(1), word(policies, i), part[5 * (i - 1) + 3]) }

kind_at(k) = narrow ? 0.02 + 0.2 * (k - 1) : 0.2 + 0.155 * (k - 1)
do for [format in formats] {
	eval begin(format, 'memory of a training step by policy, convnet, batch 64')
	set lmargin at screen left(0.2); set rmargin at screen right(0.93); set tmargin at screen 1 - (head + 34) / height
	set border 1; unset ytics
	set xrange [0:whole(1) * 1.12]; set yrange [0.4:4.6]
	set label 1003 'MB' at screen 0.565, screen 14. / height center textcolor rgb soft
	do for [i = 1:4] {
		edge = 0
		set label 10 * i word(policies, i) at graph -0.02, first 5 - i right noenhanced textcolor rgb ink
		do for [k = 1:5] {
			v = part[5 * (i - 1) + k]
			if (v > 0) { set object 10 * i + k rectangle from edge, 5 - i - 0.3 to edge + v, 5 - i + 0.3 fc rgb word(inks, k) fs solid 0.85 border lc rgb ground lw 1.5 }
			edge = edge + v
		}
		set label 10 * i + 1 sprintf('%.1f MB', edge) at edge, 5 - i left offset 0.6, 0 textcolor rgb ink
	}
	do for [k = 1:5] {
		set object 200 + k rectangle from screen kind_at(k), screen 1 - (head + 18) / height to screen kind_at(k) + left(0.015), screen 1 - (head + 8) / height fc rgb word(inks, k) fs solid 0.85 noborder
		kind = k == 5 ? 'optimizer' : word(kinds, k)
		set label 200 + k kind at screen kind_at(k) + left(0.022), screen 1 - (head + 13) / height left textcolor rgb ink font little(format)
	}
	plot NaN lc rgb ink notitle
}
unset output

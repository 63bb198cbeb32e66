# SPDX-License-Identifier: Apache-2.0
# title: A dynamic loss scale is a saw-tooth: it doubles until one overflows
# caption: The loss scale of four rules, each over its own run of mixed_float16 (mlp on generated digits, growth after 20 finite steps).
#   A cross is a step that was skipped because a gradient overflowed: {skipped_pytorch} of {steps} with PyTorch's rule, {skipped_keras} with
#   Keras's, {skipped_apex} with Apex's and {skipped_deepspeed} with DeepSpeed's, which forgives the first overflow before it shrinks.
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --epochs 4 --policy mixed_float16 --loss-scale pytorch:interval=20 --trace steps=none --quiet scale-pytorch
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --epochs 4 --policy mixed_float16 --loss-scale keras:interval=20 --trace steps=none --quiet scale-keras
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --epochs 4 --policy mixed_float16 --loss-scale apex:interval=20 --trace steps=none --quiet scale-apex
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --epochs 4 --policy mixed_float16 --loss-scale deepspeed:interval=20 --trace steps=none --quiet scale-deepspeed
# table rule=pytorch,keras,apex,deepspeed: scale-{rule}/metrics.tsv
# take: rule step loss_scale skipped
load 'gallery-style.gp'

rules = 'pytorch keras apex deepspeed'
shown = "PyTorch Keras Apex DeepSpeed"
stats file using 'step' name 'T' nooutput
steps = int(T_max) + 1
of(r, x) = strcol('rule') eq r ? x : NaN
do for [r in rules] {
	stats file using (of(r, column('skipped'))) name 'K' nooutput
	eval sprintf('skipped_%s = %d', r, K_sum)
}
stats file using (log2(column('loss_scale'))) name 'L' nooutput
height = narrow ? 370 : 420
inks = blue.' '.teal.' '.purple.' '.ink
texts = blue.' '.teal_text.' '.purple.' '.ink

do for [format in formats] {
	eval begin(format, 'policy mixed_float16, dynamic scaling, mlp on generated digits, growth interval 20')
	set multiplot
	set xrange [-2:steps + 1]; set yrange [L_min - 0.5:L_max + 1.2]
	set xtics 50
	set ytics 2 format '2^{%g}'
	set rmargin at screen right(0.82)
	do for [k = 1:4] {
		r = word(rules, k)
		eval sprintf('n = skipped_%s', r)
		set tmargin at screen 1 - (head - 2 + 78 * (k - 1)) / height
		set bmargin at screen 1 - (head - 2 + 78 * (k - 1) + 66) / height
		if (k == 4) { set label 1003 'training step' at screen 0.46, screen 14. / height center textcolor rgb soft; set format x '%g' } else { set format x '' }
		set label 1 B(word(shown, k)) at graph 1.02, 0.62 left textcolor rgb word(texts, k)
		set label 1 at graph 1.02, graph 0.62
		set label 2 sprintf('%d skipped', n) at graph 1.02, graph 0.36 left textcolor rgb soft font little(format)
		plot file using (of(r, column('step'))):(log2(column('loss_scale'))) with steps lw 1.8 lc rgb word(inks, k) notitle, \
			'' using (of(r, column('skipped') > 0 ? column('step') : NaN)):(log2(column('loss_scale')) + 0.5) with points pt 2 ps 0.45 lw 1.2 lc rgb wine notitle
		unset label 1001; unset label 1002; unset label 1003
	}
	unset multiplot
}
unset output

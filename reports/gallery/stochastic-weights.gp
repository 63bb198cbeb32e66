# SPDX-License-Identifier: Apache-2.0
# title: bf16 weights that are rounded stochastically train as float32 masters do
# caption: The training loss of a small gpt whose weights, gradients and moments are all in bf16, less that of the same steps with float32 master weights (mixed precision). Rounded to nearest, the loss is
#   {nearest|%.3f} higher over the last {last|%d} of {steps|%d} steps; with AdamW's updates rounded stochastically it is {drawn|%.3f} from it, to either side.
# source: Ozkara, Yu, Park 2025, Stochastic Rounding for LLM Training: Theory and Practice, arXiv 2502.20566
# run: halfulp train --model gpt:layers=2,hidden=32,heads=2,inner=64 --data length=32,train=1600,eval=200 --batch 16 --optimizer adamw:lr=3e-3 --steps 90 --trace steps=none --meter none --quiet --policy mixed_bfloat16 weights-mixed
# run: halfulp train --model gpt:layers=2,hidden=32,heads=2,inner=64 --data length=32,train=1600,eval=200 --batch 16 --optimizer adamw:lr=3e-3 --steps 90 --trace steps=none --meter none --quiet --policy bfloat16 weights-nearest
# run: halfulp train --model gpt:layers=2,hidden=32,heads=2,inner=64 --data length=32,train=1600,eval=200 --batch 16 --optimizer adamw:lr=3e-3,update=sr --steps 90 --trace steps=none --meter none --quiet --policy bfloat16 weights-drawn
# table way=mixed,nearest,drawn: weights-{way}/metrics.tsv
# take: way step loss
load 'gallery-style.gp'

stats file using 'step' name 'T' nooutput
steps = int(T_max) + 1; last = 30
array mixed[steps]; array near[steps]; array draw[steps]
put(w, k, x) = w eq 'mixed' ? (mixed[k] = x) : w eq 'nearest' ? (near[k] = x - mixed[k]) : (draw[k] = x - mixed[k])
stats file using (put(strcol('way'), int(column('step')) + 1, column('loss'))) nooutput
nearest = 0.; drawn = 0.
do for [k = steps - last + 1:steps] { nearest = nearest + near[k] / last; drawn = drawn + draw[k] / last }
drawn = abs(drawn)
stats near using (near[$1]) name 'N' nooutput

do for [format in formats] {
	eval begin(format, 'policy bfloat16 against mixed_bfloat16, a gpt of two layers, AdamW: difference of the training loss')
	set rmargin at screen right(0.80)
	set xrange [0:steps]; set yrange [-N_max / 2:N_max * 1.1]
	set xtics 30
	set lmargin at screen left(0.14)
	set label 1003 'training step' at screen 0.46, screen 14. / height center textcolor rgb soft
	set label 1004 'loss, less that of masters' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('to nearest') at steps, near[steps] left offset 0.6, 0 textcolor rgb wine
	set label 2 B('stochastic') at steps, draw[steps] left offset 0.6, 0 textcolor rgb teal_text
	plot 0 with lines lw 1 lc rgb soft notitle, \
		near using 1:(near[$1]) with lines lw 2.2 lc rgb wine notitle, \
		draw using 1:(draw[$1]) with lines lw 2.2 lc rgb teal notitle
}
unset output

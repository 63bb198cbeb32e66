# SPDX-License-Identifier: Apache-2.0
# title: Attention that stores P·V before it divides explodes; a sound δ cures it
# caption: The training loss of a small gpt without positions, means of {window|%d} steps. Attention computes in three
#   significant bits. Where its sums of weights times values are rounded before they are divided, the loss over the
#   last {last|%d} of {steps|%d} steps is {stored|%.2f}, in float32 {sound|%.2f}.
#   Where the gradients alone take δ = Σ dO·O from the result that was not rounded, it is {cured|%.2f}.
# source: Qiu, Yao 2025, Why Low-Precision Transformer Training Fails: An Analysis on Flash Attention, arXiv 2510.04212
# run: halfulp train --model gpt:layers=1,hidden=32,heads=2,inner=1,position=none,flash=32 --data length=32 --batch 16
#   --optimizer adamw:weight_decay=0,beta2=.95,clip_norm=1,lr=.05 --schedule constant:warmup=100 --steps 400 --trace
#   steps=none --meter none --quiet --policy float32 explodes-sound
# run: halfulp train --model gpt:layers=1,hidden=32,heads=2,inner=1,position=none,flash=32,flash_sum=stored --data
#   length=32 --batch 16 --optimizer adamw:weight_decay=0,beta2=.95,clip_norm=1,lr=.05 --schedule constant:warmup=100
#   --steps 400 --trace steps=none --meter none --quiet --policy float32,layer:block1_attention=e8m2 explodes-stored
# run: halfulp train --model
#   gpt:layers=1,hidden=32,heads=2,inner=1,position=none,flash=32,flash_sum=stored,flash_delta=unrounded --data
#   length=32 --batch 16 --optimizer adamw:weight_decay=0,beta2=.95,clip_norm=1,lr=.05 --schedule constant:warmup=100
#   --steps 400 --trace steps=none --meter none --quiet --policy float32,layer:block1_attention=e8m2 explodes-cured
# table way=sound,stored,cured: explodes-{way}/metrics.tsv
# take: way step loss
load 'gallery-style.gp'

stats file using 'step' name 'T' nooutput
steps = int(T_max) + 1; last = 100; window = 20; n = steps / window
array a[n]; array b[n]; array c[n]
do for [k = 1:n] { a[k] = 0.; b[k] = 0.; c[k] = 0. }
sound = 0.; stored = 0.; cured = 0.
put(w, k, x) = w eq 'sound' ? (a[k] = a[k] + x) : w eq 'stored' ? (b[k] = b[k] + x) : (c[k] = c[k] + x)
add(w, x) = w eq 'sound' ? (sound = sound + x) : w eq 'stored' ? (stored = stored + x) : (cured = cured + x)
row(w, s, x) = (put(w, s / window + 1, x / window), s < steps - last ? 0 : add(w, x / last))
stats file using (row(strcol('way'), int(column('step')), column('loss'))) nooutput
stats b using (b[$1]) name 'B' nooutput

do for [format in formats] {
	eval begin(format, 'gpt of one block, attention in e8m2 and all else float32, AdamW at 0.05: the training loss')
	set rmargin at screen right(0.76)
	set xrange [0:steps]; set yrange [2:B_max * 1.05]
	set xtics 100
	set ytics 1
	set label 1003 'training step' at screen 0.43, screen 14. / height center textcolor rgb soft
	set label 1004 'loss' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('stored first') at steps, b[n] left offset 0.6, 0 textcolor rgb wine
	set label 2 B('float32') at steps, a[n] left offset 0.6, 0.55 textcolor rgb ink
	set label 3 B('δ unrounded') at steps, c[n] left offset 0.6, -0.55 textcolor rgb blue
	plot a using ($1 * window):(a[$1]) with lines lw 1.4 lc rgb ink notitle, \
		c using ($1 * window):(c[$1]) with lines lw 2.4 lc rgb blue notitle, \
		b using ($1 * window):(b[$1]) with lines lw 2.8 lc rgb wine notitle
}
unset output

# SPDX-License-Identifier: Apache-2.0
# title: fp32 master weights learn to {good|%.0f} % accuracy where bf16 weights reach {bad|%.0f} %
# caption: Accuracy on unseen digits over {epochs} epochs of SGD (mlp, learning rate 0.01). All in fp32: {best|%.1f} %. bf16 arithmetic over fp32 master weights: {good|%.1f} %.
#   bf16 weights, which most updates leave as they are: {bad|%.1f} %.
# source: Micikevicius et al. 2018, Mixed Precision Training, arXiv 1710.03740
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --epochs 20 --trace steps=none --quiet --policy bfloat16 sgd-bfloat16
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --epochs 20 --trace steps=none --quiet --policy mixed_bfloat16 sgd-mixed_bfloat16
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --epochs 20 --trace steps=none --quiet --policy float32 sgd-float32
# table policy=float32,mixed_bfloat16,bfloat16: sgd-{policy}/metrics.tsv
# take: policy step epoch loss eval_accuracy
load 'gallery-style.gp'

measured(p) = strcol('policy') eq p && strcol('eval_accuracy') ne '-' ? 100 * column('eval_accuracy') : NaN
at_end(p) = strcol('policy') eq p && int(column('step')) == last ? 100 * column('eval_accuracy') : NaN
stats file using 'step' name 'T' nooutput
stats file using 'epoch' name 'E' nooutput
last = int(T_max); epochs = int(E_max) + 1
stats file using (at_end('float32')) name 'A' nooutput
stats file using (at_end('mixed_bfloat16')) name 'B' nooutput
stats file using (at_end('bfloat16')) name 'C' nooutput
best = A_max; good = B_max; bad = C_max

do for [format in formats] {
	eval begin(format, 'policies float32, mixed_bfloat16 and bfloat16, mlp on generated digits, SGD')
	set lmargin at screen left(0.13); set rmargin at screen right(0.76)
	set xrange [0:epochs]; set yrange [0:100]
	set xtics 5
	set ytics 25 format '%g %%'
	set label 1003 'epochs' at screen 0.445, screen 14. / height center textcolor rgb soft
	set label 1004 'accuracy' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('fp32') at epochs, best + 5 left offset 0.6, 0 textcolor rgb ink
	set label 2 B('fp32 masters') at epochs, good - 5 left offset 0.6, 0 textcolor rgb blue
	set label 3 B('bf16 weights') at epochs, bad left offset 0.6, 0 textcolor rgb purple
	plot file using (column('epoch') + 1):(measured('float32')) with points pt 6 ps 0.9 lw 1.4 lc rgb ink notitle, \
		'' using (column('epoch') + 1):(measured('mixed_bfloat16')) with points pt 7 ps 0.5 lc rgb blue notitle, \
		'' using (column('epoch') + 1):(measured('bfloat16')) with points pt 7 ps 0.6 lc rgb purple notitle
}
unset output

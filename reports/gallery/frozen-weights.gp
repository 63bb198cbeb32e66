# SPDX-License-Identifier: Apache-2.0
# title: {share|%.0f} % of the updates of bf16 weights change nothing; with fp32 masters {share_master|%.2g} %
# caption: The share of a step's nonzero weight updates that leave their weight as it was, over {steps} steps of SGD (mlp on generated digits,
#   learning rate 0.01). Weights kept in bf16: {share|%.1f} % on average. The same network with fp32 weights and bf16 arithmetic: {share_master|%.2f} %.
# source: Micikevicius et al. 2018, Mixed Precision Training, arXiv 1710.03740
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --epochs 20 --trace steps=none --quiet --policy bfloat16 sgd-bfloat16
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --epochs 20 --trace steps=none --quiet --policy mixed_bfloat16 sgd-mixed_bfloat16
# table policy=bfloat16,mixed_bfloat16: sgd-{policy}/updates.tsv
# take: policy step tensor updates swamped
load 'gallery-style.gp'

stats file using 'step' name 'T' nooutput
steps = int(T_max) + 1
array made[steps]; array lost[steps]; array made_master[steps]; array lost_master[steps]
do for [i = 1:steps] { made[i] = 0; lost[i] = 0; made_master[i] = 0; lost_master[i] = 0 }
plain(i, m, s) = (made[i] = made[i] + m, lost[i] = lost[i] + s, 0)
master(i, m, s) = (made_master[i] = made_master[i] + m, lost_master[i] = lost_master[i] + s, 0)
stats file using (strcol('policy') eq 'bfloat16' ? plain(int(column('step')) + 1, column('updates'), column('swamped')) \
	: master(int(column('step')) + 1, column('updates'), column('swamped'))) nooutput
share = 100 * (sum [i = 1:steps] lost[i]) / (sum [i = 1:steps] made[i])
share_master = 100 * (sum [i = 1:steps] lost_master[i]) / (sum [i = 1:steps] made_master[i])

do for [format in formats] {
	eval begin(format, 'policies bfloat16 and mixed_bfloat16, mlp on generated digits, SGD')
	set xrange [0:steps]; set yrange [-3:103]
	set ytics 25 format '%g %%'
	set label 1003 'training step' at screen 0.535, screen 14. / height center textcolor rgb soft
	set label 1004 'updates that change nothing' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set lmargin at screen left(0.14)
	set label 1 B('weights in bf16') at steps * 0.5, share - 9 center textcolor rgb purple
	set label 2 B('fp32 master weights') at steps * 0.5, 8 center textcolor rgb ink
	plot made using 1:(100. * lost[$1] / made[$1]) with lines lw 1.4 lc rgb purple notitle, \
		made using 1:(100. * lost_master[$1] / made_master[$1]) with lines lw 2.2 lc rgb ink notitle
}
unset output

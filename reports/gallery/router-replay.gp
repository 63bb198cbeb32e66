# SPDX-License-Identifier: Apache-2.0
# title: Replayed routers take away {share|%.0f} % of two engines' divergence
# caption: A decoder with eight experts a block, two for each token: the KL divergence of its token probabilities under bf16 from those of float32, for each of {n|%d} sequences.
#   In bf16 {flips|%d} of {sets|%d} routers choose other experts, for {tokens|%d} of {all|%d} tokens. Where the choices of float32 are replayed, the mean divergence falls from {own|%.2g} to {replayed|%.2g}, and that of the worst sequence from {worst|%.2g} to {mild|%.2g}.
# source: Ma et al. 2025, Stabilizing MoE Reinforcement Learning by Aligning Training and Inference Routers, arXiv 2510.11370
# run: halfulp train --model gpt:layers=2,hidden=32,inner=32,experts=8 --data train=400,eval=32 --steps 60 --batch 16 --optimizer lr=3e-3 --policy float32 --loss-scale none --trace steps=59 --meter none --quiet routed
# data /by_sequence: halfulp engines routed --policy mixed_bfloat16 --json
# take: sequence kl_mean
# data replayed /by_sequence: halfulp engines routed --policy mixed_bfloat16 --replay-routers --json
# take replayed: sequence kl_mean
# data sets /routers: halfulp engines routed --policy mixed_bfloat16 --json
# take sets: sets sets_differ tokens tokens_differ
load 'gallery-style.gp'

stats file using 'kl_mean' name 'O' nooutput
stats file_replayed using 'kl_mean' name 'R' nooutput
stats file_sets using (sets = column('sets'), flips = column('sets_differ'), all = column('tokens'), tokens = column('tokens_differ')) nooutput
n = O_records; own = O_mean; replayed = R_mean; worst = O_max; mild = R_max; share = 100 * (1 - replayed / own)

do for [format in formats] {
	eval begin(format, 'a mixture of eight experts under policy mixed_bfloat16 (bf16), against float32')
	set logscale y
	set rmargin at screen right(0.76)
	set xrange [-1:n]; set yrange [R_min / 2:O_max * 2]
	set xtics 4
	set ytics 10 format '10^{%T}'
	set label 1003 'sequence' at screen 0.44, screen 14. / height center textcolor rgb soft
	set label 1004 'KL divergence' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 B('own choices') at n, own left offset 0.6, 0 textcolor rgb wine
	set label 2 B('replayed') at n, replayed left offset 0.6, 0 textcolor rgb teal_text
	plot own with lines lw 1.4 lc rgb wine notitle, replayed with lines lw 1.4 lc rgb teal notitle, \
		file using 'sequence':'kl_mean' with points pt 6 ps 0.9 lw 1.4 lc rgb wine notitle, \
		file_replayed using 'sequence':'kl_mean' with points pt 7 ps 0.6 lc rgb teal notitle
}
unset output

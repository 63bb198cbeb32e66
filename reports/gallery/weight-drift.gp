# SPDX-License-Identifier: Apache-2.0
# title: After {steps} steps bf16 weights are {plain|%.1f} % off the exact trajectory
# caption: How far the first layer's weights have drifted from those of the same training – data, order, initial weights – in
#   fp64, whose own roundings are 2²⁹ times smaller than fp32's: ‖w − w₆₄‖ / ‖w₆₄‖ after each step. Roundings scatter, so fp32
#   weights drift as √steps, to {say(single)|%s} (dotted). With gradients in fp16 or bf16 they come {half / single|%.0f} and {mixed / single|%.0f} times as far. bf16
#   weights begin with the rounding of the initial ones and then drift as the steps (dotted), since small updates are lost each time.
# source: Micikevicius et al. 2018, Mixed Precision Training, arXiv 1710.03740
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --steps 256 --trace steps=0,1,3,7,15,31,63,127,255 --quiet --policy float64 drift-float64
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --steps 256 --trace steps=0,1,3,7,15,31,63,127,255 --quiet --policy float32 drift-float32
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --steps 256 --trace steps=0,1,3,7,15,31,63,127,255 --quiet --policy mixed_float16 drift-mixed_float16
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --steps 256 --trace steps=0,1,3,7,15,31,63,127,255 --quiet --policy mixed_bfloat16 drift-mixed_bfloat16
# run: halfulp train --model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 32 --optimizer sgd:lr=0.01 --steps 256 --trace steps=0,1,3,7,15,31,63,127,255 --quiet --policy bfloat16 drift-bfloat16
# data /rows step=000000,000001,000003,000007,000015,000031,000063,000127,000255: halfulp diff --all --json drift-float64/trace/step-{step}.safetensors drift-float32/trace/step-{step}.safetensors
# take: step name l2 where name=dense1.w_next
# data mixed_float16 /rows step=000000,000001,000003,000007,000015,000031,000063,000127,000255: halfulp diff --all --json drift-float64/trace/step-{step}.safetensors drift-mixed_float16/trace/step-{step}.safetensors
# take mixed_float16: step name l2 where name=dense1.w_next
# data mixed_bfloat16 /rows step=000000,000001,000003,000007,000015,000031,000063,000127,000255: halfulp diff --all --json drift-float64/trace/step-{step}.safetensors drift-mixed_bfloat16/trace/step-{step}.safetensors
# take mixed_bfloat16: step name l2 where name=dense1.w_next
# data bfloat16 /rows step=000000,000001,000003,000007,000015,000031,000063,000127,000255: halfulp diff --all --json drift-float64/trace/step-{step}.safetensors drift-bfloat16/trace/step-{step}.safetensors
# take bfloat16: step name l2 where name=dense1.w_next
load 'gallery-style.gp'

# A traced step's number counts from 0; its weights are those after one step more
after(s) = s + 1
stats file using (after(column('step'))) name 'N' nooutput
steps = int(N_max)
at_end(x) = after(column('step')) == steps ? x : NaN
stats file using (at_end(column('l2'))) name 'E' nooutput; single = E_max
stats file_mixed_float16 using (at_end(column('l2'))) name 'E' nooutput; half = E_max
stats file_mixed_bfloat16 using (at_end(column('l2'))) name 'E' nooutput; mixed = E_max
stats file_bfloat16 using (at_end(column('l2'))) name 'E' nooutput; plain = 100 * E_max

do for [format in formats] {
	eval begin(format, 'relative distance of the first layer’s weights to those of the same training in fp64')
	set rmargin at screen right(0.76)
	set logscale x 2; set logscale y
	set xrange [1:steps]; set yrange [1e-8:1]
	set xtics 4 format '%.0f'
	unset mytics
	set ytics 100 format '10^{%T}'
	set label 1003 'steps' at screen 0.435, screen 14. / height center textcolor rgb soft
	set label 1004 'distance' at screen 13. / width, screen 0.47 center rotate by 90 textcolor rgb soft
	set label 1 'bf16 weights' at steps, plain / 100 left offset 0.7, 0 textcolor rgb purple
	set label 2 'mixed bf16' at steps, mixed * 1.5 left offset 0.7, 0 textcolor rgb wine
	set label 3 'mixed fp16' at steps, half / 1.9 left offset 0.7, 0 textcolor rgb blue
	set label 4 'fp32' at steps, single left offset 0.7, 0 textcolor rgb ink
	set label 5 'as the steps' at 5, 3.2e-4 left textcolor rgb soft font little(format)
	set label 6 'as √steps' at 18, 4e-8 left textcolor rgb soft font little(format)
	plot plain / 100 * x / steps with lines lw 1 dt 3 lc rgb soft notitle, \
		single * sqrt(x / steps) with lines lw 1 dt 3 lc rgb soft notitle, \
		file using (after(column('step'))):'l2' with linespoints pt 7 ps 0.35 lw 2.2 lc rgb ink notitle, \
		file_mixed_float16 using (after(column('step'))):'l2' with linespoints pt 7 ps 0.35 lw 2.2 lc rgb blue notitle, \
		file_mixed_bfloat16 using (after(column('step'))):'l2' with linespoints pt 7 ps 0.35 lw 2.2 lc rgb wine notitle, \
		file_bfloat16 using (after(column('step'))):'l2' with linespoints pt 7 ps 0.35 lw 2.6 lc rgb purple notitle
}
unset output

/* SPDX-License-Identifier: Apache-2.0
   The model "convnet": three convolutions with stride 2 and SAME padding, kernels 5, 7 and 11, and 32, 64 and 128
   filters. Each is convolution, bias, relu, batchnorm, in the order of the published listing
   (trainer/bench/published.def). Global average pooling and one dense layer follow. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer.h"
#include "trainer/model/loss/layer_loss.h"

void
hu_model_convnet(hu_program *p, const hu_model_sizes *s, int eval)
{
	static const struct { size_t kernel, filters; } stage[] = { { 5, 32 }, { 7, 64 }, { 11, 128 } };
	int x = hu_layer_input(p, s, "x");

	for (int i = 0; i < 3; i++) {
		size_t filters = (size_t)((double)stage[i].filters * s->multiplier + 0.5);
		x = hu_layer_conv(p, i + 1, x, stage[i].kernel, 2, filters ? filters : 1);
		x = hu_layer_batchnorm(p, i + 1, hu_layer_relu(p, i + 1, x), eval);
	}
	hu_layer_loss(p, s, hu_layer_dense(p, 1, hu_layer_pool(p, x), hu_layer_outputs(s, "labels")), "labels");
}

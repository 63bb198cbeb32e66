/* SPDX-License-Identifier: Apache-2.0
   The model "resnet1d": a residual net for signals, eight convolutions in four blocks of two, of 9 taps and 64, 128,
   256 and 256 filters, each block with stride 2; average over time and two dense layers, 256 and the classes, with
   dropout between. Every block's input is added through a convolution of one tap. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_dropout.h"
#include "trainer/model/layer/layer_image.h"
#include "trainer/model/loss/layer_loss.h"

enum { BLOCKS = 4, TAPS = 9, HIDDEN = 256 };

void
hu_model_resnet1d(hu_program *p, const hu_model_sizes *s, int eval)
{
	static const size_t filters[BLOCKS] = { 64, 128, 256, 256 };
	int x = hu_layer_input(p, s, "x");

	for (int i = 0; i < BLOCKS; i++) {
		size_t n = hu_layer_scaled(s, filters[i]);
		char name[16];
		snprintf(name, sizeof name, "layer%d", i + 1);
		int y = hu_layer_conv_bn(p, hu_layer_named(name, "conv1").s, hu_layer_named(name, "bn1").s, x,
			(hu_filters){ 1, TAPS, 1, 2, n }, eval);
		y = hu_layer_relu_of(p, hu_layer_named(name, "relu1").s, y);
		y = hu_layer_conv_bn(p, hu_layer_named(name, "conv2").s, hu_layer_named(name, "bn2").s, y,
			(hu_filters){ 1, TAPS, 1, 1, n }, eval);
		x = hu_layer_conv_bn(p, hu_layer_named(name, "downsample_0").s, hu_layer_named(name, "downsample_1").s,
			x, (hu_filters){ 1, 1, 1, 2, n }, eval);
		x = hu_layer_relu_of(p, hu_layer_named(name, "relu2").s,
			hu_layer_add(p, hu_layer_named(name, "add").s, y, x));
	}
	x = hu_layer_relu_of(p, "relu", hu_layer_linear(p, "fc1", hu_layer_pool(p, x), hu_layer_scaled(s, HIDDEN)));
	x = hu_layer_dropout(p, s, eval, "relu", x);
	hu_layer_loss(p, s, hu_layer_linear(p, "fc2", x, hu_layer_outputs(s, "labels")), "labels");
}

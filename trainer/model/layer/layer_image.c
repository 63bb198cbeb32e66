/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/layer_image.h"

#include "trainer/model/layer/layer.h"

int
hu_layer_conv_bn(hu_program *p, const char *conv, const char *bn, int x, hu_filters f, int eval)
{
	const hu_attr attr[] = { { "stride_h", (double)f.stride_rows, "" },
		{ "stride_w", (double)f.stride_columns, "" },
		{ "padding_top", (double)((f.rows - 1) / 2), "" }, { "padding_bottom", (double)((f.rows - 1) / 2), "" },
		{ "padding_left", (double)((f.columns - 1) / 2), "" },
		{ "padding_right", (double)((f.columns - 1) / 2), "" } };
	hu_shape w = hu_shape4(f.rows, f.columns, hu_last(p->t[x].shape), f.filters);
	int in[2] = { x, hu_layer_parameter(p, conv, "w", w) };

	return hu_layer_normalise(p, bn, hu_layer_activation(p, "conv2d", conv, "y", in, 2, attr, 6), 1e-5, 0.9, eval);
}

int
hu_layer_relu_of(hu_program *p, const char *layer, int x)
{
	return hu_layer_activation(p, "relu", layer, "y", &x, 1, NULL, 0);
}

int
hu_layer_add(hu_program *p, const char *layer, int a, int b)
{
	return hu_layer_activation(p, "add", layer, "y", (int[]){ a, b }, 2, NULL, 0);
}

int
hu_layer_maxpool(hu_program *p, const char *layer, int x, size_t size, size_t stride, size_t padding)
{
	const hu_attr attr[] = { { "size", (double)size, "" }, { "stride", (double)stride, "" },
		{ "padding", (double)padding, "" } };

	return hu_layer_activation(p, "maxpool", layer, "y", &x, 1, attr, 3);
}

int
hu_layer_upsample(hu_program *p, const char *layer, int x, size_t size, size_t rows, size_t columns, size_t filters)
{
	const hu_attr attr[] = { { "stride", (double)size, "" }, { "padding", 0, "" }, { "height", (double)rows, "" },
		{ "width", (double)columns, "" } };
	int in[2] = { x, hu_layer_parameter(p, layer, "w", hu_shape4(size, size, filters, hu_last(p->t[x].shape))) };

	return hu_layer_bias(p, layer, hu_layer_activation(p, "conv2d_dx", layer, "xw", in, 2, attr, 4));
}

int
hu_layer_conv_pixel(hu_program *p, const char *layer, int x, size_t filters)
{
	int in[2] = { x, hu_layer_parameter(p, layer, "w", hu_shape4(1, 1, hu_last(p->t[x].shape), filters)) };

	return hu_layer_bias(p, layer, hu_layer_activation(p, "conv2d", layer, "xw", in, 2, NULL, 0));
}

int
hu_layer_join(hu_program *p, const char *layer, int a, int b)
{
	const hu_attr axis = { "axis", (double)(p->t[a].shape.rank - 1), "" };

	return hu_layer_activation(p, "concat", layer, "y", (int[]){ a, b }, 2, &axis, 1);
}

size_t
hu_layer_scaled(const hu_model_sizes *s, size_t n)
{
	size_t scaled = (size_t)((double)n * s->multiplier + 0.5);

	return scaled ? scaled : 1;
}

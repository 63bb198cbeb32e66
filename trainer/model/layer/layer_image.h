/* SPDX-License-Identifier: Apache-2.0
   Layers of residual nets and U-Nets: convolutions without a bias and with padding as PyTorch has it, under any name.
   Layers are called as in torchvision, with _ where a name there has a dot: layer1_0_conv1, whose parameter
   layer1_0_conv1.w is layer1.0.conv1.weight. */
#ifndef HU_TRAINER_LAYER_IMAGE_H
#define HU_TRAINER_LAYER_IMAGE_H

#include "trainer/model/layer/layer.h"

/* Filters of rows x columns, with padding (rows-1)/2 above and below and (columns-1)/2 on the left and right. */
typedef struct hu_filters { size_t rows, columns, stride_rows, stride_columns, filters; } hu_filters;

/* A convolution without bias and its batch normalisation, with PyTorch's epsilon 1e-5 and momentum 0.1 (0.9 here,
   where it is the old value's share). */
int hu_layer_conv_bn(hu_program *p, const char *conv, const char *bn, int x, hu_filters f, int eval);
/* relu of x under the layer's name, and the elementwise sum of two tensors. */
int hu_layer_relu_of(hu_program *p, const char *layer, int x);
int hu_layer_add(hu_program *p, const char *layer, int a, int b);
/* The largest element of windows of size x size, stride and padding on both axes alike. */
int hu_layer_maxpool(hu_program *p, const char *layer, int x, size_t size, size_t stride, size_t padding);
/* The convolution with padding 0 and stride size turned around: y has rows x columns pixels, each of which meets one
   pixel of x, and a bias. */
int hu_layer_upsample(hu_program *p, const char *layer, int x, size_t size, size_t rows, size_t columns,
	size_t filters);
/* A convolution of one pixel with a bias. */
int hu_layer_conv_pixel(hu_program *p, const char *layer, int x, size_t filters);
/* The channels of a, then those of b. */
int hu_layer_join(hu_program *p, const char *layer, int a, int b);
/* n times the multiplier, rounded; at least 1. */
size_t hu_layer_scaled(const hu_model_sizes *s, size_t n);
#endif

/* SPDX-License-Identifier: Apache-2.0
   The model "resnet": the residual nets of He, Zhang, Ren and Sun (CVPR 2016) as torchvision has them. Up to depth=34
   a block is two convolutions 3x3; from 50 on it is 1x1, 3x3, 1x1, with the stride in the middle and four times as many
   filters at the end. Convolutions have no bias and batch normalisation behind them. Where a block changes size or
   filters, its input is added through a convolution 1x1. The stem is that for ImageNet or that for CIFAR. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_image.h"
#include "trainer/model/loss/layer_loss.h"

#include <stdlib.h>
#include <string.h>

enum { STAGES = 4, WIDEN = 4, FIRST = 64, IMAGENET_FROM = 128 };

/* How many blocks each stage has, in the paper's table 1; 10 is the least net of this form. */
static const struct { const char *depth; int bottleneck, blocks[STAGES]; } nets[] = {
	{ "10", 0, { 1, 1, 1, 1 } },
	{ "18", 0, { 2, 2, 2, 2 } },
	{ "34", 0, { 3, 4, 6, 3 } },
	{ "50", 1, { 3, 4, 6, 3 } },
	{ "101", 1, { 3, 4, 23, 3 } },
	{ "152", 1, { 3, 8, 36, 3 } },
};

typedef struct block { hu_program *p; const char *name; size_t filters, stride; int bottleneck, eval; } block;

/* A convolution of the block, number K, with its normalisation. */
static int
convolve(const block *b, int k, int x, size_t size, size_t stride, size_t filters)
{
	char conv[8], bn[8];

	snprintf(conv, sizeof conv, "conv%d", k);
	snprintf(bn, sizeof bn, "bn%d", k);
	return hu_layer_conv_bn(b->p, hu_layer_named(b->name, conv).s, hu_layer_named(b->name, bn).s, x,
		(hu_filters){ size, size, stride, stride, filters }, b->eval);
}

static int
relu(const block *b, int k, int x)
{
	char word[8];

	snprintf(word, sizeof word, "relu%d", k);
	return hu_layer_relu_of(b->p, hu_layer_named(b->name, word).s, x);
}

/* The block's input as the sum needs it: itself where nothing changes. */
static int
shortcut(const block *b, int x, size_t out)
{
	if (b->stride == 1 && hu_last(b->p->t[x].shape) == out)
		return x;
	return hu_layer_conv_bn(b->p, hu_layer_named(b->name, "downsample_0").s,
		hu_layer_named(b->name, "downsample_1").s, x, (hu_filters){ 1, 1, b->stride, b->stride, out }, b->eval);
}

static int
residual(const block *b, int x)
{
	size_t n = b->filters, out = b->bottleneck ? WIDEN * n : n;
	int y;

	if (b->bottleneck) {
		y = relu(b, 1, convolve(b, 1, x, 1, 1, n));
		y = relu(b, 2, convolve(b, 2, y, 3, b->stride, n));
		y = convolve(b, 3, y, 1, 1, out);
	} else {
		y = relu(b, 1, convolve(b, 1, x, 3, b->stride, n));
		y = convolve(b, 2, y, 3, 1, out);
	}
	y = hu_layer_add(b->p, hu_layer_named(b->name, "add").s, y, shortcut(b, x, out));
	return relu(b, b->bottleneck ? 3 : 2, y);
}

static int
is_large(const hu_program *p, int x)
{
	return p->t[x].shape.d[1] >= IMAGENET_FROM && p->t[x].shape.d[2] >= IMAGENET_FROM;
}

static int
stem(hu_program *p, const hu_model_sizes *s, int x, int eval)
{
	int imagenet = s->stem ? !strcmp(s->stem, "imagenet") : is_large(p, x);
	size_t size = imagenet ? 7 : 3, stride = imagenet ? 2 : 1;
	hu_filters f = { size, size, stride, stride, hu_layer_scaled(s, FIRST) };

	x = hu_layer_relu_of(p, "relu", hu_layer_conv_bn(p, "conv1", "bn1", x, f, eval));
	return imagenet ? hu_layer_maxpool(p, "maxpool", x, 3, 2, 1) : x;
}

void
hu_model_resnet(hu_program *p, const hu_model_sizes *s, int eval)
{
	const char *depth = s->depth ? s->depth : "18";
	int net = 0, x = stem(p, s, hu_layer_input(p, s, "x"), eval);
	char name[24];

	while (strcmp(nets[net].depth, depth))
		net++; /* sizes.def allows no other depths */
	for (int i = 0; i < STAGES; i++)
		for (int k = 0; k < nets[net].blocks[i]; k++) {
			snprintf(name, sizeof name, "layer%d_%d", i + 1, k);
			x = residual(&(block){ p, name, hu_layer_scaled(s, (size_t)FIRST << i), i && !k ? 2 : 1,
					     nets[net].bottleneck, eval },
				x);
		}
	hu_layer_loss(p, s, hu_layer_linear(p, "fc", hu_layer_pool(p, x), hu_layer_outputs(s, "labels")), "labels");
}

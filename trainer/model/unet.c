/* SPDX-License-Identifier: Apache-2.0
   The model "unet": the U-Net of Ronneberger, Fischer and Brox (MICCAI 2015) as it is mostly trained today:
   convolutions 3x3 with padding, batch normalisation, pooling by 2 on the way down, transposed convolutions 2x2 with
   stride 2 on the way up, whose result stands behind the channels that were there at this size before; a convolution of
   one pixel gives the classes' logits for each pixel. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_image.h"
#include "trainer/model/loss/layer_loss.h"

enum { LEVELS = 3, MOST_LEVELS = 6, FIRST = 16 };

/* Two convolutions with batch normalisation and relu. */
static int
twice(hu_program *p, const char *name, int x, size_t filters, int eval)
{
	static const char *const word[2][3] = { { "conv1", "bn1", "relu1" }, { "conv2", "bn2", "relu2" } };

	for (int i = 0; i < 2; i++)
		x = hu_layer_relu_of(p, hu_layer_named(name, word[i][2]).s,
			hu_layer_conv_bn(p, hu_layer_named(name, word[i][0]).s, hu_layer_named(name, word[i][1]).s, x,
				(hu_filters){ 3, 3, 1, 1, filters }, eval));
	return x;
}

static int
levels_of(const hu_model_sizes *s)
{
	return s->levels ? (int)s->levels : LEVELS;
}

hu_status
hu_unet_check(const hu_model_sizes *s)
{
	const hu_data_array *x = hu_dataset_find(s->data, "x"), *mask = hu_dataset_find(s->data, "mask");
	int levels = levels_of(s);

	if (x->shape.d[0] >> levels == 0 || x->shape.d[1] >> levels == 0)
		return hu_fail(HU_EINVAL,
			"unet: images of %zu x %zu cannot be halved %d times: give --model levels= or --data size=",
			x->shape.d[0], x->shape.d[1], levels);
	return mask->shape.d[0] == x->shape.d[0] && mask->shape.d[1] == x->shape.d[1]
		       ? HU_OK
		       : hu_fail(HU_EINVAL, "unet: the mask has %zu x %zu pixels where the image has %zu x %zu",
				 mask->shape.d[0], mask->shape.d[1], x->shape.d[0], x->shape.d[1]);
}

void
hu_model_unet(hu_program *p, const hu_model_sizes *s, int eval)
{
	int levels = levels_of(s), skip[MOST_LEVELS], x = hu_layer_input(p, s, "x");
	char name[24];

	for (int i = 0; i <= levels; i++) {
		snprintf(name, sizeof name, "down%d", i);
		if (i)
			x = hu_layer_maxpool(p, hu_layer_named(name, "pool").s, x, 2, 2, 0);
		x = twice(p, name, x, hu_layer_scaled(s, (size_t)FIRST << i), eval);
		if (i < levels)
			skip[i] = x;
	}
	for (int i = levels - 1; i >= 0; i--) {
		size_t filters = hu_layer_scaled(s, (size_t)FIRST << i);
		hu_shape to = p->t[skip[i]].shape;
		snprintf(name, sizeof name, "up%d", i);
		x = hu_layer_upsample(p, hu_layer_named(name, "up").s, x, 2, to.d[1], to.d[2], filters);
		x = twice(p, name, hu_layer_join(p, hu_layer_named(name, "join").s, skip[i], x), filters, eval);
	}
	hu_layer_loss(p, s, hu_layer_conv_pixel(p, "out", x, hu_layer_classes(s, "mask")), "mask");
}

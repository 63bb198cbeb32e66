/* SPDX-License-Identifier: Apache-2.0
   Losses: what the row of losses.def appends, all of the layer "loss" and marked as parts of a loss, which a policy
   leaves in float32 or wider. */
#include "trainer/model/loss/layer_loss.h"

#include "lib/base/console/opt.h"
#include "trainer/model/layer/layer_image.h"
#include "trainer/model/loss/parts.h"

/* Gives the labels to ignore the weight 0 and, since they need not be classes, the label 0. */
static void
ignore(hu_program *p, double index, int *labels, int *weight)
{
	int is[2] = { *labels, hu_loss_constant(p, "index", *labels, index) };
	int ignored = hu_loss_other(p, "equal", "ignored", is, 2, NULL, 0);
	int l[2] = { ignored, *labels }, w[2] = { ignored, *weight };

	*labels = hu_loss_other(p, "mask_out", "labels", l, 2, NULL, 0);
	*weight = hu_loss_other(p, "mask_out", "weight", w, 2, NULL, 0);
}

size_t
hu_layer_outputs(const hu_model_sizes *s, const char *labels)
{
	return hu_loss_views(s) > 1 ? hu_layer_scaled(s, 128) : hu_layer_classes(s, labels);
}

void
hu_layer_loss(hu_program *p, const hu_model_sizes *s, int x, const char *array)
{
	int labels = hu_layer_indices(p, s, array),
	    weight = hu_program_tensor(p, "input.weight", HU_FP32, p->t[labels].shape, HU_OTHER);
	int first = p->nc;
	double index;

	if (s->ignore_index && hu_parse_real(s->ignore_index, &index))
		ignore(p, index, &labels, &weight);
	hu_loss_find(s->loss)->build(p, s, x, labels, weight);
	hu_program_mark_loss(p, first);
}

void
hu_layer_binary_loss(hu_program *p, const hu_model_sizes *s, int x, const char *array)
{
	int labels = hu_layer_indices(p, s, array), first = p->nc;

	hu_loss_entropy(p, s, "sigmoid_xent", x, labels,
		hu_program_tensor(p, "input.weight", HU_FP32, p->t[labels].shape, HU_OTHER));
	hu_program_mark_loss(p, first);
}

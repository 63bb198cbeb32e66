/* SPDX-License-Identifier: Apache-2.0
   NT-Xent, which compares two views of each sample. */
#include "trainer/model/loss/parts.h"

/* Returns the rows of z divided by their norms, or by 1e-12 where that is larger, as torch's normalize does. */
static int
normalised(hu_program *p, int z)
{
	hu_attr last = { "axis", 1, "" }, attr[HU_MAX_ATTR];
	int norm = hu_layer_activation(p, "reduce_norm", "loss", "norm", &z, 1, &last, 1),
	    least = hu_loss_call(p, "max", "length", norm, hu_loss_constant(p, "least", norm, 1e-12)),
	    n = hu_loss_repeat(attr, p->t[least].shape, hu_last(p->t[z].shape)),
	    lengths = hu_layer_activation(p, "move", "loss", "lengths", &least, 1, attr, n);

	return hu_loss_call(p, "div", "unit", z, lengths);
}

/* Returns the matrix that is 1 where row i, a view, is to be told from view j: where j is neither i nor a row that only
   fills the batch. The labels are each view's partner, and partners are neighbours: a view's own number is its
   neighbour's label. */
static int
others(hu_program *p, int labels, int weight)
{
	size_t n = hu_count(p->t[labels].shape);
	hu_attr flat[HU_MAX_ATTR] = { { "flat", 1, "" }, { "rank", 2, "" }, { "d0", (double)(n / 2), "" },
		{ "d1", 2, "" } },
		swap[] = { { "rank", 2, "" }, { "d0", (double)(n / 2), "" }, { "from0", 0, "" }, { "d1", 2, "" },
			{ "from1", 1, "" }, { "start1", 1, "" }, { "step1", -1, "" } },
		line[] = { { "flat", 1, "" }, { "rank", 1, "" }, { "d0", (double)n, "" } },
		classes = { "classes", (double)n, "" },
		rows[] = { { "rank", 2, "" }, { "d0", (double)n, "" }, { "d1", (double)n, "" }, { "from1", 0, "" } };
	int pairs = hu_loss_other(p, "move", "pairs", &labels, 1, flat, 4),
	    swapped = hu_loss_other(p, "move", "swapped", &pairs, 1, swap, 7),
	    own = hu_loss_other(p, "move", "own", &swapped, 1, line, 3);
	int in[2] = { hu_loss_other(p, "onehot", "self", &own, 1, &classes, 1),
		hu_loss_other(p, "move", "columns", &weight, 1, rows, 4) };

	return hu_loss_other(p, "mask_out", "others", in, 2, NULL, 0);
}

/* NT-Xent (Chen and others, A simple framework for contrastive learning of visual representations, 2020): the
   cross-entropy of each view's similarities to all others, the cosines over the temperature, whose label is its
   partner. Similarities that have no share are -10000, whose exponential is 0. */
void
hu_loss_nt_xent(hu_program *p, const hu_model_sizes *s, int x, int labels, int weight)
{
	int unit = normalised(p, x), in[2] = { unit, unit };
	hu_attr transposed = { "tb", 1, "" },
		mask[2] = { { "factor", 1 / (s->temperature > 0 ? s->temperature : 0.5), "" }, { "fill", -10000, "" } };
	int keys[2] = { hu_layer_activation(p, "matmul", "loss", "cosine", in, 2, &transposed, 1),
		others(p, labels, weight) };

	hu_loss_entropy(p, s, "softmax_xent", hu_layer_activation(p, "mask_keys", "loss", "logits", keys, 2, mask, 2),
		labels, weight);
}

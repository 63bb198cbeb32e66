/* SPDX-License-Identifier: Apache-2.0
   Soft Dice. */
#include "trainer/model/loss/parts.h"

/* Sums over all but the last axis. */
static int
over_rows(hu_program *p, const char *role, int x)
{
	hu_attr attr[2] = { { "axis", 0, "" }, { "axes", p->t[x].shape.rank - 1, "" } };

	return hu_layer_activation(p, "reduce_sum", "loss", role, &x, 1, attr, 2);
}

/* The mean over the classes of 1 - (2 I + s) / (P + T + s), where over all rows of the batch I sums the probabilities
   of the labels' classes, P all probabilities and T the labels: MONAI's DiceLoss with softmax=True, to_onehot_y=True,
   batch=True and its smoothing s. */
void
hu_loss_dice(hu_program *p, const hu_model_sizes *s, int x, int labels, int weight)
{
	static const double smooth = 1e-5;
	hu_loss_target t = hu_loss_targets(p, x, labels, weight);
	(void)s;
	int hot = hu_loss_call(p, "mul", "hot", t.hot, t.weight), some = hu_loss_call(p, "mul", "some", t.p, t.weight);
	int both = over_rows(p, "both", hu_loss_call(p, "mul", "hits", t.p, hot)),
	    likely = over_rows(p, "likely", some), label = over_rows(p, "label", hot),
	    least = hu_loss_constant(p, "smooth", label, smooth), one = hu_loss_constant(p, "one", label, 1);
	int twice = hu_loss_call(p, "add", "above", hu_loss_call(p, "add", "twice", both, both), least),
	    all = hu_loss_call(p, "add", "below", hu_loss_call(p, "add", "sum", likely, label), least);

	hu_loss_call(p, "reduce_mean", "y",
		hu_loss_call(p, "sub", "missed", one, hu_loss_call(p, "div", "dice", twice, all)), -1);
}

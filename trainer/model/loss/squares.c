/* SPDX-License-Identifier: Apache-2.0
   Mean squares of probabilities less labels. */
#include "trainer/model/loss/parts.h"

/* The weighted mean over rows and classes of the squares of the probabilities' distances to the labels one-hot. */
void
hu_loss_squares(hu_program *p, const hu_model_sizes *s, int x, int labels, int weight)
{
	hu_loss_target t = hu_loss_targets(p, x, labels, weight);
	(void)s;
	int far = hu_loss_call(p, "sub", "far", t.p, t.hot), square = hu_loss_call(p, "mul", "square", far, far);
	int sum = hu_loss_call(p, "reduce_sum", "sum", hu_loss_call(p, "mul", "weighted", square, t.weight), -1),
	    weights = hu_loss_other(p, "reduce_sum", "all", &t.weight, 1, NULL, 0);

	hu_loss_call(p, "div", "y", sum, weights);
}

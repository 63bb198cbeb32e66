/* SPDX-License-Identifier: Apache-2.0
   Cross-entropy of logits, as one call. */
#include "trainer/model/loss/parts.h"

void
hu_loss_cross_entropy(hu_program *p, const hu_model_sizes *s, int x, int labels, int weight)
{
	hu_loss_entropy(p, s, "softmax_xent", x, labels, weight);
}

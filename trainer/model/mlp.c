/* SPDX-License-Identifier: Apache-2.0
   The model "mlp": dense layers pixels-256-128-classes with relu and dropout between them; inputs are pixels
   divided by 255. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_dropout.h"
#include "trainer/model/loss/layer_loss.h"

static size_t
hidden(size_t units, double multiplier)
{
	size_t n = (size_t)((double)units * multiplier + 0.5);

	return n ? n : 1;
}

void
hu_model_mlp(hu_program *p, const hu_model_sizes *s, int eval)
{
	static const size_t units[] = { 256, 128 };
	int x = hu_layer_input(p, s, "x");

	for (int i = 0; i < 2; i++) {
		x = hu_layer_relu(p, i + 1, hu_layer_dense(p, i + 1, x, hidden(units[i], s->multiplier)));
		x = hu_layer_dropout(p, s, eval, p->t[x].layer, x);
	}
	hu_layer_loss(p, s, hu_layer_dense(p, 3, x, hu_layer_outputs(s, "labels")), "labels");
}

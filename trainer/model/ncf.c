/* SPDX-License-Identifier: Apache-2.0
   The model "ncf": neural collaborative filtering (He, Liao, Zhang, Nie, Hu, Chua, WWW 2017), its NeuMF. One tower
   multiplies the H factors of a user and of an item; the other is a perceptron of layers= dense layers, each with relu
   and dropout, that reads H 2^(layers - 1) factors of each and halves its units from layer to layer, down to H. A dense
   layer of both towers' H results gives the logit that the user chose the item. */
#include "trainer/model/models.h"

#include "trainer/model/layer/layer_attention.h"
#include "trainer/model/layer/layer_dropout.h"
#include "trainer/model/loss/layer_loss.h"

enum { HIDDEN = 8, LAYERS = 3 };

/* Moves the columns of x [B, n] behind `before` columns of zeros, of `all` in all. */
static int
columns(hu_program *p, const char *role, int x, size_t before, size_t all)
{
	hu_attr attr[] = { { "rank", 2, "" }, { "d0", (double)p->t[x].shape.d[0], "" }, { "d1", (double)all, "" },
		{ "from0", 0, "" }, { "from1", 1, "" }, { "start1", before ? -(double)before : 0, "" } };

	return hu_layer_activation(p, "move", p->t[x].layer, role, &x, 1, attr, 6);
}

/* Both side by side: each number is the sum of itself and a zero, which is exact. */
static int
beside(hu_program *p, const char *layer, int a, int b)
{
	size_t left = hu_last(p->t[a].shape), all = left + hu_last(p->t[b].shape);

	/* one after the other, since compilers evaluate arguments in orders of their own */
	int y = columns(p, "right", b, left, all), x = columns(p, "left", a, 0, all);
	return hu_layer_sum(p, layer, x, y);
}

void
hu_model_ncf(hu_program *p, const hu_model_sizes *s, int eval)
{
	size_t hidden = s->hidden ? s->hidden : HIDDEN, layers = s->layers ? s->layers : LAYERS,
	       units = hidden << (layers - 1), nusers = hu_layer_classes(s, "users"),
	       nitems = hu_layer_classes(s, "items");
	int users = hu_layer_indices(p, s, "users"), items = hu_layer_indices(p, s, "items");
	int gmf[2];

	gmf[0] = hu_layer_embedding(p, "gmf_users", users, nusers, hidden);
	gmf[1] = hu_layer_embedding(p, "gmf_items", items, nitems, hidden);
	int product = hu_layer_activation(p, "mul", "gmf", "y", gmf, 2, NULL, 0);
	int mlp_items = hu_layer_embedding(p, "mlp_items", items, nitems, units);
	int mlp_users = hu_layer_embedding(p, "mlp_users", users, nusers, units);
	int x = beside(p, "mlp_input", mlp_users, mlp_items);
	for (size_t i = 1; i <= layers; i++, units /= 2) {
		char layer[32];
		snprintf(layer, sizeof layer, "mlp%zu", i);
		x = hu_layer_linear(p, layer, x, units);
		snprintf(layer, sizeof layer, "relu%zu", i);
		x = hu_layer_activation(p, "relu", layer, "y", &x, 1, NULL, 0);
		x = hu_layer_dropout(p, s, eval, layer, x);
	}
	hu_layer_binary_loss(p, s, hu_layer_linear(p, "output", beside(p, "towers", product, x), 1), "labels");
}

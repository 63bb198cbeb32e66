/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/layer_experts.h"

#include "lib/program/routers.h"

typedef struct word { char s[20]; } word;

/* The word with its number, as "expert2". */
static word
of(const char *kind, int number)
{
	word w;

	snprintf(w.s, sizeof w.s, "%s%d", kind, number);
	return w;
}

/* Appends a call whose output is made of indices and masks, which no policy changes. */
static int
of_indices(hu_program *p, const char *op, const char *layer, const char *role, const int *in, int nin,
	const hu_attr *attr, int nattr)
{
	char tensor[HU_NAME];

	snprintf(tensor, sizeof tensor, "%.90s.%s", layer, role);
	return hu_program_apply(p, op, HU_FORWARD, layer, in, nin, tensor, HU_FP32, HU_OTHER, attr, nattr);
}

/* The logits where the mask is set, else what no softmax gives a share. */
static int
hidden(hu_program *p, const char *layer, const char *role, int logits, int mask)
{
	hu_attr fill = { "fill", -10000, "" };

	return hu_layer_activation(p, "mask_keys", layer, role, (int[]){ logits, mask }, 2, &fill, 1);
}

/* The mask [rows, experts] of the k largest logits of each row: the largest is looked for k times, each time without
   those that were found. */
static int
largest(hu_program *p, const char *layer, int logits, size_t k)
{
	hu_attr last = { "axis", 1, "" }, classes = { "classes", (double)hu_last(p->t[logits].shape), "" };
	int left = logits, set = -1;

	for (int i = 1; i <= (int)k; i++) {
		const char *chosen = i == (int)k ? HU_ROLE_CHOSEN : NULL;
		int place = of_indices(p, "argmax", layer, of("at", i).s, &left, 1, &last, 1);
		int found = of_indices(
			p, "onehot", layer, i == 1 && chosen ? chosen : of("one", i).s, &place, 1, &classes, 1);
		set = i == 1 ? found
			     : of_indices(p, "logical_or", layer, chosen ? chosen : of("set", i).s,
				       (int[]){ set, found }, 2, NULL, 0);
		if (!chosen) {
			int rest = of_indices(p, "logical_not", layer, of("rest", i).s, &set, 1, NULL, 0);
			left = hidden(p, layer, of("left", i).s, logits, rest);
		}
	}
	return set;
}

/* Column `at` of x [rows, experts] for each of `features`: [rows, features]. */
static int
column(hu_program *p, const char *layer, const char *role, int x, size_t at, size_t features)
{
	hu_attr attr[] = { { "rank", 2, "" }, { "d0", (double)p->t[x].shape.d[0], "" }, { "from0", 0, "" },
		{ "d1", (double)features, "" }, { "from1", 1, "" }, { "start1", (double)at, "" }, { "step1", 0, "" } };
	enum { ATTRS = sizeof attr / sizeof *attr };

	if (p->t[x].cls == HU_OTHER)
		return of_indices(p, "move", layer, role, &x, 1, attr, ATTRS);
	return hu_layer_activation(p, "move", layer, role, &x, 1, attr, ATTRS);
}

/* The gates [rows, experts] of the logits; *chosen gets the mask of those that are not 0. */
static int
routed(hu_program *p, const char *layer, int logits, size_t k, int *chosen)
{
	*chosen = largest(p, layer, logits, k);
	if (k > 1)
		logits = hidden(p, layer, "masked", logits, *chosen);
	int share = hu_layer_activation(p, "softmax", layer, "p", &logits, 1, NULL, 0);
	return k > 1 ? share
		     : hu_layer_activation(p, "mask", layer, "gate", (int[]){ *chosen, share }, 2, NULL, 0);
}

int
hu_layer_experts(hu_program *p, const hu_transformer *t, const char *name, int x)
{
	hu_layer_name router = hu_layer_named(name, "router");
	int w = hu_layer_parameter(p, router.s, "w", hu_shape2(t->hidden, t->experts)), chosen, sum = -1;
	int logits = hu_layer_activation(p, "matmul", router.s, "y", (int[]){ x, w }, 2, NULL, 0);
	int gates = routed(p, router.s, logits, t->top_k, &chosen);

	for (size_t e = 0; e < t->experts; e++) {
		hu_layer_name layer = hu_layer_named(name, of("expert", (int)e + 1).s);
		int mine = column(p, layer.s, "mask", chosen, e, t->hidden);
		int y = hu_layer_activation(p, "mask", layer.s, "x", (int[]){ mine, x }, 2, NULL, 0);
		y = hu_layer_feed_forward(p, t, layer.s, y);
		int gate = column(p, layer.s, "gate", gates, e, t->hidden);
		y = hu_layer_activation(p, "mul", layer.s, "y", (int[]){ gate, y }, 2, NULL, 0);
		sum = e ? hu_layer_sum(p, hu_layer_named(layer.s, "add").s, sum, y) : y;
	}
	return sum;
}

int
hu_layer_balance(hu_program *p, const hu_transformer *t, const char *name)
{
	hu_layer_name router = hu_layer_named(name, "router"), layer = hu_layer_named(name, "balance");
	hu_attr rows = { "axis", 0, "" },
		factor = { "factor", t->balance * (double)t->experts / (double)t->top_k, "" };
	char logits[HU_NAME], chosen[HU_NAME];

	snprintf(logits, sizeof logits, "%.90s.y", router.s);
	snprintf(chosen, sizeof chosen, "%.90s." HU_ROLE_CHOSEN, router.s);
	int z = hu_program_find(p, logits), set = hu_program_find(p, chosen);
	int load = of_indices(p, "reduce_mean", layer.s, "load", &set, 1, &rows, 1);
	load = of_indices(p, "scale", layer.s, "factor", &load, 1, &factor, 1);
	int share = hu_layer_activation(p, "softmax", layer.s, "p", &z, 1, NULL, 0);
	share = hu_layer_activation(p, "reduce_mean", layer.s, "share", &share, 1, &rows, 1);
	int terms = hu_layer_activation(p, "mul", layer.s, "terms", (int[]){ share, load }, 2, NULL, 0);
	return hu_layer_activation(p, "reduce_sum", layer.s, "y", &terms, 1, NULL, 0);
}

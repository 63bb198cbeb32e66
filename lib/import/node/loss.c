/* SPDX-License-Identifier: Apache-2.0
   Losses over classes, axis 1 of the scores: the negated score of the class that the target names, weighed by class,
   summed or averaged. Targets of one value do not count. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The scores V of C classes, of which each target picks one; weight and counts are vectors with an element a target,
   -1 where every target weighs 1 and where all of them count. */
typedef struct loss {
	hu_importing *c;
	const hu_value *v;
	hu_value *target;
	int weight, counts;
} loss;

/* The targets in a row, those that do not count replaced by class 0. */
static int
classes(loss *l)
{
	hu_importing *c = l->c;
	const hu_onnx_attr *ignored = hu_import_attr(c, "ignore_index");
	int t = hu_import_flat(c, hu_import_plain(c, l->target), hu_shape1(l->target->n));

	t = hu_import_call(c, "cast", HU_FP64, &t, 1);
	if (!ignored || t < 0)
		return t;
	int which = hu_import_like(c, t, HU_ONNX_INT64, (double)hu_import_int(c, "ignore_index", 0));
	int is = hu_import_truth(c, "equal", t, which);
	l->counts = hu_import_truth(c, "logical_not", is, -1);
	return hu_import_call2(c, "mask", l->counts, t);
}

/* Element T[i] of each row i of X: for the scores, the elements of one target's classes are STEP apart. */
static int
picked(loss *l, int x, int t, int of_scores)
{
	hu_importing *c = l->c;
	size_t n = l->target->n, step = n / (l->v->d[0] ? l->v->d[0] : 1), classes = l->v->d[1];
	double *base = of_scores ? hu_import_room(c, n) : NULL;

	for (size_t i = 0; base && i < n; i++)
		base[i] = (double)(i / step * step * classes + i % step);
	if (base) {
		int by = hu_import_like(c, t, HU_ONNX_INT64, (double)step);
		t = hu_import_call2(c, "mul", t, by);
		by = hu_import_numbers(c, HU_ONNX_INT64, 1, &n, base);
		t = hu_import_call2(c, "add", t, by);
	}
	free(base);
	hu_import_set(c, "axis", 0);
	return hu_import_call2(c, "gather", x, t);
}

/* The loss of log-probabilities X in ONNX's order becomes output 0. */
static void
lose(loss *l, int x)
{
	hu_importing *c = l->c;
	const char *how = hu_import_text(c, "reduction", "mean");
	hu_value *weights = hu_import_in(c, 2), *to = l->target;
	int t = classes(l), mean = !strcmp(how, "mean"), y, share = -1;

	if (!mean && strcmp(how, "sum") && strcmp(how, "none")) {
		hu_import_fail(c, HU_EFILE, "its reduction is %.40s, neither none nor sum nor mean", how);
		return;
	}
	if (weights && (weights->rank != 1 || weights->n != l->v->d[1])) {
		hu_import_fail(c, HU_EFILE, "it has %zu weights for %zu classes", weights->n, l->v->d[1]);
		return;
	}
	y = picked(l, hu_import_flat(c, x, hu_shape1(l->v->n)), t, 1);
	l->weight = weights         ? picked(l, hu_import_plain(c, weights), t, 0)
		    : l->counts < 0 ? -1
				    : hu_import_like(c, y, l->v->type, 1);
	if (l->counts >= 0) {
		y = hu_import_call2(c, "mask", l->counts, y);
		l->weight = hu_import_call2(c, "mask", l->counts, l->weight);
	}
	y = hu_import_call1(c, "neg", y);
	if (weights)
		y = hu_import_call2(c, "mul", y, l->weight);
	if (!strcmp(how, "none")) {
		y = hu_import_flat(c, y, hu_import_shape(to->rank, to->d));
		hu_import_out(c, 0, l->v->type, to->rank, to->d)->plain = y;
		return;
	}
	if (mean && l->weight >= 0) {
		hu_import_set(c, "axis", 0);
		share = hu_import_call1(c, "reduce_sum", l->weight);
	}
	hu_import_set(c, "axis", 0);
	y = hu_import_call1(c, mean && share < 0 ? "reduce_mean" : "reduce_sum", y);
	if (share >= 0)
		y = hu_import_call2(c, "div", y, share);
	y = hu_import_flat(c, y, hu_import_shape(0, NULL));
	hu_import_out(c, 0, l->v->type, 0, NULL)->plain = y;
}

void
hu_node_class_loss(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	loss l = { c, v, hu_import_in(c, 1), -1, -1 };

	if (!v || !l.target)
		return;
	int fits = v->rank > 1 && l.target->rank == v->rank - 1 && v->d[0] == l.target->d[0];
	for (int i = 2; i < v->rank; i++)
		fits = fits && v->d[i] == l.target->d[i - 1];
	if (!fits || !v->n) {
		hu_import_fail(c, HU_EFILE, "its targets do not fit the scores");
		return;
	}
	int x = hu_import_plain(c, v);
	if (!strcmp(c->node->op, "SoftmaxCrossEntropyLoss")) {
		hu_import_set(c, "axis", 1);
		x = hu_import_call1(c, "log_softmax", x);
		if (c->node->nout > 1)
			hu_import_out(c, 1, v->type, v->rank, v->d)->plain = x;
	}
	lose(&l, x);
}

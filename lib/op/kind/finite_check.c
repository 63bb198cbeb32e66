/* SPDX-License-Identifier: Apache-2.0
   finite_check: is there an infinity or NaN among the first `judged` inputs (default: all)? If so, it searches the
   other inputs in order for the first one that has any (all inputs, if all are judged). */
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include "lib/base/thread.h"

static double
count_bad(const hu_tensor *t)
{
	size_t bad = 0;

	if (hu_is_wide(t->format)) {
		const double *x = t->data;
		for (size_t i = 0; i < t->n; i++)
			bad += !hu_isfinite(x[i]);
		return (double)bad;
	}
	const float *x = t->data;
#pragma omp parallel for reduction(+ : bad) schedule(static) num_threads(hu_threads()) if (t->n > 65536)
	for (size_t first = 0; first < t->n; first += 4096) {
		size_t last = t->n - first < 4096 ? t->n : first + 4096;
		uint32_t some = 0; /* a 32-bit counter vectorises */
		for (size_t i = first; i < last; i++)
			some += (hu_bits32(x[i]) & 0x7f800000u) == 0x7f800000u;
		bad += some;
	}
	return (double)bad;
}

static void
look(const hu_call *c, hu_tensor *const *in, double *found, double where[3])
{
	int judged = (int)hu_attr_count(c, "judged", (size_t)c->nin), from;

	*found = 0;
	where[0] = -1;
	where[1] = where[2] = 0;
	for (int i = 0; i < judged && i < c->nin && *found == 0; i++)
		*found = count_bad(in[i]) != 0, hu_performed_operations(in[i]->n);
	if (*found == 0)
		return;
	from = judged < c->nin ? judged : 0;
	for (int i = from; i < c->nin; i++) {
		double bad = count_bad(in[i]);
		if (bad == 0)
			continue;
		if (where[2] == 0) {
			where[0] = i;
			where[1] = bad;
		}
		where[2]++;
	}
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	double found, where[3];

	look(c, in, &found, where);
	hu_put(out[0], 0, found);
	for (size_t i = 0; i < 3 && c->nout > 1; i++)
		hu_store(c, env, out[1], i, where[i]);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	double found, where[3];

	look(c, in, &found, where);
	for (size_t i = 0; i < n; i++)
		hu_exact_set(exact[i], out == 0 ? found : where[element[i]]);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd v[4];
	double found, where[3];

	look(c, in, &found, where);
	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k;
		v[k] = hu_dd_of(out == 0 ? found : where[i]);
	}
	return hu_enclose_list(c, in, out, element, n, sink, v, NULL);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	(void)in;
	HU_TRY(hu_shape_settle(c, 0, out, hu_shape0()));
	return hu_shape_settle(c, 1, out, hu_shape1(3));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	int judged = (int)hu_attr_count(c, "judged", (size_t)c->nin);

	(void)out;
	k->reads = judged < c->nin ? judged : c->nin; /* the others are read only in a step that is skipped anyway */
	for (int i = 0; i < k->reads; i++)
		k->flops += (double)hu_count(in[i]);
}

const hu_op hu_op_finite_check = {
	.name = "finite_check", .summary = "finds infinities and NaN, and the first tensor that has one",
	.min_in = 1, .max_in = -1, .nout = 2, .same = "==", .attrs = "judged", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT,
	.role = HU_ROLE_CHECK,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .enclose = enclose,
	},
};

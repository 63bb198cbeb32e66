/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/move/moves.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/element/map.h"
#include "lib/op/element/map_source.h"

#include <stdlib.h>

hu_status
hu_moves_of(hu_moves *x, const hu_call *c, hu_tensor *const *in)
{
	hu_shape *from = hu_xcalloc((size_t)c->nin + 1, sizeof *from);

	*x = (hu_moves){ .c = c, .in = in };
	for (int k = 0; k < c->nin; k++)
		from[k] = in[k]->shape;
	hu_status st = c->op->moves->describe(x, c, from, &x->out);
	free(from);
	return st == HU_OK && c->op->moves->check ? c->op->moves->check(x) : st;
}

hu_status
hu_moves_describe(hu_moves *x, const hu_call *c, const hu_shape *in)
{
	const hu_op *op = c->op->moves->forward ? c->op->moves->forward : c->op;

	*x = (hu_moves){ .c = c };
	return op->moves->describe(x, c, in, &x->out);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_moves x = { .c = c };
	hu_shape made = hu_shape0();

	HU_TRY(c->op->moves->describe(&x, c, in, &made));
	return hu_shape_settle(c, 0, out, made);
}

static double
value(const hu_moves *x, hu_moved f)
{
	return f.operand < 0 ? f.fill : hu_get(x->in[f.operand], f.at);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_moved (*from)(const hu_moves *, size_t) = c->op->moves->from;
	hu_moves x;

	HU_TRY(hu_moves_of(&x, c, in));
	if (hu_moves_copy(&x, out[0]))
		return HU_OK;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (out[0]->n > 16384)
	for (size_t i = 0; i < out[0]->n; i++)
		hu_store(c, env, out[0], i, value(&x, from(&x, i)));
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_moves x;

	(void)out;
	HU_TRY(hu_moves_of(&x, c, in));
	for (size_t i = 0; i < n; i++) {
		hu_moved f = c->op->moves->from(&x, element[i]);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		if (f.operand < 0)
			mpfr_set_d(exact[i], f.fill, MPFR_RNDN);
		else
			hu_exact_get(exact[i], in[f.operand], f.at);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_format_id format = hu_output_format(c, in, out);
	hu_bounded v[HU_MAP_BLOCK];
	hu_moves x;

	HU_TRY(hu_moves_of(&x, c, in));
	for (size_t first = 0; first < n; first += HU_MAP_BLOCK) {
		size_t some = n - first < HU_MAP_BLOCK ? n - first : HU_MAP_BLOCK;
		for (size_t i = 0; i < some; i++) {
			v[i].v = value(&x, c->op->moves->from(&x, element[first + i]));
			v[i].e = hu_isfinite(v[i].v) ? 0 : hu_inf(0);
		}
		hu_map_bounds(c, format, some, v, b + first);
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_moves x;

	HU_TRY(hu_moves_of(&x, c, in));
	if (!element && sink->low && !sink->bounds && n == hu_count(x.out)) {
		double *hi = hu_xmalloc((3 * n + 1) * sizeof *hi);
		int moved = hu_moves_copy_parts(&x, sink->low, n, hi, hi + n, hi + 2 * n);
		if (moved)
			sink->take(sink, &(hu_tile){ n, 0, NULL, hi, hi + n, hi + 2 * n, NULL, NULL });
		free(hi);
		if (moved)
			return HU_OK;
	}
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 16384)
	for (size_t i = 0; i < n; i++) {
		hu_moved f = c->op->moves->from(&x, element ? element[i] : i);
		v[i] = f.operand < 0 ? hu_dd_of(f.fill) : hu_operand_dd(sink, in, f.operand, f.at);
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

/* No element is computed; bytes are filled in by the caller. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)in;
	(void)out;
	k->flops = 0;
}

const hu_columns hu_family_moves = {
	.shape = shape,
	.cost = cost,
	.emulate = emulate,
	.reference = reference,
	.bound = bound,
	.enclose = enclose,
	.grain = hu_op_grain_one,
};

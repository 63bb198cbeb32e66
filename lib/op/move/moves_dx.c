/* SPDX-License-Identifier: Apache-2.0
   Gradients of operators that only move elements. */
#include "lib/op/move/moves.h"

#include "lib/base/bug.h"
#include "lib/base/mem.h"
#include "lib/number/draw.h"
#include "lib/op/element/map.h"
#include "lib/op/element/map_source.h"
#include "lib/op/performed.h"
#include "lib/op/reduce/reduce.h"

#include <stdlib.h>

enum { MOST_IN = 4 };

/* The forward call, and its operands in its order, from those of the gradient: dy, others, x. */
static hu_call
forward(const hu_call *c, hu_tensor *const *in, hu_tensor **to)
{
	hu_call f = *c;

	HU_ASSERT(c->nin <= MOST_IN);
	f.op = c->op->moves->forward;
	f.nin = c->nin - 1;
	to[0] = in[c->nin - 1];
	for (int k = 1; k < f.nin; k++)
		to[k] = in[k];
	return f;
}

/* The place of element i in a list of n in ascending order, or n. */
static size_t
listed(const size_t *element, size_t n, size_t i)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (element[middle] < i)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && element[low] == i ? low : n;
}

/* The place in the ascending list of each element from first to last-1, or n where it is not there. NULL where the list
   is asked for too few elements to be worth it, or its elements are too far apart. The caller frees it. */
static uint32_t *
places_of(const size_t *element, size_t n, size_t first, size_t last, size_t asked)
{
	if (last - first == n || n >= UINT32_MAX || asked < n || last - first > 8 * asked)
		return NULL;
	uint32_t *place = hu_xmalloc((last - first) * sizeof *place);
	for (size_t i = 0; i < last - first; i++)
		place[i] = (uint32_t)n;
	for (size_t k = n; k--;) {
		HU_ASSERT(element[k] >= first && element[k] < last);
		place[element[k] - first] = (uint32_t)k;
	}
	return place;
}

/* Shortens a run of *n elements, of which the first was moved from m->at, by those at its ends that were not moved from
   elements first to last-1. Returns how many that were at its beginning. */
static size_t
shorten(const hu_moved *m, size_t *n, size_t first, size_t last)
{
	ptrdiff_t a = (ptrdiff_t)m->at, step = m->step, low = (ptrdiff_t)first, high = (ptrdiff_t)last - 1;
	size_t skip = 0, end = *n;

	if (step == 0) {
		*n = a < low || a > high ? 0 : *n;
		return 0;
	}
	if (step < 0) { /* the same with the order turned round */
		ptrdiff_t turned = -low;
		a = -a;
		step = -step;
		low = -high;
		high = turned;
	}
	if (a < low)
		skip = (size_t)((low - a + step - 1) / step);
	if (a > high)
		end = 0;
	else if ((size_t)((high - a) / step) + 1 < end)
		end = (size_t)((high - a) / step) + 1;
	*n = skip < end ? end - skip : 0;
	return skip;
}

/* Calls add(to, k, o) for each o in ascending order whose dy belongs to listed element k. Runs of dy that were moved
   from elsewhere than the list's range are passed over as a whole. */
static hu_status
walk(const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n, void (*add)(void *to, size_t k, size_t o),
	void *to)
{
	size_t first = element && n ? element[0] : 0, last = element && n ? element[n - 1] + 1 : n;
	hu_tensor *of[MOST_IN];
	hu_call f = forward(c, in, of);
	hu_moves x;

	HU_TRY(hu_moves_of(&x, &f, of));
	uint32_t *place = places_of(element, n, first, last, in[0]->n);
	for (size_t o = 0, run; o < in[0]->n; o += run) {
		hu_moved m = f.op->moves->from(&x, o);
		run = m.run ? m.run : 1;
		size_t some = m.operand == 0 ? run : 0, skip = some ? shorten(&m, &some, first, last) : 0;
		for (size_t j = skip; j < skip + some; j++) {
			size_t at = (size_t)((ptrdiff_t)m.at + (ptrdiff_t)j * m.step),
			       k = last - first == n ? at - first
				   : place           ? place[at - first]
						     : listed(element, n, at);
			if (k < n)
				add(to, k, o + j);
		}
	}
	free(place);
	return HU_OK;
}

typedef struct sums { hu_format f; const hu_tensor *dy; double *v; hu_bounded *b; mpfr_t *x; hu_dd *d;
	const hu_sink *sink; hu_tensor *const *in; } sums;

static void
add_value(void *to, size_t k, size_t o)
{
	sums *s = to;

	s->v[k] = hu_rne(s->f, s->v[k] + hu_rne(s->f, hu_get(s->dy, o)));
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	size_t n = out[0]->n;
	hu_tensor *of[MOST_IN];
	hu_call f = forward(c, in, of);
	hu_moves x;

	HU_TRY(hu_moves_of(&x, &f, of));
	hu_performed_operations(in[0]->n);
	if (hu_moves_sum(&x, c, in[0], out[0], env))
		return HU_OK;
	sums s = { .f = hu_format_of(c->fmt.compute), .dy = in[0], .v = hu_xcalloc(n + 1, sizeof(double)) };
	hu_status st = walk(c, in, NULL, n, add_value, &s);

	for (size_t i = 0; i < n && st == HU_OK; i++)
		hu_store(c, env, out[0], i, s.v[i]);
	free(s.v);
	return st;
}

static void
add_bounded(void *to, size_t k, size_t o)
{
	sums *s = to;

	s->b[k] = hu_bounded_add(s->f, s->b[k], hu_bounded_load(s->f, hu_get(s->dy, o), 0));
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	sums s = { .f = hu_attr_bounded(c), .dy = in[0], .b = hu_xcalloc(n + 1, sizeof(hu_bounded)) };
	hu_status st = walk(c, in, element, n, add_bounded, &s);

	hu_map_bounds(c, hu_output_format(c, in, out), n, s.b, b);
	free(s.b);
	return st;
}

static void
add_exact(void *to, size_t k, size_t o)
{
	sums *s = to;

	hu_map_exact_add(s->x[k], s->dy, o);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	sums s = { .dy = in[0], .x = exact };

	(void)out;
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set_zero(exact[i], 1);
	}
	return walk(c, in, element, n, add_exact, &s);
}

static void
add_dd(void *to, size_t k, size_t o)
{
	sums *s = to;

	s->d[k] = hu_dd_add(s->d[k], hu_operand_dd(s->sink, s->in, 0, o));
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	sums s = { .d = hu_xcalloc(n + 1, sizeof(hu_dd)), .sink = sink, .in = in };
	hu_status st = walk(c, in, element, n, add_dd, &s);

	if (st == HU_OK)
		st = hu_enclose_list(c, in, out, element, n, sink, s.d, NULL);
	free(s.d);
	return st;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_call f = *c;
	hu_shape of[MOST_IN], made = hu_shape0();
	hu_moves x = { .c = &f };

	HU_ASSERT(c->nin <= MOST_IN);
	f.op = c->op->moves->forward;
	f.nin = c->nin - 1;
	of[0] = in[c->nin - 1];
	for (int k = 1; k < f.nin; k++)
		of[k] = in[k];
	HU_TRY(f.op->moves->describe(&x, &f, of, &made));
	HU_TRY(hu_shape_expect(c, 0, in[0], made));
	return hu_shape_settle(c, 0, out, of[0]);
}

/* One addition for each element of dy. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = (double)hu_count(in[0]);
	k->reads = c->nin - 1;
}

const hu_columns hu_family_moves_dx = {
	.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound, .enclose = enclose,
	.grain = hu_op_grain_one,
};

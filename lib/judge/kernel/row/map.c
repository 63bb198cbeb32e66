/* SPDX-License-Identifier: Apache-2.0
   Operators of single elements: functions of one value (functions.def), arithmetic of two, stores. */
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/row/element.h"
#include "lib/judge/kernel/store.h"

#include "lib/base/thread.h"

#include <string.h>

typedef hu_ball (*function)(hu_ball a, const hu_element_errors *s);

static hu_status
each(const hu_ball_call *c, const hu_balls *in, hu_balls *out, function f)
{
	const hu_roundoffs *a = c->roundoffs;
	hu_element_errors s = { a->u, a->tiny, a->exp, a->fn, 0 };
	const hu_ball *x = in[0].b;

	HU_TRY(hu_ball_real(c, "k", 1, &s.k));
	HU_TRY(hu_ball_real(c, "fn", s.e, &s.e));
	HU_TRY(hu_ball_real(c, "exp", s.exp_e, &s.exp_e));
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	hu_ball *y = out[0].b;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < in[0].n; i++)
		y[i] = f(x[i], &s);
	return HU_OK;
}

#define FN(name, Y, D, M2, OWN, SUMMARY)                                                                               \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return each(c, in, out, hu_element_##name);                                                            \
	}
#include "lib/judge/kernel/functions.def"
#undef FN

typedef hu_ball (*pair)(hu_ball a, hu_ball b, const hu_element_errors *s);

static hu_status
both(const hu_ball_call *c, const hu_balls *in, hu_balls *out, pair f)
{
	const hu_roundoffs *a = c->roundoffs;
	hu_element_errors s = { a->u, a->tiny, a->exp, a->fn, 0 };
	hu_balls y;

	HU_TRY(hu_balls_broadcast(&y, &in[0], &in[1], c->row->name));
	HU_TRY(hu_balls_like(&out[0], &y, c->row->name));
	y = out[0];
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (y.n > 4096)
	for (size_t i = 0; i < y.n; i++)
		y.b[i] = f(in[0].b[hu_balls_at(&in[0], &y, i)], in[1].b[hu_balls_at(&in[1], &y, i)], &s);
	return HU_OK;
}

#define BOTH(name, f)                                                                                                  \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return both(c, in, out, f);                                                                            \
	}
BOTH(add, hu_element_add)
BOTH(sub, hu_element_sub)
BOTH(mul, hu_element_mul)
BOTH(div, hu_element_div)
BOTH(max, hu_element_max)
BOTH(min, hu_element_min)

hu_status hu_ball_row_store(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_store(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_format_id id;

	HU_TRY(hu_ball_format(c, "to", &id));
	hu_format f = hu_format_of(id);
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < in[0].n; i++)
		out[0].b[i] = hu_ball_store(in[0].b[i], f, c->stores);
	return HU_OK;
}

/* From here on the elements' independent errors count as shared: what follows uses them together. */
hu_status hu_ball_row_share(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_share(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball a = in[0].b[i];
		out[0].b[i] = (hu_ball){ a.x, a.r, 0, a.c + sqrt(a.v) };
	}
	return HU_OK;
}

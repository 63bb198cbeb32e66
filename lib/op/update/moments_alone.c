/* SPDX-License-Identifier: Apache-2.0
   Enclosures of a moment by itself. The bound of double-double's sum counts two roundings of trailing parts, which
   mostly do not happen: beta m and (1 - beta) g are a double times a float, and so is what they leave behind. Where
   neither rounds, hi + lo is the moment, and nobody has to ask MPFR how far a stored value is from it. */
#include "lib/op/update/moments.h"

#include "lib/op/sink.h"

#include <math.h>

/* to: who asked. Element i of the list is element[i], or first + i where that is NULL. */
typedef struct sharper {
	hu_sink s;
	hu_sink *to;
	const hu_map *m;
	const size_t *element;
	size_t first;
	double old, fresh;
	int square;
} sharper;

/* Returns 1 if the rounding error of a product, of which p is the rounded value, is a double (dd.h). */
static int
is_plain(double p)
{
	return p == 0 || (fabs(p) > 0x1p-900 && fabs(p) < 0x1p990);
}

/* Returns 1 if no trailing part of old x + fresh y, or fresh y^2, is rounded. */
static int
is_exact(const sharper *w, double x, double y)
{
	double l1, l2, t, rest, none = 0, square = w->square ? hu_dd_product(y, y, &none) : y;

	if (none != 0 || !is_plain(square))
		return 0;
	double h1 = hu_dd_product(w->old, x, &l1), h2 = hu_dd_product(w->fresh, square, &l2);
	if (!is_plain(h1) || !is_plain(h2) || (h1 == 0 && x != 0) || (h2 == 0 && y != 0))
		return 0;
	(void)hu_dd_sum(h1, h2, &t);
	double u = hu_dd_sum(l1, l2, &rest);
	if (rest != 0)
		return 0;
	(void)hu_dd_sum(t, u, &rest);
	return rest == 0;
}

static void
take(hu_sink *sink, const hu_tile *t)
{
	const sharper *w = (const sharper *)sink;

	for (size_t i = 0; i < t->n; i++) {
		size_t at = t->at ? t->at[i] : t->first + i, e = w->element ? w->element[at] : w->first + at;
		if (t->err[i] != 0 && t->err[i] < INFINITY &&
			is_exact(w, hu_get(w->m->in[0].t, e), hu_get(w->m->in[1].t, e)))
			t->err[i] = 0;
	}
	w->to->take(w->to, t);
}

hu_status
hu_moments_enclose_alone(hu_map *m, hu_tensor *const *in, int out, hu_format_id f, const size_t *element, size_t n,
	hu_sink *sink)
{
	sharper w = { .s = *sink, .to = sink, .m = m, .element = element, .old = m->k[1], .fresh = m->kd[2].h,
		.square = out == 2 };

	if (sink->low || m->kd[2].l != 0 || m->kd[2].e != 0)
		return hu_map_enclose(m, m, in, 0, f, element, n, sink);
	if (sink->some.last && !sink->some.row) {
		w.first = sink->some.first;
		w.element = NULL;
	}
	w.s.take = take;
	return hu_map_enclose(m, m, in, 0, f, element, n, &w.s);
}

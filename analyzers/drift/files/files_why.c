/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_why.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/number/ulp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 8 }; /* elements of a tensor whose cosine says something */

void
hu_files_add_place(hu_str *s, const hu_files_row *r)
{
	size_t at = r->m.at, index[HU_SAFETENSORS_RANK];
	int rank = r->old->rank;

	if (r->m.step) {
		hu_str_addf(s, "step %s", r->m.step);
		return;
	}
	size_t all = 1;
	for (int i = 0; i < rank; i++)
		all *= r->old->shape[i];
	if (all != r->old->count) { /* parts of complex numbers, bytes of packed codes */
		hu_str_addf(s, "element %zu", at);
		return;
	}
	for (int i = rank; i-- > 0;) {
		index[i] = at % r->old->shape[i];
		at /= r->old->shape[i];
	}
	hu_str_add(s, "[");
	for (int i = 0; i < rank; i++)
		hu_str_addf(s, i ? ",%zu" : "%zu", index[i]);
	hu_str_add(s, "]");
}

void
hu_files_add_ulps(hu_str *s, const hu_files_row *r, double ulps)
{
	int of = r->ulps_of != HU_NO_FORMAT, p = of ? hu_format_of(r->ulps_of).p : 64;

	if (ulps > ldexp(1, p))
		hu_str_addf(s, "more than 2^%d ulps", p);
	else
		hu_str_addf(s, "%.4g ulps", ulps);
	if (of)
		hu_str_addf(s, " of %s", hu_format_name(r->ulps_of));
}

/* Of the element that is shown, which has the largest difference; where that is small beside the tensor, another has
   more ulps. */
static double
ulps_there(const hu_files_row *r)
{
	return r->ulps_of == HU_NO_FORMAT ? r->m.abs : hu_error_ulps(r->m.b, r->m.a, hu_format_of(r->ulps_of));
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, ascending);
	return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static void
add_pattern(hu_str *s, const hu_files *g)
{
	double *cosine = hu_xcalloc(g->n, sizeof *cosine), *l2 = hu_xcalloc(g->n, sizeof *l2), eps = 0;
	size_t n = 0, shapes = 0, alone = 0, nonfinite = 0;
	const hu_files_row *dtype = NULL;

	for (size_t i = 0; i < g->n; i++) {
		const hu_files_row *r = &g->row[i];
		shapes += r->state == HU_FILES_SHAPE;
		alone += r->state == HU_FILES_MISSING || r->state == HU_FILES_ADDED;
		nonfinite += i < g->failed && r->state != HU_FILES_SHAPE && r->old && r->new && r->m.nonfinite;
		if (r->state == HU_FILES_SHAPE || !r->old || !r->new || r->old->kind != HU_ITEM_FLOAT)
			continue;
		dtype = !dtype && strcmp(r->old->dtype, r->new->dtype) ? r : dtype;
		if (!r->m.differ || r->m.count < LEAST || isnan(r->m.cosine))
			continue;
		eps = fmax(eps, r->ulps_of == HU_NO_FORMAT ? 0 : ldexp(1, 1 - hu_format_of(r->ulps_of).p));
		cosine[n] = r->m.cosine;
		l2[n++] = r->m.l2;
	}
	double c = n ? median(cosine, n) : 1, d = n ? median(l2, n) : 0;
	const char *its = n == 1 ? "its" : "their";
	char *these = n == 1 ? hu_xstrdup("the one tensor that differs has")
			     : hu_xprintf("the %zu tensors that differ have", n);
	if (shapes || alone)
		hu_str_addf(s,
			". Most likely cause: another model: %zu names have another shape, and %zu are in one file "
			"alone",
			shapes, alone);
	else if (nonfinite)
		hu_str_addf(s,
			". Most likely cause: an overflow, or a division by 0, in one of the two: %zu of the names "
			"that failed have infinities or NaN in one file where the other has none",
			nonfinite);
	else if (n && c < 0.5)
		hu_str_addf(s,
			". Most likely cause: another seed or initialisation: %s a median cosine of %.2f, as values "
			"that have nothing to do with each other; no tolerance is for that",
			these, c);
	else if (n && dtype)
		hu_str_addf(s,
			". Most likely cause: another precision: %s was %s and is %s, and %s a median l2 of %.2g",
			hu_shown(dtype->name), dtype->old->dtype, dtype->new->dtype, these, d);
	else if (n && d <= 64 * eps)
		hu_str_addf(s,
			". Most likely cause: sums in another order, or another library: %s a median l2 of %.2g, some "
			"roundings of %s dtype",
			these, d, its);
	else if (n)
		hu_str_addf(s,
			". Most likely cause: another computation, or a lower precision within it: %s a median l2 of "
			"%.2g, "
			"%.2g times a rounding of %s dtype, and a median cosine of %.6g",
			these, d, d / (0.5 * eps), its, c);
	free(cosine);
	free(these);
	free(l2);
}

/* Which failure is the first by name, where that is not the worst, and the last name before it that has the same
   values: of activations that is where two programs part. */
static void
add_first(hu_str *s, const hu_files *g)
{
	const hu_files_row *first = &g->row[0], *before = NULL;

	for (size_t i = 1; i < g->failed; i++)
		first = hu_str_order(g->row[i].name, first->name) < 0 ? &g->row[i] : first;
	if (first == &g->row[0])
		return;
	for (size_t i = g->failed; i < g->n; i++)
		if (g->row[i].state == HU_FILES_SAME && hu_str_order(g->row[i].name, first->name) < 0 &&
			(!before || hu_str_order(g->row[i].name, before->name) > 0))
			before = &g->row[i];
	hu_str_addf(s, ", the first of them by name %s", hu_shown(first->name));
	if (before)
		hu_str_addf(s, "; %s, before it, has the same values", hu_shown(before->name));
}

char *
hu_files_why(const hu_files *g)
{
	const hu_files_row *r = &g->row[0];
	const hu_measures *m = &r->m;
	hu_str s;

	hu_str_init(&s);
	hu_str_addf(&s, "%s", hu_shown(r->name));
	if (r->old && r->new && r->state != HU_FILES_SHAPE && m->differ && !m->text) {
		hu_str_add(&s, ", ");
		hu_files_add_place(&s, r);
		if (m->differ == 1 && m->ulps[0] == 1) {
			hu_str_addf(&s, ": one value of %zu is one ulp%s%s off, %.9g -> %.9g (rel %.3g)", m->count,
				r->ulps_of == HU_NO_FORMAT ? "" : " of ",
				r->ulps_of == HU_NO_FORMAT ? "" : hu_format_name(r->ulps_of), m->a, m->b, m->rel);
		} else {
			hu_str_addf(&s, ": %.9g -> %.9g", m->a, m->b);
			if (!m->nonfinite) { /* else there is no distance between the two */
				hu_str_addf(&s, " (rel %.3g", m->rel);
				if (!m->step) { /* of metrics nobody asks for ulps */
					hu_str_add(&s, ", ");
					hu_files_add_ulps(&s, r, ulps_there(r));
				}
				hu_str_add(&s, ")");
			}
			hu_str_addf(&s, ", and %zu of %zu values differ", m->differ, m->count);
		}
	}
	hu_str_addf(&s, ": %s; %zu of %zu names failed", hu_shown(r->said), g->failed, g->n);
	add_first(&s, g);
	add_pattern(&s, g);
	return s.s;
}

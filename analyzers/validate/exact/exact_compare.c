/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/exact/exact_compare.h"

#include "lib/base/mem.h"
#include "lib/judge/propagate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* float32's row y and the exact one e, whose values are off by at most off[j] (NULL: 0). */
static void
compare_row(hu_exact_comparison *v, const double *y, const double *e, const double *off, size_t classes)
{
	size_t second, first = hu_two_largest(y, classes, &second);
	double slack = off ? off[first] + off[second] : 0;
	double error = fabs(y[first] - e[first]) + fabs(y[second] - e[second]), margin = y[first] - y[second];
	int sure = 1, other = 0, open = 0;

	v->undecided |= margin <= error;
	if (off && !(fabs(margin - error) > slack * (1 + 0x1p-50) || slack == 0))
		sure = 0;
	for (size_t j = 0; j < classes && off; j++) {
		double between = e[j] - e[first], both = (off[j] + off[first]) * (1 + 0x1p-50);
		if (j == first)
			continue;
		other |= both < INFINITY && between > both;
		open |= !(fabs(between) > both) && !(between == 0 && both == 0);
	}
	if (open && !other)
		sure = 0;
	v->decided &= sure;
	v->changed |= hu_two_largest(e, classes, NULL) != first;
}

/* All decisions of one input. An index is another one, or it is not: nothing says by how much. */
static void
compare_decisions(hu_exact_comparison *v, const hu_deciding *d, const double *y, const double *e, const double *off)
{
	size_t n = d->classes + 2;
	double *room = hu_xmalloc(3 * n * sizeof *room);

	for (size_t k = 0; k < d->rows; k++) {
		if (d->kind == HU_DECISION_INDEX) {
			v->changed |= y[k] != e[k];
			continue;
		}
		compare_row(v, hu_deciding_values(d, y, k, d->threshold, room),
			hu_deciding_values(d, e, k, d->threshold, room + n),
			off ? hu_deciding_values(d, off, k, 0, room + 2 * n) : NULL, d->classes);
	}
	if (d->kind == HU_DECISION_CTC) {
		size_t *a = hu_xcalloc(2 * d->rows + 1, sizeof *a), *b = a + d->rows;
		for (size_t k = 0; k < d->rows; k++) {
			a[k] = hu_two_largest(hu_deciding_values(d, y, k, 0, room), d->classes, NULL);
			b[k] = hu_two_largest(hu_deciding_values(d, e, k, 0, room), d->classes, NULL);
		}
		size_t na = hu_deciding_text(d, a, d->rows), nb = hu_deciding_text(d, b, d->rows);
		v->changed = na != nb || memcmp(a, b, na * sizeof *a) != 0;
		free(a);
	}
	free(room);
}

hu_exact_comparison
hu_exact_compare(const hu_evaluated *base, const hu_deciding *d, double *const *exact, double *const *off, size_t i)
{
	hu_exact_comparison v = { .decided = 1 };

	for (size_t k = 0; k < base->nout; k++) {
		const double *y = base->out[k] + i * base->each[k];
		double most = 0, worst = 0;
		for (size_t j = 0; exact[k] && j < base->each[k]; j++) {
			worst = fmax(worst, fabs(y[j] - exact[k][j]));
			most = fmax(most, fabs(exact[k][j]));
			v.off = off && !(off[k][j] <= v.off) ? off[k][j] : v.off;
		}
		v.worst = fmax(v.worst, worst);
		v.relative = fmax(v.relative, most > 0 ? worst / most : 0);
		v.most = fmax(v.most, most);
	}
	if (exact[d->output] && d->classes > 1)
		compare_decisions(&v, d, base->out[d->output] + i * base->each[d->output], exact[d->output],
			off ? off[d->output] : NULL);
	return v;
}

int
hu_exact_settled(const hu_exact_comparison *v)
{
	return v->decided && (v->off <= HU_STEP_SETTLED * v->worst || v->off <= 0x1p-60 * v->most);
}

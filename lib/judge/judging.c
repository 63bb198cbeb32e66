/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/judging.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

void
hu_methods_add(hu_methods *to, const hu_methods *from)
{
	to->exact += from->exact;
	to->certified += from->certified;
	to->oracle += from->oracle;
	to->again += from->again;
}

hu_enclosed *
hu_enclosed_new(size_t first, size_t n)
{
	hu_enclosed *e = hu_xmalloc(sizeof *e + 3 * n * sizeof(double));

	*e = (hu_enclosed){ first, n, (double *)(void *)(e + 1), NULL, NULL };
	e->lo = e->hi + n;
	e->err = e->lo + n;
	for (size_t i = 0; i < n; i++) {
		e->hi[i] = e->lo[i] = 0;
		e->err[i] = INFINITY;
	}
	return e;
}

void
hu_judging_init(hu_judging *some, size_t n, int hex)
{
	char *room = hu_xmalloc((n + 1) * (2 * sizeof(size_t) + 6 * sizeof(double) + 1));

	some->n = 0;
	some->at = (size_t *)(void *)room;
	some->element = some->at + n;
	some->got = (double *)(void *)(some->element + n);
	some->bound = some->got + n;
	some->magnitude = some->bound + n;
	some->exact = some->magnitude + n;
	some->error = some->exact + n;
	some->ulps = some->error + n;
	some->over = (unsigned char *)(void *)(some->ulps + n);
	some->hex = hex ? hu_xcalloc(n + 1, sizeof *some->hex) : NULL;
}

void
hu_judging_release(hu_judging *some)
{
	free(some->at);
	free(some->hex);
}

void
hu_judging_put(hu_judging *some, size_t i, const hu_ziv *v)
{
	some->exact[i] = v->exact;
	some->error[i] = v->error;
	some->ulps[i] = v->ulps;
	some->over[i] = v->over != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/census.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"
#include "lib/number/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
join(hu_census *to, const hu_census *c)
{
	for (int i = 0; i < HU_BINS; i++)
		to->bins[i] += c->bins[i];
	hu_underflow_add(&to->lost, &c->lost);
}

/* Adds x's elements to c. before is the tensor that x was cast from, to be multiplied by scale; NULL where x is no
   cast. */
static void
add_elements(hu_census *c, const hu_tensor *x, const hu_tensor *before, double scale)
{
	hu_format f = hu_format_of(x->format);

#pragma omp parallel num_threads(hu_threads()) if (x->n > 16384)
	{
		hu_census mine;
		memset(&mine, 0, sizeof mine);
#pragma omp for schedule(static)
		for (size_t i = 0; i < x->n; i++) {
			double v = hu_get(x, i);
			mine.bins[hu_exponent_bin(v)]++;
			if (before)
				hu_underflow_count(&mine.lost, hu_get(before, i) * scale, v, f);
		}
#pragma omp critical
		join(c, &mine);
	}
}

/* Counts copies, because the tensor lies on a device that did not count it: another rank's. */
static hu_status
census_of_copies(hu_session *s, int tensor, int from, int scale, hu_census *c)
{
	char *select = hu_xcalloc((size_t)s->programs.train->nt + 1, 1);
	hu_tensor *t;

	select[tensor] = 1;
	if (from >= 0)
		select[from] = 1;
	if (scale >= 0)
		select[scale] = 1;
	hu_status st = hu_session_copy(s, select, &t);
	free(select);
	HU_TRY(st);
	add_elements(c, &t[tensor], from >= 0 ? &t[from] : NULL, scale >= 0 ? hu_get(&t[scale], 0) : 1);
	hu_session_free_tensors(s, t);
	return HU_OK;
}

static hu_status
census_of(hu_session *s, int tensor, hu_census *c)
{
	int from, scale;
	hu_status st = HU_OK;

	memset(c, 0, sizeof *c);
	if (s->backend->census && s->backend->census(s->train, tensor, c, &st))
		return st;
	int cast = hu_is_cast(s->programs.train, tensor, &from, &scale);
	if (!s->backend->peek)
		return census_of_copies(s, tensor, cast ? from : -1, cast ? scale : -1, c);
	add_elements(c, s->backend->peek(s->train, tensor), cast ? s->backend->peek(s->train, from) : NULL,
		cast && scale >= 0 ? hu_get(s->backend->peek(s->train, scale), 0) : 1);
	return HU_OK;
}

static void
add_cast(hu_tsv *t, size_t step, const hu_program *p, int tensor, int from, const hu_underflow *n)
{
	const hu_info *info = &p->t[tensor];
	const uint64_t each[] = { n->elements, n->nonzeros, n->zeroed, n->subnormal, n->lost, n->flushed };

	hu_tsv_int(t, (long long)step);
	hu_tsv_int(t, info->producer);
	hu_tsv_text(t, info->layer);
	hu_tsv_text(t, info->name);
	hu_tsv_text(t, hu_tclass_name(info->cls));
	hu_tsv_text(t, hu_format_name(p->t[from].format));
	hu_tsv_text(t, hu_format_name(info->format));
	for (size_t i = 0; i < sizeof each / sizeof *each; i++)
		hu_tsv_int(t, (long long)each[i]);
}

hu_status
hu_census_add(hu_tsv *exponents, hu_tsv *casts, hu_session *s, size_t step)
{
	const hu_program *p = s->programs.train;
	int from, scale;

	for (int i = 0; i < p->nt && s->config->count; i++) {
		hu_census c;
		if (!hu_match(s->config->count, p->t[i].name))
			continue;
		HU_TRY(census_of(s, i, &c));
		hu_bins_rows(exponents, step, &p->t[i], c.bins);
		if (hu_is_cast(p, i, &from, &scale))
			add_cast(casts, step, p, i, from, &c.lost);
	}
	return HU_OK;
}

/* SPDX-License-Identifier: Apache-2.0
   What a search knows before it tries an assignment: its decisions, the damage of each scheme alone, bytes and times.
 */
#include "analyzers/advise/search.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_search_damage(const hu_search *s, size_t k, size_t first, size_t last, hu_damage *damage)
{
	hu_variant v = { .by_node = 1, .rest = s->scheme[k] };
	hu_samples part;
	hu_sensitivity r;

	hu_samples_part(&part, &s->half[0], first, last - first);
	hu_status st = hu_sensitivity_low(&r, &v, s->m, s->range, &part, &s->d, part.n, s->batch);
	for (size_t i = 0; i < s->n && st == HU_OK; i++) {
		damage[i] = (hu_damage){ .error = 0 };
		for (size_t j = 0; j < r.n; j++)
			for (size_t l = 0; l < s->decision[i].n; l++)
				if (!strcmp(r.node[j].layer, s->decision[i].layers[l])) {
					damage[i].error += r.node[j].low.error;
					damage[i].all = r.node[j].low.all;
					damage[i].flips += r.node[j].low.flips;
				}
	}
	hu_sensitivity_release(&r);
	hu_samples_part_free(&part);
	return st;
}

/* The bytes of decision i's weights under scheme k. */
static hu_status
measure_bytes(hu_search *s, size_t i, size_t k)
{
	unsigned char *one = hu_xcalloc(s->n + 1, 1);
	hu_assignment a = { .choice = one };
	hu_variant alone;
	hu_version v;

	one[i] = (unsigned char)(k + 1);
	hu_search_variant(s, &a, &alone);
	hu_status st = hu_variant_version(&v, &alone, s->m, s->range, NULL, NULL);
	if (st == HU_OK) {
		s->decision[i].bytes[k + 1] = s->decision[i].bytes[0] + hu_evaluate_weight_bytes(&v) - s->float_bytes;
		hu_version_release(&v);
	}
	hu_variant_release(&alone);
	free(one);
	return st;
}

/* Adds the product that is call I to decision D. */
static void
also(hu_decision *d, const hu_imported *m, int i)
{
	if (d->n == d->cap) {
		HU_GROW(d->nodes, d->n, d->cap);
		d->layers = hu_xrealloc(d->layers, d->cap * sizeof *d->layers);
	}
	d->layers[d->n] = m->p->c[i].layer;
	d->nodes[d->n++] = *m->node[i] ? m->node[i] : m->p->c[i].layer;
}

/* The decision on weights T, OF by decision; NULL: there is none yet. */
static hu_decision *
of_weights(hu_search *s, int t, const int *of)
{
	for (size_t k = 0; k < s->n; k++)
		if (of[k] == t)
			return &s->decision[k];
	return NULL;
}

hu_status
hu_search_list(hu_search *s)
{
	const hu_imported *m = s->m;
	size_t cap = 0;
	int *of = NULL; /* by decision: its weights */

	s->quantisable = hu_schemes_quantisable(m);
	for (int i = 0; i < m->p->nc; i++) {
		if (!s->quantisable[i] || !m->constant[m->p->c[i].in[1]].data)
			continue;
		hu_decision *tied = of_weights(s, m->p->c[i].in[1], of);
		if (tied) {
			also(tied, m, i);
			continue;
		}
		HU_GROW(s->decision, s->n, cap);
		of = hu_xrealloc(of, cap * sizeof *of);
		of[s->n] = m->p->c[i].in[1];
		hu_decision *d = &s->decision[s->n++];
		*d = (hu_decision){ .layer = m->p->c[i].layer,
			.node = *m->node[i] ? m->node[i] : m->p->c[i].layer,
			.bytes = hu_xcalloc(s->nscheme + 1, sizeof *d->bytes),
			.seconds = hu_xcalloc(s->nscheme + 1, sizeof *d->seconds),
			.damage = hu_xcalloc(s->nscheme + 1, sizeof *d->damage) };
		d->bytes[0] = 4 * (double)hu_count(m->p->t[m->p->c[i].in[1]].shape);
		also(d, m, i);
	}
	free(of);
	return s->n ? HU_OK
		    : hu_fail(HU_EUNABLE,
			      "no Conv, Gemm or MatMul node has constant weights: there is nothing to decide");
}

/* float32 on both halves. */
static hu_status
measure_base(hu_search *s)
{
	hu_assignment none = { .choice = hu_xcalloc(s->n + 1, 1) };
	hu_status st = HU_OK;

	for (int h = 0; h < 2 && st == HU_OK; h++) {
		hu_variant variant;
		hu_version v;
		hu_search_variant(s, &none, &variant);
		st = hu_variant_version(&v, &variant, s->m, s->range, NULL, NULL);
		hu_variant_release(&variant);
		if (st == HU_OK) {
			s->float_bytes = hu_evaluate_weight_bytes(&v);
			st = hu_evaluate(&s->base[h], s->m, v, "", NULL, &s->half[h], s->batch, s->bar);
		}
	}
	free(none.choice);
	return st;
}

hu_status
hu_search_measure(hu_search *s)
{
	hu_status st = measure_base(s);

	for (size_t k = 0; k < s->nscheme && st == HU_OK; k++)
		for (size_t i = 0; i < s->n && st == HU_OK; i++)
			st = measure_bytes(s, i, k);
	for (size_t i = 0; i < s->n && s->device; i++) {
		for (size_t k = 0; k <= s->nscheme; k++)
			s->decision[i].seconds[k] = hu_search_seconds(s, &s->decision[i], k);
		s->float_seconds += s->decision[i].seconds[0];
	}
	return st;
}

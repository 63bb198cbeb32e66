/* SPDX-License-Identifier: Apache-2.0
   What a search knows before it tries an assignment: its decisions, the damage of each scheme alone, bytes and
   times. */
#include "analyzers/advise/search.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The nodes that are decided on alone have scheme K. */
static void
products_alone(hu_variant *v, const hu_search *s, size_t k)
{
	hu_assignment all = { .choice = hu_xmalloc(s->n + 1) };

	memset(all.choice, (int)(k + 1), s->n);
	hu_search_variant(s, &all, v);
	free(all.choice);
}

hu_status
hu_search_damage(const hu_search *s, size_t k, size_t first, size_t last, hu_damage *damage)
{
	hu_network view = hu_trials_view(&s->trials, s->trials.n, 0);
	hu_sensitivity r = { .n = 0 };
	hu_samples part;
	hu_variant v;

	products_alone(&v, s, k);
	hu_samples_part(&part, &s->half[0], first, last - first);
	hu_status st = s->trials.n->each
			       ? hu_each_low(&r, &view, &v, s->trials.each[0].answers, &s->d, first, last)
			       : hu_sensitivity_low(&r, &v, s->m, s->range, &part, &s->d, part.n, s->batch);
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
	hu_variant_release(&v);
	return st;
}

/* A program of which decisions are listed: that of all inputs, or of one. */
typedef struct program {
	const hu_imported *m;
	const hu_range *range;
	char *quantisable;
	double float_bytes;
} program;

/* The bytes of decision I's weights, of its numbers under scheme K (-1: none). */
static hu_status
bytes_of(double *bytes, hu_search *s, const program *p, size_t i, int k)
{
	hu_assignment a = { .choice = hu_xcalloc(s->n + 1, 1) };
	hu_variant alone;
	hu_version v;

	if (k >= 0)
		a.choice[i] = (unsigned char)(k + 1);
	hu_search_variant(s, &a, &alone);
	alone.some = 1;
	hu_status st = hu_variant_version(&v, &alone, p->m, p->range, NULL, NULL);
	if (st == HU_OK) {
		*bytes = hu_evaluate_weight_bytes(&v);
		hu_version_release(&v);
	}
	hu_variant_release(&alone);
	free(a.choice);
	return st;
}

/* Bytes of the decisions from FIRST on, and the share OF of all decisions' times. */
static hu_status
measure(hu_search *s, const program *p, size_t first, double of)
{
	for (size_t k = 0; k < s->nscheme; k++)
		for (size_t i = first; i < s->n; i++) {
			double bytes;
			HU_TRY(bytes_of(&bytes, s, p, i, (int)k));
			s->decision[i].bytes[k + 1] = s->decision[i].bytes[0] + bytes - p->float_bytes;
		}
	for (size_t i = 0; i < s->n && s->device; i++)
		for (size_t k = 0; k <= s->nscheme; k++)
			s->decision[i].seconds[k] +=
				of * hu_search_seconds(s, p->m, p->quantisable, &s->decision[i], k);
	return HU_OK;
}

/* Adds the product that is call I to decision D, unless it has it. */
static void
also(hu_decision *d, const hu_imported *m, int i)
{
	for (size_t k = 0; k < d->n; k++)
		if (!strcmp(d->layers[k], m->p->c[i].layer))
			return;
	if (d->n == d->cap) {
		HU_GROW(d->nodes, d->n, d->cap);
		d->layers = hu_xrealloc(d->layers, d->cap * sizeof *d->layers);
	}
	d->layers[d->n] = hu_xstrdup(m->p->c[i].layer);
	d->nodes[d->n++] = hu_xstrdup(*m->node[i] ? m->node[i] : m->p->c[i].layer);
	d->node = d->nodes[0];
	d->layer = d->layers[0];
}

/* The decision on weights T; NULL: there is none yet. */
static hu_decision *
of_weights(hu_search *s, const char *t)
{
	for (size_t k = 0; k < s->n; k++)
		if (!strcmp(s->decision[k].weights, t))
			return &s->decision[k];
	return NULL;
}

/* 1 where the node of call I stands in the main graph of the file. */
static int
in_main(const hu_search *s, const hu_imported *m, int i)
{
	const hu_onnx_graph *g = s->trials.n->onnx.graph;
	const char *name = *m->node[i] ? m->node[i] : m->p->c[i].layer;

	for (size_t k = 0; k < g->nnode; k++)
		if (!strcmp(*g->node[k].name || !g->node[k].nout ? g->node[k].name : g->node[k].out[0], name))
			return 1;
	return 0;
}

/* Adds the decisions of a program. */
static void
list(hu_search *s, const program *p, size_t *cap)
{
	const hu_imported *m = p->m;

	for (int i = 0; i < m->p->nc; i++) {
		if (!p->quantisable[i] || !m->constant[m->p->c[i].in[1]].data)
			continue;
		if (s->written && !in_main(s, m, i)) {
			s->within++;
			continue;
		}
		const char *weights = m->p->t[m->p->c[i].in[1]].name;
		hu_decision *d = of_weights(s, weights);
		if (!d) {
			HU_GROW(s->decision, s->n, *cap);
			d = &s->decision[s->n++];
			*d = (hu_decision){ .weights = hu_xstrdup(weights),
				.bytes = hu_xcalloc(s->nscheme + 1, sizeof *d->bytes),
				.seconds = hu_xcalloc(s->nscheme + 1, sizeof *d->seconds),
				.damage = hu_xcalloc(s->nscheme + 1, sizeof *d->damage) };
			d->bytes[0] = 4 * (double)hu_count(m->p->t[m->p->c[i].in[1]].shape);
		}
		also(d, m, i);
	}
}

static hu_status
list_each(hu_search *s)
{
	hu_network view = hu_trials_view(&s->trials, s->trials.n, 0);
	size_t cap = 0;
	hu_status st = HU_OK;

	for (size_t i = 0; i < s->half[0].n && st == HU_OK; i++) {
		hu_imported m;
		size_t first = s->n;
		HU_TRY(hu_network_answered(
			&view, &m, &s->trials.each[0].answers[i], &view.onnx, HU_TYPING_FLOAT32));
		hu_range *range = hu_each_ranges(&view, &m);
		program p = { &m, range, hu_schemes_quantisable(&m), 0 };
		s->within = 0;
		list(s, &p, &cap);
		st = bytes_of(&p.float_bytes, s, &p, 0, -1);
		if (st == HU_OK)
			st = measure(s, &p, first, 1 / (double)s->half[0].n);
		for (size_t k = first; k < s->n && i; k++)
			s->float_bytes += s->decision[k].bytes[0];
		free(p.quantisable);
		free(range);
		hu_imported_release(&m);
	}
	for (size_t i = 0; i < s->n; i++)
		s->float_seconds += s->decision[i].seconds[0];
	return st;
}

hu_status
hu_search_list(hu_search *s)
{
	size_t cap = 0;

	s->quantisable = hu_schemes_quantisable(s->m);
	program p = { s->m, s->range, s->quantisable, 0 };
	if (s->trials.n->each)
		HU_TRY(list_each(s));
	else
		list(s, &p, &cap);
	return s->n ? HU_OK
		    : hu_fail(HU_EUNABLE,
			      "no Conv, Gemm or MatMul node%s has constant weights: there is nothing to decide",
			      s->within ? " outside If, Loop and Scan" : "");
}

hu_status
hu_search_measure(hu_search *s)
{
	program p = { s->m, s->range, s->quantisable, 0 };

	if (s->trials.n->each)
		return HU_OK;
	HU_TRY(hu_trials_open(&s->trials, &s->float_bytes));
	p.float_bytes = s->float_bytes;
	HU_TRY(measure(s, &p, 0, 1));
	for (size_t i = 0; i < s->n; i++)
		s->float_seconds += s->decision[i].seconds[0];
	return HU_OK;
}

/* SPDX-License-Identifier: Apache-2.0
   The nodes that a policy of schemes does something to, as a list, and figures of one. */
#include "analyzers/validate/sensitivity/sensitivity.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* low[call]: its scheme. */
typedef struct nodes {
	const hu_imported *m;
	const hu_scheme **low;
	char *quantisable;
} nodes;

double
hu_damage_rel(const hu_damage *d)
{
	return d->error == 0 ? 0 : sqrt(d->error / d->all);
}

double
hu_sensitivity_additive(const hu_sensitivity *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += hu_damage_rel(&s->node[i].low) * hu_damage_rel(&s->node[i].low);
	return sqrt(sum);
}

/* 1 where the scheme does anything to the call. */
static int
matters(const nodes *w, int call)
{
	const hu_scheme *s = w->low[call];

	return s && (s->kind == HU_SCHEME_FLOAT ? !w->m->p->c[call].op->moves : w->quantisable[call]);
}

static void
list_nodes(hu_sensitivity *r, const nodes *w)
{
	const hu_program *p = w->m->p;
	size_t cap = 0;

	for (int i = 0; i < p->nc; i++) {
		size_t k = 0;
		while (k < r->n && strcmp(r->node[k].layer, p->c[i].layer))
			k++;
		if (k < r->n || !matters(w, i))
			continue;
		HU_GROW(r->node, r->n, cap);
		r->node[r->n] = (hu_node_damage){ .position = r->n,
			.layer = p->c[i].layer,
			.op = w->m->op[i],
			.node = *w->m->node[i] ? w->m->node[i] : p->c[i].layer };
		snprintf(r->node[r->n].scheme, sizeof r->node[r->n].scheme, "%s", w->low[i]->name);
		r->n++;
	}
}

static int
by_damage(const void *a, const void *b)
{
	const hu_node_damage *x = a, *y = b;

	int none = x->low.error != x->low.error, other = y->low.error != y->low.error;

	if (none != other)
		return other - none; /* what is no number is the worst of all */
	if (!none && x->low.error != y->low.error)
		return x->low.error > y->low.error ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

void
hu_sensitivity_sort(hu_sensitivity *r)
{
	if (r->n)
		qsort(r->node, r->n, sizeof *r->node, by_damage);
}

hu_status
hu_sensitivity_list(hu_sensitivity *r, const hu_variant *v, const hu_imported *m)
{
	nodes w = { .m = m };

	*r = (hu_sensitivity){ .policy = v->name };
	HU_TRY(hu_variant_schemes(v, m, &w.low));
	w.quantisable = hu_schemes_quantisable(m);
	list_nodes(r, &w);
	free(w.quantisable);
	free(w.low);
	return HU_OK;
}

static char *
own(hu_sensitivity *r, const char *name)
{
	HU_GROW(r->name, r->nname, r->namecap);
	return r->name[r->nname++] = hu_xstrdup(name);
}

void
hu_sensitivity_add(hu_sensitivity *r, const hu_sensitivity *more)
{
	for (size_t i = 0; i < more->n; i++) {
		size_t k = 0;
		while (k < r->n && strcmp(r->node[k].layer, more->node[i].layer))
			k++;
		if (k < r->n)
			continue;
		r->node = hu_xrealloc(r->node, (r->n + 1) * sizeof *r->node);
		hu_node_damage *to = &r->node[r->n];
		*to = more->node[i];
		to->position = r->n++;
		to->layer = own(r, to->layer);
		to->node = own(r, to->node);
	}
}

void
hu_sensitivity_release(hu_sensitivity *r)
{
	for (size_t k = 0; k < r->n; k++) {
		hu_range_release(&r->node[k].range);
		free(r->node[k].channel);
	}
	for (size_t k = 0; k < r->nname; k++)
		free(r->name[k]);
	free(r->name);
	free(r->node);
	free(r->first_nonfinite);
	memset(r, 0, sizeof *r);
}

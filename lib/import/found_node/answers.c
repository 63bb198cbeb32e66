/* SPDX-License-Identifier: Apache-2.0
   Values that an import for one input asks for, since shapes or choices follow from them. They are asked for in the
   order of the nodes, so that what was asked before decides what is asked next, and how many elements that has. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

void
hu_answers_release(hu_answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i].x);
	free(a->v);
	*a = (hu_answers){ .n = 0 };
}

/* The elements of constant T, of N elements. */
static double *
elements(const hu_tensor *t, size_t n)
{
	double *x = hu_xmalloc((n + 1) * sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = hu_get(t, i);
	return x;
}

/* Computes V's elements, and keeps them as what was asked for. */
static double *
computed(hu_importing *c, const hu_value *v, const hu_tensor *t)
{
	hu_answers *a = c->asking->to;

	if (!t->data) {
		hu_import_fail(c, HU_EUNABLE, "'%.120s' could not be computed beforehand", v->name);
		return NULL;
	}
	HU_GROW(a->v, a->n, a->cap);
	a->v[a->n++] = (hu_answer){ v->n, elements(t, v->n) };
	return elements(t, v->n);
}

double *
hu_answers_value(hu_importing *c, const hu_value *v, int t)
{
	hu_asking *ask = c->asking;

	if (ask->fill)
		return computed(c, v, &c->constant[t]);
	HU_GROW(ask->port, ask->n, ask->cap);
	hu_port *port = &ask->port[ask->n++];
	*port = (hu_port){ hu_xstrdup(v->name ? v->name : ""), t, v->type, v->rank, 0, { 0 } };
	memcpy(port->d, v->d, sizeof port->d);
	const hu_answer *a = ask->n <= ask->from->n ? &ask->from->v[ask->n - 1] : NULL;
	if (!a || a->n != v->n) {
		ask->stopped = 1;
		hu_import_fail(c, HU_EUNABLE, "'%.120s' is not known yet", v->name);
		return NULL;
	}
	double *x = hu_xmalloc((v->n + 1) * sizeof *x);
	memcpy(x, a->x, v->n * sizeof *x);
	return x;
}

void
hu_answers_outputs(hu_importing *c, hu_imported *m)
{
	hu_asking *ask = c->asking;

	m->out = hu_xrealloc(m->out, (m->nout + ask->n + 1) * sizeof *m->out);
	for (size_t i = 0; i < ask->n; i++)
		m->out[m->nout++] = ask->port[i];
	m->asked = ask->n;
	m->stopped = ask->stopped;
	ask->n = 0;
}

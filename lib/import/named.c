/* SPDX-License-Identifier: Apache-2.0
   The values of the main graph by name, for whoever asks what a value of the file holds. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <string.h>

/* The ends of the constant T's finite elements, and whether others are infinite. */
static void
ends(hu_imported_value *v, const hu_tensor *t)
{
	int any = 0;

	for (size_t i = 0; i < t->n; i++) {
		double x = hu_get(t, i);
		if (isinf(x))
			v->infinite[x > 0] = 1;
		if (!isfinite(x))
			continue;
		v->low = !any || x < v->low ? x : v->low;
		v->high = !any || x > v->high ? x : v->high;
		any = 1;
	}
}

/* 1 where NAME is an initialiser of G, which is read in the file itself. */
static int
is_stored(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->ninit; i++)
		if (!strcmp(g->init[i].name, name))
			return 1;
	return 0;
}

void
hu_import_named(hu_importing *c, hu_imported *m)
{
	const hu_scope *s = c->scope;

	m->value = hu_xcalloc(s->n + 1, sizeof *m->value);
	for (size_t i = 0; i < s->n; i++) {
		const hu_value *v = s->value[i];
		hu_imported_value *to = &m->value[m->nvalue++];
		*to = (hu_imported_value){ .name = hu_xstrdup(v->name), .type = v->type, .rank = v->rank };
		memcpy(to->d, v->d, sizeof to->d);
		to->tensor = v->plain >= 0 ? v->plain : v->last;
		to->last = v->plain < 0;
		to->constant = to->tensor >= 0 && c->constant[to->tensor].data != NULL;
		if (to->constant && !is_stored(c->m->graph, v->name))
			ends(to, &c->constant[to->tensor]);
	}
}

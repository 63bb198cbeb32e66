/* SPDX-License-Identifier: Apache-2.0
   What is decided where inputs have a program each: a list of boxes; or classes, as of other models, in an output that
   has one shape; or else whole numbers and shapes. */
#include "analyzers/validate/each/each_lists.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 1 where output K has one shape for every input. */
static int
one_shape(const hu_each *e, size_t k)
{
	const hu_each_value *first = &e->value[k];

	for (size_t i = 1; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout + k];
		if (v->rank != first->rank || memcmp(v->d, first->d, (size_t)v->rank * sizeof *v->d) != 0)
			return 0;
	}
	return 1;
}

/* boxes or boxes=X, of a list. */
static hu_status
list(hu_each_lists *l, hu_deciding *d, const char *text, int labels)
{
	char *end = NULL;

	*d = (hu_deciding){ .kind = HU_DECISION_LISTS, .classes = 2, .rows = 1, .top = d->top, .axis = -1, .inner = 1 };
	d->output = (size_t)l->boxes;
	d->ignored = d->threshold = NAN;
	if (labels)
		return hu_fail(HU_EINVAL,
			"--labels: a list of boxes has no class for each input; --output names an output that has");
	if (!text || !strcmp(text, "boxes"))
		return HU_OK;
	if (l->scores >= 0) {
		l->threshold = d->threshold = strtod(text + 6, &end);
		if (end > text + 6 && !*end && l->threshold == l->threshold)
			return HU_OK;
	}
	return hu_fail(HU_EINVAL,
		"--decision '%s': the model has lists of boxes, which decide by boxes%s; none is possible too",
		hu_shown(text), l->scores >= 0 ? ", or boxes=X for scores above X" : "");
}

/* Classes, in one of those outputs that have one shape for every input. */
static hu_status
classes(hu_deciding *d, const hu_each *e, const hu_network *n, const char *name, const char *text)
{
	const hu_imported *m = &n->m;
	hu_imported fixed = *m;
	size_t *from = hu_xcalloc(m->nout + 1, sizeof *from), kept = 0;
	hu_status st = HU_OK;

	fixed.out = hu_xcalloc(m->nout + 1, sizeof *fixed.out);
	for (size_t k = 0; k < m->nout; k++) {
		if (one_shape(e, k)) {
			fixed.out[kept] = m->out[k];
			from[kept++] = k;
		} else if (name && !strcmp(name, m->out[k].name)) {
			st = hu_fail(HU_EINVAL,
				"--output '%s': its shape differs from input to input, and classes need one shape",
				hu_shown(name));
		}
	}
	fixed.nout = kept;
	if (st == HU_OK && !kept && text && strcmp(text, "none") != 0)
		st = hu_fail(HU_EINVAL,
			"--decision '%s': shapes of all outputs differ from input to input; none is possible",
			hu_shown(text));
	if (st == HU_OK)
		st = hu_deciding_of(d, &n->onnx, &fixed, 1, &n->s, name, text, d->top);
	d->output = from[d->output];
	free(fixed.out);
	free(from);
	return st;
}

hu_status
hu_each_deciding(hu_each_lists *l, hu_deciding *d, const hu_each *e, const hu_network *n)
{
	const char *name = hu_args_text(n->a, "output"), *text = hu_args_text(n->a, "decision");
	int labels = n->s.label != NULL, asked = name || text || labels, varies = 0, whole = 0, top = d->top;

	hu_each_lists_find(l, e, &n->m);
	for (size_t k = 0; k < e->nout; k++) {
		varies |= !one_shape(e, k);
		whole |= hu_import_whole(n->m.out[k].type);
	}
	if (l->boxes >= 0 && (!name || !strcmp(name, n->m.out[l->boxes].name)) &&
		(!text || !strncmp(text, "boxes", 5)))
		return list(l, d, text, labels);
	if (asked || (!whole && !varies))
		return classes(d, e, n, name, text);
	*d = (hu_deciding){ .kind = HU_DECISION_LISTS, .classes = 2, .rows = 1, .top = top, .axis = -1, .inner = 1 };
	d->ignored = d->threshold = NAN;
	return HU_OK;
}

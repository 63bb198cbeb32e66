/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/remedy/remedy_channels.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
is_read(const hu_onnx_graph *g, const char *value)
{
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		if (!*x->domain && (!strcmp(x->op, "MatMul") || !strcmp(x->op, "Gemm")) && x->nin > 1 &&
			!strcmp(x->in[0], value))
			return 1;
	}
	return 0;
}

/* Finds room for value V, NULL where another of its channels is there. */
static struct hu_remedy_seen *
room(hu_remedy_channels *c, const hu_imported_value *v)
{
	size_t channels = v->d[v->rank - 1];

	for (size_t k = 0; k < c->n; k++)
		if (!strcmp(c->value[k].name, v->name))
			return c->value[k].channels == channels ? &c->value[k] : NULL;
	HU_GROW(c->value, c->n, c->cap);
	struct hu_remedy_seen *to = &c->value[c->n++];
	*to = (struct hu_remedy_seen){ hu_xstrdup(v->name), channels, hu_xcalloc(channels + 1, sizeof *to->most) };
	return to;
}

static void
extend(struct hu_remedy_seen *to, const hu_tensor *t)
{
	for (size_t i = 0; i < t->n && to; i++)
		to->most[i % to->channels] = fmaxf(to->most[i % to->channels], (float)fabs(hu_get(t, i)));
}

/* Runs M on the inputs of S in batches. */
static hu_status
observe(hu_remedy_channels *c, const hu_onnx_graph *g, const hu_imported *m, const hu_samples *s, size_t batch,
	hu_progress *bar)
{
	hu_exec x;

	HU_TRY(hu_exec_init(&x, m->p));
	hu_imported_load(m, &x);
	hu_status st = HU_OK;
	for (size_t first = 0; first < s->n && st == HU_OK; first += batch) {
		for (size_t i = 0; i < m->nin; i++)
			if (m->in[i].tensor >= 0)
				hu_samples_fill_round(s, i, first, s->n, batch, &x.t[m->in[i].tensor]);
		st = hu_exec_run(&x, &(hu_env){ 0, 0 });
		for (size_t i = 0; i < m->nvalue && st == HU_OK; i++) {
			const hu_imported_value *v = &m->value[i];
			if (v->type == HU_ONNX_FLOAT && v->tensor >= 0 && !v->last && !v->constant && v->rank > 1 &&
				is_read(g, v->name))
				extend(room(c, v), &x.t[v->tensor]);
		}
		hu_progress_step(bar, 1);
	}
	hu_exec_release(&x);
	return st;
}

hu_status
hu_remedy_channels_find(hu_remedy_channels *c, const hu_network *n, const hu_trials *t)
{
	hu_network view = hu_trials_view(t, n, 0);
	hu_status st = HU_OK;

	memset(c, 0, sizeof *c);
	if (!n->each)
		return observe(c, n->onnx.graph, &n->m, &t->half[0], t->batch, t->bar);
	for (size_t i = 0; i < t->half[0].n && st == HU_OK; i++) {
		hu_samples one;
		hu_imported m;
		HU_TRY(hu_network_answered(&view, &m, &t->each[0].answers[i], &n->onnx, HU_TYPING_FLOAT32));
		hu_samples_part(&one, &t->half[0], i, 1);
		st = observe(c, n->onnx.graph, &m, &one, 1, t->bar);
		hu_samples_part_free(&one);
		hu_imported_release(&m);
	}
	return st;
}

const float *
hu_remedy_channels_of(const hu_remedy_channels *c, const char *value, size_t channels)
{
	for (size_t k = 0; c && k < c->n; k++)
		if (!strcmp(c->value[k].name, value))
			return c->value[k].channels == channels ? c->value[k].most : NULL;
	return NULL;
}

void
hu_remedy_channels_release(hu_remedy_channels *c)
{
	for (size_t k = 0; k < c->n; k++) {
		free(c->value[k].name);
		free(c->value[k].most);
	}
	free(c->value);
	memset(c, 0, sizeof *c);
}

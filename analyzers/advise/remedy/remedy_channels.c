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

static void
list(hu_remedy_channels *c, const hu_network *n)
{
	for (size_t i = 0; i < n->m.nvalue; i++) {
		const hu_imported_value *v = &n->m.value[i];
		if (v->type != HU_ONNX_FLOAT || v->tensor < 0 || v->last || v->constant || v->rank < 2 ||
			!is_read(n->onnx.graph, v->name))
			continue;
		HU_GROW(c->value, c->n, c->cap);
		struct hu_remedy_seen *to = &c->value[c->n++];
		*to = (struct hu_remedy_seen){ hu_xstrdup(v->name), v->d[v->rank - 1], v->tensor, NULL };
		to->most = hu_xcalloc(to->channels + 1, sizeof *to->most);
	}
}

static void
extend(struct hu_remedy_seen *to, const hu_tensor *t)
{
	for (size_t i = 0; i < t->n; i++)
		to->most[i % to->channels] = fmaxf(to->most[i % to->channels], (float)fabs(hu_get(t, i)));
}

hu_status
hu_remedy_channels_find(
	hu_remedy_channels *c, const hu_network *n, const hu_samples *s, size_t batch, hu_progress *bar)
{
	hu_exec x;

	memset(c, 0, sizeof *c);
	list(c, n);
	HU_TRY(hu_exec_init(&x, n->m.p));
	hu_imported_load(&n->m, &x);
	hu_status st = HU_OK;
	for (size_t first = 0; first < s->n && st == HU_OK; first += batch) {
		for (size_t i = 0; i < n->m.nin; i++)
			if (n->m.in[i].tensor >= 0)
				hu_samples_fill_round(s, i, first, s->n, batch, &x.t[n->m.in[i].tensor]);
		st = hu_exec_run(&x, &(hu_env){ 0, 0 });
		for (size_t k = 0; k < c->n && st == HU_OK; k++)
			extend(&c->value[k], &x.t[c->value[k].tensor]);
		hu_progress_step(bar, 1);
	}
	hu_exec_release(&x);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/onnx/rewrite.h"

#include "lib/base/mem.h"
#include "lib/store/onnx/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A graph with the inputs and outputs of LIKE. */
static void
empty(hu_onnx *to, const hu_onnx_graph *like)
{
	to->graph = hu_onnx_own(to, 1, sizeof *to->graph);
	*to->graph = *like;
	to->graph->node = NULL;
	to->graph->init = NULL;
	to->graph->nnode = to->graph->ninit = to->graph->ninfo = 0;
}

void
hu_onnx_rewrite_begin(hu_onnx_rewrite *w, hu_onnx *to, const hu_onnx *from)
{
	memset(to, 0, sizeof *to);
	*w = (hu_onnx_rewrite){ .from = from, .to = to };
	to->path = hu_xstrdup(from->path);
	to->ir = from->ir;
	to->opset = from->opset;
	to->nopset = from->nopset;
	to->function = from->function;
	to->nfunction = from->nfunction;
	empty(to, from->graph);
}

const hu_onnx *
hu_onnx_rewrite_again(hu_onnx_rewrite *w)
{
	hu_onnx *between = hu_onnx_own(w->to, 1, sizeof *between);

	*between = *w->to;
	empty(w->to, between->graph);
	w->from = between;
	w->nodecap = w->initcap = 0;
	return between;
}

const char *
hu_onnx_rewrite_text(hu_onnx_rewrite *w, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	char *s = hu_onnx_own(w->to, (size_t)n + 1, 1);
	va_start(ap, format);
	vsnprintf(s, (size_t)n + 1, format, ap);
	va_end(ap);
	return s;
}

void *
hu_onnx_rewrite_room(hu_onnx_rewrite *w, size_t count, size_t size)
{
	return hu_onnx_own(w->to, count, size);
}

/* A copy, which TO owns, of N elements of SIZE bytes, with room for MORE. */
static void *
copy(hu_onnx *to, const void *from, size_t n, size_t more, size_t size)
{
	void *p = hu_onnx_own(to, n + more, size);

	if (n)
		memcpy(p, from, n * size);
	return p;
}

/* Room for one element more than N in a list, whose capacity doubles. */
static void *
room(hu_onnx *to, void *list, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return list;
	*cap = 2 * n + 16;
	return copy(to, list, n, *cap - n, size);
}

static hu_onnx_node *
append(hu_onnx_rewrite *w)
{
	hu_onnx_graph *g = w->to->graph;

	g->node = room(w->to, g->node, g->nnode, &w->nodecap, sizeof *g->node);
	return &g->node[g->nnode++];
}

hu_onnx_node *
hu_onnx_rewrite_copy(hu_onnx_rewrite *w, const hu_onnx_node *like)
{
	hu_onnx_node *x = append(w);

	*x = *like;
	x->in = copy(w->to, like->in, like->nin, 1, sizeof *x->in);
	x->out = copy(w->to, like->out, like->nout, 1, sizeof *x->out);
	return x;
}

hu_onnx_node *
hu_onnx_rewrite_node(hu_onnx_rewrite *w, const char *op, const char *const *in, size_t n, const char *out)
{
	hu_onnx_node *x = append(w);

	*x = (hu_onnx_node){ .name = out, .op = op, .domain = "", .nin = n, .nout = 1 };
	x->in = copy(w->to, in, n, 1, sizeof *x->in);
	x->out = copy(w->to, &out, 1, 0, sizeof *x->out);
	return x;
}

void
hu_onnx_rewrite_attr(hu_onnx_rewrite *w, hu_onnx_node *node, const char *key, int64_t value)
{
	hu_onnx_attr *all = copy(w->to, node->attr, node->nattr, 1, sizeof *all);

	all[node->nattr] = (hu_onnx_attr){ .name = key, .ref = "", .has_i = 1, .i = value };
	node->attr = all;
	node->nattr++;
}

static hu_stensor *
initialiser(hu_onnx_rewrite *w)
{
	hu_onnx_graph *g = w->to->graph;

	g->init = room(w->to, g->init, g->ninit, &w->initcap, sizeof *g->init);
	return &g->init[g->ninit++];
}

void
hu_onnx_rewrite_keep(hu_onnx_rewrite *w, const hu_stensor *t)
{
	*initialiser(w) = *t;
}

void *
hu_onnx_rewrite_constant(hu_onnx_rewrite *w, const char *name, int type, int rank, const size_t *d)
{
	static const struct {
		int type, bits;
		const char *dtype;
	} known[] = {
#define TYPE(number, name, dtype, bits, field, entries) { number, bits, dtype },
#include "lib/store/onnx/types.def"
#undef TYPE
	};
	hu_stensor *t = initialiser(w);

	*t = (hu_stensor){ .name = name, .rank = rank, .count = 1 };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].type == type) {
			t->dtype = known[i].dtype;
			t->bits = known[i].bits;
		}
	HU_ASSERT(t->dtype && t->bits);
	for (int i = 0; i < rank; i++) {
		t->shape[i] = d[i];
		t->count *= d[i];
	}
	t->bytes = (t->count * (size_t)t->bits + 7) / 8;
	void *data = hu_onnx_own(w->to, t->bytes + 8, 1); /* aligned as calloc has it */
	t->data = data;
	return data;
}

void
hu_onnx_rewrite_domain(hu_onnx_rewrite *w, const char *domain, int64_t version)
{
	hu_onnx *m = w->to;

	if (hu_onnx_version(m, domain))
		return;
	m->opset = copy(m, m->opset, m->nopset, 1, sizeof *m->opset);
	m->opset[m->nopset++] = (hu_onnx_opset){ domain, version };
}

void
hu_onnx_rewrite_version(hu_onnx_rewrite *w, int64_t version)
{
	hu_onnx *m = w->to;

	m->opset = copy(m, m->opset, m->nopset, 0, sizeof *m->opset);
	for (size_t i = 0; i < m->nopset; i++)
		if (!*m->opset[i].domain)
			m->opset[i].version = version;
}

hu_status
hu_onnx_rewrite_end(hu_onnx_rewrite *w)
{
	return hu_onnx_order(w->to, w->to->graph);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/share.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Tensors by name. */
typedef struct named {
	const char *name;
	int id;
} named;

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static named *
index_of(const hu_program *p)
{
	named *all = hu_xcalloc((size_t)p->nt + 1, sizeof *all);

	for (int i = 0; i < p->nt; i++)
		all[i] = (named){ p->t[i].name, i };
	qsort(all, (size_t)p->nt, sizeof *all, by_name);
	return all;
}

static int
same_info(const hu_info *a, const hu_info *b)
{
	return a->format == b->format && hu_same_shape(a->shape, b->shape);
}

static int
same_constant(const hu_tensor *a, const hu_tensor *b)
{
	if (!a->data || !b->data)
		return !a->data && !b->data;
	return a->data == b->data ||
	       (a->format == b->format && a->n == b->n && !memcmp(a->data, b->data, a->n * hu_element_size(a->format)));
}

static int
same_attrs(const hu_call *a, const hu_call *b)
{
	if (a->nattr != b->nattr)
		return 0;
	for (int i = 0; i < a->nattr; i++)
		if (strcmp(a->attr[i].key, b->attr[i].key) || strcmp(a->attr[i].text, b->attr[i].text) ||
			a->attr[i].num != b->attr[i].num)
			return 0;
	return 1;
}

/* Call A computes what B of the base does. Rounding at random draws by name, so that mode is never shared. */
static int
same_call(const hu_call *a, const hu_call *b, const int *same)
{
	char x[128], y[128];

	if (a->op != b->op || a->nin != b->nin || a->nout != b->nout || a->mode != b->mode || a->flags != b->flags ||
		a->mode != HU_RNE || memcmp(&a->fmt, &b->fmt, sizeof a->fmt) || !same_attrs(a, b))
		return 0;
	for (int i = 0; i < a->nin; i++)
		if (same[a->in[i]] < 0 || same[a->in[i]] != b->in[i])
			return 0;
	hu_sum_print(a->sum, x, sizeof x);
	hu_sum_print(b->sum, y, sizeof y);
	return !strcmp(x, y);
}

hu_status
hu_share_init(hu_share *s, const hu_version *v, const hu_version *base, hu_tensor *t)
{
	named *names = index_of(base->p);

	*s = (hu_share){ .v = v };
	s->same = hu_xmalloc(((size_t)v->p->nt + 1) * sizeof *s->same);
	s->t = hu_xcalloc((size_t)v->p->nt + 1, sizeof *s->t);
	/* Tensors without a call come first; then calls stand in order. */
	for (int i = 0; i < v->p->nt; i++) {
		const hu_info *one = &v->p->t[i];
		const named *found =
			bsearch(&(named){ one->name, 0 }, names, (size_t)base->p->nt, sizeof *names, by_name);
		s->same[i] = found && same_info(one, &base->p->t[found->id]) ? found->id : -1;
		if (one->producer < 0 && s->same[i] >= 0 &&
			(base->p->t[s->same[i]].producer >= 0 ||
				!same_constant(&v->constant[i], &base->constant[s->same[i]])))
			s->same[i] = -1;
	}
	for (int i = 0; i < v->p->nc; i++) {
		const hu_call *c = &v->p->c[i];
		int candidate = s->same[c->out[0]], from = candidate < 0 ? -1 : base->p->t[candidate].producer,
		    is = from >= 0 && same_call(c, &base->p->c[from], s->same);
		for (int k = 0; k < c->nout; k++)
			s->same[c->out[k]] = is ? base->p->c[from].out[k] : -1;
		s->calls += !is;
	}
	free(names);
	for (int i = 0; i < v->p->nt; i++) {
		const hu_info *one = &v->p->t[i];
		hu_tensor *to = &s->t[i];
		if (s->same[i] >= 0) {
			*to = t[s->same[i]];
			continue;
		}
		*to = (hu_tensor){ .format = one->format, .shape = one->shape, .n = hu_count(one->shape) };
		if (!(to->data = hu_alloc(to->n * hu_element_size(to->format) + 1))) {
			hu_share_release(s);
			return hu_fail(HU_ENOMEM, "no memory for a tensor of %zu elements", hu_count(one->shape));
		}
	}
	/* Shared constants have been loaded: only the own ones are. */
	hu_tensor *own = hu_xcalloc((size_t)v->p->nt + 1, sizeof *own);
	for (int i = 0; i < v->p->nt; i++)
		if (s->same[i] < 0)
			own[i] = s->t[i];
	hu_version_load(v, own);
	free(own);
	return HU_OK;
}

hu_status
hu_share_run(hu_share *s)
{
	hu_status st = HU_OK;

	for (int i = 0; i < s->v->p->nc && st == HU_OK; i++)
		if (s->same[s->v->p->c[i].out[0]] < 0)
			st = hu_exec_call(s->v->p, i, s->t, &(hu_env){ 0, 0 });
	return st;
}

void
hu_share_release(hu_share *s)
{
	for (int i = 0; s->t && i < s->v->p->nt; i++)
		if (s->same[i] < 0)
			free(s->t[i].data);
	free(s->t);
	free(s->same);
	memset(s, 0, sizeof *s);
}

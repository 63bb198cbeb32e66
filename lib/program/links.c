/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/links.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <stdlib.h>
#include <string.h>

static const hu_step_links *
links_of(const hu_program *p, size_t step)
{
	size_t first = 0, last = p->links ? (size_t)p->links->n : 0;

	while (first < last) {
		size_t mid = (first + last) / 2;
		const hu_step_links *s = &p->links->s[mid];
		if (s->step == step)
			return s;
		if (s->step < step)
			first = mid + 1;
		else
			last = mid;
	}
	return NULL;
}

static const hu_link *
link_of(const hu_step_links *s, int tensor)
{
	int first = 0, last = s->n;

	while (first < last) {
		int mid = (first + last) / 2;
		if (s->l[mid].tensor == tensor)
			return &s->l[mid];
		if (s->l[mid].tensor < tensor)
			first = mid + 1;
		else
			last = mid;
	}
	return NULL;
}

int
hu_program_next(const hu_program *p, size_t step, int tensor)
{
	const hu_step_links *s = links_of(p, step);
	const hu_link *l = s ? link_of(s, tensor) : NULL;

	return !s ? p->t[tensor].next : l ? l->next : -1;
}

int
hu_program_grad(const hu_program *p, size_t step, int tensor)
{
	const hu_step_links *s = links_of(p, step);
	const hu_link *l = s ? link_of(s, tensor) : NULL;

	return !s ? p->t[tensor].grad : l ? l->grad : -1;
}

int
hu_program_becomes(const hu_program *p, int tensor, int next)
{
	const hu_link *l;

	if (next < 0)
		return 0;
	for (int i = 0; p->links && i < p->links->n; i++)
		if ((l = link_of(&p->links->s[i], tensor)) && l->next == next)
			return 1;
	return p->t[tensor].next == next;
}

int
hu_program_scales(const hu_program *p, int tensor)
{
	const hu_info *t = &p->t[tensor];

	return t->loss_scaled && (t->cls == HU_WGRAD || hu_count(t->shape) > 1);
}

hu_links *
hu_links_copy(const hu_links *l)
{
	if (!l)
		return NULL;
	hu_links *to = hu_xcalloc(1, sizeof *to);
	for (int i = 0; i < l->n; i++) {
		HU_GROW(to->s, to->n, to->cap);
		hu_step_links *s = &to->s[to->n++];
		*s = l->s[i];
		s->cap = s->n;
		s->l = hu_xmalloc(((size_t)s->n + 1) * sizeof *s->l);
		if (s->n)
			memcpy(s->l, l->s[i].l, (size_t)s->n * sizeof *s->l);
	}
	return to;
}

void
hu_links_free(hu_links *l)
{
	for (int i = 0; l && i < l->n; i++)
		free(l->s[i].l);
	if (l)
		free(l->s);
	free(l);
}

void
hu_links_to_json(const hu_program *p, json_t *program)
{
	if (!p->links)
		return;
	json_t *steps = json_array();
	for (int i = 0; i < p->links->n; i++) {
		const hu_step_links *s = &p->links->s[i];
		json_t *next = json_object(), *grad = json_object();
		for (int k = 0; k < s->n; k++) {
			char key[16];
			snprintf(key, sizeof key, "%d", s->l[k].tensor);
			if (s->l[k].next >= 0)
				json_object_set_new(next, key, json_integer(s->l[k].next));
			if (s->l[k].grad >= 0)
				json_object_set_new(grad, key, json_integer(s->l[k].grad));
		}
		json_array_append_new(
			steps, json_pack("{s:I s:o s:o}", "step", (json_int_t)s->step, "next", next, "grad", grad));
	}
	json_object_set_new(program, "steps", steps);
}

static int
by_tensor(const void *a, const void *b)
{
	const hu_link *x = a, *y = b;

	return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* Reads {"12": 57, …}: each entry is a link with next or grad. */
static hu_status
links_from(const hu_program *p, hu_step_links *s, json_t *of, int is_next)
{
	const char *what = is_next ? "next" : "grad", *key;
	json_t *v;

	if (of && !json_is_object(of))
		return hu_fail(HU_EFILE, "%s is no object", what);
	json_object_foreach(of, key, v)
	{
		char *end;
		long from = strtol(key, &end, 10);
		json_int_t to = json_integer_value(v);
		if (!*key || *end || from < 0 || from >= p->nt || !json_is_integer(v) || to < 0 || to >= p->nt)
			return hu_fail(HU_EFILE, "%s of '%.20s' names a tensor that there is not", what, key);
		const hu_info *a = &p->t[from], *b = &p->t[to];
		if (!hu_same_shape(a->shape, b->shape) || (is_next && (a->format != b->format || !a->state)))
			return hu_fail(HU_EFILE, "%s of tensor %s is %s, which is none of its shape%s", what, a->name,
				b->name, is_next ? " and format, or it is no state" : "");
		HU_GROW(s->l, s->n, s->cap);
		s->l[s->n++] = (hu_link){ (int)from, is_next ? (int)to : -1, is_next ? -1 : (int)to };
	}
	return HU_OK;
}

/* Makes one link of those of a tensor. */
static void
unite(hu_step_links *s)
{
	int n = 0;

	if (s->n)
		qsort(s->l, (size_t)s->n, sizeof *s->l, by_tensor);
	for (int i = 0; i < s->n; i++)
		if (n && s->l[n - 1].tensor == s->l[i].tensor) {
			s->l[n - 1].next = s->l[i].next >= 0 ? s->l[i].next : s->l[n - 1].next;
			s->l[n - 1].grad = s->l[i].grad >= 0 ? s->l[i].grad : s->l[n - 1].grad;
		} else
			s->l[n++] = s->l[i];
	s->n = n;
}

hu_status
hu_links_from_json(hu_program *p, const json_t *program)
{
	json_t *steps = json_object_get(program, "steps"), *j;
	size_t i;

	if (!steps)
		return HU_OK;
	if (!json_is_array(steps))
		return hu_fail(HU_EFILE, "steps is no array");
	p->links = hu_xcalloc(1, sizeof *p->links);
	json_array_foreach(steps, i, j)
	{
		json_int_t step;
		hu_links *all = p->links;
		if (json_unpack(j, "{s:I}", "step", &step) || step < 0 ||
			(all->n && (size_t)step <= all->s[all->n - 1].step))
			return hu_fail(HU_EFILE, "steps: entry %zu has no number above those before it", i);
		HU_GROW(all->s, all->n, all->cap);
		hu_step_links *s = &all->s[all->n++];
		*s = (hu_step_links){ .step = (size_t)step };
		HU_TRY(links_from(p, s, json_object_get(j, "next"), 1));
		HU_TRY(links_from(p, s, json_object_get(j, "grad"), 0));
		unite(s);
	}
	return HU_OK;
}

/* SPDX-License-Identifier: Apache-2.0
   Values of the graph by name, their shapes, and the two orders of elements in which a value may be held. */
#include "lib/import/importing.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t *
place(const hu_scope *s, const char *name)
{
	size_t i = (size_t)hu_fnv1a64(name) & (s->slots - 1);

	while (s->slot[i] && strcmp(s->value[s->slot[i] - 1]->name, name))
		i = (i + 1) & (s->slots - 1);
	return &s->slot[i];
}

static void
rehash(hu_scope *s)
{
	free(s->slot);
	s->slots = s->slots ? 2 * s->slots : 64;
	s->slot = hu_xcalloc(s->slots, sizeof *s->slot);
	for (size_t i = 0; i < s->n; i++)
		*place(s, s->value[i]->name) = i + 1;
}

hu_value *
hu_import_find(hu_importing *c, const char *name)
{
	for (const hu_scope *s = c->scope; s; s = s->outer) {
		size_t at = s->slots ? *place(s, name) : 0;
		if (at)
			return s->value[at - 1];
	}
	return NULL;
}

int
hu_import_is_outer(const hu_importing *c, const char *name)
{
	return c->scope->outer && !(c->scope->slots && *place(c->scope, name));
}

hu_value *
hu_import_value(hu_importing *c, hu_scope *s, const char *name, int type, int rank, const size_t *d)
{
	if (rank > HU_RANK) {
		hu_import_fail(c, HU_EUNABLE, "value '%.120s' has %d dimensions; at most %d are possible", name, rank,
			HU_RANK);
		return NULL;
	}
	if (2 * (s->n + 1) >= s->slots)
		rehash(s);
	size_t *at = place(s, name);
	if (!*at) {
		HU_GROW(s->value, s->n, s->cap);
		s->value[s->n] = hu_xcalloc(1, sizeof **s->value);
		*at = ++s->n;
	}
	hu_value *v = s->value[*at - 1];
	free(v->half);
	*v = (hu_value){ .name = name, .type = type, .rank = rank, .n = 1, .plain = -1, .last = -1 };
	for (int i = 0; i < rank; i++) {
		v->d[i] = d[i];
		if (__builtin_mul_overflow(v->n, d[i], &v->n)) {
			hu_import_fail(c, HU_EFILE, "value '%.120s' has more elements than memory can hold", name);
			return NULL;
		}
	}
	return v;
}

hu_value *
hu_import_out(hu_importing *c, size_t i, int type, int rank, const size_t *d)
{
	static hu_value nowhere;

	nowhere = (hu_value){ .plain = -1, .last = -1 };
	if (c->st != HU_OK || i >= c->node->nout || !*c->node->out[i])
		return &nowhere;
	hu_value *v = hu_import_value(c, c->scope, c->node->out[i], type, rank, d);
	if (v && !v->n) { /* no call computes a value without elements */
		v->plain = hu_import_nothing(c, hu_import_format(c, type), hu_import_shape(rank, d));
		return &nowhere;
	}
	return v ? v : &nowhere;
}

void
hu_import_put(hu_importing *c, size_t i, const hu_value *v)
{
	hu_value was = *v, *to;

	if (c->st != HU_OK || i >= c->node->nout || !*c->node->out[i])
		return;
	to = hu_import_value(c, c->scope, c->node->out[i], was.type, was.rank, was.d);
	if (to) {
		to->plain = was.plain;
		to->last = was.last;
		to->raw = was.raw;
		to->is_cast = was.is_cast;
		to->list = was.list;
	}
}

hu_shape
hu_import_shape(int rank, const size_t *d)
{
	hu_shape s = { .rank = rank, .d = { 1, 1, 1, 1, 1, 1, 1, 1 } };

	for (int i = 0; i < rank; i++)
		s.d[i] = d[i];
	return s;
}

hu_shape
hu_import_shape_last(const hu_value *v)
{
	hu_shape s = hu_import_shape(v->rank, v->d);

	for (int i = 1; i + 1 < v->rank; i++)
		s.d[i] = v->d[i + 1];
	s.d[v->rank - 1] = v->d[1];
	return s;
}

int
hu_import_is_last(const hu_value *v)
{
	return v->last >= 0 && v->plain < 0;
}

int
hu_import_plain(hu_importing *c, hu_value *v)
{
	if (c->st != HU_OK || !v)
		return -1;
	if (v->plain >= 0)
		return v->plain;
	if (v->list)
		return hu_import_fail(c, HU_EFILE, "it reads '%.120s', which is a sequence of tensors", v->name);
	if (v->last < 0)
		return hu_import_fail(c, HU_EUNABLE, "it reads '%.120s', which nothing computes", v->name);
	hu_axes x = hu_axes_same(hu_import_shape(v->rank, v->d));
	x.from[1] = v->rank - 1;
	for (int i = 2; i < v->rank; i++)
		x.from[i] = i - 1;
	return v->plain = hu_import_move(c, v->last, &x);
}

int
hu_import_last(hu_importing *c, hu_value *v)
{
	if (c->st != HU_OK || !v)
		return -1;
	if (v->rank < 3)
		return hu_import_plain(c, v);
	if (v->last >= 0)
		return v->last;
	if (v->plain < 0)
		return hu_import_plain(c, v);
	hu_axes x = hu_axes_same(hu_import_shape_last(v));
	for (int i = 1; i + 1 < v->rank; i++)
		x.from[i] = i + 1;
	x.from[v->rank - 1] = 1;
	return v->last = hu_import_move(c, v->plain, &x);
}

int
hu_import_is_constant(hu_importing *c, const hu_value *v)
{
	int t = !v ? -1 : v->plain >= 0 && c->constant[v->plain].data ? v->plain : v->last;

	return t >= 0 && c->constant[t].data && !hu_asking_varies(c, t);
}

double *
hu_import_constant(hu_importing *c, hu_value *v)
{
	int t = hu_import_plain(c, v);

	if (t < 0)
		return NULL;
	if (c->asking && (!c->constant[t].data || hu_asking_varies(c, t)))
		return hu_answers_value(c, v, t);
	if (!c->constant[t].data) {
		hu_import_fail(c, HU_EUNABLE, "'%.120s' must be a constant here, and it depends on the model's inputs",
			v->name);
		return NULL;
	}
	double *x = hu_xmalloc((v->n + 1) * sizeof *x);
	for (size_t i = 0; i < v->n; i++)
		x[i] = hu_get(&c->constant[t], i);
	return x;
}

int
hu_import_axis(hu_importing *c, double axis, int rank)
{
	if (!(axis >= -rank && axis < (rank ? rank : 1)))
		return hu_import_fail(c, HU_EFILE, "axis %.0f, and the value has %d axes", axis, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}

void
hu_import_scope_release(hu_scope *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->value[i]->half);
		free(s->value[i]);
	}
	free(s->value);
	free(s->slot);
	free(s->prefix);
}

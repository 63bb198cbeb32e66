/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/narrow/narrow.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_tensor
hu_narrow_view(const hu_tensor *t, size_t first, size_t n)
{
	return (hu_tensor){ .format = t->format, .shape = hu_shape1(n), .n = n,
		.data = (char *)t->data + first * hu_element_size(t->format) };
}

hu_tensor
hu_narrow_columns(const hu_tensor *t, size_t C, hu_span some)
{
	size_t columns = some.last - some.first, rows = t->n / C, size = hu_element_size(t->format);
	hu_tensor v = { .format = t->format, .shape = hu_shape2(rows, columns), .n = rows * columns };

	v.data = hu_xmalloc((v.n + 1) * size);
	for (size_t r = 0; r < rows; r++)
		memcpy((char *)v.data + r * columns * size, (const char *)t->data + (r * C + some.first) * size,
			columns * size);
	return v;
}

/* How operand k of a narrowed map is read: from which element on, and how many there are. */
static void
stretch(const hu_map *m, hu_how how, hu_span some, hu_how read, size_t *first, size_t *n)
{
	size_t C = m->channels, groups = some.last - some.first, rows = m->image / C;

	switch (read) {
	case HU_EACH:
		*first = how == HU_ROW ? some.first * C : how == HU_IMAGE ? some.first * rows : some.first;
		*n = how == HU_ROW ? groups * C : how == HU_IMAGE ? groups * rows : groups;
		return;
	case HU_ROW:
		*first = how == HU_IMAGE ? some.first / C * rows : some.first;
		*n = how == HU_IMAGE ? groups / C * rows : groups;
		return;
	case HU_IMAGE:
	case HU_CHANNEL: /* a channel of HU_CHANNEL */
	case HU_ONE:
	case HU_INDEX:
		*first = some.first;
		*n = groups;
	}
}

static void
narrow(hu_narrow_map *v, const hu_map *m, hu_how how, hu_span some, int k)
{
	hu_source *s = &v->m.in[k];
	size_t first = 0, n = 0;

	HU_ASSERT(s->how != HU_IMAGE || how == HU_IMAGE);
	if (how == HU_CHANNEL) { /* rows stay as they are */
		HU_ASSERT(s->how != HU_INDEX);
		if (s->how == HU_ROW || s->how == HU_ONE)
			return;
		if (s->how == HU_EACH) {
			HU_ASSERT(!s->e && !s->low);
			v->t[k] = hu_narrow_columns(s->t, m->channels, some);
			v->copy[k] = v->t[k].data;
			s->t = &v->t[k];
			return;
		}
	} else if (s->how == HU_ONE || s->how == HU_CHANNEL || s->how == HU_INDEX)
		return;
	stretch(m, how, some, s->how, &first, &n);
	v->t[k] = hu_narrow_view(s->t, first, n);
	if (s->low) {
		v->low[k].lo = s->low->lo ? s->low->lo + first : NULL;
		v->low[k].err = s->low->err ? s->low->err + first : NULL;
		s->low = &v->low[k];
	}
	s->e = s->e ? s->e + first : NULL;
	s->t = &v->t[k];
}

void
hu_narrow_init(hu_narrow_map *v, const hu_map *m, hu_how how, hu_span some)
{
	size_t groups = some.last - some.first;

	memset(v->copy, 0, sizeof v->copy);
	v->m = *m;
	for (int k = 0; k < m->nin; k++)
		narrow(v, m, how, some, k);
	v->m.n = how == HU_ROW      ? groups * m->channels
		 : how == HU_IMAGE   ? groups / m->channels * m->image
		 : how == HU_CHANNEL ? m->n / m->channels * groups
				     : groups;
	v->m.channels = how == HU_CHANNEL ? groups : m->channels;
	v->m.image = how == HU_IMAGE ? m->image : v->m.n;
}

void
hu_narrow_release(hu_narrow_map *v)
{
	for (int k = 0; k < HU_MAP_IN; k++)
		free(v->copy[k]);
}

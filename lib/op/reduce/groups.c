/* SPDX-License-Identifier: Apache-2.0
   Groups of a tensor's elements (stats.h). */
#include "lib/op/reduce/stats.h"

hu_groups
hu_groups_rows(size_t n, size_t C)
{
	return (hu_groups){ n, C ? C : 1, n ? n : 1, HU_ROW };
}

hu_groups
hu_groups_columns(size_t n, size_t C)
{
	return (hu_groups){ n, C ? C : 1, n ? n : 1, HU_CHANNEL };
}

hu_groups
hu_groups_one(size_t n)
{
	return hu_groups_columns(n, 1);
}

hu_groups
hu_groups_middle(size_t outer, size_t middle, size_t inner)
{
	size_t n = outer * middle * inner, image = middle * inner;

	if (outer == 1)
		return hu_groups_columns(n, inner);
	if (inner == 1)
		return hu_groups_rows(n, middle);
	return (hu_groups){ n, inner ? inner : 1, image ? image : 1, HU_IMAGE };
}

size_t
hu_groups_count(const hu_groups *g)
{
	return g->how == HU_ROW       ? g->n / g->channels
	       : g->how == HU_CHANNEL ? g->channels
				      : g->n / g->image * g->channels;
}

size_t
hu_groups_size(const hu_groups *g)
{
	return g->how == HU_ROW       ? g->channels
	       : g->how == HU_CHANNEL ? g->n / g->channels
				      : g->image / g->channels;
}

void
hu_groups_place(const hu_groups *g, size_t k, size_t *first, size_t *stride)
{
	*stride = g->how == HU_ROW ? 1 : g->channels;
	*first = g->how == HU_ROW       ? k * g->channels
		 : g->how == HU_CHANNEL ? k
					: k / g->channels * g->image + k % g->channels;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_layout.h"

#include <stdio.h>
#include <string.h>

static hu_op_layout
layout_of(hu_shape result, const int *axis)
{
	hu_op_layout l = { .rank = result.rank };
	size_t step = 1;

	for (int a = result.rank; a-- > 0;) {
		l.axis[a] = axis[a];
		l.d[axis[a]] = result.d[axis[a]];
		l.step[axis[a]] = step;
		step *= result.d[axis[a]];
	}
	return l;
}

hu_op_layout
hu_op_layout_same(hu_shape result)
{
	static const int axis[HU_RANK] = { 0, 1, 2, 3, 4, 5 };

	return layout_of(result, axis);
}

size_t
hu_op_layout_at(const hu_op_layout *l, size_t i)
{
	size_t at = 0;

	for (int a = l->rank; a-- > 0; i /= l->d[a])
		at += i % l->d[a] * l->step[a];
	return at;
}

int
hu_op_layout_is_same(const hu_op_layout *l)
{
	for (int a = 0; a < l->rank; a++)
		if (l->axis[a] != a)
			return 0;
	return 1;
}

/* Returns 1 where the elements have the result's own order; axes of one element do not matter for this. */
static int
moves_nothing(const hu_op_layout *l)
{
	int last = -1;

	for (int a = 0; a < l->rank; a++) {
		if (l->d[l->axis[a]] == 1)
			continue;
		if (l->axis[a] < last)
			return 0;
		last = l->axis[a];
	}
	return 1;
}

/* Makes axis the next permutation in lexicographic order; returns 0 after the last. */
static int
next(int *axis, int n)
{
	int i = n - 2, j = n - 1, t;

	while (i >= 0 && axis[i] > axis[i + 1])
		i--;
	if (i < 0)
		return 0;
	while (axis[j] < axis[i])
		j--;
	t = axis[i], axis[i] = axis[j], axis[j] = t;
	for (i++, j = n - 1; i < j; i++, j--)
		t = axis[i], axis[i] = axis[j], axis[j] = t;
	return 1;
}

static int
has_shape(const hu_op_layout *l, const hu_npy *array)
{
	int same = l->rank == array->rank;

	for (int a = 0; same && a < l->rank; a++)
		same = l->d[l->axis[a]] == array->shape[a];
	return same;
}

int
hu_op_layout_find(hu_op_layout *l, hu_shape result, const hu_npy *array, int but_same,
	int (*fits)(const void *context, size_t i, size_t at), const void *context)
{
	for (int shaped = 1; shaped >= 0; shaped--) {
		int axis[HU_RANK] = { 0, 1, 2, 3, 4, 5 };
		do {
			*l = layout_of(result, axis);
			if (has_shape(l, array) != shaped || (but_same && moves_nothing(l)))
				continue;
			size_t i = 0;
			while (i < array->count && fits(context, i, hu_op_layout_at(l, i)))
				i++;
			if (i == array->count)
				return 1;
		} while (next(axis, result.rank));
	}
	return 0;
}

void
hu_op_layout_words(const hu_op_layout *l, char *text, size_t size)
{
	static const struct { int rank, axis[HU_RANK]; const char *words; } known[] = {
		{ 4, { 0, 3, 1, 2 }, ", which takes NHWC to NCHW" },
		{ 4, { 3, 2, 0, 1 }, ", which takes HWIO to OIHW" },
	};
	char axes[40];
	const char *words = "";
	size_t d[HU_RANK];

	for (int a = 0; a < l->rank; a++)
		d[a] = (size_t)l->axis[a];
	hu_op_shape_words(l->rank, d, axes, sizeof axes);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].rank == l->rank && !memcmp(known[i].axis, l->axis, (size_t)l->rank * sizeof *l->axis))
			words = known[i].words;
	if (l->rank == 2 && !hu_op_layout_is_same(l))
		snprintf(text, size, "its transpose");
	else
		snprintf(text, size, "transpose%s%s", axes, words);
}

void
hu_op_shape_words(int rank, const size_t *d, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "(");

	for (int a = 0; a < rank && n < size; a++)
		n += (size_t)snprintf(text + n, size - n, "%s%zu%s", a ? ", " : "", d[a], rank == 1 ? "," : "");
	if (n < size)
		snprintf(text + n, size - n, ")");
}

int
hu_op_same_shape(hu_shape result, const hu_npy *array)
{
	return result.rank == array->rank && !memcmp(result.d, array->shape, (size_t)result.rank * sizeof *result.d);
}

/* SPDX-License-Identifier: Apache-2.0
   Along which axis of each of the model's inputs the inputs of a batch lie. The command line may say it; else it is
   an axis without which the model's shape is that of a row of the array: one whose name other inputs share first. */
#include "analyzers/network/samples.h"

#include "lib/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The name in a dimension's text, its length in *n; *times: k of "k*name" and "name*k", otherwise 1. */
static const char *
name_in(const char *text, size_t *n, size_t *times)
{
	const char *star = strchr(text, '*');
	size_t left = star ? (size_t)(star - text) : 0;

	*times = 1;
	*n = strlen(text);
	if (!star || strchr(star + 1, '*'))
		return text;
	if (left && strspn(text, "0123456789") == left) {
		*times = strtoull(text, NULL, 10);
		*n = strlen(star + 1);
		text = star + 1;
	} else if (star[1] && strspn(star + 1, "0123456789") == strlen(star + 1)) {
		*times = strtoull(star + 1, NULL, 10);
		*n = left;
	}
	*times = *times ? *times : 1;
	return text;
}

static size_t
times_of(const hu_onnx_dim *d)
{
	size_t n, times = 1;

	if (d->n <= 0)
		(void)name_in(d->param, &n, &times);
	return times;
}

/* 1 where a row of array A, one of N, fits the model's input V without its axis AXIS. */
static int
fits(const hu_onnx_value *v, const hu_npy *a, size_t n, int axis)
{
	size_t times = times_of(&v->dim[axis]);
	int own = a->rank == v->rank + 1; /* the array has the axis itself behind its rows */

	/* A size that the model fixes is a batch where it is the first one, is 1, or nothing is open. */
	for (int i = 0; i < v->rank && axis && v->dim[axis].n > 1; i++)
		if (v->dim[i].n <= 0)
			return 0;
	if (own ? times < 2 || a->shape[axis + 1] != times || a->shape[0] != n
		: a->rank != v->rank || a->shape[0] != times * n || (axis && times > 1))
		return 0;
	for (int i = 0; i < v->rank; i++) {
		size_t have = a->shape[own || i < axis ? i + 1 : i];
		if (i != axis && v->dim[i].n > 0 && (size_t)v->dim[i].n != have)
			return 0;
	}
	return 1;
}

/* 1 where the name is one that exporters and people give to batches. */
static int
is_batch(const char *name, size_t n)
{
	static const char *const usual[] = { "n", "b", "bs", "nb" };

	for (size_t i = 0; i + 5 <= n; i++)
		if (!strncasecmp(name + i, "batch", 5))
			return 1;
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strlen(usual[i]) == n && !strncasecmp(name, usual[i], n))
			return 1;
	return 0;
}

/* How good an axis of V is if nothing but V is known: 0 where it does not fit. */
static int
goodness(const hu_onnx_value *v, const hu_npy *a, size_t rows, int axis)
{
	size_t n, times;
	const char *name = name_in(v->dim[axis].param ? v->dim[axis].param : "", &n, &times);

	if (!fits(v, a, rows, axis))
		return 0;
	return 1 + (v->dim[axis].n <= 0) * (2 + 2 * is_batch(name, n));
}

/* The axis called NAME, of N characters, else number AT where that fits, else the best one by itself. */
static int
choose(const hu_onnx_value *v, const hu_npy *a, size_t rows, const char *name, size_t n, int at)
{
	int best = 0, most = 0, open = 0;

	for (int j = 0; j < v->rank; j++)
		open |= v->dim[j].n <= 0 && fits(v, a, rows, j);

	if (v->rank >= 0 && a->rank == v->rank + 1 && !name)
		most = 1, best = -1;
	for (int j = 0; j < v->rank; j++) {
		size_t length, times;
		const char *own = name_in(v->dim[j].n > 0 ? "" : v->dim[j].param, &length, &times);
		int good = goodness(v, a, rows, j);
		if (good && ((name && length == n && !strncmp(own, name, n)) ||
				    (!name && j == at && (!open || v->dim[j].n <= 0))))
			return j;
		if (good > most) {
			most = good;
			best = j;
		}
	}
	return !most && v->rank >= 0 && a->rank == v->rank + 1 ? -1 : best;
}

/* A name that open axes have: in how many inputs, whether it speaks of batches, and its first place. */
typedef struct symbol {
	const char *name;
	size_t n, inputs;
	int batch, axis;
} symbol;

static int
by_promise(const void *a, const void *b)
{
	const symbol *x = a, *y = b;

	if (x->inputs != y->inputs)
		return x->inputs > y->inputs ? -1 : 1;
	if (x->batch != y->batch)
		return y->batch - x->batch;
	return x->axis - y->axis;
}

/* The names of all axes that fit, the most promising first. */
static size_t
symbols(const hu_samples *s, symbol **list)
{
	size_t n = 0, cap = 0;

	*list = NULL;
	for (size_t i = 0; i < s->narray; i++)
		for (int j = 0; j < s->input[i]->rank; j++) {
			const hu_onnx_dim *d = &s->input[i]->dim[j];
			size_t length, times, k = 0;
			const char *name = name_in(d->n > 0 ? "" : d->param, &length, &times);
			if (!length || s->shared[i] || !fits(s->input[i], s->array[i], s->n, j))
				continue;
			while (k < n && ((*list)[k].n != length || strncmp((*list)[k].name, name, length)))
				k++;
			if (k == n) {
				HU_GROW(*list, n, cap);
				(*list)[n++] = (symbol){ name, length, 0, is_batch(name, length), j };
			}
			(*list)[k].inputs++;
		}
	if (n)
		qsort(*list, n, sizeof **list, by_promise);
	return n;
}

int
hu_samples_axes(hu_samples *s, size_t attempt)
{
	symbol *list;
	size_t n = symbols(s, &list);
	int at = attempt < n ? -1 : (int)(attempt - n), possible = attempt == 0 || attempt < n;

	for (size_t i = 0; i < s->narray; i++) {
		const hu_onnx_value *v = s->input[i];
		int named = hu_samples_axis_of(s->said, v->name, -2);
		s->axis[i] = -1;
		s->run[i] = 1;
		if (s->shared[i])
			continue;
		if (attempt < n)
			s->axis[i] = choose(v, s->array[i], s->n, list[attempt].name, list[attempt].n, -1);
		else
			s->axis[i] = choose(v, s->array[i], s->n, NULL, 0, at);
		possible |= at >= 0 && s->axis[i] == at;
		if (named != -2)
			s->axis[i] = named;
		s->run[i] = s->axis[i] >= 0 && v->rank > s->axis[i] ? times_of(&v->dim[s->axis[i]]) : 1;
	}
	free(list);
	return possible;
}

size_t
hu_samples_times(const hu_onnx_value *v)
{
	size_t most = 1;

	for (int j = 0; j < v->rank; j++)
		most = times_of(&v->dim[j]) > most ? times_of(&v->dim[j]) : most;
	return most;
}

int
hu_samples_axis_of(const hu_batch_axes *said, const char *name, int otherwise)
{
	for (size_t i = 0; said && i < said->n; i++)
		if (!strcmp(said->name[i], name))
			return said->axis[i];
	return otherwise;
}

/* SPDX-License-Identifier: Apache-2.0
   Exact values of attention and its gradients as pairs of doubles with a bound. Threads share the matrices; of a list
   of elements only those rows are computed that an element lies in. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/contract/attention/attention.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/dd/dd_vector.h"

#include <math.h>
#include <stdlib.h>

/* A thread's copies of the operands that all rows of a matrix read. keys and values are n rows, those of the keys in
   key[]; "across" has the key as the second index, "below" as the first. */
typedef struct work {
	const hu_attention *a;
	size_t group, n, *key;
	hu_dd *keys_across, *values_across, *keys_below, *values_below, *q, *dy, *t, *slope;
} work;

static hu_dd
at(const hu_attention *a, int k, size_t i)
{
	return a->sink ? hu_operand_dd(a->sink, a->in, k, i) : hu_dd_of(hu_get(a->in[k], i));
}

static void
begin(work *w, const hu_attention *a)
{
	hu_dd **to[] = { &w->keys_across, &w->values_across, &w->keys_below, &w->values_below, &w->q, &w->dy, &w->t,
		&w->slope };
	const size_t size[] = { a->S * a->E, a->S * a->V, a->S * a->E, a->S * a->V, a->E, a->V, a->S, a->S };

	*w = (work){ .a = a, .group = (size_t)-1, .key = hu_xmalloc((a->S + 1) * sizeof *w->key) };
	for (size_t i = 0; i < sizeof size / sizeof *size; i++)
		*to[i] = hu_xmalloc((size[i] + 1) * sizeof **to[i]);
}

static void
end(work *w)
{
	hu_dd *all[] = { w->keys_across, w->values_across, w->keys_below, w->values_below, w->q, w->dy, w->t,
		w->slope };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	free(w->key);
}

static void
copy(const work *w, int k, size_t group, size_t width, hu_dd *across, hu_dd *below)
{
	for (size_t j = 0; j < w->n; j++)
		for (size_t d = 0; d < width; d++)
			across[d * w->n + j] = below[j * width + d] =
				at(w->a, k, (group * w->a->S + w->key[j]) * width + d);
}

/* Loads the keys and values of a group: all, or those that are set in need. */
static void
load(work *w, size_t group, const char *need)
{
	if (group == w->group && !need)
		return;
	w->group = need ? (size_t)-1 : group;
	w->n = 0;
	for (size_t j = 0; j < w->a->S; j++)
		if (!need || need[j])
			w->key[w->n++] = j;
	copy(w, 1, group, w->a->E, w->keys_across, w->keys_below);
	copy(w, 2, group, w->a->V, w->values_across, w->values_below);
}

/* How many of the loaded keys query i may see if the call is causal. */
static size_t
seen(const work *w, size_t i)
{
	size_t n = w->n;

	while (w->a->causal && n && w->key[n - 1] > i)
		n--;
	return n;
}

/* Puts the scores of query i of matrix b and the loaded keys into w->t; -infinity where a key is hidden. */
static void
scores(work *w, size_t b, size_t i)
{
	const hu_attention *a = w->a;
	size_t q = (b * a->L + i) * a->E, whole = a->L * a->S, count = seen(w, i);
	size_t m = a->mask < 0 ? 0 : (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S;

	for (size_t d = 0; d < a->E; d++)
		w->q[d] = at(a, 0, q + d);
	hu_dd_vector_dots(w->t, w->q, w->keys_across, a->E, w->n, count);
	for (size_t j = 0; j < w->n; j++) {
		if (j >= count || (a->mask >= 0 && hu_get(a->in[a->mask], m + w->key[j]) == -INFINITY)) {
			w->t[j] = hu_dd_of(-INFINITY);
			continue;
		}
		w->t[j] = hu_dd_mul(hu_dd_of(a->factor), w->t[j]);
		if (a->mask >= 0)
			w->t[j] = hu_dd_add(w->t[j], at(a, a->mask, m + w->key[j]));
	}
}

/* Replaces the scores by the exponentials of them less by. If some key is not hidden, those of hidden keys are -0. */
static void
exponentials(work *w, hu_dd by, int some)
{
	for (size_t j = 0; j < w->n;) {
		size_t first = j;
		while (j < w->n && !(some && w->t[j].h == -INFINITY))
			j++;
		hu_dd_vector_exp(w->t + first, by, j - first);
		for (; j < w->n && some && w->t[j].h == -INFINITY; j++)
			w->t[j] = hu_dd_of(-0.0);
	}
}

/* Whether an exponential is that of a hidden key, which meets no value: 0 times infinity is NaN. */
static int
hidden(hu_dd t)
{
	return t.h == 0 && t.e == 0 && signbit(t.h);
}

/* Computes the results' elements from k on that lie in one row: y[k] .. for n elements. */
static void
forward_row(work *w, int out, size_t row, size_t size, const size_t *element, size_t k, size_t n, hu_dd *y)
{
	const hu_attention *a = w->a;
	size_t b = row / a->L;
	hu_dd top = hu_dd_of(-INFINITY), sum = hu_dd_of(0), *all = w->dy; /* any number serves as the shift */

	load(w, b / a->repeat, NULL);
	scores(w, b, row % a->L);
	for (size_t j = 0; j < a->S; j++)
		top.h = w->t[j].h > top.h ? w->t[j].h : top.h;
	exponentials(w, top, top.h > -INFINITY);
	for (size_t j = 0; j < a->S; j++)
		sum = hu_dd_add(sum, w->t[j]);
	for (size_t i = k; out && i < k + n; i++)
		y[i] = hu_dd_add(top, hu_dd_log(sum));
	if (out)
		return;
	int few = n * 4 < size;
	for (size_t d = 0; d < size; d++)
		all[d] = hu_dd_of(0);
	for (size_t j = 0; j < a->S; j++) {
		const hu_dd *values = w->values_below + j * size;
		if (hidden(w->t[j]))
			continue;
		if (!few)
			hu_dd_vector_add(all, w->t[j], values, size);
		for (size_t i = k; few && i < k + n; i++) {
			size_t d = (element ? element[i] : i) % size;
			all[d] = hu_dd_add(all[d], hu_dd_mul(w->t[j], values[d]));
		}
	}
	for (size_t i = k; i < k + n; i++)
		y[i] = hu_dd_div(all[(element ? element[i] : i) % size], sum);
}

/* Adds to v, the outputs of a matrix, what query matrix b gives. Only the rows that are set in need count. */
static void
gradient_rows(work *w, int out, size_t b, const char *need, hu_dd *v)
{
	const hu_attention *a = w->a;
	size_t width = out == 2 ? a->V : a->E;

	load(w, b / a->repeat, out ? need : NULL);
	for (size_t i = 0; i < a->L; i++) {
		size_t row = b * a->L + i, count = seen(w, i);
		hu_dd D = hu_dd_of(0), lse = at(a, a->lse, row);
		if (!out && !need[i])
			continue;
		for (size_t d = 0; d < a->V; d++) {
			w->dy[d] = at(a, a->dy, row * a->V + d);
			D = hu_dd_add(D, hu_dd_mul(w->dy[d], at(a, a->out, row * a->V + d)));
		}
		scores(w, b, i);
		exponentials(w, lse, 1);
		if (out < 2)
			hu_dd_vector_dots(w->slope, w->dy, w->values_across, a->V, w->n, count);
		for (size_t j = 0; j < count; j++) {
			const hu_dd *by = out == 0 ? w->keys_below + j * width : out == 1 ? w->q : w->dy;
			hu_dd s = w->t[j];
			if (hidden(s))
				continue;
			if (out < 2)
				s = hu_dd_mul(hu_dd_mul(s, hu_dd_of(a->factor)), hu_dd_sub(w->slope[j], D));
			hu_dd_vector_add(v + (out == 0 ? i : w->key[j]) * width, s, by, width);
		}
	}
}

/* Computes the gradient's elements from k on that lie in matrix g of this size: y[k] .. for n elements. */
static void
gradient_matrix(work *w, int out, size_t g, size_t size, const size_t *element, size_t k, size_t n, hu_dd *y)
{
	const hu_attention *a = w->a;
	size_t width = out == 2 ? a->V : a->E;
	hu_dd *v = hu_xmalloc((size + 1) * sizeof *v);
	char *need = hu_xcalloc(size / width + 1, 1);

	for (size_t j = 0; j < size; j++)
		v[j] = hu_dd_of(0);
	for (size_t i = k; i < k + n; i++)
		need[(element ? element[i] : i) % size / width] = 1;
	for (size_t b = 0; b < (out ? a->repeat : 1); b++)
		gradient_rows(w, out, out ? g * a->repeat + b : g, need, v);
	for (size_t i = k; i < k + n; i++)
		y[i] = v[(element ? element[i] : i) % size];
	free(need);
	free(v);
}

/* Returns the places where runs of elements begin that lie in the same part of size elements, and the end. */
static size_t *
runs_of(const size_t *element, size_t n, size_t size, size_t *runs)
{
	size_t *from = hu_xmalloc((n + 1) * sizeof *from), now = 0;

	*runs = 0;
	for (size_t k = 0; k < n; k++) {
		size_t part = (element ? element[k] : k) / size;
		if (!k || part != now)
			from[(*runs)++] = k;
		now = part;
	}
	from[*runs] = n;
	return from;
}

typedef void part_of(work *w, int out, size_t part, size_t size, const size_t *element, size_t k, size_t n, hu_dd *y);

static void
in_parts(const hu_attention *a, part_of *one, int out, size_t size, const size_t *element, size_t n, hu_dd *y)
{
	size_t runs, *from = runs_of(element, n, size, &runs);

#pragma omp parallel num_threads(hu_threads()) if (runs > 1)
	{
		work w;
		begin(&w, a);
#pragma omp for schedule(dynamic, 1)
		for (size_t r = 0; r < runs; r++)
			one(&w, out, (element ? element[from[r]] : from[r]) / size, size, element, from[r],
				from[r + 1] - from[r], y);
		end(&w);
	}
	free(from);
}

void
hu_attention_forward_dd(const hu_attention *a, int out, const size_t *element, size_t n, hu_dd *y)
{
	in_parts(a, forward_row, out == 1, out == 1 ? 1 : a->V, element, n, y);
}

void
hu_attention_backward_dd(const hu_attention *a, int out, const size_t *element, size_t n, hu_dd *y)
{
	size_t width = out == 2 ? a->V : a->E;

	in_parts(a, gradient_matrix, out, (out ? a->S : a->L) * width, element, n, y);
}

/* SPDX-License-Identifier: Apache-2.0
   Exact values of attention and its gradients as pairs of doubles with a bound. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/contract/attention.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

static hu_dd
at(const hu_attention *a, int k, size_t i)
{
	return a->sink ? hu_operand_dd(a->sink, a->in, k, i) : hu_dd_of(hu_get(a->in[k], i));
}

static hu_dd
dot(const hu_attention *a, int j, size_t x, int k, size_t y, size_t n)
{
	hu_dd sum = hu_dd_of(0);

	for (size_t d = 0; d < n; d++)
		sum = hu_dd_add(sum, hu_dd_mul(at(a, j, x + d), at(a, k, y + d)));
	return sum;
}

/* The scores of query i of matrix b; -infinity where a key is hidden. */
static void
scores(const hu_attention *a, size_t b, size_t i, hu_dd *t)
{
	size_t q = (b * a->L + i) * a->E, key = b / a->repeat * a->S * a->E, whole = a->L * a->S;
	size_t m = a->mask < 0 ? 0 : (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S;

	for (size_t j = 0; j < a->S; j++) {
		t[j] = hu_dd_of(-INFINITY);
		if ((a->causal && j > i) || (a->mask >= 0 && hu_get(a->in[a->mask], m + j) == -INFINITY))
			continue;
		t[j] = hu_dd_mul(hu_dd_of(a->factor), dot(a, 0, q, 1, key + j * a->E, a->E));
		if (a->mask >= 0)
			t[j] = hu_dd_add(t[j], at(a, a->mask, m + j));
	}
}

void
hu_attention_forward_dd(const hu_attention *a, int out, const size_t *element, size_t n, hu_dd *y)
{
	size_t width = out ? 1 : a->V, now = (size_t)-1;
	hu_dd *t = hu_xmalloc((a->S + 1) * sizeof *t), sum = hu_dd_of(0), top = sum;

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k, row = i / width, b = row / a->L;
		if (row != now) {
			scores(a, b, row % a->L, t);
			top = hu_dd_of(-INFINITY);   /* any number serves as the shift */
			for (size_t j = 0; j < a->S; j++)
				top.h = t[j].h > top.h ? t[j].h : top.h;
			sum = hu_dd_of(0);
			for (size_t j = 0; j < a->S; j++) {
				t[j] = t[j].h == -INFINITY && top.h > -INFINITY ? hu_dd_of(0)
									: hu_dd_exp(hu_dd_sub(t[j], top));
				sum = hu_dd_add(sum, t[j]);
			}
		}
		now = row;
		if (out) {
			y[k] = hu_dd_add(top, hu_dd_log(sum));
			continue;
		}
		y[k] = hu_dd_of(0);
		for (size_t j = 0; j < a->S; j++)
			if (t[j].h != 0 || t[j].e != 0)
				y[k] = hu_dd_add(y[k],
					hu_dd_mul(t[j], at(a, 2, (b / a->repeat * a->S + j) * a->V + i % width)));
		y[k] = hu_dd_div(y[k], sum);
	}
	free(t);
}

/* Adds to v, the outputs of a matrix, what query matrix b gives. */
static void
gradient_rows(const hu_attention *a, int out, size_t b, hu_dd *v, hu_dd *t)
{
	size_t S = a->S, key = b / a->repeat * S, width = out == 2 ? a->V : a->E;

	for (size_t i = 0; i < a->L; i++) {
		size_t row = b * a->L + i;
		hu_dd D = dot(a, a->dy, row * a->V, a->out, row * a->V, a->V), lse = at(a, a->lse, row);
		scores(a, b, i, t);
		for (size_t j = 0; j < S; j++) {
			if (t[j].h == -INFINITY)
				continue;
			hu_dd s = hu_dd_exp(hu_dd_sub(t[j], lse));
			if (out < 2)
				s = hu_dd_mul(hu_dd_mul(s, hu_dd_of(a->factor)),
					hu_dd_sub(dot(a, a->dy, row * a->V, 2, (key + j) * a->V, a->V), D));
			int from = out == 0 ? 1 : out == 1 ? 0 : a->dy;
			size_t to = (out == 0 ? i : j) * width, x = (out == 0 ? key + j : row) * width;
			for (size_t d = 0; d < width; d++)
				v[to + d] = hu_dd_add(v[to + d], hu_dd_mul(s, at(a, from, x + d)));
		}
	}
}

void
hu_attention_backward_dd(const hu_attention *a, int out, const size_t *element, size_t n, hu_dd *y)
{
	size_t size = out == 0 ? a->L * a->E : a->S * (out == 1 ? a->E : a->V), now = (size_t)-1;
	hu_dd *v = hu_xmalloc((size + a->S + 1) * sizeof *v);

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k, g = i / size;
		if (g != now) {
			for (size_t j = 0; j < size; j++)
				v[j] = hu_dd_of(0);
			for (size_t b = 0; b < (out ? a->repeat : 1); b++)
				gradient_rows(a, out, out ? g * a->repeat + b : g, v, v + size);
		}
		now = g;
		y[k] = v[i % size];
	}
	free(v);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/inspect_blocks.h"

#include "lib/base/mem.h"
#include "lib/number/code.h"
#include "lib/number/count.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE = 1 << 12 }; /* elements that are encoded at a time; threads share a block that spans the whole tensor in
			     such pieces */

static uint8_t
marks(const hu_block *b, hu_block_scale s, hu_format f, double exact, float x, float got, uint8_t code)
{
	int m = hu_block_saturates(b, s, x) ? HU_MARK_SATURATED : 0;

	if (b->element == HU_NO_FORMAT || isnan(s.scale) || !isfinite(exact))
		return (uint8_t)m;
	m |= hu_is_subnormal(hu_decode(code, f), f) ? HU_MARK_SUBNORMAL : 0;
	m |= fabs(exact) < hu_smallest_normal(f) * s.scale && (double)got != exact ? HU_MARK_LOST : 0;
	return (uint8_t)m;
}

/* Returns the place of element i in an order in which elements that may share a scale follow each other. */
static size_t
place(const hu_array *a, size_t i)
{
	size_t all = a->last * a->inner, in = i % (all ? all : 1);

	return a->inner > 1 ? i - in + in % a->last * a->inner + in / a->last : i;
}

/* Casts elements at to at + n - 1 in that order, all under the scale s; x is in that order too. */
static void
cast(hu_blocked *c, const hu_array *a, const hu_block *b, hu_block_scale s, const float *x, size_t at, size_t n)
{
	hu_format f = hu_format_of(b->element);
	uint8_t code[PIECE];
	float got[PIECE];

	for (size_t from = at; from < at + n; from += PIECE) {
		size_t m = at + n - from < PIECE ? at + n - from : PIECE;
		hu_block_encode(b, s, code, x + from, m);
		hu_block_decode(b, s, got, code, m);
		for (size_t i = 0; i < m; i++) {
			size_t to = place(a, from + i);
			c->value[to] = got[i];
			c->mark[to] = marks(b, s, f, hu_array_get(a, to), x[from + i], got[i], code[i]);
		}
	}
}

void
hu_blocked_init(hu_blocked *c, const hu_array *a, const hu_block *b)
{
	float *x = hu_xcalloc(a->n + 1, sizeof *x);
	hu_format fp32 = hu_format_of(HU_FP32);
	size_t row = a->last ? a->last : 1, size = b->size ? b->size : PIECE,
	       each = b->size ? (row + size - 1) / size : 0;
	size_t all = b->size ? a->n / row * each : (a->n + size - 1) / size;
	hu_block_scale one = { 0, 0, 0 };

	c->value = hu_xcalloc(a->n + 1, sizeof *c->value);
	c->mark = hu_xcalloc(a->n + 1, sizeof *c->mark);
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < a->n; i++)
		x[i] = (float)hu_round(hu_array_get(a, place(a, i)), fp32, HU_RNE, 0, 0);
	double tensor = hu_block_tensor_scale(b, x, a->n);
	if (!b->size)
		one = hu_block_scale_of(b, x, a->n, tensor);
#pragma omp parallel for schedule(static)
	for (size_t k = 0; k < all; k++) {
		size_t at = b->size ? k / each * row + k % each * size : k * size,
		       end = b->size ? (k / each + 1) * row : a->n;
		size_t n = end - at < size ? end - at : size;
		cast(c, a, b, b->size ? hu_block_scale_of(b, x + at, n, tensor) : one, x, at, n);
	}
	free(x);
}

void
hu_blocked_release(hu_blocked *c)
{
	free(c->value);
	free(c->mark);
}

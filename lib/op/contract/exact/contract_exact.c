/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/exact/contract_exact.h"

#include "lib/base/memory/room.h"
#include "lib/exact/gemm.h"

#include <string.h>

/* Floats of a line of the cache; how many terms ahead operands are fetched: a few hundred nanoseconds. */
enum { LINE = 16, AHEAD = 16 };

void
hu_contract_stretch(const hu_contract *x, size_t m, size_t k0, size_t k1, double *a)
{
	int wide = hu_is_wide(x->a->format);

	for (size_t k = k0; k < k1;) {
		hu_stretch s = x->row(x, m, k);
		size_t n = s.length < k1 - k ? s.length : k1 - k;
		double *to = a + (k - k0);
		if (s.offset < 0) {
			memset(to, 0, n * sizeof *to);
		} else if (wide) {
			const double *from = (const double *)x->a->data + s.offset;
			for (size_t i = 0; i < n; i++)
				to[i] = from[i * s.stride];
		} else {
			const float *from = (const float *)x->a->data + s.offset;
			if (s.stride == 1)
				for (size_t i = 0; i < n; i++)
					to[i] = (double)from[i];
			else
				for (size_t i = 0; i < n; i++)
					to[i] = (double)from[i * s.stride];
		}
		k += n;
	}
}

void
hu_contract_slab(const hu_contract *x, size_t k, size_t n0, size_t count, double *b)
{
	size_t step = x->column_stride, at = x->column(x, k) + n0 * step;
	const float *from = (const float *)x->b->data + at;

	if (hu_is_wide(x->b->format)) {
		for (size_t j = 0; j < count; j++)
			b[j] = ((const double *)x->b->data)[at + j * step];
	} else if (step == 1) {
		/* Rows of some columns lie far apart, so that the processor does not fetch them ahead by itself. */
		const float *ahead = (const float *)x->b->data + (k + AHEAD < x->k ? x->column(x, k + AHEAD) + n0 : at);
		for (size_t j = 0; j < count; j += LINE)
			__builtin_prefetch(ahead + j);
		for (size_t j = 0; j < count; j++)
			b[j] = (double)from[j];
	} else
		for (size_t j = 0; j < count; j++)
			b[j] = (double)from[j * step];
}

size_t
hu_contract_shared(void)
{
	size_t most = hu_memory_limit() / 16 / sizeof(double);

	return most < (size_t)1 << 24 ? most : (size_t)1 << 24;
}

/* Columns from left on, `columns` of them. */
typedef struct rows {
	const hu_contract *x;
	size_t row0, left, columns;
	double *hi, *lo, *err;
	mpfr_t *exact;
	size_t origin;
} rows;

static void
row(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *to)
{
	const rows *r = context;

	(void)batch;
	hu_contract_stretch(r->x, r->row0 + i, k0, k1, to);
}

static void
slab(void *context, size_t batch, size_t k, size_t j0, size_t j1, double *to)
{
	const rows *r = context;

	(void)batch;
	hu_contract_slab(r->x, k, r->left + j0, j1 - j0, to);
}

static void
take_pairs(void *context, const hu_exact_tile *t, size_t batch, size_t i0, size_t m, size_t j0, size_t n)
{
	const rows *r = context;

	(void)batch;
	(void)n;
	for (size_t i = 0; i < m; i++) {
		size_t at = (i0 + i) * r->columns + j0;
		hu_exact_tile_pairs(r->hi + at, r->lo + at, r->err + at, t, i);
	}
}

static void
take_values(void *context, const hu_exact_tile *t, size_t batch, size_t i0, size_t m, size_t j0, size_t n)
{
	const rows *r = context;

	(void)batch;
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++) {
			mpfr_ptr y = r->exact[hu_contract_at(r->x, r->row0 + i0 + i) - r->origin + j0 + j];
			hu_exact_tile_mpfr(y, t, i, j);
			if (r->x->scale != 1)
				/* exact, because the scale is a power of two */
				mpfr_div_d(y, y, r->x->scale, MPFR_RNDN);
		}
}

static void
multiply(rows *r, size_t n, hu_exact_take *take)
{
	hu_exact_source s = {
		.batches = 1, .m = n, .n = r->columns, .k = r->x->k, .row = row, .slab = slab, .context = r
	};

	hu_exact_gemm(&s, take, r);
}

void
hu_contract_exact_pairs(const hu_contract *x, size_t row0, size_t n, size_t left, size_t columns, double *hi,
	double *lo, double *err)
{
	rows r = { x, row0, left, columns, hi, lo, err, NULL, 0 };

	multiply(&r, n, take_pairs);
}

void
hu_contract_exact_values(const hu_contract *x, size_t row0, size_t n, mpfr_t *exact, size_t origin)
{
	rows r = { x, row0, 0, x->n, NULL, NULL, NULL, exact, origin };

	multiply(&r, n, take_values);
}

static void
start(const hu_contract *x, hu_operand *o, hu_operand_side side, int magnitudes, size_t count, size_t k)
{
	hu_operand_start(o, side, count, k);
	if (magnitudes && !hu_is_wide(x->a->format) && !hu_is_wide(x->b->format))
		hu_operand_settle(o);
}

void
hu_contract_pack_left(const hu_contract *x, hu_operand *a, int magnitudes, const size_t *list, size_t r, size_t k0,
	size_t k1, double *line)
{
	start(x, a, HU_LEFT, magnitudes, r, k1 - k0);
	for (size_t i = 0; i < r; i++) {
		hu_contract_stretch(x, list[i], k0, k1, line);
		hu_operand_vector(a, i, line, 1);
	}
	hu_operand_ready(a);
}

void
hu_contract_pack_right(const hu_contract *x, hu_operand *b, int magnitudes, const size_t *list, size_t n0, size_t count,
	size_t k0, size_t k1, double *line)
{
	start(x, b, HU_RIGHT, magnitudes, count, k1 - k0);
	for (size_t k = k0; k < k1; k++) {
		size_t at = x->column(x, k);
		for (size_t j = 0; list && j < count; j++)
			line[j] = hu_get(x->b, at + list[j] * x->column_stride);
		if (!list)
			hu_contract_slab(x, k, n0, count, line);
		hu_operand_slab(b, k - k0, line, 1);
	}
	hu_operand_ready(b);
}

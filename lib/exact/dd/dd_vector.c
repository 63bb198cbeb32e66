/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/exact/dd/dd_vector.h"

#include "lib/exact/dd/ddw.h"

static hu_dd
dot(const hu_dd *x, const hu_dd *m, size_t n, size_t stride)
{
	hu_dd sum = hu_dd_of(0);

	for (size_t d = 0; d < n; d++)
		sum = hu_dd_add(sum, hu_dd_mul(x[d], m[d * stride]));
	return sum;
}

#ifdef HU_DDW
#define HU_DDW_EACH "lib/exact/dd/dd_vector.inc"
#include "lib/exact/dd/ddw_each.h"
#define FIRST(NAME, ...) HU_SIMD_PICK(hu_ddw8_##NAME(__VA_ARGS__), hu_ddw4_##NAME(__VA_ARGS__), 0)
#else
#define FIRST(NAME, ...) 0
#endif

void
hu_dd_vector_dots(hu_dd *y, const hu_dd *x, const hu_dd *m, size_t n, size_t stride, size_t count)
{
	for (size_t j = FIRST(dots, y, x, m, n, stride, count); j < count; j++)
		y[j] = dot(x, m + j, n, stride);
}

void
hu_dd_vector_add(hu_dd *y, hu_dd s, const hu_dd *x, size_t n)
{
	for (size_t i = FIRST(sums, y, s, x, n); i < n; i++)
		y[i] = hu_dd_add(y[i], hu_dd_mul(s, x[i]));
}

void
hu_dd_vector_plus(hu_dd *y, const hu_dd *x, size_t n)
{
	for (size_t i = FIRST(plus, y, x, n); i < n; i++)
		y[i] = hu_dd_add(y[i], x[i]);
}

void
hu_dd_vector_rows(hu_dd *sum, const hu_dd *x, size_t rows, size_t stride, size_t n)
{
	for (size_t r = FIRST(rows, sum, x, rows, stride, n); r < rows; r++)
		for (size_t i = 0; i < n; i++)
			sum[r] = hu_dd_add(sum[r], x[r * stride + i]);
}

void
hu_dd_vector_exp(hu_dd *t, hu_dd less, size_t n)
{
	for (size_t i = FIRST(exponentials, t, less, n); i < n; i++)
		t[i] = hu_dd_exp(hu_dd_sub(t[i], less));
}

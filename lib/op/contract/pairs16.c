/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/pairs16.h"

#include "lib/base/mem.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include <math.h>
#include <stdlib.h>

enum { FLUSH = 1 << 15 }; /* so many sums of 16 bits stay within 32 */

/* The whole number nearest to X within LOW … HIGH; NaN is 0. */
static int32_t
whole(double x, int32_t low, int32_t high)
{
	x = rint(x);
	return x != x ? 0 : x < low ? low : x > high ? high : (int32_t)x;
}

static int32_t
zero_of(hu_tensor *const *in)
{
	return whole(hu_get(in[2], 0), 0, 255);
}

static inline int32_t
saturated(int32_t sum)
{
	return sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum;
}

hu_status
hu_pairs16_shape(const hu_op *of, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_call plain = *c;

	plain.op = of;
	plain.nin = 2;
	HU_TRY(of->contract->shape(&plain, in, out));
	return hu_shape_length(c, 2, in[2], 1);
}

void
hu_pairs16_cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost)
{
	hu_contract x = { 0 };

	(void)out;
	hu_contract_describe(&x, c, in);
	cost->flops = 2 * (double)x.batches * (double)x.m * (double)x.k * (double)x.n;
}

/* Row m's codes as unsigned bytes. */
static void
row_codes(int32_t *u, double *a, const hu_contract *x, size_t m, int32_t zero)
{
	hu_contract_row(x, m, a);
	for (size_t k = 0; k < x->k; k++)
		u[k] = whole(a[k] + zero, 0, 255);
}

/* One row times all columns; w is B with a row a term. */
static void
row_sums(double *sum, int32_t *part, const int32_t *u, const int32_t *w, const double *correction, size_t k, size_t n)
{
	for (size_t j = 0; j < n; j++) {
		sum[j] = correction[j];
		part[j] = 0;
	}
	for (size_t i = 0; i < k; i += 2) {
		int32_t first = u[i], second = i + 1 < k ? u[i + 1] : 0;
		const int32_t *b = w + i * n, *d = i + 1 < k ? b + n : b;
		for (size_t j = 0; j < n; j++)
			part[j] += saturated(first * b[j] + second * d[j]);
		if (i % (2 * FLUSH) && i + 2 < k)
			continue;
		for (size_t j = 0; j < n; j++) {
			sum[j] += part[j];
			part[j] = 0;
		}
	}
}

static hu_status
product(const hu_contract *x, const hu_call *c, hu_tensor *y, int32_t zero, const hu_env *env)
{
	size_t n = x->n, k = x->k;
	int32_t *w = hu_xcalloc(k * n + 1, sizeof *w);
	double *correction = hu_xcalloc(n + 1, sizeof *correction), *column = hu_xcalloc(k + 1, sizeof *column);

	for (size_t j = 0; j < n; j++) {
		hu_contract_column(x, j, column);
		for (size_t i = 0; i < k; i++) {
			w[i * n + j] = whole(column[i], -128, 127);
			correction[j] -= (double)zero * w[i * n + j];
		}
	}
	hu_performed_operations(2 * x->m * k * n);
#pragma omp parallel
	{
		int32_t *u = hu_xcalloc(k + 1, sizeof *u), *part = hu_xcalloc(n + 1, sizeof *part);
		double *a = hu_xcalloc(k + 1, sizeof *a), *sum = hu_xcalloc(n + 1, sizeof *sum);
#pragma omp for schedule(static)
		for (size_t m = 0; m < x->m; m++) {
			row_codes(u, a, x, m, zero);
			row_sums(sum, part, u, w, correction, k, n);
			hu_contract_store(c, y, hu_contract_at(x, m), n, sum, 1, env);
		}
		free(u);
		free(part);
		free(a);
		free(sum);
	}
	free(w);
	free(correction);
	free(column);
	return HU_OK;
}

static void
open(hu_contract *x, const hu_call *c, hu_tensor *const *in)
{
	hu_contract_open(x, c, in);
	x->scale = 1;
}

hu_status
hu_pairs16_emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_contract x;

	open(&x, c, in);
	for (size_t i = 0; i < hu_contract_products(&x); i++) {
		hu_contract one = hu_contract_product(&x, i);
		HU_TRY(product(&one, c, out[0], zero_of(in), env));
	}
	return HU_OK;
}

/* One element, term by term. */
static double
element_of(const hu_contract *x, hu_tensor *const *in, size_t e)
{
	hu_contract one;
	size_t column, row = hu_contract_find(x, e, &one, &column);
	double *a = hu_xcalloc(2 * one.k + 1, sizeof *a), *b = a + one.k, sum = 0;
	int32_t zero = zero_of(in);

	hu_contract_gather(&one, row, column, a, b);
	for (size_t k = 0; k < one.k; k += 2) {
		int32_t pair = 0;
		for (size_t i = k; i < k + 2 && i < one.k; i++) {
			int32_t w = whole(b[i], -128, 127);
			pair += whole(a[i] + zero, 0, 255) * w;
			sum -= (double)zero * w;
		}
		sum += saturated(pair);
	}
	free(a);
	return sum;
}

hu_status
hu_pairs16_reference(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_contract x;

	(void)out;
	open(&x, c, in);
	for (size_t i = 0; i < n; i++)
		hu_exact_set(exact[i], element_of(&x, in, element[i]));
	return HU_OK;
}

hu_status
hu_pairs16_bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound)
{
	hu_contract x;

	open(&x, c, in);
	for (size_t i = 0; i < n; i++)
		bound[i] = hu_bound_of(
			c, hu_output_format(c, in, out), (hu_bounded){ element_of(&x, in, element[i]), 0 });
	return HU_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/product.h"

#include "lib/base/thread.h"

enum { ROWS = 4, COLUMNS = 256 };

/* Four rows of y, columns j0 to j1: each element of b that was loaded serves four sums. */
static void
strip(double *y, const double *a, const double *b, size_t rows, size_t j0, size_t j1, size_t n, size_t k)
{
	double sum[ROWS][COLUMNS];
	size_t w = j1 - j0;

	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < w; j++)
			sum[i][j] = i < rows ? y[i * n + j0 + j] : 0;
	for (size_t p = 0; p < k; p++) {
		double t[ROWS];
		const double *line = b + p * n + j0;
		for (size_t i = 0; i < ROWS; i++)
			t[i] = i < rows ? a[i * k + p] : 0;
#pragma omp simd
		for (size_t j = 0; j < w; j++) {
			double x = line[j];
			sum[0][j] += t[0] * x;
			sum[1][j] += t[1] * x;
			sum[2][j] += t[2] * x;
			sum[3][j] += t[3] * x;
		}
	}
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < w; j++)
			y[i * n + j0 + j] = sum[i][j];
}

void
hu_product_add(double *y, const double *a, const double *b, size_t m, size_t n, size_t k)
{
	size_t strips = (m + ROWS - 1) / ROWS, blocks = (n + COLUMNS - 1) / COLUMNS;

#pragma omp parallel for schedule(dynamic, 4) num_threads(hu_threads()) if (m * n * k > 65536)
	for (size_t t = 0; t < strips * blocks; t++) {
		size_t i = t % strips * ROWS, j = t / strips * COLUMNS;
		strip(y + i * n, a + i * k, b, m - i < ROWS ? m - i : ROWS, j, j + COLUMNS < n ? j + COLUMNS : n, n, k);
	}
}

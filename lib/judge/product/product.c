/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/product/product_loop.inc"

#include "lib/number/simd.h"

const hu_product_loop hu_product_loop_plain = { panel };

static const hu_product_loop *
loop(void)
{
	return HU_SIMD_PICK(&hu_product_loop_avx512, &hu_product_loop_avx2, &hu_product_loop_plain);
}

void
hu_product_add(double *y, const double *a, const double *b, size_t m, size_t n, size_t k)
{
	const hu_product_loop *l = loop();
	size_t panels = (n + HU_PRODUCT_COLUMNS - 1) / HU_PRODUCT_COLUMNS,
	       strips = (m + HU_PRODUCT_ROWS - 1) / HU_PRODUCT_ROWS;

#pragma omp parallel for schedule(dynamic, 1) num_threads(hu_threads()) if (m * n * k > 65536)
	for (size_t t = 0; t < panels * strips; t++) {
		size_t i = t % strips * HU_PRODUCT_ROWS, j = t / strips * HU_PRODUCT_COLUMNS;
		size_t rows = m - i < HU_PRODUCT_ROWS ? m - i : HU_PRODUCT_ROWS;
		l->panel(y + i * n + j, a + i * k, b + j, rows, n - j < HU_PRODUCT_COLUMNS ? n - j : HU_PRODUCT_COLUMNS,
			n, k);
	}
}

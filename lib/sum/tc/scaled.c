/* SPDX-License-Identifier: Apache-2.0
   Quantises operands for tensor cores that take scales. */
#include "lib/sum/tc/scaled.h"

#include "lib/number/block/block.h"
#include "lib/number/code.h"

#include <stdlib.h>

hu_status
hu_tc_quantise(hu_sum s, hu_format_id element, const float *x, size_t rows, size_t k, double *to, double *scales,
	double *whole)
{
	char name[40];
	hu_block b;

	hu_sum_operand(s, element, name, sizeof name);
	HU_TRY(hu_block_find(name, &b));
	double most = hu_block_whole(&b, x, rows * k);
	*whole = hu_block_tensor_scale(&b, most);
	size_t groups = (k + b.size - 1) / b.size;
	uint8_t *code = malloc(b.size);
	if (!code)
		return hu_fail(HU_ENOMEM, "there is no memory for a block of %zu elements", b.size);
	for (size_t i = 0; i < rows; i++)
		for (size_t g = 0; g < groups; g++) {
			size_t at = g * b.size, n = k - at < b.size ? k - at : b.size;
			hu_block_scale q = hu_block_scale_of(&b, x + i * k + at, n, most);
			hu_block_encode(&b, q, code, x + i * k + at, n, i * k + at);
			scales[i * groups + g] = hu_decode(q.code, hu_format_of(b.scale));
			for (size_t j = 0; j < n; j++)
				to[i * k + at + j] = hu_decode(code[j], hu_format_of(b.element));
		}
	free(code);
	return HU_OK;
}

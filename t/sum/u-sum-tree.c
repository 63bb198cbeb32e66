/* SPDX-License-Identifier: Apache-2.0
   The fixed tree of sums against its definition, and its additions' one rounding each. */
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/sum/table/parts.h"
#include "t/tool/tap.h"

#include <stdlib.h>

/* A sum whose exact value lies by a hair above a tie of the format. */
static void
test_round_once(void)
{
	hu_format f = hu_format_of(HU_BF16);
	hu_sum s = { .id = HU_SUM_FMA, .acc = HU_FP32, .outer = HU_BF16 };
	double parts[40] = { 0x1p-100 };

	is_bits64(bits_of_double(hu_acc_add(1 + 0x1p-8, 0x1p-100, f, HU_RNE, NULL, 0, 0)), bits_of_double(1 + 0x1p-7),
		"1 + 2^-8 + 2^-100 rounds up in bf16");
	parts[32] = 1 + 0x1p-8; /* the same lane */
	is_bits64(bits_of_double(hu_parts_sum(parts, 40, s, NULL)), bits_of_double(1 + 0x1p-7),
		"and so it does where fp32 parts combine in bf16");
}

/* The tree by its definition; DEPTH: the most additions that an element passed through. */
static float
tree(const float *x, size_t n, size_t *depth)
{
	size_t blocks = (n + 4095) / 4096, below = 0;
	float *sums = hu_xmalloc(blocks * sizeof *sums), r;

	*depth = 0;
	for (size_t b = 0; b < blocks; b++) {
		float lane[32];
		size_t deep[32];
		for (size_t j = 0; j < 32; j++) {
			lane[j] = 0;
			deep[j] = 0;
			for (size_t i = b * 4096 + j; i < n && i < (b + 1) * 4096; i += 32, deep[j]++)
				lane[j] += x[i];
		}
		for (size_t half = 16; half; half /= 2)
			for (size_t j = 0; j < half; j++) {
				lane[j] += lane[j + half];
				deep[j] = (deep[j] > deep[j + half] ? deep[j] : deep[j + half]) + 1;
			}
		sums[b] = lane[0];
		*depth = deep[0] > *depth ? deep[0] : *depth;
	}
	r = blocks == 1 ? sums[0] : tree(sums, blocks, &below);
	*depth += below;
	free(sums);
	return r;
}

static void
test_tree(void)
{
	static const size_t sizes[] = { 1, 2, 31, 32, 33, 63, 1000, 4095, 4096, 4097, 8192, 12345, 131072 + 5 };
	int differ = 0, shallow = 0;
	uint64_t at = 0;
	hu_format f = hu_format_of(HU_FP32);
	hu_sum s = { .id = HU_SUM_FMA, .acc = HU_FP32, .outer = HU_NO_FORMAT };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = sizes[i], depth;
		float *x = hu_xmalloc(3 * n * sizeof *x), *y = hu_xmalloc(n * sizeof *y);
		double *z = hu_xmalloc(n * sizeof *z);
		for (size_t k = 0; k < n; k++) {
			z[k] = y[k] = (float)((double)hu_random_at(4711, 3, 0, at++).w[0] * 0x1p-31 - 1);
			x[3 * k] = y[k];
		}
		float want = tree(y, n, &depth);
		differ += bits_of_float(hu_tree_f32(y, n, 1, f)) != bits_of_float(want);
		differ += bits_of_float(hu_tree_f32(x, n, 3, f)) != bits_of_float(want);
		differ += bits_of_float((float)hu_tree_any(z, n, 1, f)) != bits_of_float(want);
		differ += n > 1 && bits_of_float((float)hu_parts_sum(z, n, s, NULL)) != bits_of_float(want);
		shallow += hu_tree_depth(n) < depth;
		free(x);
		free(y);
		free(z);
	}
	is_int(differ, 0, "the fixed tree equals its definition, by stride, by format and over parts");
	is_int(shallow, 0, "no element passes through more additions than hu_tree_depth says");
}

int
main(void)
{
	test_round_once();
	test_tree();
	return done_testing();
}

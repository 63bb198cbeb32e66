/* SPDX-License-Identifier: Apache-2.0
   Combines one output's part sums by the fixed tree (tree.h) in the model's outer format. Part sums may be of
   another format than the tree's. SR rounds the tree's additions too; under every other mode they are RNE. Host and
   device. */
#ifndef HU_SUM_PARTS_H
#define HU_SUM_PARTS_H

#include "lib/sum/table/model.h"
#include "lib/sum/tree.h"

/* Returns the sum of the n part sums in x, which it overwrites. A single one is returned as it is; none give +0. The
   additions are numbered in the order in which they are performed, a level's blocks in order: SR draws the index
   draw->first + number. */
HU_HD double
hu_parts_sum(double *x, size_t n, hu_sum s, const hu_draw *draw)
{
	hu_format f = hu_outer_format(s);
	hu_mode mode = hu_mode_draws(s.mode) ? s.mode : HU_RNE;
	hu_draw at = hu_draw_of(draw, s);
	uint64_t node = 0;

	if (!n)
		return 0;
	while (n > 1) {
		size_t blocks = (n + HU_TREE_BLOCK - 1) / HU_TREE_BLOCK;
		for (size_t b = 0; b < blocks; b++) {
			double lane[32];
			size_t first = b * HU_TREE_BLOCK, end = n - first < HU_TREE_BLOCK ? n : first + HU_TREE_BLOCK;
			for (int j = 0; j < 32; j++)
				lane[j] = 0;
			for (size_t i = first; i < end; i++)
				lane[i % 32] = hu_acc_add(lane[i % 32], x[i], f, mode, &at, node++, HU_DRAW_OUTER);
			for (int step = 16; step; step /= 2)
				for (int j = 0; j < step; j++)
					lane[j] = hu_acc_add(
						lane[j], lane[j + step], f, mode, &at, node++, HU_DRAW_OUTER);
			x[b] = lane[0];
		}
		n = blocks;
	}
	return x[0];
}

/* Computes one output: k products in parts of `part` terms (0: one part). sums has room for all part sums. For SR,
   draw->first is element * k, and the tree's indices start at element * 2k + k. count, which may be NULL, receives
   the parts' own additions; its run is that of the last part. */
HU_HD double
hu_parts_run(const double *a, const double *b, size_t k, size_t part, hu_sum s, const hu_draw *draw, double *sums,
	hu_sum_count *count)
{
	hu_draw at = hu_draw_of(draw, s);
	size_t n = 0;

	if (!part || part > k)
		part = k;
	for (size_t p = 0; p < k; p += part, at.first += part) {
		if (count)
			count->run = 0;
		sums[n++] = hu_model_run(a + p, b + p, k - p < part ? k - p : part, s, &at, count);
	}
	if (draw)
		at.first = 2 * draw->first + k;
	return hu_parts_sum(sums, n, s, &at);
}
#endif

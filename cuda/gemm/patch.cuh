/* SPDX-License-Identifier: Apache-2.0
   Where a convolution's operand lies in the image: tap t (kernel row, kernel column, channel) of output pixel p (image,
   row, column). A single element's place serves operands in groups of 16 bytes. Where the channels are no multiple of
   16 bytes, as the three of a first layer, a thread puts such a group together from its elements, so that k keeps its
   order and no channel is padded inside it. */
#ifndef HU_CUDA_PATCH_CUH
#define HU_CUDA_PATCH_CUH

#include "cuda/gemm/gemm.cuh"

/* The pixel that tap (0, 0) of an output pixel reads but for the padding before it, and the image's first row, counted
   through all images. */
typedef struct hu_patch_corner { uint32_t first, y, x; } hu_patch_corner;

HU_DEVICE hu_patch_corner
hu_patch_corner_of(const hu_gemm *g, uint32_t pixel)
{
	uint32_t n = hu_quotient(pixel, g->by_pixels), place = pixel - n * g->by_pixels.by,
		 r = hu_quotient(place, g->by_wo), q = place - r * g->wo;
	hu_patch_corner c = { n * g->h, r * g->stride_h, q * g->stride_w };

	return c;
}

/* The element that a tap of a pixel reads; HU_OUTSIDE if it lies outside the image. */
HU_DEVICE uint32_t
hu_patch_at(const hu_gemm *g, uint32_t pixel, uint32_t tap)
{
	hu_patch_corner c = hu_patch_corner_of(g, pixel);
	uint32_t point = hu_quotient(tap, g->by_ci), u = hu_quotient(point, g->by_kw), v = point - u * g->kw;
	int32_t y = (int32_t)(c.y + u * g->dilation_h) - g->pad_h, x = (int32_t)(c.x + v * g->dilation_w) - g->pad_w;

	if (y < 0 || y >= (int32_t)g->h || x < 0 || x >= (int32_t)g->w)
		return HU_OUTSIDE;
	return ((c.first + (uint32_t)y) * g->w + (uint32_t)x) * g->ci + (tap - point * g->ci);
}

/* Loads the codes of SIZE bytes (2 or 4) of the 16 / SIZE taps of a pixel from tap on, as four words; taps from end on
   and those outside the image are +0. */
template <int SIZE>
HU_DEVICE void
hu_patch_load(uint32_t *w, const hu_gemm *g, uint32_t pixel, uint32_t tap, uint32_t end)
{
	hu_patch_corner at = hu_patch_corner_of(g, pixel);
	uint32_t point = hu_quotient(tap, g->by_ci), u = hu_quotient(point, g->by_kw), v = point - u * g->kw,
		 c = tap - point * g->ci;
	int32_t x0 = (int32_t)at.x - g->pad_w, y = (int32_t)(at.y + u * g->dilation_h) - g->pad_h,
		x = x0 + (int32_t)(v * g->dilation_w);

	HU_UNROLL
	for (uint32_t i = 0; i < 16 / SIZE; i++) {
		/* a negative place is a large one without its sign */
		int inside = (tap + i < end) & ((uint32_t)y < g->h) & ((uint32_t)x < g->w);
		uint32_t from = inside ? ((at.first + (uint32_t)y) * g->w + (uint32_t)x) * g->ci + c : 0, code = 0;
		if (inside)
			code = SIZE == 2 ? ((const uint16_t *)g->a.data)[from] : ((const uint32_t *)g->a.data)[from];
		w[i * SIZE / 4] = i * SIZE % 4 ? w[i * SIZE / 4] | code << 16 : code;
		int pixel_ends = ++c == g->ci;
		c = pixel_ends ? 0 : c;
		v += (uint32_t)pixel_ends;
		int row_ends = v == g->kw;
		v = row_ends ? 0 : v;
		x = row_ends ? x0 : x + (pixel_ends ? (int32_t)g->dilation_w : 0);
		y += row_ends ? (int32_t)g->dilation_h : 0;
	}
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/images/resize.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_BITS = 32 - 8 - 2 }; /* sums of 8-bit values by weights of one sign stay below 2^31 */

/* The weights of one direction: output i is the sum of weight[i * most + k] times input first[i] + k, k < n[i]. */
typedef struct filter {
	size_t most, *first, *n;
	int32_t *weight;
} filter;

/* Scales `in` inputs to `out` outputs, of which `count` from `skip` on are wanted. */
static filter
triangles(size_t in, size_t out, size_t skip, size_t count)
{
	double scale = (double)in / (double)out, wide = scale > 1 ? scale : 1;
	filter f = { 2 * (size_t)ceil(wide) + 1, hu_xmalloc(count * sizeof *f.first), hu_xmalloc(count * sizeof *f.n),
		NULL };
	double *w = hu_xmalloc(f.most * sizeof *w);

	f.weight = hu_xmalloc(count * f.most * sizeof *f.weight);
	for (size_t i = 0; i < count; i++) {
		double centre = ((double)(skip + i) + 0.5) * scale, sum = 0;
		double low = centre - wide + 0.5, high = centre + wide + 0.5;
		f.first[i] = low > 0 ? (size_t)low : 0;
		f.n[i] = (high < (double)in ? (size_t)high : in) - f.first[i];
		for (size_t k = 0; k < f.n[i]; k++) {
			double x = fabs(((double)(k + f.first[i]) - centre + 0.5) * (1 / wide));
			w[k] = x < 1 ? 1 - x : 0;
			sum += w[k];
		}
		for (size_t k = 0; k < f.n[i]; k++) {
			double share = sum != 0 ? w[k] / sum : w[k];
			f.weight[i * f.most + k] = (int32_t)(0.5 + share * (1 << WEIGHT_BITS));
		}
	}
	free(w);
	return f;
}

static void
release(filter *f)
{
	free(f->first);
	free(f->n);
	free(f->weight);
}

/* One output: n inputs, `step` bytes apart, by their weights. */
static unsigned char
weighed(const unsigned char *x, size_t step, const int32_t *w, size_t n)
{
	int32_t sum = 1 << (WEIGHT_BITS - 1);

	for (size_t k = 0; k < n; k++)
		sum += x[k * step] * w[k];
	sum >>= WEIGHT_BITS;
	return sum < 0 ? 0 : sum > 255 ? 255 : (unsigned char)sum;
}

/* The first of the `size` places in the middle of n, halves rounded to even as Python's round does. */
static size_t
middle(size_t n, size_t size)
{
	size_t left = n - size;

	return left / 2 + (left % 2 && left / 2 % 2);
}

void
hu_image_fit(unsigned char *to, const hu_image *from, size_t size)
{
	size_t w = from->width, h = from->height, shorter = w < h ? w : h, c = from->channels;
	size_t width = w == shorter ? size : size * w / shorter, height = h == shorter ? size : size * h / shorter;
	filter across = triangles(w, width, middle(width, size), size),
	       down = triangles(h, height, middle(height, size), size);
	size_t top = down.first[0], bottom = down.first[size - 1] + down.n[size - 1];
	unsigned char *rows = hu_xmalloc((bottom - top) * size * c);

	for (size_t y = top; y < bottom; y++)
		for (size_t x = 0; x < size; x++)
			for (size_t k = 0; k < c; k++)
				rows[((y - top) * size + x) * c + k] =
					weighed(from->pixel + (y * w + across.first[x]) * c + k, c,
						across.weight + x * across.most, across.n[x]);
	for (size_t y = 0; y < size; y++)
		for (size_t x = 0; x < size * c; x++)
			to[y * size * c + x] = weighed(rows + (down.first[y] - top) * size * c + x, size * c,
				down.weight + y * down.most, down.n[y]);
	free(rows);
	release(&across);
	release(&down);
}

/* SPDX-License-Identifier: Apache-2.0
   Packs elements as integers with the number of their bin, adds products to bins, and folds bins into digits. */
#include "lib/exact/bins.h"

#include "lib/base/mem.h"
#include "lib/exact/tile.h"
#include "lib/number/round.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 40 }; /* bits of a digit, at most */

/* The bits of a digit, which has a whole number of bins. */
static int
digit_bits(int s)
{
	return MOST / s * s;
}

/* |m| < 2^(bits + s - 1): its bits, and up to s - 1 places below the next bin. A double has 53 of them. */
int
hu_bins_step(int bits_a, int bits_b, size_t k)
{
	int most = bits_a > bits_b ? bits_a : bits_b, spare = 63 - hu_log2_up(k) - bits_a - bits_b,
	    s = spare < 0 ? 0 : 1 + spare / 2;

	s = s < 54 - most ? s : 54 - most;
	s = s < MOST / 4 ? s : MOST / 4; /* few bins would be added to while they are being written */
	return s < 0 ? 0 : s;
}

/* Terms are below 4, so that sums of k are below 2^(2 + log2 k); one bit more is for the sign. */
int
hu_bins_digits(int span, size_t k, int s)
{
	return (span + 2 + hu_log2_up(k + 1)) / digit_bits(s) + 1;
}

void
hu_bins_pack(int64_t *m, uint16_t *g, const double *x, size_t k, size_t stride, int low, int bits, int s)
{
	unsigned inverse = (65536u + (unsigned)s - 1) / (unsigned)s; /* q inverse / 65536 is q / s for q < 65536 / s */

	for (size_t kk = 0; kk < k; kk++) {
		uint64_t u = hu_bits64(x[kk * stride]), whole = (u & 0xfffffffffffffu) | 0x10000000000000u;
		int top = (int)(u >> 52 & 0x7ff) - 1023 + low; /* the leading bit's place above the lowest one */
		unsigned q = top > bits - 1 ? (unsigned)(top - (bits - 1)) : 0, bin = q * inverse >> 16;
		if (u << 1 == 0) {
			m[kk] = g[kk] = 0;
			continue;
		}
		int64_t size = (int64_t)(whole >> (52 - top + (int)(bin * (unsigned)s)));
		m[kk] = u >> 63 ? -size : size;
		g[kk] = (uint16_t)bin;
	}
	for (; k % 4; k++)
		m[k] = g[k] = 0;
}

/* Four bins' numbers are added at once, in one word: none of them reaches 2^16. */
static void
sum_one(size_t k, const int64_t *a, const uint16_t *ga, const int64_t *b, const uint16_t *gb, int64_t *bins)
{
	for (size_t i = 0; i < k; i += 4) {
		uint64_t g, p;
		memcpy(&g, ga + i, sizeof g);
		memcpy(&p, gb + i, sizeof p);
		for (size_t c = 0; c < 4; c++)
			bins[(g + p) >> 16 * c & 0xffff] += a[i + c] * b[i + c];
	}
}

/* Two sums share the loads of a, and neither waits for the other's additions to memory. */
static void
sum_two(size_t k, const int64_t *a, const uint16_t *ga, const int64_t *b, const uint16_t *gb, int64_t *bins)
{
	const int64_t *b1 = b + HU_BINS_ROOM;
	const uint16_t *gb1 = gb + HU_BINS_ROOM;
	int64_t *bins1 = bins + HU_BINS_COUNT;

	for (size_t i = 0; i < k; i += 4) {
		int64_t w = a[i], x = a[i + 1], y = a[i + 2], z = a[i + 3];
		uint64_t g, p, q;
		memcpy(&g, ga + i, sizeof g);
		memcpy(&p, gb + i, sizeof p);
		memcpy(&q, gb1 + i, sizeof q);
		p += g;
		q += g;
		bins[p & 0xffff] += w * b[i];
		bins1[q & 0xffff] += w * b1[i];
		bins[p >> 16 & 0xffff] += x * b[i + 1];
		bins1[q >> 16 & 0xffff] += x * b1[i + 1];
		bins[p >> 32 & 0xffff] += y * b[i + 2];
		bins1[q >> 32 & 0xffff] += y * b1[i + 2];
		bins[p >> 48] += z * b[i + 3];
		bins1[q >> 48] += z * b1[i + 3];
	}
}

void
hu_bins_sum(size_t k, const int64_t *a, const uint16_t *ga, const int64_t *b, const uint16_t *gb, int64_t *bins,
	size_t vectors)
{
	if (vectors == HU_BINS_TOGETHER)
		sum_two(k, a, ga, b, gb, bins);
	else
		sum_one(k, a, ga, b, gb, bins);
}

/* Σ bins[i] 2^(s i), and clears them. A function of its own: its sum must stay in registers. */
static __attribute__((noinline)) __int128
digit_of_bins(int64_t *bins, int n, int s)
{
	__int128 even = 0, odd = 0;
	int64_t weight = 1;
	int i = 0;

	for (; i + 1 < n; i += 2, weight <<= 2 * s) {
		even += (__int128)bins[i] * weight;
		odd += (__int128)bins[i + 1] * weight;
		bins[i] = bins[i + 1] = 0;
	}
	if (i < n)
		even += (__int128)bins[i] * weight;
	if (i < n)
		bins[i] = 0;
	return even + odd * ((int64_t)1 << s);
}

void
hu_bins_fold(int64_t *bins, int s, int span, double *digit, size_t stride, int digits)
{
	int each = MOST / s, width = digit_bits(s);
	const int64_t half = (int64_t)1 << (width - 1);
	double unit = hu_pow2(-span), inverse = hu_pow2(span), up = hu_pow2(width), down = hu_pow2(-width);
	int64_t d[HU_GRID_LEVELS];
	__int128 sum = 0; /* |sum| < 2^(63 + 40 + 6) */

	for (int l = digits - 1; l >= 0; l--, inverse *= down)
		d[l] = (int64_t)(digit[(size_t)l * stride] * inverse);
	for (int l = digits - 1; l > 0; l--, bins += each) {
		sum += digit_of_bins(bins, each, s) + d[l];
		d[l] = (int64_t)((sum + half) & (2 * half - 1)) - half;
		sum = (sum - d[l]) >> width;
	}
	d[0] += (int64_t)(sum + digit_of_bins(bins, each, s));
	for (int l = digits - 1; l >= 0; l--, unit *= up)
		digit[(size_t)l * stride] = (double)d[l] * unit;
}

/* Packs the vectors of o whose panels `used` names, terms k0 .. k0+kc-1, HU_BINS_TERMS a vector. */
static void
pack_operand(int64_t *m, uint16_t *g, const hu_operand *o, const unsigned char *used, size_t k0, size_t kc, int bits,
	int s)
{
	for (size_t i = 0; i < o->count; i++)
		if (used[i / o->width])
			hu_bins_pack(m + i * HU_BINS_ROOM, g + i * HU_BINS_ROOM,
				o->x + (i / o->width * o->k + k0) * o->width + i % o->width, kc, o->width, o->low[i],
				bits, s);
}

/* Adds kc packed terms to the sums of rows i0 .. i1-1 and columns j0 .. j1-1, whose first is at sums. */
static void
add_pair(const hu_exact_tile *t, size_t kc, const size_t row[2], const size_t column[2], double *sums, int digits)
{
	hu_worker *w = t->w;
	hu_bins *o = &w->bins;
	size_t cols = w->b.width, size = HU_GRID_ROWS * cols, four = (kc + 3) / 4 * 4;
	const int64_t *mb = o->m + t->m * HU_BINS_ROOM;
	const uint16_t *gb = o->g + t->m * HU_BINS_ROOM;

	for (size_t i = row[0]; i < row[1]; i++)
		for (size_t j = column[0], n; j < column[1]; j += n) {
			n = column[1] - j < HU_BINS_TOGETHER ? column[1] - j : HU_BINS_TOGETHER;
			hu_bins_sum(four, o->m + i * HU_BINS_ROOM, o->g + i * HU_BINS_ROOM, mb + j * HU_BINS_ROOM,
				gb + j * HU_BINS_ROOM, o->sum, n);
			for (size_t v = 0; v < n; v++)
				hu_bins_fold(o->sum + v * HU_BINS_COUNT, o->step, w->a.low[i] + w->b.low[j + v],
					sums + i % HU_GRID_ROWS * cols + (j + v) % cols, size, digits);
		}
}

void
hu_bins_add(hu_exact_tile *t, size_t k)
{
	hu_worker *w = t->w;
	hu_bins *o = &w->bins;
	unsigned char row_used[HU_TILE_PANELS] = { 0 }, column_used[HU_TILE_N] = { 0 };
	size_t pairs = 0;

	for (size_t pair = 0; pair < t->pa * t->pb; pair++)
		if (w->by[pair] == HU_TILE_BY_BINS)
			pairs += row_used[pair % t->pa] = column_used[pair / t->pa] = 1;
	if (!pairs)
		return;
	if (o->room < t->m + t->n) {
		free(o->m);
		free(o->g);
		o->room = t->m + t->n;
		o->m = hu_xalloc(o->room * HU_BINS_ROOM * sizeof *o->m);
		o->g = hu_xalloc(o->room * HU_BINS_ROOM * sizeof *o->g);
	}
	for (size_t k0 = 0, kc; k0 < k; k0 += kc) {
		kc = k - k0 < HU_BINS_TERMS ? k - k0 : HU_BINS_TERMS;
		pack_operand(o->m, o->g, &w->a, row_used, k0, kc, o->bits_a, o->step);
		pack_operand(o->m + t->m * HU_BINS_ROOM, o->g + t->m * HU_BINS_ROOM, &w->b, column_used, k0, kc,
			o->bits_b, o->step);
		for (size_t pair = 0; pair < t->pa * t->pb; pair++) {
			size_t i = pair % t->pa * w->a.width, j = pair / t->pa * w->b.width,
			       row[2] = { i, t->m - i < w->a.width ? t->m : i + w->a.width },
			       column[2] = { j, t->n - j < w->b.width ? t->n : j + w->b.width };
			if (w->by[pair] == HU_TILE_BY_BINS)
				add_pair(t, kc, row, column, w->t + w->at[pair], w->levels[pair]);
		}
	}
}

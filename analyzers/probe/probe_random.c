/* SPDX-License-Identifier: Apache-2.0
   Compares a matrix instruction with its model on random operands. Uniform words almost always contain a NaN or one
   term that hides all others, so only some tiles are made of them; the others favour cases in which models have been
   wrong. */
#include "analyzers/probe/probe_device.h"

#include "cuda/probe/probe.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 1024 };

/* The kinds of tiles, which take turns. */
enum { WORDS, SPREAD, TINY, CANCEL, GAPS, HUGE_ONES, MIXES = HU_PROBE_KINDS };

/* Returns random draw i of this tile, 32 bits. */
typedef struct draw { uint64_t seed; uint32_t tile; } draw;

static uint32_t
bits(const draw *r, uint32_t i)
{
	return hu_random_at(r->seed, 0x70726f62u, r->tile, i / 4).w[i % 4];
}

static double
value(const draw *r, uint32_t i, int low, int high)
{
	uint32_t u = bits(r, i);

	return ldexp((u & 1 ? -1 : 1) * (1 + (double)(u >> 1 & 0x7fffff) * 0x1p-23),
		low + (int)((u >> 24) % (uint32_t)(high - low + 1)));
}

/* Returns an operand of product k as a number; mix selects the kind of tile, depth is that of the alignment. */
static double
operand(const draw *r, int mix, uint32_t i, size_t k, hu_format f, int depth)
{
	switch (mix) {
	case SPREAD: return value(r, i, -4, 4);
	case TINY: return value(r, i, f.emin - f.p + 1, f.emin + 2) * (bits(r, i + 7) % 5 != 0);
	case CANCEL: return k % 2 ? NAN : value(r, i, -8, 8); /* NaN stands for the operand before, with its sign
							         inverted in A */
	case GAPS:
		return k ? value(r, i, 0, 1) * ldexp(1, -(depth / 2) - 1 + (int)(bits(r, i + 3) % 4))
			 : value(r, i, 0, 1);
	case HUGE_ONES: return value(r, i, f.emax - 3, f.emax);
	default: HU_ASSERT(!"a kind of tile has its operands here"); return NAN;
	}
}

typedef struct tiles {
	uint32_t a[TILES][HU_PROBE_A], b[TILES][HU_PROBE_B];
	float c[TILES][HU_PROBE_C], d[TILES][HU_PROBE_C];
	int mix[TILES];
} tiles;

static uint32_t
coded(double x, hu_format f)
{
	x = hu_round(x, f, HU_RZ, HU_SATURATE, 0);
	return f.id == HU_TF32 ? hu_bits32((float)x) : (uint32_t)hu_encode(x, f);
}

/* Fills the words of row r (where rows is 16) or of column r (8). */
static void
fill(const hu_instruction *i, uint32_t *words, size_t rows, const draw *r, int mix, uint32_t first, int depth)
{
	hu_format f = hu_format_of(i->in);
	size_t each = hu_probe_each(i->in);
	uint32_t mask = each == 1 ? ~0u : (1u << 32 / each) - 1;

	memset(words, 0, rows * 8 * sizeof *words);
	for (size_t row = 0; row < rows; row++) {
		uint32_t before = 0;
		for (size_t k = 0; k < (size_t)i->k; k++) {
			uint32_t at = first + (uint32_t)(row * 32 + k) * 2, code;
			double x = mix == WORDS ? 0 : operand(r, mix, at, k, f, depth);
			if (mix == WORDS)
				code = bits(r, at) & mask;
			else if (isnan(x))
				code = rows == 16 ? before ^ (mask ^ mask >> 1) : before;
			else
				code = coded(x, f);
			before = code;
			words[row * 8 + k / each] |= code << k % each * (32 / each);
		}
	}
}

static void
fill_tile(const hu_instruction *i, tiles *t, size_t tile, uint64_t seed, uint32_t number, int depth)
{
	draw r = { seed, number };
	int mix = (int)(number % MIXES);
	hu_format out = hu_format_of(i->out), f = hu_format_of(i->in);

	t->mix[tile] = mix;
	fill(i, t->a[tile], 16, &r, mix, 0, depth);
	fill(i, t->b[tile], 8, &r, mix, 1024, depth);
	for (uint32_t k = 0; k < HU_PROBE_C; k++) {
		uint32_t at = 2048 + k;
		double c = 0;
		if (mix == WORDS)
			c = i->out == HU_FP16 ? hu_decode(bits(&r, at) & 0xffff, out)
					      : (double)hu_from_bits32(bits(&r, at));
		else if (bits(&r, at + 256) % 4)
			c = mix == TINY ? value(&r, at, out.emin - out.p + 1, out.emin + 3)
			    : mix == HUGE_ONES
				    ? value(&r, at, 2 * f.emax > out.emax ? out.emax - 2 : 2 * f.emax - 2, out.emax)
				    : value(&r, at, mix == GAPS ? -depth - 2 : -10, mix == GAPS ? -depth + 2 : 10);
		t->c[tile][k] = (float)hu_round(c, out, HU_RZ, 0, 0);
	}
}

static double
operand_of(const hu_instruction *i, const uint32_t *words, size_t k)
{
	size_t each = hu_probe_each(i->in);

	if (each == 1)
		return (double)hu_from_bits32(hu_tc_tf32(words[k]));
	return hu_decode(words[k / each] >> k % each * (32 / each) & ((1u << 32 / each) - 1), hu_format_of(i->in));
}

static int
equal(float got, float want, hu_format_id out)
{
	return hu_bits32(got) == hu_bits32(want) || (out == HU_FP16 && isnan(got) && isnan(want));
}

/* Returns how many sums of a tile differ, and the place of the first one in *first. */
static size_t
compare(const hu_instruction *i, const tiles *t, size_t tile, hu_sum s, int *first, float *want_first)
{
	size_t differ = 0;

	for (int k = HU_PROBE_C - 1; k >= 0; k--) {
		double a[32], b[32];
		for (size_t l = 0; l < (size_t)i->k; l++) {
			a[l] = operand_of(i, t->a[tile] + k / 8 * 8, l);
			b[l] = operand_of(i, t->b[tile] + k % 8 * 8, l);
		}
		float want = (float)hu_model_tc(a, b, (size_t)i->k, (double)t->c[tile][k], s, NULL);
		if (equal(t->d[tile][k], want, i->out))
			continue;
		differ++;
		*first = k;
		*want_first = want;
	}
	return differ;
}

static void
tell(const hu_instruction *i, const tiles *t, size_t tile, int k, float want, char *out, size_t size)
{
	int n = snprintf(out, size, "0x%08x, the model 0x%08x; C 0x%08x, A", hu_bits32(t->d[tile][k]), hu_bits32(want),
		hu_bits32(t->c[tile][k]));

	for (int side = 0; side < 2; side++) {
		const uint32_t *w = side ? t->b[tile] + k % 8 * 8 : t->a[tile] + k / 8 * 8;
		for (int l = 0; l < i->k / (int)hu_probe_each(i->in) && n > 0 && (size_t)n < size; l++)
			n += snprintf(out + n, size - (size_t)n, " %08x", w[l]);
		if (!side && n > 0 && (size_t)n < size)
			n += snprintf(out + n, size - (size_t)n, ", B");
	}
}

hu_status
hu_probe_random_run(hu_probe_device *p, hu_sum s, size_t n, uint64_t seed, hu_probe_random *out)
{
	const hu_instruction *i = p->i;
	tiles *t = hu_xmalloc(sizeof *t);
	int depth = hu_tc_of_sum(s).f;
	hu_status st = HU_OK;
	hu_progress bar;

	memset(out, 0, sizeof *out);
	hu_progress_start(&bar, "probe", n);
	hu_progress_note(&bar, "%s", i->name);
	for (uint32_t number = 0; out->sums < n && st == HU_OK; number += TILES) {
		size_t differ = 0, left = (n - out->sums + HU_PROBE_C - 1) / HU_PROBE_C,
		       many = left < TILES ? left : TILES;
#pragma omp parallel for schedule(static)
		for (size_t k = 0; k < many; k++)
			fill_tile(i, t, k, seed, number + (uint32_t)k, depth);
		st = hu_probe_send(p, t->d[0], t->a[0], t->b[0], t->c[0], many);
		if (st != HU_OK)
			break;
#pragma omp parallel for schedule(static) reduction(+ : differ)
		for (size_t k = 0; k < many; k++) {
			int first;
			float want;
			size_t here = compare(i, t, k, s, &first, &want);
			differ += here;
			if (here) {
#pragma omp critical(probe_random)
				if (!*out->first)
					tell(i, t, k, first, want, out->first, sizeof out->first);
			}
		}
		for (size_t k = 0; k < many; k++)
			out->by[t->mix[k]] += HU_PROBE_C;
		out->differ += differ;
		out->sums += many * HU_PROBE_C;
		hu_progress_step(&bar, many * HU_PROBE_C);
	}
	hu_progress_end(&bar);
	free(t);
	return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/attention/attention_loops.h"

#include "lib/number/simd.h"

#include <math.h>
#include <stdint.h>

/* Four doubles at any address. The compiler makes two halves of them where the registers are smaller. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t whole __attribute__((vector_size(32), aligned(8), may_alias));
#define AT(p) (*(const four *)(p))
#define TO(p) (*(four *)(p))
#define PUT(p, a, b, c, d) (TO(p) = a, TO((p) + 4) = b, TO((p) + 8) = c, TO((p) + 12) = d) /* a tile */
#define MAGNITUDE(x) ((four)((whole)(x) & INT64_MAX))

#define LOOPS(NAME) NAME##_plain
#include "lib/judge/kernel/attention/attention_loops.inc"
#undef LOOPS

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2")
#define LOOPS(NAME) NAME##_avx2
#include "lib/judge/kernel/attention/attention_loops.inc"
#undef LOOPS
#pragma GCC pop_options
#define PICK(NAME) HU_SIMD_PICK(NAME##_avx2, NAME##_avx2, NAME##_plain)
#else
#define PICK(NAME) NAME##_plain
#endif

void
hu_attention_scores(const double *x, const double *most, const double *k, const double *m, size_t depth, size_t keys,
	double *s, double *r)
{
	PICK(scores)(x, most, k, m, depth, keys, s, r);
}

void
hu_attention_add(const hu_attention_key *key, size_t keys, double flushed, size_t width, hu_attention_sums to)
{
	size_t d = 0;

	for (; d + 4 <= width; d += 4)
		PICK(add)(key, keys, flushed, d, to);
	for (; d < width; d++) {
		double o = 0, spread = 0, size = 0, sum = 0, var = 0, square = 0;
		for (size_t j = 0; j < keys; j++)
			if (key[j].p != 0)
				o += key[j].p * key[j].v[d];
		for (size_t j = 0; j < keys; j++) {
			double x = key[j].v[d], e = x - o;
			spread += key[j].spread * fabs(e);
			size += key[j].size * fabs(x);
			sum += flushed * fabs(x);
			var += key[j].var * e * e;
			square += key[j].square * x * x;
		}
		to.o[d] = o;
		to.spread[d] = spread;
		to.size[d] = size;
		to.abs[d] = sum;
		to.var[d] = var;
		to.square[d] = square;
	}
}

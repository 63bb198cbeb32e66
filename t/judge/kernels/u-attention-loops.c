/* SPDX-License-Identifier: Apache-2.0
   The loops of attention's closed form (lib/judge/kernel/attention/attention_loops.h) beside loops written here in
   their order, for each instruction set: the same bits, whatever the numbers of keys, of terms and of columns. */
#include "lib/judge/kernel/attention/attention_loops.h"

#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 19, KEYS = 53, WIDTH = 23 };

static uint64_t drawn;

static double
draw(void)
{
	return hu_random_at(1, 10, 0, drawn++).w[0] * 0x1p-31 - 1;
}

static int
scores(size_t depth, size_t keys)
{
	static double k[2][DEPTH * (KEYS + HU_ATTENTION_TILE)], s[2][KEYS + HU_ATTENTION_TILE];
	double x[2][DEPTH];
	int same = 1;

	memset(k, 0, sizeof k);
	for (int i = 0; i < 2; i++)
		for (size_t d = 0; d < depth; d++) {
			x[i][d] = draw();
			for (size_t j = 0; j < keys; j++)
				k[i][hu_attention_place(depth, d, j)] = draw();
		}
	hu_attention_scores(x[0], x[1], k[0], k[1], depth, keys, s[0], s[1]);
	for (int i = 0; i < 2; i++)
		for (size_t j = 0; j < keys; j++) {
			double sum = 0;
			for (size_t d = 0; d < depth; d++)
				sum += x[i][d] * k[i][hu_attention_place(depth, d, j)];
			same &= sum == s[i][j];
		}
	return same;
}

static int
sums(size_t keys, size_t width)
{
	static double v[KEYS * WIDTH], got[6][WIDTH];
	static hu_attention_key key[KEYS];
	double flushed = fabs(draw()) * 0x1p-20;
	int same = 1;

	for (size_t j = 0; j < keys * width; j++)
		v[j] = draw();
	for (size_t j = 0; j < keys; j++)
		key[j] = (hu_attention_key){ v + j * width, j % 5 ? fabs(draw()) : 0, fabs(draw()), fabs(draw()),
			fabs(draw()), fabs(draw()) };
	hu_attention_add(key, keys, flushed, width,
		(hu_attention_sums){ got[0], got[1], got[2], got[3], got[4], got[5] });
	for (size_t d = 0; d < width; d++) {
		double want[6] = { 0 };
		for (size_t j = 0; j < keys; j++)
			want[0] += key[j].p * v[j * width + d];
		for (size_t j = 0; j < keys; j++) {
			double x = v[j * width + d], e = x - want[0];
			want[1] += key[j].spread * fabs(e);
			want[2] += key[j].size * fabs(x);
			want[3] += flushed * fabs(x);
			want[4] += key[j].var * e * e;
			want[5] += key[j].square * x * x;
		}
		for (int i = 0; i < 6; i++)
			same &= want[i] == got[i][d];
	}
	return same;
}

int
main(void)
{
	for (int s = 0; s < HU_SIMDS; s++) {
		size_t wrong = 0, off = 0;
		if (!hu_simd_has((hu_simd)s) || hu_simd_set(hu_simd_name_of((hu_simd)s)) != HU_OK)
			continue;
		for (size_t keys = 1; keys <= KEYS; keys++) {
			wrong += !scores(1 + keys % DEPTH, keys);
			off += !sums(keys, 1 + keys % WIDTH);
		}
		ok(!wrong, "%s: scores of %zu of %d numbers of keys differ", hu_simd_name(), wrong, KEYS);
		ok(!off, "%s: sums of %zu of %d numbers of keys differ", hu_simd_name(), off, KEYS);
	}
	return done_testing();
}

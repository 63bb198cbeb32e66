/* SPDX-License-Identifier: Apache-2.0
   The loops over floats of every formula, compiled for wider registers, against those that run on every processor: the
   same bits, or both NaN, on special values, on the ends of the cases in which elementary functions are computed, on
   bits drawn at random, and where several neighbours are of one case. x-formula-loops.c tries every float there is. */
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/element/pointwise.h"
#include "t/tool/tap.h"

#include <string.h>

enum { N = 512, ENDS = 24 };

/* Where lib/number/elementary/elementary.h changes from one case to the next, or a float result stops changing. */
static const float ends[ENDS] = { 0, 0x1p-149f, 0x1p-126f, 0x1p-27f, 0.29f, 0.41f, 0.5f, 1, 1.4142135f, 2, 6, 8.485281f,
	20, 22, 40, 44, 88.72284f, 103.97208f, 200, 710, 746, 0x1p127f, 3.4028235e38f, 0 };

static float
draw(uint64_t i)
{
	hu_random r = hu_random_at(20261123, 1, 0, i);
	float x = ends[r.w[1] % ENDS];
	uint32_t u = r.w[0];

	if (r.w[2] % 4 == 0) { /* an end, or a float near it, of either sign */
		memcpy(&u, &x, sizeof u);
		u += r.w[3] % 5 - 2;
		u ^= r.w[3] & 0x80000000u;
	} else if (r.w[2] % 4 == 1) { /* where activations lie */
		x = (float)((double)r.w[0] * 0x1p-29 - 4);
		memcpy(&u, &x, sizeof u);
	}
	memcpy(&x, &u, sizeof x);
	return x;
}

/* Where erf of x / sqrt 2 has one case; now and then its ends, a float next to them, or one beyond. */
static float
draw_near(uint64_t i)
{
	hu_random r = hu_random_at(20261123, 2, 0, i);
	float x = 1.4142135f;
	uint32_t u;

	if (r.w[1] % 80 == 1)
		return (float)((double)(int32_t)r.w[0] * 0x1p-29);
	if (r.w[1] % 40)
		return (float)((double)(int32_t)r.w[0] * 0x1p-31 * 1.41);
	memcpy(&u, &x, sizeof u);
	u += r.w[3] % 5 - 2;
	u ^= r.w[3] & 0x80000000u;
	memcpy(&x, &u, sizeof x);
	return x;
}

static const char *const name[] = {
#define FORMULA1(NAME, Y) #NAME,
#define FORMULA2(NAME, Y) #NAME,
#define FORMULA3(NAME, Y) #NAME,
#include "lib/op/element/formulas.def"
};
static const hu_ctx_f32 context = { .k = { 0.25f, 0.75f } };
static float x[3][N], plain[N], wide[N];

/* How many of the n results differ. */
static size_t
differ(const hu_blocks *a, const hu_blocks *b, size_t n)
{
	const float *in[] = { x[0], x[1], x[2] };
	float *p = plain, *w = wide;
	size_t bad = 0;

	a->f32(&context, n, in, &p);
	b->f32(&context, n, in, &w);
	for (size_t i = 0; i < n; i++)
		bad += memcmp(plain + i, wide + i, sizeof *plain) != 0 && !(plain[i] != plain[i] && wide[i] != wide[i]);
	return bad;
}

static size_t
drawn(int f, const hu_blocks *a, const hu_blocks *b)
{
	size_t bad = 0;

	for (uint64_t block = 0; block < 16; block++) {
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < 3; k++)
				x[k][i] = (block % 4 == 3 ? draw_near : draw)(
					((block * N + i) * 3 + k) * HU_FORMULAS + (uint64_t)f);
		bad += differ(a, b, N - block); /* also what is left where registers are full */
	}
	return bad;
}

int
main(void)
{
	for (int level = HU_SIMD_SCALAR + 1; level < HU_SIMDS; level++) {
		if (!hu_simd_has((hu_simd)level)) {
			skip(1, "%s: this machine does not have it", hu_simd_name_of((hu_simd)level));
			continue;
		}
		for (int f = 0; f < (int)HU_FORMULAS; f++) {
			hu_simd_set("scalar");
			const hu_blocks *a = hu_formula_blocks((hu_formula)f);
			hu_simd_set(hu_simd_name_of((hu_simd)level));
			size_t bad = drawn(f, a, hu_formula_blocks((hu_formula)f));
			ok(bad == 0, "%s by %s: %zu results differ", name[f], hu_simd_name_of((hu_simd)level), bad);
		}
	}
	return done_testing();
}

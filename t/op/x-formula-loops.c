/* SPDX-License-Identifier: Apache-2.0
   The elementary functions that loops for wider registers compute on both sides of each case (lib/op/element/lanes.h):
   on every float there is, the bits of the loops that run on every processor, or both NaN. With a formula's name as its
   argument, that one alone. */
#include "lib/number/simd.h"
#include "lib/op/element/pointwise.h"
#include "t/tool/tap.h"

#include <string.h>

enum { N = 512 };

static const struct { const char *name; hu_formula formula; } tried[] = {
	{ "exp", HU_FORMULA_exp },
	{ "erf", HU_FORMULA_erf },
	{ "sigmoid", HU_FORMULA_sigmoid },
	{ "tanh", HU_FORMULA_tanh },
};

/* How many of the N floats whose bits begin with `first` give other bits. */
static uint64_t
differ(const hu_blocks *a, const hu_blocks *b, uint32_t first)
{
	float x[N], plain[N], wide[N], *p = plain, *w = wide;
	const float *in[] = { x };
	const hu_ctx_f32 none = { .k = { 0 } };
	uint64_t bad = 0;

	for (uint32_t i = 0; i < N; i++) {
		uint32_t u = first + i;
		memcpy(&x[i], &u, sizeof u);
	}
	a->f32(&none, N, in, &p);
	b->f32(&none, N, in, &w);
	for (int i = 0; i < N; i++)
		bad += memcmp(plain + i, wide + i, sizeof *plain) != 0 && !(plain[i] != plain[i] && wide[i] != wide[i]);
	return bad;
}

int
main(int argc, char **argv)
{
	for (int level = HU_SIMD_SCALAR + 1; level < HU_SIMDS; level++) {
		const char *set = hu_simd_name_of((hu_simd)level);
		if (!hu_simd_has((hu_simd)level)) {
			skip(1, "%s: this machine does not have it", set);
			continue;
		}
		for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
			uint64_t bad = 0;
			if (argc > 1 && strcmp(argv[1], tried[t].name))
				continue;
			hu_simd_set("scalar");
			const hu_blocks *a = hu_formula_blocks(tried[t].formula);
			hu_simd_set(set);
			const hu_blocks *b = hu_formula_blocks(tried[t].formula);
#pragma omp parallel for reduction(+ : bad)
			for (uint64_t first = 0; first < UINT64_C(1) << 32; first += N)
				bad += differ(a, b, (uint32_t)first);
			ok(bad == 0, "%s by %s: %llu of all floats differ", tried[t].name, set,
				(unsigned long long)bad);
		}
	}
	return done_testing();
}

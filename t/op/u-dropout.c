/* SPDX-License-Identifier: Apache-2.0
   Dropout's mask: chi-square tests of how often elements are kept, alone and in pairs of neighbours, of places four
   apart, of steps, of streams and of seeds; the address of an element's random word; and what is stored. */
#include "t/op/op-values.h"

#include "lib/base/mem.h"
#include "lib/number/philox.h"

#include <stdlib.h>

enum { N = 1 << 16 };

/* The mask of N elements. */
static unsigned char *
mask(double p, double seed, double step, double stream, double first)
{
	static const op_row row = { "dropout", "", "x:65536 K", "x" };
	unsigned char *keep = hu_xmalloc(N);
	op_case k;

	if (op_case_init(&k, &row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1) != HU_OK)
		bail_out("dropout: %s", hu_reason());
	hu_attr_set(&k.c, "p", p);
	hu_attr_set(&k.c, "stream", stream);
	hu_attr_set(&k.c, "first", first);
	hu_put(&k.in[1], 0, seed);
	hu_put(&k.in[1], 1, step);
	for (size_t i = 0; i < N; i++)
		hu_put(&k.in[0], i, 1);
	if (op_case_emulate(&k, &env) != HU_OK)
		bail_out("dropout: %s", hu_reason());
	double kept = hu_round(hu_round(1 / (1 - p), hu_format_of(HU_FP32), HU_RNE, 0, 0), hu_format_of(HU_FP32),
		HU_RNE, 0, 0);
	size_t strange = 0;
	for (size_t i = 0; i < N; i++) {
		keep[i] = out_at(&k, 0, i) != 0;
		strange += keep[i] && out_at(&k, 0, i) != kept;
	}
	if (strange)
		ok(0, "p = %g: %zu elements are neither 0 nor 1 / (1 - p)", p, strange);
	op_case_release(&k);
	return keep;
}

/* Chi-square of the four outcomes of pairs a[i], b[i] under independence with probability 1 - p each, 3 degrees of
   freedom; of a fair mask it is above 21.11 once in 10^4. */
static void
pairs(double p, const unsigned char *a, const unsigned char *b, size_t n, const char *what)
{
	double count[4] = { 0 }, chi = 0;

	for (size_t i = 0; i < n; i++)
		count[2 * a[i] + b[i]]++;
	for (int j = 0; j < 4; j++) {
		double want = (double)n * (j & 2 ? 1 - p : p) * (j & 1 ? 1 - p : p);
		chi += (count[j] - want) * (count[j] - want) / want;
	}
	ok(chi < 21.11, "p = %g: pairs of %s are independent, chi-square %.2f", p, what, chi);
}

static void
test_chi_square(double p)
{
	unsigned char *a = mask(p, 1, 5, 77, 0), *step = mask(p, 1, 6, 77, 0), *stream = mask(p, 1, 5, 78, 0),
		      *seed = mask(p, 2, 5, 77, 0);

	pairs(p, a, a + 1, N - 1, "neighbours");
	pairs(p, a, a + 2, N - 2, "elements two apart");
	pairs(p, a, a + 4, N - 4, "neighbouring blocks");
	pairs(p, a, step, N, "steps");
	pairs(p, a, stream, N, "streams");
	pairs(p, a, seed, N, "seeds");
	free(a);
	free(step);
	free(stream);
	free(seed);
}

static void
test_address(void)
{
	const double p = 0.375, seed = 0x1p52 + 12345, step = 4000000000.0, stream = 4123456789.0;
	size_t wrong = 0, moved = 0;

	for (double first = 0; first < 9; first++) {
		unsigned char *a = mask(p, seed, step, stream, first);
		for (size_t i = 0; i < N; i++) {
			hu_random r = hu_random_at(
				(uint64_t)seed, (uint32_t)stream, (uint32_t)step, (i + (size_t)first) / 4);
			wrong += a[i] != (r.w[(i + (size_t)first) % 4] >= 0x60000000u);
		}
		free(a);
	}
	ok(!wrong, "an element's word is the one of its index behind `first` (%zu wrong)", wrong);
	unsigned char *far = mask(p, 3, 0, 9, 0x1p40 + 6), *near_it = mask(p, 3, 0, 9, 0x1p40 + 4);
	for (size_t i = 0; i + 2 < N; i++)
		moved += far[i] != near_it[i + 2];
	ok(!moved, "indices beyond 2^32 too");
	free(far);
	free(near_it);
}

static void
test_refused(void)
{
	static const char *const bad[] = { "p=1", "p=-0.1", "stream=0.5", "stream=4294967296", "first=-1" };
	hu_shape in[2] = { hu_shape1(8), hu_shape1(2) };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		op_row row = { "dropout", bad[i], "x:8 K", "x" };
		op_case k;
		ok(op_case_init(&k, &row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1) != HU_OK, "%s is refused", bad[i]);
		op_case_release(&k);
	}
	op_case k = run("dropout", "p=0.5", "x:8 K", "x");
	hu_shape out = hu_shape0();
	in[1] = hu_shape1(3);
	out.d[0] = 0;
	ok(HU_COLUMN(k.c.op, shape)(&k.c, in, &out) != HU_OK, "a clock of three numbers is refused");
	op_case_release(&k);
}

int
main(void)
{
	test_chi_square(0.5);
	test_chi_square(0.1);
	test_chi_square(0.9);
	test_address();
	test_refused();
	return done_testing();
}

/* SPDX-License-Identifier: Apache-2.0
   Which exact steps of AdamW are 0, weight decay aside: where the answer is no, MPFR's step is not 0; where it is yes,
   MPFR's is. Gradients and first moments are drawn as zeros, as terms that cancel exactly, or nearly, and as numbers of
   the format's whole range; zeros are known in all usual calls, and hardly anything is left open without need. */
#include "t/op/op-case.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/op/attr.h"
#include "lib/op/update/moments.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

static const op_row rows[] = {
	{ "adamw", "lr=1e-3 beta1=0.5 beta2=0.999 eps=1e-7", "x:40x50 x:40x50 F x:40x50 p:40x50 C", "x 3 4" },
	{ "adamw", "lr=1e-3 beta1=0.9 beta2=0.999 eps=1e-7", "x:40x50 x:40x50 F x:40x50 p:40x50 C", "x 3 4" },
	{ "adamw", "lr=0 beta1=0.9 beta2=0.999 eps=1e-7", "x:40x50 x:40x50 F x:40x50 p:40x50 C", "x 3 4" },
	{ "adamw", "lr=1e-3 beta1=0.5 beta2=0.999 eps=1e-7", "x:40x50 x:40x50 N x:40x50 p:40x50 C", "x 3 4" },
};

enum { KINDS = 7 };

/* Draws the gradient and the first moment of element i, and returns which kind they are. */
static int
draw(op_case *k, size_t i, uint64_t seed)
{
	uint64_t r = hu_mix64(seed + i);
	int kind = (int)(r % KINDS);
	double g = hu_get(&k->in[1], i), m = hu_get(&k->in[3], i);

	if (kind == 0)
		g = m = 0;
	else if (kind == 1)
		m = -g; /* the betas being 1/2, the terms cancel */
	else if (kind == 2)
		m = -g * (1 + 0x1p-23);
	else if (kind == 3)
		g = 0;
	else if (kind == 4)
		m = 0;
	else if (kind == 5) { /* the double nearest to 0.9 being more than that, hardly anything is left */
		m = copysign(ldexp(1, m != 0 ? ilogb(m) / 2 : 0), m);
		g = -9 * m;
	}
	hu_put(&k->in[1], i, hu_rne(hu_format_of(HU_FP32), g));
	hu_put(&k->in[3], i, hu_rne(hu_format_of(HU_FP32), m));
	return kind;
}

typedef struct tally { size_t n, zeros, missed, open, needless, still, wrong; } tally;

static void
walk(const op_row *row, int level, tally *t)
{
	enum { FIRST = 7 };
	op_case k;

	if (op_case_init(&k, row, HU_FP32, HU_FP32, HU_FP32, level, 11) != HU_OK)
		return;
	hu_call bare = k.c;
	hu_attr_set(&bare, "weight_decay", 0);
	size_t all = k.in[0].n, n = all - FIRST, *element = hu_xmalloc(n * sizeof *element);
	char *still = hu_xmalloc(n);
	mpfr_t *exact = hu_xmalloc(n * sizeof *exact);
	for (size_t i = 0; i < all; i++)
		draw(&k, i, 3);
	for (size_t i = 0; i < n; i++) {
		element[i] = FIRST + i;
		mpfr_init2(exact[i], 256);
	}
	hu_moments_still(&bare, k.pin, FIRST, n, still);
	hu_status st = HU_COLUMN(bare.op, reference)(&bare, k.pin, 0, element, n, exact);
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		int zero = mpfr_cmp_d(exact[i], hu_get(&k.in[0], element[i])) == 0 && !mpfr_nan_p(exact[i]);
		t->n++;
		t->zeros += (size_t)zero;
		t->missed += zero && still[i] == HU_MOMENTS_MOVE;
		t->open += still[i] == HU_MOMENTS_OPEN;
		t->needless += still[i] == HU_MOMENTS_OPEN && !zero;
		t->still += still[i] == HU_MOMENTS_STILL;
		t->wrong += still[i] == HU_MOMENTS_STILL && !zero;
	}
	for (size_t i = 0; i < n; i++)
		mpfr_clear(exact[i]);
	free(exact);
	free(still);
	free(element);
	op_case_release(&k);
}

int
main(void)
{
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
		for (int level = LEVEL_MILD; level <= LEVEL_RANGE; level++) {
			tally t = { 0, 0, 0, 0, 0, 0, 0 };
			walk(&rows[r], level, &t);
			is_int((long long)t.missed, 0, "%s, level %d: none of %zu steps that are 0, of %zu, is missed",
				rows[r].attrs, level, t.zeros, t.n);
			ok(t.n > 1900 && t.zeros >= t.n / KINDS / 2, "there are such steps");
			is_int((long long)t.wrong, 0, "none of %zu steps that are said to be 0 is another", t.still);
			if (r < 2 && level == LEVEL_MILD)
				ok(t.needless < t.n / 100 + (r ? t.n / KINDS * 5 / 4 : 0),
					"%zu of %zu are asked for without need", t.needless, t.open);
			ok(r < 2 ? t.still >= t.n / KINDS / 2 : !t.still, "%zu steps are said to be 0", t.still);
		}
	mpfr_free_cache();
	return done_testing();
}

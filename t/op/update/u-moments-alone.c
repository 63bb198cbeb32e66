/* SPDX-License-Identifier: Apache-2.0
   Enclosures of Adam's moments, against the moments in MPFR with as many bits as they have: each contains its value,
   an error of 0 is said of hi + lo that are the value, and of nearly all in float32. */
#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/op/attr.h"
#include "lib/op/sink.h"
#include "lib/op/update/moments.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

enum { BITS = 4400 }; /* from the largest double's square to the least one's */

typedef struct found { hu_sink s; const op_case *k; int out; size_t n, exact, outside, lies; } found;

/* v = beta x + (1 - beta) y, or y^2 */
static void
moment(mpfr_t v, mpfr_t t, double beta, double x, double y, int square)
{
	mpfr_set_d(v, beta, MPFR_RNDN);
	mpfr_ui_sub(v, 1, v, MPFR_RNDN);
	mpfr_mul_d(v, v, y, MPFR_RNDN);
	if (square)
		mpfr_mul_d(v, v, y, MPFR_RNDN);
	mpfr_set_d(t, beta, MPFR_RNDN);
	mpfr_mul_d(t, t, x, MPFR_RNDN);
	mpfr_add(v, v, t, MPFR_RNDN);
}

static void
take(hu_sink *sink, const hu_tile *t)
{
	found *f = (found *)sink;
	double beta = hu_attr_num(&f->k->c, f->out == 1 ? "beta1" : "beta2", 0);

#pragma omp critical(u_moments_alone)
	for (size_t i = 0; i < t->n; i++) {
		size_t e = t->at ? t->at[i] : t->first + i;
		double x = hu_get(&f->k->in[2 + f->out], e), y = hu_get(&f->k->in[1], e);
		mpfr_t v, w;
		if (!isfinite(x) || !isfinite(y) || !(t->err[i] < INFINITY))
			continue;
		mpfr_inits2(BITS, v, w, (mpfr_ptr)NULL);
		moment(v, w, beta, x, y, f->out == 2);
		mpfr_sub_d(v, v, t->hi[i], MPFR_RNDN);
		mpfr_sub_d(v, v, t->lo[i], MPFR_RNDN);
		mpfr_abs(v, v, MPFR_RNDN);
		f->n++;
		f->exact += t->err[i] == 0;
		f->lies += t->err[i] == 0 && !mpfr_zero_p(v);
		f->outside += mpfr_cmp_d(v, t->err[i]) > 0;
		mpfr_clears(v, w, (mpfr_ptr)NULL);
	}
}

static void
walk(const op_row *row, hu_format_id format, int level)
{
	op_case k;

	if (op_case_init(&k, row, format, HU_FP32, format, level, 5) != HU_OK)
		return;
	for (int out = 1; out < 3; out++) {
		found f = { .s = { .take = take }, .k = &k, .out = out };
		hu_status st = HU_COLUMN(k.c.op, enclose)(&k.c, k.pin, out, NULL, k.out[out].n, &f.s);
		if (!ok(st == HU_OK && f.n > k.out[out].n / 3 && !f.outside && !f.lies,
			"%s of %s, level %d, moment %d: %zu enclosures, %zu without an error", row->op,
			hu_format_name(format), level, out, f.n, f.exact))
			diag("%zu outside, %zu of those without an error", f.outside, f.lies);
		if (k.c.op->moments->blends && format == HU_FP32 && level == LEVEL_MILD)
			ok(f.exact > f.n / 100 * 95, "nearly all are exact");
	}
	op_case_release(&k);
}

int
main(void)
{
	static const op_row rows[] = {
		{ "adamw", "lr=1e-3 beta1=0.9 beta2=0.999 eps=1e-7", "x:40x90 x:40x90 F x:40x90 p:40x90 C", "x 3 4" },
		{ "adam", "lr=1e-3 beta1=0.8 beta2=0.99 eps=1e-7", "x:40x90 x:40x90 F x:40x90 p:40x90 C", "x 3 4" },
	};
	static const hu_format_id formats[] = { HU_FP32, HU_FP64, HU_BF16 };

	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
		for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
			for (int level = LEVEL_MILD; level <= LEVEL_SPECIAL; level++)
				walk(&rows[r], formats[f], level);
	mpfr_free_cache();
	return done_testing();
}

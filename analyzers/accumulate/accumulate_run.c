/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* before mpfr.h, which then declares mpfr_asprintf */

#include "analyzers/accumulate/accumulate_run.h"

#include "lib/judge/judge.h"
#include "lib/op/contract/rowdot.h"
#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/sum/table/parts.h"

#include <math.h>
#include <stdlib.h>

void
hu_series_exact_init(hu_series_exact *x, const hu_series *s, size_t n)
{
	mpfr_ptr v = hu_xmalloc(sizeof *v);

	mpfr_init(v);
	hu_exact_dot(v, s->a, s->b, n);
	x->n = n;
	x->value = v;
	x->magnitude = 0;
	for (size_t k = 0; k < n; k++)
		x->magnitude += fabs(s->a[k] * s->b[k]);
	mpfr_asprintf(&x->text, "%.20Rg", v);
}

void
hu_series_exact_release(hu_series_exact *x)
{
	mpfr_clear(x->value);
	free(x->value);
	mpfr_free_str(x->text);
}

/* Returns |d| over whole, where 0 over 0 is 0. */
static double
part_of(mpfr_srcptr d, mpfr_srcptr whole)
{
	mpfr_t q;
	double r;

	if (mpfr_zero_p(d))
		return 0;
	mpfr_init2(q, 64);
	mpfr_div(q, d, whole, MPFR_RNDN);
	r = fabs(mpfr_get_d(q, MPFR_RNDN));
	mpfr_clear(q);
	return r;
}

void
hu_accumulate(hu_accumulated *r, const hu_series *s, const hu_series_exact *x, hu_sum sum, uint64_t seed)
{
	hu_draw draw = { seed, hu_draw_stream("accumulate"), 0, 0, sum.bits };
	hu_sum_count count = { 0, 0, 0, 0, 0 };
	mpfr_t d, magnitude;

	r->f = hu_part_format(sum);
	r->value = hu_model_run(s->a, s->b, x->n, sum, &draw, &count);
	r->ulps = hu_judge_ulps(r->value, x->value, r->f);
	mpfr_init2(d, 64);
	mpfr_init2(magnitude, 53);
	mpfr_d_sub(d, r->value, x->value, MPFR_RNDN);
	mpfr_set_d(magnitude, x->magnitude, MPFR_RNDN);
	r->relative = part_of(d, x->value);
	r->backward = part_of(d, magnitude);
	mpfr_clear(d);
	mpfr_clear(magnitude);
	hu_rowdot row = { x->n, s->a, s->b, NULL, sum, r->f.id, seed, HU_RNE };
	r->bound = x->magnitude == 0 ? 0 : hu_rowdot_bound(&row, 0) / x->magnitude; /* NaN where a term is not a
										       number */
	r->sqrt_n_u = sqrt((double)x->n) * hu_unit(hu_format_of(sum.acc));
	r->share = count.additions ? (double)count.swamped / (double)count.additions : 0;
	r->first = count.first ? (long long)count.first - s->start : -1;
	r->stop = count.run >= HU_STAGNANT_RUN && !hu_mode_draws(sum.mode) ? (long long)count.last - s->start : -1;
}

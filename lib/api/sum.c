/* SPDX-License-Identifier: Apache-2.0
   The library's summation models. */
#include "include/halfulp/sum.h"

#include "lib/api/enter.h"
#include "lib/api/format.h"
#include "lib/base/mem.h"
#include "lib/op/contract/rowdot.h"
#include "lib/sum/bound.h"
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"
#include "lib/sum/table/model.h"

#include <math.h>
#include <stdlib.h>

struct halfulp_sum {
	hu_sum s;
	hu_format a, b, out;
	char text[128];
};

typedef struct parsing {
	halfulp_sum **sum;
	const char *text;
	const halfulp_format *a, *b, *out;
} parsing;

static hu_status
parse(void *of)
{
	const parsing *p = of;
	hu_sum s;

	HU_TRY(hu_api_needs(p->sum, "halfulp_sum_parse", "sum"));
	*p->sum = NULL;
	HU_TRY(hu_api_needs(p->text, "halfulp_sum_parse", "text"));
	HU_TRY(hu_api_needs(p->a, "halfulp_sum_parse", "a"));
	HU_TRY(hu_api_needs(p->b, "halfulp_sum_parse", "b"));
	HU_TRY(hu_api_needs(p->out, "halfulp_sum_parse", "out"));
	HU_TRY(hu_sum_parse(p->text, &s));
	if (s.group)
		return hu_fail(HU_EUNABLE,
			"halfulp_sum_parse: '%s' has block-scaled operands, which the command halfulp op alone takes",
			p->text);
	if (s.in != HU_NO_FORMAT && (s.in != p->a->f.id || (s.in2 != HU_NO_FORMAT && s.in2 != p->b->f.id)))
		return hu_fail(HU_EINVAL, "halfulp_sum_parse: '%s' names other formats of operands than %s and %s",
			p->text, p->a->name, p->b->name);
	HU_TRY(hu_sum_resolve(&s, p->a->f.id, p->b->f.id, p->out->f.id));
	halfulp_sum *sum = hu_xcalloc(1, sizeof *sum);
	sum->s = s;
	sum->a = p->a->f;
	sum->b = p->b->f;
	sum->out = p->out->f;
	hu_sum_print(s, sum->text, sizeof sum->text);
	*p->sum = sum;
	return HU_OK;
}

halfulp_status
halfulp_sum_parse(halfulp_sum **sum, const char *text, const halfulp_format *a, const halfulp_format *b,
	const halfulp_format *out)
{
	return hu_api_enter(parse, &(parsing){ sum, text, a, b, out });
}

void
halfulp_sum_free(halfulp_sum *sum)
{
	free(sum);
}
const char *
halfulp_sum_text(const halfulp_sum *sum)
{
	return sum->text;
}

typedef struct adding {
	const char *function;
	double *y, *bound;
	const halfulp_sum *sum;
	const double *a, *b;
	size_t n;
	uint64_t seed;
} adding;

static hu_status
fits(const adding *d, const double *x, const char *name, hu_format f)
{
	size_t i = hu_format_misfit(x, d->n, f);

	if (i == d->n)
		return HU_OK;
	return hu_fail(HU_EINVAL, "%s: %s[%zu] = %.17g is no value of %s (halfulp_round makes it one)", d->function,
		name, i, x[i], hu_format_name(f.id));
}

static hu_status
add(void *of)
{
	const adding *d = of;

	HU_TRY(hu_api_needs(d->y ? d->y : d->bound, d->function, "result"));
	HU_TRY(hu_api_needs(d->sum, d->function, "sum"));
	if (d->n && (!d->a || !d->b))
		return hu_fail(HU_EINVAL, "%s: an array is NULL", d->function);
	HU_TRY(fits(d, d->a, "a", d->sum->a));
	HU_TRY(fits(d, d->b, "b", d->sum->b));
	HU_TRY(hu_sum_unit_takes_all(&d->sum->s, 0, d->a, d->n, "a"));
	HU_TRY(hu_sum_unit_takes_all(&d->sum->s, 1, d->b, d->n, "b"));
	hu_rowdot row = { d->n, d->a, d->b, NULL, d->sum->s, d->sum->out.id, d->seed, HU_RNE };
	if (d->y)
		*d->y = hu_rowdot_value(&row, 0);
	else
		*d->bound = hu_rowdot_bound(&row, 0);
	return HU_OK;
}

halfulp_status
halfulp_sum_dot(double *y, const halfulp_sum *sum, const double *a, const double *b, size_t n, uint64_t seed)
{
	return hu_api_enter(add, &(adding){ __func__, y, NULL, sum, a, b, n, seed });
}

halfulp_status
halfulp_sum_bound(double *bound, const halfulp_sum *sum, const double *a, const double *b, size_t n)
{
	return hu_api_enter(add, &(adding){ __func__, NULL, bound, sum, a, b, n, 0 });
}

typedef struct foretelling {
	double *relative, *absolute, *most;
	const halfulp_sum *sum;
	size_t n;
} foretelling;

/* The members of bound.h as numbers of the interface: what the last rounding adds to e = relative M + absolute is
   u (M + e) + the smallest number, and M may be so large that neither an intermediate result nor the last one
   overflows. Every number is rounded to the safe side by more than the few roundings here lose. */
static hu_status
foretell(void *of)
{
	const foretelling *d = of;
	const double up = 1 + 0x1p-40, down = 1 - 0x1p-40;

	if (!d->relative || !d->absolute || !d->most)
		return hu_fail(HU_EINVAL, "halfulp_sum_apriori: a result is NULL");
	HU_TRY(hu_api_needs(d->sum, "halfulp_sum_apriori", "sum"));
	const hu_sum *s = &d->sum->s;
	hu_format out = d->sum->out, inner = hu_part_format(*s);
	*d->relative = *d->absolute = HUGE_VAL;
	*d->most = 0;
	if (hu_sum_model_of(s->id)->bound_of)
		return HU_OK;
	hu_sum_bound b = hu_sum_apriori(*s, d->n, 0);
	double relative = b.relative, absolute = b.absolute, most = (b.limit - b.absolute) / b.peak * down;
	if (s->acc == HU_FP64) /* products of doubles may be rounded first */
		relative += 0x1p-52;
	if (out.id != inner.id) {
		double largest = (out.max - absolute) / (1 + relative) * down;
		most = largest < most ? largest : most;
		relative += hu_unit(out) * (1 + relative);
		absolute += hu_unit(out) * absolute + hu_smallest(out);
	}
	if (!(relative < HUGE_VAL) || !(absolute < HUGE_VAL) || !(most > 0))
		return HU_OK;
	*d->relative = relative * up;
	*d->absolute = absolute * up;
	*d->most = most < inner.max || d->n == 0 ? most : inner.max * down;
	return HU_OK;
}

halfulp_status
halfulp_sum_apriori(double *relative, double *absolute, double *most, const halfulp_sum *sum, size_t n)
{
	return hu_api_enter(foretell, &(foretelling){ relative, absolute, most, sum, n });
}

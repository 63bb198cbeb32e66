/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/sum_unit.h"

#include "lib/sum/model/row.h"
#include "lib/sum/model/run.h"

#include <stdio.h>

int
hu_sum_is_unit(hu_sum_id id)
{
	return hu_sum_model_of(id)->unit != NULL;
}

hu_status
hu_sum_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc)
{
	const hu_sum_unit *u = hu_sum_model_of(s->id)->unit;

	return u ? u->resolve(s, a, b, acc) : HU_OK;
}

void
hu_sum_unit_formats(hu_sum *s)
{
	const hu_sum_unit *u = hu_sum_model_of(s->id)->unit;

	if (u && u->in != HU_NO_FORMAT)
		s->in = s->in2 = u->in;
	if (u && u->acc != HU_NO_FORMAT)
		s->acc = s->out = u->acc;
}

hu_status
hu_sum_unit_key(hu_sum *s, const char *key, const char *word)
{
	(void)word;
	return hu_fail(HU_EINVAL,
		"summation model %s: it has no key '%s', since the unit multiplies %s operands and has an accumulator "
		"of "
		"%s; known: outer",
		hu_sum_name(s->id), key, hu_format_name(s->in), hu_format_name(s->acc));
}

hu_status
hu_sum_unit_check(const hu_sum *s)
{
	(void)s;
	return HU_OK;
}

hu_status
hu_sum_unit_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc)
{
	hu_format_id other = a == s->in ? b : a;

	(void)acc;
	return other == s->in ? HU_OK
			      : hu_fail(HU_EINVAL, "summation model %s multiplies %s operands, not %s",
					hu_sum_name(s->id), hu_format_name(s->in), hu_format_name(other));
}

void
hu_sum_unit_print(hu_sum s, const char *outer, char *out, size_t size)
{
	if (hu_sum_takes_of(s.id) == HU_TAKES_SLICES)
		snprintf(out, size, "%s:%d%s", hu_sum_name(s.id), s.n, outer);
	else
		snprintf(out, size, "%s%s", hu_sum_name(s.id), outer);
}

void
hu_sum_unit_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to)
{
	(void)longest;
	hu_sum_unit_formats(&s);
	take(to, s);
}

hu_status
hu_sum_unit_takes(const hu_sum *s, int which, double x, const char *what, size_t i)
{
	const hu_sum_unit *u = hu_sum_model_of(s->id)->unit;

	return !u || !u->holds || u->holds(s, which, x)
		       ? HU_OK
		       : hu_fail(HU_EINVAL,
				 "%s, element %zu: %.17g is no operand %c of summation model %s, which has "
				 "integers of %s",
				 what, i, x, "abc"[which], hu_sum_name(s->id),
				 which == 2                ? "32 bits"
				 : u->holds(s, which, 255) ? "8 bits from 0 to 255"
							   : "8 bits from -128 to 127");
}

hu_status
hu_sum_unit_takes_all(const hu_sum *s, int which, const double *x, size_t n, const char *what)
{
	const hu_sum_unit *u = hu_sum_model_of(s->id)->unit;

	for (size_t i = 0; u && u->holds && i < n; i++)
		HU_TRY(hu_sum_unit_takes(s, which, x[i], what, i));
	return HU_OK;
}

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

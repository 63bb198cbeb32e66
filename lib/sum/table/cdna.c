/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/cdna/units.h"

#include "lib/base/str.h"
#include "lib/sum/model/row.h"

#include <stdio.h>
#include <string.h>

static int
takes(const hu_sum *s, hu_format_id f)
{
	const hu_format_id *many = hu_sum_model_of(s->id)->unit->many;

	for (; *many != HU_NO_FORMAT && *many != f; many++)
		;
	return *many == f && f != HU_NO_FORMAT;
}

static hu_status
refused(const hu_sum *s, hu_format_id f)
{
	const hu_format_id *many = hu_sum_model_of(s->id)->unit->many;
	hu_str known;

	hu_str_init(&known);
	for (const hu_format_id *m = many; *m != HU_NO_FORMAT; m++)
		hu_str_addf(&known, "%s%s", m == many ? "" : m[1] == HU_NO_FORMAT ? " and " : ", ", hu_format_name(*m));
	hu_status st = hu_fail(HU_EINVAL, "summation model %s has no instruction for %s operands: it multiplies %s",
		hu_sum_name(s->id), hu_format_name(f), known.s);
	hu_str_release(&known);
	return st;
}

hu_status
hu_cdna_key_beside(hu_sum *s, const char *key, const char *word, const char *own)
{
	if (!strcmp(key, "in"))
		return hu_format_find(word, &s->in);
	if (!strcmp(key, "in2"))
		return hu_format_find(word, &s->in2);
	return hu_fail(HU_EINVAL, "summation model %s: unknown key '%s'; known: in, in2, outer%s", hu_sum_name(s->id),
		key, own);
}

hu_status
hu_cdna_key(hu_sum *s, const char *key, const char *word)
{
	return hu_cdna_key_beside(s, key, word, "");
}

hu_status
hu_cdna_check(const hu_sum *s)
{
	hu_format_id in2 = s->in2 == HU_NO_FORMAT ? s->in : s->in2;

	if (s->in == HU_NO_FORMAT)
		return in2 == HU_NO_FORMAT
			       ? HU_OK
			       : hu_fail(HU_EINVAL, "summation model %s: in2= needs in= too", hu_sum_name(s->id));
	if (!takes(s, s->in) || !takes(s, in2))
		return refused(s, takes(s, s->in) ? in2 : s->in);
	if (s->in != in2 && (hu_format_of(s->in).bits > 8 || hu_format_of(in2).bits > 8))
		return hu_fail(HU_EINVAL, "summation model %s: operands of %s and %s do not mix", hu_sum_name(s->id),
			hu_format_name(s->in), hu_format_name(in2));
	return s->n && s->in != HU_BF16
		       ? hu_fail(HU_EINVAL, "summation model %s: terms=2 is of bf16 operands, not %s: leave it out",
				 hu_sum_name(s->id), hu_format_name(s->in))
		       : HU_OK;
}

/* Refuses operands of format f where the model names another. Words of fp32 may be named tf32. */
static hu_status
agree(const hu_sum *s, hu_format_id named, hu_format_id f)
{
	return named == HU_NO_FORMAT || named == f || (named == HU_TF32 && f == HU_FP32)
		       ? HU_OK
		       : hu_fail(HU_EINVAL, "summation model %s: in=%s, but the operands are %s", hu_sum_name(s->id),
				 hu_format_name(named), hu_format_name(f));
}

hu_status
hu_cdna_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc)
{
	(void)acc;
	HU_TRY(agree(s, s->in, a));
	HU_TRY(agree(s, s->in2 == HU_NO_FORMAT ? s->in : s->in2, b));
	if (s->in == HU_NO_FORMAT) {
		s->in = a;
		s->in2 = b;
	}
	if (s->in2 == HU_NO_FORMAT)
		s->in2 = s->in;
	HU_TRY(hu_cdna_check(s));
	s->acc = s->out = s->in == HU_FP64 ? HU_FP64 : HU_FP32;
	if (s->in == HU_FP32 || s->in == HU_FP64)
		s->id = HU_SUM_FMA;
	return HU_OK;
}

void
hu_cdna_print(hu_sum s, const char *outer, char *out, size_t size)
{
	char in[48] = "", in2[48] = "";

	if (s.in != HU_NO_FORMAT)
		snprintf(in, sizeof in, ",in=%s", hu_format_name(s.in));
	if (s.in2 != HU_NO_FORMAT && s.in2 != s.in)
		snprintf(in2, sizeof in2, ",in2=%s", hu_format_name(s.in2));
	snprintf(out, size, "%s%s%s%s%s", hu_sum_name(s.id), in, in2, s.n ? ",terms=2" : "", outer);
}

void
hu_cdna_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to)
{
	(void)longest;
	s.in = s.in2 = HU_NO_FORMAT;
	s.n = 0;
	take(to, s);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/integers.h"

#include "lib/sum/bound_rule.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The keys and words of a specification, in the order in which it is printed. */
static const struct {
	const char *key, *word;
	int bits;
} words[] = {
	{ "a", "s8", HU_INTEGERS_A_S8 },
	{ "a", "u8", HU_INTEGERS_A_U8 },
	{ "b", "s8", HU_INTEGERS_B_S8 },
	{ "b", "u8", HU_INTEGERS_B_U8 },
	{ "saturate", "1", HU_INTEGERS_SATURATE },
};
enum { WORDS = sizeof words / sizeof *words };

hu_status
hu_integers_key(hu_sum *s, const char *key, const char *word)
{
	for (int i = 0; i < WORDS; i++)
		if (!strcmp(words[i].key, key) && !strcmp(words[i].word, word)) {
			s->path |= words[i].bits;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL,
		"summation model %s: '%s=%s' is not known; known: a=s8, a=u8, b=s8, b=u8, saturate=1, "
		"outer=FORMAT",
		hu_sum_name(s->id), key, word);
}

hu_status
hu_integers_check(const hu_sum *s)
{
	(void)s;
	return HU_OK;
}

hu_status
hu_integers_wraps(const hu_sum *s)
{
	return s->path & HU_INTEGERS_SATURATE
		       ? hu_fail(HU_EINVAL,
				 "summation model %s: no instruction of this unit saturates; leave out "
				 "saturate=1",
				 hu_sum_name(s->id))
		       : HU_OK;
}

/* Any format can hold such operands; sums are doubles, which hold integers of 32 bits. */
hu_status
hu_integers_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc)
{
	(void)acc;
	s->in = a;
	s->in2 = b;
	s->acc = s->out = HU_FP64;
	return HU_OK;
}

void
hu_integers_print(hu_sum s, const char *outer, char *out, size_t size)
{
	hu_str text;

	hu_str_init(&text);
	hu_str_add(&text, hu_sum_name(s.id));
	for (int i = 0; i < WORDS; i++)
		if (s.path & words[i].bits)
			hu_str_addf(&text, ",%s=%s", words[i].key, words[i].word);
	snprintf(out, size, "%s%s", text.s, outer);
	hu_str_release(&text);
}

/* Whether operands are integers is not known from their formats: none is tried on them. */
void
hu_integers_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to)
{
	(void)s;
	(void)longest;
	(void)take;
	(void)to;
}

int
hu_integers_holds(const hu_sum *s, int which, double x)
{
	return hu_integers_held(s->path, which, x);
}

hu_sum_bound
hu_integers_bound(double n, double a, double b)
{
	return n * a * b < 0x1p31 ? (hu_sum_bound){ 0, 0, 1, 0 } : (hu_sum_bound){ INFINITY, INFINITY, INFINITY, 0 };
}

hu_sum_bound
hu_integers_bound_of(hu_integers_adds *sum, hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	hu_format outer = hu_outer_format(s);
	double lost = 0, mag = 0;
	size_t parts = 0;

	part = part && part < n ? part : n;
	for (size_t k = 0; k < n; k += part, parts++)
		if (hu_isnan(sum(a + k, b + k, n - k < part ? n - k : part, k ? 0 : c, s, &lost, NULL)))
			lost = INFINITY;
	if (parts > 1) {
		double g = hu_bound_growth(hu_unit(outer), (double)hu_tree_depth(parts));
		for (size_t k = 0; k < n; k++)
			mag += fabs(a[k] * b[k]);
		lost = (mag + lost) * (1 + g) <= outer.max ? lost + g * (mag + lost) * HU_BOUND_UP : INFINITY;
	}
	return (hu_sum_bound){ 0, lost, 0, INFINITY };
}

void
hu_integers_roundings(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "sums of integers are exact, or have no bound";
}

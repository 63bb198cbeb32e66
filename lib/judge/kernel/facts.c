/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/facts.h"

#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/judge/kernel/ball.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_fact_row rows[] = {
#define FACT(key, kind, preset, summary) { #key, #kind, preset, summary },
#include "lib/judge/kernel/facts.def"
#undef FACT
};

const hu_fact_row *
hu_fact_at(int i)
{
	return i >= 0 && (size_t)i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

void
hu_facts_init(hu_facts *f)
{
	*f = (hu_facts){ NULL, 0, 0 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		hu_facts_set(f, rows[i].key, rows[i].preset);
}

void
hu_facts_release(hu_facts *f)
{
	for (int i = 0; i < f->n; i++) {
		free(f->fact[i].key);
		free(f->fact[i].value);
	}
	free(f->fact);
	*f = (hu_facts){ NULL, 0, 0 };
}

void
hu_facts_set(hu_facts *f, const char *key, const char *value)
{
	HU_GROW(f->fact, f->n, f->cap);
	f->fact[f->n].key = hu_xstrdup(key);
	f->fact[f->n].value = hu_xstrdup(value);
	f->n++;
}

void
hu_facts_copy(hu_facts *to, const hu_facts *from)
{
	*to = (hu_facts){ NULL, 0, 0 };
	for (int i = 0; i < from->n; i++)
		hu_facts_set(to, from->fact[i].key, from->fact[i].value);
}

const char *
hu_facts_text(const hu_facts *f, const char *key)
{
	for (int i = f->n - 1; i >= 0; i--)
		if (!strcmp(f->fact[i].key, key))
			return f->fact[i].value;
	return NULL;
}

hu_status
hu_facts_real(const hu_facts *f, const char *key, double *x)
{
	const char *s = hu_facts_text(f, key);

	if (s && hu_parse_real(s, x))
		return HU_OK;
	return hu_fail(HU_EINVAL, "--set %s=%s: a number is needed, such as 1e-6 or 2^-22", key, s ? s : "");
}

hu_status
hu_facts_count(const hu_facts *f, const char *key, size_t *n)
{
	const char *s = hu_facts_text(f, key);
	char *end = NULL;
	unsigned long long v = s ? strtoull(s, &end, 10) : 0;

	if (!s || !*s || *s == '-' || *end)
		return hu_fail(HU_EINVAL, "--set %s=%s: a whole number is needed, 0 or more", key, s ? s : "");
	*n = (size_t)v;
	return HU_OK;
}

hu_status
hu_facts_format_of(const hu_facts *f, const char *key, const char *value, hu_format_id *id)
{
	static const char *const links[] = { "in", "out", "compute", "acc" };
	char *text;

	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (!strcmp(value, links[i]) && strcmp(key, links[i]))
			return hu_facts_format(f, links[i], id);
	if (!strcmp(value, "none")) {
		*id = HU_NO_FORMAT;
		return HU_OK;
	}
	text = hu_xstrdup(value);
	text[strcspn(text, "@")] = 0;
	hu_status st = hu_format_find(text, id);
	char *why = st == HU_OK ? NULL : hu_xstrdup(hu_reason());
	free(text);
	if (st != HU_OK)
		st = hu_fail(HU_EINVAL, "--set %s=%s: %s", key, value, why);
	free(why);
	return st;
}

hu_status
hu_facts_format(const hu_facts *f, const char *key, hu_format_id *id)
{
	const char *s = hu_facts_text(f, key);

	return hu_facts_format_of(f, key, s ? s : "", id);
}

static hu_status
order(const hu_facts *f, hu_roundoffs *a)
{
	const char *s = hu_facts_text(f, "order");
	char *end = NULL;

	a->block = 0;
	if (!strncmp(s, "blocks:", 7)) {
		a->order = HU_ORDER_BLOCKS;
		a->block = (size_t)strtoull(s + 7, &end, 10);
		if (s[7] != '-' && a->block > 0 && !*end)
			return HU_OK;
	}
	a->order = !strcmp(s, "sequential") ? HU_ORDER_SEQUENTIAL
		   : !strcmp(s, "pairwise") ? HU_ORDER_PAIRWISE
					    : HU_ORDER_ANY;
	if (a->order != HU_ORDER_ANY || !strcmp(s, "any"))
		return HU_OK;
	return hu_fail(HU_EINVAL, "--set order=%s: any, sequential, pairwise or blocks:N is needed", s);
}

hu_status
hu_facts_stochastic(const hu_facts *f, int *yes)
{
	const char *s = hu_facts_text(f, "store");

	*yes = !strcmp(s, "sr");
	if (*yes || !strcmp(s, "rne"))
		return HU_OK;
	return hu_fail(HU_EINVAL, "--set store=%s: rne or sr is needed", s);
}

hu_status
hu_facts_arithmetic(const hu_facts *f, hu_roundoffs *a)
{
	hu_format_id compute, acc;
	const char *s = hu_facts_text(f, "acc"), *at = strchr(s, '@'), *unit = hu_facts_text(f, "unit");
	int chop = !strcmp(unit, "chop");
	char *end = NULL;

	*a = (hu_roundoffs){ .order = HU_ORDER_ANY };
	if (!chop && strcmp(unit, "rne"))
		return hu_fail(HU_EINVAL, "--set unit=%s: rne or chop is needed", unit);
	HU_TRY(hu_facts_format(f, "compute", &compute));
	HU_TRY(hu_facts_format(f, "acc", &acc));
	HU_TRY(order(f, a));
	HU_TRY(hu_facts_real(f, "tiny", &a->tiny));
	HU_TRY(hu_facts_real(f, "exp", &a->exp));
	HU_TRY(hu_facts_real(f, "fn", &a->fn));
	if (*hu_facts_text(f, "missing"))
		HU_TRY(hu_facts_count(f, "missing", &a->missing));
	a->u = compute == HU_NO_FORMAT ? 0 : hu_unit(hu_format_of(compute));
	a->max = compute == HU_NO_FORMAT ? 0 : hu_format_of(compute).max;
	a->acc = acc == HU_NO_FORMAT ? 0 : hu_unit(hu_format_of(acc)) * (chop ? 2 : 1);
	a->sum_tiny = acc == HU_NO_FORMAT ? 0 : fmax(a->tiny, hu_smallest(hu_format_of(acc)));
	if (!at)
		return HU_OK;
	a->run = (size_t)strtoull(at + 1, &end, 10);
	if (!a->run || *end || at[1] == '-')
		return hu_fail(HU_EINVAL, "--set acc=%s: FORMAT@TERMS is needed, such as bf16@32", s);
	a->outer = a->acc; /* the outer sum is in this format, runs are in fp32 */
	a->acc = hu_unit(hu_format_of(HU_FP32)) * (chop ? 2 : 1);
	return HU_OK;
}

/* `more` terms than those that meet a rounding of their own lengthen the outer sum. */
static void
meet(const hu_roundoffs *a, size_t k, size_t more, double *proven, double *proxy)
{
	size_t terms = a->run && a->run < k ? a->run : k, runs = a->run ? (k + more + a->run - 1) / a->run : 0;
	double n = (double)terms, depth = n;

	if (a->order == HU_ORDER_PAIRWISE)
		depth = ceil(log2(n < 1 ? 1 : n)) + 1;
	else if (a->order == HU_ORDER_BLOCKS && a->block < terms)
		depth = (double)a->block + ceil(n / (double)a->block);
	double g = hu_ball_gamma(a->acc, depth), h = hu_ball_gamma(a->outer, (double)runs);
	*proven = g + h + g * h;
	*proxy = sqrt(depth * a->acc * a->acc + (double)runs * a->outer * a->outer);
}

void
hu_roundoffs_sum(const hu_roundoffs *a, size_t k, double *proven, double *proxy)
{
	meet(a, k, 0, proven, proxy);
}

void
hu_roundoffs_plain(const hu_roundoffs *a, size_t n, double *proven, double *proxy)
{
	meet(a, n > 1 ? n - 1 : 0, n > 1, proven, proxy);
}

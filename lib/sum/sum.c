/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/sum.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name, *summary; int takes_n; } rows[] = {
#define SUM(id, name, takes_n, summary) { name, summary, takes_n },
#include "lib/sum/sums.def"
#undef SUM
};

const char *hu_sum_name(hu_sum_id id) { return rows[id].name; }
const char *hu_sum_summary(hu_sum_id id) { return rows[id].summary; }

hu_sum
hu_sum_default(void)
{
	hu_sum s = { HU_SUM_FMA, 0, HU_FP32, HU_NO_FORMAT, HU_RNE };

	return s;
}

static hu_status
set_name(hu_sum *s, char *word)
{
	const char *names[HU_SUMS];
	char *colon = strchr(word, ':'), *end;
	int i;

	if (colon)
		*colon = 0;
	for (i = 0; i < HU_SUMS; i++)
		names[i] = rows[i].name;
	for (i = 0; i < HU_SUMS && strcmp(rows[i].name, word); i++)
		;
	if (i == HU_SUMS) {
		const char *near = hu_nearest(word, names, HU_SUMS);
		return hu_fail(HU_EINVAL, "unknown summation model '%s'%s%s; known: fma, sequential, chunk:N, pairwise, kahan", word, near ? "; did you mean " : "", near ? near : "");
	}
	s->id = (hu_sum_id)i;
	if (!rows[i].takes_n)
		return colon ? hu_fail(HU_EINVAL, "summation model %s takes no :N", word) : HU_OK;
	long n = colon ? strtol(colon + 1, &end, 10) : 0;
	if (!colon || end == colon + 1 || *end || n < 1 || n > 1 << 24)
		return hu_fail(HU_EINVAL, "summation model %s needs a length from 1 to 2^24, as in %s:64", word, word);
	s->n = (int)n;
	return HU_OK;
}

static hu_status
set_key(hu_sum *s, char *word)
{
	char *eq = strchr(word, '=');

	if (!eq)
		return hu_fail(HU_EINVAL, "summation model: '%s' is no key=value", word);
	*eq = 0;
	if (!strcmp(word, "acc"))
		return hu_format_find(eq + 1, &s->acc);
	if (!strcmp(word, "outer"))
		return hu_format_find(eq + 1, &s->outer);
	if (!strcmp(word, "mode"))
		return hu_mode_find(eq + 1, &s->mode);
	return hu_fail(HU_EINVAL, "summation model: unknown key '%s'; known: acc, outer, mode", word);
}

/* model.h rounds what double arithmetic holds exactly, or to odd: formats of up to 25 bits, and fp64 as the hardware has it. */
static hu_status
check(const hu_sum *s)
{
	hu_format_id ids[2] = { s->acc, s->outer == HU_NO_FORMAT ? s->acc : s->outer };

	for (int i = 0; i < 2; i++) {
		hu_format f = hu_format_of(ids[i]);
		if (f.id == HU_FP64 ? s->mode != HU_RNE : f.p > 25 || !hu_has_sign(f))
			return hu_fail(HU_EINVAL, "summation model: no sums in %s by mode %s; an accumulator has up to 25 significant bits and a sign, or is fp64 with mode=RNE", hu_format_name(f.id), hu_mode_name(s->mode));
	}
	return HU_OK;
}

hu_status
hu_sum_parse(const char *text, hu_sum *out)
{
	char *all = hu_xstrdup(text), *save = NULL;
	char *word = strtok_r(all, ",", &save);
	hu_status st = HU_OK;

	*out = hu_sum_default();
	st = word ? set_name(out, word) : hu_fail(HU_EINVAL, "an empty summation model");
	while (st == HU_OK && (word = strtok_r(NULL, ",", &save)))
		st = set_key(out, word);
	free(all);
	return st == HU_OK ? check(out) : st;
}

void
hu_sum_print(hu_sum s, char *out, size_t size)
{
	char n[16] = "", outer[32] = "", mode[16] = "";

	if (rows[s.id].takes_n)
		snprintf(n, sizeof n, ":%d", s.n);
	if (s.outer != HU_NO_FORMAT && s.outer != s.acc)
		snprintf(outer, sizeof outer, ",outer=%s", hu_format_name(s.outer));
	if (s.mode != HU_RNE)
		snprintf(mode, sizeof mode, ",mode=%s", hu_mode_name(s.mode));
	snprintf(out, size, "%s%s,acc=%s%s%s", rows[s.id].name, n, hu_format_name(s.acc), outer, mode);
}

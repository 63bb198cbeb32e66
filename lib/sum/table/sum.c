/* SPDX-License-Identifier: Apache-2.0
   Reads, checks, resolves and prints the specifications of summation models. */
#include "lib/sum/sum.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/sum/model/row.h"
#include "lib/sum/model/run.h"
#include "lib/sum/tc/sum.h"
#include "lib/sum/sum_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

hu_sum
hu_sum_default(void)
{
	hu_sum s = { HU_SUM_FMA, 0, HU_FP32, HU_NO_FORMAT, HU_RNE, 0, HU_TC_VOLTA, 0, HU_NO_FORMAT, HU_NO_FORMAT,
		HU_NO_FORMAT, HU_NO_FORMAT, 0, 0 };

	return s;
}

/* Reads N, or N:G where `nodes` is set. */
static hu_status
set_ranks(hu_sum *s, const char *name, const char *text, int nodes)
{
	char *end, *last;
	long n = strtol(text, &end, 10), g = nodes && *end == ':' ? strtol(end + 1, &last, 10) : 1;

	if (nodes && *end == ':' && last > end + 1)
		end = last;
	else if (nodes)
		g = 0;
	if (end == text || *end || n < 1 || n > 1 << 24 || g < 1 || g > n)
		return hu_fail(HU_EINVAL,
			nodes ? "summation model %s needs N ranks, from 1 to 2^24, and G of them a node, from 1 to N, "
				"as in %s:64:8"
			      : "summation model %s needs a number of ranks from 1 to 2^24, as in %s:64",
			name, name);
	s->n = (int)n;
	s->node = nodes ? (int)g : 0;
	return HU_OK;
}

/* Reads the length behind the colon, which is NULL where there is none. */
static hu_status
set_length(hu_sum *s, const char *word, const char *colon)
{
	char *end = NULL;
	long n = colon ? strtol(colon + 1, &end, 10) : 0;

	if (!colon || end == colon + 1 || *end || n < 1 || n > 1 << 24)
		return hu_fail(HU_EINVAL, "summation model %s needs a length from 1 to 2^24, as in %s:64", word, word);
	s->n = (int)n;
	return HU_OK;
}

/* Refuses a model whose row lacks what every sum needs. */
static hu_status
whole(hu_sum_id id)
{
	const hu_sum_model *m = hu_sum_model_of(id);
	const char *lacks = !m->run                                              ? "arithmetic (run)"
			    : !m->bound                                          ? "error bound (bound)"
			    : !m->roundings                                      ? "count of roundings (roundings)"
			    : !m->words                                          ? "description (words)"
			    : hu_sum_result_of(id) == HU_RESULT_UNIT && !m->unit ? "unit (unit)"
			    : hu_sum_collective(id) && !m->ranks                 ? "order of ranks (ranks)"
										 : NULL;

	return lacks ? hu_fail(HU_EINVAL, "summation model %s cannot be used: lib/sum/model/%s.c gives it no %s",
			       hu_sum_name(id), hu_sum_name(id), lacks)
		     : HU_OK;
}

static hu_status
set_name(hu_sum *s, char *word)
{
	const char *names[HU_SUMS];
	char *colon = strchr(word, ':');
	int i;

	if (colon)
		*colon = 0;
	for (i = 0; i < HU_SUMS; i++)
		names[i] = hu_sum_name((hu_sum_id)i);
	for (i = 0; i < HU_SUMS && strcmp(hu_sum_name((hu_sum_id)i), word); i++)
		;
	if (i == HU_SUMS) {
		const char *near = hu_nearest(word, names, HU_SUMS);
		hu_str known;
		hu_str_init(&known);
		hu_sum_names(&known);
		hu_status st = hu_fail(HU_EINVAL, "unknown summation model '%s'%s%s; known: %s", word,
			near ? "; did you mean " : "", near ? near : "", known.s);
		hu_str_release(&known);
		return st;
	}
	s->id = (hu_sum_id)i;
	HU_TRY(whole(s->id));
	hu_sum_unit_formats(s);
	switch (hu_sum_takes_of((hu_sum_id)i)) {
	case HU_TAKES_NOTHING:
	case HU_TAKES_INTEGERS: return colon ? hu_fail(HU_EINVAL, "summation model %s takes no :N", word) : HU_OK;
	case HU_TAKES_LENGTH:
	case HU_TAKES_SLICES: return set_length(s, word, colon);
	case HU_TAKES_ARCH: return hu_sum_tc_arch(s, colon ? colon + 1 : NULL);
	case HU_TAKES_RANKS:
	case HU_TAKES_NODES:
		return set_ranks(s, word, colon ? colon + 1 : "", hu_sum_takes_of((hu_sum_id)i) == HU_TAKES_NODES);
	}
	return HU_OK;
}

static hu_status
set_bits(hu_sum *s, const char *word)
{
	char *end;
	long n = strtol(word, &end, 10);

	if (end == word || *end || n < 1 || n > 32)
		return hu_fail(HU_EINVAL, "summation model: bits=%s: 1 to 32 random bits are needed", word);
	s->bits = n == 32 ? 0 : (int)n;
	return HU_OK;
}

static hu_status
set_key(hu_sum *s, char *word)
{
	const hu_sum_unit *unit = hu_sum_model_of(s->id)->unit;
	char *eq = strchr(word, '=');

	if (!eq)
		return hu_fail(HU_EINVAL, "summation model: '%s' is no key=value", word);
	*eq = 0;
	if (unit && strcmp(word, "outer"))
		return unit->key(s, word, eq + 1);
	if (!strcmp(word, "acc"))
		return hu_format_find(eq + 1, &s->acc);
	if (!strcmp(word, hu_sum_collective(s->id) ? "wire" : "outer"))
		return hu_format_find(eq + 1, &s->outer);
	if (!strcmp(word, "mode"))
		return hu_mode_find(eq + 1, &s->mode);
	if (!strcmp(word, "bits"))
		return set_bits(s, eq + 1);
	return hu_fail(HU_EINVAL, "summation model: unknown key '%s'; known: acc, %s, mode, bits", word,
		hu_sum_collective(s->id) ? "wire" : "outer");
}

/* step.h computes in double, exactly or rounded to odd. So accumulators have up to 25 significant bits, or are fp64
   as the hardware has it. */
static hu_status
check(const hu_sum *s)
{
	if (hu_sum_is_unit(s->id))
		HU_TRY(hu_sum_model_of(s->id)->unit->check(s));
	if (s->bits && s->mode != HU_SR)
		return hu_fail(HU_EINVAL, "summation model: bits=%d is for mode=SR alone", s->bits);
	hu_format_id ids[2] = { s->acc, s->outer == HU_NO_FORMAT ? s->acc : s->outer };

	for (int i = 0; i < 2; i++) {
		hu_format f = hu_format_of(ids[i]);
		if (f.id == HU_FP64 ? s->mode != HU_RNE : f.p > 25 || !hu_has_sign(f))
			return hu_fail(HU_EINVAL,
				"summation model: there are no sums in %s by mode %s; an accumulator has up to 25 "
				"significant bits and a sign, or is fp64 with mode=RNE",
				hu_format_name(f.id), hu_mode_name(s->mode));
	}
	return HU_OK;
}

/* Refuses empty words between commas, and a key that is given twice. */
static hu_status
well_formed(const char *text)
{
	for (const char *word = text, *end; word; word = *end ? end + 1 : NULL) {
		size_t key = strcspn(word, "=,");
		end = word + strcspn(word, ",");
		if (end == word)
			return hu_fail(HU_EINVAL,
				"summation model '%s': %s; write NAME[:N][,key=value...], such as fma,acc=fp16", text,
				*text ? "nothing stands before or behind a comma" : "it is empty");
		for (const char *before = text; before < word && word[key] == '='; before += strcspn(before, ",") + 1)
			if (!strncasecmp(before, word, key + 1))
				return hu_fail(
					HU_EINVAL, "summation model '%s': %.*s= is there twice", text, (int)key, word);
	}
	return HU_OK;
}

hu_status
hu_sum_parse(const char *text, hu_sum *out)
{
	HU_TRY(well_formed(text));
	char *all = hu_xstrdup(text), *save = NULL;
	char *word = strtok_r(all, ",", &save);
	hu_status st = HU_OK;

	*out = hu_sum_default();
	st = set_name(out, word);
	while (st == HU_OK && (word = strtok_r(NULL, ",", &save)))
		st = set_key(out, word);
	free(all);
	return st == HU_OK ? check(out) : st;
}

void
hu_sum_print(hu_sum s, char *out, size_t size)
{
	char n[32] = "", outer[32] = "", mode[16] = "", bits[16] = "";

	if (hu_sum_takes_of(s.id) == HU_TAKES_LENGTH || hu_sum_takes_of(s.id) == HU_TAKES_RANKS)
		snprintf(n, sizeof n, ":%d", s.n);
	if (hu_sum_takes_of(s.id) == HU_TAKES_NODES)
		snprintf(n, sizeof n, ":%d:%d", s.n, s.node);
	if (s.outer != HU_NO_FORMAT &&
		(s.outer != s.acc || hu_sum_result_of(s.id) == HU_RESULT_WIDER || hu_sum_is_unit(s.id)))
		snprintf(outer, sizeof outer, ",%s=%s", hu_sum_collective(s.id) ? "wire" : "outer",
			hu_format_name(s.outer));
	if (s.mode != HU_RNE)
		snprintf(mode, sizeof mode, ",mode=%s", hu_mode_name(s.mode));
	if (s.bits)
		snprintf(bits, sizeof bits, ",bits=%d", s.bits);
	if (hu_sum_is_unit(s.id))
		hu_sum_model_of(s.id)->unit->print(s, outer, out, size);
	else
		snprintf(
			out, size, "%s%s,acc=%s%s%s%s", hu_sum_name(s.id), n, hu_format_name(s.acc), outer, mode, bits);
}

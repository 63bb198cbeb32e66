/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/custom.h"

#include "lib/base/mem.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const suffixes[HU_SPECIALS] = { "ieee", "fn", "fnuz", "finite", "p3109", "scale" };

static const char *const summaries[HU_SPECIALS] = {
	"infinities and NaN in the top exponent", "no infinity, NaN in the all-ones codes", "no infinity, one NaN, no -0",
	"neither infinity nor NaN", "IEEE P3109: infinities, one NaN, no -0", "a power of two without sign"
};

const char *hu_special_name(int special) { return suffixes[special]; }

/* Up to 4 digits at *S; -1 where there is none. */
static int
digits(const char **s)
{
	int n = 0, seen = 0;

	for (; isdigit((unsigned char)**s) && seen < 4; ++*s, seen++)
		n = 10 * n + (**s - '0');
	return seen && !isdigit((unsigned char)**s) ? n : -1;
}

static hu_status
checked(const char *name, int ebits, int mant, int special, int bias, hu_format_id *id)
{
	hu_format f;

	if (ebits < 1 || ebits > 11)
		return hu_fail(HU_EINVAL, "format '%s': 1 to 11 exponent bits are possible, not %d; fp64 has 11", name, ebits);
	if (mant > 51)
		return hu_fail(HU_EINVAL, "format '%s': at most 51 trailing significand bits are possible, not %d; fp64 has 52", name, mant);
	if (special == HU_SPECIAL_IEEE && (ebits < 2 || mant < 1))
		return hu_fail(HU_EINVAL, "format '%s': infinities and NaN take the top exponent, so 2 exponent bits and 1 significand bit are needed; try e%dm%dfinite",
		               name, ebits, mant);
	if (special == HU_SPECIAL_FN && ebits + mant < 2)
		return hu_fail(HU_EINVAL, "format '%s': NaN leaves no number beside 0; try e%dm%dfinite", name, ebits, mant);
	if (bias < 0)
		bias = hu_format_bias(ebits, mant, special);
	if (bias > 1023 + (1 << 10))
		return hu_fail(HU_EINVAL, "format '%s': a bias of %d puts its values out of fp64's range", name, bias);
	f = hu_format_of_custom(hu_format_custom(ebits, mant, special, bias));
	if (f.emin - f.p + 1 < -1074 || f.emin > 1023 || f.emin < -1022 || f.emax > 1023)
		return hu_fail(HU_EINVAL, "format '%s': its values, 2^%d to 2^%d, are not all fp64's; choose fewer exponent bits or another bias", name,
		               f.emin - f.p + 1, f.emax);
	*id = f.id;
	return HU_OK;
}

/* A row that is the same numbers and codes: its id is the format's one id. */
static hu_format_id
known(hu_format_id id)
{
	hu_format f = hu_format_of_custom(id);

	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format g = hu_format_of((hu_format_id)i);
		if (g.ebits == f.ebits && g.p == f.p && g.emin == f.emin && g.special == f.special)
			return g.id;
	}
	return id;
}

int
hu_custom_find(const char *name, hu_format_id *id, hu_status *st)
{
	const char *s = name;
	int ebits, mant, bias = -1, special = HU_SPECIAL_IEEE;

	if (!strncasecmp(s, "binary8p", 8) && isdigit((unsigned char)s[8])) {
		s += 8;
		int p = digits(&s);
		if (*s || p < 1 || p > 7)
			*st = hu_fail(HU_EINVAL, "format '%s': binary8p1 to binary8p7 are possible", name);
		else
			*st = checked(name, 8 - p, p - 1, HU_SPECIAL_P3109, -1, id);
		return 1;
	}
	if (tolower((unsigned char)*s++) != 'e' || (ebits = digits(&s)) < 0 || tolower((unsigned char)*s++) != 'm' || (mant = digits(&s)) < 0)
		return 0;
	if (tolower((unsigned char)*s) == 'b') {
		s++;
		if ((bias = digits(&s)) < 0) {
			*st = hu_fail(HU_EINVAL, "format '%s': a bias is digits, as in e4m3b11fnuz", name);
			return 1;
		}
	}
	if (*s) {
		for (special = 0; special <= HU_SPECIAL_FINITE; special++)
			if (!strcasecmp(s, suffixes[special]))
				break;
		if (special > HU_SPECIAL_FINITE) {
			*st = hu_fail(HU_EINVAL, "format '%s': '%s' is unknown; known: ieee, fn, fnuz, finite, and before them a bias such as b11", name, s);
			return 1;
		}
	}
	*st = checked(name, ebits, mant, special, bias, id);
	if (*st == HU_OK)
		*id = known(*id);
	return 1;
}

/* Names made once and kept: programs hold pointers to them. */
typedef struct kept { hu_format_id id; char name[32]; struct kept *next; } kept;

static kept *names;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The bias stands there where it is not the usual one, or where a row has taken the name without it. */
static void
spell(hu_format_id id, char *out, size_t room)
{
	hu_format f = hu_format_of_custom(id);
	int bias = 1 - f.emin, ieee = f.special == HU_SPECIAL_IEEE;

	if (f.special == HU_SPECIAL_P3109) {
		snprintf(out, room, "binary8p%d", f.p);
		return;
	}
	snprintf(out, room, "e%dm%d%s", f.ebits, f.p - 1, ieee ? "" : suffixes[f.special]);
	if (bias != hu_format_bias(f.ebits, f.p - 1, f.special) || hu_row_find(out) >= 0)
		snprintf(out, room, "e%dm%db%d%s", f.ebits, f.p - 1, bias, ieee ? "" : suffixes[f.special]);
}

const char *
hu_custom_name(hu_format_id id)
{
	kept *k;

	pthread_mutex_lock(&lock);
	for (k = names; k && k->id != id; k = k->next)
		;
	if (!k && (k = hu_alloc(sizeof *k))) {
		k->id = id;
		spell(id, k->name, sizeof k->name);
		k->next = names;
		names = k;
	}
	pthread_mutex_unlock(&lock);
	return k ? k->name : "-";
}

const char *
hu_custom_summary(hu_format_id id)
{
	return summaries[hu_format_of_custom(id).special];
}

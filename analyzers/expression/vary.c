/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/expression/vary.h"

#include "analyzers/expression/expr.h"
#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/elementary/elementary.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 1 where expressions have a meaning for the name already. */
static int
taken(const char *name)
{
	static const char *const known = " pi e inf nan "
#define FUNCTION(id, name, least, most, summary) name " "
#include "analyzers/expression/functions.def"
#undef FUNCTION
		;
	char *word = hu_xprintf(" %s ", name);
	int found = strstr(known, word) != NULL;

	free(word);
	return found;
}

static hu_status
misread(const char *text)
{
	return hu_fail(HU_EINVAL, "--vary %s: NAME=A..B:N is needed, as in x=0..20:101 or x=2^-24..1:97,log", text);
}

hu_status
hu_vary_parse(hu_vary *v, const char *text)
{
	char *all = hu_xstrdup(text), *equals = strchr(all, '='), *dots = equals ? strstr(equals, "..") : NULL,
	     *colon = dots ? strchr(dots, ':') : NULL, *comma = colon ? strchr(colon, ',') : NULL, *end = NULL;
	hu_status st = HU_OK;

	if (!colon || equals - all >= (int)sizeof v->name || equals == all || (comma && strcmp(comma, ",log"))) {
		st = misread(text);
	} else {
		*equals = *dots = *colon = 0;
		if (comma)
			*comma = 0;
		snprintf(v->name, sizeof v->name, "%s", all);
		v->log = comma != NULL;
		long n = strtol(colon + 1, &end, 10);
		v->n = n >= 2 && n <= HU_VARY_MOST ? (int)n : 0;
		if (!hu_parse_real(equals + 1, &v->from) || !hu_parse_real(dots + 2, &v->to) || end == colon + 1 ||
			*end || !isfinite(v->from) || !isfinite(v->to))
			st = misread(text);
		else if (!v->n)
			st = hu_fail(
				HU_EINVAL, "--vary %s: the number of values is one of 2 to %d", text, HU_VARY_MOST);
		else if (v->log && !(v->from > 0 && v->to > 0))
			st = hu_fail(HU_EINVAL, "--vary %s: equal ratios need both ends above 0; leave out ,log", text);
	}
	for (const char *s = v->name; st == HU_OK && *s; s++)
		if (!isalpha((unsigned char)*s))
			st = hu_fail(HU_EINVAL, "--vary %s: a name of letters is needed before the =", text);
	if (st == HU_OK && taken(v->name))
		st = hu_fail(HU_EINVAL, "--vary %s: %s means something else in expressions; take another name", text,
			v->name);
	free(all);
	return st;
}

static double
log2_of(double x)
{
	int e;
	double m = frexp(x, &e);

	return m == 0.5 ? e - 1 : e + hu_log(m) / hu_log(2);
}

/* x, which rounding errors may have taken past an end. */
static double
between(const hu_vary *v, double x)
{
	return fmin(fmax(x, fmin(v->from, v->to)), fmax(v->from, v->to));
}

double
hu_vary_at(const hu_vary *v, int i)
{
	double share = (double)i / (v->n - 1), way = (v->to - v->from) * i;

	if (i == 0 || i == v->n - 1)
		return i ? v->to : v->from;
	if (!v->log) /* where the way is longer than the largest double, its two ends are not */
		return between(v, isfinite(way) ? v->from + way / (v->n - 1) : v->from * (1 - share) + v->to * share);
	/* Weights that are integers: a whole exponent comes out whole */
	double e = (log2_of(v->from) * (v->n - 1 - i) + log2_of(v->to) * i) / (v->n - 1), whole = floor(e);
	return between(v, hu_scale2(e > whole ? hu_exp((e - whole) * hu_log(2)) : 1, (int)whole));
}

char *
hu_vary_put(const hu_vary *v, const char *expression, double x)
{
	size_t length = strlen(v->name);
	hu_str b;

	hu_str_init(&b);
	for (const char *s = expression; *s;) {
		size_t n = 0;
		while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.')
			n++;
		if (n == length && !strncmp(s, v->name, n))
			hu_str_addf(&b, "(%a)", x);
		else
			hu_str_addn(&b, s, n ? n : 1);
		s += n ? n : 1;
	}
	return b.s;
}
